"""Elements that a loop takes down evenly: those of its first and last iteration say between which they lie."""

from __future__ import annotations

from collections.abc import Callable, Set

from orio_py.ctree.build import (
    add,
    binary,
    block,
    cast_to,
    if_,
    statements,
)
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import (
    Compound,
    Node,
    c_ast,
)
from orio_py.ctree.rewrite import assigned_names, copy_with, declared_names, substitute, walk
from orio_py.transformation.base import Context
from orio_py.transformation.offload.inspected_array import InspectedArray
from orio_py.transformation.parallel.reductions import is_integer
from orio_py.transformation.types import index_type


class LoopEnds:
    """Takes elements down, in front of a loop where those of its first and last iteration do."""

    def __init__(self, body: Node, context: Context, wraps: Callable[[Node], bool]) -> None:
        self._body = body
        self._context = context
        self._wraps = wraps
        self._taken: dict[int, tuple[Node, InspectedArray, list[Node]]] = {}

    def note(self, array: InspectedArray, subscripts: list[Node]) -> Node:
        """The statement that takes down an element."""
        found = array.note(subscripts)
        self._taken[id(found)] = found, array, subscripts
        return found

    def around(self, node: Node, inner: list[Node]) -> list[Node]:
        """A loop, in front of it what takes down elements that lie between those of its first and last iteration.

        Of `col[j]` in  for (j = row[i]; j < row[i + 1]; j++)  these are  col[row[i]]  and  col[row[i + 1] - 1].
        """
        loop = CanonicalLoop.match(node)
        inner = [left for one in inner for left in _flat(one)]
        is_counted = loop is not None and all(
            is_integer(end, self._context) for end in (loop.start, loop.bound)
        )
        if loop is None or not is_counted or abs(loop.stride) != 1 or any(map(_jumps, inner)):
            return [copy_with(node, stmt=block(*inner))]
        changed = {*assigned_names(*inner), *(name for one in inner for name in declared_names(one))}
        inward = (-1 if loop.upward else 1) if loop.relation in {"<", ">"} else 0
        kind = index_type(loop, self._context)
        reached: list[Node] = []
        rest: list[Node] = []
        for one in inner:
            taken = self._taken.get(id(one))
            ends = None if taken is None else self._ends(loop, taken[2], changed, inward, kind)
            if taken is None or ends is None:
                rest.append(one)
            else:
                reached += [self.note(taken[1], end) for end in ends]
        if not reached:
            return [copy_with(node, stmt=block(*inner))]
        runs = binary(loop.relation, cast_to(kind, loop.start), loop.bound)
        if all(map(only_leaves, rest)) and not self._is_used_behind(loop):
            return [if_(runs, block(*reached))]
        return [if_(runs, block(*reached)), copy_with(node, stmt=block(*rest))]

    def _is_used_behind(self, loop: CanonicalLoop) -> bool:
        """Whether anything else in the body may use the value that a loop leaves in its index."""
        names = (_names(part) for part in (self._body, loop.node))
        everywhere, inside = ([name for name in found if name == loop.index] for found in names)
        return loop.declared_type is None and len(everywhere) > len(inside)

    def _ends(
        self, loop: CanonicalLoop, subscripts: list[Node], changed: Set[str], inward: int, kind: str
    ) -> list[list[Node]] | None:
        """The subscripts in the first and in the last iteration, between which those of all others are; None if unknown."""
        degrees = [_degree(subscript, loop.index, changed) for subscript in subscripts]
        names = {*_names(loop.start), *_names(loop.bound)}
        if None in degrees or loop.index in names | changed or names & changed:
            return None
        if any(degrees) and (len(subscripts) > 1 or self._wraps(subscripts[0])):
            return None
        if not any(degrees):
            return [subscripts]
        (subscript,) = subscripts
        last = cast_to(kind, add(loop.bound, inward) if inward else loop.bound)
        return [[substitute(subscript, loop.index, end)] for end in (cast_to(kind, loop.start), last)]


def _flat(node: Node) -> list[Node]:
    """The statements of a block in a block that declares nothing."""
    parts = node.block_items if isinstance(node, Compound) else None
    if not parts or any(isinstance(part, c_ast.Decl) for part in parts):
        return [node]
    return [left for part in parts for left in _flat(part)]


def _names(node: Node) -> list[str]:
    return [part.name for part in walk(node) if isinstance(part, c_ast.ID)]


def _jumps(node: Node) -> bool:
    return any(isinstance(part, (c_ast.Break, c_ast.Continue)) for part in walk(node))


def _degree(node: Node, index: str, changed: Set[str]) -> int | None:
    """0 where an expression is the same in all iterations of a loop, 1 where it grows or falls evenly with the loop's index,
    None where it may do anything else.
    """
    match node:
        case c_ast.ID(name=name):
            return 1 if name == index else None if name in changed else 0
        case c_ast.Constant():
            return 0
        case c_ast.UnaryOp(op="-" | "+", expr=inner):
            return _degree(inner, index, changed)
        case c_ast.BinaryOp(op="+" | "-", left=left, right=right):
            found = _degree(left, index, changed), _degree(right, index, changed)
            return None if None in found else max(part for part in found if part is not None)
        case c_ast.BinaryOp(op="*", left=left, right=right):
            found = _degree(left, index, changed), _degree(right, index, changed)
            return (
                None if None in found or found == (1, 1) else max(part for part in found if part is not None)
            )
        case _:
            return None if {index, *changed}.intersection(_names(node)) else 0


def only_leaves(node: Node) -> bool:
    """Whether what is left of a statement does nothing but to leave the loop around it, or its iteration."""
    if isinstance(node, c_ast.If):
        sides = (side for side in (node.iftrue, node.iffalse) if side is not None)
        return all(only_leaves(part) for side in sides for part in statements(side))
    if isinstance(node, Compound):
        return all(map(only_leaves, node.block_items or []))
    return isinstance(node, (c_ast.Break, c_ast.Continue))
