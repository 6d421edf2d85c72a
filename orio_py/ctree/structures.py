"""Structures and unions as far as their members are variables, arrays of such, and structures again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from orio_py.ctree.ctype import CType, ctype
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.symbols import CDeclaration

Members = tuple[CDeclaration, ...]
"""The members of a structure or union, in their order.

One whose members can be named like those of the structure around it (C11 6.7.2.1) has no name, nor have bits that
keep others apart.
"""

Structures = Mapping[str, Members]
"""The members by the names of types; a structure without a tag in another one is called `struct outer.member`."""

_FLOATING = frozenset({"float", "double", "long double"})


def member_name(node: c_ast.StructRef) -> str:
    """`n` of `s.n` and `p->n`."""
    assert isinstance(node.field, c_ast.ID)
    return node.field.name


def member_path(structures: Structures, kind: str, name: str) -> Members:
    """The member of a structure by its name, behind those without a name that hold it; nothing if there is none."""
    for member in structures.get(kind, ()):
        if member.name == name:
            return (member,)
        if not member.name and (inner := member_path(structures, member.type, name)):
            return (member, *inner)
    return ()


def number_type(
    node: Node, declared: Mapping[str, CDeclaration], structures: Structures, types: Mapping[str, str]
) -> CType | None:
    """The type of a variable, an element or a member; None where it is no number, or not known.

    `types` are what names of numbers stand for.
    """
    depth = 0
    while isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.UnaryOp) and node.op == "*"):
        node = node.name if isinstance(node, c_ast.ArrayRef) else node.expr
        depth += 1
    found = named_by(node, declared, structures)
    if found is None or found.width or "(" in found.type or found.pointers + len(found.dimensions) != depth:
        return None
    return ctype(types.get(found.type, found.type))


def named_by(node: Node, declared: Mapping[str, CDeclaration], structures: Structures) -> CDeclaration | None:
    """The declaration of a variable or a member, whichever element of arrays it is in."""
    match node:
        case c_ast.ID(name=name):
            return declared.get(name)
        case c_ast.StructRef(name=outer, field=c_ast.ID(name=name)):
            kind = named_by(outer, declared, structures)
            path = () if kind is None else member_path(structures, kind.type, name)
            return path[-1] if path else None
        case c_ast.ArrayRef(name=array) | c_ast.UnaryOp(op="*", expr=array):
            return named_by(array, declared, structures)
        case _:
            return None


def paths(structures: Structures, kind: str) -> Iterator[Members]:
    """The ways to what is no structure itself, or a pointer; where members share memory, to each of them."""
    for member in structures.get(kind, ()):
        if is_pointer(member) or member.type not in structures:
            yield (member,)
        else:
            yield from ((member, *path) for path in paths(structures, member.type))


def memory_location(structures: Structures, kind: str, member: CDeclaration) -> str | None:
    """The first of the bit fields that are one memory location with a member, where there are several (C11 3.14)."""
    run: list[CDeclaration] = []
    for other in (*structures.get(kind, ()), None):
        if other is not None and other.width and (other.name or other.width.strip() != "0"):
            run.append(other)
            continue
        names = [field.name for field in run if field.name]
        if member.name in names:
            return names[0] if len(names) > 1 else None
        run.clear()
    return None


def is_pointer(member: CDeclaration) -> bool:
    """Whether a member holds an address, or several, of data or of a function."""
    return member.pointers > 0 or member.points_to_array or "(" in member.type


def lie_inside(structures: Structures, kind: str, names: Iterable[str]) -> bool:
    """Whether a member, by the names that lead to it, and all that is in it lie in the structure as whole bytes.

    Pointers lead elsewhere, and an array of one element, or of none, at an end may stand for a longer one.
    """
    for name in names:
        path = member_path(structures, kind, name)
        if len(path) != 1 or is_pointer(path[0]) or path[0].overlaid or path[0].width:
            return False
        if not _LONGER.isdisjoint(path[0].dimensions):
            return False
        kind = path[0].type
    return True


_LONGER = frozenset({"", "0", "1"})


def cannot_be_made(structures: Structures, kind: str) -> str | None:
    """Why a program cannot make such a structure; None if it can: pointers may point to anything, or nowhere."""
    for path in paths(structures, kind):
        shown, last = ".".join(member.name for member in path if member.name), path[-1]
        if any("const" in member.qualifiers for member in path if not is_pointer(member)):
            return f"its member `{shown}` is constant"
        if any("" in member.dimensions for member in path if not is_pointer(member)):
            return f"its member `{shown}` has no extent"
        if not (is_pointer(last) or last.type in _FLOATING or _is_integer(last)):
            return f"its member `{shown}` is of type `{last.type}`"
    return None


def _is_integer(member: CDeclaration) -> bool:
    return member.is_integer and not member.type.startswith("enum ")
