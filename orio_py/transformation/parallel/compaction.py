"""Writes that a running value places: iterations put what they keep side by side, each behind what those before it have put.

    for (i = 0; i < n; i++)
      if (x[i] > 0) {
        y[count] = x[i];             an element that no other iteration writes, as the count grows behind it
        count++;
      }

So these writes are as far apart as if every iteration kept something, and lie where those would that kept most.

Source: M. Billeter, O. Olsson and U. Assarsson, "Efficient stream compaction on wide SIMD many-core architectures", HPG 2009.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import takewhile

from orio_py.ctree.build import add, binary, block, ident, literal_value, statements, sub
from orio_py.ctree.ctype import CType, Rank, ctype
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Compound, For, Node, c_ast, reference_parts
from orio_py.ctree.rewrite import (
    assigned_names,
    assignments,
    copy_with,
    declared_names,
    substitute,
    used_names,
    walk,
)
from orio_py.ctree.simplify import simplify
from orio_py.transformation.base import Context
from orio_py.transformation.parallel.counter_steps import (
    JUMPS,
    PLAIN,
    element_of,
    limit_of,
    past_limit,
    replaced,
    uses,
    with_steps_apart,
)

_MOST = {
    (False, False): "2147483647L",
    (False, True): "4294967295L",
    (True, False): "9223372036854775807L",
    (True, True): "18446744073709551615UL",
}
"""The largest values of types of 32 and 64 bits (C99 5.2.4.2.1), by whether they are wide and have no sign."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A write to an element whose subscripts use the counter, in an `item` that makes it in each iteration of loops of its own."""

    item: Node
    write: c_ast.Assignment


@dataclass(frozen=True, slots=True)
class Compaction:
    """A loop each of whose iterations adds 1 to the variable `counter` at most once, in `step`.

    `placed` are the writes that are made exactly where the step is, as long as the counter is below the `limit`, and the only
    uses of their arrays.  In C the counter `stops` there, or goes on as in `loop`.  Where it could come beyond its type when it
    goes on, `most` is that one's largest value.
    """

    loop: CanonicalLoop
    counter: str
    step: Node
    placed: tuple[_Placed, ...]
    limit: Node | None = None
    stops: bool = False
    most: str | None = None

    def has_room(self, trips: Node) -> Node | None:
        """The test that as many values as there are `trips` follow the counter's first one; None where that is so."""
        if self.most is None:
            return None
        room = binary("<=", trips, binary("-", c_ast.Constant("long", self.most), ident(self.counter)))
        is_signed = not self.most.endswith("UL") and self.most != _MOST[False, True]
        return binary("&&", binary(">=", ident(self.counter), 0), room) if is_signed else room

    @property
    def spaced(self) -> CanonicalLoop:
        """The loop as if every iteration kept something: the counter's values are those of a loop's index, from its first one on.

        Elements that are apart so are apart for other values that differ.  What is touched of the arrays by the loop itself
        is touched here, too.
        """
        way = (ident(self.loop.index), self.loop.start)
        done = simplify(sub(*(way if self.loop.upward else way[::-1])))
        number = literal_value(done)
        place = add(ident(self.counter), done if number is None else number)
        changes = {id(one.write): _at(one.write, self.counter, place) for one in self.placed}
        return self._with({**changes, id(self.step): block()})

    @property
    def without_writes(self) -> CanonicalLoop:
        """The loop without the writes, whose values it computes."""
        return self._with({id(one.write): one.write.rvalue for one in self.placed})

    def filled(self, place: Node) -> list[Node]:
        """Statements that touch what the writes touch where the counter is `place`."""
        zero = c_ast.Constant("int", "0")
        return [
            replaced(one.item, {id(one.write): copy_with(_at(one.write, self.counter, place), rvalue=zero)})
            for one in self.placed
        ]

    def _with(self, changes: dict[int, Node]) -> CanonicalLoop:
        body = replaced(self.loop.body, changes)
        return replace(self.loop, node=copy_with(self.loop.node, stmt=body), body=body)


def compaction_of(loop: CanonicalLoop, context: Context) -> Compaction | None:
    """The writes of a loop with a step of 1 or -1 that one counter places; None where there are none, or others use their arrays.

    `y[count++] = x[i]` is two statements in the loop that is given back, and `if (x[i] > 0 && count < most)` is two conditions.
    """
    if abs(loop.stride) != 1:
        return None
    body = with_steps_apart(loop.body, context)
    known = _changing(body, loop.index)
    for counter, step in assignments(body):
        kind = _kind(counter, context)
        if (
            kind is None
            or not _adds_one(step, counter)
            or sum(1 for name, _ in assignments(body) if name == counter) > 1
        ):
            continue
        own = past_limit(body, counter, step, known, context)
        items = list(
            takewhile(lambda item, step=step: item is not step, _beside(statements(own), step) or [])
        )
        last = items[-1] if items else None
        limit = (
            limit_of(last.cond, counter, known, context)
            if isinstance(last, c_ast.If) and last.iffalse is None
            else None
        )
        if limit is not None:
            assert isinstance(last, c_ast.If)
            items = statements(last.iftrue)
        placed, stops = _placed(own, items, counter, known), own is not body
        known_uses = (
            sum(uses(counter, one.write.lvalue) for one in placed) + uses(counter, step) + (limit is not None)
        )
        # Above the limit the values are not those that C has.
        values = 0 if stops else _values(own, counter)
        if not placed or uses(counter, own) != known_uses + values:
            continue
        found = replace(loop, node=copy_with(loop.node, stmt=own), body=own)
        # C has no sums beyond signed types, and no elements with addresses beyond those of the widest type.
        is_known = not stops and (not kind.unsigned or kind.rank >= Rank.LONG)
        most = None if is_known else _MOST[kind.rank > Rank.INT, kind.unsigned]
        return Compaction(found, counter, step, placed, limit, stops, most)
    return None


def _kind(counter: str, context: Context) -> CType | None:
    """The type of a counter; None for types that expressions widen, whose values step back, and others that are not whole."""
    declared = context.declarations.get(counter)
    kind = None if declared is None or not declared.is_scalar else ctype(declared.type)
    return None if kind is None or kind.is_narrow or kind.is_floating else kind


def _values(body: Node, counter: str) -> int:
    """The uses of a counter in values of elements, on which no condition and no subscript depends."""
    assigned = (
        part
        for part in walk(body)
        if isinstance(part, c_ast.Assignment) and element_of(part.lvalue) is not None
    )
    return sum(_plainuses(part.rvalue, counter) for part in assigned)


def _plainuses(value: Node, counter: str) -> int:
    match value:
        case c_ast.ID(name=name):
            return int(name == counter)
        case c_ast.BinaryOp(op=op, left=left, right=right) if op not in {"&&", "||"}:
            return _plainuses(left, counter) + _plainuses(right, counter)
        case c_ast.Cast(expr=inner):
            return _plainuses(inner, counter)
        case _:
            return 0


def _changing(body: Node, index: str) -> frozenset[str]:
    return frozenset((*assigned_names(body), *declared_names(body), index))


def spaced_writes(statement: Node, context: Context) -> Node:
    """A statement in which each loop that runs once touches at least what it does, and its counter keeps its first value.

    The same object where there is no such loop.
    """
    items = statements(statement)
    new: list[Node] = []
    for number, item in enumerate(items):
        loop = CanonicalLoop.match(item)
        found = None if loop is None else compaction_of(loop, context)
        is_last = found is not None and not any(
            _goes_on(found.counter, later) for later in items[number + 1 :]
        )
        new.append(found.spaced.node if found is not None and is_last else item)
    if all(a is b for a, b in zip(new, items, strict=True)):
        return statement
    return block(*new) if isinstance(statement, Compound) else new[0]


def _goes_on(counter: str, item: Node) -> bool:
    """Whether a statement does more with a counter than to assign it to something else."""
    value = item.rvalue if isinstance(item, c_ast.Assignment) else None
    is_copied = isinstance(value, c_ast.ID) and value.name == counter and uses(counter, item) == 1
    return uses(counter, item) > 0 and not is_copied


def _placed(body: Node, items: Sequence[Node], counter: str, known: Set[str]) -> tuple[_Placed, ...]:
    """The writes among the statements before the counter's step; none where one of their arrays has other uses."""
    changing = known - {counter}
    found: list[_Placed] = []
    for item in reversed(items):
        if any(isinstance(part, JUMPS) for part in walk(item)):
            break
        write = _write_in(item, counter, changing)
        if write is not None:
            found.insert(0, _Placed(item, write))
    names = [part.name for part in walk(body) if isinstance(part, c_ast.ID)]
    arrays = [_array(one.write) for one in found]
    return tuple(found) if all(names.count(name) == arrays.count(name) for name in arrays) else ()


def _write_in(item: Node, counter: str, changing: Set[str]) -> c_ast.Assignment | None:
    """The write that an item is, or that its loops repeat; one whose place is made of the counter and what no iteration changes."""
    own: set[str] = set()
    while isinstance(item, For):
        loop, inner = CanonicalLoop.match(item), statements(item.stmt)
        if (
            loop is None
            or len(inner) != 1
            or (used_names([loop.start, loop.bound]) & (changing | {counter})) - own
        ):
            return None
        own.add(loop.index)
        (item,) = inner
    if not isinstance(item, c_ast.Assignment) or item.op != "=":
        return None
    element = element_of(item.lvalue)
    array, subscripts = reference_parts(element) if element is not None else (item, [])
    if not isinstance(array, c_ast.ID) or array.name in changing | {counter}:
        return None
    names = used_names(subscripts)
    is_plain = all(isinstance(part, PLAIN) for subscript in subscripts for part in walk(subscript))
    return item if is_plain and counter in names and not (names & changing) - own else None


def _beside(items: Sequence[Node], step: Node) -> list[Node] | None:
    """The statements among which a step stands, outside of loops inside."""
    if any(item is step for item in items):
        return list(items)
    for item in items:
        match item:
            case Compound():
                inner = [statements(item)]
            case c_ast.If():
                inner = [statements(part) for part in (item.iftrue, item.iffalse) if part is not None]
            case _:
                continue
        for part in inner:
            if (found := _beside(part, step)) is not None:
                return found
    return None


def _array(write: c_ast.Assignment) -> str:
    element = element_of(write.lvalue)
    assert element is not None
    base, _ = reference_parts(element)
    assert isinstance(base, c_ast.ID)
    return base.name


def _at(write: c_ast.Assignment, counter: str, place: Node) -> c_ast.Assignment:
    """The write where the counter is `place`."""
    return copy_with(write, lvalue=substitute(write.lvalue, counter, place))


def _adds_one(step: Node, counter: str) -> bool:
    match step:
        case c_ast.UnaryOp(op="p++" | "++"):
            return True
        case c_ast.Assignment(op="+=", rvalue=value):
            return literal_value(value) == 1
        case c_ast.Assignment(op="=", rvalue=c_ast.BinaryOp(op="+", left=left, right=right)):
            return any(
                isinstance(one, c_ast.ID) and one.name == counter and literal_value(other) == 1
                for one, other in ((left, right), (right, left))
            )
        case _:
            return False
