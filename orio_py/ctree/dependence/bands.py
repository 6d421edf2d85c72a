"""Whether the loops of a nest whose bounds depend on each other may be permuted, or tiled as a band.

Iterations are compared by the values of the indices, in the direction in which the loops run.  A band is
tiled legally if no dependence that it carries goes backwards in any of its loops: then every tile can run
after those that it depends on.  Source: F. Irigoin, R. Triolet, "Supernode partitioning", POPL 1988;
M. Wolf, M. Lam, "A data locality optimizing algorithm", PLDI 1991.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from orio_py.ctree.build import call
from orio_py.ctree.dependence.legality import Permutation
from orio_py.ctree.dependence.nest import Nest
from orio_py.ctree.dependence.pairs import IterationRelation
from orio_py.ctree.dependence.schedule import header_names
from orio_py.ctree.dependence.verdict import DependenceContext, Legal, Verdict, decided, reversed_verdict
from orio_py.ctree.loops import CanonicalLoop


def may_permute_domain(
    loops: Sequence[CanonicalLoop], order: Sequence[int], context: DependenceContext
) -> Verdict:
    """Whether the iterations of a perfect nest may run in the order of other index vectors.

    Position p of the new vectors holds the index of `loops[order[p]]`.  Unlike `may_reorder` this takes
    loops whose bounds depend on indices that come to the inside; writing such bounds is the caller's part.
    Raises ValueError if `order` is no permutation.
    """
    permutation = Permutation.of(order, len(loops))
    return decided(_by_value(loops), context, permutation.verdict) if permutation.inverted else Legal()


def may_tile(loops: Sequence[CanonicalLoop], context: DependenceContext) -> Verdict:
    """Whether the perfectly nested `loops` may run in tiles, all loops over tiles outside all others."""

    def decide(nest: Nest) -> Verdict:
        symbols = nest.symbols
        relations = [
            IterationRelation(
                shared=frozenset(symbols[:outer]),
                less=((symbols[outer], None),),
                greater=(symbols[inner],),
            )
            for outer, inner in combinations(range(len(symbols)), 2)
        ]
        # The last iteration stays the last one if it is the last one in each single loop.
        orders = [[symbol, *(s for s in symbols if s != symbol)] for symbol in symbols[1:]]
        passed_on = frozenset(name for order in orders for name in nest.passed_on(order))
        clash = nest.clash(
            lambda source, sink: relations, nest.scalars - passed_on, len(loops), commuting=nest.commuting
        )
        return reversed_verdict(nest, clash, "tiles of these loops would run the two in reverse")

    return decided(_by_value(loops), context, decide) if len(loops) > 1 else Legal()


def _by_value(loops: Sequence[CanonicalLoop]) -> list[CanonicalLoop]:
    """The loops, those with steps of 1 in a form whose iterations the analysis counts by the index itself.

    From a single start it counts from 0, which for `j = i` compares `j - i`; from the larger of two starts
    it counts by `j`.
    """
    indices = {loop.index for loop in loops}
    return [_with_two_starts(loop) if indices & header_names(loop) else loop for loop in loops]


def _with_two_starts(loop: CanonicalLoop) -> CanonicalLoop:
    return replace(loop, start=call("max" if loop.upward else "min", loop.start, loop.start))
