"""Scans in two passes over tiles: what each tile adds, then each tile's running values from what those before it add.

    for (t = 0; t < 1024; t++) {                 for (t = 0; t < 1024; t++) {
      s = 0;                                       s = first;
      for (i = from(t); i < from(t + 1); i++)      for (k = 0; k < t; k++)
        s += x[i];                                   s += totals[k];
      totals[t] = s;                               for (i = from(t); i < from(t + 1); i++) {
    }                                                s += x[i];
                                                     y[i] = s;
                                                   }
                                                 }

The number of tiles is fixed, so that their values have a place whatever the number of iterations.

Where the running value places what iterations write, its last value is found between the passes: it says where that ends.

Source: D. Merrill and A. Grimshaw, "Parallel scan for stream architectures", University of Virginia CS2009-14, 2009
(reduce-then-scan).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from orio_py.ctree.bounds import with_header
from orio_py.ctree.build import (
    add,
    as_long,
    assign,
    binary,
    block,
    cast_to,
    const,
    declare,
    for_,
    ident,
    if_,
    index,
    literal_value,
    mul,
    ternary,
    unary,
)
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import copy_with
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.transformation.base import Context
from orio_py.transformation.parallel.compaction import Compaction, compaction_of
from orio_py.transformation.parallel.data_sharing import Sharing, require_independent, require_order_free
from orio_py.transformation.parallel.scans import PrefixScan, scan_of
from orio_py.transformation.types import index_type

_WORDS = (
    "tile",
    "before",
    "begin",
    "end",
    "count",
    "length",
    "first",
    "totals",
    "last",
    "behind",
    "stop",
    "kept",
)


@dataclass(frozen=True, slots=True)
class FoundScan:
    """A loop whose iterations depend on each other by a running value alone, what else they share being in clauses.

    `placed` are the writes that the value places.
    """

    loop: CanonicalLoop
    scan: PrefixScan
    shared: Sharing
    placed: Compaction | None

    @classmethod
    def of(cls, loop: CanonicalLoop, context: Context) -> FoundScan | None:
        """The scan that a loop is; None where it is none."""
        placed = compaction_of(loop, context)
        loop = loop if placed is None else placed.loop
        found = scan_of(loop, context)
        if found is None:
            return None
        scan, shared = found
        return cls(loop, scan, shared, placed if placed is not None and placed.counter == scan.name else None)

    def require_apart(self, what: str, context: Context, *, force: bool) -> None:
        """Nothing else passes between iterations, and the values may be combined in parts.

        Raises Refusal: ORIO-T040, T041, T090.
        """
        independent = self.loop if self.placed is None else self.placed.spaced
        require_independent([independent], self.shared, what, context, force=force)
        require_order_free(self.shared, what, context, force=force)


@dataclass(frozen=True, slots=True)
class TiledScan:
    """A scan over `tiles` pieces of a loop, each of a multiple of `width` iterations.

    `neutral` changes nothing when it is combined, `trips` is the loop's number of iterations, `placed` are the writes that the
    variable places, `names` are those of new variables; `is_live` says that the variable's value is read afterwards.
    """

    loop: CanonicalLoop
    scan: PrefixScan
    neutral: Node
    trips: Node
    tiles: int
    width: int
    context: Context
    placed: Compaction | None
    names: Mapping[str, str]

    @classmethod
    def of(
        cls, found: FoundScan, neutral: Node, trips: Node, tiles: int, width: int, context: Context
    ) -> TiledScan:
        """A scan whose new variables have names that are free."""
        supply = context.names(found.loop.node)
        names = {word: supply.fresh(f"{found.scan.name}_{word}") for word in _WORDS}
        return cls(found.loop, found.scan, neutral, trips, tiles, width, context, found.placed, names)

    @property
    def is_live(self) -> bool:
        """Whether the variable is read behind the loop."""
        return self.scan.name in self.context.live_after | self.context.exposed

    @property
    def declarations(self) -> list[Node]:
        """What stands before the passes: the first value, numbers of iterations, and the arrays."""
        kind, step = self._kind, self.tiles * self.width
        count = self._name("count")
        trips = self.trips if isinstance(self.trips, c_ast.Cast) else as_long(self.trips)
        whole = binary("/", binary("+", count, step - 1), step)
        return [
            declare(f"const {kind}", self.names["first"], ident(self.scan.name)),
            declare("const long", count.name, ternary(binary(">", self.trips, 0), trips, 0)),
            declare("const long", self.names["length"], mul(whole, self.width)),
            declare(kind, self.names["totals"], dimensions=[self.tiles]),
            *([declare(kind, self.names["last"], dimensions=[1])] if self._keeps_last else []),
        ]

    @property
    def room(self) -> Node | None:
        """The test that the values of the variable have a place in its type, where that is not known."""
        return None if self.placed is None else self.placed.has_room(self._name("count"))

    @property
    def between(self) -> list[Node]:
        """What stands between the passes: the last value, where it says how much the second one writes."""
        if self.placed is None:
            return []
        behind, first, limit = self._name("behind"), self._name("first"), self.placed.limit
        total = self._over_totals(const(self.tiles), self._combined(behind))
        found = [declare(self._kind, behind.name, first), total]
        if limit is None:
            return found
        most = ternary(binary("<", first, limit), limit, first)
        stopped = ternary(binary("<", behind, limit), behind, most)
        return [*found, declare(f"const {self._kind}", self.names["stop"], stopped)]

    @property
    def _end_of_writes(self) -> c_ast.ID:
        """The value of the variable behind those that place writes."""
        return self._name("behind" if self.placed is None or self.placed.limit is None else "stop")

    @property
    def result(self) -> list[Node]:
        """What stands behind the passes."""
        if not self.is_live:
            return []
        if self._keeps_last:
            return [assign(self.scan.name, index(self.names["last"], 0))]
        stops = self.placed is not None and self.placed.stops
        return [assign(self.scan.name, self._end_of_writes if stops else self._name("behind"))]

    @property
    def _keeps_last(self) -> bool:
        return self.is_live and self.placed is None

    @property
    def inside(self) -> Context:
        """What is known where the passes stand: the values of the loop's variables are not read behind them."""
        declared: dict[str, CDeclaration] = {}
        for node in (*self.declarations, *(one for one in self.between if isinstance(one, c_ast.Decl))):
            found = declaration_of(node)
            declared[found.name] = found
        own = {self.scan.name, self.loop.index}
        return replace(
            self.context,
            declarations={**self.context.declarations, **declared},
            live_after=self.context.live_after - own,
            exposed=self.context.exposed - own,
            pragmas=(),
        )

    def totals(self, *, whole: bool = False) -> Node:
        """The pass that finds what each tile combines; where `whole`, one that touches the same elements in each tile."""
        return self._over_tiles(
            assign(self.scan.name, self.neutral),
            *self._pieces(self.scan.value, whole=whole),
            assign(index(self.names["totals"], self._name("tile")), ident(self.scan.name)),
        )

    def values(self, *, whole: bool = False) -> Node:
        """The pass over the iterations; `whole` as above."""
        tile = self._name("tile")
        last: list[Node] = []
        if self._keeps_last:
            keep = assign(index(self.names["last"], 0), ident(self.scan.name))
            last = [keep if whole else if_(binary("==", tile, self.tiles - 1), keep)]
        body, placed = self.scan.body, list[Node]()
        if whole and self.placed is not None:
            body, placed = self.placed.without_writes.body, [self._all_placed(self.placed)]
        return self._over_tiles(
            assign(self.scan.name, self._name("first")),
            self._over_totals(const(self.tiles) if whole else tile, self._combined(ident(self.scan.name))),
            *self._pieces(body, whole=whole),
            *placed,
            *last,
        )

    def _all_placed(self, placed: Compaction) -> Node:
        """A loop that writes what the iterations do at the places that the variable has had."""
        kept = self._name("kept")
        header = (
            declare(self._kind, kept.name, self._name("first")),
            binary("<", kept, self._end_of_writes),
            unary("p++", kept),
        )
        return for_(*header, block(*placed.filled(kept)))

    @property
    def _kind(self) -> str:
        return self.context.declarations[self.scan.name].type

    def _name(self, word: str) -> c_ast.ID:
        return ident(self.names[word])

    def _over_totals(self, end: Node, combined: Node) -> Node:
        """A loop over what the tiles before one combine."""
        before = self._name("before")
        return for_(
            declare("int", before.name, 0), binary("<", before, end), unary("p++", before), block(combined)
        )

    def _combined(self, variable: Node) -> Node:
        """A variable with what a tile combines."""
        value, operator = index(self.names["totals"], self._name("before")), self.scan.operator
        if operator not in {"min", "max"}:
            return assign(variable, value, f"{operator}=")
        relation = "<" if operator == "min" else ">"
        return assign(variable, ternary(binary(relation, value, variable), value, variable))

    def _over_tiles(self, *items: Node) -> Node:
        tile = self._name("tile")
        header = declare("int", tile.name, 0), binary("<", tile, self.tiles), unary("p++", tile)
        return for_(*header, block(*items))

    def _pieces(self, body: Node, *, whole: bool) -> list[Node]:
        """The loop over the iterations of a tile, or all of them."""
        loop, tile = (
            replace(self.loop, node=copy_with(self.loop.node, stmt=body), body=body),
            self._name("tile"),
        )
        if whole:
            return [loop.node]
        begin, end = self._name("begin"), self._name("end")
        kind = index_type(loop, self.context)
        return [
            declare(f"const {kind}", begin.name, self._bound(tile, kind)),
            declare(f"const {kind}", end.name, self._bound(add(tile, 1), kind)),
            with_header(loop, begin, "<" if loop.upward else ">", end),
        ]

    def _bound(self, tile: Node, kind: str) -> Node:
        """The index of a tile's first iteration."""
        count = self._name("count")
        number = binary("*", tile, self._name("length"))
        done = ternary(binary("<", number, count), number, count)
        steps = done if self.loop.stride == 1 else binary("*", done, self.loop.stride)
        begin = self.loop.start
        return cast_to(kind, steps if literal_value(begin) == 0 else add(begin, steps))
