"""Whether code is certain to use an element, and the tests on which that depends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orio_py.ctree.nodes import Comment, Compound, Node
from orio_py.transformation.base import Context
from orio_py.transformation.certain_conditions import is_always_true, never_holds
from orio_py.transformation.storage.array_uses.items import (
    CONDITIONAL,
    REPEATED,
    Loop,
    Ref,
    Statement,
    StatementList,
    Use,
)
from orio_py.transformation.storage.array_uses.live_ranges import Chain, LiveRange
from orio_py.transformation.storage.array_uses.loop_headers import continues, is_trusted, test_at_start
from orio_py.transformation.storage.array_uses.uses import Uses

Group = list[tuple[int, Use]]
"""The uses of one element in a block, with the numbers of their items."""

Certainty = Node | Literal[True] | None
"""Whether something runs: certainly, if a test (in terms of values before it) holds, or for all we know not."""

_Loops = tuple[Loop, Loop | None]
"""A loop, and the loop over its remainder if it was unrolled."""


class Groups:
    """The uses in each block by element, without elements whose place changes in each item that uses them."""

    def __init__(self, uses: Uses) -> None:
        self._uses = uses
        self._groups: dict[StatementList, dict[Ref, Group]] = {}

    def of(self, block: StatementList) -> dict[Ref, Group]:
        """The uses in a block."""
        groups = self._groups.get(block)
        if groups is None:
            groups = self._groups[block] = {}
            steady: set[Ref] = set()
            for item in block.items:
                written = self._uses.writes[item.writes]
                refs = self._uses.refs_in(item)
                steady |= {ref for ref in refs if ref.names.isdisjoint(written)} if written else refs
            for number, item in enumerate(block.items if steady else ()):
                for use in self._uses.uses[item.uses]:
                    if use.ref in steady:
                        groups.setdefault(use.ref, []).append((number, use))
        return groups


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The question: whether a use of `ref` (a write if `written`) is certain in the statements `span`."""

    ref: Ref
    span: LiveRange
    written: bool

    def is_met(self, block: StatementList, number: int, use: Use) -> bool:
        """Whether a use in an item of a block is one that is wanted, and not under a condition there."""
        outside = block is self.span.block and not self.span.first <= number <= self.span.last
        if outside or (self.written and not use.writes):
            return False
        inside = use.frames[len(self.span.block.frames) :]
        return CONDITIONAL not in inside and REPEATED not in inside


class Guards:
    """The tests under which elements are certain to be used.

    `inside` is the context with the declarations of the tree itself.
    """

    def __init__(self, groups: Groups, context: Context, inside: Context) -> None:
        self._groups, self._context, self._inside = groups, context, inside
        self._guards: dict[tuple[object, ...], Certainty] = {}

    def certainty(self, ref: Ref, span: LiveRange, *, written: bool) -> Certainty:
        """Whether a use of an element, a write if `written`, is certain in some statements."""
        return self._in_block(_Wanted(ref, span, written), span.block, ())

    def _in_block(self, wanted: _Wanted, block: StatementList, chain: Chain) -> Certainty:
        numbers: dict[int, None] = {}
        for number, use in self._groups.of(block).get(wanted.ref, ()):
            if wanted.is_met(block, number, use):
                if len(use.frames) == len(block.frames):
                    return True
                numbers[number] = None
        best: Certainty = None
        for number in numbers:
            found = self._in_item(wanted, block, number, chain)
            if found is True:
                return True
            best = found if best is None else best
        return best

    def _in_item(self, wanted: _Wanted, block: StatementList, number: int, chain: Chain) -> Certainty:
        item = block.items[number]
        if item.loop is None:
            is_block = isinstance(item.node, Compound)
            return self._in_block(wanted, item.blocks[0], chain) if is_block else None
        if not self._in_body(wanted, item, chain):
            return None
        rest = block.loop_behind(number)
        if rest is not None and number < wanted.span.last:
            whole = self._guard(block, number, (item.loop, rest.loop), wanted.span, chain)
            if whole is not None and self._in_body(wanted, rest, chain):
                return whole
        return self._guard(block, number, (item.loop, None), wanted.span, chain)

    def _in_body(self, wanted: _Wanted, item: Statement, chain: Chain) -> bool:
        """Whether each iteration of a loop is certain to use the element."""
        assert item.loop is not None
        return self._in_block(wanted, item.blocks[0], (*chain, item.loop)) is True

    def _guard(
        self, block: StatementList, number: int, loops: _Loops, span: LiveRange, chain: Chain
    ) -> Certainty:
        """Whether a loop, or one of an unrolled loop and its remainder, runs."""
        key = span, *loops
        if key not in self._guards:
            found = self._first_test(loops, span, chain)
            usable = not isinstance(found, Node) or (
                _is_whole(block, number, loops, span) and self._is_pure(found)
            )
            self._guards[key] = found if usable else None
        return self._guards[key]

    def _first_test(self, loops: _Loops, span: LiveRange, chain: Chain) -> Certainty:
        """The test that decides whether loops run, as C text before them; True where it must hold."""
        main, rest = loops
        first = test_at_start(main, main.node.cond, self._context)
        if rest is None:
            test = first
        elif main.start is not None and continues(main, rest):
            test = test_at_start(main, rest.node.cond, self._context)
        else:
            test = None
        if first is None or test is None or never_holds(test, self._inside):
            return None
        if is_always_true(test, self._inside):
            return True if rest is None else None
        place = span.inside(chain)
        trusted = is_trusted((test,), main.declared, self._context)
        if trusted and span.elements.holds(test, place):
            return True
        if rest is None:
            return test
        # Where the loop over the remainder would not run at once, the unrolled loop must not run either.
        trusted = trusted and is_trusted((first,), main.declared, self._context)
        return test if trusted and span.elements.holds(test, place, first) else None

    def _is_pure(self, condition: Node) -> bool:
        found = self._context.effects(condition)
        return not (found.writes or found.opaque or found.calls or found.address_taken)


def _is_whole(block: StatementList, number: int, loops: _Loops, span: LiveRange) -> bool:
    """Whether a range holds nothing but loops, so that it may be left out when they do not run."""
    if block is not span.block or number != span.first:
        return False
    items = (item for item in block.items[span.first : span.last + 1] if not isinstance(item.node, Comment))
    return [item.loop for item in items] == [loop for loop in loops if loop is not None]
