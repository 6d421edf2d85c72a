"""The analysed accesses of one nest, and the answers that every kind of verdict is made from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from orio_py.core.source import Position
from orio_py.ctree.access import Access, Accesses, Instance, collect
from orio_py.ctree.affine import Linear, is_fixed
from orio_py.ctree.dependence_arrays import delinearised
from orio_py.ctree.dependence_pairs import Conflicts, Dependence, Relation, dependence, merged, pairs
from orio_py.ctree.dependence_scalars import reduction_operator, scalar_flow
from orio_py.ctree.dependence_sets import Solver
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import For
from orio_py.ctree.parse import position
from orio_py.ctree.schedule import header_names
from orio_py.ctree.symbols import CDeclaration

Relate = Callable[[Instance, Instance], Iterable[Relation]]
"""The relations between the iterations of a source and a sink that the transformation would upset."""


@dataclass(frozen=True, slots=True)
class Clash:
    """Two accesses that the transformation would upset; `doubt` says why they may not really clash."""

    found: Dependence
    doubt: str | None

    def __str__(self) -> str:
        if self.doubt is None:
            return str(self.found)
        source, sink = self.found.source, self.found.sink
        text = f"{source} and {sink} may touch the same memory in iterations that would be exchanged"
        return f"a dependence on `{self.found.name}` cannot be excluded: {text}; {self.doubt}"


@dataclass(frozen=True, slots=True)
class ChangedBound:
    """A loop whose bounds read a name that the nest writes."""

    loop: CanonicalLoop
    name: str

    @property
    def reason(self) -> str:
        """What is wrong, for a message."""
        return f"the bounds of the loop `{self.loop.index}` read `{self.name}`, which the loops change"

    @property
    def position(self) -> Position | None:
        """The place of the loop."""
        return position(self.loop.node)


class Nest:
    """A perfect nest `loops`, outermost first, around a body in which anything may stand.

    Raises Unanalysable.
    """

    def __init__(
        self,
        loops: Sequence[CanonicalLoop],
        declarations: Mapping[str, CDeclaration],
        live_after: frozenset[str],
        surrounding: Sequence[CanonicalLoop],
    ) -> None:
        self.loops = loops
        self.live_after = live_after
        self._solver = Solver()
        proof = self._solver.is_nonnegative
        self._accesses: Accesses = collect(loops, declarations, proof, surrounding)
        self.instances = delinearised(merged(self._accesses.instances), proof, declarations)
        self._flow = scalar_flow([loops[-1].body])
        self.scalars = frozenset(i.name for i in self.instances if i.is_scalar)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The iteration symbols of the loops, outermost first."""
        return tuple(level.symbol for level in self._accesses.body.levels)

    @property
    def jump(self) -> str | None:
        """Which jump in the body skips iterations, if one does."""
        return self._accesses.jump

    @property
    def exposed(self) -> frozenset[str]:
        """The names that the body may read before it writes them."""
        return self._flow.exposed

    def reduction(self, name: str) -> str | None:
        """The operator of a scalar that the body only accumulates into."""
        return reduction_operator(self.loops[-1].body, name)

    def access(self, name: str, *, is_write: bool) -> Access | None:
        """The first access to a name."""
        found = (i.access for i in self.instances if i.name == name and (i.is_write or not is_write))
        return next(found, None)

    def changed_bound(self, loop: CanonicalLoop) -> ChangedBound | None:
        """A name in the bounds of a loop that the nest writes, so that the loop has no fixed range."""
        changed = sorted(header_names(loop) & {i.name for i in self.instances if i.is_write})
        return ChangedBound(loop, changed[0]) if changed else None

    def fused_loops(self) -> list[CanonicalLoop]:
        """The loops of the body that unroll-and-jam fuses with their copies."""
        nodes = [node for group in self._accesses.groups.values() for node in group]
        return [loop for loop in map(CanonicalLoop.match, nodes) if loop is not None]

    def passed_on(self, new_order: Sequence[str]) -> frozenset[str]:
        """The scalars whose order of accesses matters when the iterations get a new order.

        The others are written before they are read in each iteration, and either not read afterwards
        or surely written by an iteration that stays the last.
        """
        live = (self.scalars - self.exposed) & self.live_after
        kept = live & self._flow.assigned
        if kept and self._same_last_iteration(new_order):
            live -= kept
        return (self.scalars & self.exposed) | live

    def grouped_scalars(self) -> frozenset[str]:
        """The scalars written before they are read in the one group of statements that uses them."""
        found: set[str] = set()
        for name in self.scalars - self.live_after:
            first, *others = {i.path for i in self.instances if i.name == name}
            group = self._accesses.groups.get(first, ())
            together = not others and not any(isinstance(node, For) for node in group)
            if together and name not in scalar_flow(group).exposed:
                found.add(name)
        return frozenset(found)

    def _same_last_iteration(self, new: Sequence[str]) -> bool:
        body = self._accesses.body
        rows: list[Linear] = [row for c in body.domain if (row := c.linear()) is not None]
        iterations = {name for row in rows for name in row if not is_fixed(name)}
        if body.why is not None or not iterations <= set(self.symbols):
            return False
        return self._solver.same_last_point(rows, self.symbols, new)

    def jammed(self, source: Instance, sink: Instance, factor: int) -> Iterable[Relation]:
        """The sink in a later iteration of the same `factor`, but earlier in the fused body."""
        outer = self._accesses.body.levels[0]
        less = ((outer.symbol, (factor - 1) * outer.scale),)
        shared: frozenset[str] = frozenset()
        for depth, (first, second) in enumerate(zip(source.path, sink.path, strict=False), start=1):
            if first != second:
                if second < first:
                    yield Relation(shared, less)
                return
            if depth < min(len(source.path), len(sink.path)):
                symbol = source.levels[depth].symbol
                yield Relation(shared, less, (symbol,))
                shared |= {symbol}

    def clash(self, relate: Relate, ignored: Collection[str], depth: int | None = None) -> Clash | None:
        """Two accesses that conflict in related iterations: certainly if there are such, else possibly.

        The direction is given over the outer `depth` loops.  Raises Undecided.
        """
        possible: Clash | None = None
        conflicts = Conflicts(self._solver)
        for source, sink in pairs(self.instances, ignored):
            if possible is not None and (source.why or sink.why) is not None:
                continue
            for relation in relate(source, sink):
                conflict = conflicts.find(source, sink, relation)
                if conflict is None:
                    continue
                sample, doubt = conflict
                clash = Clash(dependence(source, sink, sample, relation.shared, depth), doubt)
                if doubt is None:
                    return clash
                possible = possible or clash
        return possible
