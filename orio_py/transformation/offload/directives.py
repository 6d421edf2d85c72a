"""Loop nests that a compiler takes to a device, told by directives: what all languages of directives share.

    for (i = 0; i < n; i++)             #pragma acc parallel loop gang vector copyin(x[0:n]) copy(y[0:n], s) reduction(+: s)
      for (j = 0; …)                    for (i = 0; i < n; i++)
        s += y[i] * x[j];                 for (j = 0; …)
                                            s += y[i] * x[j];

The loops stay as they are.  What the nest touches of arrays goes into data clauses, accumulations into reductions,
scalars that an iteration assigns first into `private`; those that it only reads every iteration gets by itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Set
from dataclasses import dataclass

from orio_py.core.expr import Value
from orio_py.ctree.build import block, declare, flat_block, statements
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import CanonicalLoop, nest, outermost_loops
from orio_py.ctree.nodes import GuardedPragma, Node, c_ast
from orio_py.ctree.rewrite import Replacement, Rewriter, walk
from orio_py.kernel.plan import Direction, ReductionPlan
from orio_py.transformation.arguments import optional_text, positive_int
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.entry import ArgumentSpec
from orio_py.transformation.final_index import with_final_indices
from orio_py.transformation.offload.arguments import NestQuestion
from orio_py.transformation.offload.device_nest import DeviceNest, device_nest
from orio_py.transformation.offload.scalars import Scalars, scalars
from orio_py.transformation.offload.sections import ArraySection, sections
from orio_py.transformation.parallel.annotate import (
    annotated,
    at_least_once,
    chosen_loops,
    require_direct,
    with_directives,
)
from orio_py.transformation.parallel.iteration_counts import may_run_where_c_does_not
from orio_py.transformation.parallel.pragma_text import pragma_lines
from orio_py.transformation.simpler.comparisons import with_comparisons
from orio_py.transformation.sites import Choice, rewrite_where


@dataclass(frozen=True, slots=True)
class DirectivePlan:
    """What directives say of a nest: how many loops are one, and what becomes of arrays and scalars.

    `inner` of the `depth` loops, the innermost ones, have a directive of their own; 0: all share one.  `data` is the
    directive that keeps arrays on the device around a statement, with the clauses by direction: both are the language's.
    """

    depth: int
    inner: int
    sections: tuple[ArraySection, ...]
    private: tuple[str, ...]
    reductions: tuple[ReductionPlan, ...]
    data: str = ""
    words: tuple[tuple[Direction, str], ...] = ()

    @property
    def read_only(self) -> frozenset[str]:
        """The arrays that are only read."""
        return frozenset(s.name for s in self.sections if s.direction is Direction.IN)

    def moved(self, words: Mapping[Direction, str]) -> list[str]:
        """The data clauses, by the word for each direction; what is combined goes to the device and back."""
        found = [f"{word.format(names)}" for way, word in words.items() if (names := self._names(way))]
        return found

    def _names(self, way: Direction) -> str:
        combined = [r.name for r in self.reductions] if way is Direction.INOUT else []
        return ", ".join([*(s.text for s in self.sections if s.direction is way), *combined])

    @property
    def outer(self) -> int:
        """How many loops the first directive is about."""
        return self.depth - self.inner

    def privates(self) -> list[str]:
        """The clause for scalars that each iteration has for itself, of the directive that starts iterations."""
        return [f"private({', '.join(self.private)})"] if self.private else []

    def combined(self) -> list[str]:
        """The clauses for reductions, which OpenMP and OpenACC write alike, of every directive."""
        found: list[str] = []
        for operator in dict.fromkeys(r.operator for r in self.reductions):
            names = ", ".join(r.name for r in self.reductions if r.operator == operator)
            found.append(f"reduction({operator}: {names})")
        return found


@dataclass(frozen=True, slots=True)
class DirectiveStep(ABC):
    """Put directives before the loops over `loop`, or the outermost ones, that take them to a device.

    `nd` says how many loops of a nest share their iterations out.  `trusted` leaves the dependence test out,
    for loops that passed it before they were unrolled.
    """

    loop: str | None = None
    nd: int = 1
    force: bool = False
    trusted: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """A new tree; `node` is not modified.

        Raises Refusal: ORIO-T011, T015, T020 to T029, T033, T040, T041, T090, T120 to T126.
        """
        return self.apply_where(
            node, context, chosen_loops(node, self.loop, outermost_loops(node), self.what)
        )

    def apply_where(self, node: Node, context: Context, chosen: Choice) -> Node:
        """The tree with directives before the loops that `chosen` names.  Raises Refusal like `apply`."""
        for name, number in (("nd", self.nd), *self.counts.items()):
            if number is not None and number < 1:
                refuse("ORIO-T011", f"`{name}` is {number}; it must be at least 1", node, argument=name)
        name, number = self.inner
        if not 0 <= number < self.nd:
            message = f"`{name}` is {number}; it must be less than `nd`, {self.nd}, and not negative"
            refuse("ORIO-T011", message, node, argument=name)
        return rewrite_where(node, chosen, self._loop, context)

    @property
    @abstractmethod
    def what(self) -> str:
        """The transformation's name in messages."""

    @property
    @abstractmethod
    def counts(self) -> Mapping[str, int | None]:
        """The arguments that say how many of something there are, None where the compiler decides."""

    @property
    @abstractmethod
    def inner(self) -> tuple[str, int]:
        """The argument that says how many of the loops have a directive of their own, and its value."""

    @property
    @abstractmethod
    def data_words(self) -> tuple[str, Mapping[Direction, str]]:
        """The directive for data that stays around a statement, and its clauses."""

    @property
    @abstractmethod
    def atomic_directive(self) -> str:
        """What follows `#pragma` before a statement that updates what several iterations update."""

    @abstractmethod
    def directive(self, plan: DirectivePlan) -> str:
        """What follows `#pragma` before the nest."""

    @abstractmethod
    def inner_directive(self, plan: DirectivePlan) -> str:
        """What follows `#pragma` before the inner loops that have a directive of their own."""

    def _loop(self, node: Node, context: Context) -> Node:
        loop = with_comparisons(node, context)
        question = NestQuestion(self.what, self.nd, self.nd, self.force, self.trusted, keeps_statements=True)
        found = device_nest(loop, context, question)
        kept = scalars(found.shared, found.outer, found.every, found.body, (), self.what, found.plain.context)
        plan = self._plan(found, kept)
        text = self.directive(plan)
        require_direct(text, node, context)
        if plan.inner:
            loop = self._with_inner_directive(loop, found.outer[plan.outer], plan, context)
        _require_own_updates(loop, found, self.what)
        loop = with_directives(loop, found.shared.updates, self.atomic_directive, context)
        before, loop = _without_members(loop, found, plan.read_only, self.what)
        lines = [GuardedPragma(line.string, line.guard, plan=plan) for line in pragma_lines([text])]
        result = annotated(lines, loop, context)
        doubtful = any(may_run_where_c_does_not(each, found.plain.context) for each in found.outer)
        needs_an_iteration = any(section.needs_iterations for section in plan.sections)
        if doubtful or needs_an_iteration or found.shared.needs_an_iteration:
            result = block(at_least_once(result, found.outer, found.plain.context))
        if before:
            result = block(block(*before, *statements(result)))
        settled = with_final_indices(result, found.every, self.what, found.plain.context)
        return settled if settled is result else flat_block(found.plain.restored(settled))

    def _plan(self, nest: DeviceNest, kept: Scalars) -> DirectivePlan:
        """Raises Refusal: ORIO-T122, T124."""
        private = tuple(name for name, _ in kept.private)
        found = sections(nest, self.what)
        data, words = self.data_words
        return DirectivePlan(
            len(nest.mapped), self.inner[1], found, private, kept.reductions, data, tuple(words.items())
        )

    def _with_inner_directive(
        self, loop: Node, inner: CanonicalLoop, plan: DirectivePlan, context: Context
    ) -> Node:
        """The nest with the second directive in it."""
        lines = pragma_lines([self.inner_directive(plan)])
        index = inner.index
        view = CanonicalLoop.match(loop)
        assert view is not None
        found = next(each for each in nest(view) if each.index == index)
        return rewrite_where(
            loop, lambda n: n is found.node, lambda n, within: annotated(lines, n, within), context
        )


def _require_own_updates(loop: Node, nest: DeviceNest, what: str) -> None:
    """Statements that are atomic are the loop's own, not those of a nest without structures.  Raises Refusal: ORIO-T124."""
    own = {id(node) for node in walk(loop)}
    lost = next((node for node in nest.shared.updates if id(node) not in own), None)
    if lost is not None:
        message = f"{what} cannot update members of structures that several iterations update"
        refuse("ORIO-T124", message, lost)


def _without_members(
    loop: Node, nest: DeviceNest, read_only: Set[str], what: str
) -> tuple[tuple[Node, ...], Node]:
    """Declarations of what structures hold, and the loop that uses these: a device cannot follow the host's pointers.

    Raises Refusal: ORIO-T124.
    """
    if not nest.plain.parts:
        return (), loop
    names = {emit_expression(member): name for name, member in nest.plain.parts.items()}
    before = tuple(_member(name, member, nest, read_only, what) for name, member in nest.plain.parts.items())
    return before, _Members(names).rewrite(loop)


def _member(name: str, member: Node, nest: DeviceNest, read_only: Set[str], what: str) -> Node:
    """`double *g_u = g->u;`.  Raises Refusal: ORIO-T124."""
    declared = nest.plain.context.declarations[name]
    if len(declared.dimensions) > 1:
        message = (
            f"{what} needs arrays in structures to have one dimension; `{emit_expression(member)}` has more"
        )
        refuse("ORIO-T124", message, member)
    if declared.is_array_like:
        constant = "const " if name in read_only else ""
        return declare(f"{constant}{declared.type} *", name, member)
    return declare(f"const {declared.type}", name, member)


class _Members(Rewriter):
    """Puts names in place of members of structures, given by their texts."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_StructRef(self, node: c_ast.StructRef) -> Replacement:
        name = self._names.get(emit_expression(node))
        return self.generic(node) if name is None else c_ast.ID(name, node.coord)


LOOP = ArgumentSpec("loop", "index of a loop", "the loop; by default the outermost ones", optional_text, "''")
ND = ArgumentSpec(
    "nd",
    "integer, at least 1",
    "how many perfectly nested loops share out their iterations together",
    positive_int,
    "1",
)


def optional_count(value: Value, name: str) -> int | None:
    """A number from 1 on; 0 and None leave it to the compiler, so that a tuning parameter can.

    Raises Refusal: ORIO-T010, T011.
    """
    return (
        None if value is None or (value == 0 and not isinstance(value, bool)) else positive_int(value, name)
    )


def natural(value: Value, name: str) -> int:
    """A number from 0 on.  Raises Refusal: ORIO-T010, T011."""
    return optional_count(value, name) or 0
