"""Comparisons whose outcome a number has settled, and the loops and branches that they rule out.

    for (u = 0; u < 0u; u++)            u = 0;
      a[u] = 0;

Compilers warn of a comparison that is always true or always false because of the type of an operand
(-Wtype-limits), so that code with a number in place of a variable goes without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import eq, ge, gt, le, lt, ne

from orio_py.ctree.build import block, const, literal_value
from orio_py.ctree.emit_expression import emit_expression, emit_type
from orio_py.ctree.nodes import Compound, For, GuardedPragma, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, declared_names, used_names, walk
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.transform.base import Context
from orio_py.transform.constants import canonical, range_of
from orio_py.transform.parallel.pragma_text import belongs_to_loop
from orio_py.transform.types import is_wide, makes_unsigned, signedness, without_cast

_MIRROR: Mapping[str, str] = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
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
_CONTRARY: Mapping[str, str] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_ENDLESS = 2**64


def settled(version: Node, original: Node, context: Context) -> Node:
    """The version without the comparisons that are settled in it, and not in the original."""
    declared: dict[str, CDeclaration] = {}
    for part in walk(original):
        if isinstance(part, c_ast.Decl) and part.name is not None:
            here = declaration_of(part)
            same = part.name not in declared or declared[part.name].type == here.type
            declared[part.name] = here if same else replace(here, type="void")
    inside = replace(context, declarations={**context.declarations, **declared})
    known = {emit_expression(part) for part in walk(original) if _outcome(part, inside) is not None}
    return _Settling(version, known, inside).rewrite(version)


def _outcome(node: Node, context: Context) -> bool | None:
    """What a comparison always gives because of the type of an operand; None for any other expression."""
    if not isinstance(node, c_ast.BinaryOp) or node.op not in _MIRROR:
        return None
    value, op, number = node.left, node.op, node.right
    if (limit := _literal(number)) is None:
        value, op, number = node.right, _MIRROR[node.op], node.left
        limit = _literal(number)
    if limit is None:
        return None
    if (known := _literal(value)) is not None and known >= 0 and limit >= 0:
        return _COMPARED[op](known, limit)
    ends = _range(value, context)
    if (ends is None or ends[0] < 0) and _is_converted(value, number, context):
        ends = (0, _ENDLESS)
    if ends is None:
        return None
    found = context.effects(value)
    if found.writes or found.calls or found.opaque:
        return None
    for relation, outcome in ((op, True), (_CONTRARY[op], False)):
        if relation in _ALWAYS and _ALWAYS[relation](*ends, limit):
            return outcome
    return None


def _literal(node: Node) -> int | None:
    """The value of a literal, also of one with a suffix or a cast before it that keeps its value."""
    match node:
        case c_ast.Cast():
            return literal_value(without_cast(node))
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
    base = node
    while isinstance(base, c_ast.ArrayRef):
        base = base.name
    declared = context.declarations.get(base.name) if isinstance(base, c_ast.ID) else None
    if declared is not None and (ends := range_of(canonical(declared.type))) is not None:
        return ends if signedness(node, context) != "unknown" else None
    return (0, _ENDLESS) if signedness(node, context) == "unsigned" else None


def _is_converted(value: Node, number: Node, context: Context) -> bool:
    """Whether a signed value is compared as the unsigned type of a number, so that it counts as positive."""
    if signedness(value, context) != "signed" or not makes_unsigned(number, context):
        return False
    names = [context.declarations.get(part.name) for part in walk(value) if isinstance(part, c_ast.ID)]
    wide = any(known is None or is_wide(known.type) for known in names)
    return not wide or (isinstance(number, c_ast.Cast) and is_wide(emit_type(number.to_type)))


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
        return new if outcome is None else new.iftrue if outcome else new.iffalse

    def visit_Compound(self, node: Compound) -> Node:
        items: list[Node] = []
        for item in node.block_items or []:
            kept = self._without(item)
            if kept is None:
                items.append(self.rewrite(item))
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
