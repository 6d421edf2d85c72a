"""What happens to memory between two statements of a block, and whether an element is left alone there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import sub

from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.dependence.names import AccessKey, Names
from orio_py.ctree.dependence.reuse import (
    Elements,
    EnclosingLoops,
    Header,
    MemoryObject,
    Place,
    may_overlap,
    storage_of,
)
from orio_py.ctree.dependence.sets import Solver
from orio_py.ctree.nodes import Comment, GuardedPragma, c_ast
from orio_py.transformation.storage.array_uses.items import Frame, Loop, Ref, StatementList, Use
from orio_py.transformation.storage.array_uses.loop_headers import header, outer_headers
from orio_py.transformation.storage.array_uses.uses import Uses

Chain = tuple[Loop, ...]
"""The loops between a block and a use inside it."""

Subscripts = tuple[Polynomial | None, ...]

_Touched = dict[AccessKey, MemoryObject]


@dataclass(slots=True, eq=False)
class _Entry:
    """The uses of one reference inside the same loops."""

    ref: Ref
    subscripts: Subscripts
    place: Place
    writes: bool
    group: _Shape
    offsets: tuple[int, ...]
    """The constants in its subscripts."""
    split: Subscripts | None = None


@dataclass(slots=True, eq=False)
class _Shape:
    """References whose subscripts differ only by constants, by those constants."""

    writes: bool = False
    entries: dict[tuple[int, ...], list[_Entry]] = field(default_factory=dict[tuple[int, ...], list[_Entry]])


class Spans:
    """The spans of a tree, and the loops around its blocks."""

    def __init__(self, uses: Uses) -> None:
        self.uses, self.solver = uses, Solver()
        self._spans: dict[tuple[StatementList, int, int], LiveRange] = {}
        self._headers: dict[Loop, Header] = {}
        self._places: dict[Loop, Place] = {}
        context = uses.context
        names = Names(context.declarations, Counter(uses.writes), frozenset(), frozenset())
        outer = [header for header in outer_headers(context) if header.index not in names.writes]
        self._around = EnclosingLoops(outer, names, self.solver)

    def span(self, block: StatementList, first: int, last: int) -> LiveRange:
        """The items `first` to `last` of a block."""
        key = block, first, last
        span = self._spans.get(key)
        if span is None:
            span = self._spans[key] = LiveRange(self, block, first, last)
        return span

    def header(self, loop: Loop) -> Header:
        """A loop as the questions about subscripts need it."""
        found = self._headers.get(loop)
        if found is None:
            found = self._headers[loop] = header(loop, self.uses.context)
        return found

    def place(self, loop: Loop | None) -> Place:
        """What is known in the body of a loop."""
        if loop is None:
            return self._around.place
        place = self._places.get(loop)
        if place is None:
            place = self._places[loop] = self._around.inside(self.header(loop), self.place(loop.around))
        return place


class LiveRange:
    """The statements `first` to `last` of a block."""

    def __init__(self, spans: Spans, block: StatementList, first: int, last: int) -> None:
        begin, end = block.items[first], block.items[last]
        uses = spans.uses
        self.block, self.first, self.last = block, first, last
        self._uses, self._spans = uses, spans
        self._slice = slice(begin.uses.start, end.uses.stop)
        self.writes = frozenset(uses.writes[begin.writes.start : end.writes.stop])
        self.reads = frozenset(uses.reads[begin.reads.start : end.reads.stop])
        self.is_barred = self._barred(begin.barriers.start, end.barriers.stop)
        self._elements: Elements | None = None
        self._touched: tuple[_Touched, _Touched] | None = None
        self._places: dict[Chain, Place] = {}
        self._own: dict[Ref, _Entry] = {}
        self._tables: dict[str, dict[object, _Shape]] = {}
        self._apart: dict[tuple[_Shape, _Shape, tuple[int, ...], int], bool] = {}
        self._linear: dict[tuple[_Shape, _Shape], bool] = {}

    def _barred(self, begin: int, end: int) -> bool:
        """Whether something in the statements, or a pragma before them, keeps code from moving."""
        for barrier in self._uses.barriers[begin:end]:
            inside = {"break": self.block.breaks, "continue": self.block.continues}.get(barrier.kind)
            if inside is None or barrier.depth <= inside:
                return True
        for number in range(self.first - 1, -1, -1):
            node = self.block.items[number].node
            if not isinstance(node, Comment):
                return isinstance(node, (c_ast.Pragma, GuardedPragma))
        return self.block is self._uses.root and bool(self._uses.context.pragmas)

    @property
    def uses(self) -> list[Use]:
        """The uses in these statements."""
        return self._uses.uses[self._slice]

    @property
    def written(self) -> _Touched:
        """What is written, by name and number of subscripts."""
        return self._touches()[0]

    @property
    def read(self) -> _Touched:
        """What is read, by name and number of subscripts."""
        return self._touches()[1]

    def _touches(self) -> tuple[_Touched, _Touched]:
        if self._touched is None:
            written: _Touched = {}
            read: _Touched = {}
            for use in self.uses:
                # References with as many subscripts to one variable share their storage.
                spot = use.ref.spot
                if use.writes and spot not in written:
                    written[spot] = use.storage
                if use.reads and spot not in read:
                    read[spot] = use.storage
            self._touched = written, read
        return self._touched

    # Other names

    def others(self, storage: MemoryObject, *, written: bool) -> Iterator[MemoryObject]:
        """What may overlap a reference through another name, and is written if that only is read."""
        noalias = self._uses.context.assumptions.noalias
        for table in (self.written, self.read) if written else (self.written,):
            for other in table.values():
                if other.name != storage.name and may_overlap(storage, other, noalias):
                    yield other
        if storage.is_named:
            return
        scalars = self.writes | self.reads if written else self.writes
        for name in sorted(scalars & self._uses.exposed):
            other = storage_of(name, 0, self._uses.context.declarations.get(name))
            if may_overlap(storage, other, noalias):
                yield other

    def changes(self, ref: Ref) -> bool:
        """Whether something written may be the memory of a reference, whatever its subscripts."""
        storage = next((use.storage for use in self.uses if use.ref is ref), None)
        if storage is None:
            return True
        same = any(key[0] == ref.name for key in self.written)
        return same or any(True for _ in self.others(storage, written=False))

    def reaches(self, name: str) -> bool:
        """Whether a write through a pointer may change a scalar."""
        noalias = self._uses.context.assumptions.noalias
        scalar = storage_of(name, 0, self._uses.context.declarations.get(name))
        others = (other for other in self.written.values() if other.name != name)
        return any(may_overlap(scalar, other, noalias) for other in others)

    # The same name

    def clashes(self, use: Use, *, written: bool) -> bool:
        """Whether another reference to the same array may be the element that `use` means.

        The place of the element must be the same in the whole span.
        """
        name = use.ref.name
        if not written and not any(key[0] == name for key in self.written):
            return False
        noalias = self._uses.context.assumptions.noalias
        promised = noalias if isinstance(noalias, bool) else name in noalias
        rows = use.storage.rows > 0 and not promised
        table = self._table(name)
        mine = self._own[use.ref]
        exact = None not in mine.subscripts and not rows
        for group in table.values():
            if not (written or group.writes):
                continue
            same = exact and group is mine.group
            for entry in group.entries.get(mine.offsets, ()) if same else _all(group):
                if entry.ref is use.ref or not (written or entry.writes):
                    continue
                if same or self._meet(mine, entry, rows=rows):
                    return True
        return False

    def _meet(self, mine: _Entry, entry: _Entry, *, rows: bool) -> bool:
        """Whether two references may be one element; asked once for each distance between two shapes at one place."""
        if len(mine.subscripts) != len(entry.subscripts):
            return True
        if rows and any(
            a is None or b is None or a.key != b.key
            for a, b in zip(mine.subscripts[:-1], entry.subscripts[:-1], strict=True)
        ):
            return True
        domain = entry.place.scope.domain
        if not self._is_linear(mine, entry):
            if not self.elements.may_coincide(mine.subscripts, entry.subscripts, domain):
                return False
            first, second = self._split(mine), self._split(entry)
            return self.elements.may_coincide(first, second, domain)
        key = mine.group, entry.group, tuple(map(sub, mine.offsets, entry.offsets)), id(entry.place)
        apart = self._apart.get(key)
        if apart is None:
            apart = self._apart[key] = self.elements.may_coincide(mine.subscripts, entry.subscripts, domain)
        return apart

    def _is_linear(self, mine: _Entry, entry: _Entry) -> bool:
        """Whether all differences of two references' subscripts are linear; constants do not matter for that."""
        key = mine.group, entry.group
        found = self._linear.get(key)
        if found is None:
            pairs = zip(mine.subscripts, entry.subscripts, strict=True)
            known = ((a, b) for a, b in pairs if a is not None and b is not None)
            found = self._linear[key] = all((a - b).linear() is not None for a, b in known)
        return found

    def _split(self, entry: _Entry) -> Subscripts:
        """Linearised subscripts as rows and columns."""
        if entry.split is None:
            every = [e for group in self._table(entry.ref.name).values() for e in _all(group)]
            found = self.elements.split([(e.subscripts, e.place) for e in every])
            for one, subscripts in zip(every, found, strict=True):
                one.split = subscripts
        assert entry.split is not None
        return entry.split

    def _table(self, name: str) -> dict[object, _Shape]:
        table = self._tables.get(name)
        if table is not None:
            return table
        table = self._tables[name] = {}
        depth = len(self.block.frames)
        chains: dict[tuple[Frame, ...], Chain] = {}
        entries: dict[tuple[Ref, Chain], _Entry] = {}
        for use in self.uses:
            if use.ref.name != name:
                continue
            chain = chains.get(use.frames)
            if chain is None:
                chain = tuple(frame for frame in use.frames[depth:] if isinstance(frame, Loop))
                chains[use.frames] = chain
            entry = entries.get((use.ref, chain))
            if entry is None:
                place = self.inside(chain)
                subscripts = self._subscripts(use.ref, chain)
                shape, offsets = _shape(subscripts)
                group = table.setdefault(shape, _Shape())
                entry = _Entry(use.ref, subscripts, place, use.writes, group, offsets)
                entries[(use.ref, chain)] = entry
                group.entries.setdefault(offsets, []).append(entry)
            entry.writes = entry.writes or use.writes
            entry.group.writes = entry.group.writes or use.writes
        self._own.update((entry.ref, entry) for entry in entries.values())
        return table

    def _subscripts(self, ref: Ref, chain: Chain) -> Subscripts:
        return self.elements.subscripts(ref.subscripts, self.inside(chain))

    # The loops around and inside

    @property
    def elements(self) -> Elements:
        """The questions about subscripts in these statements."""
        if self._elements is None:
            self._elements = self.new_elements("@")
        return self._elements

    def new_elements(self, prefix: str) -> Elements:
        """The same questions with other symbols, for iterations independent of those."""
        names = Counter([*self.writes, *(name for name, _ in self.written)])
        facts = Names(self._uses.context.declarations, names, frozenset(), frozenset())
        return Elements(self._spans.place(self.block.loop), facts, self._spans.solver, prefix)

    def inside(self, chain: Chain) -> Place:
        """The place inside some loops of these statements."""
        if not chain:
            return self.elements.place
        place = self._places.get(chain)
        if place is None:
            outer = self.inside(chain[:-1])
            place = self._places[chain] = self.elements.inside(self._spans.header(chain[-1]), outer)
        return place


def _all(group: _Shape) -> Iterator[_Entry]:
    for entries in group.entries.values():
        yield from entries


def _shape(subscripts: Subscripts) -> tuple[object, tuple[int, ...]]:
    """Subscripts without their constants, and those."""
    offsets = tuple([0 if s is None else s.terms.get((), 0) for s in subscripts])
    forms = tuple([None if s is None else _form(s) for s in subscripts])
    return forms, offsets


def _form(subscript: Polynomial) -> tuple[object, ...]:
    return tuple(sorted(term for term in subscript.terms.items() if term[0]))
