"""Kernels whose items do several iterations at once, with the values of all of them in registers.

    const int orio_left_i = min(32L, orio_trips_i - orio_begin_i);
    const int orio_whole = orio_left_i == 32;
    const int orio_place_i_0 = get_local_id(1), orio_place_i_1 = get_local_id(1) + 16;  …
    if (orio_whole) {
      …                                       all iterations, side by side
    } else {
      …                                       those that exist: `if (orio_place_i_0 < orio_left_i) …`
    }

The iterations of an item are as far apart as a group has items, so that neighbouring items touch neighbouring
elements; where they read from tiles, several are next to each other, so that one wide load serves them.  Whole
groups take the first way together, which has no tests in it.  Barriers stand outside of both.

Source: V. Volkov, J. Demmel, "Benchmarking GPUs to tune dense linear algebra", SC 2008 (several results for each
thread).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import gcd

from orio_py.codegen.device_names import device_name
from orio_py.codegen.offload.blocks import block_loop
from orio_py.codegen.offload.device_tree import GroupBarrier, Query
from orio_py.codegen.offload.jam import Copy, Jam, own_names, shared_indices
from orio_py.codegen.offload.loops import (
    dimensions_of,
    index_declared,
    is_filled,
    loads,
    nested,
    query,
    steps_of,
)
from orio_py.codegen.offload.statements import Kernel, device_kind, device_statement
from orio_py.ctree.build import (
    add,
    binary,
    block,
    call,
    cast_to,
    const,
    declare,
    ident,
    if_,
    literal_value,
    mul,
)
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import rename, substitute, used_names
from orio_py.kernel.call import begin_name, length_name, place_name, trips_name
from orio_py.kernel.plan import Axis, BlockPlan
from orio_py.kernel.types import WIDEST, element_bytes

_WHOLE = "orio_whole"

Places = tuple[int, ...]
"""The places of an iteration among those that an item does at once, one per axis, slowest first."""


class TileSteps:
    """The steps of a group whose items do all their iterations of a step at once, and what is missing of them.

    `layers` stand around a step, `declarations` say how many of its iterations there are.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._plan = kernel.plan
        found = steps_of(kernel)
        self.layers, self.is_looped = found.layers, found.is_looped
        self.open_axes = [
            (axis, d) for axis, d in dimensions_of(kernel.plan) if not is_filled(kernel.plan, axis, d)
        ]

    @property
    def declarations(self) -> list[Node]:
        """The iterations that are left along each axis, and whether none is missing."""
        items: list[Node] = []
        for axis, d in self.open_axes:
            left = binary("-", ident(trips_name(axis)), ident(begin_name(axis)))
            left = call("min", c_ast.Constant("long int", f"{self._plan.launch.step[d]}L"), left)
            items.append(declare("const int", _left(axis), cast_to("int", left)))
        if self.open_axes:
            whole = [
                binary("==", self.left(axis, d), self._plan.launch.step[d]) for axis, d in self.open_axes
            ]
            items.append(declare("const int", _WHOLE, _all(whole)))
        return items

    def left(self, axis: Axis, dimension: int) -> Node:
        """How many iterations of a step there are along an axis."""
        is_open = (axis, dimension) in self.open_axes
        return ident(_left(axis)) if is_open else const(self._plan.launch.step[dimension])

    def chosen(self, full: Sequence[Node], every: Sequence[Node], some: Sequence[Node]) -> list[Node]:
        """`every` where nothing is missing, else `some`; names that they declare end with them."""
        tests = [*([ident(_WHOLE)] if self.open_axes else []), *full]
        return [if_(_all(tests), block(*every), block(*some)) if tests else block(*every)]


def register_tiles(kernel: Kernel) -> list[Node]:
    """The steps of a group whose items do all their iterations of a step at once."""
    steps = TileSteps(kernel)
    tile = _RegisterTile.of(kernel, steps)
    items = [*steps.declarations, *tile.places(), *tile.values(), *tile.step()]
    if steps.is_looped and any(staged.block is None for staged in kernel.plan.staged):
        items.append(GroupBarrier())
    return nested(steps.layers, items)


@dataclass(frozen=True, slots=True)
class _RegisterTile:
    """The iterations of an item; `body` is what each does, in blocks as the plan has it.

    Some may not exist along the axes of `tested`.
    """

    kernel: Kernel
    steps: TileSteps
    body: tuple[Node, ...]
    shared: frozenset[str]
    own: tuple[str, ...]

    @classmethod
    def of(cls, kernel: Kernel, steps: TileSteps) -> _RegisterTile:
        """What the items of a kernel do."""
        plan = kernel.plan
        body = tuple(device_statement(node, kernel) for node in plan.body)
        private = [device_name(name) for name, _ in plan.private]
        places = [name for axis in plan.axes for name in (device_name(axis.index), place_name(axis))]
        shared = shared_indices(body, frozenset((*private, *places)))
        return cls(kernel, steps, body, shared, own_names(body, private, shared))

    @property
    def tested(self) -> tuple[Axis, ...]:
        """The axes along which an iteration may be missing."""
        return tuple(axis for axis, _ in self.steps.open_axes)

    def places(self) -> list[Node]:
        """The declarations of the places, numbers and indices of the iterations along each axis."""
        used, found = used_names(self.body), list[Node]()
        for axis, d in dimensions_of(self.kernel.plan):
            first, size = query(self.kernel.plan, Query.LOCAL_ID, d), self.kernel.plan.launch.block_size[d]
            run = self._run() if d == 0 else 1
            for number in range(self._counts()[d]):
                place, counter = _place(axis, number), counter_name(axis, number)
                offset = number // run * run * size + number % run
                is_counted = device_name(axis.index) in used
                if is_counted or axis in self.tested or place_name(axis) in used:
                    found.append(declare("const int", place, add(mul(first, run), offset)))
                if is_counted:
                    found.append(
                        declare("const long", counter, binary("+", ident(begin_name(axis)), ident(place)))
                    )
                    own = index_declared(axis, ident(counter))
                    found.append(rename(own, {device_name(axis.index): index_name(axis, number)}))
        return found

    def values(self) -> list[Node]:
        """The scalars of each iteration, and the indices of the loops that all of them share."""
        used, found = used_names(self.body), list[Node]()
        for name, kind in self.kernel.plan.private:
            own = device_name(name)
            if own in self.shared and own in used:
                found.append(declare(device_kind(kind), own))
            elif own in used:
                zero = const(0) if self.tested else None
                found += [declare(device_kind(kind), own_name(own, p), zero) for p in self._all_places()]
        return found

    def step(self) -> list[Node]:
        """What an item does in a step of its group."""
        plan, place = self.kernel.plan, 0
        items = self._loads(None, [])
        for number, part in enumerate(plan.blocks):
            items += self._all_or_some(self.body[place : part.begin])
            items.append(block_loop(self.kernel, part, self._block(number, part)))
            place = part.end
        return [*items, *self._all_or_some(self.body[place:])]

    def _block(self, number: int, part: BlockPlan) -> list[Node]:
        """A block: without tests, and unrolled, where no iteration of it and of the items is missing."""
        size, length = const(part.size), length_name(part.axis)
        rest = binary("-", ident(trips_name(part.axis)), ident(begin_name(part.axis)))
        trips = literal_value(part.axis.trips)
        full = [] if trips is not None and trips % part.size == 0 else [binary("==", ident(length), size)]
        inner: list[Node] = []
        for item in self._jam(tested=False).statements(self.body[part.begin : part.end]):
            if isinstance(item, c_ast.For):
                inner.append(c_ast.Pragma(f"unroll {part.size}"))
            if not isinstance(item, c_ast.Pragma):
                inner.append(substitute(item, length, size))
        items = self.steps.chosen(
            full, inner, self._jam(tested=True).statements(self.body[part.begin : part.end])
        )
        shortest = call("min", c_ast.Constant("long int", f"{part.size}L"), rest)
        is_named = bool(full) or bool(self.tested)
        declared = [declare("const int", length, cast_to("int", shortest))] if is_named else []
        return [*declared, *self._loads(number, full), *items, GroupBarrier()]

    def _loads(self, number: int | None, full: Sequence[Node]) -> list[Node]:
        """The tiles of a block or step and the barrier behind them, without tests where nothing is missing."""
        some, every = loads(self.kernel, number), loads(self.kernel, number, whole=True)
        if not some or all(tile.whole is None for tile in self.kernel.plan.staged if tile.block == number):
            return some
        return [*self.steps.chosen(full, every[:-1], some[:-1]), GroupBarrier()]

    def _all_or_some(self, nodes: Sequence[Node]) -> list[Node]:
        """Statements of all iterations, or of those that exist."""
        if not nodes:
            return []
        return self.steps.chosen(
            [], self._jam(tested=False).statements(nodes), self._jam(tested=True).statements(nodes)
        )

    def _jam(self, *, tested: bool) -> Jam:
        return Jam(tuple(self._copy(places, tested=tested) for places in self._all_places()), self.shared)

    def _counts(self) -> tuple[int, ...]:
        launch = self.kernel.plan.launch
        return tuple(step // size for step, size in zip(launch.step, launch.block_size, strict=True))

    def _all_places(self) -> list[Places]:
        return list(product(*(range(self._counts()[d]) for _, d in dimensions_of(self.kernel.plan))))

    def _run(self) -> int:
        """The iterations next to each other that an item does along the fastest axis: what it reads of tiles at once."""
        tiles = [tile for tile in self.kernel.plan.staged if tile.block is not None]
        width = WIDEST // max((element_bytes(tile.type) for tile in tiles), default=WIDEST)
        return gcd(width, self._counts()[0])

    def _copy(self, places: Places, *, tested: bool) -> Copy:
        names = {name: own_name(name, places) for name in self.own}
        tests: list[Node] = []
        for axis, number in zip(self.kernel.plan.axes, places, strict=True):
            names[device_name(axis.index)] = index_name(axis, number)
            names[place_name(axis)] = _place(axis, number)
            if axis in self.tested:
                tests.append(binary("<", ident(_place(axis, number)), ident(_left(axis))))
        return Copy(names, _all(tests) if tested and tests else None)


def _place(axis: Axis, number: int) -> str:
    return f"{place_name(axis)}_{number}"


def counter_name(axis: Axis, number: int) -> str:
    """The name of the number of an iteration, or of a vector's first one."""
    return f"orio_{axis.index}_{number}"


def _left(axis: Axis) -> str:
    return f"orio_left_{axis.index}"


def index_name(axis: Axis, number: int) -> str:
    """The name of the loop's index there."""
    return f"orio_at_{axis.index}_{number}"


def own_name(name: str, places: Places) -> str:
    """The name of what an iteration has for itself."""
    return f"orio_own_{name}_{'_'.join(map(str, places))}"


def _all(tests: Sequence[Node]) -> Node:
    return reduce(lambda one, two: binary("&&", one, two), tests)
