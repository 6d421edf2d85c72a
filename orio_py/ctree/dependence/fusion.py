"""Whether loops may be fused, split or run backwards: questions about the order of whole statements.

A body in parts is analysed as one nest in which each part stands in a loop of one iteration, so that every
access has the number of its part as the first step of its path.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

from orio_py.ctree.build import binary, block, declare, for_, ident, unary
from orio_py.ctree.dependence.access import Instance
from orio_py.ctree.dependence.nest import Nest
from orio_py.ctree.dependence.pairs import IterationRelation
from orio_py.ctree.dependence.scalars import scalar_flow
from orio_py.ctree.dependence.verdict import (
    DependenceContext,
    Illegal,
    Legal,
    Unknown,
    Verdict,
    carried,
    decided,
    reversed_verdict,
    verdict,
)
from orio_py.ctree.effects import effects
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Compound, Node
from orio_py.ctree.rewrite import copy_with

Groups = tuple[tuple[int, ...], ...]
"""The statements of a body by number, in the loops that they come into, in the order of those loops."""


def may_fuse(
    loops: Sequence[CanonicalLoop],
    first: Node,
    second: Node,
    context: DependenceContext,
) -> Verdict:
    """Whether the nest `loops` may run two bodies that ran in two nests, one nest after the other.

    `loops` are the fused nest, outermost first.  A dependence of `second` on a later iteration of `first`
    would be reversed.
    """

    def decide(nest: Nest) -> Verdict:
        symbols = nest.symbols
        relations = [
            IterationRelation(frozenset(symbols[:level]), greater=(symbol,))
            for level, symbol in enumerate(symbols)
        ]
        parts = {0: first, 1: second}
        if (name := _unsettled(parts, context.live_after, nest.scalars)) is not None:
            return _other_last_value(name)
        private = _private(nest.scalars, ([first], [second]), context.live_after)
        summed = {name for name in nest.scalars if nest.commutes(name)}

        def relate(source: Instance, sink: Instance) -> Iterable[IterationRelation]:
            return relations if (_part(source), _part(sink)) == (0, 1) else ()

        clash = nest.clash(relate, private | summed, len(loops))
        return verdict(clash, f"{clash}; the fused loop would run the second of them first")

    return decided(_in_parts(loops, (first, second)), context, decide)


def may_distribute(
    loops: Sequence[CanonicalLoop], statements: Sequence[Node], groups: Groups, context: DependenceContext
) -> Verdict:
    """Whether the statements of the nest `loops` may run in one nest for each group, one after the other."""
    place = {number: place for place, group in enumerate(groups) for number in group}
    bodies = [[statements[number] for number in sorted(group)] for group in groups]

    def decide(nest: Nest) -> Verdict:
        last_in = {name: max(w, key=lambda n: (place[n], n)) for name, w in _writers(statements).items()}
        moved = {name for name, w in _writers(statements).items() if last_in[name] != max(w)}
        blocks = {number: block(*body) for number, body in enumerate(bodies)}
        unsettled = _unsettled(blocks, context.live_after, nest.scalars)
        indices = sorted(moved & context.live_after - nest.scalars)
        if (name := unsettled or next(iter(indices), None)) is not None:
            return _other_last_value(name)
        earlier = _earlier(nest.symbols)
        private = _private(nest.scalars, bodies, context.live_after) - (moved & context.live_after)
        private = frozenset(name for name in private if not _interleaved(name, statements, groups))

        def relate(source: Instance, sink: Instance) -> Iterable[IterationRelation]:
            before, after = _part(source), _part(sink)
            return earlier(before, after) if place[before] > place[after] else ()

        clash = nest.clash(relate, private, len(loops))
        return verdict(clash, f"{clash}; the loop of the second of them would run first")

    return decided(_in_parts(loops, statements), context, decide) if len(groups) > 1 else Legal()


def loop_groups(
    loops: Sequence[CanonicalLoop],
    statements: Sequence[Node],
    together: Iterable[tuple[int, int]],
    context: DependenceContext,
) -> Groups | Unknown:
    """The most loops that the statements of the nest `loops` may be distributed over.

    Statements that depend on each other in a cycle, and the pairs `together`, stay in one loop; the loops
    come in the order of the text where no dependence wants another.  (Allen and Kennedy 1987.)
    """
    count = len(statements)
    before = {(a, b) for pair in together for a, b in (pair, pair[::-1])}

    def decide(nest: Nest) -> Verdict:
        earlier = _earlier(nest.symbols)
        parts: list[list[Instance]] = [[] for _ in range(count)]
        for instance in nest.instances:
            parts[_part(instance)].append(instance)
        order = _Reachable(count, before)
        # Neighbours first: what follows from other dependences is not asked for.
        for source, sink in sorted(permutations(range(count), 2), key=lambda pair: abs(pair[0] - pair[1])):
            if order.has(source, sink):
                continue
            between, among = _between(source, sink, earlier), [*parts[source], *parts[sink]]
            if nest.clash(between, frozenset(), among=among) is not None:
                before.add((source, sink))
                order.add(source, sink)
        return Legal()

    answer = decided(_in_parts(loops, statements), context, decide)
    if isinstance(answer, Unknown):
        return answer
    for name, writers in _writers(statements).items():
        if name in context.live_after:
            last = max(writers)
            before.update((writer, last) for writer in writers if writer != last)
            if name not in scalar_flow([statements[last]]).assigned:
                before.update((last, writer) for writer in writers if writer != last)
    return connected(count, before)


def connected(count: int, before: Collection[tuple[int, int]]) -> Groups:
    """The strongly connected components of a graph, sources first, otherwise by their first members.

    A pair of `before` is an edge; the nodes are 0 to `count` - 1.
    """
    reach = [{number} | {b for a, b in before if a == number} for number in range(count)]
    for middle in range(count):
        for number in range(count):
            if middle in reach[number]:
                reach[number] |= reach[middle]
    left = {tuple(b for b in range(count) if b in reach[a] and a in reach[b]) for a in range(count)}
    ordered: list[tuple[int, ...]] = []
    while left:
        free = [c for c in left if not any(c[0] in reach[other[0]] for other in left if other != c)]
        ordered.append(min(free))
        left.remove(ordered[-1])
    return tuple(ordered)


class _Reachable:
    """Which nodes of a graph, 0 to `count` - 1, can be reached from which, as edges are added."""

    def __init__(self, count: int, edges: Iterable[tuple[int, int]]) -> None:
        self._reach = [1 << number for number in range(count)]
        for one, other in edges:
            self.add(one, other)

    def has(self, one: int, other: int) -> bool:
        return bool(self._reach[one] >> other & 1)

    def add(self, one: int, other: int) -> None:
        new = self._reach[other]
        self._reach = [reach | new if reach >> one & 1 else reach for reach in self._reach]


def may_reverse(
    loop: CanonicalLoop,
    context: DependenceContext,
    *,
    restored: frozenset[str] = frozenset(),
) -> Verdict:
    """Whether the iterations of a loop may run in reverse order.

    `restored` are indices of inner loops whose last values the caller takes care of.
    """

    def decide(nest: Nest) -> Verdict:
        written = effects(_scope(loop.body)).scalar_writes & context.live_after
        if indices := sorted(written - nest.scalars - restored):
            return _other_last_value(indices[0])
        ignored = nest.scalars - nest.exposed - context.live_after
        ignored |= {name for name in nest.scalars if nest.commutes(name)}
        clash = nest.clash(carried(nest), ignored, commuting=nest.commuting)
        return reversed_verdict(nest, clash, "the reversed loop would run the two in reverse")

    return decided([loop], context, decide)


def _in_parts(loops: Sequence[CanonicalLoop], parts: Sequence[Node]) -> list[CanonicalLoop]:
    """The nest with each part of its body in a loop of its own, of one iteration."""
    body: Node = block(*(_once(number, part) for number, part in enumerate(parts)))
    found: list[CanonicalLoop] = []
    for loop in reversed(loops):
        node = copy_with(loop.node, stmt=body)
        found.append(replace(loop, node=node, body=body))
        body = node
    return found[::-1]


def _once(number: int, part: Node) -> Node:
    # No identifier of C contains `#`, so the index hides nothing.
    index = f"#{number}"
    return for_(declare("int", index, 0), binary("<", ident(index), 1), unary("p++", ident(index)), part)


def _part(instance: Instance) -> int:
    return instance.path[0] - 1


def _earlier(symbols: Sequence[str]) -> Callable[[int, int], list[IterationRelation]]:
    """The relations in which a statement of the nest runs before another, given by their numbers."""
    carried_by = [
        IterationRelation(frozenset(symbols[:level]), less=((symbol, None),))
        for level, symbol in enumerate(symbols)
    ]
    same = IterationRelation(frozenset(symbols))

    def relations(source: int, sink: int) -> list[IterationRelation]:
        return [same, *carried_by] if source < sink else carried_by

    return relations


def _between(
    source: int, sink: int, earlier: Callable[[int, int], list[IterationRelation]]
) -> Callable[[Instance, Instance], Iterable[IterationRelation]]:
    relations = earlier(source, sink)
    return lambda first, second: relations if (_part(first), _part(second)) == (source, sink) else ()


def _private(
    scalars: frozenset[str], bodies: Sequence[Sequence[Node]], live_after: frozenset[str]
) -> frozenset[str]:
    """The scalars through which no value passes from one body to another or to another iteration.

    Each body that uses one writes it first; if it is read afterwards, the last body that writes it
    certainly does so in every iteration.
    """
    flows = [scalar_flow([block(*body)]) for body in bodies]
    inside = [effects(block(*body)) for body in bodies]
    found: set[str] = set()
    for name in scalars:
        writing = [flow for flow, part in zip(flows, inside, strict=True) if name in part.scalar_writes]
        settled = name not in live_after or (bool(writing) and name in writing[-1].assigned)
        if settled and not any(name in flow.exposed for flow in flows):
            found.add(name)
    return frozenset(found)


def _interleaved(name: str, statements: Sequence[Node], groups: Groups) -> bool:
    """Whether another group writes a scalar between two statements of one group that use it."""
    writers = _writers(statements).get(name, [])
    for group in groups:
        inside = {number: effects(_scope(statements[number])) for number in group}
        users = [number for number, found in inside.items() if name in found.reads | found.writes]
        if any(min(users) < writer < max(users) for writer in writers if users and writer not in group):
            return True
    return False


def _unsettled(parts: Mapping[int, Node], live_after: frozenset[str], scalars: frozenset[str]) -> str | None:
    """An index of inner loops that several parts count with, and whose last value is not clear.

    Such an index is no access of the nest; all other scalars are among `scalars`.
    """
    for name, writers in _writers([parts[number] for number in sorted(parts)]).items():
        if name in live_after - scalars and len(writers) > 1:
            last = parts[sorted(parts)[max(writers)]]
            if name not in scalar_flow([last]).assigned:
                return name
    return None


def _writers(statements: Sequence[Node]) -> dict[str, list[int]]:
    """The numbers of the statements that write each scalar."""
    found: dict[str, list[int]] = {}
    for number, statement in enumerate(statements):
        for name in sorted(effects(_scope(statement)).scalar_writes):
            found.setdefault(name, []).append(number)
    return found


def _scope(statement: Node) -> Node:
    return statement if isinstance(statement, Compound) else block(statement)


def _other_last_value(name: str) -> Illegal:
    return Illegal(
        f"`{name}` is read after the loops and would get its last value in another iteration", name=name
    )
