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
from orio_py.codegen.opencl.blocks import kernel_with_blocks
from orio_py.codegen.opencl.lanes import lanes_body, plain_body
from orio_py.codegen.opencl.loops import blocks_around, linear
from orio_py.codegen.opencl.reductions import device_reduction, lanes_declared, lanes_merged
from orio_py.codegen.opencl.types import Types, types_of
from orio_py.codegen.templates import render
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.transform.offload.call import FIRST_GROUP
from orio_py.transform.offload.plan import Direction, KernelPlan
from orio_py.transform.offload.types import device_type

_WIDTH = 100


def device_program(plans: Sequence[KernelPlan]) -> str:
    """The text of all kernels of a region, in the order of the plans.

    Double precision is switched on only where a kernel computes with it.
    """
    return render(
        "opencl/program.cl.j2",
        uses_double=any(_uses_double(plan) for plan in plans),
        structures=record_definitions(plans),
        kernels="\n".join(_kernel(plan) for plan in plans),
    )


def _kernel(plan: KernelPlan) -> str:
    types = types_of(plan)
    return render(
        "opencl/kernel.cl.j2",
        head=_head(plan),
        reductions=[device_reduction(reduction) for reduction in plan.reductions],
        body=kernel_with_blocks(plan, types) if plan.blocks else _iterations(plan, types),
        tiles=[(device_type(tile.type), tile.name, tile.elements) for tile in plan.staged],
        items=prod(plan.launch.items),
        item=linear("get_local_id", "get_local_size", len(plan.axes)),
        group=f"{FIRST_GROUP} + " * (plan.options.streams > 1)
        + linear("get_group_id", "get_num_groups", len(plan.axes)),
    )


def _iterations(plan: KernelPlan, types: Types) -> list[str]:
    """The lines by which each item finds its iterations and runs them."""
    around = blocks_around(plan, types)
    write = plain_body if plan.lanes is None else lanes_body
    opening = [*(lanes_declared(plan) if plan.lanes else ()), *around.opening]
    body = write(plan, types, "  " * (around.depth + 1)).splitlines()
    return [*opening, *body, *around.closing, *(lanes_merged(plan) if plan.lanes else ())]


def _head(plan: KernelPlan) -> str:
    """The attributes, the name and the parameters."""
    parameters = [_parameter(argument) for argument in kernel_arguments(plan)]
    attributes = _attributes(plan)
    lines = ["__kernel", *attributes] if attributes else []
    line = f"void {plan.name}(" if attributes else f"__kernel void {plan.name}("
    for number, parameter in enumerate(parameters):
        piece = parameter + (")" if number + 1 == len(parameters) else ",")
        if len(line) + len(piece) + 1 > _WIDTH and line.strip():
            lines.append(line.rstrip())
            line = "    "
        line += piece if line.endswith("(") or not line.strip() else f" {piece}"
    return "\n".join([*lines, line])


def _attributes(plan: KernelPlan) -> list[str]:
    found: list[str] = []
    if plan.options.size_hint:
        sizes = ", ".join(str(size) for size in (*plan.launch.items, 1, 1)[:3])
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
