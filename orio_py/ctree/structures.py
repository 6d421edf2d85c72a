"""Structures as far as their members are variables and arrays of such."""

from __future__ import annotations

from orio_py.ctree.symbols import CDeclaration

Members = tuple[CDeclaration, ...]
"""The members of a structure, in their order."""

_FLOATING = frozenset({"float", "double", "long double"})


def cannot_be_made(members: Members) -> str | None:
    """Why a program cannot make such a structure; None if it can: pointers may point to anything, or nowhere."""
    return not_numbers(tuple(member for member in members if not is_pointer(member)))


def is_pointer(member: CDeclaration) -> bool:
    """Whether a member holds an address, or several, of data or of a function."""
    return member.pointers > 0 or "(" in member.type


def not_numbers(members: Members) -> str | None:
    """Why the members are not all numbers and arrays of numbers that can be assigned; None if they are."""
    for member in members:
        if member.pointers:
            return f"its member `{member.name}` is a pointer"
        if "const" in member.qualifiers:
            return f"its member `{member.name}` is constant"
        if not (member.type in _FLOATING or (member.is_integer and not member.type.startswith("enum "))):
            return f"its member `{member.name}` is of type `{member.type}`"
        if "" in member.dimensions:
            return f"its member `{member.name}` has no extent"
    return None
