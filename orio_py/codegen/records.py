"""Structures in a test program: what they hold, and how each member is filled and compared.

struct point { double x; int v[3]; } *p;     parts  x: a double;  v: 3 of int
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from orio_py.codegen import ctypes
from orio_py.ctree.structures import Members, is_pointer
from orio_py.ctree.symbols import CDeclaration


@dataclass(frozen=True, slots=True)
class RecordPart:
    """Equal numbers in each element of a variable: the element itself, named '', or a member of a structure.

    `type` is the C type of the numbers, `kind` the test program's constant for them; `offset` (in bytes from the
    element), `size` (of a number in bytes) and `count` are C expressions.
    """

    name: str
    type: str
    kind: str
    offset: str
    size: str
    count: str


def parts(type_name: str, members: Members, linked: Collection[str] = ()) -> tuple[RecordPart, ...]:
    """The parts of an element of this type; `members` are those of a structure.

    Of pointers, only those in `linked` are looked at, as numbers.
    """
    if not members:
        return (RecordPart("", type_name, ctypes.kind(type_name), "0", f"sizeof({type_name})", "1"),)
    found: list[RecordPart] = []
    for member in members:
        if is_pointer(member) and member.name not in linked:
            continue
        place = f"offsetof({type_name}, {member.name})"
        kind = "void *" if is_pointer(member) else member.type
        size = f"sizeof({kind})"
        count = f"sizeof((({type_name} *)0)->{member.name}) / {size}" if member.dimensions else "1"
        found.append(RecordPart(member.name, kind, ctypes.kind(kind), place, size, count))
    return tuple(found)


RANDOM: None = None
"""The value of random numbers."""


def assignments(
    type_name: str, members: Members, element: str, values: Mapping[str, str | None]
) -> tuple[str, ...]:
    """Statements that give numbers of an element the values of C expressions, or random ones.

    `values` are those of members by name, and under '' that of the others, or of the element itself.  What it does
    not name is left alone.  Arrays count in `orio_k`.
    """
    if not members:
        return (f"{element} = {_value(type_name, values[''])};",)
    return tuple(
        _assignment(member, f"{element}.{member.name}", values.get(member.name, values.get("")))
        for member in members
        if not is_pointer(member) and (member.name in values or "" in values)
    )


def _assignment(member: CDeclaration, place: str, value: str | None) -> str:
    if not member.dimensions:
        return f"{place} = {_value(member.type, value)};"
    count = f"sizeof({place}) / sizeof({member.type})"
    numbers = f"(({member.type} *){place})[orio_k]"
    return f"for (orio_k = 0; orio_k < {count}; orio_k++) {numbers} = {_value(member.type, value)};"


def _value(type_name: str, value: str | None) -> str:
    return ctypes.random_element(type_name) if value is None else f"({value})"


def definition(type_name: str, members: Members) -> str:
    """The definition of a structure with numbers of C's own types.

    >>> definition("point", (CDeclaration("x", "double", ("3",)),))
    'typedef struct { double x[3]; } point;'
    """
    body = " ".join(_member(member) for member in members)
    if type_name.startswith("struct "):
        return f"{type_name} {{ {body} }};"
    return f"typedef struct {{ {body} }} {type_name};"


def _member(member: CDeclaration) -> str:
    extents = "".join(f"[{extent}]" for extent in member.dimensions)
    volatile = "volatile " if "volatile" in member.qualifiers else ""
    kind = f"{member.type} {'*' * member.pointers}"
    if is_pointer(member) and not (ctypes.is_arithmetic(member.type) or member.type.startswith("struct ")):
        kind = "void *"  # of as many bytes
    return f"{volatile}{kind}{member.name}{extents};"


def same_layout(number: int, type_name: str, members: Members) -> tuple[str, ...]:
    """C text that compiles only where the structure lies in memory as its members alone tell.

    Packing, alignment and conditions of the preprocessor can make it another one.
    """
    copy = f"struct orio_structure_{number}"
    claims = [f"sizeof({copy}) == sizeof({type_name})"]
    claims += [f"offsetof({copy}, {m.name}) == offsetof({type_name}, {m.name})" for m in members]
    claims += [f"sizeof((({copy} *)0)->{m.name}) == sizeof((({type_name} *)0)->{m.name})" for m in members]
    holds = " && ".join(claims)
    name = f"orio_structure_{number}_differs_from_its_declaration"
    return definition(copy, members), f"typedef char {name}[{holds} ? 1 : -1];"


def distinct(types: Sequence[tuple[str, Members]]) -> dict[str, Members]:
    """The structures among types, each once, in their order."""
    return {name: members for name, members in types if members}
