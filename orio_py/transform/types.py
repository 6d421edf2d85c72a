"""What is known of the C types of indices and bounds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import reduce
from typing import Literal

from orio_py.ctree.build import binary, if_, literal_value
from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.ctree.symbols import CDeclaration
from orio_py.transform.base import Context

Signedness = Literal["signed", "unsigned", "unknown"]

_LITERAL_MACRO = re.compile(r"\(?\s*\d+\s*\)?")
_WORDS = frozenset(["char", "short", "int", "long", "signed", "unsigned", "_Bool"])
_FLOATING = frozenset(["float", "double"])
_UNSIGNED_NAMES = frozenset(["size_t", "uintptr_t", "uintmax_t", "uint32_t", "uint64_t"])
_SIGNED_NAMES = frozenset(["ptrdiff_t", "ssize_t", "intptr_t", "intmax_t", "int32_t", "int64_t"])


def index_type(view: CanonicalLoop, context: Context) -> str:
    """The C type of the loop's index; `int` where no declaration is known."""
    if view.declared_type is not None:
        return " ".join(w for w in view.declared_type.split() if w not in {"register", "auto"})
    declared = context.declarations.get(view.index)
    return declared.type if declared is not None else "int"


def control_type(view: CanonicalLoop, context: Context) -> str:
    """The type of a new loop's index: that of the old one, at least as wide as `int`."""
    words = index_type(view, context).split()
    narrow = "char" in words or "short" in words or "_Bool" in words
    return "int" if narrow or words[0] in {"int8_t", "int16_t", "uint8_t", "uint16_t"} else " ".join(words)


def index_type_problem(view: CanonicalLoop, context: Context) -> str | None:
    """Why the index is not an ordinary integer variable, or None."""
    declared = None if view.declared_type is not None else context.declarations.get(view.index)
    if declared is not None:
        if declared.pointers or declared.dimensions:
            return "is a pointer or an array"
        if "volatile" in declared.qualifiers:
            return "is volatile"
    words = set(index_type(view, context).replace("*", " * ").split())
    if words & _FLOATING:
        return "is a floating-point variable"
    if "*" in words:
        return "is a pointer"
    return "is volatile" if "volatile" in words else None


def signedness_of_type(text: str) -> Signedness:
    """How C computes with values of an integer type, after the integer promotions."""
    words = text.split()
    if len(words) == 1 and words[0] in _UNSIGNED_NAMES:
        return "unsigned"
    if len(words) == 1 and words[0] in _SIGNED_NAMES:
        return "signed"
    if not words or not set(words) <= _WORDS:
        return "unknown"
    narrow = "char" in words or "short" in words or "_Bool" in words
    return "unsigned" if "unsigned" in words and not narrow else "signed"


def same_signedness(index: str, context: Context, *expressions: Node) -> bool:
    """Whether comparing and subtracting the expressions and an index of type `index` never mixes signs."""
    kinds = {signedness(e, context) for e in expressions if not is_natural(e, context)}
    kinds.add(signedness_of_type(index))
    return len(kinds) == 1 and "unknown" not in kinds


def is_natural(node: Node, context: Context) -> bool:
    """Whether an expression is a literal of at least 0, which has the same value in every type."""
    if isinstance(node, c_ast.ID):
        return _LITERAL_MACRO.fullmatch(context.macros.get(node.name, "").strip()) is not None
    value = literal_value(node)
    return value is not None and value >= 0


def fits_index(expression: Node, index: str, context: Context) -> bool:
    """Whether a variable of the index's type holds every value of the expression."""
    if not same_signedness(index, context, expression):
        return False
    wide = is_wide(index)
    names = (n.name for n in walk(expression) if isinstance(n, c_ast.ID))
    types = (context.declarations[n].type for n in names if n in context.declarations)
    return wide or not any(is_wide(t) for t in types)


def without_cast(number: Node) -> Node:
    """A literal of at least 0 without a cast before it that keeps its value; any other expression as it is.

    A cast to a type of integers keeps it, unless the type is narrower than `int`.
    """
    if not isinstance(number, c_ast.Cast) or (literal_value(number.expr) or 0) < 0:
        return number
    text = emit_type(number.to_type)
    keeps = signedness_of_type(text) != "unknown" and not {"char", "short", "_Bool"} & set(text.split())
    return number.expr if keeps and literal_value(number.expr) is not None else number


def makes_unsigned(number: Node, context: Context) -> bool:
    """Whether a number, by its suffix or a cast before it, makes a comparison with `int` an unsigned one.

    Types shorter than `int` do not: they are promoted to it.
    """
    if isinstance(number, c_ast.Cast):
        text = emit_type(number.to_type)
        return signedness_of_type(text) == "unsigned" and not {"char", "short"} & set(text.split())
    return any(
        isinstance(part, c_ast.Constant) and signedness(part, context) == "unsigned" for part in walk(number)
    )


def mentions_unsigned(expression: Node, context: Context) -> bool:
    """Whether a part of an expression is unsigned, so that comparisons with it may be."""
    return any(signedness(part, context) == "unsigned" for part in walk(expression))


def is_wide(text: str) -> bool:
    """Whether an integer type may be wider than `int`."""
    words = set(text.split())
    return "long" in words or bool(words & (_UNSIGNED_NAMES | _SIGNED_NAMES))


def signedness(expression: Node, context: Context) -> Signedness:
    """How C computes an integer expression; undeclared names count as `int`, mixtures as unknown."""
    match expression:
        case c_ast.Constant():
            return "unsigned" if "u" in expression.value.lower().replace("0x", "") else "signed"
        case c_ast.ID() | c_ast.ArrayRef():
            return _signedness_of_name(expression, context)
        case c_ast.UnaryOp(op="-" | "+", expr=operand):
            return signedness(operand, context)
        case c_ast.BinaryOp(op="+" | "-" | "*" | "/" | "%", left=left, right=right):
            return _common(left, right, context)
        case c_ast.TernaryOp(iftrue=left, iffalse=right):
            return _common(left, right, context)
        case _:
            return "unknown"


def _signedness_of_name(node: Node, context: Context) -> Signedness:
    depth = 0
    while isinstance(node, c_ast.ArrayRef):
        node = node.name
        depth += 1
    if not isinstance(node, c_ast.ID):
        return "unknown"
    declared = context.declarations.get(node.name)
    if declared is None:
        return "unknown" if node.name in context.macros or depth else "signed"
    if _depth_of(declared) != depth:
        return "unknown"
    return signedness_of_type(declared.type)


def _depth_of(declared: CDeclaration) -> int:
    return declared.pointers + len(declared.dimensions)


def _common(left: Node, right: Node, context: Context) -> Signedness:
    first, second = signedness(left, context), signedness(right, context)
    if is_natural(left, context):
        return second
    return first if first == second or is_natural(right, context) else "unknown"


def is_always_true(test: Node, context: Context) -> bool:
    """Whether a comparison says no more than that an unsigned value is not negative, or equal to itself.

    Compilers warn of such a test (-Wtype-limits, -Wtautological-compare).
    """
    match test:
        case c_ast.BinaryOp(op="<=" | ">=", left=left, right=right) if equal(left, right):
            return True
        case (
            c_ast.BinaryOp(op=">=", left=value, right=limit)
            | c_ast.BinaryOp(op="<=", left=limit, right=value)
        ):
            known = (
                signedness(value, context) == "unsigned"
                or makes_unsigned(limit, context)
                or _is_widened(value, context)
            )
            return literal_value(limit.expr if isinstance(limit, c_ast.Cast) else limit) == 0 and known
        case _:
            return False


def _is_widened(value: Node, context: Context) -> bool:
    """Whether a value is unsigned before a cast to a wider type, as in `(long)(n - 1)`."""
    if not isinstance(value, c_ast.Cast) or not is_wide(emit_type(value.to_type)):
        return False
    names = [context.declarations.get(part.name) for part in walk(value.expr) if isinstance(part, c_ast.ID)]
    narrow = all(known is not None and not is_wide(known.type) for known in names)
    return narrow and signedness(value.expr, context) == "unsigned"


def if_all(tests: Iterable[Node], then: Node, context: Context) -> Node:
    """`then` behind those of the tests that can fail."""
    needed = [test for test in tests if not is_always_true(test, context)]
    return if_(reduce(lambda a, b: binary("&&", a, b), needed), then) if needed else then
