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

Partial results of reductions go from thread to thread by shuffles where blocks are made of whole warps, then from
warp to warp through shared memory, always in the same order; elsewhere through shared memory alone.

Sources: CUDA C++ Programming Guide, chapters 5 (limits) and 7 (shuffles, launch bounds); for the order of the
shuffles M. Harris, "Optimizing parallel reduction in CUDA", 2007.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from math import prod

from orio_py.codegen.cuda.dialect import CUDA, LANES_FUNCTION
from orio_py.codegen.device import ArgumentKind, KernelArgument, kernel_arguments, record_definitions
from orio_py.codegen.offload.dialect import Kernel
from orio_py.codegen.offload.lines import kernel_lines, wrapped_head
from orio_py.codegen.offload.reductions import device_reduction, merged
from orio_py.codegen.offload.types import types_of
from orio_py.codegen.templates import render
from orio_py.kernel.call import FIRST_GROUP
from orio_py.kernel.functions import DeviceFunction, device_function
from orio_py.kernel.plan import Direction, KernelPlan
from orio_py.kernel.types import device_type

WARP = 32
"""Threads of a warp, on all devices (CUDA C++ Programming Guide, section 4.1)."""

_WIDTH = 110
_LANES_CALL = re.compile(rf"\b{LANES_FUNCTION}(\w+)\(")


def cuda_kernels(plans: Sequence[KernelPlan]) -> str:
    """The text of kernels, in the order of the plans, without what they share."""
    return "\n".join(_kernel(plan) for plan in plans)


def cuda_program(plans: Sequence[KernelPlan]) -> str:
    """The text of all kernels of a region with all that they need."""
    return with_helpers(plans)


def with_helpers(plans: Sequence[KernelPlan]) -> str:
    """The kernels behind the structures and helper functions that they use."""
    kernels = cuda_kernels(plans)
    return render(
        "cuda/program.cu.j2",
        uses_lanes=any(word in kernels for word in ("orio_vector<", "orio_load<")),
        tests_normal="orio_isnormal(" in kernels,
        structures=record_definitions(
            plans, CUDA.type_name, 'static_assert({size}, "{name} has another layout here");'
        ),
        functions=[_lanes_function(name) for name in sorted({m[1] for m in _LANES_CALL.finditer(kernels)})],
        kernels=kernels,
    )


@dataclass(frozen=True, slots=True)
class _Exchange:
    """How threads take values of a reduction from each other; `merge` takes `other` in."""

    name: str
    other: str
    type: str
    local: str
    identity: str
    partials: str
    merge: str
    combine: str


def _kernel(plan: KernelPlan) -> str:
    kernel = Kernel(plan, types_of(plan), CUDA)
    items = prod(plan.launch.block_size)
    warps = items // WARP if items % WARP == 0 else 0
    widest = 1 << max(warps - 1, 0).bit_length()
    body = kernel_lines(kernel)
    return render(
        "cuda/kernel.cu.j2",
        head=_head(plan, frozenset(re.findall(r"\w+", "\n".join(body)))),
        reductions=_exchanges(plan),
        body=body,
        tiles=[(CUDA.type_name(device_type(t.type) or "int"), t.name, t.elements) for t in plan.staged],
        items=items,
        warps=warps,
        halves=[WARP // 2, widest // 2],
        item=CUDA.item_number(plan.launch),
        group=f"{FIRST_GROUP} + " * (plan.options.streams > 1) + CUDA.group_number(plan.launch),
    )


def _exchanges(plan: KernelPlan) -> list[_Exchange]:
    found: list[_Exchange] = []
    for reduction in plan.reductions:
        device, other = device_reduction(reduction, CUDA), f"orio_other_{reduction.name}"
        merge = merged(reduction, device.name, other)
        found.append(
            _Exchange(
                device.name,
                other,
                device.type,
                device.local,
                device.identity,
                device.partials,
                merge,
                device.combine,
            )
        )
    return found


def _head(plan: KernelPlan, used: Set[str]) -> str:
    parameters = [_parameter(argument, used) for argument in kernel_arguments(plan)]
    first = f'extern "C" __global__ void {_bounds(plan)} {plan.name}('
    return wrapped_head(first, parameters, _WIDTH)


def _bounds(plan: KernelPlan) -> str:
    """What tells the compiler how many registers a thread can have."""
    threads, cuda = prod(plan.launch.block_size), plan.options.cuda
    if cuda.max_registers is not None:
        # One kernel cannot have both qualifiers (section 7.39).
        return f"__maxnreg__({cuda.max_registers})"
    least = f", {cuda.least_blocks}" if cuda.least_blocks is not None else ""
    return f"__launch_bounds__({threads}{least})"


def _parameter(argument: KernelArgument, used: Set[str]) -> str:
    """A parameter; a number that no statement uses has no name, so that compilers do not warn of it."""
    kind = CUDA.type_name(argument.device_type)
    match argument.kind:
        case ArgumentKind.BUFFER:
            constant = "const " if argument.direction is Direction.IN else ""
            return f"{constant}{kind} *__restrict__ {argument.name}"
        case ArgumentKind.PARTIALS:
            return f"{kind} *__restrict__ {argument.name}"
        case ArgumentKind.GROUP:
            return f"const {kind} {argument.name}"
        case _:
            return f"const {kind} {argument.name}" if argument.name in used else f"const {kind}"


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
