"""A variable of the code as a number."""

from __future__ import annotations

from orio_py.ctree.build import cast_to, const, literal_value
from orio_py.ctree.ctype import Rank, ctype
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import substitute, walk
from orio_py.ctree.simplify import simplify
from orio_py.ctree.symbols import CDeclaration

_SUFFIXES = {Rank.INT: "", Rank.LONG: "L", Rank.LONG_LONG: "LL"}


def typed_literal(text: str, value: int) -> Node | None:
    """`value` as an expression of the type that uses of a variable of type `text` have; None if it may not fit."""
    kind = ctype(text)
    if kind is None or kind.is_floating:
        return cast_to(text, _number(value, "")) if -32767 <= value <= 32767 else None
    # A `long` that is too small for the number never has it.
    low, high = (kind.limits if kind.is_narrow or kind.alias else kind.reach) or (0, 0)
    if not kind.is_narrow and low < 0:
        low += 1  # There is no literal for the least value.
    if not low <= value <= high:
        return None
    if kind.alias and not kind.is_narrow:
        return cast_to(kind.words, _number(value, ""))
    suffix = _SUFFIXES[kind.promoted.rank]
    return _number(value, ("U" + suffix if suffix else "u") if kind.promoted.unsigned else suffix)


def narrow_range(text: str) -> tuple[int, int] | None:
    """The least and the greatest value that a type shorter than `int` may have on any machine; None for others."""
    kind = ctype(text)
    return kind.reach if kind is not None and kind.is_narrow else None


def is_narrow(declared: CDeclaration) -> bool:
    """Whether uses of the variable have another type than the variable."""
    return narrow_range(declared.type) is not None


def with_constant(node: Node, name: str, number: Node) -> Node:
    """The code with a number in place of a variable, and index arithmetic computed where it can be."""
    return simplify(substitute(node, name, number))


def clash_with(node: Node, name: str, value: int, *, is_int: bool) -> Node | None:
    """The first place where a compiler objects to the number: a division by 0, an array of no elements.

    `is_int` says that the number is an `int`, in which products of numbers may overflow.
    """
    for part in walk(node):
        match part:
            case (
                c_ast.BinaryOp(op="/" | "%", right=operand) | c_ast.Assignment(op="/=" | "%=", rvalue=operand)
            ):
                bad = _value(operand, name, value) in ({0} if value else {0, None})
            case c_ast.BinaryOp(op="+" | "-" | "*") if is_int:
                operand, total = part, _value(part, name, value)
                bad = total is not None and not -(2**31) < total < 2**31
            case c_ast.BinaryOp(op="<<" | ">>", right=operand):
                amount = _value(operand, name, value)
                bad = amount is not None and not 0 <= amount < 32
            case c_ast.ArrayDecl(dim=Node() as operand):
                extent = _value(operand, name, value)
                bad = (value if extent is None else extent) < 1
            case _:
                continue
        if bad and any(_is(inner, name) for inner in walk(operand)):
            return part
    return None


def _value(node: Node, name: str, value: int) -> int | None:
    """The value of an expression with a number in place of the variable, where it is a literal then."""
    return literal_value(simplify(substitute(node, name, const(value))))


def _is(node: Node, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name


def _number(value: int, suffix: str) -> Node:
    digits = c_ast.Constant("int" if not suffix else "long int", f"{abs(value)}{suffix}")
    return c_ast.UnaryOp("-", digits) if value < 0 else digits
