"""Simulated counters: one call of the kernel under valgrind's callgrind, wherever valgrind is installed.

Deterministic and independent of the load, at the price of a second or more per variant.  The machine is
simulated: two levels of cache and a simple branch predictor (Valgrind manual, chapters 5 and 6).
"""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orio_py.build.process import Completed, run
from orio_py.core.units import Seconds
from orio_py.measure.observers.base import Counter
from orio_py.record.trial import CounterSource

EVENTS: Mapping[str, tuple[str, ...]] = {
    "instructions": ("Ir",),
    "data_reads": ("Dr",),
    "data_writes": ("Dw",),
    "l1_instruction_misses": ("I1mr",),
    "l1_data_misses": ("D1mr", "D1mw"),
    "last_level_misses": ("ILmr", "DLmr", "DLmw"),
    "branches": ("Bc", "Bi"),
    "branch_misses": ("Bcm", "Bim"),
}
"""The columns of callgrind's output that add up to each counter."""

TIMEOUT = Seconds(30.0)


def call_version() -> Completed:
    """What `valgrind --version` says."""
    return run(["valgrind", "--version"], timeout=TIMEOUT, directory=Path.cwd())


@dataclass(frozen=True, slots=True)
class Valgrind:
    """Instructions, memory accesses, cache misses and branches of one call; all simulated."""

    name: str = "valgrind"
    keeps_files: bool = False
    find: Callable[[], str | None] = field(default=lambda: shutil.which("valgrind"), compare=False)
    version: Callable[[], Completed] = field(default=call_version, compare=False)

    def counters(self) -> tuple[Counter, ...]:
        """Plain counts."""
        return tuple(Counter(name, source=CounterSource.SIMULATED) for name in EVENTS)

    def available(self) -> str | None:
        """Whether the program is installed and starts."""
        if self.find() is None:
            return "valgrind is not on the PATH (Debian, Ubuntu: `apt install valgrind`)"
        told = self.version()
        return None if told.ok else f"valgrind does not start: {told.stderr.strip() or told.returncode}"

    def missing(self) -> Mapping[str, str]:
        """Nothing."""
        return {}

    def compiler_options(self, words: Sequence[str]) -> tuple[str, ...]:
        """Without AVX-512, which valgrind does not execute, where the build command asks for a processor."""
        asks = any(word.startswith(("-march=", "-mavx512", "-mprefer-vector-width", "-x")) for word in words)
        is_x86 = platform.machine() in ("x86_64", "AMD64", "i686")
        return ("-march=haswell", "-mno-avx512f") if asks and is_x86 else ()

    def prefix(self, output: Path) -> tuple[str, ...]:
        """Callgrind, collecting only while the variant's entry runs."""
        return (
            "valgrind",
            "--tool=callgrind",
            "--cache-sim=yes",
            "--branch-sim=yes",
            "--toggle-collect=orio_entry",
            f"--callgrind-out-file={output}",
        )

    def environment(self, output: Path) -> Mapping[str, str]:
        """Nothing."""
        return {}

    def read(self, files: Mapping[str, str]) -> Mapping[str, float]:
        """The sums of a callgrind file; columns at the end of the line that are zero are left out there."""
        lines_read = (line for text in files.values() for line in text.splitlines())
        split = (line.partition(": ") for line in lines_read if ": " in line)
        lines = {key: rest for key, _, rest in split}
        if "events" not in lines or not (totals := lines.get("totals") or lines.get("summary")):
            return {}
        names, numbers = lines["events"].split(), totals.split()
        if not numbers or not all(number.isdigit() for number in numbers) or len(numbers) > len(names):
            return {}
        columns = dict.fromkeys(names, 0) | dict(zip(names, map(int, numbers), strict=False))
        return {
            name: float(sum(columns[part] for part in parts))
            for name, parts in EVENTS.items()
            if all(part in columns for part in parts)
        }
