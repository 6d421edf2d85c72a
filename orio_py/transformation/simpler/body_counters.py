"""Variables that a loop's body steps by the same amount each time follow from the loop's index.

    for (i = 0; i < n; i++) {           for (i = 0; i < n; i++) {
      y[iy] += a * x[ix];                 const int ix_at = ix + (long)i * incx;
      ix += incx;                         const int iy_at = iy + (long)i * incy;
      iy += incy;                         y[iy_at] += a * x[ix_at];
    }                                   }
                                        ix += (long)(n > 0 ? n : 0) * incx; …

`*p++ = *q++` is taken for `*p = *q; p++; q++;`.  Only what is read later gets a last value.

Source: induction variable substitution; M. Wolfe, "Beyond induction variables", PLDI 1992.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from orio_py.ctree.build import (
    add,
    assign,
    binary,
    cast_to,
    const,
    declare,
    flat_block,
    ident,
    if_,
    literal_value,
    mul,
    statements,
    sub,
)
from orio_py.ctree.ctype import Rank, ctype
from orio_py.ctree.loops import CanonicalLoop, jumps_out, unmarked
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import (
    assignments,
    copy_with,
    declared_names,
    substitute,
    used_names,
)
from orio_py.ctree.simplify import simplify
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.final_index import final_value
from orio_py.transformation.forms import (
    bound_is_invariant,
    has_size_taken,
    has_stable_index,
    index_ends_with_function,
    names_in_pragmas,
    start_is_invariant,
)
from orio_py.transformation.simpler.counted_steps import (
    certain_parts,
    incremented,
    is_total,
    step_of,
    with_steps_apart,
)
from orio_py.transformation.sites import marked_like, rewrite_marked
from orio_py.transformation.types import index_type


def with_body_counters(tree: Node, context: Context) -> Node:
    """The tree in whose loops nothing but the index counts; the same object where that is so."""
    # Loops of which only inner ones step others are among them: these leave steps behind.
    return rewrite_marked(tree, lambda loop: CanonicalLoop.match(loop) is not None, _computed, context)


def _stepped(items: Sequence[Node]) -> Iterator[str]:
    """The variables that the statements of a body step, by themselves or on the way."""
    for item in items:
        if (found := step_of(item)) is not None:
            yield found[0]
        yield from (name for part in certain_parts(item) if (name := incremented(part)) is not None)


def _computed(statement: Node, context: Context) -> Node:
    loop = CanonicalLoop.match(unmarked(statement))
    assert loop is not None
    behind: list[Node] = []
    for name in dict.fromkeys(_stepped(statements(loop.body))):
        counter = _counter(name, loop, context)
        last = None if counter is None else counter.last_value(context)
        if counter is not None and last is not None:
            loop = counter.follows(context)
            behind += last
    if loop.node is unmarked(statement):
        return statement
    whole = marked_like(statement, loop.node)
    return flat_block(whole, *behind) if behind else whole


@dataclass(frozen=True, slots=True)
class _Step:
    """A change of a variable by an amount: upwards or downwards."""

    amount: Node
    upward: bool

    def moved(self, place: Node) -> Node:
        """Where it leads from a place."""
        return (add if self.upward else sub)(place, self.amount)


@dataclass(frozen=True, slots=True)
class _Counter:
    """A variable that each iteration of a loop changes by the same steps.

    `parts` are the statements of the body before the first step, between two of them, and behind the last one; `gone` is
    the number of iterations before the current one.
    """

    name: str
    declared: CDeclaration
    loop: CanonicalLoop
    steps: tuple[_Step, ...]
    parts: tuple[tuple[Node, ...], ...]
    gone: Node

    def follows(self, context: Context) -> CanonicalLoop:
        """The loop in whose body the variable is computed from the index."""
        supply = context.names(self.loop.node)
        value = self._far(self.gone, context).moved(ident(self.name))
        items = list(self.parts[0])
        if not any(self.parts[1:]) and len(items) == 1 and isinstance(items[0], For):
            items = [substitute(items[0], self.name, value)]  # The nest stays one.
        elif self.name in used_names([item for part in self.parts for item in part]):
            here = supply.fresh(f"{self.name}_at")
            items = [declare(self._type, here, value), *self._by(here, self.parts[0])]
            value = ident(here)
            for step, part in zip(self.steps, self.parts[1:], strict=True):
                value = step.moved(value)
                if self.name in used_names(part):
                    here = supply.fresh(f"{self.name}_next")
                    items.append(declare(self._type, here, simplify(value)))
                    value = ident(here)
                items += self._by(here, part)
        else:
            items = [item for part in self.parts for item in part]
        body = flat_block(*items)
        node = copy_with(self.loop.node, stmt=body)
        return replace(self.loop, node=node, body=body)

    def _by(self, here: str, items: Sequence[Node]) -> list[Node]:
        """Statements with another name for the variable."""
        return [substitute(item, self.name, ident(here)) for item in items]

    def last_value(self, context: Context) -> list[Node] | None:
        """What gives the variable its value behind the loop, if that is read; None where nobody can say it."""
        if self.name not in context.live_after:
            return []
        loop = self.loop
        try:
            end = final_value(loop, "the loop", context)
        except Refusal:
            if loop.declared_type is not None:
                return None
            end = ident(loop.index)
        trips = _iterations(loop, end)
        far = self._far(trips, context)
        if literal_value(far.amount) == 0:
            return []
        last = assign(self.name, far.amount, "+=" if far.upward else "-=")
        # What only the body reads may not be there where the loop does not run.
        total = all(is_total(step.amount) for step in self.steps)
        return [last if total else if_(binary(">", trips, 0), last)]

    def _far(self, times: Node, context: Context) -> _Step:
        """How far some iterations lead, computed in a type that holds it where the variable holds its values."""
        kind = ctype(context.types.get(self.declared.type, self.declared.type))
        wide = "long"
        if not self.declared.pointers and kind is not None and (kind.unsigned or kind.rank > Rank.LONG):
            wide = self.declared.type
        whole = self._in_one_iteration(wide)
        if literal_value(whole.amount) in {0, 1}:
            return replace(whole, amount=times if literal_value(whole.amount) else const(0))
        index = context.types.get(index_type(self.loop, context), index_type(self.loop, context))
        return replace(whole, amount=mul(times if index == wide else cast_to(wide, times), whole.amount))

    def _in_one_iteration(self, wide: str) -> _Step:
        """All steps of an iteration together, added up in a type that holds them."""
        if len(self.steps) == 1:
            return self.steps[0]
        numbers = [literal_value(step.amount) for step in self.steps]
        known = sum(
            n if step.upward else -n for n, step in zip(numbers, self.steps, strict=True) if n is not None
        )
        rest = [step for n, step in zip(numbers, self.steps, strict=True) if n is None]
        if not rest:
            return _Step(const(abs(known)), known >= 0)
        upward = any(step.upward for step in rest)
        first, *others = sorted(rest, key=lambda step: step.upward is not upward)
        amount: Node = cast_to(wide, first.amount)
        for step in others:
            amount = (add if step.upward is upward else sub)(amount, cast_to(wide, step.amount))
        return _Step(add(amount, known if upward else -known), upward)

    @property
    def _type(self) -> str:
        constant = "const " if "const" in self.declared.qualifiers else ""
        if self.declared.pointers:
            return f"{constant}{self.declared.type} *"
        return f"const {self.declared.type}"


def _counter(name: str, loop: CanonicalLoop, context: Context) -> _Counter | None:
    """A variable as one that counts with a loop; None where it does not, or may be used in other ways."""
    declared = context.declarations.get(name)
    if declared is None or not _counts(declared, context) or name in context.exposed:
        return None
    gone = _iterations_gone(loop, context)
    steps: list[_Step] = []
    parts: list[list[Node]] = [[]]
    for item in with_steps_apart(statements(loop.body), name):
        found = step_of(item)
        if found is None or found[0] != name:
            parts[-1].append(item)
        else:
            steps.append(_Step(found[1], found[2]))
            parts.append([])
    if not steps or gone is None:
        return None
    rest, amounts = flat_block(*(item for part in parts for item in part)), [step.amount for step in steps]
    header = [part for part in (loop.node.init, loop.node.cond, loop.node.next) if part is not None]
    if (
        any(assigned == name for assigned, _ in assignments(rest))
        or name in declared_names(rest) | used_names([*header, *amounts]) | names_in_pragmas(rest)
        or name in context.effects(loop.body).address_taken
        or has_size_taken(rest, name)
        or any(_does_more(part, context) for part in (loop.start, loop.bound))
        or not all(_is_fixed(amount, loop, context) for amount in amounts)
        or not _runs_through(loop, name, declared, context)
    ):
        return None
    return _Counter(name, declared, loop, tuple(steps), tuple(map(tuple, parts)), gone)


def _does_more(part: Node, context: Context) -> bool:
    """Whether an expression does more than compute a value, so that it cannot be evaluated once more."""
    done = context.effects(part)
    return bool(done.calls or done.writes or done.opaque)


def _counts(declared: CDeclaration, context: Context) -> bool:
    """Whether a variable is an integer that is not short, or a pointer."""
    if declared.dimensions or declared.qualifiers & {"volatile", "_Atomic"} or "(" in declared.type:
        return False
    kind = ctype(context.types.get(declared.type, declared.type))
    if declared.pointers:
        return declared.pointers == 1
    is_number = kind is not None and not kind.is_floating and kind.rank >= Rank.INT
    return declared.is_scalar and is_number and "const" not in declared.qualifiers


def _iterations_gone(loop: CanonicalLoop, context: Context) -> Node | None:
    """The number of iterations before the one of an index; None where the index or its start may be changed."""
    steady = has_stable_index(loop, context) and start_is_invariant(loop, context)
    if not steady or not used_names([loop.start]).isdisjoint(declared_names(loop.body)):
        return None
    return _iterations(loop, ident(loop.index))


def _iterations(loop: CanonicalLoop, index: Node) -> Node:
    """The number of iterations before an index."""
    distance = simplify(sub(index, loop.start) if loop.upward else sub(loop.start, index))
    return distance if abs(loop.stride) == 1 else binary("/", distance, abs(loop.stride))


def _is_fixed(amount: Node, loop: CanonicalLoop, context: Context) -> bool:
    """Whether the step of a variable is a whole number that is the same in all iterations."""
    kind = expression_type(amount, context)
    is_number = literal_value(amount) is not None or (kind is not None and not kind.is_floating)
    named = used_names([amount])
    steady = bound_is_invariant(replace(loop, bound=amount), context)
    return is_number and steady and named.isdisjoint(declared_names(loop.body) | {loop.index})


def _runs_through(loop: CanonicalLoop, name: str, declared: CDeclaration, context: Context) -> bool:
    """Whether each iteration steps the variable, but for a last one after which nobody reads it."""
    harmless: tuple[type[Node], ...] = ()
    if name not in context.live_after:
        harmless = (c_ast.Break,)
        as_index = replace(loop, index=name, declared_type=None)
        harmless += (c_ast.Return,) if index_ends_with_function(as_index, context) else ()
    return jumps_out(loop.body, harmless) is None
