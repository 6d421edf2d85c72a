"""The types of expressions in a kernel, by OpenCL C's names; device languages compute them alike."""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.ctree import ctype
from orio_py.ctree.ctype import CType
from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.kernel.functions import choice, device_function
from orio_py.kernel.march import queue_name
from orio_py.kernel.phases import spread_loops
from orio_py.kernel.plan import KernelPlan
from orio_py.kernel.types import NAMES, TYPES, device_type

Types = Mapping[str, str]
"""The device types of a kernel's names; of an array, that of its elements, `p.x` for a member of these."""


def types_of(plan: KernelPlan) -> Types:
    """The device types of everything that the body names."""
    found: dict[str, str] = {}
    for name, text in _typed(plan):
        found[name] = device_type(text) or "int"
    for buffer in plan.buffers:
        found |= {f"{buffer.name}.{m.name}": m.type for m in (buffer.record.members if buffer.record else ())}
    for node in (part for statement in plan.body for part in walk(statement)):
        if isinstance(node, c_ast.Decl) and node.name:
            found[node.name] = device_type(_element(node.type)) or "int"
    return found


def _typed(plan: KernelPlan) -> list[tuple[str, str]]:
    buffers = [buffer for buffer in plan.buffers if buffer.record is None]
    parts = [(part.name, part.type) for part in (*buffers, *plan.scalars, *plan.reductions)]
    staged = [(tile.name, tile.type) for tile in plan.staged]
    if plan.march is not None:
        staged += [(queue_name(q.name, k), q.type) for q in plan.march.queues for k in range(q.length)]
    shared = [loop.axis for loop in spread_loops(plan.body)]
    axes = [*plan.axes, *(block.axis for block in plan.blocks), *shared]
    return [*parts, *staged, *plan.private, *((axis.index, axis.type) for axis in axes)]


def _element(kind: Node) -> str:
    while isinstance(kind, c_ast.ArrayDecl):
        kind = kind.type
    return emit_type(kind.type) if isinstance(kind, c_ast.TypeDecl) else ""


def type_of(node: Node, types: Types) -> str:
    """The type that C computes an expression in; `int` for what is no number, `double` for names without a type."""

    def lookup(part: Node) -> CType | None:
        match part:
            case c_ast.ID(name=name):
                return TYPES[types.get(name, "double")]
            case c_ast.StructRef(name=c_ast.ArrayRef(name=c_ast.ID(name=array)), field=c_ast.ID(name=member)):
                return TYPES[types.get(f"{array}.{member}", "double")]
            case c_ast.ArrayRef(name=inner) | c_ast.UnaryOp(op="*", expr=inner):
                return ctype.type_of(inner, lookup, lp64=True)
            case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=arguments)):
                function = device_function(name)
                if function is None and choice(name) is not None:
                    first, second = (ctype.type_of(argument, lookup, lp64=True) for argument in arguments)
                    return ctype.common(first, second, lp64=True)
                return ctype.INT if function is None else TYPES[function.result]
            case _:
                return ctype.INT

    found = ctype.type_of(node, lookup, lp64=True)
    return "int" if found is None else NAMES.get(found, "int")


def common_type(first: str, second: str) -> str:
    """The type in which an operator computes with operands of two types."""
    found = ctype.common(TYPES[first], TYPES[second], lp64=True)
    assert found is not None
    return NAMES[found]
