"""What an observer is: a method of counting, whether it works here, and how it goes about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from orio_py.record.trial import CounterSource, CounterValue


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter that a method can give: its name, unit (empty for plain counts) and how it is obtained."""

    name: str
    unit: str = ""
    source: CounterSource = CounterSource.HARDWARE

    def value(self, number: float) -> CounterValue:
        """The counter with a value."""
        return CounterValue(self.name, number, self.unit, self.source)


class Observer(Protocol):
    """A method of counting."""

    @property
    def name(self) -> str:
        """The method's name in specifications."""
        ...

    def counters(self) -> tuple[Counter, ...]:
        """What it can give on machines that have everything."""
        ...

    def available(self) -> str | None:
        """Why it does not work on this machine at all; None where it works, if only in part."""
        ...

    def missing(self) -> Mapping[str, str]:
        """The counters that it cannot give here, where it works in part, with the reason of each."""
        ...


@runtime_checkable
class InsideObserver(Observer, Protocol):
    """Counts in the test program, around each call of the kernel."""

    def job_lines(self) -> Sequence[str]:
        """The lines of a job that make the test program count."""
        ...


@runtime_checkable
class ToolObserver(Observer, Protocol):
    """Runs the test program once more, with a single call of the kernel, under a tool."""

    def compiler_options(self, words: Sequence[str]) -> tuple[str, ...]:
        """Options for a twin of the variant that the tool understands; empty where none is needed."""
        ...

    @property
    def keeps_files(self) -> bool:
        """Whether the tool's files are kept with the trial."""
        ...

    def prefix(self, output: Path) -> tuple[str, ...]:
        """The tool's command line before the program's, with its results going to `output`, a file or folder."""
        ...

    def environment(self, output: Path) -> Mapping[str, str]:
        """Environment variables that the tool needs beside those of the session."""
        ...

    def read(self, files: Mapping[str, str]) -> Mapping[str, float]:
        """The counters in the tool's results, by path; empty for text that is none."""
        ...


AnyObserver = InsideObserver | ToolObserver


def usable_counters(observer: Observer) -> tuple[Counter, ...]:
    """The counters that an observer gives on this machine."""
    if observer.available() is not None:
        return ()
    missing = observer.missing()
    return tuple(counter for counter in observer.counters() if counter.name not in missing)


@dataclass(frozen=True, slots=True)
class ObserverInfo:
    """An observer on this machine: why it does not work, what it gives, what it lacks and why."""

    name: str
    reason: str | None
    counters: tuple[str, ...]
    missing: Mapping[str, str]


def look_at(observer: Observer) -> ObserverInfo:
    """What an observer can do on this machine."""
    reason = observer.available()
    missing: Mapping[str, str] = observer.missing() if reason is None else {}
    names = (counter.name for counter in observer.counters() if reason is None)
    return ObserverInfo(observer.name, reason, tuple(n for n in names if n not in missing), missing)
