"""What the transformations that take loops apart and put them together share."""

from __future__ import annotations

from collections.abc import Sequence

from orio_py.ctree.loops import CanonicalLoop, stray_case
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import copy_with
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.forms import (
    require_invariant_bound,
    require_no_jumps,
    require_stable_index,
    start_is_invariant,
)
from orio_py.transformation.tiling.permute import in_place_of


def require_steady(
    loops: Sequence[CanonicalLoop],
    what: str,
    context: Context,
    *,
    force: bool,
    harmless: tuple[type[Node], ...] = (),
) -> None:
    """The loops of a nest have fixed ranges, and their bodies run from start to end, or to a harmless jump.

    Raises Refusal: ORIO-T024, T025, T027, T028.
    """
    for loop in loops:
        require_stable_index(loop, what, context)
        require_no_jumps(loop, what, harmless)
        _require_no_entry(loop.body, what)
        require_invariant_bound(loop, what, context, force=force)
        if not start_is_invariant(loop, context):
            refuse("ORIO-T027", f"{what} needs a start that keeps its value while the loop runs", loop.node)


def _require_no_entry(body: Node, what: str) -> None:
    if (case := stray_case(body)) is not None:
        refuse("ORIO-T025", f"{what} needs a body that is entered at its start only", case)


def nested(loops: Sequence[CanonicalLoop], body: Node, *, comments: bool = True) -> For:
    """The headers of a perfect nest around another body, with the comments between them or without."""
    inner = body
    for place in range(len(loops) - 1, -1, -1):
        holder = loops[place].body
        if comments and place + 1 < len(loops):
            inner = in_place_of(holder, inner)
        inner = copy_with(loops[place].node, stmt=inner)
    assert isinstance(inner, For)
    return inner


def starting_at(loop: For, start: Node) -> Node:
    """The first part of a canonical loop's header with another start."""
    match loop.init:
        case c_ast.DeclList(decls=[declaration]):
            return copy_with(loop.init, decls=[copy_with(declaration, init=start)])
        case c_ast.Assignment() as given:
            return copy_with(given, rvalue=start)
        case _:
            raise AssertionError("a canonical loop starts with an assignment or a declaration")
