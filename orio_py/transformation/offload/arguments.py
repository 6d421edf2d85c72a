"""What a nest is offloaded with: arguments in no language's words, and the launch shape that they make."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from orio_py.ctree.nodes import Node
from orio_py.kernel.backend import Backend, LaunchWords
from orio_py.kernel.plan import (
    AxisBinding,
    DeviceOptions,
    Distribution,
    LaunchShape,
    Layout,
    Layouts,
    Role,
)
from orio_py.machine.device import GpuModel
from orio_py.transformation.base import refuse

MAXIMUM_AXES = 3
"""Devices have index spaces of up to three dimensions (The OpenCL Specification 1.2, section 3.2)."""


@dataclass(frozen=True, slots=True)
class NestQuestion:
    """What a nest is asked for: `nd` loops of it, or those with these indices, `most` at most.

    `what` names the transformation in messages; `force` overrules the dependence test, `trusted` leaves it out.
    `same` is a nest that touches the same elements of arrays, and says better which those are; `keeps_statements` says
    that the body stays as it is, among directives.
    """

    what: str
    nd: int | tuple[str, ...] = 1
    most: int = MAXIMUM_AXES
    force: bool = False
    trusted: bool = False
    same: Node | None = None
    keeps_statements: bool = False


@dataclass(frozen=True, slots=True)
class OffloadArguments:
    """How a nest is laid out on a device.

    `nd` is the number of outer loops that become axes, or their indices, slowest first; `items` and `groups`
    have one number per axis, fastest first, None for the default; `unroll` is the factor of the pragma before
    innermost loops, those over an item's iterations where the body has none; `stage` asks for tiles in local
    memory, of `tile` iterations per axis, by default one for each item, and of `block` iterations of loops inside an
    iteration, by default as many as a group has items along the fastest axis; `registers` is the number of iterations
    per axis that an item does side by side, `row` the items that do an iteration together, `march` the iterations of the slowest axis that a group does one after the other; `copies` asks for copies of updated arrays in local memory; `vector` is the number of iterations
    that an item does at once; `layout` says how the device holds arrays; `what` names the
    transformation in messages, `backend` is its language; `trusted` says that it is known that iterations may run in any order; `model` has
    the limits of what a group may be, where they are known before there is a device.

    With `placements`, one for each loop that `nd` names, each loop is a dimension of the grid or of groups;
    `items` has one number for each dimension of groups then.  `same` is a nest that touches the same elements of
    arrays, and says better which those are: the one that was unrolled.
    """

    what: str
    backend: Backend
    nd: int | tuple[str, ...] = 1
    items: tuple[int, ...] | None = None
    groups: tuple[int, ...] | None = None
    coarsen: int = 1
    spread: Distribution = Distribution.STRIDED
    unroll: int | None = None
    stage: bool = False
    tile: tuple[int, ...] | None = None
    block: int | None = None
    registers: tuple[int, ...] | None = None
    row: int | None = None
    march: int | None = None
    copies: bool = False
    vector: int = 1
    layout: Layout | Layouts = Layout.ROW
    options: DeviceOptions = field(default_factory=DeviceOptions)
    force: bool = False
    trusted: bool = False
    model: GpuModel | None = None
    placements: tuple[AxisBinding, ...] = ()
    same: Node | None = None

    @property
    def words(self) -> LaunchWords:
        """The language's words."""
        return self.backend.words

    @property
    def question(self) -> NestQuestion:
        """What the nest is asked for."""
        most = max(MAXIMUM_AXES, len(self.placements))
        return NestQuestion(self.what, self.nd, most, self.force, self.trusted, self.same)

    @property
    def pads(self) -> bool:
        """Whether tiles get padding: the memory of groups has banks."""
        return self.backend.has_banks


def launch_shape(axes: int, node: Node, arguments: OffloadArguments) -> LaunchShape:
    """The launch shape.  Raises Refusal: ORIO-T127."""
    if arguments.row is not None:
        places = tuple(AxisBinding(Role.GROUPS, axes - 1 - level) for level in range(axes))
        return _placed(replace(arguments, items=(arguments.row,), placements=places))
    if arguments.placements:
        return _placed(arguments)
    items = arguments.items or arguments.backend.block_sizes[axes]
    if arguments.items is None and arguments.march is not None and axes > 1:
        items = (*arguments.backend.block_sizes[axes - 1], 1)
    if items == (0,):
        return _free(axes, node, arguments)
    if len(items) == 1:
        items = (*items, *(1,) * (axes - 1))
    groups, tile, registers = arguments.groups, arguments.tile, arguments.registers
    if tile is not None and len(tile) == 1:
        tile = (*tile, *items[1:])
    if registers is not None and len(registers) == 1:
        registers = (*registers, *(1,) * (axes - 1))
    for name, given in (
        (arguments.words.items, items),
        (arguments.words.groups, groups),
        ("localTile", tile),
        ("registerTile", registers),
    ):
        if given is not None and len(given) != axes:
            refuse(
                "ORIO-T127",
                f"`{name}` gives {len(given)} dimensions, and {axes} loops are mapped",
                node,
                help="give one number per mapped loop, the innermost loop's first",
                argument=name,
            )
    if tile is not None and any(size % width for size, width in zip(tile, items, strict=True)):
        refuse(
            "ORIO-T127",
            f"`localTile` is {list(tile)}; it has to be a multiple of the items per group, {list(items)}, in each "
            "dimension",
            node,
            argument="localTile",
        )
    if registers is not None:
        wide = (items[0] * arguments.vector, *items[1:])
        tile = _tile_of_registers(wide, registers, tile, node)
    if arguments.march is not None:
        tile = (*items[:-1], arguments.march)
    most = None if arguments.model is None else arguments.model.max_grid_dimensions[:axes]
    return LaunchShape(items, groups, tile, arguments.vector, most_groups=most, register_tile=registers)


def _tile_of_registers(
    items: tuple[int, ...], registers: tuple[int, ...], tile: tuple[int, ...] | None, node: Node
) -> tuple[int, ...]:
    """The iterations of a group whose items do so many at once.  Raises Refusal: ORIO-T127."""
    found = tuple(width * count for width, count in zip(items, registers, strict=True))
    if tile is not None and tile != found:
        refuse(
            "ORIO-T127",
            f"`localTile` is {list(tile)}, and with `registerTile` a group does {list(found)} iterations at once",
            node,
            argument="localTile",
        )
    return found


def _placed(arguments: OffloadArguments) -> LaunchShape:
    """The launch shape in which each loop has a dimension of its own."""
    assert arguments.items is not None
    dimensions = 1 + max(placement.dimension for placement in arguments.placements)
    items = (*arguments.items, *(1,) * (dimensions - len(arguments.items)))
    most = None if arguments.model is None else arguments.model.max_grid_dimensions[:dimensions]
    return LaunchShape(items, most_groups=most, bindings=arguments.placements)


def _free(axes: int, node: Node, arguments: OffloadArguments) -> LaunchShape:
    """The launch shape whose groups are the driver's.  Raises Refusal: ORIO-T127."""
    for name, given in (
        ("workGroups", arguments.groups is not None),
        ("cacheBlocks", arguments.stage),
        ("cacheUpdates", arguments.copies),
        ("registerTile", arguments.registers is not None),
        ("sizeHint", arguments.options.size_hint),
    ):
        if given:
            message = f"`{name}` needs groups of a known size: give `workItemsPerGroup` another value than 0"
            refuse("ORIO-T127", message, node, argument=name)
    return LaunchShape((1,) * axes, vector=arguments.vector, driver_chosen=True)
