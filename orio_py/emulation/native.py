"""`core.c` as a function: its structures, filled from tables, and the library that a compiler made of it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from orio_py.emulation.core import Event, Multiprocessor, Schedule, StepTable, Work
from orio_py.emulation.lanes import Array

SOURCE = Path(__file__).with_name("core.c")

_INTEGERS = (
    "kind", "pipe", "second", "stall", "write", "read", "wait", "keep", "region", "site", "dependence",
)  # fmt: skip
_KEPT = 4
"""Of how many tables the structure is kept."""

_NUMBERS = ("amount", "l2", "dram", "l2_chance", "dram_chance")


class _Steps(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in (*_INTEGERS, *_NUMBERS)]


class _Machine(ctypes.Structure):
    _fields_ = [
        *(
            (name, ctypes.c_int32)
            for name in ("resources", "schedulers", "width", "policy", "l2", "dram", "barrier")
        ),
        *((name, ctypes.c_void_p) for name in ("once", "turn", "latency", "gap")),
        *((name, ctypes.c_double) for name in ("read_latency", "refill", "queue")),
    ]


class _Work(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int32) for name in ("warps", "slots", "blocks")),
        *((name, ctypes.c_void_p) for name in ("first", "count", "order")),
    ]


class _Result(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("block_end", "busy", "site_wait")),
        *((name, ctypes.c_int64) for name in ("issued", "event_count", "most_events", "sites")),
        *((name, ctypes.c_void_p) for name in ("event_time", "event_warp", "event_step")),
    ]


class NativeCore:
    """The compiled emulation; a `Core`."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self._filled: list[tuple[StepTable, _Steps, _Places]] = []

    def __call__(
        self, steps: StepTable, machine: Multiprocessor, work: Work, *, most_events: int = 0
    ) -> Schedule:
        """As `Core`.  Raises ValueError when warps wait for what never comes, MemoryError without memory."""
        return self._run([steps], machine, [work], (), most_events)[0]

    def together(
        self,
        steps: Sequence[StepTable],
        machine: Multiprocessor,
        works: Sequence[Work],
        shared: Sequence[int],
    ) -> Sequence[Schedule]:
        """As `Core`: what they share is emulated once.  Raises as `__call__`."""
        return self._run(steps, machine, works, shared, 0)

    def _run(
        self,
        steps: Sequence[StepTable],
        machine: Multiprocessor,
        works: Sequence[Work],
        shared: Sequence[int],
        most_events: int,
    ) -> list[Schedule]:
        count = len(works)
        places = _Places()
        results = [
            _Outcome.of(table, machine, work, most_events) for table, work in zip(steps, works, strict=True)
        ]
        out = (_Result * count)(*(result.filled(places, most_events) for result in results))
        done = self.library.orio_emulate(
            (_Steps * count)(*(self._steps(table) for table in steps)),
            (_Work * count)(*(_work(work, places) for work in works)),
            places.of(shared, np.int32),
            count,
            ctypes.byref(_machine(machine, places)),
            out,
        )
        if done == -1:
            raise MemoryError
        if done < 0:
            raise ValueError("more warps, schedulers or ways to wait than there is room for")
        if done == 0:
            raise ValueError("warps wait for what never comes")
        return [result.schedule(filled) for result, filled in zip(results, out, strict=True)]

    def _steps(self, steps: StepTable) -> _Steps:
        """The structure of a table; those of the last few are kept, as they are emulated with many machines."""
        for table, filled, _ in self._filled:
            if table is steps:
                return filled
        places = _Places()
        filled = _Steps(
            *(places.of(getattr(steps, name), np.int32) for name in _INTEGERS),
            *(places.of(getattr(steps, name), np.float64) for name in _NUMBERS),
        )
        self._filled = [(steps, filled, places), *self._filled[: _KEPT - 1]]
        return filled


class _Places:
    """Addresses of arrays, which live as long as this does."""

    def __init__(self) -> None:
        self.kept: list[Array] = []

    def of(self, data: Any, kind: type) -> ctypes.c_void_p:
        array: Array = np.ascontiguousarray(data, kind)  # pyright: ignore[reportUnknownVariableType] - any type
        self.kept.append(array)
        return ctypes.c_void_p(array.ctypes.data)


def _work(work: Work, places: _Places) -> _Work:
    first, count = places.of(work.first, np.int32), places.of(work.count, np.int32)
    order = None if work.order is None else places.of(work.order, np.int32)
    return _Work(len(work.first), work.slots, work.blocks, first, count, order)


def _machine(machine: Multiprocessor, places: _Places) -> _Machine:
    return _Machine(
        machine.resources, machine.schedulers, machine.width, int(machine.policy),
        machine.l2, machine.dram, machine.barrier, places.of(machine.once, np.int32), places.of(machine.turn, np.int32),
        places.of(machine.latency, np.float64), places.of(machine.gap, np.float64),
        machine.read_latency, machine.refill, machine.queue,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Where an emulation writes to."""

    ends: Array
    busy: Array
    waits: Array
    times: Array
    warps: Array
    numbers: Array

    @classmethod
    def of(cls, steps: StepTable, machine: Multiprocessor, work: Work, most_events: int) -> _Outcome:
        return cls(
            np.zeros(work.blocks), np.zeros(machine.resources), np.zeros(int(steps.site.max()) + 1),
            np.zeros(most_events), np.zeros(most_events, np.int32), np.zeros(most_events, np.int32),
        )  # fmt: skip

    def filled(self, places: _Places, most_events: int) -> _Result:
        numbers = (0, 0, most_events, len(self.waits))
        floats = [places.of(array, np.float64) for array in (self.ends, self.busy, self.waits, self.times)]
        integers = [places.of(array, np.int32) for array in (self.warps, self.numbers)]
        return _Result(*floats[:3], *numbers, floats[3], *integers)

    def schedule(self, filled: _Result) -> Schedule:
        count = filled.event_count
        columns = (self.times[:count].tolist(), self.warps[:count].tolist(), self.numbers[:count].tolist())
        events = tuple(Event(*row) for row in zip(*columns, strict=True))
        return Schedule(self.ends, self.busy, self.waits, filled.issued, events)


def load_core(library: Path) -> NativeCore:
    """The emulation from a shared object that was built of `SOURCE`.  Raises OSError for what is none."""
    return NativeCore(ctypes.CDLL(str(library)))
