"""What a session tells while it works; listeners show it or log it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from orio_py.core.expr import Value
from orio_py.core.units import Seconds
from orio_py.record.measurement import Timing
from orio_py.tuning.result import PastUse, RegionReport


class StageName(StrEnum):
    """The parts of a session."""

    BASELINE = "baseline"
    SEARCH = "search"
    FINALS = "finals"


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """A task begins at one problem size; `planned` is the number of trials, None when only time limits."""

    file: str
    line: int
    name: str
    inputs: Mapping[str, Value]
    cartesian: int
    valid: int
    planned: int | None
    emulated: str = ""
    """The GPU whose times are emulated; '' where variants are measured."""


@dataclass(frozen=True, slots=True)
class PastFound:
    """Trials of the same task under other circumstances are stored, and guide the search."""

    past: PastUse


@dataclass(frozen=True, slots=True)
class StageStarted:
    """A part of the session begins."""

    name: StageName


@dataclass(frozen=True, slots=True)
class BaselineMeasured:
    """The original code has been built, run and timed."""

    timing: Timing


@dataclass(frozen=True, slots=True)
class CostExpected:
    """The original has been timed at a problem size: one call of it takes `call`, and `trials` may take `seconds`."""

    inputs: Mapping[str, Value]
    call: Seconds
    trials: int
    seconds: Seconds


@dataclass(frozen=True, slots=True)
class SizeFailed:
    """The original of a task cannot be built or run at a problem size; others go on."""

    file: str
    line: int
    name: str
    inputs: Mapping[str, Value]
    reason: str


@dataclass(frozen=True, slots=True)
class TrialDone:
    """One configuration has been dealt with; `outcome` is `ok` or the kind of failure."""

    number: int
    planned: int | None
    configuration: Mapping[str, Value]
    outcome: str
    reason: str
    seconds: Seconds | None
    best_seconds: Seconds | None


@dataclass(frozen=True, slots=True)
class TreeProgress:
    """`done` of `total` tasks (regions at one problem size each) are behind us, and the next one begins.

    `seconds_left` is an estimate from the tasks so far, None before the first is done.
    """

    done: int
    total: int
    seconds_left: Seconds | None


@dataclass(frozen=True, slots=True)
class TaskFinished:
    """The task at this problem size is done."""

    region: RegionReport


Event = (
    TreeProgress
    | TaskStarted
    | PastFound
    | StageStarted
    | BaselineMeasured
    | CostExpected
    | SizeFailed
    | TrialDone
    | TaskFinished
)
Listener = Callable[[Event], None]
