"""ArrCopy: work on a copy of an array's tile in a local buffer (packing).

    for (i = ii; i < ii + 32; i++)      double b_buf[32][32];
      for (k = kk; k < kk + 32; k++)    for (int k_copy = kk; k_copy < kk + 32; k_copy++)
        for (j = jj; j < jj + 32; j++)    for (int j_copy = jj; j_copy < jj + 32; j_copy++)
          c[i][j] += a[i][k] * b[k][j];     b_buf[k_copy - kk][j_copy - jj] = b[k_copy][j_copy];
                                        for (i = ii; i < ii + 32; i++)
                                          for (k = kk; k < kk + 32; k++)
                                            for (j = jj; j < jj + 32; j++)
                                              c[i][j] += a[i][k] * b_buf[k - kk][j - jj];

The buffer is filled before the outermost of the named loops, and before loops around that which leave the
tile the same; it is written back behind them where they write the array.  Source: M. Lam, E. Rothberg, M. Wolf, "The cache performance and optimizations of
blocked algorithms", ASPLOS 1991, section 5.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from orio_py.core.expr import Value
from orio_py.ctree.build import block, declare, index
from orio_py.ctree.loops import loops_in, sole_statement
from orio_py.ctree.nodes import For, Node, c_ast, substatements
from orio_py.ctree.rewrite import walk
from orio_py.transformation.arguments import positive_int, text, wrong
from orio_py.transformation.base import Context, Refusal, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.loop_names import index_name
from orio_py.transformation.sites import Change, rewrite_where
from orio_py.transformation.storage.array_copy_check import CopiedTile, checked_tile, reference_in
from orio_py.transformation.storage.array_copy_loops import copied_in, copied_out, positions
from orio_py.transformation.storage.array_uses.items import Ref
from orio_py.transformation.storage.array_uses.rebuild import BlockRewriter, with_references
from orio_py.transformation.storage.scalar_replace import check_type, type_name

_SUFFIX = re.compile(r"\w+")

_Reference = tuple[str, tuple[str, ...]]
"""An array, and the variables in its subscripts."""


@dataclass(frozen=True, slots=True)
class ArrCopy:
    """Keep the tile of `aref` (such as `a[i][j]`) that the loops over `i` and `j` use in a buffer.

    `dimsizes` are the extents of the buffer, which is named by the array and `suffix`.  `dtype` is the
    element type of an array without a visible declaration; `force` takes other arrays and pointers not to
    overlap this one.
    """

    aref: str
    dimsizes: tuple[int, ...]
    suffix: str = "_buf"
    dtype: str | None = None
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The tree with the buffer filled before the named loops; `node` is not modified.

        Raises Refusal: ORIO-T011 to T041, ORIO-T060 to T068.
        """
        reference = name, variables = self._reference(node)
        heads = [loop for loop in _outermost(node, variables) if _mentions(loop, name)]
        if not heads:
            refuse(
                "ORIO-T063",
                f"ArrCopy finds no loop over {_listed(variables)} that uses `{name}`",
                node,
                argument="aref",
            )
        for head in heads:
            node = self._with_buffer(node, head, reference, frozenset(), context)
        return node

    def _with_buffer(
        self, node: Node, head: For, reference: _Reference, outer: frozenset[str], context: Context
    ) -> Node:
        """The tree with a buffer for a loop's tile, or for rows of it where inner loops have no range of their own in it."""
        try:
            return self._outside(node, head, reference, outer, context)
        except Refusal as refusal:
            name, variables = reference
            rows = [loop for loop in _outermost(head.stmt, variables) if _mentions(loop, name)]
            if not rows or refusal.diagnostics[0].code not in {"ORIO-T030", "ORIO-T064"}:
                raise
            around = outer | {index_name(head) or ""}
            try:
                for row in rows:
                    node = self._with_buffer(node, row, reference, around, context)
            except Refusal:
                raise refusal from None
            return node

    def _outside(
        self, node: Node, head: For, reference: _Reference, outer: frozenset[str], context: Context
    ) -> Node:
        """The tree with the buffer filled as far outside of a loop as its tile is the same."""

        def change(loop: Node, inner: Context) -> Node:
            return self._copied(loop, reference, outer, inner)

        for place in _perfectly_around(node, head):
            with contextlib.suppress(Refusal):
                return _rewritten(node, place, change, context)
        return _rewritten(node, head, change, context)

    def _reference(self, node: Node) -> _Reference:
        name, variables = reference_in(self.aref, node)
        if len(self.dimsizes) != len(variables):
            refuse(
                "ORIO-T062",
                f"`dimsizes` has {len(self.dimsizes)} sizes, but `{self.aref}` has {len(variables)} dimensions",
                node,
                argument="dimsizes",
            )
        for size in self.dimsizes:
            if size < 1:
                refuse(
                    "ORIO-T011",
                    f"`dimsizes` holds {size}; sizes are at least 1",
                    node,
                    argument="dimsizes",
                )
        if not _SUFFIX.fullmatch(self.suffix):
            refuse(
                "ORIO-T013",
                f"{self.suffix!r} cannot end the name of a variable",
                node,
                argument="suffix",
            )
        if self.dtype is not None:
            check_type(self.dtype, "dtype", node)
        return name, variables

    def _copied(self, head: Node, reference: _Reference, outer: frozenset[str], context: Context) -> Node:
        name, variables = reference
        tile = checked_tile(
            head,
            name,
            variables,
            self.dimsizes,
            context,
            dtype=self.dtype,
            force=self.force,
            outer=outer,
        )
        names = context.names(head)
        buffer = names.fresh(name + self.suffix)
        variables = tuple(names.fresh(f"{side.loop.index}_copy") for side in tile.sides)
        replaced = {ref: index(buffer, *positions(tile, offsets)) for ref, offsets in tile.references.items()}
        loops = _Buffered(tile, replaced).body(head, tile.uses.root, None)
        parts: list[Node] = [declare(tile.type, buffer, dimensions=tile.of_sides(self.dimsizes))]
        if tile.reads:
            parts.append(copied_in(tile, buffer, variables, context))
        parts.append(loops)
        if tile.written:
            parts.append(copied_out(tile, buffer, variables, context))
        return block(*parts)


class _Buffered(BlockRewriter[None]):
    """Puts elements of the buffer in the place of those of the array."""

    def __init__(self, tile: CopiedTile, replaced: Mapping[Ref, Node]) -> None:
        self._uses, self._replaced = tile.uses, replaced

    def expression(self, node: Node, state: None) -> Node:
        """The expression with the buffer's elements."""
        return with_references(node, self._uses, self._replaced)


def _rewritten(node: Node, place: For, change: Change, context: Context) -> Node:
    return rewrite_where(node, lambda n: n is place, change, context)


def _perfectly_around(node: Node, head: For) -> list[For]:
    """The loops that hold nothing but a loop, outermost first."""
    around = {id(sole_statement(loop.stmt)): loop for loop in loops_in(node)}
    chain: list[For] = []
    inner = head
    while (outer := around.get(id(inner))) is not None:
        chain.insert(0, outer)
        inner = outer
    return chain


def _outermost(node: Node, variables: tuple[str, ...]) -> list[For]:
    """The loops over one of the variables that are inside no other such loop."""
    found: list[For] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, For) and index_name(current) in variables:
            found.append(current)
        else:
            stack.extend(reversed(substatements(current)))
    return found


def _mentions(loop: For, name: str) -> bool:
    return any(isinstance(part, c_ast.ID) and part.name == name for part in walk(loop))


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _sizes(value: Value, name: str) -> tuple[int, ...]:
    """A list of sizes, or one size.  Raises Refusal: ORIO-T010, ORIO-T011."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (positive_int(value, name),)
    if not isinstance(value, (list, tuple)) or not value:
        wrong(name, "a list of sizes, one for each dimension", value)
    return tuple(positive_int(item, name) for item in value)


ENTRY = Entry(
    "ArrCopy",
    "work on a copy of an array's tile in a local buffer",
    (
        ArgumentSpec("aref", "text such as 'a[i][j]'", "the array, with a loop for each dimension", text),
        ArgumentSpec("dimsizes", "list of integers, at least 1", "extents of the buffer", _sizes),
        ArgumentSpec(
            "suffix",
            "end of a C identifier",
            "the buffer is named by the array and this",
            text,
            default="'_buf'",
        ),
        ArgumentSpec(
            "dtype",
            "C type, or None",
            "element type of an array without a visible declaration",
            type_name,
            default="None",
        ),
        FORCE,
    ),
    ArrCopy,
)
