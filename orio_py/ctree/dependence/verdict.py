"""The verdicts of the dependence test, and how each question about a nest becomes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from orio_py.core.source import Position
from orio_py.ctree.dependence.access import Access, Instance, Unanalysable
from orio_py.ctree.dependence.alias import Aliases
from orio_py.ctree.dependence.nest import Nest, ViolatedDependence
from orio_py.ctree.dependence.pairs import IterationRelation
from orio_py.ctree.dependence.scope import Constraint
from orio_py.ctree.dependence.sets import Undecided
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.parse import position
from orio_py.ctree.structures import Members, Structures
from orio_py.ctree.symbols import CDeclaration


@dataclass(frozen=True, slots=True)
class Legal:
    """The transformation keeps every dependence, whatever the sizes."""


@dataclass(frozen=True, slots=True)
class Illegal:
    """The transformation would change what the code computes.

    `source` and `sink` are the accesses that depend on each other, `direction` compares their iterations,
    `distance` counts those between them, if that is constant, and `sizes` are values of parameters with
    which it happens; all this only where accesses are the reason.  `help` is what can be done instead.
    """

    message: str
    source: Access | None = None
    sink: Access | None = None
    name: str = ""
    direction: tuple[str, ...] = ()
    distance: tuple[int, ...] | None = None
    sizes: tuple[tuple[str, int], ...] = ()
    help: str | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """The accesses are not analysable, so a forbidding dependence cannot be excluded.

    `source` and `sink` are the accesses that may depend on each other, where there are such, and `called` is the
    function whose effects are not known.
    """

    reason: str
    position: Position | None = None
    source: Access | None = None
    sink: Access | None = None
    called: str | None = None


Verdict = Legal | Illegal | Unknown


@dataclass(frozen=True, slots=True)
class DependenceContext:
    """What the code around a nest says: declarations by name, and the names that are read afterwards.

    `surrounding` are loops around the nest, outermost first, as far as they are known and nothing in them
    changes their indices and bounds: they bound their indices, which helps with linearised subscripts.  `noalias` are the names that share
    memory with no other, or True for all; `reassociate` says that sums and products may be formed in another
    order; `exposed` are the variables whose address is taken, `structures` the members by the names of types, `types` what names of numbers stand for,
    and `facts` polynomials over integer variables that are at least 0 where the nest begins.
    """

    declarations: Mapping[str, CDeclaration]
    live_after: frozenset[str] = frozenset()
    surrounding: tuple[CanonicalLoop, ...] = ()
    noalias: bool | frozenset[str] = False
    reassociate: bool = False
    exposed: frozenset[str] = frozenset()
    structures: Structures = field(default_factory=dict[str, Members])
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    facts: tuple[Constraint, ...] = ()


def decided(
    loops: Sequence[CanonicalLoop],
    context: DependenceContext,
    decide: Callable[[Nest], Verdict],
    *,
    concurrent: bool = False,
) -> Verdict:
    """Analyse a nest, whose iterations may be `concurrent`, and decide; what cannot be analysed is Unknown."""
    try:
        nest = nest_of(loops, context, concurrent=concurrent)
        for loop in loops:
            if (changed := nest.changed_bound(loop)) is not None:
                return Unknown(changed.reason, changed.position)
        return decide(nest)
    except Unanalysable as problem:
        return Unknown(problem.reason, problem.position, called=problem.called)
    except Undecided:
        return Unknown("the dependence test is too expensive for this nest", position(loops[0].node))


def nest_of(loops: Sequence[CanonicalLoop], context: DependenceContext, *, concurrent: bool = False) -> Nest:
    """The analysed nest; if it is `concurrent`, objects in one memory location are one.  Raises Unanalysable."""
    declared, structures = context.declarations, context.structures
    return Nest(
        loops,
        declared,
        context.live_after,
        context.surrounding,
        aliases=Aliases(declared, context.noalias, context.exposed, structures, context.types, concurrent),
        reassociate=context.reassociate,
        facts=context.facts,
    )


def carried(nest: Nest) -> Callable[[Instance, Instance], list[IterationRelation]]:
    """The sink in a later iteration of the outermost loop."""
    relations = [IterationRelation(less=((nest.symbols[0], None),))]
    return lambda source, sink: relations


def verdict(clash: ViolatedDependence | None, message: str, help: str | None = None) -> Verdict:
    """The verdict on a transformation that a clash, if there is one, is in the way of."""
    if clash is None:
        return Legal()
    found = clash.found
    if clash.doubt is not None:
        return Unknown(str(clash), found.sink.position, found.source, found.sink)
    return Illegal(
        message, found.source, found.sink, found.name, found.direction, found.distance, found.sizes, help
    )


def reversed_verdict(nest: Nest, clash: ViolatedDependence | None, ending: str) -> Verdict:
    """The verdict on a transformation that runs iterations in another order."""
    message, advice = f"{clash}; {ending}", None
    if clash is not None and clash.found.name in nest.scalars:
        found, name = clash.found, clash.found.name
        operator = nest.reduction(name)
        if operator is not None:
            message = f"{found.source} is a reduction with `{operator}`, {found.where}; {ending}"
            if nest.reassociate:
                message += (
                    f"; the type of `{name}` does not hold all that is combined in it, as far as is known"
                )
            else:
                advice = "if another order is as good: `def assumptions { arg reassociate = True; }`"
            # A condition that nobody understands is no reason to doubt that values are combined.
            clash = replace(clash, doubt=None)
        elif name not in nest.exposed and name in nest.live_after:
            effect = f"would get its last value in another iteration: {found.source}, {found.where}"
            message = f"`{name}` is read after the loops and {effect}"
    return verdict(clash, message, advice)
