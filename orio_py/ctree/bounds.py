"""The headers of a nest in another order of its loops, where bounds depend on the indices of other loops.

    for (i = 0; i < n; i++)             for (j = 0; j < n; j++)
      for (j = 0; j <= i; j++)            for (i = j; i < n; i++)

The bounds are inequalities.  Each one holds at the loop, in the new order, that is the innermost of those
whose index it uses; to bound the loops around that one, its index is eliminated (Fourier-Motzkin: every
lower bound is at most every upper bound), and what the other inequalities imply is left out.  Source:
C. Ancourt, F. Irigoin, "Scanning polyhedra with DO loops", PPoPP 1991.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from orio_py.ctree.build import binary, ident
from orio_py.ctree.dependence.affine import Linear
from orio_py.ctree.dependence.sets import Solver, Undecided
from orio_py.ctree.linear_expressions import LinearExpressions, key_of, shifted, tightened, total
from orio_py.ctree.loops import CanonicalLoop, Relation
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import copy_with

MAXIMUM_OPERANDS = 3
"""Bounds that would be the smallest or largest of more expressions than this are not written."""

_MAXIMUM_ROWS = 64
_OPERATIONS = 200_000


class Intractable(Exception):
    """The bounds in the new order cannot be written; `reason` continues a sentence about `loop`."""

    def __init__(self, reason: str, loop: CanonicalLoop) -> None:
        super().__init__(reason)
        self.reason = reason
        self.loop = loop


@dataclass(slots=True)
class _Level:
    """A loop at its new place: `needed` inequalities hold there, `derived` ones follow from further in."""

    loop: CanonicalLoop
    needed: list[Linear] = field(default_factory=list[Linear])
    derived: list[Linear] = field(default_factory=list[Linear])

    def coefficient(self, row: Linear) -> int:
        return row.get(self.loop.index, 0)


def reordered(
    loops: Sequence[CanonicalLoop],
    order: Sequence[int],
    *,
    surrounding: Sequence[CanonicalLoop] = (),
    unsigned: bool = False,
    exact: bool = False,
) -> list[For]:
    """The loops of a perfect nest with the headers that they have in a new order, still in the old order.

    New position p is for `loops[order[p]]`; a header that can stay is the same node.  The innermost
    iterations are those of the original; a loop further out may run more often, with nothing inside, unless
    `exact`.  `unsigned` says that all of it is computed in unsigned integers.  Raises Intractable.
    """
    work = _Reordering(loops, order, surrounding, unsigned=unsigned, exact=exact or unsigned)
    headers = work.headers()
    return [headers[order.index(number)] for number in range(len(loops))]


def inequalities(loop: CanonicalLoop, forms: LinearExpressions) -> list[Linear]:
    """What start and bound say about the index: forms that are at least 0."""
    sign = 1 if loop.upward else -1
    index: Linear = {loop.index: 1}
    starts = forms.operands(loop.start, smallest=not loop.upward)
    bounds = forms.operands(loop.bound, smallest=loop.upward)
    strict = -1 if loop.relation in {"<", ">"} else 0
    rows = [total([(index, sign), (start, -sign)]) for start in starts]
    return rows + [shifted(total([(bound, sign), (index, -sign)]), strict) for bound in bounds]


class _Reordering:
    def __init__(
        self,
        loops: Sequence[CanonicalLoop],
        order: Sequence[int],
        surrounding: Sequence[CanonicalLoop],
        *,
        unsigned: bool,
        exact: bool,
    ) -> None:
        self.unsigned = unsigned
        self.exact = exact
        self.forms = LinearExpressions([loop.index for loop in loops], unsigned=unsigned)
        self.levels = [_Level(loops[number]) for number in order]
        self.place = {level.loop.index: place for place, level in enumerate(self.levels)}
        self.own = {loop.index: inequalities(loop, self.forms) for loop in loops}
        self.known = [row for loop in surrounding for row in inequalities(loop, self.forms)]
        self.solver = Solver(_OPERATIONS)
        self.quotients: dict[frozenset[tuple[str, int]], tuple[Linear, int]] = {}
        if unsigned:
            self._check_original(loops)

    def headers(self) -> list[For]:
        for level in self.levels:
            for row in self.own[level.loop.index]:
                self._put(row, needed=True)
        for place in range(len(self.levels) - 1, -1, -1):
            self._eliminate(self.levels[place])
        known = list(self.known)
        result: list[For] = []
        for level in self.levels:
            rows = self._minimal(level, known)
            result.append(self._header(level, rows, known))
            known += rows
        return result

    def _check_original(self, loops: Sequence[CanonicalLoop]) -> None:
        """The bounds mean what they say: no difference in them is negative, which would wrap around."""
        self.known += [{name: 1} for name in (*self.place, *self.forms.others)]
        known = list(self.known)
        for loop in loops:
            for part, smallest in ((loop.start, not loop.upward), (loop.bound, loop.upward)):
                for row in self.forms.operands(part, smallest=smallest):
                    if not self._implied(row, known):
                        raise Intractable(
                            "a bound could be negative, which its unsigned index cannot be", loop
                        )
            known += self.own[loop.index]

    def _put(self, row: Linear, *, needed: bool) -> None:
        """Assign an inequality to the innermost loop whose index it uses."""
        used = self.forms.indices(row)
        if not used:
            return
        level = self.levels[max(self.place[index] for index in used)]
        hidden = self.forms.hidden(row)
        if level.loop.index in hidden or (hidden and not needed):
            if needed:
                raise Intractable(self._non_linear(row, level.loop.index), level.loop)
            return
        rows = level.needed if needed else level.derived
        rows.append(row)
        if len(rows) > _MAXIMUM_ROWS:
            raise Intractable("its bounds become too many", level.loop)

    def _non_linear(self, row: Linear, index: str) -> str:
        text = next(name for name in row if name and index in self.forms.hidden({name: 1}))
        return f"`{text}` in a bound is not linear in `{index}`"

    def _eliminate(self, level: _Level) -> None:
        """What the inequalities of a loop say about the loops around it."""
        seen = {key_of(row) for row in level.needed}
        level.derived = [row for row in _distinct(level.derived) if key_of(row) not in seen]
        rows = [*level.needed, *level.derived]
        lower = [row for row in rows if level.coefficient(row) > 0]
        upper = [row for row in rows if level.coefficient(row) < 0]
        for low in lower:
            for high in upper:
                up, down = level.coefficient(low), -level.coefficient(high)
                if up > 1 and down > 1 and self.exact:
                    raise Intractable("it would run zero times for some indices around it", level.loop)
                self._put(tightened(total([(low, down), (high, up)])), needed=False)

    def _minimal(self, level: _Level, known: list[Linear]) -> list[Linear]:
        """The inequalities of a loop without those that the others and the loops around it imply."""
        rows = [*level.needed, *level.derived]
        if abs(level.loop.stride) > 1:
            rows = self._from_the_start(level, rows)
        derived = (row for row in rows if row not in level.needed)
        if self._is_own(level, level.needed) and all(
            self._implied(row, [*known, *level.needed]) for row in derived
        ):
            return level.needed
        kept = list(rows)
        for row in sorted(rows, key=lambda r: (r in level.needed, -len(r))):
            others = [other for other in kept if other is not row]
            same_side = [o for o in others if (level.coefficient(o) > 0) == (level.coefficient(row) > 0)]
            if same_side and self._implied(row, [*known, *others]):
                kept = others
        return kept

    def _is_own(self, level: _Level, rows: Sequence[Linear]) -> bool:
        """Whether the inequalities are those of the original header."""
        return {key_of(row) for row in rows} == {key_of(row) for row in self.own[level.loop.index]}

    def _from_the_start(self, level: _Level, rows: list[Linear]) -> list[Linear]:
        """The inequalities of a loop with steps, which must begin at its own start."""
        loop = level.loop
        upward = 1 if loop.upward else -1
        starts = [row for row in self.own[loop.index] if level.coefficient(row) * upward > 0]
        needed = [row for row in level.needed if level.coefficient(row) * upward > 0]
        if {key_of(row) for row in starts} != {key_of(row) for row in needed}:
            outer = sorted({index for row in starts for index in self.forms.indices(row)} - {loop.index})
            inner = [index for index in outer if self.place[index] > self.place[loop.index]]
            reason = f"from a start that depends on `{inner[0]}`" if inner else "and would need another start"
            raise Intractable(f"it steps by {abs(loop.stride)} {reason}", loop)
        return starts + [row for row in rows if level.coefficient(row) * upward < 0]

    def _implied(self, row: Linear, others: Sequence[Linear]) -> bool:
        negated = shifted(total([(row, -1)]), -1)
        try:
            return self.solver.is_empty((), [*others, negated])
        except Undecided:
            return False

    def _header(self, level: _Level, rows: Sequence[Linear], known: Sequence[Linear]) -> For:
        loop = level.loop
        if self._is_own(level, rows):
            return loop.node
        lower = [row for row in rows if level.coefficient(row) > 0]
        positive = not self.unsigned and any(
            level.coefficient(r) == 1 and self._implied(self._solved(level, r, known), known) for r in lower
        )
        lower = [self._solved(level, row, known, at_least_0=positive) for row in lower]
        upper = [self._solved(level, row, known) for row in rows if level.coefficient(row) < 0]
        starts, ends = (lower, upper) if loop.upward else (upper, lower)
        strict = [self._beyond(row, loop) for row in ends]
        weight = [sum(abs(row.get("", 0)) for row in form) for form in (strict, ends)]
        is_strict = weight[0] < weight[1] or (weight[0] == weight[1] and loop.relation in {"<", ">"})
        self._check_signs(level, lower, strict if is_strict and loop.upward else upper, known)
        relation: Relation = ("<" if is_strict else "<=") if loop.upward else (">" if is_strict else ">=")
        start = self._extreme(level, starts, smallest=not loop.upward)
        bound = self._extreme(level, strict if is_strict else ends, smallest=loop.upward)
        return with_header(loop, start, relation, bound)

    def _extreme(self, level: _Level, rows: Sequence[Linear], *, smallest: bool) -> Node:
        if not rows:
            raise Intractable("all its bounds depend on loops inside it", level.loop)
        if len(rows) > MAXIMUM_OPERANDS:
            raise Intractable(f"a bound would be the extreme of {len(rows)} expressions", level.loop)
        return self.forms.extreme(rows, smallest=smallest)

    def _solved(
        self, level: _Level, row: Linear, known: Sequence[Linear], *, at_least_0: bool = False
    ) -> Linear:
        """The bound that an inequality puts on the index, inclusive; `at_least_0` if another lower bound is."""
        factor = level.coefficient(row)
        rest = {name: coefficient for name, coefficient in row.items() if name != level.loop.index}
        if abs(factor) == 1:
            return total([(rest, -factor)])
        # ceil(e / a) is (e + a - 1) / a; C's division is the floor where the numerator is not negative.  A
        # negative one gives at most 0, which does not count as a lower bound beside another of at least 0.
        numerator = shifted(total([(rest, -1)]), factor - 1) if factor > 0 else rest
        if not at_least_0 and not self._implied(numerator, known):
            raise Intractable("its bound is a quotient whose sign is not known", level.loop)
        return self._quotient(numerator, abs(factor))

    def _beyond(self, bound: Linear, loop: CanonicalLoop) -> Linear:
        """The first value past an inclusive bound."""
        if loop.upward and (parts := self.quotients.get(key_of(bound))) is not None:
            numerator, divisor = parts
            return self._quotient(shifted(numerator, divisor), divisor)
        return shifted(bound, 1 if loop.upward else -1)

    def _quotient(self, numerator: Linear, divisor: int) -> Linear:
        form = {self.forms.named(binary("/", self.forms.write(numerator), divisor)): 1}
        self.quotients[key_of(form)] = (numerator, divisor)
        return form

    def _check_signs(
        self, level: _Level, lower: Sequence[Linear], upper: Sequence[Linear], known: Sequence[Linear]
    ) -> None:
        """Unsigned bounds must not be differences that wrap around; `upper` are as they are written."""
        if not self.unsigned:
            return
        # A loop that counts down stops below its lower bound.
        least = 0 if level.loop.upward else 1
        positive = any(self._implied(shifted(row, -least), known) for row in lower)
        if not positive or not all(self._implied(row, known) for row in upper):
            raise Intractable("a bound could be negative, which its unsigned index cannot be", level.loop)


def with_header(loop: CanonicalLoop, start: Node, relation: Relation, bound: Node) -> For:
    """The loop with another start and another test; the body and the step stay."""
    match loop.node.init:
        case c_ast.DeclList(decls=[declaration]):
            init: Node = copy_with(loop.node.init, decls=[copy_with(declaration, init=start)])
        case c_ast.Assignment() as given:
            init = copy_with(given, rvalue=start)
        case _:
            raise AssertionError("a canonical loop starts with an assignment or a declaration")
    return copy_with(loop.node, init=init, cond=binary(relation, ident(loop.index), bound))


def _distinct(rows: Sequence[Linear]) -> list[Linear]:
    return list({key_of(row): row for row in rows}.values())
