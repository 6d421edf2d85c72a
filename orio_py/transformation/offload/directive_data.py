"""Arrays that stay on the device around loops that directives take there: `acc data`, `omp target data`.

    for (t = 0; t < steps; t++) {           #pragma acc data copy(a[0:n], b[0:n])
      #pragma acc parallel loop …           {
      for (i = 1; i < n - 1; i++) …           for (t = 0; t < steps; t++) {
      #pragma acc parallel loop …               …
      for (i = 1; i < n - 1; i++) …           }
    }                                       }

Directives inside find what is present, and copy nothing.  An array stays where all directives name the same part of it:
another part that reaches beyond would be no error of the compiler's, but of the program's.

Source: The OpenACC Application Programming Interface 3.2, sections 2.6.5 (`data`) and 2.7.2; OpenMP API 4.5, 2.10.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from orio_py.ctree.build import binary, block, literal_value, ternary
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import CanonicalLoop, nest
from orio_py.ctree.nodes import Compound, For, GuardedPragma, Node, c_ast
from orio_py.ctree.rewrite import Replacement, Rewriter, copy_with, walk
from orio_py.kernel.plan import Direction
from orio_py.transformation.base import Context
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.directives import DirectivePlan
from orio_py.transformation.offload.host_uses import CertainPart, HostUses, in_order
from orio_py.transformation.offload.sections import ArraySection
from orio_py.transformation.parallel.annotate import at_least_once
from orio_py.transformation.parallel.pragma_text import pragma_lines


def kept_by_directives(node: Node, context: Context) -> Node:
    """The code of a region in a directive that keeps those arrays on the device that several loops there use."""
    plans = directive_plans(node)
    languages = {plan.data for plan in plans}
    if len(languages) != 1 or any(isinstance(part, (c_ast.Return, c_ast.Goto)) for part in walk(node)):
        return node
    sections = {
        s.name: [o for p in plans for o in p.sections if o.name == s.name] for p in plans for s in p.sections
    }
    host = _host(node, plans, context)
    again = _used_again(node, plans)
    part = CertainPart.of(node)
    certain = {
        s.text
        for statement in part.statements
        for p in _certain_plans(statement, context)
        for s in p.sections
    }
    kept = [
        hull
        for name, found in sections.items()
        if name in again
        and (hull := _hull(found, context)) is not None
        and (host.is_there(name) or {s.text for s in found} <= certain)
        and host.problem(
            name, [part for s in found for part in (s.first, s.count) if part is not None], sections
        )
        is None
    ]
    if not kept:
        return node
    runs = "" if part.loop is None or part.loop.trip_count() else f" if({_runs(part.loop)})"
    clauses = [
        word.format(", ".join(s.text for s in kept if s.direction is way))
        for way, word in plans[0].words
        if any(s.direction is way for s in kept)
    ]
    return block(
        *pragma_lines([" ".join([plans[0].data + runs, *clauses])]),
        node if isinstance(node, Compound) else block(node),
    )


def directive_plans(node: Node) -> list[DirectivePlan]:
    """What the directives in some code were made from, in the order of the source."""
    return [n.plan for n in walk(node) if isinstance(n, GuardedPragma) and isinstance(n.plan, DirectivePlan)]


def _host(node: Node, plans: Sequence[DirectivePlan], context: Context) -> HostUses:
    """What the host does besides: also the bounds of loops on the device are its own."""
    taken = _WithoutLoops()
    rest = taken.rewrite(node)
    sections = [part for p in plans for s in p.sections for part in (s.first, s.count) if part is not None]
    headers = [part for loop in taken.found for part in (loop.init, loop.cond) if part is not None]
    results = [reduction.name for plan in plans for reduction in plan.reductions]
    return HostUses.of(node, rest, [*sections, *headers], results, context)


def _used_again(node: Node, plans: Sequence[DirectivePlan]) -> frozenset[str]:
    """The arrays of two directives, or of one that a loop of the host's repeats."""
    counts = Counter(section.name for plan in plans for section in plan.sections)
    repeated = [
        p
        for loop in walk(node)
        if isinstance(loop, (For, c_ast.While, c_ast.DoWhile))
        for p in directive_plans(loop)
    ]
    again = {section.name for plan in repeated for section in plan.sections}
    return frozenset(again | {name for name, number in counts.items() if number > 1})


def _certain_plans(statement: Node, context: Context) -> list[DirectivePlan]:
    """What the directive in a statement was made from, if nothing but its own loops keeps it from running."""
    if isinstance(statement, GuardedPragma):
        return directive_plans(statement)
    if not isinstance(statement, c_ast.If) or statement.iffalse is not None:
        return []
    items = list(in_order(statement.iftrue))
    view = CanonicalLoop.match(items[-1]) if items else None
    plans = [plan for item in items if isinstance(item, GuardedPragma) for plan in directive_plans(item)]
    if view is None or len(plans) != 1:
        return []
    own = at_least_once(c_ast.EmptyStatement(), nest(view)[: plans[0].outer], context)
    is_own = isinstance(own, c_ast.If) and emit_expression(own.cond) == emit_expression(statement.cond)
    return plans if is_own else []


def _runs(loop: CanonicalLoop) -> str:
    return emit_expression(binary(loop.relation, loop.start, loop.bound))


def _hull(found: Sequence[ArraySection], context: Context) -> ArraySection | None:
    """One section that holds all of an array's: copied back where one is written, never negative; None where it is not
    known where it begins and ends.
    """
    way = Direction.IN if all(s.direction is Direction.IN for s in found) else Direction.INOUT
    if any(section.count is None for section in found):
        return replace(found[0], direction=way, first=None, count=None)
    arithmetic = Arithmetic(context, frozenset())
    ends: list[tuple[Polynomial, Polynomial]] = []
    for section in found:
        assert section.count is not None
        first = Polynomial.constant(0) if section.first is None else _value(section.first, arithmetic)
        ends.append((first, first + _value(section.count, arithmetic)))
    lows = arithmetic.tightest([low for low, _ in ends], smallest=True, minimums=arithmetic.minimums)
    highs = arithmetic.tightest([high for _, high in ends], smallest=False, minimums=arithmetic.minimums)
    if len(lows) != 1 or len(highs) != 1:
        return None
    count = arithmetic.expression(highs[0] - lows[0])
    is_short = any(s.needs_iterations for s in found) or len({s.text for s in found}) > 1
    if literal_value(count) is None and is_short:
        count = ternary(binary(">", count, 0), count, 0)
    first = None if lows[0].value == 0 else arithmetic.expression(lows[0])
    return replace(found[0], direction=way, first=first, count=count)


def _value(node: Node, arithmetic: Arithmetic) -> Polynomial:
    found = arithmetic.polynomial(node, {})
    return arithmetic.opaque(node) if found is None else found


class _WithoutLoops(Rewriter):
    """Leaves out loops behind directives that take them to a device, and collects them in `found`."""

    def __init__(self) -> None:
        self.found: list[For] = []

    def visit_Compound(self, node: Compound) -> Replacement:
        items: list[Node] = []
        taken = False
        for item in node.block_items or []:
            if isinstance(item, GuardedPragma):
                taken = taken or isinstance(item.plan, DirectivePlan)
                continue
            if taken and isinstance(item, For):
                self.found.append(item)
            else:
                items.append(self.rewrite(item))
            taken = False
        return copy_with(node, block_items=items)
