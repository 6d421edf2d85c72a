"""Whether iterations of a loop may be interleaved inside inner loops whose ranges depend on its index.

    for (i = 0; i < n; i++)
      for (j = i; j < n; j++) …        the copies for i and i + 1 meet at equal values of j

Unroll-and-jam of such a nest runs the part of a copy that the others do not have before or after the common
part.  A pair of iterations changes its order only if the later of them has the earlier value of the inner
index, as in a nest with fixed ranges (`may_jam`); the relation is between values, not between trip numbers.
Source: S. Carr, K. Kennedy, "Improving the ratio of memory operations to floating-point operations in loops",
ACM TOPLAS 16(6), 1994.
"""

from __future__ import annotations

from collections.abc import Sequence

from orio_py.ctree.build import add, call, ident
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.dependence.names import names_of
from orio_py.ctree.dependence.nest import Nest
from orio_py.ctree.dependence.schedule import enter, header_names
from orio_py.ctree.dependence.sets import Solver
from orio_py.ctree.dependence.terms import Scope, Terms, relation
from orio_py.ctree.dependence.verdict import (
    DependenceContext,
    Legal,
    Unknown,
    Verdict,
    decided,
    reversed_verdict,
    verdict,
)
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.parse import position
from orio_py.ctree.rewrite import Rewriter, copy_with


def may_jam_ranges(loop: CanonicalLoop, factor: int, context: DependenceContext) -> Verdict:
    """Whether `factor` iterations of a loop may be interleaved inside its inner loops, value by value.

    Like `may_jam`, for inner loops whose bounds may use the index of the loop.
    """
    aligned = CanonicalLoop.match(_ByValue(loop.index).rewrite(loop.node))
    if aligned is None:
        return Unknown(f"the loop `{loop.index}` has no canonical form", position(loop.node))

    def decide(nest: Nest) -> Verdict:
        for inner in nest.fused_loops():
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

    return decided([aligned], context, decide) if factor > 1 else Legal()


class _ByValue(Rewriter):
    """Gives loops whose start uses an index a start that is written as an extreme.

    The dependence test counts the iterations of a loop from its start, except where that has no single
    affine value: there it takes the values of the index, by which the copies of such loops are aligned.
    """

    def __init__(self, index: str) -> None:
        self._index = index

    def visit_For(self, node: For) -> Node:
        new = self.generic(node)
        loop = CanonicalLoop.match(new)
        if loop is None or self._index not in header_names(loop) or loop.index == self._index:
            return new
        start = call("max" if loop.upward else "min", loop.start, loop.start)
        init: Node
        if isinstance(new.init, c_ast.DeclList):
            init = copy_with(new.init, decls=[copy_with(new.init.decls[0], init=start)])
        else:
            init = c_ast.Assignment("=", ident(loop.index), start, getattr(new.init, "coord", None))
        return copy_with(new, init=init)


def never_exceeds(
    loops: Sequence[CanonicalLoop],
    reach: tuple[str, int],
    pair: tuple[Node, Node],
    context: DependenceContext,
    *,
    slack: int = 0,
) -> bool:
    """Whether the first of a pair is at most the second plus `slack` in every iteration of `loops`.

    The loops are given outermost first.  `reach` is the index of one of the loops and a distance: only iterations count from which the index
    that far away belongs to the loop too.  Minima and maxima are compared by all their operands.
    """
    solver = Solver()
    outermost = (*context.surrounding, *loops)[0]
    terms = Terms(names_of(outermost.node, context.declarations, types=context.types), solver.is_nonnegative)
    scope = Scope()
    for loop in (*context.surrounding, *loops):
        scope = enter(loop, terms, scope)
        if loop.index == reach[0]:
            scope = _reaching(loop, reach[1], terms, scope)
    lows, scope = _operands(pair[0], terms, scope, smallest=False)
    highs, scope = _operands(pair[1], terms, scope, smallest=True)
    return all(
        low is not None
        and high is not None
        and solver.is_nonnegative((high - low).shifted(slack), scope.domain)
        for low in lows
        for high in highs
    )


def _reaching(loop: CanonicalLoop, distance: int, terms: Terms, scope: Scope) -> Scope:
    """The iterations from which the index plus `distance` is still inside the bound."""
    away, scope = terms.polynomial(add(ident(loop.index), distance), scope)
    for bound in terms.extremes(loop.bound, scope, smallest=loop.upward):
        limit, scope = terms.polynomial(bound, scope)
        if away is not None and limit is not None:
            scope = scope.restricted(relation(away, loop.relation, limit), None)
    return scope


def _operands(
    node: Node, terms: Terms, scope: Scope, *, smallest: bool
) -> tuple[list[Polynomial | None], Scope]:
    values: list[Polynomial | None] = []
    for operand in terms.extremes(node, scope, smallest=smallest):
        value, scope = terms.polynomial(operand, scope)
        values.append(value)
    return values, scope
