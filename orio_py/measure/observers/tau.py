"""TAU: the kernel inside a timer of the TAU Performance System, where `tau_exec` is on the PATH.

`tau_exec` loads TAU's library into the test program, which then finds `Tau_start` and `Tau_stop` and calls
them around the kernel: the code that is profiled is the code that is timed.  What TAU wrote is kept with the
trial, and the kernel's timer is read back.
Sources: TAU Reference Guide, chapters on `tau_exec` and the profile format; TAU, include/Profile/TauAPI.h.
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orio_py.measure.observers.base import Counter
from orio_py.record.trial import CounterSource
from orio_py.spec.counters import TAU_TIMER

_TIMER = re.compile(r'"([^"]*)" (\S+) (\S+) (\S+) (\S+) (\S+) GROUP=".*')
"""Name, calls, subroutines, exclusive and inclusive microseconds, profile calls."""

_HEAD = re.compile(r"\d+ templated_functions(_MULTI_TIME)?\s*")
"""The first line of a profile whose metric is the time on the wall."""


@dataclass(frozen=True, slots=True)
class Tau:
    """Time of the kernel by TAU's own timer; the whole profile is kept for ParaProf, pprof and Hatchet."""

    name: str = "tau"
    keeps_files: bool = True
    find: Callable[[], str | None] = field(default=lambda: shutil.which("tau_exec"), compare=False)

    def counters(self) -> tuple[Counter, ...]:
        """Seconds per call."""
        return (
            Counter("tau_time", "s", CounterSource.TAU),
            Counter("tau_exclusive_time", "s", CounterSource.TAU),
        )

    def available(self) -> str | None:
        """Whether the program is there."""
        if self.find() is not None:
            return None
        return "tau_exec is not on the PATH (install TAU: https://www.cs.uoregon.edu/research/tau)"

    def missing(self) -> Mapping[str, str]:
        """Nothing."""
        return {}

    def compiler_options(self, words: Sequence[str]) -> tuple[str, ...]:
        """None: the timed code itself is profiled."""
        return ()

    def prefix(self, output: Path) -> tuple[str, ...]:
        """TAU for one process; without `serial` it would be TAU for MPI programs."""
        return ("tau_exec", "-T", "serial", "--")

    def environment(self, output: Path) -> Mapping[str, str]:
        """Where profiles go; call paths in full, without which Hatchet does not read a profile."""
        return {
            "PROFILEDIR": str(output),
            "TAU_PROFILE": "1",
            "TAU_CALLPATH": "1",
            "TAU_CALLPATH_DEPTH": "100",
        }

    def read(self, files: Mapping[str, str]) -> Mapping[str, float]:
        """Seconds per call of the kernel's timer, summed over threads, from the profile of the wall time.

        With several metrics each has a folder of its own, `MULTI__TIME` for this one.
        """
        found = [timer for text in files.values() for timer in _timers(text)]
        calls = max((calls for calls, _, _ in found), default=0.0)
        if calls <= 0.0:
            return {}
        return {
            "tau_time": 1e-6 * max(inclusive for _, _, inclusive in found) / calls,
            "tau_exclusive_time": 1e-6 * sum(exclusive for _, exclusive, _ in found) / calls,
        }


def _timers(text: str) -> list[tuple[float, float, float]]:
    """Calls, exclusive and inclusive microseconds of the kernel's flat timer; call paths repeat it."""
    lines = text.splitlines()
    if not lines or _HEAD.fullmatch(lines[0]) is None:
        return []
    found: list[tuple[float, float, float]] = []
    for line in lines[1:]:
        match = _TIMER.fullmatch(line)
        if match is None or not match[1].startswith(TAU_TIMER) or "=>" in match[1]:
            continue
        try:
            numbers = (float(match[2]), float(match[4]), float(match[5]))
        except ValueError:
            continue
        if all(math.isfinite(number) for number in numbers):
            found.append(numbers)
    return found
