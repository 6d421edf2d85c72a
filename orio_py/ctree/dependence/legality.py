"""Whether a loop transformation keeps every data dependence, decided exactly for affine accesses.

Two accesses conflict if they touch the same memory and one of them writes; a transformation is legal if
no two conflicting accesses are run in the opposite order.  Each question becomes sets of integer points
whose emptiness isl decides, with all sizes as symbolic parameters: a verdict holds for every size.
(Feautrier 1991; Wolf and Lam 1991 for the direction vectors.)  Which names may stand for the same memory
is the matter of `dependence_alias`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from orio_py.ctree.dependence.access import Access, Instance, Unanalysable
from orio_py.ctree.dependence.nest import Nest
from orio_py.ctree.dependence.pairs import Dependence, IterationRelation
from orio_py.ctree.dependence.scalars import reduction_operator
from orio_py.ctree.dependence.schedule import header_names
from orio_py.ctree.dependence.sets import Undecided
from orio_py.ctree.dependence.verdict import (
    DependenceContext,
    Illegal,
    Legal,
    Unknown,
    Verdict,
    carried,
    decided,
    nest_of,
    reversed_verdict,
    verdict,
)
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.loops import nest as perfect_nest
from orio_py.ctree.parse import position

__all__ = [
    "Access",
    "Dependence",
    "DependenceContext",
    "Illegal",
    "Legal",
    "Unknown",
    "Verdict",
    "is_temporary",
    "may_jam",
    "may_parallelise",
    "may_reorder",
    "may_vectorise",
    "reduction_operator",
]


def may_reorder(loops: Sequence[CanonicalLoop], order: Sequence[int], context: DependenceContext) -> Verdict:
    """Whether a perfect nest may run with its loops permuted: new position p holds `loops[order[p]]`.

    `loops` are outermost first; the body of the last one stays in one piece.  A strip-mined loop and its
    tile loop are two ordinary loops here.  Raises ValueError if `order` is no permutation.
    """
    permutation = Permutation.of(order, len(loops))
    for outer, inner in permutation.inverted:
        if loops[outer].index in header_names(loops[inner]):
            effect = f"so the loop `{loops[inner].index}` cannot come to the outside"
            return _bound_dependence(loops[outer], loops[inner], effect)
    return decided(loops, context, permutation.verdict) if permutation.inverted else Legal()


@dataclass(frozen=True, slots=True)
class Permutation:
    """Another order of index vectors: position p of the new ones holds the loop `order[p]`."""

    order: tuple[int, ...]
    inverted: tuple[tuple[int, int], ...]
    """Pairs of loops, the outer one first, that stand the other way round in the new order."""

    @classmethod
    def of(cls, order: Sequence[int], count: int) -> Permutation:
        """The order of `count` loops.  Raises ValueError if it is no permutation."""
        if sorted(order) != list(range(count)):
            raise ValueError(f"{list(order)} is no order of {count} loops")
        place = {loop: new for new, loop in enumerate(order)}
        return cls(
            tuple(order), tuple((a, b) for a, b in combinations(range(count), 2) if place[b] < place[a])
        )

    def verdict(self, nest: Nest) -> Verdict:
        """Whether no two iterations of a nest that touch the same memory change places."""
        symbols = nest.symbols
        new_order = [symbols[loop] for loop in self.order]
        relations = [
            IterationRelation(
                shared=frozenset(symbols[:outer]) | frozenset(new_order[: self.order.index(inner)]),
                less=((symbols[outer], None),),
                greater=(symbols[inner],),
            )
            for outer, inner in self.inverted
        ]
        ignored = nest.scalars - nest.passed_on(new_order)
        clash = nest.clash(lambda source, sink: relations, ignored, len(self.order), commuting=nest.commuting)
        return reversed_verdict(nest, clash, "the new order of the loops would run the two in reverse")


def may_parallelise(
    loop: CanonicalLoop,
    context: DependenceContext,
    *,
    private: frozenset[str] = frozenset(),
    reductions: frozenset[str] = frozenset(),
    accumulated: frozenset[str] = frozenset(),
) -> Verdict:
    """Whether the iterations of a loop may run at the same time.

    Names in `reductions`, and elements of the arrays `accumulated`, are trusted to be combined by the caller; scalars in
    `private` must not carry a value into an iteration or out of the loop, and arrays there are trusted not to.  Indices
    of inner loops need not be listed: making them private is the caller's part.
    """

    def decide(nest: Nest) -> Verdict:
        for name in sorted(nest.scalars & private - reductions):
            if (problem := _private_problem(nest, name, loop)) is not None:
                return problem
        excused = private | reductions
        ignored = {i.name for i in nest.instances if i.name.partition(".")[0] in excused}
        clash = nest.clash(carried(nest), ignored, commuting=accumulated)
        if clash is not None and clash.found.name in nest.scalars:
            text = _shared_scalar(nest, clash.found)
            if clash.doubt is not None:
                found = clash.found
                return Unknown(f"{text}; {clash.doubt}", found.sink.position, found.source, found.sink)
            return verdict(clash, text)
        ending = f"so the iterations of the loop `{loop.index}` depend on each other"
        inner = None if clash is None else _free_inner(nest, loop, excused | nest.scalars)
        advice = None if inner is None else f"the inner loop `{inner}` carries no dependence"
        return verdict(clash, f"{clash}; {ending}", advice)

    return decided([loop], context, decide, concurrent=True)


def is_temporary(
    loops: Sequence[CanonicalLoop], name: str, context: DependenceContext, *, read_later: bool
) -> bool:
    """Whether an array holds nothing that the iterations of a perfect nest hand on: each writes an element before it reads it.

    Where the array is `read_later`, each iteration writes the same elements, so that the last one leaves them all.
    """
    try:
        nest = nest_of(loops, context)
        return nest.is_temporary(name) and (not read_later or nest.keeps_last(name))
    except (Unanalysable, Undecided):
        return False


def may_vectorise(loop: CanonicalLoop, context: DependenceContext) -> Verdict:
    """Whether a loop may be asserted to carry no dependence through memory (`ivdep`).

    Scalars that only accumulate, and those written before they are read in each iteration, are left to
    the compiler.
    """

    def decide(nest: Nest) -> Verdict:
        ignored = {name for name in nest.scalars if name not in nest.exposed or nest.reduction(name)}
        clash = nest.clash(carried(nest), ignored)
        ending = f"so the loop `{loop.index}` cannot be declared free of dependences"
        return verdict(clash, f"{clash}; {ending}")

    return decided([loop], context, decide, concurrent=True)


def may_jam(loop: CanonicalLoop, factor: int, context: DependenceContext) -> Verdict:
    """Whether `factor` iterations of a loop may be interleaved inside its inner loops.

    Inner loops in the body, at any depth, are fused with their copies; what stands between them (a run of
    statements that are not loops, or anything inside an `if` or an inner block) stays in one piece, copy
    after copy.
    """

    def decide(nest: Nest) -> Verdict:
        for inner in nest.fused_loops():
            if loop.index in header_names(inner):
                effect = f"so its copies for different `{loop.index}` cannot be fused"
                return _bound_dependence(loop, inner, effect)
            if (changed := nest.changed_bound(inner)) is not None:
                return Unknown(changed.reason, changed.position)
        if nest.jump is not None:
            return Unknown(nest.jump, position(loop.node))
        clash = nest.clash(
            lambda a, b: nest.jammed(a, b, factor), nest.grouped_scalars(), commuting=nest.commuting
        )
        if clash is not None and clash.found.name in nest.scalars - nest.exposed:
            advice = "declare it inside the loop body"
            return verdict(clash, f"the copies would share `{clash.found.name}`: {clash}; {advice}")
        ending = f"unrolling `{loop.index}` by {factor} and fusing the copies would run the two in reverse"
        return reversed_verdict(nest, clash, ending)

    return decided([loop], context, decide) if factor > 1 else Legal()


def _bound_dependence(outer: CanonicalLoop, inner: CanonicalLoop, effect: str) -> Illegal:
    text = f"the bounds of the loop `{inner.index}` depend on the index of the loop `{outer.index}`"
    return Illegal(f"{text}, {effect}", name=outer.index)


def _free_inner(nest: Nest, loop: CanonicalLoop, excused: frozenset[str]) -> str | None:
    """The index of the outermost perfectly nested loop inside that carries no dependence through arrays."""
    ignored = {i.name for i in nest.instances if i.name.partition(".")[0] in excused}
    for depth, inner in enumerate(perfect_nest(loop)[1:], start=1):

        def inside(source: Instance, sink: Instance, depth: int = depth) -> list[IterationRelation]:
            symbols = [level.symbol for level in source.levels[: depth + 1]]
            return [IterationRelation(frozenset(symbols[:depth]), ((symbols[depth], None),))]

        if nest.changed_bound(inner) is None and nest.clash(inside, ignored) is None:
            return inner.index
    return None


def _private_problem(nest: Nest, name: str, loop: CanonicalLoop) -> Illegal | None:
    """Why a scalar cannot be private to the iterations of a loop."""
    if name in nest.exposed:
        access = nest.access(name, is_write=False)
        text = f"`{name}` is private, but an iteration may read it before writing it: {access}"
        return Illegal(text, access, None, name)
    if name in nest.live_after:
        access = nest.access(name, is_write=True)
        text = (
            f"`{name}` is private and loses its value, but it is read after the loop `{loop.index}`: {access}"
        )
        return Illegal(text, access, None, name)
    return None


def _shared_scalar(nest: Nest, found: Dependence) -> str:
    """The message for a scalar that the iterations of a parallel loop would share."""
    name = found.name
    operator = nest.reduction(name)
    if operator is not None:
        return f"{found.source} is a reduction with `{operator}`; list it in reduction({operator}: {name})"
    if name not in nest.exposed:
        text = f"`{name}` is shared between iterations: {found.source}; list it in private({name})"
        return (
            text if name not in nest.live_after else f"{text}, or lastprivate({name}): it is read afterwards"
        )
    return f"{found}; so the scalar `{name}` passes a value from iteration to iteration"
