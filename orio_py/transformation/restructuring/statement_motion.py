"""Moves the statements between two loops out of the way, where neither loop has to do with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from orio_py.ctree.loops import jumps_out
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.parse import position
from orio_py.ctree.rewrite import used_names
from orio_py.transformation.base import Context, note, refuse


def moved_aside(
    between: Sequence[Node], first: For, second: For, context: Context
) -> tuple[list[Node], list[Node]]:
    """The statements that move before `first`, and those that move behind `second`.

    A statement moves if it shares no variable or array that one of them writes with what it passes.
    Raises Refusal: ORIO-T072.
    """
    before: list[Node] = []
    after: list[Node] = []
    for statement in reversed(between):
        if all(_commute(statement, other, context) for other in (second, *before)):
            after.insert(0, statement)
        else:
            before.insert(0, statement)
    for statement in before:
        if not _commute(statement, first, context):
            refuse(
                "ORIO-T072",
                "Fuse cannot move this statement out of the way of the loops: it uses what they change, or "
                "they use what it changes",
                # A generated statement, such as a pragma of an earlier step, has no place of its own.
                statement if position(statement) is not None else second,
                notes=[note("the first loop", first), note("the second loop", second)],
            )
    return before, after


def _commute(statement: Node, other: Node, context: Context) -> bool:
    """Whether two statements of a block may change places."""
    parts = (statement, other)
    if any(_stays(part, context) for part in parts):
        return False
    one, two = (context.effects(part) for part in parts)
    names = [used_names([part]) for part in parts]
    if _declared(statement) & names[1] or _declared(other) & names[0]:
        return False
    if one.writes & (two.reads | two.writes) or two.writes & one.reads:
        return False
    touched = one.array_reads | one.array_writes, two.array_reads | two.array_writes
    pairs = (*product(one.array_writes, touched[1]), *product(two.array_writes, touched[0]))
    return not any(_may_overlap(first, second, context) for first, second in pairs)


def _may_overlap(first: str, second: str, context: Context) -> bool:
    """Whether two arrays of different names may share memory: at least one of them has to be a pointer."""
    promised = context.assumptions.noalias
    declared = [context.declarations.get(name) for name in (first, second)]
    if promised is True or (promised and {first, second} & promised):
        return False
    known = [declaration for declaration in declared if declaration is not None]
    if len(known) < 2 or any("restrict" in declaration.qualifiers for declaration in known):
        return False
    # An array of the function itself, whose address would have to be taken first.
    own = [d for d in known if d.dimensions and not d.pointers and d.scope == "local"]
    return not own and any(d.scope != "global" or d.pointers for d in known)


def _stays(part: Node, context: Context) -> bool:
    """Whether a statement is beyond the comparison of names."""
    found = context.effects(part)
    if found.opaque or found.address_taken or found.calls or jumps_out(part) is not None:
        return True
    if isinstance(part, c_ast.Pragma) or not _is_plain(part):
        return True
    return any(
        name in context.declarations and "volatile" in context.declarations[name].qualifiers
        for name in found.reads | found.writes
    )


def _is_plain(part: Node) -> bool:
    """Whether a statement is one of those whose effects say everything."""
    kinds: Iterable[type[Node]] = (
        For,
        c_ast.Assignment,
        c_ast.Compound,
        c_ast.Decl,
        c_ast.EmptyStatement,
        c_ast.If,
        c_ast.UnaryOp,
    )
    return isinstance(part, tuple(kinds))


def _declared(part: Node) -> frozenset[str]:
    return frozenset({part.name}) if isinstance(part, c_ast.Decl) and part.name else frozenset()
