"""The loops over tiles, and over one tile, of a loop or of a band of perfectly nested loops.

    for (i = 0; i < n; i++)             for (int ii = 0; ii < n; ii += 32)
      for (j = i; j < i + m; j++)         for (int jj = ii; jj < ii + m + 31; jj += 32)
        …                                   for (i = ii; i < (n - ii < 32 ? n : ii + 32); i++)
                                              for (j = jj > i ? jj : i; j < (i + m - jj < 32 ? …); j++)
                                                …

A tile of a loop is a block of consecutive values of its index.  Where bounds depend on the index of another
loop of the band, the loop over tiles takes the widest range that they have in a tile of that loop; some of
its tiles may be empty.  So the grid of tiles is the same for all iterations that are in one tile of the loops
further out, which is what the order of the tiles needs: of two iterations, the first loop in which their
tiles differ decides, and there the one with the larger index is in the later tile.
Source: M. Wolf, M. Lam, "A data locality optimizing algorithm", PLDI 1991.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orio_py.ctree.bounds import with_header
from orio_py.ctree.build import (
    add,
    advance,
    as_long,
    assign,
    binary,
    declare,
    for_,
    ident,
    literal_value,
    sub,
    ternary,
)
from orio_py.ctree.ctype import ctype
from orio_py.ctree.dependence.affine import Linear
from orio_py.ctree.linear_expressions import LinearExpressions, leaves, shifted, total
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import For, Node
from orio_py.ctree.rewrite import copy_with, used_names
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.tiling.permute import in_place_of
from orio_py.transformation.types import (
    control_type,
    index_type,
    is_natural,
    mentions_unsigned,
    same_signedness,
    signedness_of_type,
)


@dataclass(frozen=True, slots=True)
class BlockedLoop:
    """A loop that runs in blocks of `size` index values, which the new index `name` counts."""

    view: CanonicalLoop
    size: int
    name: str

    @property
    def span(self) -> int:
        """The distance from the first to the last index value of a block."""
        return self.size - abs(self.view.stride)

    def over_blocks(self, start: Node, bound: Node, inner: Node, context: Context) -> For:
        """The loop over the blocks of a range, with `inner` as its body."""
        kind = control_type(self.view, context)
        cond = binary(self.view.relation, ident(self.name), bound)
        return for_(declare(kind, self.name, start), cond, self._step(bound, kind, context), inner)

    def end(self, context: Context) -> Node:
        """The bound of the loop over one block: `n - ii < 32 ? n : ii + 32`."""
        # `bound - ii` stays in the type where `ii + size` may not.
        view, here = self.view, ident(self.name)
        end = self.size if view.relation in {"<", ">"} else self.span
        last = add(here, end) if view.upward else sub(here, end)
        trips = view.trip_count() if is_natural(view.start, context) else None
        if trips is not None and trips % (self.size // abs(view.stride)) == 0:
            return last
        room = sub(view.bound, here) if view.upward else self._above(view.bound)
        return ternary(binary("<", room, self.size), view.bound, last)

    def _above(self, bound: Node) -> Node:
        here = ident(self.name)
        return here if literal_value(bound) == 0 else sub(here, bound)

    def _step(self, bound: Node, kind: str, context: Context) -> Node:
        upward = self.view.upward
        if upward or (signedness_of_type(kind) == "signed" and not mentions_unsigned(bound, context)):
            return advance(self.name, self.size if upward else -self.size)
        # What is unsigned, or compared as such, must not step below zero: the last step ends just where
        # the test fails.
        here = ident(self.name)
        if self.view.relation == ">":
            more = binary(">", self._above(bound), self.size)
            return assign(self.name, ternary(more, sub(here, self.size), bound))
        if literal_value(bound) == 0:
            return advance(
                self.name, -self.size
            )  # Nothing unsigned is below zero, so that the test never fails.
        more = binary(">=", self._above(bound), self.size)
        return assign(self.name, ternary(more, sub(here, self.size), sub(_as_index(bound, kind, context), 1)))


def _as_index(bound: Node, kind: str, context: Context) -> Node:
    """A bound in the type of the index where that is wider: its own may have nothing below 0."""
    own, wider = expression_type(bound, context), ctype(kind)
    is_as_wide = own is not None and wider is not None and own.promoted.rank >= wider.rank
    return bound if is_as_wide else as_long(bound, kind)


def tiled(blocks: Sequence[BlockedLoop], context: Context) -> Node:
    """The band with all loops over tiles outside all loops over one tile.  Raises Refusal: ORIO-T031."""
    band = _Band(blocks, context)
    body = blocks[-1].view.body
    for number in range(len(blocks) - 1, -1, -1):
        block = blocks[number]
        if number < len(blocks) - 1:
            body = in_place_of(block.view.body, body)
        if not band.is_single(number):
            body = copy_with(band.over_one_tile(number), stmt=body)
    for number in range(len(blocks) - 1, -1, -1):
        body = band.over_tiles(number, body)
    return body


class _Band:
    """Writes the headers of a band; blocks of one value keep their loop, without a loop over tiles."""

    def __init__(self, blocks: Sequence[BlockedLoop], context: Context) -> None:
        self.blocks = blocks
        self.context = context
        self.indices = [block.view.index for block in blocks]
        kinds = {signedness_of_type(index_type(block.view, context)) for block in blocks}
        self.unsigned = "unsigned" in kinds
        self.forms = LinearExpressions(self.indices, unsigned=self.unsigned)
        for block in blocks:
            self.forms.named(ident(block.name))
        self.dependent = [self._dependent(block.view) for block in blocks]
        for block, dependent in zip(blocks, self.dependent, strict=True):
            if any(dependent):
                self._check_types(block, kinds)

    def is_single(self, number: int) -> bool:
        """Whether the loop is outside as it is, in blocks of one value."""
        block = self.blocks[number]
        return block.size == abs(block.view.stride) and not any(self.dependent[number])

    def over_tiles(self, number: int, inner: Node) -> For:
        """The loop over the tiles of one loop, with `inner` as its body."""
        block = self.blocks[number]
        if self.is_single(number):
            return copy_with(block.view.node, stmt=inner)
        start, bound = self.dependent[number]
        first = self._first(number) if start else block.view.start
        last = self._farthest(number) if bound else block.view.bound
        return block.over_blocks(first, last, inner, self.context)

    def over_one_tile(self, number: int) -> For:
        """The loop over one tile of one loop, with its old body."""
        block, view = self.blocks[number], self.blocks[number].view
        start, bound = self.dependent[number]
        if not start and not bound:
            return with_header(view, ident(block.name), view.relation, block.end(self.context))
        here: Linear = {block.name: 1}
        starts = [here, *self._operands(number, view.start)] if start else [here]
        ends = self._operands(number, view.bound, bound=True)
        reach = block.size if view.relation in {"<", ">"} else block.span
        ends.append(shifted(here, reach if view.upward else -reach))
        return with_header(
            view,
            self.forms.extreme(starts, smallest=not view.upward),
            view.relation,
            self.forms.extreme(ends, smallest=view.upward),
        )

    def _check_types(self, block: BlockedLoop, kinds: set[str]) -> None:
        """Bounds that depend on the band are compared with indices of any tile, not only those in range."""
        kind = index_type(block.view, self.context)
        parts = (leaf for part in (block.view.start, block.view.bound) for leaf in leaves(part))
        if len(kinds) > 1 or not same_signedness(kind, self.context, *parts):
            self._refuse(block, "indices and bounds of the band are not all signed or all unsigned")
        if control_type(block.view, self.context) != kind:
            self._refuse(block, f"its index, a `{kind}`, may be too small for the end of a tile")

    def _dependent(self, view: CanonicalLoop) -> tuple[bool, bool]:
        """Whether start and bound depend on indices of the band, or need the declaration of one: `sizeof(i)`."""
        own = {block.view.index for block in self.blocks if block.view.declared_type is not None}
        reads = (
            self.context.effects(part).reads | (used_names((part,)) & own)
            for part in (view.start, view.bound)
        )
        start, bound = (not names.isdisjoint(self.indices) for names in reads)
        return start, bound

    def _operands(self, number: int, part: Node, *, bound: bool = False) -> list[Linear]:
        """The forms whose extreme a start or bound is."""
        block = self.blocks[number]
        rows = self.forms.operands(part, smallest=block.view.upward == bound)
        for row in rows:
            for index in sorted(self.forms.hidden(row)):
                self._refuse(block, f"its bounds are not linear in `{index}`")
        if self.unsigned:
            known = {"", *self.indices}
            falling = any(factor < 0 for row in rows for name, factor in row.items() if name in known)
            if falling or not block.view.upward:
                self._refuse(block, "its bounds could be negative, which its unsigned index cannot be")
        return rows

    def _in_tile(self, row: Linear, *, lowest: bool) -> Linear:
        """The least (or greatest) value that a form has in a tile."""
        result: Linear = {name: c for name, c in row.items() if name not in self.indices}
        for number, (block, index) in enumerate(zip(self.blocks, self.indices, strict=True)):
            if (factor := row.get(index, 0)) == 0:
                continue
            reach = block.span if block.view.upward else -block.span
            away = min(0, factor * reach) if lowest else max(0, factor * reach)
            if self.unsigned and away < 0:
                self._refuse(block, "its last tile could go on below 0, which its unsigned index cannot be")
            place = index if self.is_single(number) else block.name
            result = total([(result, 1), ({place: factor}, 1), ({"": away}, 1)])
        return result

    def _farthest(self, number: int) -> Node:
        """The bound of the loop over tiles: the farthest that the loop comes in a tile of the others."""
        upward = self.blocks[number].view.upward
        rows = self._operands(number, self.blocks[number].view.bound, bound=True)
        return self.forms.extreme([self._in_tile(row, lowest=not upward) for row in rows], smallest=upward)

    def _first(self, number: int) -> Node:
        """The start of the loop over tiles: the first value that the loop has in a tile of the others."""
        block = self.blocks[number]
        view = block.view
        if abs(view.stride) > 1:
            self._refuse(block, f"it steps by {abs(view.stride)} from a start that depends on the band")
        rows = self._operands(number, view.start)
        near = [self._in_tile(row, lowest=view.upward) for row in rows]
        return self.forms.extreme(near, smallest=not view.upward)

    def _refuse(self, block: BlockedLoop, reason: str) -> None:
        refuse(
            "ORIO-T031",
            f"Tile cannot bound the tiles of the loop `{block.view.index}`: {reason}",
            block.view.node,
            argument="loops",
        )
