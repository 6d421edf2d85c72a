"""Loops inside an iteration that a group runs in blocks, with tiles in local memory for each block.

    for (k = 0; k < n; k++)             for each block of 16 iterations: all items load tiles, wait,
      c[i * m + j] += a[i * n + k]      run the block, wait
                    * b[k * m + j];

Every item of a group has to reach the barriers around a block, so that the loop has to run as often in all of
them: it stands in the body under no condition, and its bounds are steady.

Source: CUDA C++ Programming Guide, section 3.2.4 (matrix multiplication with shared memory).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from orio_py.ctree.build import (
    add,
    as_long,
    assign,
    binary,
    block,
    declare,
    for_,
    ident,
    literal_value,
    mul,
    unary,
)
from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.loops import CanonicalLoop, jumps_out
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import assigned_names, copy_with, used_names, walk
from orio_py.kernel.call import begin_name, length_name, place_name, start_name
from orio_py.kernel.plan import Axis, BlockPlan
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.axis_mapping import axis, require_countable
from orio_py.transformation.offload.body import body_items, certain_references, unrolled_by_pragma


@dataclass(frozen=True, slots=True)
class InnerLoop:
    """A loop that could be run in blocks of `size` iterations: the statement `place` of the body.

    `references` are the array references in it, by identity, `certain` those that every iteration makes.
    """

    axis: Axis
    size: int
    place: int
    references: frozenset[int]
    certain: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class InnerLoops:
    """The loops of a body that could be run in blocks, and why others could not, in words."""

    loops: tuple[InnerLoop, ...] = ()
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockedBody:
    """The statements of a body in which loops run in blocks; `private` are all scalars of an item."""

    items: tuple[Node, ...]
    private: tuple[tuple[str, str], ...]
    blocks: tuple[BlockPlan, ...]


def inner_loops(
    body: Node,
    size: int,
    private: Sequence[str],
    arithmetic: Arithmetic,
    what: str,
    context: Context,
    *,
    single: bool,
) -> InnerLoops:
    """The loops of a body that a group can run in blocks of `size` iterations.

    `private` are scalars that each item has for itself; `single` says that an item does one iteration in a
    step of its group.
    """
    items = body_items(body)
    found: list[InnerLoop] = []
    reasons: list[str] = []
    for place, item in enumerate(items):
        if not isinstance(item, For):
            continue
        loop = CanonicalLoop.match(item)
        problem = (
            "its header is not canonical"
            if loop is None
            else _problem(loop, items, arithmetic, what, context)
        )
        if loop is None or problem is not None:
            name = "a loop" if loop is None else f"the loop `{loop.index}`"
            reasons.append(f"{name} cannot run in blocks: {problem}")
            continue
        typed = _typed(loop, body)
        references = frozenset(id(node) for node in walk(loop.body) if isinstance(node, c_ast.ArrayRef))
        found.append(
            InnerLoop(
                axis(typed, arithmetic, context), size, place, references, certain_references(loop.body)
            )
        )
    reason = _keeping(items, [loop.place for loop in found], private, single=single)
    if found and reason is not None:
        return InnerLoops((), (*reasons, reason))
    return InnerLoops(tuple(found), tuple(reasons))


def _typed(loop: CanonicalLoop, body: Node) -> CanonicalLoop:
    """The loop with the type of an index that the body declares."""
    for node in walk(body):
        if isinstance(node, c_ast.Decl) and node.name == loop.index and isinstance(node.type, c_ast.TypeDecl):
            return replace(loop, declared_type=loop.declared_type or emit_type(node.type.type))
    return loop


def _problem(
    loop: CanonicalLoop, items: Sequence[Node], arithmetic: Arithmetic, what: str, context: Context
) -> str | None:
    """Why the items of a group could not run a loop in blocks together, or None."""
    if loop.index in assigned_names(loop.body):
        return "its body assigns its index"
    if jumps_out(loop.body) is not None:
        return "it is left early"
    if any(arithmetic.polynomial(part, {}) is None for part in (loop.start, loop.bound)):
        return "its bounds are not the same for all items of a group"
    if any(_reads(loop.index, item) for item in items):
        return "its index is read behind it"
    try:
        require_countable(_typed(loop, block(*items)), frozenset(), what, context)
    except Refusal as refusal:
        return refusal.diagnostics[0].message
    return None


def _reads(name: str, node: Node) -> bool:
    """Whether a statement mentions a variable outside of loops over it."""
    if isinstance(node, For) and (loop := CanonicalLoop.match(node)) is not None and loop.index == name:
        return _reads(name, loop.start)
    if isinstance(node, c_ast.ID):
        return node.name == name
    return any(_reads(name, child) for child in node)


def _parts(items: Sequence[Node], places: Sequence[int]) -> list[list[Node]]:
    """The statements between the loops that run in blocks, and each of these."""
    parts: list[list[Node]] = [[]]
    for place, item in enumerate(items):
        if place in places:
            parts += [[item], []]
        else:
            parts[-1].append(item)
    return parts


def _crossing(items: Sequence[Node], places: Sequence[int], names: Sequence[str]) -> list[str]:
    """The names that more than one part mentions."""
    parts = [used_names(part) | _declared(part) for part in _parts(items, places)]
    return [name for name in dict.fromkeys(names) if sum(name in part for part in parts) > 1]


def _declared(part: Sequence[Node]) -> frozenset[str]:
    return frozenset(item.name for item in part if isinstance(item, c_ast.Decl) and item.name is not None)


def _keeping(
    items: Sequence[Node], places: Sequence[int], private: Sequence[str], *, single: bool
) -> str | None:
    """Why an item cannot keep its values from block to block, or None."""
    declared = {item.name: item for item in items if isinstance(item, c_ast.Decl) and item.name is not None}
    crossing = _crossing(items, places, [*declared, *private])
    for name in crossing:
        if name in declared and not isinstance(declared[name].type, c_ast.TypeDecl):
            return f"the array `{name}` would have to last from block to block"
    indices = {loop.index for place in places if (loop := CanonicalLoop.match(items[place])) is not None}
    kept = [name for name in crossing if name not in indices]
    if kept and not single:
        return (
            f"`{kept[0]}` would have to keep its value from block to block, and with `localTile` an item does "
            "several iterations in each block"
        )
    return None


def in_blocks(
    items: Sequence[Node],
    loops: Sequence[InnerLoop],
    private: Sequence[tuple[str, str]],
    unroll: int | None,
) -> BlockedBody:
    """The statements with loops over one block in place of `loops`; they count from 0 to the block's length."""
    places = [loop.place for loop in loops]
    declared = [item.name for item in items if isinstance(item, c_ast.Decl) and item.name is not None]
    crossing = set(_crossing(items, places, declared))
    by_place = {loop.place: loop for loop in loops}
    kept = list(private)
    result: list[Node] = []
    blocks: list[BlockPlan] = []
    for place, item in enumerate(items):
        begin = len(result)
        if place in by_place:
            result += _unrolled(_over_block(item, by_place[place].axis), unroll)
            blocks.append(BlockPlan(by_place[place].axis, by_place[place].size, begin, len(result)))
        elif isinstance(item, c_ast.Decl) and item.name in crossing:
            assert item.name is not None
            assert isinstance(item.type, c_ast.TypeDecl)
            kept.append((item.name, emit_type(item.type.type)))
            result += [assign(item.name, item.init)] if item.init is not None else []
        else:
            result += _unrolled(item, unroll)
    gone = {loop.axis.index for loop in loops if not _is_used_elsewhere(loop.axis.index, items, by_place)}
    return BlockedBody(tuple(result), tuple(pair for pair in kept if pair[0] not in gone), tuple(blocks))


def _is_used_elsewhere(name: str, items: Sequence[Node], loops: Mapping[int, InnerLoop]) -> bool:
    """Whether a statement that is no loop in blocks over `name` mentions it."""
    return any(
        name in used_names([item])
        for place, item in enumerate(items)
        if place not in loops or loops[place].axis.index != name
    )


def _unrolled(item: Node, factor: int | None) -> Sequence[Node]:
    return body_items(unrolled_by_pragma(block(item), factor)) if factor is not None else (item,)


def _over_block(item: Node, axis: Axis) -> Node:
    """The loop over one block; its index is computed from the number of the iteration in the block."""
    loop = CanonicalLoop.match(item)
    assert loop is not None
    count = place_name(axis)
    number = binary("+", ident(begin_name(axis)), ident(count))
    steps: Node = mul(number, abs(axis.stride))
    start = literal_value(axis.start)
    first: Node = ident(start_name(axis))
    if axis.upward:
        value = add(steps, start) if start is not None else binary("+", first, steps)
    else:
        value = add(unary("-", steps), start) if start is not None else binary("-", first, steps)
    body = [copy_with(part) for part in body_items(loop.body)]
    if axis.index in used_names(body):
        body.insert(0, declare(f"const {axis.type}", axis.index, as_long(value, axis.type)))
    return for_(
        declare("int", count, 0),
        binary("<", ident(count), ident(length_name(axis))),
        c_ast.UnaryOp("p++", ident(count)),
        block(*body),
    )
