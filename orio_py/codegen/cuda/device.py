"""The device text of a region in CUDA C++: its kernels, from their plans.

    extern "C" __global__ void __launch_bounds__(64) axpy(const double *__restrict__ x, double *__restrict__ y,
        const double a, const long orio_trips_i)
    {
      const long orio_i = (long)blockIdx.x * 64 + threadIdx.x;
      if (orio_i < orio_trips_i) {
        const int i = (int)orio_i;
        y[i] += a * x[i];
      }
    }

Source: CUDA C++ Programming Guide, chapters 5 (limits) and 7 (launch bounds).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orio_py.codegen.cuda.dialect import (
    CUDA,
    LANES_FUNCTION,
    CudaDialect,
    is_native,
    lanes_function_name,
)
from orio_py.codegen.device import record_definitions
from orio_py.codegen.offload.device_tree import AtomicOp, AtomicUpdate, VectorOp, VectorOperation
from orio_py.codegen.offload.lowering import lowered_kernel
from orio_py.codegen.offload.printer import kernel_text
from orio_py.codegen.templates import render
from orio_py.ctree.nodes import c_ast
from orio_py.ctree.rewrite import walk
from orio_py.kernel.functions import DeviceFunction, device_function
from orio_py.kernel.plan import KernelPlan


def cuda_program(plans: Sequence[KernelPlan], dialect: CudaDialect = CUDA) -> str:
    """The text of all kernels of a region, behind the structures and helper functions that they use.

    `dialect` is CUDA C++, or one of the languages that differ from it in few words.
    """
    kernels = [lowered_kernel(plan, dialect.features) for plan in plans]
    nodes = [node for kernel in kernels for node in walk(kernel.body)]
    on_lanes = {
        lanes_function_name(n).removeprefix(LANES_FUNCTION)
        for n in nodes
        if isinstance(n, VectorOperation) and n.operation is VectorOp.CALL
    }
    called = {n.name.name for n in nodes if isinstance(n, c_ast.FuncCall) and isinstance(n.name, c_ast.ID)}
    updates = {n.operation for n in nodes if isinstance(n, AtomicUpdate) and not is_native(n)}
    return render(
        "cuda/program.cu.j2",
        updates=[_Update(name, _CHANGES[name]) for name in sorted(updates)],
        uses_lanes=any(plan.lanes is not None for plan in plans),
        tests_normal="isnormal" in called or "orio_isnormal" in on_lanes,
        structures=record_definitions(
            plans, CUDA.type_name, 'static_assert({size}, "{name} has another layout here");'
        ),
        functions=[_lanes_function(name) for name in sorted(on_lanes)],
        kernels="\n".join(kernel_text(kernel, dialect) for kernel in kernels),
    )


_CHANGES: Mapping[AtomicOp, str] = {
    AtomicOp.ADD: "(T)(old + value)",
    AtomicOp.MULTIPLY: "(T)(old * value)",
    AtomicOp.LEAST: "value < old ? (T)value : old",
    AtomicOp.GREATEST: "value > old ? (T)value : old",
    AtomicOp.FMIN: "(T)fmin((V)old, value)",
    AtomicOp.FMAX: "(T)fmax((V)old, value)",
}


@dataclass(frozen=True, slots=True)
class _Update:
    """An update that is a loop: its name, and what becomes of the `old` value."""

    name: str
    result: str


@dataclass(frozen=True, slots=True)
class _LanesFunction:
    """A function of `math.h` for vectors: template head, result, parameters, and what each lane computes."""

    name: str
    template: str
    result: str
    parameters: str
    value: str


def _lanes_function(name: str) -> _LanesFunction:
    """The function that Vectors calls for lanes, from the one for scalars."""
    function = device_function("isnormal" if name == "orio_isnormal" else name)
    assert function is not None, f"no function {name}"
    letters = "abc"[: len(function.parameters)]
    arguments = ", ".join(f"{letter}.v[k]" for letter in letters)
    types = [CUDA.type_name(kind) if kind else "T" for kind in function.parameters]
    parameters = ", ".join(f"orio_vector<{t}, N> {letter}" for t, letter in zip(types, letters, strict=True))
    is_test = _is_test(function)
    return _LanesFunction(
        f"{LANES_FUNCTION}{name}",
        "typename T, int N" if is_test else "int N",
        "orio_mask<T>" if is_test else CUDA.type_name(function.result),
        parameters,
        f"{name}({arguments}) ? -1 : 0" if is_test else f"{name}({arguments})",
    )


def _is_test(function: DeviceFunction) -> bool:
    """Whether the function asks something of a number of any type."""
    return function.parameters == ("",)
