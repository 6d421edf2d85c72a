"""`core.c` as a function: its structures, filled from tables, and the library that a compiler made of it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from orio_py.emulation.core import Event, Multiprocessor, Schedule, StepTable, Work
from orio_py.emulation.lanes import Array

SOURCE = Path(__file__).with_name("core.c")

_INTEGERS = (
    "kind", "pipe", "second", "stall", "write", "read", "wait", "keep", "region", "site", "dependence",
)  # fmt: skip
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
        *((name, ctypes.c_void_p) for name in ("first", "count")),
    ]


class _Result(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("block_end", "busy", "site_wait")),
        *((name, ctypes.c_int64) for name in ("issued", "event_count", "most_events")),
        *((name, ctypes.c_void_p) for name in ("event_time", "event_warp", "event_step")),
    ]


@dataclass(frozen=True, slots=True)
class NativeCore:
    """The compiled emulation; a `Core`."""

    library: ctypes.CDLL

    def __call__(
        self, steps: StepTable, machine: Multiprocessor, work: Work, *, most_events: int = 0
    ) -> Schedule:
        """As `Core`.  Raises ValueError when warps wait for what never comes, MemoryError without memory."""
        keep: list[Array] = []

        def place(data: Any, kind: type) -> int:
            array: Array = np.ascontiguousarray(data, kind)  # pyright: ignore[reportUnknownVariableType] - any type
            keep.append(array)
            return array.ctypes.data

        columns = {name: place(getattr(steps, name), np.int32) for name in _INTEGERS}
        columns |= {name: place(getattr(steps, name), np.float64) for name in _NUMBERS}
        assert set(columns) == {f.name for f in fields(StepTable)}
        filled = _Machine(
            machine.resources, machine.schedulers, machine.width, int(machine.policy),
            machine.l2, machine.dram, machine.barrier, place(machine.once, np.int32), place(machine.turn, np.int32),
            place(machine.latency, np.float64), place(machine.gap, np.float64),
            machine.read_latency, machine.refill, machine.queue,
        )  # fmt: skip
        todo = _Work(
            len(work.first), work.slots, work.blocks, place(work.first, np.int32), place(work.count, np.int32)
        )
        ends, busy = np.zeros(work.blocks), np.zeros(machine.resources)
        waits = np.zeros(int(steps.site.max()) + 1)
        times, warps, numbers = (
            np.zeros(most_events),
            np.zeros(most_events, np.int32),
            np.zeros(most_events, np.int32),
        )
        out = _Result(
            ends.ctypes.data, busy.ctypes.data, waits.ctypes.data, 0, 0, most_events,
            times.ctypes.data, warps.ctypes.data, numbers.ctypes.data,
        )  # fmt: skip
        done = self.library.orio_emulate(
            ctypes.byref(_Steps(**columns)), ctypes.byref(filled), ctypes.byref(todo), ctypes.byref(out)
        )
        if done < 0:
            raise MemoryError
        if done == 0:
            raise ValueError("warps wait for what never comes")
        count = out.event_count
        events = tuple(
            Event(*row)
            for row in zip(
                times[:count].tolist(), warps[:count].tolist(), numbers[:count].tolist(), strict=True
            )
        )
        return Schedule(ends, busy, waits, out.issued, events)


def load_core(library: Path) -> NativeCore:
    """The emulation from a shared object that was built of `SOURCE`.  Raises OSError for what is none."""
    return NativeCore(ctypes.CDLL(str(library)))
