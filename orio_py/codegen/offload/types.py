"""The types of expressions in a kernel, by OpenCL C's names; device languages compute them alike."""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.kernel.functions import choice, device_function
from orio_py.kernel.plan import KernelPlan
from orio_py.kernel.types import device_type

_RANKS = ("int", "uint", "long", "ulong", "float", "double")
_TRUTHS = frozenset({"<", "<=", ">", ">=", "==", "!=", "&&", "||"})

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
    axes = [*plan.axes, *(block.axis for block in plan.blocks)]
    return [*parts, *staged, *plan.private, *((axis.index, axis.type) for axis in axes)]


def _element(kind: Node) -> str:
    while isinstance(kind, c_ast.ArrayDecl):
        kind = kind.type
    return emit_type(kind.type) if isinstance(kind, c_ast.TypeDecl) else ""


def type_of(node: Node, types: Types) -> str:
    """The type of an expression, after the usual arithmetic conversions (ISO C99, 6.3.1.8)."""
    match node:
        case c_ast.Constant(type=kind, value=text):
            return _literal_type(kind, text)
        case c_ast.ID(name=name):
            return types.get(name, "double")
        case c_ast.StructRef(name=c_ast.ArrayRef(name=c_ast.ID(name=array)), field=c_ast.ID(name=member)):
            return types.get(f"{array}.{member}", "double")
        case c_ast.ArrayRef(name=name):
            return type_of(name, types)
        case c_ast.Cast(to_type=kind):
            return device_type(emit_type(kind)) or "int"
        case c_ast.UnaryOp(op="!" | "sizeof" as op):
            return "int" if op == "!" else "ulong"
        case c_ast.UnaryOp(op=op, expr=operand):
            kind = type_of(operand, types)
            return kind if "++" in op or "--" in op else _promoted(kind)
        case c_ast.BinaryOp(op=op) if op in _TRUTHS:
            return "int"
        case c_ast.BinaryOp(op="<<" | ">>", left=left):
            return _promoted(type_of(left, types))
        case c_ast.BinaryOp(left=left, right=right) | c_ast.TernaryOp(iftrue=left, iffalse=right):
            return common_type(type_of(left, types), type_of(right, types))
        case c_ast.Assignment(lvalue=target):
            return type_of(target, types)
        case c_ast.FuncCall(name=c_ast.ID(name=name), args=arguments):
            function = device_function(name)
            if function is None and choice(name) is not None and isinstance(arguments, c_ast.ExprList):
                first, second = arguments.exprs
                return common_type(type_of(first, types), type_of(second, types))
            return "int" if function is None else function.result
        case _:
            return "int"


def _literal_type(kind: str, text: str) -> str:
    if "int" not in kind and kind != "char":
        return "float" if text[-1] in "fF" else "double"
    suffix = text.lower()[len(text.rstrip("uUlL")) :]
    return ("u" if "u" in suffix else "") + ("long" if "l" in suffix else "int")


def _promoted(kind: str) -> str:
    return kind if kind in _RANKS else "int"


def common_type(first: str, second: str) -> str:
    """The type in which an operator computes with operands of two types."""
    return max(_promoted(first), _promoted(second), key=_RANKS.index)
