"""Loops that compare more than their index with a bound, as those do that take several elements at a time.

    for (j = 0; j + 7 < n; j += 8)      if (n >= 7 && n + 7 >= n)
      …                                   for (j = 0; j < n - 7; j += 8) …

    for (i = 0; i + lag < n; i++)       if (n >= 0 && lag >= 0)
      …                                   for (i = 0; i < n - lag; i++) …

    for (i = 0; n - i >= 4; i += 4)     if (n >= 0)
      …                                   for (i = 0; i <= n - 4; i += 4) …

Of a signed sum C says that it does not overflow; an unsigned one is tested not to wrap, neither where the loop
begins nor behind its last iteration (ISO/IEC 9899:1999, 6.5 paragraph 5 and 6.2.5 paragraph 9).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from orio_py.ctree.build import add, binary, const, ident, literal_value, sub
from orio_py.ctree.ctype import CType, common
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import MIRRORED, For, Node, c_ast
from orio_py.ctree.rewrite import copy_with, used_names
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import constant_value, expression_type
from orio_py.transformation.forms import bound_is_invariant, has_stable_index
from orio_py.transformation.simpler.counted_steps import SteppedLoop
from orio_py.transformation.types import is_natural

_LARGEST = 2**15


@dataclass(frozen=True, slots=True)
class ShiftedTest:
    """A loop with its index alone in its test, and what has to hold for it to be the user's."""

    stepped: SteppedLoop
    tests: tuple[Node, ...]

    @classmethod
    def match(cls, node: Node, context: Context) -> ShiftedTest | None:
        """The view of such a loop, None for any other statement."""
        if not isinstance(node, For) or not isinstance(test := node.cond, c_ast.BinaryOp):
            return None
        left, relation, right = test.left, test.op, test.right
        if relation in {">", ">="}:
            left, relation, right = right, MIRRORED[relation], left
        if relation not in {"<", "<="}:
            return None
        sides = ((left, name, right) for name in sorted(used_names([test])))
        shifts = (shift for side in sides if (shift := _Shift.match(*side, context)) is not None)
        return next((found for shift in shifts if (found := _alone(node, relation, shift, context))), None)


def _alone(node: For, relation: str, shift: _Shift, context: Context) -> ShiftedTest | None:
    plain = copy_with(node, cond=binary(relation, ident(shift.index), shift.limit))
    stepped = SteppedLoop.match(plain)
    if stepped is None or (step := constant_value(stepped.step, context)) is None:
        return None
    loop = stepped.loop
    if loop.index != shift.index or not loop.upward or not 0 < step <= _LARGEST:
        return None
    kind = expression_type(shift.total, _with_index(loop, context))
    if kind is None or kind.is_floating or shift.index in used_names([shift.limit]):
        return None
    if not shift.is_computed_in(kind, context) or not _begins(loop, kind, context):
        return None
    if not has_stable_index(loop, context) or not bound_is_invariant(loop, context):
        return None
    tests = shift.tests(loop, step, kind, context)
    return None if tests is None else ShiftedTest(stepped, tests)


@dataclass(frozen=True, slots=True)
class _Shift:
    """A test by `<` or `<=` of the index with what is added to it: `index + part + number < bound`.

    `total` is what C computes with the index in it, `named` that names stand for numbers; `taken` is what is compared
    with `bound - index`, where that is written.
    """

    index: str
    bound: Node
    total: Node
    part: Node | None = None
    number: int = 0
    named: tuple[Node, ...] = ()
    taken: Node | None = None

    @classmethod
    def match(cls, left: Node, index: str, right: Node, context: Context) -> _Shift | None:
        """What a test adds to a variable, or takes from the bound with it; None where there is nothing."""
        if not isinstance(left, c_ast.ID) and index in used_names([left]):
            return cls(index, right, left)._reached(left, context)
        if isinstance(right, c_ast.BinaryOp) and right.op == "-" and index in used_names([right.right]):
            found = cls(index, right.left, right, taken=left)._reached(right.right, context)
            return None if found is None else found._added(left, context)
        return None

    def _reached(self, total: Node, context: Context) -> _Shift | None:
        match total:
            case c_ast.ID(name=self.index):
                return self
            case c_ast.BinaryOp(op="+", left=left, right=right) if self.index in used_names([right]):
                inner, amount = right, left
            case c_ast.BinaryOp(op="+" | "-", left=left, right=right):
                inner, amount = left, right
            case _:
                return None
        before = self._reached(inner, context)
        return None if before is None else before._added(amount, context, less=total.op == "-")

    def _added(self, amount: Node, context: Context, *, less: bool = False) -> _Shift | None:
        number = constant_value(amount, context)
        if number is None:
            return replace(self, part=amount) if self.part is None and not less else None
        more = self.number + (-number if less else number)
        if not 0 <= number <= _LARGEST or abs(more) > _LARGEST:
            return None
        named = (binary("==", amount, number),) if used_names([amount]) else ()
        return replace(self, number=more, named=(*self.named, *named))

    @property
    def limit(self) -> Node:
        """What the index alone is compared with."""
        fewer, more = (self.number, 0) if self.number > 0 else (0, -self.number)
        limit = sub(self.bound, fewer) if fewer else self.bound  # It is at least 0.
        limit = limit if self.part is None else sub(limit, self.part)
        return add(limit, more)

    def is_computed_in(self, kind: CType, context: Context) -> bool:
        """Whether the test is decided in a type, in which also all that is unsigned is added; what is signed may be wider."""
        compared = self.bound if self.taken is None else self.taken
        if kind.unsigned:
            added = [part for part in (self.bound, self.part) if part is not None]
            return all(_promoted(part, context) == kind for part in added) and (
                common(kind, _promoted(compared, context)) == kind
            )
        totals = [common(kind, _promoted(part, context)) for part in (self.bound, compared)]
        return all(total is not None and not total.unsigned and not total.is_floating for total in totals)

    def tests(self, loop: CanonicalLoop, step: int, kind: CType, context: Context) -> tuple[Node, ...] | None:
        """That the bound less the rest is what it is for whole numbers, and that no sum wraps; None where no test says so."""
        bound, part, number, start = self.bound, self.part, self.number, loop.start
        if number < 0 and (part is None or kind.unsigned):
            return None
        tests = [*self.named]
        if not kind.unsigned:
            sizes = [binary(">=", bound, 0 if part is None else max(number, 0))]
            if part is not None and (number < 0 or not is_natural_index(part, context)):
                sizes.append(binary(">=", part, max(-number, 0)))
            return (*tests, *sizes)
        more = const(number) if part is None else add(part, number)
        tests.append(binary(">=", bound, more))
        if isinstance(self.total, c_ast.BinaryOp) and self.taken is not None:
            # In steps of at most what has to be left over the index does not come behind the bound.
            left_over = number + (1 if loop.relation == "<" else 0)
            if part is not None or not isinstance(self.total.right, c_ast.ID) or left_over < step:
                return None
            return (*tests, *([] if literal_value(start) == 0 else [binary(">=", bound, start)]))
        beyond = step - (1 if loop.relation == "<" else 0)
        tests += [binary(">=", more, part)] if part is not None and number else []
        tests += [binary(">=", binary("+", bound, beyond), bound)] if beyond else []
        if literal_value(start) is None or (part is not None and literal_value(start) != 0):
            tests.append(binary(">=", binary("+", start, more), start))
        return tuple(tests)


def _with_index(loop: CanonicalLoop, context: Context) -> Context:
    """What is known in the loop, whose header may declare its index."""
    if loop.declared_type is None:
        return context
    declared = CDeclaration(loop.index, loop.declared_type)
    return replace(context, declarations={**context.declarations, loop.index: declared})


def _promoted(value: Node, context: Context) -> CType | None:
    kind = expression_type(value, context)
    return None if kind is None else kind.promoted


def _begins(loop: CanonicalLoop, kind: CType, context: Context) -> bool:
    """Whether the index begins with the value of its start."""
    number = literal_value(loop.start)
    if number is not None:
        return 0 <= number <= _LARGEST
    own = _promoted(loop.start, context)
    return not kind.unsigned or (own is not None and own.unsigned and common(kind, own) == kind)


def is_natural_index(part: Node, context: Context) -> bool:
    """Whether an expression is the index of a loop around that counts up from a number of at least 0."""
    if not isinstance(part, c_ast.ID):
        return False
    around = (loop for loop in context.surrounding if loop.index == part.name)
    return any(
        loop.upward and is_natural(loop.start, context) and has_stable_index(loop, context) for loop in around
    )
