"""A launch of a kernel, and the threads of it that are followed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from orio_py.core.units import Bytes
from orio_py.emulation.lanes import ZERO, Array, Lanes, constant
from orio_py.emulation.operands import LaunchValues
from orio_py.record.cuda import ParameterLayout

WARP = 32
Shape = tuple[int, int, int]

_STACK_TOP = 0xFFFD80
"""Where the stack of a thread begins; only differences to it matter."""


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """Grid, block, the arguments by their number, and dynamic shared memory.

    An argument is a number of as many bits as its parameter has; one that is missing is not known.
    """

    grid: Shape
    block: Shape
    arguments: Mapping[int, int]
    dynamic_shared_bytes: Bytes = Bytes(0)

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return prod(self.grid)

    @property
    def threads(self) -> int:
        """How many threads a block has."""
        return prod(self.block)

    @property
    def warps(self) -> int:
        """How many warps a block has."""
        return -(-self.threads // WARP)

    def coordinates(self, number: int) -> Shape:
        """Where in the grid the block of this number is: the hardware starts them in the order of x, y, z."""
        x, y, _ = self.grid
        return number % x, number // x % y, number // (x * y)


@dataclass(frozen=True, slots=True)
class DataPolicy:
    """What happens where data decide: how many iterations a loop has, and whether a forward branch is taken."""

    iterations: int = 8
    takes_branches: bool = False


USUAL_POLICY = DataPolicy()


@dataclass(frozen=True, slots=True)
class BlockSample:
    """The blocks that are followed: one in the middle first, its neighbours along each axis, and others at the grid's ends.

    `neighbours` has the places of the next block along x, y and z in `blocks`, None along an axis with one block.
    `counts` says how many blocks of the grid behave as those at the ends do: the class of each.
    """

    blocks: tuple[Shape, ...]
    neighbours: tuple[int | None, ...]
    counts: Mapping[int, int]


def sample_blocks(grid: Shape) -> BlockSample:
    """A block in the middle of the grid for the inner ones; of each axis, first and last blocks apart.

    A block at the corner of several ends counts for the last axis that it is at an end of, but for the last block of all,
    which is followed as well.
    """
    middle = (grid[0] // 2, grid[1] // 2, grid[2] // 2)
    blocks: list[Shape] = [middle]
    neighbours: list[int | None] = []
    for axis in range(3):
        step = 1 if middle[axis] + 1 < grid[axis] else -1
        if grid[axis] == 1:
            neighbours.append(None)
            continue
        neighbours.append(len(blocks))
        blocks.append(_moved(middle, axis, middle[axis] + step))
    counts = {0: prod(grid)}
    for axis, end in itertools.product(range(3), (0, -1)):
        place = 0 if end == 0 else grid[axis] - 1
        if grid[axis] > 1 and place != middle[axis]:
            block = _moved(middle, axis, place)
            if block not in blocks:
                blocks.append(block)
            others = [n for k, n in enumerate(grid) if k != axis]
            number = blocks.index(block)
            counts[number] = counts.get(number, 0) + prod(others)
    counts[0] = max(1, prod(grid) - sum(count for number, count in counts.items() if number))
    last = (grid[0] - 1, grid[1] - 1, grid[2] - 1)
    if last not in blocks:
        blocks.append(last)
        counts[len(blocks) - 1] = 1
    return BlockSample(tuple(blocks), tuple(neighbours), counts)


def _moved(block: Shape, axis: int, place: int) -> Shape:
    x, y, z = block
    return (place, y, z) if axis == 0 else (x, place, z) if axis == 1 else (x, y, place)


def active_threads(launch: KernelLaunch, blocks: int) -> Array:
    """Which places hold a thread: the last warp of a block may have fewer."""
    one = np.arange(launch.warps * WARP) < launch.threads
    return np.tile(one, blocks)


def launch_values(
    launch: KernelLaunch, layout: ParameterLayout, architecture: int, blocks: Sequence[Shape]
) -> LaunchValues:
    """Special registers and constant bank 0 for the threads of these blocks, block by block."""
    return LaunchValues(_constants(launch, layout, architecture), _special(launch, blocks))


def _special(launch: KernelLaunch, blocks: Sequence[Shape]) -> dict[str, Lanes]:
    places = launch.warps * WARP
    number = np.minimum(np.arange(places), launch.threads - 1)
    x, y, _ = launch.block
    threads = (number % x, number // x % y, number // (x * y))
    found = {
        "SRZ": ZERO,
        "SR_CgaCtaId": ZERO,
        "SR_LANEID": Lanes(np.tile(np.arange(places) % WARP, len(blocks))),
    }
    for axis, name in enumerate("XYZ"):
        found[f"SR_TID.{name}"] = _tidy(np.tile(threads[axis], len(blocks)))
        found[f"SR_CTAID.{name}"] = _tidy(np.repeat([block[axis] for block in blocks], places))
        found[f"SR_NCTAID.{name}"] = constant(launch.grid[axis])
    return found


def _tidy(data: Array) -> Lanes:
    """A value that is the same for all threads as one number."""
    wide = data.astype(np.int64)
    return Lanes(wide[:1] if (wide == wide[0]).all() else wide)


def _constants(launch: KernelLaunch, layout: ParameterLayout, architecture: int) -> dict[int, Lanes]:
    """Words of bank 0: where the driver puts block, grid and stack was read from compiled kernels of each architecture."""
    block, grid, stack = (0x360, 0x370, 0x37C) if architecture >= 100 else (0x0, 0xC, 0x28)
    found = {stack: constant(_STACK_TOP)}
    for axis in range(3):
        found[block + 4 * axis] = constant(launch.block[axis])
        found[grid + 4 * axis] = constant(launch.grid[axis])
    for number, value in launch.arguments.items():
        offset, size = layout.places[number]
        for part in range(max(1, size // 4)):
            found[layout.base + offset + 4 * part] = constant(value >> 32 * part)
    return found
