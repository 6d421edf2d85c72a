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

Source: The OpenCL Specification 1.2, sections 6.1 (types), 6.7 (attributes), 6.12.1 (work items), 6.12.7 (vectors),
6.12.8 (barriers).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NoReturn

from orio_py.codegen.device import ArgumentKind, KernelArgument, kernel_arguments, record_definitions
from orio_py.codegen.offload.device_tree import (
    AtomicUpdate,
    DeviceFeatures,
    Query,
    VectorOp,
    VectorOperation,
    WorkItem,
)
from orio_py.codegen.offload.dialect import wrapped_head
from orio_py.codegen.offload.lowering import lowered_kernel
from orio_py.codegen.offload.printer import kernel_text
from orio_py.codegen.offload.types import types_of
from orio_py.codegen.opencl.updates import is_wide, native_update, update_function, update_functions
from orio_py.codegen.templates import render
from orio_py.ctree.build import binary, call, cast_to, const, ident, unary
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.kernel.functions import DeviceFunction, device_function
from orio_py.kernel.plan import Direction, KernelPlan
from orio_py.kernel.types import device_type

_WIDTH = 100
_QUERIES = {
    Query.LOCAL_ID: "get_local_id",
    Query.GROUP_ID: "get_group_id",
    Query.GROUP_COUNT: "get_num_groups",
    Query.GLOBAL_ID: "get_global_id",
    Query.GLOBAL_SIZE: "get_global_size",
}
_MEMBERS = {VectorOp.LOWER: "lo", VectorOp.UPPER: "hi", VectorOp.FIRST: "s0"}


class OpenCLDialect:
    """OpenCL C."""

    features = DeviceFeatures(warp=0, item="item", group="group", divides_to_unroll=False)
    group_memory = "__local"
    alignment = "__attribute__((aligned(16)))"
    absolute_is_unsigned = True
    narrows_in_braces = True
    ids_are_long = False

    def work_item(self, node: WorkItem) -> Node:
        """`get_global_id` and the like."""
        return call(_QUERIES[node.query], node.dimension)

    def barrier(self, *, is_global: bool) -> Node:
        """`barrier`."""
        local = ident("CLK_LOCAL_MEM_FENCE")
        return call("barrier", binary("|", local, ident("CLK_GLOBAL_MEM_FENCE")) if is_global else local)

    def shuffle(self, value: Node, distance: Node, *, back: bool) -> NoReturn:
        """OpenCL C 1.2 has no such function."""
        del back
        raise AssertionError(f"no shuffle of {value} by {distance}")

    def atomic(self, node: AtomicUpdate) -> Node:
        """`atomic_add` and the like; a function of the program for what OpenCL C does not have."""
        function = native_update(node)
        address = unary("&", node.target)
        if node.seen != node.element:
            space = "__local" if node.is_local else "__global"
            address = cast_to(f"volatile {space} {node.seen} *", address)
        return call(function or update_function(node).name, address, node.value)

    def vector(self, node: VectorOperation) -> Node:
        """`vload4`, `convert_double4`, `.lo` and the like."""
        kind = self.vector_type(node.type, node.width)
        match node.operation:
            case VectorOp.LOAD:
                return call(f"vload{node.width}", const(0), *node.operands)
            case VectorOp.STORE:
                value, address = node.operands
                return call(f"vstore{node.width}", value, const(0), address)
            case VectorOp.CONVERT:
                return call(f"convert_{kind}", *node.operands)
            case VectorOp.SELECT:
                return call("select", *node.operands)
            case VectorOp.VALUES:
                return cast_to(kind, c_ast.ExprList(node.operands))
            case VectorOp.CALL:
                function = device_function(node.called)
                assert function is not None
                result = call(function.name, *node.operands)
                return call(f"convert_{kind}", result) if function.name == "abs" else result
            case VectorOp.LOWER | VectorOp.UPPER | VectorOp.FIRST as part:
                return c_ast.StructRef(node.operands[0], ".", ident(_MEMBERS[part]))

    def type_name(self, kind: str) -> str:
        """The type itself: device trees use OpenCL C's names."""
        return kind

    def vector_type(self, kind: str, width: int) -> str:
        """For example `double4`."""
        return f"{kind}{width}"

    def constant(self, name: str) -> str:
        """The name itself: OpenCL C has these macros."""
        return name

    def function(self, name: str, function: DeviceFunction) -> str:
        """The function's name for all types."""
        del name
        return function.name

    def head(self, plan: KernelPlan, used: Set[str]) -> str:
        """The attributes, the name and the parameters."""
        del used
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


OPENCL = OpenCLDialect()


def device_program(plans: Sequence[KernelPlan]) -> str:
    """The text of all kernels of a region, in the order of the plans.

    Double precision is switched on only where a kernel computes with it.
    """
    kernels = [lowered_kernel(plan, OPENCL.features) for plan in plans]
    updates = [n for kernel in kernels for n in walk(kernel.body) if isinstance(n, AtomicUpdate)]
    return render(
        "opencl/program.cl.j2",
        uses_wide_updates=any(is_wide(update) for update in updates),
        updates=update_functions(updates),
        uses_double=any(_uses_double(plan) for plan in plans),
        structures=record_definitions(plans, OPENCL.type_name, "typedef char {name}_size[{size} ? 1 : -1];"),
        kernels="\n".join(kernel_text(kernel, OPENCL) for kernel in kernels),
    )


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
