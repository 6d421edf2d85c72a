"""Counts variants: one run for the observers inside the test program, one for each tool."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orio_py.build.compiler import Artifact, BuildFailure
from orio_py.core.expr import Value
from orio_py.core.units import Seconds
from orio_py.measure.evaluator import Evaluator
from orio_py.measure.job import ResultLines
from orio_py.measure.observers.base import InsideObserver, ToolObserver
from orio_py.measure.observers.choose import Watch
from orio_py.record.trial import CounterValue, Profile

TOOL_TIMEOUT = 20.0
"""A tool may take this many times as long as a run without it; simulators slow code down by 50 and more."""

LEAST_COUNTING = Seconds(0.02)
LEAST_METERING = Seconds(0.2)
"""Calls are repeated while they sum to less; power meters move about once per millisecond."""


MOST_BYTES = 8 * 1024 * 1024
"""What is read of a tool's results at most: profiles have kilobytes, and traces do not belong into a database."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The counters of a variant, and why others of those wanted are missing."""

    counters: tuple[CounterValue, ...] = ()
    problems: tuple[str, ...] = ()
    profiles: tuple[Profile, ...] = ()


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a tool told of one variant: counters, and the files that are kept."""

    counters: Mapping[str, float]
    profiles: tuple[Profile, ...] = ()


@dataclass(slots=True)
class Observing:
    """Observes the variants of one evaluator; the results of tools, which never change, are kept."""

    evaluator: Evaluator
    watches: Sequence[Watch]
    _lines: Sequence[str] | None = None
    _known: dict[tuple[str, Path], _Seen | str] = field(default_factory=dict[tuple[str, Path], _Seen | str])

    def observe(
        self, artifact: Artifact, values: Mapping[str, Value], arguments: Sequence[str] = ()
    ) -> Observation:
        """Counters per call of the kernel, of a variant that was found valid."""
        inside: Mapping[str, Mapping[str, float]] = {}
        if lines := self._job_lines():
            inside = _by_method(self.evaluator.count(artifact, arguments, lines))
        counters: list[CounterValue] = []
        problems: list[str] = []
        profiles: list[Profile] = []
        for watch in self.watches:
            observer = watch.observer
            found = inside.get(observer.name, {})
            if isinstance(observer, ToolObserver):
                seen = self._under(observer, artifact, values, arguments)
                if isinstance(seen, str):
                    problems.append(f"method '{observer.name}': {seen}")
                    continue
                found = seen.counters
                profiles.extend(seen.profiles)
            counters.extend(c.value(found[c.name]) for c in watch.counters if c.name in found)
            lacking = [counter.name for counter in watch.counters if counter.name not in found]
            if lacking:
                problems.append(f"method '{observer.name}' gave no `{'`, `'.join(lacking)}`")
        return Observation(tuple(counters), tuple(problems), tuple(profiles))

    def _job_lines(self) -> Sequence[str]:
        """What the test program is told; the observers are asked once."""
        if self._lines is None:
            inside = [w.observer for w in self.watches if isinstance(w.observer, InsideObserver)]
            lines = tuple(line for observer in inside for line in observer.job_lines())
            least = LEAST_METERING if any(observer.name == "rapl" for observer in inside) else LEAST_COUNTING
            self._lines = (*lines, f"observing {least:.3f}") if lines else ()
        return self._lines

    def _under(
        self, tool: ToolObserver, artifact: Artifact, values: Mapping[str, Value], arguments: Sequence[str]
    ) -> _Seen | str:
        key = (tool.name, artifact.path)
        if key not in self._known:
            self._known[key] = self._run_under(tool, artifact, values, arguments)
        return self._known[key]

    def _run_under(
        self, tool: ToolObserver, artifact: Artifact, values: Mapping[str, Value], arguments: Sequence[str]
    ) -> _Seen | str:
        """The tool's counters, or why there are none."""
        compiler = self.evaluator.compiler
        folder = artifact.path.parent
        if options := tool.compiler_options(compiler.words(values)):
            twin = compiler.build_shared(
                folder / "variant.c", folder / f"{tool.name}.so", values, extra=options
            )
            if isinstance(twin, BuildFailure):
                return f"the code cannot be built with {' '.join(options)}: {twin.reason}"
            artifact = twin
        output = folder / f"{tool.name}.out"
        _remove(output)
        if tool.keeps_files:
            output.mkdir()
        done = self.evaluator.run_under(
            artifact,
            arguments,
            tool.prefix(output),
            slowdown=TOOL_TIMEOUT,
            environment=tool.environment(output),
        )
        files = _files(output)
        if done.timed_out:
            return f"no result after {done.seconds:.0f} s"
        if not done.ok:
            told = done.stderr.strip().splitlines() if done.signal_name is None else []
            reason = f": {told[-1]}" if told else ""
            return f"the program was ended by {done.signal_name or f'exit code {done.returncode}'}{reason}"
        if not (counters := tool.read(files)):
            return "its results cannot be read"
        kept = files if tool.keeps_files else {}
        return _Seen(counters, tuple(Profile(tool.name, path, text) for path, text in kept.items()))


def _remove(output: Path) -> None:
    if output.is_dir():
        shutil.rmtree(output)
    output.unlink(missing_ok=True)


def _files(output: Path) -> dict[str, str]:
    """The texts of a file or of all files of a folder, by their paths below it, up to a size."""
    paths = sorted(p for p in output.rglob("*") if p.is_file()) if output.is_dir() else [output]
    found: dict[str, str] = {}
    left = MOST_BYTES
    for path in paths:
        if path.exists() and (left := left - path.stat().st_size) >= 0:
            name = path.relative_to(output).as_posix() if path != output else path.name
            found[name] = path.read_text(encoding="utf-8", errors="replace").replace("\0", "")
    return found


def _by_method(report: ResultLines) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for method, name, value in report.counters():
        found.setdefault(method, {})[name] = value
    return found
