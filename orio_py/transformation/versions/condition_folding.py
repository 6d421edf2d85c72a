"""Comparisons whose outcome a number has settled, and the loops and branches that they rule out.

    for (u = 0; u < 0u; u++)            u = 0;
      a[u] = 0;

Compilers warn of a comparison that is always true or always false because of the type of an operand
(-Wtype-limits), so that code with a number in place of a variable goes without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt, ne

from orio_py.ctree.build import block, const, ident, literal_value
from orio_py.ctree.ctype import Rank
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import MIRRORED, NEGATED, Compound, For, GuardedPragma, Node, array_of, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, declared_names, substitute, used_names, walk
from orio_py.transformation.base import Context
from orio_py.transformation.constants import narrow_range, with_constant
from orio_py.transformation.context import with_inner_declarations
from orio_py.transformation.conversions import as_common_type, expression_type
from orio_py.transformation.parallel.pragma_text import belongs_to_loop
from orio_py.transformation.types import is_converted, is_wide, signedness, without_cast

_ALWAYS: Mapping[str, Callable[[int, int, int], bool]] = {
    "<": lambda low, high, limit: high < limit,
    "<=": lambda low, high, limit: high <= limit,
    ">": lambda low, high, limit: low > limit,
    ">=": lambda low, high, limit: low >= limit,
    "!=": lambda low, high, limit: not low <= limit <= high,
}
"""Whether a comparison of any value from `low` to `high` with the limit is true."""
_COMPARED: Mapping[str, Callable[[int, int], bool]] = {
    "<": lt, "<=": le, ">": gt, ">=": ge, "==": eq, "!=": ne,
}  # fmt: skip
_ENDLESS = 2**64
"""The ranks of `unsigned long` and `unsigned long long`."""


def version_with(number: Node, name: str, original: Node, context: Context) -> Node:
    """A copy with a number in place of a variable, without the comparisons that are settled by it.

    Where the outcome depends on the width of the types the comparison keeps the variable.
    """
    inside = with_inner_declarations(original, context)
    kept = context.names(original).fresh(f"{name}_kept")
    marked = _Keeping(name, number, ident(kept), inside).rewrite(original)
    version = _settled(with_constant(marked, name, number), original, inside)
    return version if marked is original else substitute(version, kept, ident(name))


class _Keeping(Rewriter):
    """Puts another name for the variable into comparisons that shall keep it."""

    def __init__(self, name: str, number: Node, kept: Node, context: Context) -> None:
        self._name, self._number, self._kept, self._context = name, number, kept, context

    def visit_BinaryOp(self, node: c_ast.BinaryOp) -> Node:
        if _depends_on_width(with_constant(node, self._name, self._number), self._context):
            return substitute(node, self._name, self._kept)
        return self.generic(node)


def _settled(version: Node, original: Node, context: Context) -> Node:
    """The version without the comparisons that are settled in it, and not in the original."""
    known = {emit_expression(part) for part in walk(original) if _outcome(part, context) is not None}
    return _Settling(version, known, context).rewrite(version)


def _depends_on_width(node: Node, context: Context) -> bool:
    """Whether the outcome of a comparison depends on which of two types is the wider one.

    A negative `long` number against an `unsigned`, `0L - 1 > u`, is less where `long` is the wider type, and
    nearly always greater where it is not.  A `long long` can be less than `(size_t)0` where it is wider than
    `size_t` only.
    """
    if not isinstance(node, c_ast.BinaryOp) or node.op not in MIRRORED:
        return False
    for number, value, op in (
        (node.left, node.right, MIRRORED[node.op]),
        (node.right, node.left, node.op),
    ):
        if op in {"<", ">="} and _literal(number) == 0 and _is_wide_unsigned(number, context):
            return signedness(value, context) == "signed" and _outcome(node, context) is None
        parts = [part for part in walk(number) if isinstance(part, c_ast.Constant)]
        is_long = any("l" in part.value.lower() for part in parts)
        known = _signed_number(number) if is_long else None
        if known is not None and known < 0:
            names = [context.declarations.get(p.name) for p in walk(value) if isinstance(p, c_ast.ID)]
            wide = any(declared is None or is_wide(declared.type) for declared in names)
            return signedness(value, context) == "unsigned" and not wide
    return False


def _is_wide_unsigned(number: Node, context: Context) -> bool:
    """Whether a number has an unsigned type that may be wider than `unsigned`."""
    found = expression_type(number, context)
    return found is not None and found.unsigned and found.rank > Rank.INT


def _signed_number(node: Node) -> int | None:
    """The value of numbers with a sign and with suffixes, and of their sums and differences."""
    match node:
        case c_ast.Constant(value=text):
            return literal_value(c_ast.Constant("int", text.rstrip("lL")))
        case c_ast.UnaryOp(op="-", expr=operand):
            value = _signed_number(operand)
            return None if value is None else -value
        case c_ast.BinaryOp(op="+" | "-" as op, left=left, right=right):
            first, second = _signed_number(left), _signed_number(right)
            if first is None or second is None:
                return None
            return first + second if op == "+" else first - second
        case _:
            return None


def _outcome(node: Node, context: Context) -> bool | None:
    """What a comparison always gives because of the type of an operand; None for any other expression."""
    if not isinstance(node, c_ast.BinaryOp) or node.op not in MIRRORED:
        return None
    value, op, number = node.left, node.op, node.right
    if (limit := _limit(number, value, context)) is None:
        value, op, number = node.right, MIRRORED[node.op], node.left
        limit = _limit(number, value, context)
    if limit is None:
        return None
    if (known := _literal(value)) is not None and known >= 0 and limit >= 0:
        return _COMPARED[op](known, limit)
    ends = _range(value, context)
    if (ends is None or ends[0] < 0) and is_converted(value, number, context):
        ends = (0, _ENDLESS)
    if ends is None:
        return None
    found = context.effects(value)
    if found.writes or found.calls or found.opaque:
        return None
    for relation, outcome in ((op, True), (NEGATED[op], False)):
        if relation in _ALWAYS and _ALWAYS[relation](*ends, limit):
            return outcome
    return None


def _limit(number: Node, value: Node, context: Context) -> int | None:
    """What a value is compared with, if that is a number; below 0 only where both are an `int` then."""
    limit = _literal(number)
    return _signed_number(number) if limit is None and _narrow_range(value, context) is not None else limit


def _literal(node: Node) -> int | None:
    """The value of a literal, also of one with a suffix or a cast before it that keeps its value."""
    match node:
        case c_ast.Cast():
            value = _literal(node.expr)
            return (
                None if value is None else literal_value(without_cast(c_ast.Cast(node.to_type, const(value))))
            )
        case c_ast.Constant(value=text) if text.rstrip("uUlL").isdigit():
            return literal_value(c_ast.Constant("int", text.rstrip("uUlL")))
        case c_ast.BinaryOp(op="+" | "-" | "/" as op, left=left, right=right):
            first, second = _literal(left), _literal(right)
            if first is None or second is None or (op == "/" and not (first >= 0 and second > 0)):
                return None
            if op == "/":
                return first // second
            value = first + second if op == "+" else first - second
            return value if value >= 0 else None
        case _:
            return literal_value(node)


def _range(node: Node, context: Context) -> tuple[int, int] | None:
    """The least and the greatest value of an expression, as far as its type alone tells."""
    narrow = _narrow_range(node, context)
    return (0, _ENDLESS) if narrow is None and signedness(node, context) == "unsigned" else narrow


def _narrow_range(node: Node, context: Context) -> tuple[int, int] | None:
    """The range of a variable or an element of a type shorter than `int`, which is compared as an `int`."""
    base = array_of(node)
    declared = context.declarations.get(base.name) if isinstance(base, c_ast.ID) else None
    if declared is None or signedness(node, context) == "unknown":
        return None
    return narrow_range(declared.type)


class _Settling(Rewriter):
    """Writes outcomes for comparisons, and leaves out what never runs.

    What uses a variable that the version declares stays: the variable would be unused.
    """

    def __init__(self, version: Node, known: set[str], context: Context) -> None:
        self._declared = declared_names(version)
        self._known = known
        self._context = context

    def visit_BinaryOp(self, node: c_ast.BinaryOp) -> Node:
        new = self.generic(node)
        outcome = _outcome(new, self._context)
        if outcome is not None and emit_expression(node) not in self._known:
            return const(int(outcome))
        short = {"&&": 0, "||": 1}.get(node.op)
        return const(short) if new is not node and short is not None and _literal(new.left) == short else new

    def visit_TernaryOp(self, node: c_ast.TernaryOp) -> Node:
        new = self.generic(node)
        outcome = None if new.cond is node.cond else literal_value(new.cond)
        if outcome is None:
            return new
        taken, other = (new.iftrue, new.iffalse) if outcome else (new.iffalse, new.iftrue)
        return as_common_type(taken, other, self._context) or new

    def visit_Compound(self, node: Compound) -> Node:
        items: list[Node] = []
        for item in node.block_items or []:
            kept = self._without(item)
            if kept is None:
                new = self.rewrite(item)
                if new is item or not isinstance(new, Compound) or new.block_items:
                    items.append(new)
            elif self._drop_pragmas(items):
                items.extend(kept)
            else:
                # The pragmas of the user's before it need a loop with its test.
                items.append(item)
        same = len(items) == len(node.block_items or []) and all(map(_is, items, node.block_items or []))
        return node if same else copy_with(node, block_items=items)

    def visit_For(self, node: For) -> Node:
        kept = self._without(node)
        return self.generic(node) if kept is None else kept[0] if len(kept) == 1 else block(*kept)

    def visit_While(self, node: c_ast.While) -> Node:
        return self.generic(node) if self._without(node) is None else block()

    def visit_If(self, node: c_ast.If) -> Node:
        new = self.generic(node)
        outcome = None if new.cond is node.cond else literal_value(new.cond)
        if outcome is None:
            return new
        taken, other = (new.iftrue, new.iffalse) if outcome else (new.iffalse, new.iftrue)
        if other is not None and self._is_needed(other):
            return new
        return taken if taken is not None else block()

    def _without(self, node: Node) -> list[Node] | None:
        """What remains of a loop that never runs; None for any other statement."""
        if not isinstance(node, (For, c_ast.While)) or node.cond is None or self._is_needed(node):
            return None
        test = self.rewrite(node.cond)
        if test is node.cond or literal_value(test) != 0:
            return None
        init = node.init if isinstance(node, For) else None
        return [] if init is None or isinstance(init, c_ast.DeclList) else [init]

    def _is_needed(self, node: Node) -> bool:
        return bool(used_names([node]) & (self._declared - declared_names(node)))

    def _drop_pragmas(self, items: list[Node]) -> bool:
        """Take away the generated pragmas for the loop that comes next; False where others stand there."""
        place = len(items)
        while place and isinstance(items[place - 1], (c_ast.Pragma, GuardedPragma)):
            place -= 1
        if not all(isinstance(p, GuardedPragma) and belongs_to_loop(p.string) for p in items[place:]):
            return False
        del items[place:]
        return True


def _is(one: Node, other: Node) -> bool:
    return one is other
