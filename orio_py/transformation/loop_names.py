"""How recipes name loops: by index, with alternatives and with loops that may be missing."""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.core.registry import did_you_mean
from orio_py.ctree.loops import header_index, loops_in
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.transformation.base import refuse


@dataclass(frozen=True, slots=True)
class LoopName:
    """The first of `names` that is the index of a loop; `optional` where none has to be."""

    names: tuple[str, ...]
    optional: bool = False


def index_name(loop: Node) -> str | None:
    """The index of a loop: the variable that its header sets, or else steps."""
    if not isinstance(loop, For):
        return None
    if (name := header_index(loop)) is not None:
        return name
    match loop.next:
        case c_ast.Assignment(lvalue=c_ast.ID(name=name)) | c_ast.UnaryOp(expr=c_ast.ID(name=name)):
            return name
        case _:
            return None


def show_loops(node: Node) -> tuple[str, ...]:
    """The indices of the loops in `node`, outermost first, without repetition."""
    names = [name for loop in loops_in(node) if (name := index_name(loop)) is not None]
    return tuple(dict.fromkeys(names))


def first_present(wanted: LoopName, present: tuple[str, ...], node: Node, argument: str) -> str | None:
    """The loop that is meant, or None if it may be missing.  Raises Refusal: ORIO-T015."""
    for name in wanted.names:
        if name in present:
            return name
    if wanted.optional:
        return None
    missing = " or ".join(f"`{name}`" for name in wanted.names)
    listed = ", ".join(f"`{name}`" for name in present)
    refuse(
        "ORIO-T015",
        f"there is no loop {missing}; "
        + (f"the loops here are {listed}" if present else "there is no loop here"),
        node,
        help=did_you_mean(wanted.names[0], present) if wanted.names else None,
        argument=argument,
    )
