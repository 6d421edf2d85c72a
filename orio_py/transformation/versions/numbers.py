"""Numbers in place of a variable of the code: how they are written, where they clash, and code with one.

    for (u = 0; u < n; u++)         n is 8:    for (u = 0; u < 8u; u++)
      a[u + n] = 0;                              a[u + 8u] = 0;

Comparisons of numbers are decided, and branches that they rule out go.  Where the number and the type of the other
side decide, the comparison keeps the variable: compilers know its value there, while they warn of `u < 0u`
(-Wtype-limits).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orio_py.ctree.build import block, cast_to, const, ident, literal_value
from orio_py.ctree.ctype import Rank, common, ctype
from orio_py.ctree.equal import equal
from orio_py.ctree.evaluate import NoValueError, Number, convert, evaluate
from orio_py.ctree.nodes import MIRRORED, NEGATED, Compound, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, declared_names, substitute, used_names, walk
from orio_py.ctree.simplify import simplify
from orio_py.transformation.base import Context
from orio_py.transformation.certain_conditions import never_holds
from orio_py.transformation.context import with_inner_declarations
from orio_py.transformation.expression_types import expression_type

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


_ALWAYS: Mapping[str, Callable[[int, int, int], bool]] = {
    "<": lambda low, high, limit: high < limit,
    "<=": lambda low, high, limit: high <= limit,
    ">": lambda low, high, limit: low > limit,
    ">=": lambda low, high, limit: low >= limit,
    "!=": lambda low, high, limit: not low <= limit <= high,
}
"""Whether a comparison of any value from `low` to `high` with the limit is true."""


def version_with(number: Node, name: str, original: Node, context: Context) -> Node:
    """A copy with a number in place of a variable, less what the number rules out."""
    kept = context.names(original).fresh(f"{name}_kept")
    inside = with_inner_declarations(original, context)
    version = _Deciding(name, number, ident(kept), original, inside).rewrite(original)
    return substitute(simplify(substitute(version, name, number)), kept, ident(name))


class _Deciding(Rewriter):
    """Writes outcomes for comparisons of numbers, and another name for the variable where it shall stay."""

    def __init__(self, name: str, number: Node, kept: Node, original: Node, context: Context) -> None:
        self._name, self._number, self._kept, self._context = name, number, kept, context
        self._declared = declared_names(original)

    def visit_BinaryOp(self, node: c_ast.BinaryOp) -> Node:
        if node.op in MIRRORED and self._name in used_names([node]):
            new = substitute(node, self._name, self._number)
            if (outcome := _outcome(new, self._context)) is not None:
                return const(outcome)
            if _is_decided(new, self._context):
                return substitute(node, self._name, self._kept)
            if never_holds(new, self._context):
                return const(0)
        new = self.generic(node)
        decisive = {"&&": 0, "||": 1}.get(node.op)
        is_decided = new is not node and decisive is not None and literal_value(new.left) == decisive
        return const(decisive or 0) if is_decided else new

    def visit_TernaryOp(self, node: c_ast.TernaryOp) -> Node:
        new = self.generic(node)
        outcome = None if new.cond is node.cond else literal_value(new.cond)
        if outcome is None:
            return new
        taken, other = (new.iftrue, new.iffalse) if outcome else (new.iffalse, new.iftrue)
        taken, other = (substitute(part, self._name, self._number) for part in (taken, other))
        return as_common_type(taken, other, self._context) or new

    def visit_If(self, node: c_ast.If) -> Node:
        new = self.generic(node)
        outcome = None if new.cond is node.cond else literal_value(new.cond)
        if outcome is None:
            return new
        taken, other = (new.iftrue, new.iffalse) if outcome else (new.iffalse, new.iftrue)
        if other is not None and self._is_needed(other):
            return new
        return taken if taken is not None else block()

    def visit_While(self, node: c_ast.While) -> Node:
        new = self.generic(node)
        never_runs = new.cond is not node.cond and literal_value(new.cond) == 0
        return block() if never_runs and not self._is_needed(new.stmt) else new

    def _is_needed(self, node: Node) -> bool:
        """Whether a variable of the version would be unused without the statement."""
        return bool(used_names([node]) & (self._declared - declared_names(node)))

    def visit_Compound(self, node: Compound) -> Node:
        new = self.generic(node)
        pairs = zip(new.block_items or [], node.block_items or [], strict=True)
        items = [item for item, old in pairs if item is old or not _is_empty(item)]
        return new if len(items) == len(new.block_items or []) else copy_with(new, block_items=items)


def _is_empty(node: Node) -> bool:
    return isinstance(node, Compound) and not node.block_items


def _outcome(comparison: Node, context: Context) -> int | None:
    """What a comparison of numbers gives on every machine; None for others."""
    assert isinstance(comparison, c_ast.BinaryOp)
    found, sides = _constant(comparison), (comparison.left, comparison.right)
    left, right = (expression_type(side, context) for side in sides)
    if found is None or common(left, right) is None:
        return None
    for side, kind in zip(sides, (left, right), strict=True):
        value, limits = _constant(side), None if kind is None else kind.limits
        if value is None or limits is None or not limits[0] <= value.value <= limits[1]:
            return None
    parts = (part for part in walk(comparison) if isinstance(part, (c_ast.BinaryOp, c_ast.Constant)))
    return int(found.value) if all(expression_type(part, context) is not None for part in parts) else None


def as_common_type(taken: Node, other: Node, context: Context) -> Node | None:
    """The operand of a `?:` that is taken, in the type of the whole expression; None where that cannot be written.

    The type comes from both operands: `1 ? 1u : 7L` is a `long`.
    """
    own, others = expression_type(taken, context), expression_type(other, context)
    whole = common(own, others)
    if whole is None:
        return taken if equal(taken, other) or (own is not None and own == others) else None
    if own is not None and whole == own.promoted:
        return taken
    value = literal_value(taken)
    return None if value is None or whole.is_floating else typed_literal(whole.words, value)


def _is_decided(comparison: Node, context: Context) -> bool:
    """Whether one side is a number and the other one a number, too, or of a type that decides the outcome."""
    assert isinstance(comparison, c_ast.BinaryOp)
    sides = comparison.left, comparison.right
    left, right = map(_constant, sides)
    if left is not None and right is not None:
        return True
    if right is not None:
        return _type_decides(comparison.left, comparison.op, right, context)
    return left is not None and _type_decides(comparison.right, MIRRORED[comparison.op], left, context)


def _constant(node: Node) -> Number | None:
    """The value of an expression that names nothing."""
    try:
        return evaluate(node, _nothing)
    except NoValueError:
        return None


def _nothing(name: str) -> Number:
    raise NoValueError(f"`{name}` is a variable")


def _type_decides(value: Node, op: str, number: Number, context: Context) -> bool:
    """Whether a comparison has one outcome, here or on other machines, whatever `value` is."""
    kind = expression_type(value, context)
    if number.type.is_floating or (kind is not None and kind.is_floating):
        return False
    own = None if kind is None else kind.lp64
    # Elsewhere the comparison may be one of unsigned values.
    if number.value <= 0 and (own is None or common(kind, number.type) is None):
        return True
    whole = common(own, number.type, lp64=True)
    if kind is None or whole is None or (reach := kind.reach) is None:
        return False
    if whole.unsigned and not kind.promoted.unsigned and not kind.is_narrow:
        reach = whole.reach or reach
    limit = int(convert(number, whole).value)
    return any(sign in _ALWAYS and _ALWAYS[sign](*reach, limit) for sign in (op, NEGATED[op]))


def _number(value: int, suffix: str) -> Node:
    digits = c_ast.Constant("int" if not suffix else "long int", f"{abs(value)}{suffix}")
    return c_ast.UnaryOp("-", digits) if value < 0 else digits
