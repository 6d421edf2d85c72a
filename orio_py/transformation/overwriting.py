"""What may use a variable, or change memory that an expression reads, under another name than the code shows."""

from __future__ import annotations

from orio_py.ctree.dependence.alias import Aliases
from orio_py.ctree.dependence.names import Names, Reference, names_of, references
from orio_py.ctree.known_functions import called_name
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.transformation.base import Context
from orio_py.transformation.verdicts import aliases_in


def other_use(code: Node, name: str, context: Context) -> Node | None:
    """The place in some code where a variable may be used under another name; None if there is none."""
    if name not in context.exposed:
        return None
    inside = context.effects(code)
    if inside.opaque:
        return code
    for called in inside.calls:
        return first_call(code, frozenset({called})) or code
    aliases = aliases_in(context)
    for found, node, _ in references(code, names_of(code, context.declarations)):
        if found.name != name and aliases.may_overlap((name, 0), found.spot):
            return node
    return None


def overwritten(
    part: Node, view: CanonicalLoop, context: Context, counters: frozenset[str] = frozenset()
) -> tuple[str, Node] | None:
    """The variable through which an expression reads memory that a loop may change, and the place where it does.

    `counters` may be assigned by their names.
    """
    return overwritten_by(part, view.body, names_of(view.node, context.declarations), context, counters)


def overwritten_by(
    part: Node, statement: Node, names: Names, context: Context, counters: frozenset[str] = frozenset()
) -> tuple[str, Node] | None:
    """As `overwritten`, for a statement among code with some `names`."""
    read = [
        found
        for found, _, _ in references(part, names)
        if found.subscripts or "." in found.name or found.variable in context.exposed
    ]
    if not read:
        return None
    aliases = aliases_in(context)
    pointers = [pointer for found in read for pointer in aliases.followed(found)]
    for written, node, is_written in references(statement, names):
        for found in read if is_written else ():
            if found.name == written.name and found.name in counters:
                continue
            if may_change(written, found, aliases):
                return found.variable, node
        for pointer in pointers if is_written else ():
            if _may_set(written, pointer, aliases):
                return pointer.variable, node
    return None


def _may_set(written: Reference, pointer: Reference, aliases: Aliases) -> bool:
    """Whether an access may write a pointer that others follow, as it may follow the pointer itself."""
    if any(on_its_way.name == pointer.name for on_its_way in aliases.followed(written)):
        return aliases.may_overlap(pointer.spot, written.spot)
    return may_change(written, pointer, aliases)


def may_change(written: Reference, read: Reference, aliases: Aliases) -> bool:
    """Whether an access may write what another one reads."""
    is_deeper = written.name == read.name and len(written.subscripts) > len(read.subscripts)
    if is_deeper and aliases.may_be_pointer(read.spot):
        # What a pointer points to is the pointer itself only by its type.
        return aliases.may_hold_pointers(written.spot)
    return _is_within(read.name, written.name) or aliases.may_overlap(read.spot, written.spot)


def _is_within(one: str, two: str) -> bool:
    """Whether one of two names, with their fields, is the other or a part of it."""
    return f"{one}.".startswith(f"{two}.") or f"{two}.".startswith(f"{one}.")


def first_call(body: Node, names: frozenset[str]) -> Node | None:
    """The first call of one of some functions."""
    for node in walk(body):
        if isinstance(node, c_ast.FuncCall) and called_name(node) in names:
            return node
    return None
