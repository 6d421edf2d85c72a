"""Structures that a device holds as the host does: their members, and references to these.

    struct cell {double x; int n; float w[3];} *p;      p[i].w[k]      is place  2 + k  of  p[i]

Each number of a structure has a place in it, so that a reference to a member is one to an element of an array with
one more dimension, until the kernel's body is written.

A device lays out members as C does on the hosts that are served, each at a multiple of its own size (System V ABI
AMD64, 3.1.2; AAPCS64, 5.9; The OpenCL Specification 1.2, section 6.11.1).
"""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.ctree.build import ident, literal_value
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.structures import Members, is_pointer
from orio_py.ctree.symbols import CDeclaration
from orio_py.kernel.types import device_type

_QUALIFIERS = frozenset({"volatile"})


@dataclass(frozen=True, slots=True)
class RecordMember:
    """A member: its type on devices, and its extent if it is an array."""

    name: str
    type: str
    extent: int | None

    @property
    def places(self) -> int:
        """How many numbers it holds."""
        return 1 if self.extent is None else self.extent


@dataclass(frozen=True, slots=True)
class RecordPlan:
    """A structure whose elements a buffer holds; `name` is its tag on the device."""

    name: str
    members: tuple[RecordMember, ...]

    @property
    def places(self) -> int:
        """How many numbers it holds."""
        return sum(member.places for member in self.members)

    def place(self, name: str) -> int:
        """The place of a member's first number."""
        before = [member.name for member in self.members].index(name)
        return sum(member.places for member in self.members[:before])

    def reference(self, element: Node, place: Node) -> Node:
        """The member of an element that `place`, a literal or the sum of a literal and a subscript, stands for."""
        start, subscript = literal_value(place), None
        if isinstance(place, c_ast.BinaryOp):
            start, subscript = literal_value(place.left), place.right
        assert start is not None
        member = next(m for m in self.members if self.place(m.name) == start)
        found = c_ast.StructRef(element, ".", ident(member.name))
        return found if subscript is None else c_ast.ArrayRef(found, subscript)


def record_plan(type_name: str, members: Members) -> RecordPlan | str:
    """The structure on a device, or why there is none.

    >>> record_plan("struct node", (CDeclaration("next", "struct node", pointers=1),))
    '`next` is a pointer'
    """
    found: list[RecordMember] = []
    for member in members:
        if (problem := _problem(member)) is not None:
            return problem
        extent = int(member.dimensions[0]) if member.dimensions else None
        found.append(RecordMember(member.name, device_type(member.type) or "", extent))
    return RecordPlan(f"orio_{type_name.removeprefix('struct ')}", tuple(found))


def _problem(member: CDeclaration) -> str | None:
    if is_pointer(member):
        return f"`{member.name}` is a pointer"
    if member.overlaid:
        return f"`{member.name}` shares its memory with other members"
    if member.width:
        return f"`{member.name or member.type}` is a bit field"
    if not member.name:
        return f"it holds a `{member.type.partition(' ')[0]}` without a name"
    if member.qualifiers & _QUALIFIERS:
        return f"`{member.name}` is volatile"
    kind = device_type(member.type)
    if kind is None:
        return f"`{member.name}` is of type `{member.type}`, which devices do not have"
    if kind == "bool":
        return f"`{member.name}` is a truth value, whose size devices choose"
    if len(member.dimensions) > 1:
        return f"`{member.name}` has {len(member.dimensions)} dimensions"
    if member.dimensions and not member.dimensions[0].isdigit():
        return f"the extent of `{member.name}` is no number"
    return None
