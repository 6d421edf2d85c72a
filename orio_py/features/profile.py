"""What the code of a variant does when it runs, as far as its text says: loops, accesses to memory, operations.

    for (i = 0; i < n; i++)            LoopExecution(trips=n, operations=2 in each iteration, …)
      y[i] += a * x[i];                AccessSite("y", load and store, 8 bytes per iteration), AccessSite("x", load)

Counts are those of one execution of the region at one problem size, or of one representative item of a kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from orio_py.core.units import Bytes
from orio_py.features.linear import NO_SLOPES, Slopes
from orio_py.record.environment import Host

LINE_BYTES = 64
"""A cache line of today's processors (Intel 64 and IA-32 Architectures Optimization Reference Manual, section 2.1)."""

GPU_LINE_BYTES = 128
"""A cache line of GPUs (section 4.2.3 of Remmelg and others, see `orio_py.features.catalog`)."""

WARP = 32
"""Items that run together (section 3.1 of the same paper)."""


class Space(StrEnum):
    """Which memory an array is in; `PRIVATE` is that of a thread's own arrays."""

    GLOBAL = "global"
    LOCAL = "local"
    PRIVATE = "private"


@dataclass(slots=True)
class LoopExecution:
    """A loop, entered `runs` times for `trips` iterations on average; number 0 is the code around all loops.

    All other counts are per iteration and do not include loops inside: `operations` in floating point, `divisions` and
    calls of functions, `branches` (conditions that are tested), `barriers`, `statements` (as a measure of code).
    """

    number: int
    parent: int
    trips: float
    runs: float
    is_parallel: bool = False
    is_vector: bool = False
    """Whether a pragma promises that iterations are independent, or asks for vectors."""
    operations: float = 0.0
    divisions: float = 0.0
    branches: float = 0.0
    barriers: float = 0.0
    statements: int = 0
    accumulated: set[str] = field(default_factory=set[str])
    """The scalars that iterations add to."""

    @property
    def iterations(self) -> float:
        """How often its body runs, all in all."""
        return self.runs * self.trips


@dataclass(frozen=True, slots=True)
class AccessSite:
    """A place where code reads or writes memory, `share` times per iteration of a loop.

    `offset` is where in the array, in bytes, at the representative iteration, `nan` where that is not known;
    `slopes` are bytes per iteration of each loop around it, and per item along each dimension of a launch.
    """

    array: str
    space: Space
    is_store: bool
    size: int
    offset: float
    loop: int
    share: float = 1.0
    slopes: Slopes = field(default_factory=lambda: NO_SLOPES)


@dataclass(frozen=True, slots=True)
class LaunchSize:
    """The items of a kernel: groups and items of each group, fastest dimension first; `runs` is how often it starts.

    `filled` is how many iterations items have on average for each one of the representative item's.
    """

    groups: tuple[int, ...]
    items: tuple[int, ...]
    local_bytes: Bytes
    runs: float
    filled: float


@dataclass(frozen=True, slots=True)
class WorkProfile:
    """Loops by their numbers, and the accesses in them; of a kernel with its launch."""

    loops: tuple[LoopExecution, ...]
    accesses: tuple[AccessSite, ...]
    launch: LaunchSize | None = None

    def around(self, number: int) -> Iterator[LoopExecution]:
        """A loop and those around it, from the inside out, without the code around all of them."""
        while number > 0:
            yield self.loops[number]
            number = self.loops[number].parent

    @property
    def innermost(self) -> list[LoopExecution]:
        """The loops without loops inside; the code around all loops where there are none."""
        parents = {loop.parent for loop in self.loops}
        return [loop for loop in self.loops if loop.number not in parents]

    @property
    def operations(self) -> float:
        """All operations in floating point, divisions and calls included."""
        return sum(loop.iterations * (loop.operations + loop.divisions) for loop in self.loops)

    def runs_of(self, site: AccessSite) -> float:
        """How often a site is executed."""
        return self.loops[site.loop].iterations * site.share


@dataclass(frozen=True, slots=True)
class MachineTraits:
    """What features ask of a processor: its data caches from the first level on, cache lines, threads, vectors."""

    caches: tuple[Bytes, ...] = (Bytes(32 << 10), Bytes(1 << 20), Bytes(16 << 20))
    line_bytes: int = LINE_BYTES
    threads: int = 1
    vector_bytes: int = 32

    @classmethod
    def of(cls, host: Host) -> MachineTraits:
        """Those of a machine, with usual values for caches that its system does not tell."""
        known: Mapping[str, Bytes] = dict(host.caches)
        usual = cls()
        levels = (("L1d", "L1"), ("L2",), ("L3",))
        caches = tuple(
            next((known[name] for name in names if known.get(name)), Bytes(0)) or given
            for names, given in zip(levels, usual.caches, strict=True)
        )
        return cls(caches, threads=host.cores)
