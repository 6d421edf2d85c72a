"""Loops whose headers say enough where a condition holds that is tested at run time.

    for (i = 0; i < n; i += STEP)       if (STEP == 2)
      y[i] = x[i];                        for (i = 0; i < n; i += 2) y[i] = x[i];

    for (i = 0; i != n; i += 4)         if (n >= 0 && n % 4 == 0)
      y[i] = x[i];                        for (i = 0; i < n; i += 4) y[i] = x[i];

    for (i = 0; i < n; i += s)          const int i_trips = s > 0 && n > 0 ? (n - 1) / s + 1 : 0;
      y[i] = x[i];                      if (s > 0)
                                          for (i = 0; i < i_trips; i++) y[i * s] = x[i * s];

    for (i = 0; i + 3 < n; i += 4)      if (n >= 0)
      y[i] = x[i];                        for (i = 0; i < n - 3; i += 4) y[i] = x[i];

The loops as they were stand behind `else`.  A name such as STEP may have another value where the file is compiled with
other options; compilers decide that test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from orio_py.core.names import NameSupply
from orio_py.ctree.build import (
    add,
    assign,
    binary,
    const,
    declare,
    flat_block,
    ident,
    literal_value,
    sub,
    ternary,
)
from orio_py.ctree.ctype import INT, CType, Rank, common, ctype
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.evaluate import NoValueError, Number, evaluate
from orio_py.ctree.followed import followed
from orio_py.ctree.loops import CanonicalLoop, jumps_out, unmarked
from orio_py.ctree.nodes import MIRRORED, For, Node, Transform, c_ast
from orio_py.ctree.rewrite import declared_names, used_names, walk
from orio_py.ctree.simplify import simplify
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.ctree.unit.value_ranges import facts_of
from orio_py.transformation.base import Context
from orio_py.transformation.certain_conditions import is_always_true, never_holds
from orio_py.transformation.expression_types import constant_value, expression_type
from orio_py.transformation.forms import bound_is_invariant, index_ends_with_function, sole_statement
from orio_py.transformation.guards.guard import Guard
from orio_py.transformation.guards.guarded_tree import GuardedTree, around_mark
from orio_py.transformation.guards.row_facts import Fact
from orio_py.transformation.guards.runtime_guards import may_stand_twice, without_marks
from orio_py.transformation.guards.shifted_tests import ShiftedTest, is_natural_index
from orio_py.transformation.parallel.pragma_text import is_about_loop
from orio_py.transformation.simpler import in_simpler_forms
from orio_py.transformation.simpler.counted_steps import SteppedLoop, is_total, may_count
from orio_py.transformation.sites import marked_like, outermost_marks, rewrite_marked, rewrite_where
from orio_py.transformation.types import index_type, is_natural

_LARGEST = 2**31 - 1


def with_tested_headers(tree: Node, context: Context) -> GuardedTree:
    """The tree whose marked loops count by numbers and end by `<` or `>`, behind conditions; without any, the tree itself."""
    marks = {id(mark) for mark in outermost_marks(tree)}
    supply = context.names(tree)
    found: dict[int, _Headers] = {}

    def change(mark: Node, inner: Context) -> Node:
        assert isinstance(mark, Transform)
        if not may_stand_twice(mark) or any(map(is_about_loop, inner.pragmas)):
            return mark
        headers = _Headers(mark, inner, supply)
        new = headers.rewritten()
        if new is not mark:
            found[mark.step] = headers
        return new

    new = rewrite_where(tree, lambda node: id(node) in marks, change, context)
    counts = {d.name: d for headers in found.values() for d in headers.counts}
    return GuardedTree(
        new,
        replace(context, declarations={**context.declarations, **counts}),
        {step: headers.guard() for step, headers in found.items()},
        {step: without_marks(headers.mark) for step, headers in found.items()},
    )


@dataclass(slots=True)
class _Headers:
    """The loops at one mark, and what is tested and computed before them."""

    mark: Transform
    context: Context
    supply: NameSupply
    counts: list[CDeclaration] = field(default_factory=list[CDeclaration])
    """The variables that hold numbers of iterations."""
    _about_counts: list[Polynomial] = field(default_factory=list[Polynomial])
    _tests: dict[str, Node] = field(default_factory=dict[str, Node])
    _preparation: list[Node] = field(default_factory=list[Node])
    _after: list[Node] = field(default_factory=list[Node])

    def rewritten(self) -> Node:
        """The mark with other headers, and with what recipes then see through better."""
        new = rewrite_marked(self.mark, _is_odd, self._change, self.context)
        if new is self.mark:
            return new
        declared = {count.name: count for count in self.counts}
        inside = replace(self.context, declarations={**self.context.declarations, **declared})
        before, mark, after = around_mark(in_simpler_forms(new, inside), self.mark.step)
        if not used_names(after).isdisjoint(self.context.effects(mark).scalar_writes):
            return self.mark
        # Behind `else` the loops do by themselves what follows here.
        self._preparation += before
        self._after += after
        return mark

    def guard(self) -> Guard:
        """What has to hold, and what then is known."""
        values = [fact for test in self._tests.values() for fact in self._known(test)]
        values += self._about_counts
        facts = tuple(Fact(value, None) for value in values)
        tests = tuple(self._tests.values())
        return Guard(
            headers=tests, facts=facts, preparation=tuple(self._preparation), after=tuple(self._after)
        )

    def _known(self, test: Node) -> Iterator[Polynomial]:
        match test:
            case c_ast.BinaryOp(op=">", left=c_ast.StructRef() as member, right=limit) if (
                literal_value(limit) == 0
            ):
                yield Polynomial.symbol(emit_expression(member)).shifted(-1)
            case _:
                yield from facts_of(test, True, self.context.declarations)

    def _change(self, statement: Node, context: Context) -> Node:
        stepped = SteppedLoop.match(unmarked(statement))
        tests: tuple[Node, ...] = ()
        if stepped is None:
            if (shifted := self._compared_alone(statement, context)) is None:
                return statement
            stepped, tests = shifted.stepped, shifted.tests
        if (value := self._value(stepped.step)) is not None:
            tests += (binary("==", stepped.step, value),)
            stepped = SteppedLoop.match(stepped.with_step(value)) or stepped
        new: list[Node] | None = [stepped.node]
        if CanonicalLoop.match(stepped.node) is None:
            demands = _demands(stepped, context)
            if demands is None or (first := self._evaluable(stepped, demands)) is None:
                return statement
            tests += (*first, *demands.tests)
            if literal_value(stepped.step) is not None:
                new = [stepped.compared()]
            else:
                new = self._counted(stepped, statement, (*first, *demands.sizes), context)
        if new is None:
            return statement
        self._test(tests)
        loops = [marked_like(statement, part) if isinstance(part, For) else part for part in new]
        return flat_block(*loops) if len(loops) > 1 else loops[0]

    def _compared_alone(self, statement: Node, context: Context) -> ShiftedTest | None:
        """The loop that compares its index alone with the bound."""
        found = ShiftedTest.match(unmarked(statement), context)
        if found is None or not all(map(self._is_steady, found.tests)):
            return None
        loop, own = found.stepped.loop, sole_statement(unmarked(self.mark))
        is_first = own.coord is not None and own.coord is found.stepped.node.coord
        return found if is_first or all(map(is_total, (loop.start, loop.bound))) else None

    def _test(self, tests: Sequence[Node]) -> None:
        self._tests.update((emit_expression(t), t) for t in tests if not is_always_true(t, self.context))

    def _evaluable(self, stepped: SteppedLoop, demands: _Demands) -> tuple[Node, ...] | None:
        """What is tested before all else so that the tests may be evaluated before the mark; None where they may not be."""
        loop = stepped.loop
        if not all(self._is_steady(test) for test in demands.tests):
            return None
        parts = (loop.start, loop.bound, stepped.step)
        own = sole_statement(unmarked(self.mark))
        if all(is_total(part, self._followed(own)) for part in parts):
            return ()
        if own.coord is None or own.coord is not stepped.node.coord:
            return None
        return () if is_total(stepped.step) else (_runs(stepped),)

    def _followed(self, statement: Node) -> frozenset[str]:
        """The pointers that the header of the first loop follows in any case, or the code before it."""
        header = (statement.init, statement.cond) if isinstance(statement, For) else ()
        return self.context.followed.union(*(followed(part) for part in header if part is not None))

    def _is_steady(self, part: Node) -> bool:
        """Whether an expression has one value throughout the statement that is marked."""
        whole = unmarked(self.mark)
        view = CanonicalLoop(For(None, None, None, whole), "", None, const(0), "<", part, 1, whole)
        return used_names([part]).isdisjoint(declared_names(whole)) and bound_is_invariant(view, self.context)

    def _counted(
        self, stepped: SteppedLoop, statement: Node, tests: tuple[Node, ...], context: Context
    ) -> list[Node] | None:
        """The loop over numbers of iterations with what goes before and behind it; None where the index is needed."""
        loop = stepped.loop
        is_live = loop.declared_type is None and loop.index in context.live_after
        harmless = (c_ast.Continue,) if is_live else (c_ast.Continue, c_ast.Break)
        if index_ends_with_function(loop, context):
            harmless = (*harmless, c_ast.Return)
        if jumps_out(loop.body, harmless) is not None or any(map(is_about_loop, context.pragmas)):
            return None
        kind = _resolved(index_type(loop, context), context)
        trips = self.supply.fresh(f"{loop.index}_trips")
        steady = all(map(self._is_steady, (loop.start, loop.bound)))
        whole = [*(tests if steady else ()), _runs(stepped)]
        value = _where([t for t in whole if not is_always_true(t, self.context)], _trip_count(stepped))
        if never_holds(_runs(stepped), self.context):
            value = const(0)
        count = declare(f"const {self._type_of_distance(stepped, kind)}", trips, value)
        self.counts.append(declaration_of(count))
        number = Polynomial.symbol(trips)
        self._about_counts.append(number)
        if (
            most := literal_value(simplify(add(stepped.distance, int(loop.relation in {"<=", ">="}))))
        ) is not None:
            self._about_counts.append(Polynomial.constant(max(most, 0)) - number)
        before = [] if steady else [count]
        self._preparation += [count] if steady else []
        own_kind = kind if is_live or loop.declared_type is not None else None
        last = [assign(loop.index, stepped.value(ident(trips)))] if is_live else []
        if isinstance(statement, Transform) and statement.step == self.mark.step:
            self._after += last
            last = []
        return [*before, stepped.counted(ident(trips), own_kind), *last]

    def _type_of_distance(self, stepped: SteppedLoop, kind: str) -> str:
        """The type in which C computes how far the bound is from the start, for an index of a type."""
        own, bound = ctype(kind), expression_type(stepped.loop.bound, self.context)
        total = None if own is None or bound is None else common(own, bound)
        return kind if total is None or total == own else total.words

    def _value(self, amount: Node) -> int | None:
        """The value of a constant by another name, where it is a positive `int`."""
        if literal_value(amount) is not None:
            return None
        value = constant_value(amount, self.context)
        return value if value is not None and 0 < value <= _LARGEST else None


def _is_odd(node: Node) -> bool:
    """Whether a loop counts one index, but not by a number or not up or down to a bound."""
    if not isinstance(node, For) or CanonicalLoop.match(node) is not None:
        return False
    return SteppedLoop.match(node) is not None or isinstance(node.cond, c_ast.BinaryOp)


@dataclass(frozen=True, slots=True)
class _Demands:
    """What has to hold for a loop to count its iterations.

    `sizes` have to hold for their number to be computed, `others` for the index to take the values that it is said to.
    """

    sizes: tuple[Node, ...]
    others: tuple[Node, ...]

    @property
    def tests(self) -> tuple[Node, ...]:
        """All of them, those first without which others may not be evaluated."""
        return self.sizes + self.others


def _demands(stepped: SteppedLoop, context: Context) -> _Demands | None:
    """What has to hold of a loop whose header no number tells; None where no test says that."""
    loop = stepped.loop
    kind, kinds = _types(stepped, context)
    by_number = literal_value(stepped.step)
    is_variable = by_number is not None or used_names([stepped.step])
    if kind is None or not is_variable or not may_count(stepped, context):
        return None
    sizes: list[Node] = [] if by_number is not None else [binary(">", stepped.step, 0)]
    for part, own in zip((loop.start, loop.bound), kinds, strict=False):
        known = is_natural(part, context) or (not used_names([part]) and _is_not_negative(part, context))
        if kind.unsigned and not own.unsigned and not known:
            sizes.append(binary(">=", part, 0))
    near = loop.start if loop.upward else loop.bound
    if not kind.unsigned and by_number != 1 and not _is_not_negative(near, context):
        if literal_value(near) is not None:
            return None
        sizes.append(binary(">=", near, 0))  # Nothing else keeps the distance from overflowing.
    is_wider = common(kind, kinds[2]) != kind
    if stepped.unequal:
        if is_wider or not stepped.may_meet:
            return None
        divides = [] if by_number == 1 else [binary("==", binary("%", stepped.distance, stepped.step), 0)]
        return _Demands((*sizes, _runs(stepped)), tuple(divides))
    others: list[Node] = []
    if is_wider:
        others.append(binary("<=", loop.bound, sub(_LARGEST, stepped.step)))
    if kind.unsigned and loop.upward:
        total = common(kinds[1], kinds[2])
        if total is None or total.unsigned:
            others.append(binary(">=", binary("+", loop.bound, stepped.step), loop.bound))
    elif kind.unsigned:
        if literal_value(loop.bound) is not None:
            return None
        others.append(binary(">=", loop.bound, stepped.step))
    return _Demands(tuple(sizes), tuple(others))


def _types(stepped: SteppedLoop, context: Context) -> tuple[CType | None, list[CType]]:
    """The type of the index, in which C computes with start, bound and step; None where it does so in others.

    The bound of a signed index may be wider: where the index does not overflow, it does not matter that it is.  So may
    the step of an `int`, which `_demands` has tested, where no function is given what the index becomes.
    """
    loop = stepped.loop
    kind = ctype(_resolved(index_type(loop, context), context))
    if kind is None or kind.is_floating or kind.rank < Rank.INT:
        return None, []
    kinds: list[CType] = []
    wider = [] if kind.unsigned else [loop.bound]
    if kind == INT and loop.upward and not any(isinstance(part, c_ast.FuncCall) for part in walk(loop.body)):
        wider.append(stepped.step)
    for part in (loop.start, loop.bound, stepped.step):
        own = INT if literal_value(part) is not None else expression_type(part, context)
        total = None if own is None else common(kind, own)
        is_wider = any(part is each for each in wider) and total is not None
        if (
            own is None
            or own.is_floating
            or (total != kind and (not is_wider or total is None or total.unsigned))
        ):
            return None, []
        kinds.append(own.promoted)
    return kind, kinds


def _resolved(kind: str, context: Context) -> str:
    """The words of a type that a typedef may stand for."""
    return context.types.get(kind, kind)


def _is_not_negative(part: Node, context: Context) -> bool:
    """Whether an expression is a number of at least 0, or the index of a loop around that counts up from one."""
    if not used_names([part]):
        try:
            return evaluate(part, dict[str, Number]().__getitem__).value >= 0
        except (NoValueError, RecursionError):
            return False
    return is_natural_index(part, context)


def _runs(stepped: SteppedLoop) -> Node:
    """That the bound is where the index comes to: the loop runs, or ends at once for `!=`."""
    loop = stepped.loop
    relation = loop.relation + ("=" if stepped.unequal else "")
    if literal_value(loop.start) is not None and literal_value(loop.bound) is None:
        return binary(MIRRORED[relation], loop.bound, loop.start)
    return binary(relation, loop.start, loop.bound)


def _trip_count(stepped: SteppedLoop) -> Node:
    """The number of iterations of a loop that runs."""
    distance = stepped.distance
    if stepped.unequal:
        return binary("/", distance, stepped.step)
    if stepped.loop.relation in {"<", ">"}:
        distance = simplify(add(distance, -1))
    return add(binary("/", distance, stepped.step), 1)


def _where(tests: Sequence[Node], value: Node) -> Node:
    """A number where all of some tests hold, else 0."""
    different = {emit_expression(test): test for test in tests}.values()
    return ternary(reduce(lambda a, b: binary("&&", a, b), different), value, 0) if different else value
