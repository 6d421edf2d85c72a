"""The analysed accesses of one nest, and the answers that every kind of verdict is made from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from orio_py.core.source import Position
from orio_py.ctree.build import const
from orio_py.ctree.ctype import CType, type_of
from orio_py.ctree.dependence.access import Access, Accesses, Instance, unsigned_factors
from orio_py.ctree.dependence.alias import Aliases
from orio_py.ctree.dependence.arrays import delinearised, row_conditions
from orio_py.ctree.dependence.collect import collect
from orio_py.ctree.dependence.conflicts import Conflicts, common_levels, dependence
from orio_py.ctree.dependence.coverage import writes_always_the_same, writes_before_reads
from orio_py.ctree.dependence.pairs import Dependence, IterationRelation, merged, pairs, unlike_pairs
from orio_py.ctree.dependence.scalars import (
    ScalarFlow,
    combining_steps,
    extreme_steps,
    reduction_operator,
    same_change,
    same_steps,
    scalar_flow,
)
from orio_py.ctree.dependence.schedule import header_names
from orio_py.ctree.dependence.scope import Constraint
from orio_py.ctree.dependence.sets import Solver
from orio_py.ctree.known_functions import result_type
from orio_py.ctree.loops import CanonicalLoop, is_fusable
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.parse import position
from orio_py.ctree.rewrite import assignments, declared_names, walk
from orio_py.ctree.structures import number_type
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.ctree.updates import cuts_off, wraps_around

_EXACT = frozenset({"&", "|"})
"""Operators whose results never depend on the order of the operands; `^` does for a `_Bool`."""

Relate = Callable[[Instance, Instance], Iterable[IterationRelation]]
"""The relations between the iterations of a source and a sink that the transformation would upset."""


@dataclass(frozen=True, slots=True)
class ViolatedDependence:
    """Two accesses that the transformation would upset; `doubt` says why they may not really clash.

    `advice` says how to exclude it, for accesses under names that may overlap.
    """

    found: Dependence
    doubt: str | None
    advice: str | None = None

    def __str__(self) -> str:
        if self.doubt is None:
            return str(self.found)
        source, sink = self.found.source, self.found.sink
        if self.advice is not None:
            return f"{source} and {sink} may touch the same memory, as {self.doubt}: {self.advice}"
        text = f"{source} and {sink} may touch the same memory in iterations that would be exchanged"
        return f"a dependence on `{self.found.name}` cannot be excluded: {text}; {self.doubt}"


@dataclass(frozen=True, slots=True)
class ChangedBound:
    """A loop whose bounds read a name that the nest writes."""

    loop: CanonicalLoop
    name: str
    through_pointer: bool = False

    @property
    def reason(self) -> str:
        """What is wrong, for a message."""
        text = f"the bounds of the loop `{self.loop.index}` read `{self.name}`, which"
        if self.through_pointer:
            return f"{text} a write through another pointer may change"
        return f"{text} the loops change"

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
        *,
        aliases: Aliases | None = None,
        reassociate: bool = False,
        facts: Sequence[Constraint] = (),
    ) -> None:
        self.loops = loops
        self.live_after = live_after
        self._declarations = declarations
        self.reassociate = reassociate
        self._known_inside: Mapping[str, CDeclaration] | None = None
        self.aliases = aliases = aliases or Aliases(declarations)
        self._solver = Solver()
        proof = self._solver.is_nonnegative
        self._accesses: Accesses = collect(loops, aliases, proof, surrounding)
        varying = self._accesses.names.varying
        steady = (fact for fact in facts if varying.isdisjoint(s for product in fact.terms for s in product))
        self._outer = (
            *self._accesses.body.outer,
            *steady,
            *unsigned_factors(self._accesses.instances, declarations),
        )
        self._merged = merged(self._accesses.instances)
        self.instances = delinearised(self._merged, proof, self._outer)
        self._known_flow: ScalarFlow | None = None
        # What a pointer may point to is memory like an array's.
        names = {instance.name for instance in self.instances if instance.is_scalar}
        self.scalars = frozenset(names) - self._accesses.names.overlapped

    @property
    def symbols(self) -> tuple[str, ...]:
        """The iteration symbols of the loops, outermost first."""
        return tuple(level.symbol for level in self._accesses.body.levels)

    def is_temporary(self, name: str) -> bool:
        """Whether each iteration writes what it reads of an array before it reads it, and nothing else may touch it.

        Raises Undecided.
        """
        own = {(i.name, i.depth) for i in self.instances if i.name == name}
        others = {(i.name, i.depth) for i in self.instances if i.name != name}
        return not any(self.aliases.may_overlap(one, two) for one in own for two in others) and (
            writes_before_reads(self._accesses.instances, name, self._solver, self._outer)
        )

    def keeps_last(self, name: str) -> bool:
        """Whether each iteration writes the elements of an array that all write.  Raises Undecided."""
        found = self._accesses
        return writes_always_the_same(found.instances, name, found.body, self._solver, self._outer)

    def row_conditions(self) -> tuple[tuple[Constraint, ...], ...]:
        """What has to hold before the nest for its linearised subscripts to be rows and columns, in several ways."""
        return row_conditions(self._merged, self._solver.is_nonnegative, self._outer)

    @property
    def jump(self) -> str | None:
        """Which jump in the body skips iterations, if one does."""
        return self._accesses.jump

    @property
    def _flow(self) -> ScalarFlow:
        if self._known_flow is None:
            self._known_flow = scalar_flow([self.loops[-1].body], self._accesses.dead)
        return self._known_flow

    @property
    def exposed(self) -> frozenset[str]:
        """The names that the body may read before it writes them."""
        return self._flow.exposed

    def reduction(self, name: str) -> str | None:
        """The operator of a scalar that the body only accumulates into; `min` and `max` for one that keeps an extreme."""
        body = self.loops[-1].body
        return reduction_operator(body, name) or next((s.operator for s in extreme_steps(body, name)), None)

    def commutes(self, name: str) -> bool:
        """Whether the statements that use a scalar may run in any order."""
        operator, target, own = self.reduction(name), c_ast.ID(name), self._declarations.get(name)
        values = self._extreme_values(name) if operator in {"min", "max"} else self._added(name)
        if operator in _EXACT or wraps_around(operator, self._type(target), map(self._type, values)):
            return True
        if operator and self.reassociate and self._is_rounded_alone(own, operator, target, values):
            return True
        if operator in {"min", "max"} and self._keeps_integers(target, values):
            return True
        return same_change(self.loops[-1].body, name, self._accesses.names.varying)

    @property
    def commuting(self) -> frozenset[str]:
        """The arrays whose elements the nest only combines with values, in statements that may run in any order."""
        inside = declared_names(self.loops[0].node)
        names = {i.name for i in self.instances if i.is_write and i.subscripts} & self._declarations.keys()
        return frozenset(name for name in names - inside if self._combines(self._declarations[name]))

    def _combines(self, array: CDeclaration) -> bool:
        steps = combining_steps(self.loops[0].node, array.name, array.pointers + len(array.dimensions))
        if not steps:
            return False
        operator, target = steps[0].operator, steps[0].target
        values = [const(1) if step.value is None else step.value for step in steps]
        if operator in _EXACT or same_steps(steps, self._accesses.names.varying):
            return True
        if wraps_around(operator, self._type(target), map(self._type, values)):
            return True
        if self.reassociate and self._is_rounded_alone(array, operator, target, values):
            return True
        return operator in {"min", "max"} and self._keeps_integers(target, values)

    def _is_rounded_alone(
        self, own: CDeclaration | None, operator: str, target: Node, values: Sequence[Node]
    ) -> bool:
        """Whether another order of what is combined in a variable or element changes no more of it than rounding does."""
        if own is None or not own.is_integer:
            return True
        kind = self._type(target, lp64=True)
        kinds = [self._type(value, lp64=True) for value in values]
        return kind is not None and not any(cuts_off(operator, kind, each) for each in kinds)

    def _keeps_integers(self, target: Node, values: Sequence[Node]) -> bool:
        """Whether values, of which the smallest or largest is kept, are integers of the very type of what keeps it.

        Of floating-point numbers another zero, or NaN, may be left in another order.
        """
        own = self._type(target)
        is_integer = own is not None and not own.is_floating
        return is_integer and bool(values) and all(self._type(value) == own for value in values)

    def _extreme_values(self, name: str) -> list[Node]:
        steps = extreme_steps(self.loops[-1].body, name)
        return [step.value for step in steps if step.value is not None]

    def _added(self, name: str) -> list[Node]:
        """What the body adds to a scalar, or combines with it otherwise; a step adds 1."""
        found = assignments(self.loops[-1].body)
        return [getattr(part, "rvalue", const(1)) for target, part in found if target == name]

    def _type(self, node: Node, *, lp64: bool = False) -> CType | None:
        """The type of an expression in the body."""
        declared, given = self._inside, self.aliases

        def kind(part: Node) -> CType | None:
            found = result_type(part) or number_type(part, declared, given.structures, given.types)
            return found.lp64 if lp64 and found is not None else found

        return type_of(node, kind, lp64=lp64)

    @property
    def _inside(self) -> Mapping[str, CDeclaration]:
        """The declarations that hold in the body, without those of names that have several there."""
        if self._known_inside is None:
            inner = [
                declaration_of(d) for d in walk(self.loops[0].node) if isinstance(d, c_ast.Decl) and d.name
            ]
            kinds: dict[str, set[object]] = {}
            for each in inner:
                kinds.setdefault(each.name, set()).add((each.type, each.dimensions, each.pointers))
            known = {**self._declarations, **{each.name: each for each in inner}}
            self._known_inside = {n: each for n, each in known.items() if len(kinds.get(n, ())) < 2}
        return self._known_inside

    def access(self, name: str, *, is_write: bool) -> Access | None:
        """The first access to a name."""
        found = (i.access for i in self.instances if i.name == name and (i.is_write or not is_write))
        return next(found, None)

    def changed_bound(self, loop: CanonicalLoop) -> ChangedBound | None:
        """A name in the bounds of a loop that the nest writes, so that the loop has no fixed range."""
        names = header_names(loop)
        if changed := sorted(names & {i.name for i in self.instances if i.is_write}):
            return ChangedBound(loop, changed[0])
        overlapped = sorted(names & self._accesses.names.overlapped)
        return ChangedBound(loop, overlapped[0], through_pointer=True) if overlapped else None

    def fused_loops(self) -> list[CanonicalLoop]:
        """The loops of the body that unroll-and-jam fuses with their copies."""
        nodes = [node for group in self._accesses.groups.values() for node in group]
        return [loop for loop in map(CanonicalLoop.match, nodes) if loop is not None]

    def passed_on(self, new_order: Sequence[str]) -> frozenset[str]:
        """The scalars whose order of accesses matters when the iterations get a new order.

        The others are written before they are read in each iteration, and either not read afterwards
        or surely written by an iteration that stays the last; or their accesses commute.
        """
        if not self.scalars:
            return self.scalars
        live = (self.scalars - self.exposed) & self.live_after
        last = {name for name in live if self._same_last_write(name, new_order)}
        kept = (self.scalars & self.exposed) | live - last
        return frozenset(name for name in kept if not self.commutes(name))

    def grouped_scalars(self) -> frozenset[str]:
        """The scalars written before they are read in every group of statements that uses them.

        If they are read after the loops, the only group surely writes them, and its last run stays the last
        because the loops around it have one range for all copies.  Scalars whose accesses commute are
        among them.
        """
        found = {name for name in self.scalars if self.commutes(name)}
        outer = self.loops[0].index
        same_ranges = not any(outer in header_names(loop) for loop in self.fused_loops())
        for name in self.scalars:
            paths = {i.path for i in self.instances if i.name == name}
            groups = [self._accesses.groups.get(path, ()) for path in paths]
            if any(is_fusable(node) for group in groups for node in group):
                continue
            flows = [scalar_flow(group, self._accesses.dead) for group in groups]
            alone = same_ranges and len(flows) == 1 and name in flows[0].assigned
            settled = alone or name not in self.live_after
            if settled and not any(name in flow.exposed for flow in flows):
                found.add(name)
        return frozenset(found)

    def _same_last_write(self, name: str, new: Sequence[str]) -> bool:
        """Whether the iteration that writes a scalar last stays the last to do so."""
        body = self._accesses.body
        writes = [i for i in self.instances if i.name == name and i.is_write]
        if len(writes) == 1 and writes[0].levels == body.levels and writes[0].why is None:
            domain, cases = writes[0].domain, writes[0].cases
        elif name in self._flow.assigned and body.why is None:
            domain, cases = body.domain, body.cases
        else:
            return False
        choices = [
            [*self._outer, *domain, *(c for part in choice for c in part)] for choice in product(*cases)
        ]
        rows = [[row for c in choice if (row := c.linear()) is not None] for choice in choices]
        return self._solver.same_last_point(rows, self.symbols, new)

    def jammed(self, source: Instance, sink: Instance, factor: int) -> Iterable[IterationRelation]:
        """The sink in a later iteration of the same `factor`, but earlier in the fused body."""
        outer = self._accesses.body.levels[0]
        less = ((outer.symbol, (factor - 1) * outer.scale),)
        shared: frozenset[str] = frozenset()
        for depth, (first, second) in enumerate(zip(source.path, sink.path, strict=False), start=1):
            if first != second:
                if second < first:
                    yield IterationRelation(shared, less)
                return
            if depth < min(len(source.path), len(sink.path)):
                symbol = source.levels[depth].symbol
                yield IterationRelation(shared, less, (symbol,))
                shared |= {symbol}

    def clash(
        self,
        relate: Relate,
        ignored: Collection[str],
        depth: int | None = None,
        *,
        among: Sequence[Instance] | None = None,
        commuting: Collection[str] = (),
    ) -> ViolatedDependence | None:
        """Two accesses, of all or `among` some, that conflict in related iterations: certainly if there are such, else possibly.

        Accesses to one of the arrays in `commuting` may run in any order among themselves.  The direction is given over
        the outer `depth` loops.  Raises Undecided.
        """
        instances = self.instances if among is None else among
        possible: ViolatedDependence | None = None
        conflicts = Conflicts(self._solver, self._outer)
        for source, sink in pairs(instances, {*ignored, *commuting}):
            if possible is not None and (source.why or sink.why) is not None:
                continue
            for relation in relate(source, sink):
                conflict = conflicts.find(source, sink, relation)
                if conflict is None:
                    continue
                levels = common_levels(source, sink, depth)
                found = dependence(source, sink, conflict, relation, levels)
                if conflict.doubt is None:
                    distance = conflicts.distance(conflict, levels, relation.shared)
                    return ViolatedDependence(replace(found, distance=distance), None)
                possible = possible or ViolatedDependence(found, conflict.doubt)
        return possible or self._overlap(instances, relate, ignored, depth, conflicts)

    def _overlap(
        self,
        instances: Sequence[Instance],
        relate: Relate,
        ignored: Collection[str],
        depth: int | None,
        conflicts: Conflicts,
    ) -> ViolatedDependence | None:
        """Two accesses under different names that conflict if the names overlap."""
        spots = {(i.name, i.depth) for i in instances if i.name not in ignored}
        apart = ((one, two) for one, two in combinations(sorted(spots), 2) if one[0] != two[0])
        for one, two in apart:
            if not self.aliases.may_overlap(one, two):
                continue
            for source, sink in unlike_pairs(instances, one, two):
                for relation in relate(source, sink):
                    conflict = conflicts.find(source, sink, relation)
                    if conflict is not None:
                        levels = common_levels(source, sink, depth)
                        found = dependence(source, sink, conflict, relation, levels)
                        advice = self.aliases.advice(one, two)
                        return ViolatedDependence(found, f"`{one[0]}` and `{two[0]}` may overlap", advice)
        return None
