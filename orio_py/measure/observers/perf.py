"""Linux perf events: the processor's counters through `perf_event_open(2)`.

The test program opens the events itself, for its own process and the threads that it starts, and lets
them count around each call of the kernel, outside the operating system's own code.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orio_py.measure.observers.base import Counter
from orio_py.record.trial import CounterSource

EVENTS: Mapping[str, tuple[int, int]] = {
    "instructions": (0, 1),
    "cycles": (0, 0),
    "cache_references": (0, 2),
    "cache_misses": (0, 3),
    "branches": (0, 4),
    "branch_misses": (0, 5),
    "task_clock": (1, 1),
    "page_faults": (1, 2),
}
"""Type and number of each event, as `linux/perf_event.h` has them: 0 is hardware, 1 software."""

SYSTEM_CALLS = {"x86_64": 298, "aarch64": 241, "riscv64": 241, "ppc64le": 319, "s390x": 331}
"""The number of `perf_event_open` by architecture (Linux, arch/*/tools/syscall tables)."""

ATTRIBUTE_BYTES = 64
"""`PERF_ATTR_SIZE_VER0`, the size of the first version of `struct perf_event_attr`."""

_BITS = (0, 1, 5, 6)
FLAGS = sum(1 << (bit if sys.byteorder == "little" else 63 - bit) for bit in _BITS)
"""disabled, inherit, exclude_kernel, exclude_hv: what users may open at the usual paranoia level."""

_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


def open_event(kind: int, number: int) -> int:
    """Try an event on this process: 0, or the error number."""
    call = SYSTEM_CALLS.get(platform.machine())
    if sys.platform != "linux" or call is None:
        return errno.ENOSYS
    attribute = struct.pack("=IIQQQQQQQ", kind, ATTRIBUTE_BYTES, number, 0, 0, 0, FLAGS, 0, 0)
    system = ctypes.CDLL(None, use_errno=True)
    descriptor = system.syscall(ctypes.c_long(call), attribute, 0, -1, -1, ctypes.c_ulong(0))
    if descriptor < 0:
        return ctypes.get_errno() or errno.EIO
    os.close(descriptor)
    return 0


@dataclass(frozen=True, slots=True)
class Perf:
    """Events by the processor and some by the system; `probe` tries one."""

    name: str = "perf"
    probe: Callable[[int, int], int] = field(default=open_event, compare=False)

    def counters(self) -> tuple[Counter, ...]:
        """Plain counts; the task clock in seconds."""
        hardware = [Counter(name) for name, (kind, _) in EVENTS.items() if kind == 0]
        system = CounterSource.SYSTEM
        return (*hardware, Counter("task_clock", "s", system), Counter("page_faults", source=system))

    def available(self) -> str | None:
        """Whether any event can be opened."""
        missing = self.missing()
        return next(iter(missing.values())) if len(missing) == len(EVENTS) else None

    def missing(self) -> Mapping[str, str]:
        """The events that the system refuses; virtual machines often have no hardware events."""
        found = {name: self.probe(*event) for name, event in EVENTS.items()}
        return {name: _reason(problem) for name, problem in found.items() if problem}

    def job_lines(self) -> tuple[str, ...]:
        """One line per event: name, type, number, flags, and what a count of one means."""
        missing = self.missing()
        return tuple(
            f"observe perf {name} {kind} {number} {FLAGS} {1e-9 if name == 'task_clock' else 1}"
            for name, (kind, number) in EVENTS.items()
            if name not in missing
        )


def _reason(problem: int) -> str:
    if problem in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP):
        return "this processor, or virtual machine, offers no such event"
    if problem in (errno.EACCES, errno.EPERM):
        try:
            level = f" is {_PARANOID.read_text().strip()}"
        except OSError:
            level = ""
        return f"the system does not allow it (kernel.perf_event_paranoid{level}; 2 or less is needed)"
    if problem == errno.ENOSYS:
        return "this system has no perf events"
    return os.strerror(problem)
