"""Decides which elements become scalars, and from where to where.

For each block of statements, outermost first, the uses of one element form a group.  Between the first and
the last statement that uses it the element may live in a scalar if its place stays the same there, nothing
else touches it, and it is certain that the original code loads (and, if it is to be stored, writes) it
there: a load or store that the original would not make could leave the array or disturb another thread.
Where that depends on whether loops run at all, their first tests become the condition of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orio_py.ctree.dependence.reuse import POINTER, MemoryObject
from orio_py.ctree.nodes import Node, array_of, c_ast
from orio_py.transformation.base import Context
from orio_py.transformation.context import with_inner_declarations
from orio_py.transformation.storage.array_uses.items import REPEATED, Loop, Ref, StatementList, Use
from orio_py.transformation.storage.array_uses.live_ranges import LiveRange, Spans
from orio_py.transformation.storage.array_uses.loop_headers import continues
from orio_py.transformation.storage.array_uses.uses import Uses
from orio_py.transformation.storage.scalar_replace_guards import Group, Groups, Guards

MAXIMUM_USES = 200_000
"""How many uses may be looked at in narrow ranges of large blocks."""


@dataclass(slots=True, eq=False)
class Scalar:
    """An element in a scalar from the item `first` to the item `last` of a block.

    `guard` is the test that decides whether the loops of the range run at all, where that is not certain.
    """

    ref: Ref
    first: int
    last: int
    loads: bool
    stores: bool
    type: str
    guard: Node | None
    name: str = ""


class Planner:
    """Plans the scalars of a tree; `plans` holds them by block."""

    def __init__(self, root: Node, uses: Uses, context: Context, dtype: str | None, *, force: bool) -> None:
        self.plans: dict[StatementList, list[Scalar]] = {}
        self._uses, self._context = uses, context
        self._groups = Groups(uses)
        # Transformations inside have declared bounds of their own.
        self._guards = Guards(self._groups, context, with_inner_declarations(root, context))
        self._dtype, self._force = dtype, force
        self._spans = Spans(uses)
        self._nested = uses.nested
        self._wholes: dict[tuple[StatementList, Ref], Scalar | None] = {}
        self._effort = 0
        self._overlapping: list[MemoryObject] = []
        self._block(uses.root, frozenset())

    def _block(self, block: StatementList, taken: frozenset[Ref]) -> None:
        scalars: list[Scalar] = []
        # The outer of nested references first: what stands inside a replaced one is not read any more.
        groups = sorted(self._groups.of(block).items(), key=lambda entry: -entry[0].level)
        for ref, group in groups:
            if ref in taken or not self._is_candidate(ref, group[0][1]):
                continue
            if self._nested and any(use.within for _, use in group):
                group = [entry for entry in group if not _is_gone(entry, taken, scalars)]
            if group:
                scalars.extend(self._scalars(block, ref, group))
        scalars = self.plans[block] = _compatible(scalars)
        for number, item in enumerate(block.items):
            if item.blocks:
                inside = taken.union(s.ref for s in scalars if s.first <= number <= s.last)
                for inner in item.blocks:
                    self._block(inner, inside)

    # One element

    def _is_candidate(self, ref: Ref, use: Use) -> bool:
        """Whether an element could be a scalar anywhere: one number in an array of such."""
        node = array_of(ref.node)
        if not isinstance(node, c_ast.ID) or not ref.subscripts or not ref.steady:
            return False
        if not ref.names.isdisjoint(self._uses.volatile):
            return False
        if use.declaration is None:
            return True
        if use.storage.is_named and use.declaration is not self._context.declarations.get(ref.name):
            return False  # An array of the tree's own: compilers keep such elements in registers.
        element = use.storage.element
        words = (element or "?").replace(" ", "")
        compound = (element or "").startswith(("struct", "union", "void"))
        return element != POINTER and words.isidentifier() and not compound

    def _scalars(self, block: StatementList, ref: Ref, group: Group) -> list[Scalar]:
        """The element in one scalar for the whole block, or else in one for each statement."""
        numbers = list(dict.fromkeys(number for number, _ in group))
        whole = self._whole(block, ref, group, numbers)
        if whole is not None:
            return [] if self._is_better_inside(block, ref, whole) else [whole]
        found: list[Scalar] = []
        for part in _parts(block, numbers):
            uses = [(number, use) for number, use in group if number in part]
            # A single part would be the whole again.
            if part != numbers and (one := self._scalar(block, ref, uses, part)) is not None:
                found.extend([] if self._is_better_inside(block, ref, one) else [one])
        return found

    def _is_better_inside(self, block: StatementList, ref: Ref, scalar: Scalar) -> bool:
        """Whether a scalar inside the only loop of the range needs no condition and still spans a loop."""
        item = block.items[scalar.first]
        if scalar.guard is None or scalar.first != scalar.last or item.loop is None:
            return False
        body = item.blocks[0]
        group = self._groups.of(body).get(ref, [])
        depth = len(body.frames)
        if len(group) < len([n for n, _ in self._groups.of(block)[ref] if n == scalar.first]):
            return False
        if any(not any(isinstance(f, Loop) for f in use.frames[depth:]) for _, use in group):
            return False
        inner = self._whole(body, ref, group, list(dict.fromkeys(number for number, _ in group)))
        return inner is not None and inner.guard is None

    def _whole(self, block: StatementList, ref: Ref, group: Group, numbers: Sequence[int]) -> Scalar | None:
        """The scalar for all uses in a block; asked once by the block around it, and once by its own."""
        key = block, ref
        if group is not self._groups.of(block).get(ref):
            return self._scalar(block, ref, group, numbers)
        if key not in self._wholes:
            self._wholes[key] = self._scalar(block, ref, group, numbers)
        return self._wholes[key]

    def _scalar(self, block: StatementList, ref: Ref, group: Group, numbers: Sequence[int]) -> Scalar | None:
        first, last = numbers[0], numbers[-1]
        depth = len(block.frames)
        written = any(use.writes for _, use in group)
        begin = group[0][1]
        loads = begin.reads or len(begin.frames) > depth
        if not _gains(group, depth, loads + written) or not self._is_free(block, ref, group, written=written):
            return None
        certain = self._guards.certainty(ref, self._spans.span(block, first, last), written=written)
        if certain is None:
            return None
        guard = None if certain is True else certain
        for other in self._overlapping:
            text = f"ScalarReplace: `{ref.name}` and `{other.name}` are taken not to overlap"
            self._context.overruled.add(text)
        return Scalar(ref, first, last, loads, written, self._type(ref, begin), guard)

    def _type(self, ref: Ref, use: Use) -> str:
        if use.declaration is not None:
            return use.declaration.type
        # No type is certain but the element's own: GCC, "Referring to a Type with typeof"; C23 has it as `typeof`.
        return self._dtype or f"__typeof__({ref.name}{'[0]' * len(ref.subscripts)})"

    # Whether nothing else touches it

    def _is_free(self, block: StatementList, ref: Ref, group: Group, *, written: bool) -> bool:
        """Whether the place of an element stays the same and only its own uses touch it."""
        whole = self._spans.span(block, 0, len(block.items) - 1)
        first, last = group[0][0], group[-1][0]
        if self._is_free_in(whole, ref, group, written=written):
            return True
        if (first, last) == (0, len(block.items) - 1) or self._effort > MAXIMUM_USES:
            return False
        narrow = self._spans.span(block, first, last)
        self._effort += len(narrow.uses)
        return self._is_free_in(narrow, ref, group, written=written)

    def _is_free_in(self, span: LiveRange, ref: Ref, group: Group, *, written: bool) -> bool:
        if span.is_barred or not ref.names.isdisjoint(span.writes):
            return False
        use = group[0][1]
        if any(span.reaches(name) for name in ref.names & self._uses.exposed):
            return False
        if any(span.changes(inner) for inner in ref.inner):
            return False
        if span.clashes(use, written=written):
            return False
        self._overlapping = list(span.others(use.storage, written=written))
        return not self._overlapping or self._force


def _parts(block: StatementList, numbers: Sequence[int]) -> list[list[int]]:
    """Items by themselves, but an unrolled loop together with the loop over its remainder."""
    parts: list[list[int]] = []
    for number in numbers:
        main = block.items[parts[-1][-1]].loop if parts else None
        rest = block.items[number]
        goes_on = main is not None and rest.loop is not None and continues(main, rest.loop)
        if goes_on and block.loop_behind(parts[-1][-1]) is rest:
            parts[-1].append(number)
        else:
            parts.append([number])
    return parts


def _is_gone(entry: tuple[int, Use], taken: frozenset[Ref], scalars: Sequence[Scalar]) -> bool:
    """Whether a use stands in the subscripts of a reference that is replaced."""
    number, use = entry
    return any(
        ref in taken or any(s.ref is ref and s.first <= number <= s.last for s in scalars)
        for ref in use.within
    )


def _gains(group: Group, depth: int, after: int) -> bool:
    """Whether a scalar saves loads or stores: it spans a loop, or they outnumber those that remain."""
    before = 0
    for _, use in group:
        if any(frame is REPEATED or isinstance(frame, Loop) for frame in use.frames[depth:]):
            return True
        before += use.reads + use.writes
    return before > after


def _compatible(scalars: list[Scalar]) -> list[Scalar]:
    """Without those whose conditions would be cut by the range of another."""
    kept = [s for s in scalars if s.guard is None]
    # One of each range is enough to compare with.
    ranges = {(s.first, s.last, True): s for s in kept}
    for scalar in scalars:
        if scalar.guard is not None and not any(_crosses(scalar, other) for other in ranges.values()):
            kept.append(scalar)
            ranges[scalar.first, scalar.last, False] = scalar
    return sorted(kept, key=lambda s: (s.first, -s.last))


def _crosses(guarded: Scalar, other: Scalar) -> bool:
    """Whether the range of another scalar begins or ends in that of one with a test."""
    apart = other.last < guarded.first or guarded.last < other.first
    within = guarded.first <= other.first and other.last <= guarded.last
    around = other.first <= guarded.first and guarded.last <= other.last
    same = within and around
    return not (apart or same or (other.guard is None and (within or around)))
