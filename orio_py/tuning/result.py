"""What a tuning session found, per region and problem size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from orio_py.core.expr import Value
from orio_py.core.units import Seconds
from orio_py.record.environment import Environment
from orio_py.record.front import FrontPoint
from orio_py.record.measurement import Stage, Timing
from orio_py.record.prediction_trust import PredictionTrust
from orio_py.record.timing_noise import TimingNoise
from orio_py.record.trial import CounterValue
from orio_py.spec.inputs import InputPoint


@dataclass(frozen=True, slots=True)
class SpaceCount:
    """The number of points of a space, without and with its constraints."""

    cartesian: int
    valid: int


@dataclass(frozen=True, slots=True)
class Best:
    """The configuration that won, re-measured in the finals, its speed-up over the original, its counters.

    An emulated time has no speed-up (None): nothing of the processor's is compared with it.

    `features` are the processor's extensions that its compiler options use beyond the build command's, and `fallback` is
    the configuration whose code is for processors without them (None: the original code is). `build_with` are the options
    that the application's build needs.
    """

    configuration: Mapping[str, Value]
    timing: Timing
    speedup: float | None
    counters: tuple[CounterValue, ...] = ()
    features: tuple[str, ...] = ()
    build_with: tuple[str, ...] = ()
    fallback: Mapping[str, Value] | None = None


@dataclass(frozen=True, slots=True)
class CheckedVariant:
    """A variant that was validated where nothing times it: the kind of its outcome, why, and its counters."""

    configuration: Mapping[str, Value]
    outcome: str
    reason: str
    counters: tuple[CounterValue, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether it computed what the original does."""
        return self.outcome == Stage.CHECKED


@dataclass(frozen=True, slots=True)
class Goal:
    """The objective of a search that does not look for the least time, for the original and the best.

    With several objectives it is the first; `others` are the rest, and `front` are the variants that no other one
    beats in all of them.
    """

    expression: str
    baseline: float | None = None
    best: float | None = None
    others: tuple[str, ...] = ()
    front: tuple[FrontPoint, ...] = ()

    def as_json(self) -> dict[str, object]:
        """The objective in `tune --json`."""
        found: dict[str, object] = {
            "expression": self.expression,
            "baseline": self.baseline,
            "best": self.best,
        }
        if not self.others:
            return found
        return {**found, "others": list(self.others), "front": [point.as_json() for point in self.front]}


@dataclass(frozen=True, slots=True)
class TimeSpent:
    """Where the time went, in seconds by the clock on the wall, so that builds on several cores count once.

    `prepare` is for test program and original, `build` for transforming and compiling, `run` for the
    search's measurements.  `transform_cpu` and `compile_cpu` are CPU seconds over all processes,
    `least_run` the sum of the shortest single runs of all valid variants, by the clock that shows less: the
    wall or the CPU time of the calling thread.
    """

    total: Seconds
    build: Seconds
    run: Seconds
    search: Seconds
    prepare: Seconds = Seconds(0.0)
    finals: Seconds = Seconds(0.0)
    transform_cpu: Seconds = Seconds(0.0)
    compile_cpu: Seconds = Seconds(0.0)
    least_run: Seconds = Seconds(0.0)


COSTS = ("prepare", "finals", "transform_cpu", "compile_cpu", "least_run")
"""The parts of `TimeSpent` that JSON has under `cost`."""


@dataclass(frozen=True, slots=True)
class PastUse:
    """How many valid trials of the same task under other circumstances guided a search.

    `circumstances` tells of each series of them, in words, what was different.
    """

    trials: int
    circumstances: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PredictionUse:
    """How many configurations a search has ranked by their static features, without building them.

    `refused` are those that a transformation refused; `seconds` is what transforming and looking at them took.  `trust` says how
    the prediction agreed with trials, None where it was not compared with any.
    """

    ranked: int = 0
    refused: int = 0
    seconds: Seconds = Seconds(0.0)
    trust: PredictionTrust | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionReport:
    """The outcome of one task at one problem size.

    `failures` counts variants by the stage at which they failed, `refused` the configurations that a
    transformation refused before anything was built, `cached` the trials answered by an earlier variant
    with the same code.  `baseline` and `best` come from the finals, in which the best few and the
    original are measured in turn; `reason` says in words why the winner won or the original was kept.
    `steadiness` tells of the machine meanwhile; a sample is the mean of `calls_per_sample` calls.
    `counters` are those of the original, as the first run of it gave them.  Where nothing here times variants `untimed`
    says why, and `checked` are all that were validated.
    """

    file: str
    line: int
    name: str
    target: str
    inputs: Mapping[str, Value]
    space: SpaceCount
    trials: int
    cached: int
    failures: Mapping[str, int]
    refused: int
    seconds: TimeSpent
    environment: Environment
    baseline: Timing | None = None
    best: Best | None = None
    kept_original: bool = True
    reason: str = ""
    interrupted: bool = False
    steadiness: TimingNoise | None = None
    calls_per_sample: int = 1
    output: Path | None = None
    goal: Goal | None = None
    counters: tuple[CounterValue, ...] = ()
    untimed: str = ""
    checked: tuple[CheckedVariant, ...] = ()
    past: PastUse | None = None
    prediction: PredictionUse | None = None
    """What static features told the search, None where they were not asked."""

    @property
    def failed(self) -> int:
        """Variants that failed in any way but a wrong result."""
        return sum(self.failures.values()) - self.invalid - self.right

    @property
    def right(self) -> int:
        """Variants that were right and could not be timed."""
        return self.failures.get(Stage.CHECKED, 0)

    @property
    def invalid(self) -> int:
        """Variants that computed something else than the original."""
        kinds = ("wrong result", "write out of bounds", "rejected by the validation file")
        return sum(self.failures.get(kind, 0) for kind in kinds)

    @property
    def succeeded(self) -> int:
        """Variants that were valid and timed."""
        return self.trials - sum(self.failures.values())

    def as_json(self) -> dict[str, object]:
        """The entry of `tune --json`."""
        spent = asdict(self.seconds)
        return {
            "file": self.file,
            "line": self.line,
            "name": self.name,
            "target": self.target,
            "inputs": dict(self.inputs),
            "space": {"cartesian": self.space.cartesian, "valid": self.space.valid},
            "trials": self.trials,
            "cached": self.cached,
            "failed": self.failed,
            "refused": self.refused,
            "past": {"trials": self.past.trials, "circumstances": list(self.past.circumstances)}
            if self.past
            else None,
            "prediction": asdict(self.prediction) if self.prediction else None,
            "invalid": self.invalid,
            "failures": dict(self.failures),
            "seconds": {name: spent[name] for name in ("total", "build", "run", "search")},
            "cost": {name: seconds for name, seconds in spent.items() if name in COSTS},
            "objective": self.goal.as_json() if self.goal else None,
            "baseline": {**self.baseline.as_json(), "counters": counters_as_json(self.counters)}
            if self.baseline
            else None,
            "best": None
            if self.best is None
            else {
                "configuration": dict(self.best.configuration),
                **self.best.timing.as_json(),
                "speedup": self.best.speedup,
                "counters": counters_as_json(self.best.counters),
                "features": list(self.best.features),
                "build_with": list(self.best.build_with),
                "fallback": None if self.best.fallback is None else dict(self.best.fallback),
            },
            "kept_original": self.kept_original,
            "reason": self.reason,
            "interrupted": self.interrupted,
            "calls_per_sample": self.calls_per_sample,
            "machine": asdict(self.steadiness) if self.steadiness else None,
            "output": str(self.output) if self.output else None,
            **({"untimed": self._untimed()} if self.untimed else {}),
        }

    def _untimed(self) -> dict[str, object]:
        """Why nothing was timed, and what is known of the variants."""
        return {
            "reason": self.untimed,
            "variants": [
                {
                    "configuration": dict(variant.configuration),
                    "outcome": variant.outcome,
                    "reason": variant.reason,
                    "counters": counters_as_json(variant.counters),
                }
                for variant in self.checked
            ],
        }


def counters_as_json(counters: Sequence[CounterValue]) -> list[dict[str, object]]:
    """Name, value per execution of the kernel, unit and source of each counter."""
    return [{"name": c.name, "value": c.value, "unit": c.unit, "source": str(c.source)} for c in counters]


@dataclass(frozen=True, slots=True)
class Winner:
    """The code of every region at one problem size; None where the original stays."""

    point: InputPoint
    codes: tuple[str, ...] | None
    report: RegionReport
