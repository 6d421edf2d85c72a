"""Kernels whose items do several vectors of iterations at once, in rows: register tiles of vectors.

    if (orio_whole) {
      double8 t_0_0 = vload8(0, &c[i_0 * n + j_0]);  …      all rows and vectors, side by side
      for (k = 0; k < n; k++) {
        t_0_0 += a[i_0 * n + k] * vload8(0, &b[k * n + j_0]);  …
      }
      …
    } else {
      for (place_i = …)                                     those that exist, one after the other
        for (place_j = …)
          …
    }

The vectors of an item are as far apart as a group has items, its rows as well.  Source: K. Goto, R. van de Geijn,
"Anatomy of high-performance matrix multiplication", ACM TOMS 34(3), 2008 (tiles of sums in vector registers).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from orio_py.codegen.device_names import device_name
from orio_py.codegen.offload.device_tree import Query
from orio_py.codegen.offload.jam import Copy, Jam, own_names, shared_indices
from orio_py.codegen.offload.loops import Layer, counted, dimensions_of, index_declared, nested, query
from orio_py.codegen.offload.reductions import lanes_declared, lanes_merged
from orio_py.codegen.offload.register_tiles import Places, TileSteps, counter_name, index_name, own_name
from orio_py.codegen.offload.statements import Kernel, device_kind, device_statement
from orio_py.codegen.offload.vectors import Vectors, index_lanes, lanes_name
from orio_py.ctree.build import add, binary, call, const, declare, ident, mul
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import rename, used_names
from orio_py.kernel.call import begin_name, place_name
from orio_py.kernel.plan import Axis


def vector_tiles(kernel: Kernel) -> list[Node]:
    """The steps of a group whose items do all their vectors of a step at once."""
    tile = _VectorTile.of(kernel)
    steps = TileSteps(kernel)
    body = steps.chosen([], tile.together(), tile.single(steps))
    return [
        *lanes_declared(kernel),
        *nested(steps.layers, [*steps.declarations, *body]),
        *lanes_merged(kernel),
    ]


@dataclass(frozen=True, slots=True)
class _VectorTile:
    """The vectors of an item; `body` is what each does in lanes."""

    kernel: Kernel
    body: tuple[Node, ...]
    privates: tuple[c_ast.Decl, ...]
    """The declarations of its scalars and vectors."""
    uses_lanes: bool
    """Whether it needs the indices of all lanes."""

    @classmethod
    def of(cls, kernel: Kernel) -> _VectorTile:
        """What the items of a kernel do."""
        vectors, used = Vectors(kernel), used_names(kernel.plan.body)
        body = tuple(vectors.statement(node) for node in kernel.plan.body)
        names = [device_name(name) for name, _ in kernel.plan.private if name in used]
        privates = tuple(declare(vectors.vector_type(name), name) for name in names)
        return cls(kernel, body, privates, vectors.uses_index)

    def together(self) -> list[Node]:
        """All rows and vectors, side by side."""
        plan = self.kernel.plan
        private = [device_name(name) for name, _ in plan.private]
        indices = [device_name(axis.index) for axis in plan.axes]
        varying = frozenset((*private, *indices, *map(lanes_name, indices)))
        shared = shared_indices(self.body, varying)
        own = own_names(self.body, private, shared)
        jam = Jam(tuple(self._copy(places, own) for places in self._all_places()), shared)
        once = [node for node in self.privates if node.name in shared]
        each = [node for node in self.privates if node.name not in shared]
        return [*self._places(), *once, *jam.statements([*each, *self.body])]

    def single(self, steps: TileSteps) -> list[Node]:
        """The iterations of an item that exist, one after the other."""
        plan = self.kernel.plan
        layers: list[Layer] = []
        for axis, d in dimensions_of(plan):
            first, size = query(plan, Query.LOCAL_ID, d), plan.launch.block_size[d]
            end, name = steps.left(axis, d), place_name(axis)
            if d == 0:
                width, vector = plan.launch.vector, f"orio_vector_{axis.index}"
                layers.append(counted(vector, mul(first, width), end, const(size * width), kind="int"))
                last = call("min", binary("+", ident(vector), width), end)
                layers.append(counted(name, ident(vector), last, 1, kind="int"))
            else:
                layers.append(counted(name, first, end, const(size), kind="int"))
        used = used_names(plan.body)
        items: list[Node] = []
        for axis in plan.axes:
            if axis.index in used:
                number = binary("+", ident(begin_name(axis)), ident(place_name(axis)))
                items.append(index_declared(axis, number))
        items += [
            declare(device_kind(kind), device_name(name)) for name, kind in plan.private if name in used
        ]
        return nested(layers, [*items, *(device_statement(node, self.kernel) for node in plan.body)])

    def _places(self) -> list[Node]:
        """The declarations of the numbers and indices of rows and vectors; of those, the first lane's."""
        plan, used = self.kernel.plan, used_names(self.kernel.plan.body)
        assert plan.lanes is not None
        found: list[Node] = []
        for axis, d in dimensions_of(plan):
            first, size = query(plan, Query.LOCAL_ID, d), plan.launch.block_size[d]
            width = plan.launch.vector if d == 0 else 1
            for number in range(self._counts()[d]) if axis.index in used else ():
                name = counter_name(axis, number)
                place = add(mul(first, width), number * size * width)
                found.append(declare("const long", name, binary("+", ident(begin_name(axis)), place)))
                # The first lane is the iteration whose elements stand first in memory.
                backwards = d == 0 and plan.lanes.backwards
                value = binary("+", ident(name), width - 1) if backwards else ident(name)
                found.append(rename(index_declared(axis, value), self._index_names(axis, number)))
                if d == 0 and self.uses_lanes:
                    found.append(rename(index_lanes(axis, plan), self._index_names(axis, number)))
        return found

    def _index_names(self, axis: Axis, number: int) -> dict[str, str]:
        index, own = device_name(axis.index), index_name(axis, number)
        return {index: own, lanes_name(index): lanes_name(own)}

    def _copy(self, places: Places, own: tuple[str, ...]) -> Copy:
        names = {name: own_name(name, places) for name in own}
        for axis, number in zip(self.kernel.plan.axes, places, strict=True):
            names |= self._index_names(axis, number)
        return Copy(names)

    def _counts(self) -> tuple[int, ...]:
        registers = self.kernel.plan.launch.register_tile
        assert registers is not None
        return registers

    def _all_places(self) -> list[Places]:
        return list(product(*(range(self._counts()[d]) for _, d in dimensions_of(self.kernel.plan))))
