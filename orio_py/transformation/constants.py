"""A variable of the code as a number."""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.ctree.build import cast_to, const, literal_value
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import substitute, walk
from orio_py.ctree.simplify import simplify
from orio_py.ctree.symbols import CDeclaration

_SUFFIXES: Mapping[str, tuple[str, int]] = {
    "int": ("", 32),
    "unsigned": ("u", 32),
    "long": ("L", 64),
    "unsigned long": ("UL", 64),
    "long long": ("LL", 64),
    "unsigned long long": ("ULL", 64),
}
"""The suffix of a type's literals, and its bits where it has the most."""

_NARROW: Mapping[str, tuple[int, int]] = {
    "char": (0, 127),
    "signed char": (-127, 127),
    "unsigned char": (0, 255),
    "short": (-32767, 32767),
    "unsigned short": (0, 65535),
    "_Bool": (0, 1),
    "bool": (0, 1),
    "int8_t": (-127, 127),
    "uint8_t": (0, 255),
    "int16_t": (-32767, 32767),
    "uint16_t": (0, 65535),
}
"""Types whose values become `int` wherever they are used (C99 6.3.1.1), and what all of them hold."""


def typed_literal(declared: CDeclaration, value: int) -> Node | None:
    """`value` as an expression of the type that uses of the variable have; None if it does not fit."""
    kind = canonical(declared.type)
    if kind in _NARROW:
        low, high = _NARROW[kind]
        return _number(value, "") if low <= value <= high else None
    if kind in _SUFFIXES:
        suffix, bits = _SUFFIXES[kind]
        signed = not kind.startswith("unsigned")
        fits = -(2 ** (bits - 1)) < value < 2 ** (bits - 1) if signed else 0 <= value < 2**bits
        return _number(value, suffix) if fits else None
    if not -32767 <= value <= 32767 or (declared.is_unsigned and value < 0):
        return None
    return cast_to(kind, _number(value, ""))


def range_of(kind: str) -> tuple[int, int] | None:
    """The least and the greatest value that a narrow type may have on any machine; None for the others."""
    if kind not in _NARROW:
        return None
    low, high = _NARROW[kind]
    return (-high - 1 if low or kind == "char" else low, 255 if kind == "char" else high)


def canonical(kind: str) -> str:
    """An integer type in its shortest words."""
    words = [word for word in kind.split() if word not in {"register", "auto", "const"}]
    sign = "unsigned" if "unsigned" in words else "signed" if words == ["signed", "char"] else ""
    rest = [word for word in words if word not in {"signed", "unsigned", "int"}]
    whole = " ".join([sign, *rest]).strip()
    return whole or "int"


def is_narrow(declared: CDeclaration) -> bool:
    """Whether uses of the variable have another type than the variable."""
    return canonical(declared.type) in _NARROW


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
