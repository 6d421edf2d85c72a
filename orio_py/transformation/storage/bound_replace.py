"""BoundReplace: compute the bounds of loops once, in constants of their own.

    for (i = 0; i < n; i++)             for (i = 0; i < n; i++) {
      for (j = 0; j < 2 * i + 1; j++)     const int ub_1 = 2 * i + 1;
        s += a[i][j];                     for (j = 0; j < ub_1; j++)
                                            s += a[i][j];
                                        }

A bound moves out of every loop that leaves its value alone and is certain to evaluate it; it is computed
where the original computes it too, so nothing can overflow or leave an array that did not before.
Source: A. Aho, M. Lam, R. Sethi, J. Ullman, "Compilers", 2nd edition, section 9.1.7 (loop-invariant code).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orio_py.ctree.build import binary, declare, ident
from orio_py.ctree.ctype import CType, Rank, common
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Comment, Compound, For, GuardedPragma, Node, c_ast
from orio_py.ctree.rewrite import copy_with, used_names, walk
from orio_py.transformation.base import Context
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.storage.array_uses.items import Loop, Statement, StatementList
from orio_py.transformation.storage.array_uses.live_ranges import Spans
from orio_py.transformation.storage.array_uses.loop_headers import is_trusted, test_at_start
from orio_py.transformation.storage.array_uses.rebuild import BlockRewriter, changed
from orio_py.transformation.storage.array_uses.references import is_reference
from orio_py.transformation.storage.array_uses.uses import Uses
from orio_py.transformation.storage.scalar_replace import check_prefix, name_prefix
from orio_py.transformation.storage.scalar_replace_write import fresh_names


@dataclass(frozen=True, slots=True)
class BoundReplace:
    """Compute non-trivial starts and bounds of loops in constants, as far out as they stay the same.

    The constants are named `lprefix` (first values) or `uprefix` (bounds) and a number.  `force` trusts
    functions called in the loops not to change what the bounds read.
    """

    lprefix: str = "lb_"
    uprefix: str = "ub_"
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The tree with bounds in constants; the same object where all are literals or names.

        Raises Refusal: ORIO-T013.
        """
        check_prefix(self.lprefix, "lprefix", node)
        check_prefix(self.uprefix, "uprefix", node)
        if not any(isinstance(part, For) and _wants(part) for part in walk(node)):
            return node
        uses = Uses.of(node, context)
        planner = _Planner(node, uses, context, self)
        planner.block(uses.root, None)
        if not planner.headers:
            return node
        return _Writer(planner.headers, planner.before).body(node, uses.root, None)


def _wants(loop: For) -> bool:
    view = CanonicalLoop.match(loop)
    return view is not None and not (_is_trivial(view.start) and _is_trivial(view.bound))


def _is_trivial(part: Node) -> bool:
    """Whether an expression is one name, or made of numbers only, such as `(long)0`."""
    if isinstance(part, c_ast.ID):
        return True
    return not any(isinstance(inner, (c_ast.ID, c_ast.FuncCall)) for inner in walk(part))


@dataclass(slots=True)
class _Header:
    """The names that a loop's first value and bound get."""

    start: str | None = None
    bound: str | None = None


@dataclass(frozen=True, slots=True)
class _Spot:
    """The place before an item of a block; `outer` is that of the statement around the block."""

    block: StatementList
    number: int
    outer: _Spot | None

    @property
    def item(self) -> Statement:
        """The item behind the place."""
        return self.block.items[self.number]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """An expression of a loop header, and its type."""

    node: Node
    type: str
    is_start: bool

    @property
    def key(self) -> tuple[str, str]:
        """What two expressions that can share a constant have in common."""
        return emit_expression(self.node), self.type


class _Planner:
    """Decides which constant stands before which statement."""

    def __init__(self, root: Node, uses: Uses, context: Context, wishes: BoundReplace) -> None:
        self.headers: dict[Statement, _Header] = {}
        self.before: dict[tuple[StatementList, int], list[Node]] = {}
        self._uses, self._context, self._wishes = uses, context, wishes
        self._spans = Spans(uses)
        self._names = fresh_names(root, context)
        self._known: dict[tuple[StatementList, int, tuple[str, str]], str] = {}
        self._counts = {wishes.lprefix: 0, wishes.uprefix: 0}

    def block(self, block: StatementList, outer: _Spot | None) -> None:
        """Plan the loops of a block and of the blocks inside it."""
        for number, item in enumerate(block.items):
            spot = _Spot(block, number, outer)
            if item.loop is not None:
                self._loop(item, item.loop, spot)
            for inner in item.blocks:
                self.block(inner, spot)

    def _loop(self, item: Statement, loop: Loop, spot: _Spot) -> None:
        view = CanonicalLoop.match(loop.node)
        if view is None or loop.index != view.index:
            return
        start = self._constant(loop, view.start, spot, is_start=True)
        bound = self._constant(loop, view.bound, spot, is_start=False)
        if start is not None or bound is not None:
            self.headers[item] = _Header(start, bound)

    def _constant(self, loop: Loop, node: Node, spot: _Spot, *, is_start: bool) -> str | None:
        """The constant for an expression, None where it stays in the header."""
        if _is_trivial(node) or not self._is_pure(node):
            return None
        found = expression_type(node, self._context, loop.declared)
        if found is None or found.is_floating:
            return None
        kind = found.promoted
        if not is_start and loop.index is not None:
            kind = compared_type(kind, expression_type(ident(loop.index), self._context, loop.declared))
        part = _Part(node, kind.words, is_start)
        place = self._place(part, spot)
        if place is None:
            return None
        slot = self._slot(place)
        assert slot is not None
        key = place.block, slot, part.key
        if key not in self._known:
            name = self._known[key] = self._fresh(part)
            self.before.setdefault((place.block, slot), []).append(declare(f"const {kind.words}", name, node))
        return self._known[key]

    def _fresh(self, part: _Part) -> str:
        prefix = self._wishes.lprefix if part.is_start else self._wishes.uprefix
        self._counts[prefix] += 1
        return self._names.fresh(f"{prefix}{self._counts[prefix]}")

    def _is_pure(self, node: Node) -> bool:
        found = self._context.effects(node)
        if found.writes or found.opaque or found.address_taken or found.calls:
            return False
        return self._uses.volatile.isdisjoint(found.reads)

    # Where to

    def _place(self, part: _Part, spot: _Spot) -> _Spot | None:
        """The outermost place where the expression has its value and is certain to be evaluated."""
        if self._slot(spot) is None or (not part.is_start and not self._stays(part, spot)):
            return None
        place = spot
        while place.outer is not None:
            outer = place.outer
            slot = self._slot(outer)
            if slot is None or not self._is_reached(place) or not self._stays(part, outer):
                return place
            if outer.item.loop is not None and not self._runs(outer, outer.item.loop):
                # The loop itself may compute the same expression for its own header.
                return outer if (outer.block, slot, part.key) in self._known else place
            place = outer
        return place

    def _slot(self, spot: _Spot) -> int | None:
        """The item before which a declaration can stand: pragmas stay with their loops."""
        slot = spot.number
        for number in range(spot.number - 1, -1, -1):
            node = spot.block.items[number].node
            if isinstance(node, (c_ast.Pragma, GuardedPragma)):
                slot = number
            elif not isinstance(node, Comment):
                return slot
        return None if spot.block is self._uses.root and self._context.pragmas else slot

    def _is_reached(self, spot: _Spot) -> bool:
        """Whether each run of the block around a place comes to it."""
        assert spot.outer is not None
        item = spot.outer.item
        if item.loop is None and not isinstance(item.node, Compound):
            return False
        before = slice(spot.block.items[0].barriers.start, spot.item.barriers.start)
        return all(barrier.kind == "pragma" for barrier in self._uses.barriers[before])

    def _runs(self, spot: _Spot, loop: Loop) -> bool:
        """Whether a loop is certain to have an iteration."""
        test = test_at_start(loop, loop.node.cond, self._context)
        if test is None or not is_trusted((test,), loop.declared, self._context):
            return False
        elements = self._spans.span(spot.block, spot.number, spot.number).elements
        return elements.holds(test, elements.place)

    def _stays(self, part: _Part, spot: _Spot) -> bool:
        """Whether an expression keeps its value while the statement behind a place runs."""
        span = self._spans.span(spot.block, spot.number, spot.number)
        found = self._context.effects(part.node)
        names = found.reads | used_names([part.node])  # `sizeof(i)` reads nothing, and needs the name
        if not names.isdisjoint(span.writes) or any(span.reaches(n) for n in names & self._uses.exposed):
            return False
        refs = [self._uses.ref_of(node) for node in walk(part.node) if is_reference(node)]
        if any(ref is None or span.changes(ref) for ref in refs):
            return False
        in_memory = bool(refs) or not names.isdisjoint(self._uses.exposed)
        kinds = {barrier.kind for barrier in self._uses.barriers[spot.item.barriers]}
        if "label" in kinds and spot.item.loop is not None:
            return False  # A jump there would pass by the constant.
        return not (in_memory and "call" in kinds) or self._wishes.force


class _Writer(BlockRewriter[None]):
    def __init__(
        self, headers: Mapping[Statement, _Header], before: Mapping[tuple[StatementList, int], Sequence[Node]]
    ) -> None:
        self._headers, self._before = headers, before

    def items(self, block_: StatementList, state: None) -> list[Node]:
        """The statements of a block with constants before them."""
        result: list[Node] = []
        for number, item in enumerate(block_.items):
            result.extend(self._before.get((block_, number), ()))
            result.append(self.statement(item, state))
        return result

    def header(self, item: Statement, state: None) -> For:
        """A loop over the constants."""
        names = self._headers.get(item)
        view = CanonicalLoop.match(item.node)
        if names is None or view is None:
            return super().header(item, state)
        new = view.node
        if names.start is not None:
            new = changed(new, init=_starting_at(view.node.init, ident(names.start)))
        if names.bound is not None:
            new = changed(new, cond=binary(view.relation, ident(view.index), ident(names.bound)))
        return new


def _starting_at(init: Node | None, start: Node) -> Node:
    match init:
        case c_ast.DeclList(decls=[declaration]):
            return copy_with(init, decls=[copy_with(declaration, init=start)])
        case c_ast.Assignment():
            return copy_with(init, rvalue=start)
        case _:
            raise AssertionError("a canonical loop starts with an assignment or a declaration")


def compared_type(kind: CType, index: CType | None) -> CType:
    """The type of a constant of type `kind` that is compared with an index of a type.

    In a comparison with an unsigned index a signed bound becomes unsigned; as a constant of that type it has the
    same value there, and a compiler that knew the expression not to be negative has nothing to warn of.
    """
    if index is None:
        return kind
    index = index.promoted
    if index.alias and index.unsigned and not kind.alias and not kind.unsigned and kind.rank <= Rank.LONG:
        return index
    together = common(index, kind)
    return together if together is not None and together.unsigned else kind


ENTRY = Entry(
    "BoundReplace",
    "compute the bounds of loops in constants of their own",
    (
        ArgumentSpec(
            "lprefix",
            "beginning of a C identifier",
            "constants for first values are named by it and a number",
            name_prefix,
            default="'lb_'",
        ),
        ArgumentSpec(
            "uprefix",
            "beginning of a C identifier",
            "constants for bounds are named by it and a number",
            name_prefix,
            default="'ub_'",
        ),
        FORCE,
    ),
    BoundReplace,
)
