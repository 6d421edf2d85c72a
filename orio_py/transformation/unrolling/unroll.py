"""Unroll: repeat the body of a loop several times per iteration.

    for (i = 0; i < n; i++)             for (i = 0; n > 3 && i < n - 3; i += 4) {
      y[i] = y[i] + a * x[i];             y[i] = y[i] + a * x[i];
                                          y[i + 1] = y[i + 1] + a * x[i + 1];
                                          y[i + 2] = y[i + 2] + a * x[i + 2];
                                          y[i + 3] = y[i + 3] + a * x[i + 3];
                                        }
                                        for (; i < n; i++)
                                          y[i] = y[i] + a * x[i];

The statements run in the order of the original loop, so no dependence is in the way.  Source: D. Bacon,
S. Graham, O. Sharp, "Compiler transformations for high-performance computing", ACM Computing Surveys
26(4), 1994, section 6.3.2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from orio_py.ctree import build
from orio_py.ctree.build import statements
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import declared_names
from orio_py.transformation.arguments import boolean, positive_int
from orio_py.transformation.base import Context, Refusal, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.forms import (
    index_ends_with_function,
    loop_view,
    require_copyable,
    require_invariant_bound,
    require_no_jumps,
    require_stable_index,
)
from orio_py.transformation.hoisting import hoisted
from orio_py.transformation.parallel.openmp import OpenMP
from orio_py.transformation.unrolling import unroll_rewrite
from orio_py.transformation.unrolling.leaving import LEAVING
from orio_py.transformation.unrolling.tested_copies import tested_copies


@dataclass(frozen=True, slots=True)
class Unroll:
    """Repeat the loop body `ufactor` times per iteration (1 = unchanged).

    `parallelize` puts `omp parallel for` before the main loop; `force` skips the dependence test for it
    and trusts functions called in the bounds or, beside a bound in memory, in the body.
    `canonical` asks for a main loop whose test compares the index with one variable, as OpenMP needs; with `tested`
    the loop's own test stands between the copies where nobody knows how often the loop runs.
    """

    ufactor: int
    parallelize: bool = False
    force: bool = False
    canonical: bool = False
    tested: bool = False

    def matched(self, node: Node, context: Context) -> CanonicalLoop:
        """The loop as `apply` needs it.  Raises Refusal: ORIO-T011, ORIO-T020 to T028."""
        if self.ufactor < 1:
            refuse(
                "ORIO-T011",
                f"the unroll factor is {self.ufactor}; it must be at least 1",
                node,
                argument="ufactor",
            )
        view = unrollable(node, "Unroll", context, force=self.force, in_order=True)
        size = self.ufactor * unroll_rewrite.count_statements(view.body)
        unroll_rewrite.require_size(size, "Unroll", node, "ufactor")
        return view

    def apply(self, node: Node, context: Context) -> Node:
        """The main loop and the loop over the remaining iterations; `node` is not modified."""
        try:
            view = self.matched(node, context)
        except Refusal as refusal:
            if not self.tested or self.parallelize:
                raise
            context.idle.add(f"the loop's test stands between the copies: {refusal.diagnostics[0].message}")
            return tested_copies(node, self.ufactor, context)
        if self.parallelize:
            openmp = _openmp(self.force)
            openmp.apply(node, context)
            if self.ufactor == 1:
                return openmp.apply(node, context)
            return parallelized(view, self.ufactor, context, force=self.force)
        if self.ufactor == 1:
            return node
        return unroll_rewrite.apply(view, self.ufactor, context, canonical=self.canonical)


def unrollable(
    node: Node, what: str, context: Context, *, force: bool, in_order: bool = False
) -> CanonicalLoop:
    """A loop whose body may be repeated for several iterations.  Raises Refusal: ORIO-T020 to T028.

    With `in_order` the copies run in the order of the iterations, so that the body may leave the loop or the function.
    """
    view = loop_view(node, what, context)
    require_stable_index(view, what, context)
    require_no_jumps(view, what, _harmless_jumps(view, context) if in_order else ())
    require_copyable(view.body, what)
    require_invariant_bound(view, what, context, force=force)
    return view


def _harmless_jumps(view: CanonicalLoop, context: Context) -> tuple[type[Node], ...]:
    """The jumps that copies may make which run in the order of the iterations."""
    # A copy returns before the index has the value of its iteration, which nothing may then read.
    returns = (c_ast.Return,) if index_ends_with_function(view, context) else ()
    # What else leaves the loop sets the index first, which another variable of that name must not hide.
    return returns if view.index in declared_names(view.body) else (*returns, *LEAVING)


def parallelized(
    view: CanonicalLoop,
    factor: int,
    context: Context,
    *,
    make: unroll_rewrite.Make = unroll_rewrite.copies,
    force: bool,
) -> Node:
    """The unrolled loop, the iterations of its main loop shared out to threads."""
    before, view = hoisted(view, context)
    parts = unroll_rewrite.with_limit(view, factor, context, make=make)
    openmp = replace(_openmp(force), trusted=True)
    # The loop over the remainder gives the index its last value.
    inside = replace(context, live_after=context.live_after - {view.index})
    main = statements(openmp.apply(parts.main, inside))
    remainder = () if parts.remainder is None else (parts.remainder,)
    return build.block(*before, *parts.declarations, *parts.before, *main, *remainder)


def _openmp(force: bool) -> OpenMP:
    return OpenMP(True, ("omp parallel for",), force=force)


ENTRY = Entry(
    "Unroll",
    "repeat a loop's body several times per iteration",
    (
        ArgumentSpec("ufactor", "integer, at least 1", "copies of the body", positive_int),
        ArgumentSpec(
            "parallelize",
            "True or False",
            "run the main loop's iterations in parallel (OpenMP)",
            boolean,
            default="False",
        ),
        FORCE,
    ),
    Unroll,
)
