"""What is seen while a tuning runs: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from orio_py.cli.console import Detail, Output
from orio_py.cli.show import show_configuration, show_count, show_seconds
from orio_py.core.expr import Value
from orio_py.core.units import Seconds
from orio_py.tuning.events import (
    BaselineMeasured,
    CostExpected,
    Event,
    PastFound,
    SizeFailed,
    StageStarted,
    TaskFinished,
    TaskStarted,
    TreeProgress,
    TrialDone,
)

# Plain progress says something after this share of the planned trials, or after this time.
LINES_PER_SEARCH = 10
LINE_INTERVAL = Seconds(5.0)

CIRCUMSTANCES_SHOWN = 4

WORTH_ADVICE = Seconds(60.0)
"""What makes a search cheaper is told of those that are expected to take longer."""


class Narrator:
    """Keeps the state of the running search and turns events into lines of text."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` gives monotonic seconds."""
        self._clock = clock
        self._begin(None)

    def _begin(self, planned: int | None) -> None:
        self.planned = planned
        self.emulated = ""
        self.done = 0
        self.best: float | None = None
        self.baseline: float | None = None
        self.failures: Counter[str] = Counter()
        self._last_number = 0
        self._last_time = self._clock()

    def progressed(self, event: TreeProgress) -> str:
        """The line that tells how far a tree has come."""
        left = f", about {_rounded(event.seconds_left)} left" if event.seconds_left is not None else ""
        return f"[{event.done + 1}/{event.total}]{left}"

    def failed(self, event: SizeFailed) -> str:
        """The line that tells why a region is not tuned at a problem size."""
        return f"{event.file}:{event.line}: {event.name}{_in_brackets(event.inputs)}: {event.reason}"

    def started(self, event: TaskStarted) -> str:
        """The line that introduces a region."""
        self._begin(event.planned)
        self.emulated = event.emulated
        sizes = _in_brackets(event.inputs)
        space = f"{show_count(event.valid)} of {show_count(event.cartesian)} configurations valid"
        planned = f", {event.planned} trials planned" if event.planned is not None else ""
        planned += f", times emulated for {event.emulated}" if event.emulated else ""
        return f"{event.file}:{event.line}: {event.name}{sizes}: {space}{planned}"

    def past_found(self, event: PastFound) -> str:
        """The line that tells which earlier trials guide the search."""
        words = list(event.past.circumstances)
        if len(words) > CIRCUMSTANCES_SHOWN:
            words[CIRCUMSTANCES_SHOWN - 1 :] = [f"{len(words) - CIRCUMSTANCES_SHOWN + 1} others"]
        return f"  past: {event.past.trials} trials guide the search ({'; '.join(words)})"

    def baseline_measured(self, event: BaselineMeasured) -> str:
        """The line that tells the original's time."""
        self.baseline = event.timing.median_s
        return f"  original: {show_seconds(event.timing.median_s)} ± {show_seconds(event.timing.mad_s)}"

    def cost(self, event: CostExpected) -> str:
        """The line that tells what the search may cost, and what makes it cheaper."""
        sizes = f" at {show_configuration(event.inputs)}" if event.inputs else ""
        told = f"  a call of the original{sizes} takes {show_seconds(event.call)}"
        if event.seconds < WORTH_ADVICE:
            return told
        advice = "`--trials`, `--time` or a smaller size (`--set`) shorten that"
        return f"{told}: {event.trials} trials may take {_rounded(event.seconds)}; {advice}"

    def count(self, event: TrialDone) -> None:
        """Take note of a trial."""
        self.done = event.number
        self.best = event.best_seconds
        if event.outcome != "ok":
            self.failures[event.outcome] += 1

    def line_due(self) -> bool:
        """Whether plain progress should print a line now; resets the wait if so."""
        step = max(10, (self.planned or 0) // LINES_PER_SEARCH)
        now = self._clock()
        if self.done - self._last_number < step and now - self._last_time < LINE_INTERVAL:
            return False
        self._last_number, self._last_time = self.done, now
        return True

    def standing(self) -> str:
        """Trials so far, the best time and the failures."""
        total = f"/{self.planned}" if self.planned is not None else ""
        return f"  trial {self.done}{total}: {self.summary()}"

    def finished(self, event: TaskFinished) -> str:
        """The line that ends a region."""
        if self.done == 0 and event.region.trials > 0:
            return f"  done: {event.region.trials} trials, all remembered from an earlier run"
        return f"  done: {self.done} trials, {self.summary()}"

    def summary(self) -> str:
        """The best time and the failures so far."""
        parts = ["nothing valid yet" if self.best is None else f"best {show_seconds(self.best)}"]
        if self.best and self.emulated:
            parts[0] += " (emulated)"
        elif self.best and self.baseline:
            parts[0] += f" ({self.baseline / self.best:.2f}x)"
        parts.extend(f"{count} {kind}" for kind, count in self.failures.most_common())
        return ", ".join(parts)


def _in_brackets(inputs: Mapping[str, Value]) -> str:
    return f" ({show_configuration(inputs)})" if inputs else ""


def _rounded(seconds: float) -> str:
    return f"{max(1, round(seconds))} s" if seconds < 120.0 else show_seconds(seconds)


def describe_trial(event: TrialDone) -> str:
    """One trial in full, for `--verbose`."""
    outcome = show_seconds(event.seconds) if event.seconds is not None else event.outcome
    why = f" ({event.reason})" if event.reason else ""
    return f"  trial {event.number}: {outcome}{why}: {show_configuration(event.configuration)}"


class PlainProgress:
    """Progress as lines, for pipes, files and logs."""

    def __init__(self, console: Console, narrator: Narrator, *, verbose: bool) -> None:
        self._console = console
        self._narrator = narrator
        self._verbose = verbose

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event:
            case TreeProgress():
                self._say(self._narrator.progressed(event))
            case TaskStarted():
                self._say(self._narrator.started(event))
            case PastFound():
                self._say(self._narrator.past_found(event))
            case StageStarted(name=name):
                self._say(f"  {name}")
            case BaselineMeasured():
                self._say(self._narrator.baseline_measured(event))
            case CostExpected():
                self._say(self._narrator.cost(event))
            case SizeFailed():
                self._say(self._narrator.failed(event))
            case TrialDone():
                self._narrator.count(event)
                if self._verbose:
                    self._say(describe_trial(event))
                elif self._narrator.line_due():
                    self._say(self._narrator.standing())
            case TaskFinished():
                self._say(self._narrator.finished(event))

    def _say(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)


class BarProgress:
    """Progress as a bar that is redrawn in place, for terminals."""

    def __init__(self, console: Console, narrator: Narrator, *, verbose: bool) -> None:
        self._console = console
        self._narrator = narrator
        self._verbose = verbose
        self._progress = Progress(
            TextColumn("  {task.fields[stage]:<8}", markup=False),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[standing]}", markup=False),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            refresh_per_second=2,  # redrawing takes time on the machine that is being measured
        )
        self._bar: TaskID | None = None
        self._stage = ""

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event:
            case TreeProgress():
                self._say(self._narrator.progressed(event))
            case TaskStarted():
                self._say(self._narrator.started(event))
                self._bar = self._progress.add_task("", total=event.planned, stage="", standing="")
            case PastFound():
                self._say(self._narrator.past_found(event))
            case StageStarted(name=name):
                self._stage = str(name)
                self._update()
            case BaselineMeasured():
                self._say(self._narrator.baseline_measured(event))
            case CostExpected():
                self._say(self._narrator.cost(event))
            case SizeFailed():
                self._say(self._narrator.failed(event))
            case TrialDone():
                self._narrator.count(event)
                self._update()
                if self._verbose:
                    self._say(describe_trial(event))
            case TaskFinished():
                if self._bar is not None:
                    self._progress.remove_task(self._bar)
                    self._bar = None
                self._say(self._narrator.finished(event))

    def _update(self) -> None:
        if self._bar is not None:
            seen = self._narrator
            standing = seen.summary() if seen.done else ""
            self._progress.update(self._bar, completed=seen.done, stage=self._stage, standing=standing)

    def _say(self, line: str) -> None:
        self._progress.console.print(Text(line), soft_wrap=True)


def progress_for(output: Output, clock: Callable[[], float]) -> PlainProgress | BarProgress | None:
    """The progress display that suits the streams; None when quiet."""
    if output.is_quiet:
        return None
    # Not `is_terminal`: `--color always` makes that true for a file as well.
    redraws = output.messages.file.isatty() and not output.messages.is_dumb_terminal
    kind = BarProgress if redraws else PlainProgress
    return kind(output.messages, Narrator(clock), verbose=output.detail is Detail.VERBOSE)
