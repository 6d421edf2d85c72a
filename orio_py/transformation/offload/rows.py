"""`rowThreads`: iterations that the items of a group do together, one phase after the other.

    for (i = 0; i < n; i++) {           a group for each i
      m = x[i * k];                       all items
      for (j = 1; j < k; j++)             each item every N-th j, then one value from all
        if (x[i * k + j] > m)
          m = x[i * k + j];
      for (j = 0; j < k; j++)             each item every N-th j
        y[i * k + j] = x[i * k + j] - m;
      most[i] = m;                        the first item
    }

Between phases scalars have the same values in all items.  Where a phase touches what another one has written, all wait
between the two.

Sources: for the phases N. Bell and M. Garland, "Implementing sparse matrix-vector multiplication on throughput-oriented
processors", SC 2009 (a warp for each row); Z. Li, "Array privatization for parallel execution of loops", ICS 1992.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from orio_py.ctree.build import block, ident
from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.loops import CanonicalLoop, loops_in
from orio_py.ctree.nodes import Compound, For, Node, c_ast
from orio_py.ctree.rewrite import copy_with, used_names, walk_statements
from orio_py.kernel.phases import FirstItem, GroupWait, SpreadLoop, scanned_name, spread_loops
from orio_py.kernel.plan import Distribution
from orio_py.transformation.base import Context, Refusal, note, refuse
from orio_py.transformation.offload.arguments import NestQuestion, OffloadArguments
from orio_py.transformation.offload.axis_mapping import axis, mapped_loops
from orio_py.transformation.offload.body import body_items
from orio_py.transformation.offload.device_nest import DeviceNest
from orio_py.transformation.offload.scalars import reduction_plan
from orio_py.transformation.parallel.compaction import compaction_of
from orio_py.transformation.parallel.data_sharing import (
    Sharing,
    assigned_scalars,
    require_independent,
    require_order_free,
    sharing,
)
from orio_py.transformation.parallel.scans import PrefixScan, scan_of
from orio_py.transformation.sites import rewrite_where


@dataclass(frozen=True, slots=True)
class RowBody:
    """The statements of an iteration that a group does together, with those of `kernel.phases`, and an item's own scalars."""

    items: tuple[Node, ...]
    private: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Spread:
    """A loop whose iterations the items share out, with the context of its place; a `scan` where they use a running value."""

    loop: CanonicalLoop
    shared: Sharing
    context: Context
    scan: PrefixScan | None = None


_Repeated = For | c_ast.While | c_ast.DoWhile

Flat = Callable[[Node], Node]
"""Code of an iteration with the subscripts that the kernel has."""

_Found = Mapping[int, _Spread | Refusal]
"""By identity the loops of an iteration that items can share out, and why they cannot others."""


@dataclass(frozen=True, slots=True)
class _Touched:
    """The arrays that have been read and written since all items have waited."""

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()

    def __or__(self, other: _Touched) -> _Touched:
        return _Touched(self.reads | other.reads, self.writes | other.writes)

    def meets(self, other: _Touched) -> bool:
        """Whether one of the two writes what the other one touches."""
        return bool(other.writes & (self.reads | self.writes) or other.reads & self.writes)


def require_row(arguments: OffloadArguments, node: Node) -> None:
    """`rowThreads` goes with the other arguments.  Raises Refusal: ORIO-T127."""
    if arguments.row is None:
        return
    if (name := other_way(arguments)) is not None:
        message = f"`rowThreads` makes a group for each iteration, and `{name}` says otherwise which iterations an item does"
        refuse("ORIO-T127", message, node, help=f"leave `{name}` out", argument=name)


def other_way(arguments: OffloadArguments) -> str | None:
    """The name of an argument that says otherwise which iterations an item does, if one is given."""
    words = arguments.words
    others = (
        (words.items, arguments.items is not None),
        (words.groups, arguments.groups is not None),
        ("coarsen", arguments.coarsen > 1),
        ("spread", arguments.spread is Distribution.BLOCKED),
        ("cacheBlocks", arguments.stage),
        ("registerTile", arguments.registers is not None),
        ("vectorWidth", arguments.vector > 1),
        ("streamCount", arguments.options.streams > 1),
    )
    return next((name for name, given in others if given), None)


def in_rows(
    nest: DeviceNest, flat: Flat, private: Sequence[tuple[str, str]], question: NestQuestion
) -> RowBody:
    """The statements of an iteration; `flat` gives code of it the subscripts that the kernel has.

    Raises Refusal: ORIO-T090, ORIO-T124, ORIO-T132.
    """
    _require_own_scalars(nest, question.what)
    loops = _spread_loops(nest, question)
    writer = _Writer(nest, loops, question, flat)
    items, _ = writer.statements(_statements(nest.body), _statements(flat(nest.body)), _Touched())
    if not spread_loops(items):
        _refuse_nothing(nest, loops, question.what)
    _require_one_type(items, nest, question.what)
    inside = used_names(items)
    indices = {loop.index for loop in spread_loops(items)}
    alone = {index for index in indices if not any(_names(index, item) for item in items)}
    return RowBody(tuple(items), tuple(pair for pair in private if pair[0] in inside - alone))


def _require_one_type(items: Sequence[Node], nest: DeviceNest, what: str) -> None:
    """Variables of one name that items combine are of one type.  Raises Refusal: ORIO-T132."""
    types: dict[str, str] = {}
    for found in (reduction for loop in spread_loops(items) for reduction in loop.reductions):
        if types.setdefault(found.name, found.type) != found.type:
            _refuse(f"it has two variables `{found.name}` of different types", nest.outer[-1].node, what)


def _names(name: str, node: Node) -> bool:
    """Whether a statement has a name outside of loops over it that items share out."""
    if isinstance(node, c_ast.ID):
        return node.name == name
    parts = (node.start, node.trips) if isinstance(node, SpreadLoop) and node.index == name else node
    return any(_names(name, part) for part in parts)


def _statements(body: Node) -> list[Node]:
    return list(body.block_items or []) if isinstance(body, Compound) else [body]


@dataclass(frozen=True, slots=True)
class _Writer:
    """Puts the statements of `kernel.phases` in place of loops that items share out, and of others that write elements."""

    nest: DeviceNest
    loops: _Found
    question: NestQuestion
    flat: Flat

    @property
    def what(self) -> str:
        """The transformation's name in messages."""
        return self.question.what

    def touched(self, *nodes: Node | None) -> _Touched:
        """The arrays that statements and expressions touch."""
        found = [self.nest.plain.context.effects(node) for node in nodes if node is not None]
        reads = frozenset[str]().union(*(effects.reads for effects in found))
        writes = frozenset[str]().union(*(effects.writes for effects in found))
        return _Touched(reads & self.nest.uses.keys(), writes & self.nest.uses.keys())

    def statements(
        self, items: Sequence[Node], flat: Sequence[Node], before: _Touched
    ) -> tuple[list[Node], _Touched]:
        """Statements as a group runs them behind what has been touched before, and what has been touched then."""
        result: list[Node] = []
        for item, new in zip(items, flat, strict=True):
            found, before = self._statement(item, new, before)
            result += found
        return result, before

    def _statement(self, item: Node, new: Node, before: _Touched) -> tuple[list[Node], _Touched]:
        spread = self.loops.get(id(item))
        mine = self.touched(item)
        if isinstance(spread, _Spread):
            return _behind(before, mine, [self._shared_out(spread, new)])
        if isinstance(item, Compound):
            inner, after = self.statements(_statements(item), _statements(new), before)
            return [block(*inner)], after
        if not (mine.writes or any(isinstance(self.loops.get(id(n)), _Spread) for n in loops_in(item))):
            return _behind(before, mine, [new])
        match item:
            case c_ast.If():
                return self._choice(item, new, before)
            case For() | c_ast.While() | c_ast.DoWhile():
                return self._repeated(item, new, before)
            case _:
                self._require_single(item)
                return _behind(before, mine, [FirstItem(new)])

    def _shared_out(self, spread: _Spread, new: Node) -> SpreadLoop:
        """Raises Refusal: ORIO-T090, T124."""
        what, context, shared = self.question.what, spread.context, spread.shared
        scan = spread.scan
        require_order_free(shared, what, context, force=self.question.force)
        loop = CanonicalLoop.match(new)
        assert loop is not None
        typed = replace(loop, declared_type=spread.loop.declared_type)
        counted = axis(typed, self.nest.arithmetic, context)
        sums = tuple(reduction_plan(r.name, r.operator, r.place, what, context) for r in shared.reductions)
        if scan is None:
            return SpreadLoop(counted, block(*body_items(loop.body)), sums)
        body, value = (
            block(*body_items(self.flat(part)))
            for part in (scan.behind_step(ident(scanned_name(scan.name))), scan.value)
        )
        return SpreadLoop(counted, body, sums, value)

    def _choice(self, item: c_ast.If, new: Node, before: _Touched) -> tuple[list[Node], _Touched]:
        """A branch: all items take the same one."""
        assert isinstance(new, c_ast.If)
        wait, before = _behind(before, self.touched(item.cond), [])
        then, after = self._part(item.iftrue, new.iftrue, before)
        other, besides = self._part(item.iffalse, new.iffalse, before)
        return [*wait, copy_with(new, iftrue=then, iffalse=other)], after | besides

    def _repeated(self, item: _Repeated, new: Node, before: _Touched) -> tuple[list[Node], _Touched]:
        """A loop that all items run together.  Raises Refusal: ORIO-T132."""
        assert isinstance(new, _Repeated)
        header = self.touched(*(getattr(item, name, None) for name in ("init", "cond", "next")))
        inside = self.touched(item.stmt)
        if header.reads & inside.writes:
            name = min(header.reads & inside.writes)
            _refuse(
                f"a loop writes elements of `{name}`, which its header reads",
                item,
                self.what,
                self._why(item),
            )
        wait, before = _behind(before, header, [])
        # What an iteration touches comes before the next one.
        stmt, after = self._part(item.stmt, new.stmt, before | header | inside)
        return [*wait, copy_with(new, stmt=stmt)], after | before

    def _part(self, item: Node | None, new: Node | None, before: _Touched) -> tuple[Node | None, _Touched]:
        if item is None or new is None:
            return None, before
        inner, after = self.statements(_statements(item), _statements(new), before)
        return block(*inner), after

    def _why(self, item: Node) -> str | None:
        found = self.loops.get(id(item))
        return found.diagnostics[0].message if isinstance(found, Refusal) else None

    def _require_single(self, item: Node) -> None:
        """A statement that writes elements can be left to one item.  Raises Refusal: ORIO-T132."""
        own = {*(self.nest.plain.context.effects(item).writes - self.nest.uses.keys())}
        if isinstance(item, c_ast.Decl) and item.name is not None:
            own.add(item.name)
        if own:
            _refuse(f"one statement writes elements and assigns `{min(own)}`", item, self.what)


def _behind(before: _Touched, mine: _Touched, items: list[Node]) -> tuple[list[Node], _Touched]:
    """Statements that touch arrays behind others, and a place to wait where they have to."""
    if before.meets(mine):
        return [GroupWait(), *items], mine
    return items, before | mine


def _require_own_scalars(nest: DeviceNest, what: str) -> None:
    """Nothing but scalars passes from statement to statement.  Raises Refusal: ORIO-T132."""
    if nest.shared.reductions:
        found = nest.shared.reductions[0]
        _refuse(f"all iterations combine their values of `{found.name}`", found.place, what)
    for node in walk_statements(nest.body):
        if isinstance(node, (c_ast.Goto, c_ast.Label, c_ast.Switch)):
            _refuse("a `goto`, a label or a `switch` stands in it", node, what)


def _spread_loops(nest: DeviceNest, question: NestQuestion) -> _Found:
    """The loops of an iteration that items can share out, or why they cannot."""
    items = _statements(nest.body)
    chosen = {id(loop) for loop in loops_in(nest.body)}
    found: dict[int, _Spread | Refusal] = {}
    row = nest.outer[-1].node

    def look(loop: Node, inner: Context) -> Node:
        found[id(loop)] = _spread(loop, items, nest, inner, question)
        return loop

    def enter(loop: Node, inner: Context) -> Node:
        rewrite_where(copy_with(loop, stmt=nest.body), lambda node: id(node) in chosen, look, inner)
        return loop

    rewrite_where(nest.plain.node, lambda node: node is row, enter, nest.plain.context)
    return found


def _spread(
    node: Node, items: Sequence[Node], nest: DeviceNest, context: Context, question: NestQuestion
) -> _Spread | Refusal:
    """A loop with what its iterations combine; a refusal where they depend on each other."""
    what = question.what
    try:
        (loop,), _ = mapped_loops(node, 1, what, context, force=False)
        scan, shared = scan_of(loop, context) or (None, sharing([loop], context))
        known = shared.joined(Sharing(atomic=nest.shared.atomic))
        placed = compaction_of(loop, context)
        independent = loop
        if scan is not None and placed is not None and placed.counter == scan.name:
            # Whether the counter stays in its type is tested by who makes such loops.
            independent = placed.spaced if placed.most is None or question.trusted else loop
        require_independent([independent], known, what, context, force=False)
    except Refusal as refusal:
        return refusal
    kept = {*shared.private, *(r.name for r in shared.reductions), loop.index}
    lost = next((name for name in assigned_scalars(loop.body, context) if name not in kept), None)
    lost = lost or next((r.name for r in shared.reductions if r.truth), None)
    if lost is None and any(_reads(loop.index, item) for item in items):
        lost = loop.index
    own = context.effects(loop.node).array_writes - nest.uses.keys()
    if own:
        return _problem(f"each item would have elements of `{min(own)}` of its own", node, what)
    if lost is not None:
        return _problem(f"the value of `{lost}` from its last iteration is used behind it", node, what)
    return _Spread(_typed(loop, items), shared, context, scan)


def _typed(loop: CanonicalLoop, items: Sequence[Node]) -> CanonicalLoop:
    """The loop with the type of an index that the body declares."""
    for item in items:
        if isinstance(item, c_ast.Decl) and item.name == loop.index and isinstance(item.type, c_ast.TypeDecl):
            return replace(loop, declared_type=loop.declared_type or emit_type(item.type.type))
    return loop


def _reads(name: str, node: Node) -> bool:
    """Whether a statement uses a variable outside of loops that count in it."""
    if isinstance(node, For) and (loop := CanonicalLoop.match(node)) is not None and loop.index == name:
        return _reads(name, loop.start)
    if isinstance(node, c_ast.ID):
        return node.name == name
    return any(_reads(name, child) for child in node)


def _problem(reason: str, node: Node, what: str) -> Refusal:
    try:
        _refuse(reason, node, what)
    except Refusal as refusal:
        return refusal


def _refuse_nothing(nest: DeviceNest, loops: _Found, what: str) -> NoReturn:
    """Raises Refusal: ORIO-T132."""
    reasons = [found for found in loops.values() if isinstance(found, Refusal)]
    why = reasons[0].diagnostics[0].message if reasons else None
    _refuse("no loop stands in it whose iterations items can share out", nest.outer[-1].node, what, why)


def _refuse(reason: str, node: Node, what: str, why: str | None = None) -> NoReturn:
    """Raises Refusal: ORIO-T132."""
    refuse(
        "ORIO-T132",
        f"{what} cannot do an iteration with several items: {reason}",
        node,
        notes=[] if why is None else [note(why, node)],
        help="leave `rowThreads` out",
        argument="rowThreads",
    )
