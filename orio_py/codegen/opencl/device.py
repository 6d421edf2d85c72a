"""The device text of a region in OpenCL C 1.2: its kernels, from their plans.

    __kernel void axpy(__global const double *restrict x, __global double *restrict y, const double a,
                       const long orio_trips_i)
    {
      const long orio_i = get_global_id(0);
      if (orio_i < orio_trips_i) {
        const int i = (int)orio_i;
        y[i] += a * x[i];
      }
    }

Source: The OpenCL Specification 1.2, chapter 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from orio_py.codegen.device import ArgumentKind, KernelArgument, kernel_arguments, record_definitions
from orio_py.codegen.offload.dialect import Kernel
from orio_py.codegen.offload.lines import kernel_lines, wrapped_head
from orio_py.codegen.offload.reductions import device_reduction
from orio_py.codegen.offload.types import types_of
from orio_py.codegen.opencl.dialect import OPENCL
from orio_py.codegen.templates import render
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.kernel.call import FIRST_GROUP
from orio_py.kernel.plan import Direction, KernelPlan
from orio_py.kernel.types import device_type

_WIDTH = 100


def device_program(plans: Sequence[KernelPlan]) -> str:
    """The text of all kernels of a region, in the order of the plans.

    Double precision is switched on only where a kernel computes with it.
    """
    return render(
        "opencl/program.cl.j2",
        uses_double=any(_uses_double(plan) for plan in plans),
        structures=record_definitions(plans, OPENCL.type_name, "typedef char {name}_size[{size} ? 1 : -1];"),
        kernels="\n".join(_kernel(plan) for plan in plans),
    )


def _kernel(plan: KernelPlan) -> str:
    kernel = Kernel(plan, types_of(plan), OPENCL)
    return render(
        "opencl/kernel.cl.j2",
        head=_head(plan),
        reductions=[device_reduction(reduction, OPENCL) for reduction in plan.reductions],
        body=kernel_lines(kernel),
        tiles=[(device_type(tile.type), tile.name, tile.elements) for tile in plan.staged],
        items=prod(plan.launch.block_size),
        item=OPENCL.item_number(plan.launch),
        group=f"{FIRST_GROUP} + " * (plan.options.streams > 1) + OPENCL.group_number(plan.launch),
    )


def _head(plan: KernelPlan) -> str:
    """The attributes, the name and the parameters."""
    parameters = [_parameter(argument) for argument in kernel_arguments(plan)]
    attributes = _attributes(plan)
    first = f"void {plan.name}(" if attributes else f"__kernel void {plan.name}("
    head = wrapped_head(first, parameters, _WIDTH)
    return "\n".join(["__kernel", *attributes, head]) if attributes else head


def _attributes(plan: KernelPlan) -> list[str]:
    found: list[str] = []
    if plan.options.size_hint:
        sizes = ", ".join(str(size) for size in (*plan.launch.block_size, 1, 1)[:3])
        found += [
            f"__attribute__((reqd_work_group_size({sizes})))",
            f"__attribute__((work_group_size_hint({sizes})))",
        ]
    if plan.options.vector_hint > 1:
        kinds = [device_type(buffer.type) for buffer in plan.buffers]
        kind = next((kind for kind in kinds if kind in {"double", "float"}), "double")
        found.append(f"__attribute__((vec_type_hint({kind}{plan.options.vector_hint})))")
    return found


def _parameter(argument: KernelArgument) -> str:
    match argument.kind:
        case ArgumentKind.BUFFER:
            constant = "const " if argument.direction is Direction.IN else ""
            return f"__global {constant}{argument.device_type} *restrict {argument.name}"
        case ArgumentKind.PARTIALS:
            return f"__global {argument.device_type} *restrict {argument.name}"
        case _:
            return f"const {argument.device_type} {argument.name}"


def _uses_double(plan: KernelPlan) -> bool:
    kinds = {argument.device_type for argument in kernel_arguments(plan)} | set(types_of(plan).values())
    return "double" in kinds or any(_is_double(node) for part in plan.body for node in walk(part))


def _is_double(node: Node) -> bool:
    match node:
        case c_ast.Constant(type=kind, value=text):
            return "int" not in kind and kind != "char" and text[-1] not in "fF"
        case c_ast.IdentifierType(names=names):
            return "double" in names
        case _:
            return False
