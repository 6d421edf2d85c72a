"""What is known of the C types of indices and bounds."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from orio_py.ctree.build import const, ident, literal_value
from orio_py.ctree.ctype import INT, UNSIGNED, Rank, ctype, integer_value, named_type
from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.known_functions import PURE_FUNCTIONS
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node, c_ast, reference_parts
from orio_py.ctree.rewrite import walk
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import expression_type, uses_wide_values

Signedness = Literal["signed", "unsigned", "unknown"]

_LITERAL_MACRO = re.compile(r"\(?\s*\d+\s*\)?")
_FLOATING_NUMBER = re.compile(r"(?<![\w.])(?:\d+\.|\.\d|\d+[eE][-+]?\d)")
_EXTREMES = frozenset(["abs", "labs", "llabs", "min", "max", "MIN", "MAX"])
_ROUNDED = frozenset(["floord", "ceild", "lround", "llround", "lrint", "llrint", "ilogb"])
_FLOATING = frozenset(["float", "double"])


def is_computed_unsigned(value: Node, context: Context) -> bool:
    """Whether C computes a value as an unsigned one on every machine: `sizeof(int) + m`, `size - c` (C99 6.3.1.8)."""
    found = expression_type(value, context)
    return found is not None and found.promoted.unsigned


def narrow_range(text: str) -> tuple[int, int] | None:
    """The least and the greatest value that a type shorter than `int` may have on any machine; None for others."""
    kind = ctype(text)
    return kind.reach if kind is not None and kind.is_narrow else None


def is_narrow(declared: CDeclaration) -> bool:
    """Whether uses of the variable have another type than the variable."""
    return narrow_range(declared.type) is not None


def index_type(view: CanonicalLoop, context: Context) -> str:
    """The C type of the loop's index; `int` where no declaration is known."""
    if view.declared_type is not None:
        return view.declared_type
    declared = context.declarations.get(view.index)
    return declared.type if declared is not None else "int"


def control_type(view: CanonicalLoop, context: Context) -> str:
    """The type of a new loop's index: that of the old one, at least as wide as `int`.

    For a short unsigned index that is compared with unsigned numbers it is `unsigned`, as compilers warn of
    such a comparison with an `int`.
    """
    text = index_type(view, context)
    kind = ctype(text)
    if kind is None or not kind.is_narrow:
        return text
    return "unsigned" if kind.unsigned and mentions_unsigned(view.bound, context) else "int"


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
    if _may_pass_its_type(view, context):
        return "may wrap around before it reaches the unsigned bound"
    own = walk(view.node.init) if isinstance(view.node.init, c_ast.DeclList) else ()
    volatile = any(isinstance(part, c_ast.Decl) and "volatile" in part.quals for part in own)
    return "is volatile" if volatile else None


def _may_pass_its_type(view: CanonicalLoop, context: Context) -> bool:
    """Whether a signed index is compared as an unsigned number where it is negative.

    A short one ends by wrapping around, as a negative one is above an unsigned bound; `i >= 0u` always holds.
    """
    kind = ctype(index_type(view, context))
    if kind is None or kind.unsigned:
        return False
    if not view.upward:
        zero = isinstance(view.bound, c_ast.Constant) and integer_value(view.bound.value) == 0
        return zero and view.relation == ">=" and is_converted(ident(view.index), view.bound, context)
    if not kind.is_narrow:
        return False
    bound = INT if literal_value(view.bound) is not None else expression_type(view.bound, context)
    return bound is not None and not bound.is_floating and bound.promoted.unsigned


def wraps_at_the_start(view: CanonicalLoop, context: Context) -> bool:
    """Whether a short index may begin with another value than its start: 255 where that is -1.

    Conversions to other types are taken to keep the value, as sums are taken not to overflow.
    """
    return not _holds_as_short(view.start, view, context)


def bound_wraps(view: CanonicalLoop, context: Context) -> bool:
    """Whether a bound may have another value in the type of the index: a negative one if that is unsigned.

    An `unsigned` index is compared with an `int` as with an `unsigned`, but with a `long` as a `long`.
    """
    narrow = not _holds_as_short(view.bound, view, context)
    natural = is_natural(view.bound, context)
    wide = any(is_wide(declared) for declared in _types_in(view.bound, context))
    mixed = (
        ctype(index_type(view, context)) == UNSIGNED
        and wide
        and not natural
        and signedness(view.bound, context) != "unsigned"
    )
    return narrow or mixed


def words_of(kind: Node, context: Context) -> str:
    """A type by the words of C, which a typedef's name may stand for."""
    text = emit_type(kind)
    return context.types.get(text, text)


def _types_in(value: Node, context: Context) -> list[str]:
    """The types of the variables, casts and numbers of an expression."""
    casts = [words_of(part.to_type, context) for part in walk(value) if isinstance(part, c_ast.Cast)]
    longs = ["long" for part in walk(value) if isinstance(part, c_ast.Constant) and "l" in part.value.lower()]
    names = (context.declarations.get(part.name) for part in walk(value) if isinstance(part, c_ast.ID))
    return [*casts, *longs, *(declared.type for declared in names if declared is not None)]


def _holds_as_short(value: Node, view: CanonicalLoop, context: Context) -> bool:
    """Whether a value keeps itself in the type of the index, if that is a short one.

    What has a signed index is taken to do so, but for numbers and casts that say otherwise.
    """
    kind = ctype(index_type(view, context))
    known = None if kind is None or kind.alias or not kind.is_narrow else kind.limits
    if known is None:
        return True
    if known[0] < 0 and literal_value(value) is None:
        cast = narrow_range(words_of(value.to_type, context)) if isinstance(value, c_ast.Cast) else None
        return cast is None or (known[0] <= cast[0] and cast[1] <= known[1])
    return is_within(value, known, context)


def is_within(value: Node, known: tuple[int, int], context: Context) -> bool:
    """Whether a value surely lies within a range: a number, or a variable or cast of a type that does.

    A number of up to half the range that is added to such a variable is taken not to lead out of it.
    """
    match value:
        case c_ast.BinaryOp(op="+", left=c_ast.ID() as variable, right=c_ast.Constant() as amount):
            number = literal_value(amount)
            small = number is not None and 0 <= number <= known[1] // 2
            return small and is_within(variable, known, context)
        case c_ast.BinaryOp(op="/", left=whole, right=c_ast.Constant() as divisor) if known[0] == 0:
            return (literal_value(divisor) or 0) > 0 and is_within(whole, known, context)
        case _:
            pass
    if (number := literal_value(value)) is not None:
        return known[0] <= number <= known[1]
    if isinstance(value, c_ast.ID) and value.name in context.macros:
        text = context.macros[value.name].strip(" ()")
        return text.isdigit() and int(text) <= known[1]
    if isinstance(value, c_ast.UnaryOp) and value.op == "+":
        return is_within(value.expr, known, context)
    kind = expression_type(value, context)
    if isinstance(value, c_ast.Cast) and kind is not None and not (kind.is_narrow or kind.is_floating):
        return known[0] == 0 and is_within(value.expr, known, context)
    inner = kind.reach if kind is not None and kind.is_narrow else None
    return inner is not None and known[0] <= inner[0] and inner[1] <= known[1]


def signedness_of_type(text: str) -> Signedness:
    """How C computes with values of an integer type, after the integer promotions."""
    known = ctype(text)
    if known is None or known.is_floating:
        return "unknown"
    return "unsigned" if known.promoted.unsigned else "signed"


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


def means_its_literals(loop: CanonicalLoop, context: Context) -> bool:
    """Whether the literals in the header mean in the index's type what they say."""
    natural = all(is_natural(part, context) for part in (loop.start, loop.bound))
    return natural or signedness_of_type(index_type(loop, context)) == "signed"


def fits_index(expression: Node, index: str, context: Context) -> bool:
    """Whether a variable of the index's type holds every value of the expression."""
    if not same_signedness(index, context, expression):
        return False
    kind = ctype(index)
    if kind is not None and kind.unsigned and kind.is_narrow and (limits := kind.limits) is not None:
        return all(is_within(each, limits, context) for each in _choices(expression))
    wide = is_wide(index)
    names = (n.name for n in walk(expression) if isinstance(n, c_ast.ID))
    types = (context.declarations[n].type for n in names if n in context.declarations)
    return wide or not (any(is_wide(t) for t in types) or uses_wide_values(expression, context))


def _choices(expression: Node) -> list[Node]:
    """The operands of nested `?:`, or the expression itself."""
    if not isinstance(expression, c_ast.TernaryOp):
        return [expression]
    return [*_choices(expression.iftrue), *_choices(expression.iffalse)]


def without_cast(number: Node) -> Node:
    """A literal of at least 0 without a cast before it that keeps its value; any other expression as it is.

    A cast to a type of integers keeps it, unless the value may be too large for the type.
    """
    value = literal_value(number.expr) if isinstance(number, c_ast.Cast) else None
    if not isinstance(number, c_ast.Cast) or value is None or not 0 <= value < 2**31:
        return number
    kind = named_type(number.to_type)
    limits = None if kind is None else kind.limits
    return number.expr if limits is not None and value <= limits[1] else number


def without_suffix(bound: Node) -> Node:
    """A literal such as `8UL` as the `int` that is equal to it, for a comparison with what is not negative."""
    match bound:
        case c_ast.Constant(type=kind, value=text) if "int" in kind:
            value = integer_value(text.rstrip("uUlL"))
            return bound if value is None or value >= 2**31 else const(value)
        case _:
            return bound


def makes_unsigned(number: Node, context: Context) -> bool:
    """Whether a number, by its suffix or a cast before it, makes a comparison with `int` an unsigned one."""
    if isinstance(number, c_ast.Cast):
        kind = named_type(number.to_type)
        return kind is not None and kind.promoted.unsigned
    return any(
        isinstance(part, c_ast.Constant) and signedness(part, context) == "unsigned" for part in walk(number)
    )


def is_converted(value: Node, number: Node, context: Context) -> bool:
    """Whether a signed value is compared as the unsigned type of a number, so that it counts as positive."""
    if signedness(value, context) != "signed" or not makes_unsigned(number, context):
        return False
    names = [context.declarations.get(part.name) for part in walk(value) if isinstance(part, c_ast.ID)]
    wide = [known is None or is_wide(known.type) for known in names]
    longest = any(known is None or "long long" in known.type for known in names)
    return not any(wide) or (not longest and any(is_wide(kind) for kind in _types_in(number, context)))


def mentions_unsigned(expression: Node, context: Context) -> bool:
    """Whether a part of an expression is unsigned, so that comparisons with it may be."""
    return any(
        signedness(part, context) == "unsigned"
        or (
            isinstance(part, c_ast.Cast) and signedness_of_type(words_of(part.to_type, context)) == "unsigned"
        )
        for part in walk(expression)
    )


def may_be_unsigned(expression: Node, context: Context) -> bool:
    """Whether C may compute an integer expression as an unsigned one."""
    if isinstance(expression, c_ast.Cast):
        return signedness_of_type(words_of(expression.to_type, context)) != "signed"
    known = signedness(expression, context)
    return known == "unsigned" or (known == "unknown" and mentions_unsigned(expression, context))


def is_wide(text: str) -> bool:
    """Whether an integer type may be wider than `int`."""
    known = ctype(text)
    return known is not None and Rank.LONG <= known.rank <= Rank.LONG_LONG


def signedness(expression: Node, context: Context) -> Signedness:
    """How C computes an integer expression; undeclared names count as `int`, mixtures as unknown."""
    match expression:
        case c_ast.Constant() if is_floating_literal(expression):
            return "unknown"
        case c_ast.Constant():
            unsigned = expression.type != "char" and "u" in expression.value.lower()
            return "unsigned" if unsigned else "signed"
        case c_ast.ID() | c_ast.ArrayRef() if not isinstance(reference_parts(expression)[0], c_ast.StructRef):
            return _signedness_of_name(expression, context)
        case c_ast.UnaryOp(op="-" | "+" | "~", expr=operand):
            return signedness(operand, context)
        case c_ast.StructRef() | c_ast.ArrayRef() | c_ast.FuncCall() | c_ast.UnaryOp(op="*" | "sizeof"):
            kind = expression_type(expression, context)
            is_integer = kind is not None and not kind.is_floating
            return "unknown" if kind is None or not is_integer else "unsigned" if kind.unsigned else "signed"
        case c_ast.BinaryOp(op="+" | "-" | "*" | "/" | "%" | "&" | "|" | "^", left=left, right=right):
            return _common(left, right, context)
        case c_ast.BinaryOp(op="<<" | ">>", left=moved):
            return signedness(moved, context)
        case c_ast.TernaryOp(iftrue=left, iffalse=right):
            return _common(left, right, context)
        case c_ast.Cast():
            return signedness_of_type(words_of(expression.to_type, context))
        case _:
            return "unknown"


def is_floating(expression: Node, context: Context) -> bool:
    """Whether an expression is seen to be a floating-point number."""
    if (kind := expression_type(expression, context)) is not None:
        return kind.is_floating
    match expression:
        case c_ast.Constant():
            return is_floating_literal(expression)
        case c_ast.Cast():
            return bool(set(words_of(expression.to_type, context).split()) & _FLOATING)
        case c_ast.ID(name=name) if name in context.macros:
            return _FLOATING_NUMBER.search(context.macros[name]) is not None
        case c_ast.ID() | c_ast.ArrayRef():
            declared = declared_as(expression, context)
            return declared is not None and declared.is_floating
        case c_ast.UnaryOp(op="-" | "+", expr=operand):
            return is_floating(operand, context)
        case c_ast.BinaryOp(op="+" | "-" | "*" | "/", left=left, right=right):
            return is_floating(left, context) or is_floating(right, context)
        case c_ast.TernaryOp(iftrue=left, iffalse=right):
            return is_floating(left, context) or is_floating(right, context)
        case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=arguments)):
            mathematical = name in PURE_FUNCTIONS and name not in _EXTREMES | _ROUNDED
            return mathematical or any(is_floating(part, context) for part in arguments)
        case _:
            return False


def is_floating_literal(number: c_ast.Constant) -> bool:
    """Whether a literal is a floating-point number."""
    return "float" in number.type or "double" in number.type


def _signedness_of_name(node: Node, context: Context) -> Signedness:
    if isinstance(node, c_ast.ID) and node.name not in context.declarations:
        return "unknown" if node.name in context.macros else "signed"
    declared = declared_as(node, context)
    return "unknown" if declared is None else signedness_of_type(declared.type)


def declared_as(node: Node, context: Context) -> CDeclaration | None:
    """The variable that an expression is, or an element of; None for other expressions."""
    array, subscripts = reference_parts(node)
    declared = context.declarations.get(array.name) if isinstance(array, c_ast.ID) else None
    fits = declared is not None and declared.pointers + len(declared.dimensions) == len(subscripts)
    return declared if fits else None


def _common(left: Node, right: Node, context: Context) -> Signedness:
    first, second = signedness(left, context), signedness(right, context)
    if is_natural(left, context):
        return second
    return first if first == second or is_natural(right, context) else "unknown"


def subtracts(part: Node, context: Context) -> bool:
    """Whether a part of an expression is a difference that may be unsigned."""
    return (
        isinstance(part, (c_ast.BinaryOp, c_ast.UnaryOp))
        and part.op == "-"
        and literal_value(part) is None
        and signedness(part, context) != "signed"
    )


def declaration(name: str, context: Context) -> CDeclaration | None:
    """The declaration of a variable, with the type that a typedef stands for."""
    declared = context.declarations.get(name)
    if declared is None or declared.type not in context.types:
        return declared
    return replace(declared, type=context.types[declared.type])
