"""What a test program is told, and what it tells: the job file and the results file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from orio_py.build.process import Completed
from orio_py.core.units import Bytes, Seconds
from orio_py.measure.calibration import TimingCosts
from orio_py.record.measurement import Clock, Failure, Measurement, Sample, Stage, Success
from orio_py.spec.target import DeviceTime

SANITIZER_EXIT = 86
"""Exit status that the sanitizers are told to use, so that their reports are recognised by status."""

DEFAULT_TOLERANCE: Mapping[str, tuple[float, float]] = {
    "float": (1e-4, 0.0),
    "double": (1e-9, 0.0),
    "long double": (1e-12, 0.0),
}
"""Largest relative and absolute error by element type.  The relative one is taken of the larger of the
two magnitudes, and of a thousandth of the array's largest element where both are small beside it."""


@dataclass(frozen=True, slots=True)
class EarlyStopping:
    """What a variant must beat to be timed further.

    One look, a single timed call, is enough for a variant slower than `best` by the factor `hopeless`;
    two samples for one slower by `may_win`.  The others are timed in full.
    """

    best: float
    hopeless: float = 2.0
    may_win: float = 1.3

    @property
    def line(self) -> str:
        """The job file's line."""
        return f"race {self.best:.9e} {self.hopeless:.6g} {self.may_win:.6g}"

    def may_still_win(self, measurement: Measurement) -> bool:
        """Whether a measurement is near enough to the best to be repeated."""
        return isinstance(measurement, Success) and measurement.objective <= self.may_win * self.best


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a test program.

    `least` timed repetitions are taken, and more (up to `most`) while they sum to less than `enough`.
    Each is one call of the kernel, or the mean of `inner` calls.  Without `check` the outputs are not
    compared, for a variant that has been checked before.  `race` ends a hopeless variant early, `cpu`
    from 0 keeps the program on that processor.  `observe` are lines that ask for counters.  `inputs` is a file
    that the original's run writes the variables' first values to.  A first call that takes longer than `patience` is the
    only one, and counts; five samples are enough once they have taken five times as long.  `time` ranks variants that run kernels on a device.
    """

    library: Path
    reference: Path
    is_original: bool
    least: int
    most: int
    enough: Seconds
    memory: Bytes | None
    tolerance: Mapping[str, tuple[float, float]]
    clock: Clock = Clock.WALL
    inner: int = 1
    check: bool = True
    race: EarlyStopping | None = None
    cpu: int | None = None
    observe: Sequence[str] = ()
    inputs: Path | None = None
    patience: Seconds | None = None
    time: DeviceTime = DeviceTime.CALL

    def text(self, results: Path) -> str:
        """The job file's text."""
        limits = [self.tolerance.get(t, DEFAULT_TOLERANCE[t]) for t in DEFAULT_TOLERANCE]
        lines = [
            f"library {self.library}",
            f"reference {self.reference}",
            f"results {results}",
            f"original {int(self.is_original)}",
            f"least {self.least}",
            f"most {max(self.least, self.most) if self.most else 0}",
            f"enough {self.enough:.9f}",
            f"memory {self.memory or 0}",
            "relative " + " ".join(f"{relative:.17g}" for relative, _ in limits),
            "absolute " + " ".join(f"{absolute:.17g}" for _, absolute in limits),
            f"check {int(self.check)}",
            f"inner {self.inner}",
            f"cpu {int(self.clock is Clock.THREAD_CPU)}",
            f"pin {-1 if self.cpu is None else self.cpu}",
            f"time {list(DeviceTime).index(self.time)}",
            f"patience {self.patience or 0.0:.6g}",
            self.race.line if self.race is not None else "race 0 0 0",
            *([f"inputs {self.inputs}"] if self.inputs is not None else []),
            *self.observe,
            "go",
        ]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class MemberPlace:
    """Where a member's numbers are in a structure: bytes from its beginning, bytes of each, how many."""

    offset: int
    size: int
    count: int


@dataclass(frozen=True, slots=True)
class ResultLines:
    """The lines of a results file, by keyword."""

    lines: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, path: Path) -> ResultLines:
        """Parse a results file; a missing one gives an empty report."""
        if not path.exists():
            return cls(())
        text = path.read_text(encoding="utf-8", errors="replace")
        split = (line.partition(" ") for line in text.splitlines())
        return cls(tuple((keyword, rest) for keyword, _, rest in split))

    def first(self, keyword: str) -> str | None:
        """The text behind the first line with this keyword, or None."""
        return next((rest for word, rest in self.lines if word == keyword), None)

    def samples(self) -> tuple[Sample, ...]:
        """All timed repetitions in the order taken."""
        pairs = [rest.split() for word, rest in self.lines if word == "sample"]
        return tuple(Sample(Seconds(float(w)), Seconds(float(c))) for w, c in pairs)

    def variables(self) -> tuple[tuple[str, int, int], ...]:
        """Name, bytes of an element and number of elements of each variable, as they follow in the files."""
        found = [rest.split() for word, rest in self.lines if word == "variable"]
        return tuple((name, int(size), int(count)) for name, size, count in found)

    def members(self) -> Mapping[str, Mapping[str, MemberPlace]]:
        """The members of variables that are structures, by both names."""
        found: dict[str, dict[str, MemberPlace]] = {}
        for word, rest in self.lines:
            if word == "member":
                variable, member, *numbers = rest.split()
                found.setdefault(variable, {})[member] = MemberPlace(*map(int, numbers))
        return found

    def counters(self) -> tuple[tuple[str, str, float], ...]:
        """Method, name and value per call of each counter taken."""
        found = [rest.split() for word, rest in self.lines if word == "counter"]
        return tuple((method, name, float(value)) for method, name, value in found)

    @property
    def was_stopped(self) -> bool:
        """Whether the race ended the variant before all repetitions were taken."""
        return self.first("stopped") is not None

    def costs(self) -> TimingCosts:
        """What timing costs where the original ran, which alone tells it."""
        tick, restoring = (self.first("costs") or "1e-6 0").split()
        return TimingCosts(Seconds(float(tick)), Seconds(float(restoring)))


_VERDICTS: Sequence[tuple[str, Stage, str]] = (
    ("compile", Stage.COMPILE, "{}"),
    ("load", Stage.LOAD, "the shared object cannot be loaded: {}"),
    ("memory", Stage.MEMORY, "{}"),
    ("bounds", Stage.OUT_OF_BOUNDS, "wrote outside {}"),
    ("invalid", Stage.VALIDATION, "isValid() returned 0"),
    ("size", Stage.LOAD, "array sizes differ between file and specification: {}"),
    ("reference", Stage.PROTOCOL, "{}"),
    ("device", Stage.PROTOCOL, "{}"),
    ("sanitizer", Stage.SANITIZER, "{}"),
    ("crash", Stage.CRASH, "{}"),
    ("processes", Stage.PROTOCOL, "it leaves processes behind"),
)


_UNDEFINED = re.compile(r"symbol lookup error: .*undefined symbol: (\w+)")
"""What the dynamic linker says when a function is called for the first time."""


def judge(done: Completed, report: ResultLines, clock: Clock) -> Measurement:
    """The measurement that a finished run amounts to, from its status and its results file."""
    if done.timed_out:
        return Failure(Stage.TIMEOUT, f"no result after {done.seconds:.1f} s")
    if done.returncode is None:
        return Failure(Stage.PROTOCOL, done.stderr)
    if done.returncode == SANITIZER_EXIT:
        first = next((line for line in done.stderr.splitlines() if "error" in line.lower()), "no text")
        return Failure(Stage.SANITIZER, first.strip())
    if (wrong := report.first("wrong")) is not None:
        name, index, wanted, got = wrong.split()
        values = "" if wanted == "?" else f": {got} instead of {wanted}"
        return Failure(Stage.WRONG_RESULT, f"`{name}` element {index}{values}")
    for keyword, stage, message in _VERDICTS:
        if (rest := report.first(keyword)) is not None:
            return Failure(stage, message.format(rest))
    if (name := done.signal_name) is not None:
        return Failure(Stage.CRASH, f"ended by {name}")
    if (missing := _UNDEFINED.search(done.stderr)) is not None:
        return Failure(Stage.LOAD, f"`{missing[1]}` is called or used, and nothing defines it")
    samples = report.samples()
    if report.first("end") is None or report.first("valid") is None:
        return Failure(Stage.PROTOCOL, f"exit code {done.returncode} without a result")
    if not all(isfinite(time) and time >= 0.0 for sample in samples for time in (sample.wall, sample.cpu)):
        return Failure(Stage.PROTOCOL, "a clock ran backwards")
    return Success(samples, clock, is_full=not report.was_stopped)
