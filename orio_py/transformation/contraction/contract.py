"""Contract: sum a contraction of tensors in register tiles.

    for (i = 0; i < 16; i++)                    for (int i = 0; i < 16; i += 2)
      for (j = 0; j < 16; j++)                    for (int j = 0; j < 16; j += 8) {
        for (k = 0; k < 9; k++)                     double sum0[8], sum1[8];
          c[i][j] += a[i][k] * b[k][j];             …          sum0 = c[i][j …], sum1 = c[i + 1][j …]
                                                    for (int k = 0; k < 9; k++)
                                                      for (int column = 0; column < 8; column++) {
                                                        sum0[column] += a[i][k] * b[k][j + column];
                                                        sum1[column] += a[i + 1][k] * b[k][j + column];
                                                      }
                                                    …          c[i][j …] = sum0, c[i + 1][j …] = sum1
                                                  }

Each element is summed in the order of the original, so the results are the same.  Free loops may have any order;
loops over neighbouring elements become one (`flatten`); operands are copied to where the tile reads them one after the
other (`pack`).  Sources: K. Goto, R. van de Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS
34(3), 2008; P. Springer, P. Bientinesi, "Design of a high-performance GEMM-like tensor-tensor multiplication", ACM
TOMS 44(3), 2018.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar, cast

from orio_py.core.expr import Value
from orio_py.core.source import SourceFile
from orio_py.ctree.build import const
from orio_py.ctree.ctype import ctype
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.linear_expressions import LinearExpressions
from orio_py.ctree.loops import CanonicalLoop, loops_in
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.rewrite import Rewriter, substitute, used_names, walk
from orio_py.transformation.arguments import boolean, positive_int, text, texts, wrong
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.contraction.sum_nest import WHAT, SumAxis, SumNest, sum_axis, sum_nest
from orio_py.transformation.contraction.tile_code import Packing, TileNames, TilePlan, tile_text
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.parallel.pragma_text import pragma_lines

_MOST_PACKED = 4096
"""Elements of a packed part where one loop more makes it that small: 32 KiB of `double`, a first-level cache."""
_MOST_ON_STACK = 131072
"""Elements of a packed part at most: 1 MiB of `double`."""
_MOST_IN_TILE = 1024


@dataclass(frozen=True, slots=True)
class Contract:
    """Write a nest `x[…] += product` as loops over register tiles.

    `order` has the free loops around a tile, outermost first; those that it does not name follow.  `flatten` joins
    loops over neighbouring elements, the fastest first; the loop has the first one's name.  `rows` and `columns` are
    a free loop each and how many of its iterations a tile has; columns are vectorised.  `pack` names arrays that are
    copied, `unroll` is for the innermost summed loop, `prefetch` a loop, of the nest or around it, and how many of its
    steps ahead a tile is asked for, `parallel` shares out the outermost loop.  With `sums` as 'scalars' the loop over columns is around the
    summed ones.
    """

    name: ClassVar = WHAT

    order: tuple[str, ...] = ()
    flatten: tuple[tuple[str, ...], ...] = ()
    rows: tuple[str, int] | None = None
    columns: tuple[str, int] | None = None
    pack: tuple[str, ...] = ()
    unroll: int = 1
    prefetch: tuple[str, int] | None = None
    parallel: bool = False
    sums: str = "arrays"
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The nest in tiles; `node` is not modified.

        Raises Refusal: ORIO-T010, T011, T015, T016, T020 to T029, T040, T041, T060, T150 to T153.
        """
        nest = sum_nest(node, context, force=self.force)
        nest = self._flattened(nest, node)
        order = self._order(nest, node)
        blocks = self._blocks(nest, node)
        rows, columns = (None if part is None else part[0] for part in (self.rows, self.columns))
        plan = TilePlan(
            nest,
            order,
            blocks,
            rows,
            columns,
            _names(nest, node, context, rows=self.rows[1] if self.rows else 1, parallel=self.parallel),
            unroll=self.unroll,
            parallel=self.parallel,
            by_columns=self.sums == "scalars",
        )
        kind = ctype(nest.type)
        plan = replace(plan, element_bytes=4 if kind is not None and "float" in nest.type else 8)
        if self.prefetch is not None:
            around = self._around(self.prefetch[0], nest, context)
            if around is None:
                self._require_free(self.prefetch[0], nest, node, "prefetch")
            plan = replace(plan, prefetch=self.prefetch, around=around)
        if self.parallel and not order:
            refuse("ORIO-T150", f"{WHAT} has no free loop to share out", node, argument="parallel")
        plan = replace(plan, packings=tuple(self._packings(plan, node, context)))
        return _parsed(tile_text(plan))

    def _flattened(self, nest: SumNest, node: Node) -> SumNest:
        for group in self.flatten:
            for index in group:
                self._require_free(index, nest, node, "flatten")
            if len(set(group)) < len(group):
                refuse("ORIO-T016", f"a loop stands twice in {list(group)}", node, argument="flatten")
            nest = _joined(nest, group, node)
        return nest

    def _around(self, index: str, nest: SumNest, context: Context) -> SumAxis | None:
        """The loop around the nest with an index, unless one of the nest has it.  Raises Refusal: ORIO-T151."""
        if nest.axis(index) is not None:
            return None
        loops = [loop for loop in context.surrounding if loop.index == index]
        return sum_axis(loops[-1], context) if loops else None

    def _require_free(self, index: str, nest: SumNest, node: Node, argument: str) -> None:
        if any(axis.index == index for axis in nest.free):
            return
        listed = ", ".join(f"`{axis.index}`" for axis in nest.free) or "there is none"
        message = f"`{index}` is no loop over elements of the result; those are {listed}"
        refuse("ORIO-T015", message, node, argument=argument)

    def _order(self, nest: SumNest, node: Node) -> tuple[str, ...]:
        for index in self.order:
            self._require_free(index, nest, node, "order")
            if self.order.count(index) > 1:
                refuse("ORIO-T016", f"the loop `{index}` is named twice", node, argument="order")
        return (*self.order, *(axis.index for axis in nest.free if axis.index not in self.order))

    def _blocks(self, nest: SumNest, node: Node) -> Mapping[str, int]:
        for argument, part in (("rows", self.rows), ("columns", self.columns)):
            if part is not None:
                self._require_free(part[0], nest, node, argument)
                if part[1] < 1:
                    refuse(
                        "ORIO-T011",
                        f"`{argument}` is {part[1]}; it must be at least 1",
                        node,
                        argument=argument,
                    )
        if self.rows is not None and self.columns is not None and self.rows[0] == self.columns[0]:
            message = f"rows and columns are both of the loop `{self.rows[0]}`"
            refuse("ORIO-T016", message, node, argument="columns")
        blocks = dict(part for part in (self.rows, self.columns) if part is not None)
        if prod(blocks.values()) > _MOST_IN_TILE:
            message = f"a tile has {prod(blocks.values())} elements; at most {_MOST_IN_TILE} are possible"
            refuse("ORIO-T011", message, node, argument="rows")
        return blocks

    def _packings(self, plan: TilePlan, node: Node, context: Context) -> Iterator[Packing]:
        supply = context.names(node)
        for array in self.pack:
            found = {
                emit_expression(part): part for part in _accesses(plan.nest.value) if _array_of(part) == array
            }
            if len(found) != 1:
                what = "does not read it" if not found else "reads it in several ways"
                refuse(
                    "ORIO-T153", f"{WHAT} cannot pack `{array}`: the product {what}", node, argument="pack"
                )
            declared = context.declarations.get(array)
            if declared is None:
                refuse(
                    "ORIO-T060", f"{WHAT} needs the type of `{array}`, whose declaration is not visible", node
                )
            source = next(iter(found.values()))
            yield _packing(plan, source, supply.fresh(f"{array}_packed"), declared.type, node)


def _packing(plan: TilePlan, source: Node, name: str, kind: str, node: Node) -> Packing:
    """The part that is copied: inside as few loops as make it small."""
    used = used_names([source])
    axes = [axis for axis in (*plan.nest.free, *plan.nest.summed) if axis.index in used]

    def part(depth: int) -> list[SumAxis]:
        opened = plan.order[:depth]
        return [axis for axis in axes if axis.index not in opened or axis.index in plan.blocks]

    def size(depth: int) -> int:
        opened = plan.order[:depth]
        return prod(plan.blocks[a.index] if a.index in opened else a.extent for a in part(depth))

    depths = range(len(plan.order) + 1)
    depth = next((d for d in depths if size(d) <= _MOST_PACKED), len(plan.order))
    if size(depth) > _MOST_ON_STACK:
        message = (
            f"{WHAT} cannot pack `{name}`: a part has {size(depth)} elements, more than {_MOST_ON_STACK}"
        )
        refuse("ORIO-T153", message, node, argument="pack")
    summed = [axis.index for axis in plan.nest.summed]
    last = [*summed, *[a for a in (plan.rows, plan.columns) if a is not None]]
    ordered = sorted(part(depth), key=lambda a: last.index(a.index) if a.index in last else -1)
    return Packing(name, kind, source, depth, tuple(ordered))


def _accesses(value: Node) -> list[c_ast.ArrayRef]:
    """The accesses to elements, each with all its subscripts."""
    found = [part for part in walk(value) if isinstance(part, c_ast.ArrayRef)]
    rows = {id(part.name) for part in found}
    return [part for part in found if id(part) not in rows]


def _array_of(node: c_ast.ArrayRef) -> str:
    base: Node = node
    while isinstance(base, c_ast.ArrayRef):
        base = base.name
    return str(base.name) if isinstance(base, c_ast.ID) else ""


def _joined(nest: SumNest, group: Sequence[str], node: Node) -> SumNest:
    """The nest with one axis for those of the group.  Raises Refusal: ORIO-T152."""
    axes = [axis for axis in (nest.axis(index) for index in group) if axis is not None]
    fast, *others = axes
    if any(axis.start for axis in axes):
        refuse("ORIO-T152", f"{WHAT} joins loops that begin at 0", node, argument="flatten")
    readers = [part for part in (nest.target, nest.value, nest.initial) if part is not None]
    for part in readers:
        _require_neighbours(part, axes, node)
    merged = replace(fast, extent=prod(axis.extent for axis in axes))
    gone = {axis.index for axis in others}

    def without(part: Node) -> Node:
        for index in gone:
            part = substitute(part, index, const(0))
        return part

    return replace(
        nest,
        free=tuple(merged if axis is fast else axis for axis in nest.free if axis.index not in gone),
        target=without(nest.target),
        value=without(nest.value),
        initial=None if nest.initial is None else without(nest.initial),
    )


def _require_neighbours(part: Node, axes: Sequence[SumAxis], node: Node) -> None:
    """The axes go over neighbouring elements of each array, the first one fastest, or over none."""
    indices = [axis.index for axis in axes]
    accesses = [sub for sub in walk(part) if isinstance(sub, c_ast.ArrayRef)]
    inside = {id(below) for access in accesses for below in walk(access)}
    if any(isinstance(p, c_ast.ID) and p.name in indices and id(p) not in inside for p in walk(part)):
        refuse(
            "ORIO-T152",
            f"{WHAT} joins loops whose indices are used in subscripts alone",
            node,
            argument="flatten",
        )
    for access in accesses:
        if not used_names([access]) & set(indices):
            continue
        forms = LinearExpressions(indices)
        row = forms.read(access.subscript)
        steps = [row.get(index, 0) for index in indices]
        wanted = [steps[0] * prod(axis.extent for axis in axes[:k]) for k in range(len(axes))]
        hidden = forms.hidden(row) or isinstance(access.name, c_ast.ArrayRef)
        if hidden or steps != wanted or not steps[0]:
            shown = ", ".join(f"`{index}`" for index in indices)
            message = (
                f"{WHAT} cannot join {shown}: `{emit_expression(access)}` has other elements between theirs"
            )
            refuse("ORIO-T152", message, access, argument="flatten")


def _names(nest: SumNest, node: Node, context: Context, *, rows: int, parallel: bool) -> TileNames:
    """What variables are called.

    An index keeps its name, and its declaration if that stands outside; threads have indices of their own.
    """
    supply = context.names(node)
    loops = [loop for part in loops_in(node) if (loop := CanonicalLoop.match(part)) is not None]
    outside = frozenset(loop.index for loop in loops if loop.declared_type is None)
    fresh = outside if parallel else frozenset[str]()
    indices = [axis.index for axis in (*nest.free, *nest.summed)]
    return TileNames(
        {index: supply.fresh(index) if index in fresh else index for index in indices},
        {index: supply.fresh(f"{index}_at") for index in indices},
        outside - fresh,
        tuple(supply.fresh(f"sum{row}") for row in range(rows)),
        supply.fresh("column"),
        supply.fresh("ahead"),
    )


class _Pragmas(Rewriter):
    """Pragmas that only the compilers see that know them."""

    def visit_Pragma(self, node: c_ast.Pragma) -> list[Node]:
        return list(pragma_lines([node.string]))


def _parsed(code: str) -> Node:
    source = SourceFile(WHAT, f"{{\n{code}\n}}\n".encode("latin-1"))
    tree = parse_statements(source.text, source=source, start=0)
    return _Pragmas().rewrite((tree.block_items or [tree])[0])


def _part(value: Value, name: str) -> tuple[str, int] | None:
    """`('i', 8)`, or `()` for none.  Raises Refusal: ORIO-T010, T011."""
    if not isinstance(value, (list, tuple)) or len(value) not in (0, 2):
        wrong(name, "a loop and a number: ('i', 8), or () for none", value)
    if not value:
        return None
    return text(value[0], name), positive_int(value[1], name)


def _sums(value: Value, name: str) -> str:
    """Raises Refusal: ORIO-T010."""
    if value not in ("arrays", "scalars"):
        wrong(name, "'arrays' or 'scalars'", value)
    return str(value)


def _groups(value: Value, name: str) -> tuple[tuple[str, ...], ...]:
    """`[['i', 'j'], …]`.  Raises Refusal: ORIO-T010."""
    if not isinstance(value, (list, tuple)) or any(isinstance(item, str) for item in value):
        wrong(name, "a list of lists of loops, such as [['j', 'i']]", value)
    groups = (texts(item, name) for item in cast("list[Value]", value))
    return tuple(group for group in groups if len(group) > 1)


ENTRY = Entry(
    "Contract",
    "sum a contraction of tensors in register tiles",
    (
        ArgumentSpec("order", "list of loops", "the free loops, outermost first", texts, default="[]"),
        ArgumentSpec(
            "flatten",
            "list of lists of loops",
            "loops that become one, the fastest first",
            _groups,
            default="[]",
        ),
        ArgumentSpec("rows", "(loop, integer)", "the rows of a tile", _part, default="()"),
        ArgumentSpec(
            "columns", "(loop, integer)", "the columns of a tile, which are vectorised", _part, default="()"
        ),
        ArgumentSpec("pack", "list of arrays", "operands that are copied", texts, default="[]"),
        ArgumentSpec(
            "unroll",
            "integer, at least 1",
            "copies of the innermost summed loop's body",
            positive_int,
            default="1",
        ),
        ArgumentSpec(
            "prefetch",
            "(loop, integer)",
            "ask for the tile so many steps of the loop ahead",
            _part,
            default="()",
        ),
        ArgumentSpec(
            "parallel", "True or False", "share out the outermost loop (OpenMP)", boolean, default="False"
        ),
        ArgumentSpec(
            "sums",
            "'arrays' or 'scalars'",
            "what holds the sums of a tile: an array for each row, or scalars inside the loop over columns",
            _sums,
            default="'arrays'",
        ),
        FORCE,
    ),
    Contract,
)
