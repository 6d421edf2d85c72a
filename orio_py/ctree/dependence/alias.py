"""Which accesses under different names may touch the same memory.

Declared arrays and scalars are memory of their own, and nothing else may write to those that are `const`.  A pointer or an array parameter may point to what
another one points to, and into objects whose address can be known to it, if C allows an lvalue of its type
to access them (C99 6.5p7) and neither is `restrict`-qualified (C99 6.7.3.1) or promised not to overlap.
A name without a declaration counts as an array of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from typing import Literal

from orio_py.ctree.dependence.names import LOCATION, AccessKey, Reference
from orio_py.ctree.structures import Members, Structures, is_pointer, member_path, memory_location
from orio_py.ctree.symbols import CDeclaration

_Kind = Literal["object", "pointer", "loaded"]
"""Memory of its own; what a declared pointer points to; what a pointer from memory points to."""

_BYTES = frozenset({"char", "int8_t", "uint8_t", "void"})
_FLOATING = frozenset({"float", "double"})
_INTEGERS = frozenset({"short", "int", "long", "long long"})
_SOME_INTEGER = "an integer"
_ANYTHING = "anything"
_POINTER = "a pointer"
_BOOLEANS = frozenset({"_Bool", "bool"})


@dataclass(frozen=True, slots=True)
class _Place:
    """What an access goes to."""

    variable: str
    fields: str
    kind: _Kind
    type: str
    declared: CDeclaration
    restrict: bool
    path: tuple[CDeclaration | None, ...]

    @property
    def name(self) -> str:
        """The variable with its fields."""
        return f"{self.variable}.{self.fields}" if self.fields else self.variable

    @property
    def is_constant(self) -> bool:
        """Whether it lies in an object that is declared `const`, which nothing may write to (C99 6.7.3p5)."""
        qualifiers = self.declared.qualifiers
        is_bound = "const" in qualifiers and "volatile" not in qualifiers
        return self.kind == "object" and is_bound and not self.declared.pointers

    @property
    def may_be_based(self) -> bool:
        """Whether its address may have been computed from a `restrict` pointer's."""
        return self.kind == "loaded" or (self.declared.scope == "local" and not self.restrict)


@dataclass(frozen=True, slots=True)
class Aliases:
    """What is known of the overlaps between the names of a nest.

    `noalias` are the names that share memory with no other, or True for all; `exposed` the scalars whose
    address may be known outside of their function, `structures` the members by the names of types,
    `types` what names of numbers stand for.  `concurrent`
    says that accesses are at the same time, so that bit fields in one memory location are one object.
    """

    declarations: Mapping[str, CDeclaration]
    noalias: bool | frozenset[str] = False
    exposed: frozenset[str] = frozenset()
    structures: Structures = field(default_factory=dict[str, Members])
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    concurrent: bool = False

    def located(self, reference: Reference) -> Reference | None:
        """The reference, as one to the object that it shares memory with: a union, or the bit fields next to each other.

        Such an object has the name of its first member.  None where a pointer in a union is followed.
        """
        declared = self.declarations.get(reference.variable)
        if declared is None:
            return reference
        name, kind, taken = reference.variable, declared.type, len(declared.dimensions) + declared.pointers
        path = _path(kind, reference.name.partition(".")[2], self.structures)
        for place, member in enumerate(path):
            if member is None:
                break
            if member.overlaid:
                first = self.structures[kind][0].name
                is_followed = _leaves(path[place:], len(reference.subscripts) - taken)
                return None if is_followed else Reference(f"{name}.{first}", reference.subscripts[:taken])
            shared = memory_location(self.structures, kind, member) if self.concurrent else None
            if shared is not None:
                return Reference(f"{name}.{shared}{LOCATION}", reference.subscripts)
            name = f"{name}.{member.name}" if member.name else name
            taken += len(member.dimensions) + member.pointers
            kind = member.type
        return reference

    def may_overlap(self, first: AccessKey, second: AccessKey) -> bool:
        """Whether accesses under two different names may touch the same memory."""
        if first[0] == second[0]:
            return False
        one, two = self._place(first), self._place(second)
        if one is None or two is None:
            return False
        if one.variable == two.variable and "loaded" not in (one.kind, two.kind):
            return _parts_of_union(one, two)
        if self._promised(one, two):
            return False
        if one.kind == "object":
            one, two = two, one
        if two.is_constant:
            return False
        if one.kind == "object" or not _compatible(one, two):
            return False
        if two.kind == "object" and not self._reaches(one, two):
            return False
        return not (_excludes(one, two) or _excludes(two, one))

    def may_hold_pointers(self, spot: AccessKey) -> bool:
        """Whether C allows accesses under a name to touch pointers: as bytes, or where nobody knows their type."""
        place = self._place(spot)
        return place is None or place.type in {_ANYTHING, _POINTER}

    def may_be_pointer(self, spot: AccessKey) -> bool:
        """Whether what is accessed under a name is a pointer, or a member of which nothing is known."""
        place = self._place(spot)
        return place is not None and (place.type == _POINTER or place.path[-1:] == (None,))

    def followed(self, reference: Reference) -> Iterator[Reference]:
        """The pointers in memory that an access reads on its way to an element."""
        name, _, fields = reference.name.partition(".")
        declared, depth = self.declarations.get(name), len(reference.subscripts)
        if declared is None:
            return
        taken = len(declared.dimensions) + declared.pointers if fields else depth
        is_held = _is_pointer(declared) and (declared.scope == "global" or name in self.exposed)
        levels = [
            (name, range(1 if is_held and depth else 0)),
            (name, range(max(len(declared.dimensions), 1), taken)),
        ]
        for member in _path(declared.type, fields, self.structures):
            if member is None:
                name = reference.name
                levels.append((name, range(taken, depth)))
                break
            name = f"{name}.{member.name}" if member.name else name
            first = taken + _own_extents(member)
            taken += len(member.dimensions) + member.pointers
            levels.append((name, range(first, min(taken, depth))))
        for pointer, depths in levels:
            for count in depths:
                yield Reference(pointer, reference.subscripts[:count])

    def advice(self, first: AccessKey, second: AccessKey) -> str:
        """How the user can say that two names do not overlap."""
        places = [self._place(spot) for spot in (first, second)]
        pointers = [
            p.variable
            for p in places
            if p is not None and p.kind == "pointer" and not (p.restrict or p.fields)
        ]
        promise = "promise it with `def assumptions { arg noalias = True; }`"
        if not pointers:
            return promise
        which = "one of them" if len(pointers) == 2 else f"`{pointers[0]}`"
        return f"declare {which} `restrict`, or {promise}"

    def pointers_before(self, spot: AccessKey) -> int:
        """The subscripts of accesses under a name, the first ones, that choose the structure whose pointer is followed.

        Two of them say that memory is different only if they are the same: `g[0].u` and `g[1].u` may be one array.
        """
        name, depth = spot
        variable, _, fields = name.removesuffix(LOCATION).partition(".")
        declared = self.declarations.get(variable)
        if declared is None or not fields or self._is_promised(name):
            return 0
        taken, found = len(declared.dimensions) + declared.pointers, 0
        for member in _path(declared.type, fields, self.structures):
            follows = depth > taken + (0 if member is None else _own_extents(member))
            found = taken if follows and _follows((member,)) else found
            taken += 0 if member is None else len(member.dimensions) + member.pointers
        return found

    def _promised(self, one: _Place, two: _Place) -> bool:
        return self._is_promised(one.name) or self._is_promised(two.name)

    def _is_promised(self, name: str) -> bool:
        if isinstance(self.noalias, bool):
            return self.noalias
        return not self.noalias.isdisjoint(accumulate(name.split("."), "{}.{}".format))

    def _reaches(self, pointer: _Place, target: _Place) -> bool:
        """Whether a pointer may point to an object."""
        declared = target.declared
        is_hidden = declared.scope == "local" and "static" not in declared.storage and not declared.copied
        if declared.dimensions and is_hidden:
            return False
        is_array = bool(declared.dimensions) or declared.allocated
        if not is_array and declared.scope != "global" and target.variable not in self.exposed:
            return False
        # A parameter has its value before the function's own variables exist.
        outside = declared.scope == "global" or "static" in declared.storage
        return outside or pointer.kind == "loaded" or pointer.declared.scope != "parameter"

    def _place(self, spot: AccessKey) -> _Place | None:
        name, depth = spot
        variable, _, fields = name.removesuffix(LOCATION).partition(".")
        declared = self.declarations.get(variable)
        if declared is None or (declared.scope == "global" and not declared.text):
            return None  # declared nowhere, or in the specification alone
        return _place(variable, fields, depth, declared, self.structures)


def _place(variable: str, fields: str, depth: int, declared: CDeclaration, structures: Structures) -> _Place:
    extents, stars = len(declared.dimensions), declared.pointers
    through = _is_pointer(declared)
    direct = max(extents, 1) if through else extents
    members = _path(declared.type, fields, structures)
    taken = extents + stars + sum(len(m.dimensions) + m.pointers if m else depth for m in members[:-1])
    is_loaded = min(depth, extents + stars if members else depth) > direct or _follows(members[:-1])
    if members:
        last = members[-1]
        is_loaded = is_loaded or depth > (direct if last is None else taken + _own_extents(last))
    is_pointer = through and depth > 0 and not declared.allocated
    kind: _Kind = "loaded" if is_loaded else "pointer" if is_pointer else "object"
    element = _type_class(declared.type) if depth >= extents + stars else _POINTER
    if members:
        element = _member_type(members[-1], depth - taken)
    if any(member is not None and member.overlaid for member in members):
        element = _ANYTHING
    restrict = "restrict" in declared.qualifiers and kind == "pointer" and stars <= 1
    return _Place(variable, fields, kind, element, declared, restrict, members)


def _path(kind: str, fields: str, structures: Structures) -> tuple[CDeclaration | None, ...]:
    """The members that fields name, outermost first, with those without a name; None for what is not known."""
    found: list[CDeclaration | None] = []
    for name in fields.split(".") if fields else ():
        path = member_path(structures, kind, name)
        found.extend(path or (None,))
        kind = path[-1].type if path else ""
    return tuple(found)


def _leaves(path: Sequence[CDeclaration | None], subscripts: int) -> bool:
    """Whether so many subscripts go on from a path of members to what a pointer among them points to."""
    if _follows(path[:-1]):
        return True
    last = path[-1]
    inside = sum(len(member.dimensions) for member in path[:-1] if member is not None)
    return last is None or (is_pointer(last) and subscripts > inside + _own_extents(last))


def _parts_of_union(one: _Place, two: _Place) -> bool:
    """Whether two paths from one type of structure part at the members of a union."""
    for first, second in zip(one.path, two.path, strict=False):
        if first is None or second is None:
            # What is known of another type by its name alone may be a union.
            return not one.declared.type.startswith("struct")
        if first != second:
            return first.overlaid
    return False


def _last_structure(place: _Place) -> tuple[str, list[CDeclaration]]:
    """The structure behind the last address on the way to a number, and the members that lead to it; '' where none does."""
    kind, found = place.declared.type, list[CDeclaration]()
    for member in place.path:
        if member is None:
            return "", []
        found.append(member)
        if _follows((member,)):
            kind, found = member.type, []
    return (kind, found) if found else ("", [])


def _follows(members: Sequence[CDeclaration | None]) -> bool:
    """Whether a path may go through an address that a member holds."""
    return any(
        member is None or member.pointers > 0 or _own_extents(member) < len(member.dimensions)
        for member in members
    )


def _own_extents(member: CDeclaration) -> int:
    """How many subscripts of a member stay in the structure: none of `double (*p)[3]`."""
    return 0 if member.points_to_array else len(member.dimensions)


def _member_type(member: CDeclaration | None, subscripts: int) -> str:
    """The class of a member's type, behind so many subscripts of its own."""
    if member is None or subscripts < 0:
        return _ANYTHING
    kind = member.element or member.type
    return _type_class(kind) if subscripts >= len(member.dimensions) + member.pointers else _POINTER


def _is_pointer(declared: CDeclaration) -> bool:
    """Whether subscripts of the variable go through an address that it holds."""
    if not declared.dimensions:
        return declared.pointers > 0
    return declared.scope == "parameter" or declared.points_to_array


def _excludes(pointer: _Place, other: _Place) -> bool:
    """Whether `restrict` on one access keeps the other one out of its memory."""
    return pointer.restrict and not (other.may_be_based and pointer.declared.copied)


def _is_within(one: str, two: str) -> bool:
    return f"{one}.".startswith(f"{two}.")


def _compatible(one: _Place, two: _Place) -> bool:
    """Whether C allows lvalues of the two types to access the same object."""
    same = one.fields and two.fields and one.declared.type == two.declared.type
    if same and "loaded" not in (one.kind, two.kind):
        is_part = _is_within(one.fields, two.fields) or _is_within(two.fields, one.fields)
        return is_part or _parts_of_union(one, two)
    (kind, first), (other, second) = _last_structure(one), _last_structure(two)
    parting = next(((a, b) for a, b in zip(first, second, strict=False) if a != b), None)
    if kind and kind == other and parting is not None:
        return parting[0].overlaid
    kinds = {one.type, two.type}
    if _ANYTHING in kinds or len(kinds) == 1:
        return True
    return _SOME_INTEGER in kinds and bool(kinds & _INTEGERS)


@lru_cache(maxsize=256)
def _type_class(text: str) -> str:
    """A type without its sign, or what is known of it."""
    words = [word for word in text.split() if word not in {"signed", "unsigned"}]
    plain = " ".join(words)
    if plain in _BYTES:
        return _ANYTHING
    if set(words) == {"long", "double"}:
        return "long double"
    if plain in _FLOATING | _BOOLEANS:
        return plain.strip("_").lower()
    if not words or set(words) <= {"short", "int", "long"}:
        longs = words.count("long")
        return "short" if "short" in words else " ".join(["long"] * longs) or "int"
    if plain.startswith("enum ") or (plain.endswith("_t") and _is_integer(plain)):
        return _SOME_INTEGER
    return _ANYTHING


def _is_integer(name: str) -> bool:
    return CDeclaration("", name).is_integer
