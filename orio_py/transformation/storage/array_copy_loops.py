"""The loops that fill the buffer of a tile and write it back."""

from __future__ import annotations

from collections.abc import Sequence

from orio_py.ctree.build import (
    add,
    as_long,
    assign,
    binary,
    block,
    const,
    declare,
    for_,
    ident,
    index,
    literal_value,
    sub,
    unary,
)
from orio_py.ctree.nodes import Node
from orio_py.ctree.rewrite import substitute
from orio_py.ctree.simplify import simplify
from orio_py.transformation.base import Context
from orio_py.transformation.certain_conditions import if_all
from orio_py.transformation.storage.array_copy_check import CopiedTile
from orio_py.transformation.storage.array_copy_uses import Offsets, Side
from orio_py.transformation.storage.array_uses.rebuild import readable
from orio_py.transformation.types import control_type, signedness, signedness_of_type


def positions(tile: CopiedTile, offsets: Offsets) -> list[Node]:
    """The subscripts of the buffer for a reference of the tile."""
    return [
        _position(side, ident(side.loop.index), offset)
        for side, offset in zip(tile.sides, tile.of_sides(offsets), strict=True)
    ]


def _position(side: Side, variable: Node, offset: int) -> Node:
    """Where `variable + offset` lies in the buffer: its distance from the first element of the tile."""
    start, fixed = side.loop.start, literal_value(side.loop.start)
    if side.loop.upward:
        shift = offset - side.least
        return simplify(
            add(variable, shift - fixed) if fixed is not None else add(sub(variable, start), shift)
        )
    shift = side.greatest - offset
    return simplify(
        sub(const(fixed + shift), variable) if fixed is not None else add(sub(start, variable), shift)
    )


def copied_in(tile: CopiedTile, buffer: str, names: Sequence[str], context: Context) -> Node:
    """The loops that fill the buffer, with new indices `names`."""
    variables = [ident(name) for name in names]
    targets: list[Node] = []
    sources: list[Node] = []
    for side, variable in zip(tile.sides, variables, strict=True):
        if side.spread:
            targets.append(_in_box(side, variable))
            sources.append(variable)
        else:
            targets.append(_position(side, variable, side.least))
            sources.append(add(variable, side.least))
    body: Node = assign(index(buffer, *targets), index(tile.name, *tile.subscripts(sources)))
    for side, variable in reversed(list(zip(tile.sides, variables, strict=True))):
        make = _box if side.spread else _same
        body = make(side, variable.name, body, context)
    return _guarded(tile, body, context)


def copied_out(tile: CopiedTile, buffer: str, names: Sequence[str], context: Context) -> Node:
    """The loops that write back what the loops of the tile write, and nothing else."""
    variables = [ident(name) for name in names]
    stores: list[Node] = []
    for offsets in tile.written:
        places = list(zip(tile.sides, variables, tile.of_sides(offsets), strict=True))
        target = index(tile.name, *tile.subscripts([add(variable, offset) for _, variable, offset in places]))
        source = index(buffer, *(_position(side, variable, offset) for side, variable, offset in places))
        stores.append(assign(target, source))
    body: Node = stores[0] if len(stores) == 1 else block(*stores)
    for side, variable in reversed(list(zip(tile.sides, variables, strict=True))):
        body = _same(side, variable.name, body, context)
    return _guarded(tile, body, context)


def _guarded(tile: CopiedTile, loops: Node, context: Context) -> Node:
    return if_all(map(readable, tile.guards), loops, context)


def _same(side: Side, name: str, body: Node, context: Context) -> Node:
    """A loop with the header of the tile's."""
    view = side.loop
    assert view.node.cond is not None
    assert view.node.next is not None
    test, step = (substitute(part, view.index, ident(name)) for part in (view.node.cond, view.node.next))
    return for_(declare(control_type(view, context), name, view.start), test, step, body)


def _box(side: Side, name: str, body: Node, context: Context) -> Node:
    """A loop over all subscripts that the offsets reach, of which the first ones may be below 0."""
    view = side.loop
    kind, ends = control_type(view, context), (view.start, view.bound)
    if signedness_of_type(kind) != "signed" or not all(_is_signed(part, context) for part in ends):
        kind, ends = "long", tuple(part if _is_signed(part, context) else as_long(part) for part in ends)
    start, bound = ends
    if view.upward:
        first, last = add(start, side.least), add(bound, side.greatest)
        relation = view.relation
    else:
        first = add(bound, side.least + (view.relation == ">"))
        last, relation = add(start, side.greatest), "<="
    test = binary(relation, ident(name), simplify(last))
    return for_(declare(kind, name, simplify(first)), test, unary("p++", ident(name)), body)


def _is_signed(part: Node, context: Context) -> bool:
    return literal_value(part) is not None or signedness(part, context) == "signed"


def _in_box(side: Side, subscript: Node) -> Node:
    """Where a subscript lies in the buffer."""
    start, fixed = side.loop.start, literal_value(side.loop.start)
    if side.loop.upward:
        return simplify(
            sub(subscript, fixed + side.least)
            if fixed is not None
            else sub(sub(subscript, start), side.least)
        )
    if fixed is not None:
        return simplify(sub(const(fixed + side.greatest), subscript))
    return simplify(add(sub(start, subscript), side.greatest))
