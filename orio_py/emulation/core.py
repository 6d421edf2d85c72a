"""The emulation of one multiprocessor: what goes in and what comes out.

Warps are divided among schedulers.  Each issues an instruction of a warp that has what it waits for: results whose barriers
the instruction names, units of fixed latency that are free, a place in the queue of memory.  Resources are as in Hong et
al. 2018, section 4: one takes a request every gap, and the result is there a latency later.  A block that ends makes room
for the next one.  `plain_core` is the model in Python, `core.c` the same for speed; tests compare the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import Protocol

import numpy as np

from orio_py.emulation.lanes import Array

BARRIERS = 6
RING = 8
HISTORY = 64
DEPENDENCES = 3


class Kind(IntEnum):
    """How an instruction is issued."""

    FIXED = 0
    """Its unit has no queue, and what needs its result is kept away by stall counts."""
    VARIABLE = 1
    """Its unit has a queue, and its result is told by a barrier."""
    MEMORY = 2
    ASYNC_COPY = 3
    COMMIT = 4
    """Ends a group of asynchronous copies."""
    SYNCHRONISE = 5
    """All warps of the block meet."""
    DRAIN = 6
    """Waits until a barrier has no more than a number of results outstanding."""
    EXIT = 7


class Policy(IntEnum):
    """Which of the warps that could go on does."""

    GREEDY_THEN_OLDEST = 0
    ROUND_ROBIN = 1
    OLDEST = 2


def _integers() -> Array:
    return np.zeros(0, np.int32)


def _numbers() -> Array:
    return np.zeros(0, np.float64)


@dataclass(frozen=True, slots=True)
class StepTable:
    """The traces of warps, one behind the other: for each step its kind, its unit and what it waits for.

    `pipe` and `second` are resources (-1: none), `amount` is what the first one is asked for.  `stall` is in cycles; `write`
    and `read` are barriers that are released with the result and when operands have been read, `wait` is a set of them as
    bits, `keep` what `DRAIN` leaves outstanding.  `region` chooses a row of latencies and gaps, `site` is the
    instruction's number.  `dependence` has, three for each step, how many steps before stands one of fixed latency whose
    result it needs (0: none).  `l2` and `dram` are sectors that go on to those, and the others how likely the request waits there.
    """

    kind: Array = field(default_factory=_integers)
    pipe: Array = field(default_factory=_integers)
    second: Array = field(default_factory=_integers)
    stall: Array = field(default_factory=_integers)
    write: Array = field(default_factory=_integers)
    read: Array = field(default_factory=_integers)
    wait: Array = field(default_factory=_integers)
    keep: Array = field(default_factory=_integers)
    region: Array = field(default_factory=_integers)
    site: Array = field(default_factory=_integers)
    dependence: Array = field(default_factory=_integers)
    amount: Array = field(default_factory=_numbers)
    l2: Array = field(default_factory=_numbers)
    dram: Array = field(default_factory=_numbers)
    l2_chance: Array = field(default_factory=_numbers)
    dram_chance: Array = field(default_factory=_numbers)

    def take(self, order: Array) -> StepTable:
        """The steps in another order, some of them several times."""
        wide = (
            DEPENDENCES * np.repeat(order, DEPENDENCES) + np.tile(np.arange(DEPENDENCES), len(order))
        ).astype(int)
        chosen = {
            f.name: getattr(self, f.name)[wide if f.name == "dependence" else order] for f in fields(self)
        }
        return StepTable(**chosen)


@dataclass(frozen=True, slots=True)
class Multiprocessor:
    """Resources of a multiprocessor: latency and gap of each, a row for each region of the code.

    `once` tells the resources that it has once, `turn` for each the one in whose turn it takes requests: itself, or its unit's other
    resource.  `l2`, `dram` and `barrier` are numbers of resources.  `queue` is how far the queue of memory reaches, in
    latencies; `refill` is how long a block takes to begin (fitted: `LOADED`).
    """

    latency: Array
    gap: Array
    once: Array
    turn: Array
    schedulers: int
    width: int
    l2: int
    dram: int
    barrier: int
    policy: Policy = Policy.GREEDY_THEN_OLDEST
    read_latency: float = 10.0
    refill: float = 50.0
    queue: float = 1.0

    @property
    def resources(self) -> int:
        """How many resources there are."""
        return len(self.once)


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Blocks of warps: where the steps of each warp of a block begin, and how many they are.

    `slots` blocks are there at a time, of `blocks` in all.  `order` are the rows of the table that the steps are (None: all, in the
    order of the table).
    """

    first: tuple[int, ...]
    count: tuple[int, ...]
    slots: int
    blocks: int
    order: Array | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """An instruction that was issued."""

    time: float
    warp: int
    step: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """The outcome: when each block ended, how long each resource was busy, and how long warps waited at each instruction."""

    block_end: Array
    busy: Array
    site_wait: Array
    issued: int
    events: tuple[Event, ...] = ()

    @property
    def cycles(self) -> float:
        """When the last block ended."""
        return float(self.block_end.max())


class Core(Protocol):
    """Emulates a multiprocessor."""

    def __call__(
        self, steps: StepTable, machine: Multiprocessor, work: Work, *, most_events: int = 0
    ) -> Schedule:
        """Run all blocks.  Raises ValueError when warps wait for what never comes."""
        ...

    def together(
        self,
        steps: Sequence[StepTable],
        machine: Multiprocessor,
        works: Sequence[Work],
        shared: Sequence[int],
    ) -> Sequence[Schedule]:
        """Several emulations of as many blocks, of which all but the last begin with so many of its steps (`shared`).

        These numbers rise, each is at least one and less than its emulation has steps; all warps of an emulation do the same.
        Raises as `__call__`.
        """
        ...
