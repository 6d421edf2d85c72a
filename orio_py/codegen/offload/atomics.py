"""Statements that update elements of arrays which other items update, too: C → device trees.

    count[c[i]] += 1;                             AtomicUpdate(ADD, "int", count[c[i]], 1)
    top[c[i]] = e < top[c[i]] ? e : top[c[i]];    AtomicUpdate(LEAST, "int", top[c[i]], e)

Integers are multiplied without a sign, where no order of the updates overflows; devices' own additions wrap around.  An
update computes in the type of the element, or in that of the value where C computes in a wider one.

Source: ISO C99, 6.3.1.8 and 6.5.16.2.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from orio_py.codegen.offload.device_tree import AtomicOp, AtomicUpdate
from orio_py.codegen.offload.types import Types, type_of
from orio_py.ctree.build import cast_to, index, unary
from orio_py.ctree.nodes import Node, array_of, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with
from orio_py.kernel.functions import device_function
from orio_py.kernel.plan import KernelPlan

_OPERATORS: Mapping[str, AtomicOp] = {
    "+=": AtomicOp.ADD,
    "-=": AtomicOp.SUBTRACT,
    "*=": AtomicOp.MULTIPLY,
    "&=": AtomicOp.AND,
    "|=": AtomicOp.OR,
    "^=": AtomicOp.XOR,
}
_CHOICES: Mapping[str, AtomicOp] = {"<": AtomicOp.LEAST, ">": AtomicOp.GREATEST}
_FUNCTIONS: Mapping[str, AtomicOp] = {"fmin": AtomicOp.FMIN, "fmax": AtomicOp.FMAX}
_OF_WHOLE = {AtomicOp.FMIN: AtomicOp.LEAST, AtomicOp.FMAX: AtomicOp.GREATEST}
UNSIGNED = {"int": "uint", "long": "ulong"}
"""The types in which products of integers do not overflow."""

_FLOATING = frozenset({"float", "double"})


def with_updates(node: Node, plan: KernelPlan, types: Types) -> Node:
    """A statement whose updates of arrays, in the forms that plans have, are nodes of device trees."""
    copies = frozenset(copy.name for copy in plan.copies)
    return _Updates(frozenset(plan.atomics), copies, types).rewrite(node) if plan.atomics else node


def own_copy(name: str) -> str:
    """The name of a group's copy of an array."""
    return f"orio_own_{name}"


class _Updates(Rewriter):
    def __init__(self, arrays: frozenset[str], copies: frozenset[str], types: Types) -> None:
        self._arrays = arrays
        self._copies = copies
        self._types = types

    def visit_Assignment(self, node: c_ast.Assignment) -> Node:
        base = array_of(node.lvalue) if isinstance(node.lvalue, c_ast.ArrayRef) else None
        if not isinstance(base, c_ast.ID) or base.name not in self._arrays:
            return self.generic(node)
        operation, value = _parts(node)
        result = self._update(operation, node.lvalue, self._types[base.name], value)
        if base.name not in self._copies:
            return result
        assert isinstance(node.lvalue, c_ast.ArrayRef)
        own = index(own_copy(base.name), node.lvalue.subscript)
        return copy_with(result, target=own, is_local=True)

    def _update(self, operation: AtomicOp, target: Node, element: str, value: Node) -> AtomicUpdate:
        if element not in _FLOATING:
            operation = _OF_WHOLE.get(operation, operation)
            kind = UNSIGNED.get(element, element) if operation is AtomicOp.MULTIPLY else element
            return AtomicUpdate(operation, kind, target, self._as(kind, value), element=element)
        if operation is AtomicOp.SUBTRACT:
            operation, value = AtomicOp.ADD, unary("-", value)
        wide = type_of(value, self._types) == "double" and not _is_float(value)
        kind = "double" if wide else element
        return AtomicUpdate(operation, kind, target, self._as(kind, value), element=element)

    def _as(self, kind: str, value: Node) -> Node:
        return value if type_of(value, self._types) == kind else cast_to(kind, value)


def _parts(node: c_ast.Assignment) -> tuple[AtomicOp, Node]:
    """What is done, and with which value."""
    match node:
        case c_ast.Assignment(op="=", rvalue=c_ast.TernaryOp(cond=c_ast.BinaryOp(op=op), iftrue=value)):
            return _CHOICES[op], value
        case c_ast.Assignment(
            op="=", rvalue=c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=[_, value]))
        ):
            function = device_function(name)
            assert function is not None, f"no update by {name}"
            return _FUNCTIONS[function.name], value
        case _:
            return _OPERATORS[node.op], node.rvalue


def _is_float(value: Node) -> bool:
    """Whether a value of type `double` is a literal that `float` holds."""
    match value:
        case c_ast.UnaryOp(op="-" | "+", expr=operand):
            return _is_float(operand)
        case c_ast.Constant(value=text) if not text.startswith(("0x", "0X")):
            number = float(text.rstrip("fFlL"))
            return abs(number) < 2.0**127 and struct.unpack("f", struct.pack("f", number))[0] == number
        case _:
            return False
