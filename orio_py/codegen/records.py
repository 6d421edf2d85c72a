"""Structures in a test program: what they hold, and how each member is filled and compared.

struct point { double x; int v[3]; } *p;     parts  x: a double;  v: 3 of int
struct list { struct point at[2]; } *q;      parts  at.x: a double in each of 2 structures;  at.v: 2 times 3 of int
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from orio_py.codegen import ctypes
from orio_py.ctree.structures import Members, Structures, is_pointer
from orio_py.ctree.symbols import CDeclaration

BITS = "ORIO_BITS"
"""The test program's constant for numbers that have no address."""

_BYTES = "unsigned char"


@dataclass(frozen=True, slots=True)
class RecordPart:
    """Equal numbers in each element of a variable: the element itself, named '', or a member of a structure.

    `type` is the C type of the numbers, `kind` the test program's constant for them; `offset` (in bytes from the
    element) and `size` (of a number in bytes) are C expressions.  `levels` are how many numbers stand so many bytes
    apart in the arrays around, outermost first; `bits` is the C text of number `orio_k` of the element `orio_x`.
    """

    name: str
    type: str
    kind: str
    offset: str
    size: str
    levels: tuple[tuple[str, str], ...] = ()
    bits: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """The type of a variable's elements: numbers of C's own, or a structure.

    `chosen` are the members of unions that hold the numbers, as paths from the structure; a union without one
    is compared by its bytes, and filled by its first member, as C does it (C99 6.7.8).
    """

    name: str
    structures: Structures
    chosen: frozenset[Members] = frozenset()

    @property
    def is_structure(self) -> bool:
        """Whether elements have members."""
        return self.name in self.structures

    def parts(self, linked: Collection[str] = ()) -> tuple[RecordPart, ...]:
        """The parts of an element; of pointers, only those with paths in `linked` are looked at, as numbers."""
        if not self.is_structure:
            size = f"sizeof({self.name})"
            return (RecordPart("", self.name, ctypes.kind(self.name), "0", size),)
        return tuple(self._parts(self.name, (), linked))

    def _parts(self, kind: str, outer: Members, linked: Collection[str]) -> Iterator[RecordPart]:
        members = self.structures[kind]
        if members[0].overlaid:
            found = next((member for member in members if (*outer, member) in self.chosen), None)
            yield self._rest(outer, found)
            members = () if found is None else (found,)
        for member in members:
            path = (*outer, member)
            if member.type in self.structures and not is_pointer(member):
                yield from self._parts(member.type, path, linked)
            elif (member.name or not member.width) and (not is_pointer(member) or shown(path) in linked):
                yield self._part(path)

    def _part(self, path: Members) -> RecordPart:
        member = path[-1]
        kind = "void *" if is_pointer(member) else _number(member)
        size = f"sizeof({kind})"
        if member.width:
            place = _flat("orio_x", path, _counters(self._null, path, "orio_k"))
            return RecordPart(shown(path), kind, BITS, "0", size, levels_of(self.name, path, "0"), place)
        return RecordPart(
            shown(path),
            kind,
            ctypes.kind(kind),
            place_of(self.name, path),
            size,
            levels_of(self.name, path, size),
        )

    def _rest(self, path: Members, chosen: CDeclaration | None) -> RecordPart:
        """The bytes of a union behind its chosen member; all of them if there is none."""
        whole, kind = self._size(path), ctypes.kind(_BYTES)
        start = place_of(self.name, self._named(path)) if path else "0"
        levels = levels_of(self.name, path, whole)
        if chosen is None:
            return RecordPart(shown(path), _BYTES, kind, start, whole, levels)
        held = self._size((*path, chosen), is_whole=True)
        levels = (*levels, (f"({whole} > {held})", "0"))
        return RecordPart(shown(path), _BYTES, kind, f"{start} + {held}", f"({whole} - {held})", levels)

    def _size(self, path: Members, *, is_whole: bool = False) -> str:
        """The bytes of a member, of an array's first element unless the array `is_whole`."""
        if not path:
            return f"sizeof({self.name})"
        last = path[-1]
        if not last.name:
            return f"sizeof({last.type.partition(' ')[0]} {self._body(last.type)})"
        return f"sizeof({_join(self._null, path)}{'' if is_whole else _zeros([last])})"

    def _named(self, path: Members) -> Members:
        """A path to where a structure begins, by its first member if it has no name itself."""
        while not path[-1].name:
            path = (*path, self.structures[path[-1].type][0])
        return path

    @property
    def _null(self) -> str:
        return _element(self.name)

    def assignments(self, element: str, values: Mapping[str, str | None]) -> tuple[str, ...]:
        """Statements that give numbers of an element the values of C expressions, or random ones.

        `values` are those of members by path, and under '' that of the others, or of the element itself.  What it does
        not name is left alone.
        """
        if not self.is_structure:
            return (f"{element} = {_value(self.name, values[''])};",)
        return tuple(
            _assignment(element, path, value)
            for path in self._numbers(self.name, ())
            for value in _given(shown(path), values)
        )

    def _numbers(self, kind: str, outer: Members) -> Iterator[Members]:
        members = self.structures[kind]
        if members[0].overlaid:
            found = next((member for member in members if (*outer, member) in self.chosen), members[0])
            members = (found,)
        for member in members:
            if is_pointer(member) or not (member.name or member.type in self.structures):
                continue
            path = (*outer, member)
            if member.type in self.structures:
                yield from self._numbers(member.type, path)
            else:
                yield path

    def definition(self, name: str | None = None) -> str:
        """The definition of the structure with numbers of C's own types, under its own name or another one.

        >>> Record("point", {"point": (CDeclaration("x", "double", ("3",)),)}).definition()
        'typedef struct { double x[3]; } point;'
        """
        body = self._body(self.name)
        word = "union" if self.structures[self.name][0].overlaid else "struct"
        name = name or self.name
        return f"{word} {name.partition(' ')[2]} {body};" if " " in name else f"typedef {word} {body} {name};"

    def _body(self, kind: str) -> str:
        return f"{{ {' '.join(self._member(member) for member in self.structures[kind])} }}"

    def _member(self, member: CDeclaration) -> str:
        extents = "".join(f"[{extent}]" for extent in member.dimensions)
        volatile = "volatile " if "volatile" in member.qualifiers else ""
        if is_pointer(member):
            return f"{volatile}{self._pointer(member)};"
        kind = _number(member)
        if member.type in self.structures and "." in member.type:
            kind = f"{member.type.partition(' ')[0]} {self._body(member.type)}"
        return f"{volatile}{kind} {member.name}{extents}{f' : {member.width}' if member.width else ''};"

    def _pointer(self, member: CDeclaration) -> str:
        """The declaration of a pointer to what is known here, or of one of as many bytes."""
        if member.points_to_array:
            return f"void *{member.name}"
        is_known = ctypes.is_arithmetic(member.type) or member.type.startswith(("struct ", "union "))
        kind = f"{member.type} {'*' * member.pointers}" if is_known and "." not in member.type else "void *"
        return f"{kind}{member.name}{''.join(f'[{extent}]' for extent in member.dimensions)}"

    def needed(self) -> Iterator[str]:
        """The structures with names of their own that the definition takes for granted, in the order of their definitions."""
        for member in self.structures[self.name]:
            if is_pointer(member) or member.type not in self.structures:
                continue
            yield from Record(member.type, self.structures).needed()
            if "." not in member.type:
                yield member.type

    def same_layout(self, number: int) -> tuple[str, ...]:
        """C text that compiles only where the structure lies in memory as its members alone tell.

        Packing, alignment and conditions of the preprocessor can make it another one.
        """
        copy = f"struct orio_structure_{number}"
        if self.structures[self.name][0].overlaid:
            copy = f"union orio_structure_{number}"
        claims = [
            f"sizeof({copy}) == sizeof({self.name})",
            f"sizeof(struct {{ char c; {copy} x; }}) == sizeof(struct {{ char c; {self.name} x; }})",
        ]
        places = [path for path in self._places(self.name, ()) if not path[-1].width]
        claims += [f"offsetof({copy}, {_first(p)}) == offsetof({self.name}, {_first(p)})" for p in places]
        claims += [f"sizeof({_join(f'(*({copy} *)0)', p)}) == sizeof({_join(self._null, p)})" for p in places]
        holds = " && ".join(claims)
        name = f"orio_structure_{number}_differs_from_its_declaration"
        return self.definition(copy), f"typedef char {name}[{holds} ? 1 : -1];"

    def _places(self, kind: str, outer: Members) -> Iterator[Members]:
        """Everything with a name in the structure, inner structures too."""
        for member in self.structures[kind]:
            path = (*outer, member)
            if member.name:
                yield path
            if member.type in self.structures and not is_pointer(member):
                yield from self._places(member.type, path)


RANDOM: None = None
"""The value of random numbers."""


def shown(path: Sequence[CDeclaration]) -> str:
    """A path as C writes it, without subscripts."""
    return ".".join(member.name for member in path if member.name)


def place_of(kind: str, path: Members) -> str:
    """How many bytes behind the beginning of a structure a member is, or the first of several, as a C expression."""
    return f"offsetof({kind}, {_first(path)})"


def levels_of(kind: str, path: Members, size: str) -> tuple[tuple[str, str], ...]:
    """How many members each array on a path holds, and how many bytes from one to the next; numbers have a `size`."""
    found: list[tuple[str, str]] = []
    for end, member in enumerate(path, 1):
        if _is_array(member):
            whole = _join(_element(kind), path[:end])
            step = size if end == len(path) else f"sizeof({whole}{_zeros([member])})"
            found.append((f"(sizeof({whole}) / sizeof({whole}{_zeros([member])}))", step))
    return tuple(found)


def _element(kind: str) -> str:
    """A structure whose members are looked at for their sizes alone."""
    return f"(*({kind} *)0)"


def _given(path: str, values: Mapping[str, str | None]) -> Iterator[str | None]:
    """The value of a member: its own, that of a structure around it, or that of all; none if there is none."""
    while path not in values:
        if not path:
            return
        path = path.rpartition(".")[0]
    yield values[path]


def _number(member: CDeclaration) -> str:
    return member.type


def _is_array(member: CDeclaration) -> bool:
    return bool(member.dimensions) and not member.points_to_array


def _zeros(path: Sequence[CDeclaration]) -> str:
    return "".join("[0]" for member in path for _ in member.dimensions if _is_array(member))


def _join(start: str, path: Sequence[CDeclaration]) -> str:
    """The last member of a path, which starts from the first elements of the arrays on the way."""
    text = start
    for place, member in enumerate(path):
        text += f".{member.name}" if member.name else ""
        text += _zeros([member]) if place < len(path) - 1 else ""
    return text


def _first(path: Sequence[CDeclaration]) -> str:
    return _join("", path).removeprefix(".")


def _counters(start: str, path: Members, number: str) -> list[str]:
    """The number in each array on a path of one that is counted over all of them."""
    arrays = [end for end, member in enumerate(path, 1) if _is_array(member)]
    found: list[str] = []
    for place in range(len(arrays)):
        inner = [
            f"(sizeof({_join(start, path[:e])}) / sizeof({_join(start, path[:e])}{_zeros(path[e - 1 : e])}))"
            for e in arrays[place:]
        ]
        of_inner = " / ".join([number, *inner[1:]])
        found.append(of_inner if not place else f"{of_inner} % {inner[0]}")
    return found


def _flat(start: str, path: Members, counters: Sequence[str]) -> str:
    """A number of a structure; arrays count in one number each, whatever their extents."""
    text, waiting = start, list(counters)
    for member in path:
        text += f".{member.name}" if member.name else ""
        if _is_array(member):
            text = f"(&{text}{_zeros([member])})[{waiting.pop(0)}]"
    return text


def _assignment(element: str, path: Members, value: str | None) -> str:
    arrays = [end for end, member in enumerate(path, 1) if _is_array(member)]
    counters = [f"orio_k{place}" for place in range(len(arrays))]
    text = f"{_flat(element, path, counters)} = {_value(_number(path[-1]), value)};"
    for counter, end in reversed(list(zip(counters, arrays, strict=True))):
        whole = _join(element, path[:end])
        count = f"sizeof({whole}) / sizeof({whole}{_zeros(path[end - 1 : end])})"
        text = f"{{ size_t {counter}; for ({counter} = 0; {counter} < {count}; {counter}++) {text} }}"
    return text


def _value(type_name: str, value: str | None) -> str:
    return ctypes.random_element(type_name) if value is None else f"({value})"


def distinct(records: Sequence[Record]) -> tuple[Record, ...]:
    """The structures among types with those that their definitions need, each once, in the order of definitions."""
    found: dict[str, Record] = {}
    for record in records:
        if record.is_structure:
            for name in (*record.needed(), record.name):
                found.setdefault(name, Record(name, record.structures))
    return tuple(found.values())
