"""The C type of an integer expression (C99 6.3.1.1 and 6.3.1.8)."""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.types import signedness_of_type

_RANKS = {
    "int": 0,
    "unsigned": 0,
    "long": 1,
    "unsigned long": 1,
    "long long": 2,
    "unsigned long long": 2,
}
_WIDE_NAMES = frozenset(
    {
        "size_t",
        "ssize_t",
        "ptrdiff_t",
        "int64_t",
        "uint64_t",
        "intptr_t",
        "uintptr_t",
        "intmax_t",
        "uintmax_t",
    }
)
_WIDE_UNSIGNED = frozenset({"size_t", "uint64_t", "uintptr_t", "uintmax_t"})
"""Unsigned types that are at least as wide as `long` where they are known."""
_AS_INT = {
    "char": "int",
    "short": "int",
    "_Bool": "int",
    "bool": "int",
    "int8_t": "int",
    "uint8_t": "int",
    "int16_t": "int",
    "uint16_t": "int",
    "int32_t": "int",
    "uint32_t": "unsigned",
}
_EXTREMES = frozenset({"min", "max", "MIN", "MAX"})
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!=", "&&", "||"})
_LARGEST = 2**31 - 1


def expression_type(node: Node, declared: Mapping[str, CDeclaration], context: Context) -> str | None:
    """The type of an expression; None where it is no integer, or depends on the machine or on what is not seen.

    Names without a declaration count as `int`.
    """

    def common(*parts: Node) -> str | None:
        kinds = [expression_type(part, declared, context) for part in parts]
        result = kinds[0]
        for kind in kinds[1:]:
            result = None if result is None or kind is None else _common(result, kind)
        return result

    match node:
        case c_ast.Constant():
            return _literal(node)
        case c_ast.ID() if node.name in context.macros:
            return "int" if context.macros[node.name].strip(" ()").isdigit() else None
        case c_ast.ID() | c_ast.ArrayRef():
            return _element(node, declared)
        case c_ast.UnaryOp(op="-" | "+" | "~", expr=operand) | c_ast.BinaryOp(op="<<" | ">>", left=operand):
            return common(operand)
        case c_ast.BinaryOp(op=op) if op in _COMPARISONS:
            return "int"
        case c_ast.BinaryOp(left=left, right=right) | c_ast.TernaryOp(iftrue=left, iffalse=right):
            return common(left, right)
        case c_ast.Cast():
            return promoted(emit_type(node.to_type))
        case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=[first, second])):
            return common(first, second) if name in _EXTREMES and name in context.function_macros else None
        case _:
            return None


def _literal(node: c_ast.Constant) -> str | None:
    text = node.value.lower()
    digits = text.rstrip("ul")
    if node.type == "char" or (digits == text and digits.isdigit() and int(digits) <= _LARGEST):
        return "int"
    if not digits.isdigit() or int(digits) > _LARGEST:
        return None
    suffix = text[len(digits) :]
    words = ["unsigned"] * ("u" in suffix) + ["long"] * suffix.count("l")
    return " ".join(words)


def _element(node: Node, declared: Mapping[str, CDeclaration]) -> str | None:
    depth = 0
    while isinstance(node, c_ast.ArrayRef):
        node = node.name
        depth += 1
    if not isinstance(node, c_ast.ID):
        return None
    found = declared.get(node.name)
    if found is None:
        return None if depth else "int"
    return promoted(found.type) if found.pointers + len(found.dimensions) == depth else None


def promoted(text: str) -> str | None:
    """The type in which values of an integer type are computed; None for other types."""
    words = [word for word in text.split() if word not in {"const", "register", "auto", "signed"}]
    if len(words) == 1 and words[0] in _WIDE_NAMES:
        return words[0]
    for name, result in _AS_INT.items():
        if name in words:
            return result
    kind = " ".join(["unsigned"] * ("unsigned" in words) + ["long"] * words.count("long")) or "int"
    others = set(words) - {"int", "unsigned", "long"}
    return kind if not others and (words or "signed" in text) else None


def compared_type(kind: str, index: str | None) -> str:
    """The type of a constant of type `kind` that is compared with an index of the (promoted) type `index`.

    In a comparison with an unsigned index a signed bound becomes unsigned; as a constant of that type it has the
    same value there, and a compiler that knew the expression not to be negative has nothing to warn of.
    """
    if index is not None and index in _WIDE_UNSIGNED and kind in {"int", "long"}:
        return index
    together = None if index is None else _common(index, kind)
    return together if together is not None and signedness_of_type(together) == "unsigned" else kind


def _common(first: str, second: str) -> str | None:
    """The type in which two operands are computed together."""
    if first == second:
        return first
    if first in _WIDE_NAMES or second in _WIDE_NAMES:
        other = second if first in _WIDE_NAMES else first
        return (first if first in _WIDE_NAMES else second) if other == "int" else None
    low, high = sorted((first, second), key=lambda kind: (_RANKS[kind], "unsigned" in kind))
    if _RANKS[low] == _RANKS[high] or "unsigned" in high or "unsigned" not in low:
        return high
    # Whether a wider signed type holds every value of the unsigned one depends on the machine.
    return high if (low, high) == ("unsigned", "long long") else None
