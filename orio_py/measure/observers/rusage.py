"""What the operating system accounts to a process: `getrusage`, everywhere on POSIX systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orio_py.measure.observers.base import Counter
from orio_py.record.trial import CounterSource

_SYSTEM = CounterSource.SYSTEM


@dataclass(frozen=True, slots=True)
class Rusage:
    """CPU time, page faults and context switches of all threads; the peak of the whole test program's memory."""

    name: str = "rusage"

    def counters(self) -> tuple[Counter, ...]:
        """Times in seconds, memory in bytes."""
        return (
            Counter("user_time", "s", _SYSTEM),
            Counter("system_time", "s", _SYSTEM),
            Counter("page_faults", source=_SYSTEM),
            Counter("major_page_faults", source=_SYSTEM),
            Counter("context_switches", source=_SYSTEM),
            Counter("involuntary_context_switches", source=_SYSTEM),
            Counter("peak_memory", "B", _SYSTEM),
        )

    def available(self) -> str | None:
        """Always, where test programs can be built."""
        return None

    def missing(self) -> Mapping[str, str]:
        """Nothing."""
        return {}

    def job_lines(self) -> tuple[str, ...]:
        """One word."""
        return ("observe rusage",)
