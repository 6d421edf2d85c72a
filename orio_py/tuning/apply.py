"""Writes what the results database knows into sources; nothing is built or measured."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path, PurePath
from typing import NoReturn

from orio_py.build.compiler import Compiler
from orio_py.build.features import needed_features
from orio_py.codegen.host_unit import HostKernel
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Severity
from orio_py.core.expr import Value, show
from orio_py.core.source import Span
from orio_py.core.units import Seconds
from orio_py.record.environment import Environment, Host
from orio_py.record.measurement import Clock, Success
from orio_py.record.trial import Trial
from orio_py.search_space.configuration import Configuration
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.inputs import InputPoint
from orio_py.spec.task import TuningTask
from orio_py.store.database import ResultsDatabase, StoredSeries
from orio_py.store.selection import Selection
from orio_py.tuning.files.host_functions import HostFunctions
from orio_py.tuning.files.load import LoadedFile, LoadedTask
from orio_py.tuning.files.writeback import splice
from orio_py.tuning.options import TuneOptions
from orio_py.tuning.plan import Plan, make_plan
from orio_py.tuning.result import Best, RegionReport, SpaceCount, TimeSpent, Winner
from orio_py.tuning.session.cache_keys import make_keys
from orio_py.tuning.session.cached_result import layout_of, winning_codes, with_flags
from orio_py.tuning.session.front import Choice, front_of, stored_objectives
from orio_py.tuning.session.report_codec import Remembered, decode
from orio_py.tuning.variants.contents import tuned_contents, without_stale_calls
from orio_py.tuning.variants.variant import VariantGenerator


@dataclass(slots=True)
class AppliedFile:
    """The new bytes of a file (None: leave it alone), the kernels they call, and what was noticed on the way."""

    data: bytes | None
    diagnostics: list[Diagnostic]
    kernels: tuple[HostKernel, ...] = ()


@dataclass(frozen=True, slots=True)
class Applier:
    """Chooses among the stored series that `meant` means (None: all).

    `machine` is the one at hand; `options` are those that the sources were tuned with.  With a `choice` that point of
    the stored trials' Pareto front is written instead of the best.
    """

    database: ResultsDatabase
    meant: Selection | None
    machine: Host
    version: str
    options: TuneOptions = field(default_factory=TuneOptions)
    choice: Choice | None = None

    def apply(self, file: LoadedFile) -> AppliedFile:
        """A file with its best stored configurations, as `tune` would have written it.

        Problems are in the result's diagnostics: ORIO-D011 (nothing stored), D012 (several machines), D013
        (stored for another version, a warning), D014 (nothing valid stored), and refusals.
        """
        contents: dict[Span, str] = {}
        problems: list[Diagnostic] = []
        functions = HostFunctions()
        stored = self.database.overview(self.meant or Selection())
        for loaded in file.tasks:
            winners: list[Winner] = []
            for point, space in zip(loaded.points, loaded.spaces, strict=True):
                try:
                    winners.append(self._winner(file, loaded, point, space, stored, problems))
                except DiagnosticError as problem:
                    problems.extend(problem.diagnostics)
            if len(winners) == len(loaded.points):
                contents.update(tuned_contents(loaded.task, winners, self.version, functions))
        data = None
        if contents:
            data = splice(file.source, without_stale_calls(file.tasks, contents, self.version))
        return AppliedFile(data, problems, tuple(functions.kernels))

    def _winner(
        self,
        file: LoadedFile,
        loaded: LoadedTask,
        point: InputPoint,
        space: SearchSpace,
        stored: Sequence[StoredSeries],
        problems: list[Diagnostic],
    ) -> Winner:
        plan = make_plan(loaded.task, point, space, self.options)
        compiler = _unstarted(plan.task, file.path, self.options.cc)
        task = make_keys(plan, compiler, self.machine, self.version).task
        found = [s for s in stored if s.series.task == task]
        if not found:
            found = [s for s in stored if _is_namesake(s, file, plan, self.meant)]
            if found:
                problems.append(_outdated(plan.task, point, found[0]))
        if not found:
            _refuse("ORIO-D011", f"nothing is stored for `{plan.task.name}`", plan, _NOTHING)
        series = self._of_one_machine(_measured_first(found), plan)
        known = self._finished(series, plan, problems) if self.choice is None else None
        if known is None:
            known = self._from_trials(series, plan, compiler)
        generator, codes = VariantGenerator.of(plan.task), known.codes
        if codes is None or known.report.kept_original or known.layout != layout_of(plan.task):
            codes = winning_codes(generator, point, known.report)
        return Winner(point, codes, with_flags(known.report, codes, generator, point, compiler))

    def _of_one_machine(self, found: Sequence[StoredSeries], plan: Plan) -> list[StoredSeries]:
        """The series of the machine at hand, else those of the only machine; the last tuned first."""
        here = [s for s in found if s.series.environment == self.machine.digest]
        machines = sorted({s.series.environment for s in found})
        if not here and len(machines) > 1:
            names = ", ".join(f"`{name[:12]}`" for name in machines)
            message = f"`{plan.task.name}` was tuned on {len(machines)} other machines"
            _refuse("ORIO-D012", message, plan, f"choose one by `--machine`: {names}")
        return sorted(here or found, key=lambda s: s.last, reverse=True)

    def _finished(
        self, series: Sequence[StoredSeries], plan: Plan, problems: list[Diagnostic]
    ) -> Remembered | None:
        """The newest finished run of each series; of several the one whose finals confirmed the least time.

        Runs with different objectives cannot be compared: then the newest counts.
        """
        found = [known for stored in series if (known := self._newest(stored, plan)) is not None]
        if not found:
            return None
        goals = {run.report.goal.expression if run.report.goal else None for run in found}
        best = min(found, key=lambda run: _confirmed(run.report)) if len(goals) == 1 else found[0]
        _check_parameters(best.report.best, plan)
        if len(found) > 1:
            problems.append(_choice_of(best, found, plan, is_fastest=len(goals) == 1))
        return best

    def _newest(self, stored: StoredSeries, plan: Plan) -> Remembered | None:
        """The newest finished run of a series that timed a variant."""
        for result in self.database.results(stored.series):
            known = decode(result.report, plan.task.position)
            if known is not None and known.report.best is not None and result.generation == stored.generation:
                return known
        return None

    def _from_trials(self, series: Sequence[StoredSeries], plan: Plan, compiler: Compiler) -> Remembered:
        """The best trial, where no run was finished: imported trials, say."""
        trials = [trial for s in series if (trial := self._chosen(s, plan)) is not None]
        if not trials:
            _refuse("ORIO-D014", f"no stored trial of `{plan.task.name}` was valid", plan, None)
        trial = trials[0]
        report = _report(trial, series[0], plan, self._reason())
        assert report.best is not None
        _check_parameters(report.best, plan)
        words = compiler.words(report.best.configuration)
        is_native = any(word.endswith("=native") for word in words)
        if is_native and trial.environment != self.machine.digest:
            message = "the best trial was built for the processor of another machine (`native`)"
            _refuse("ORIO-D014", message, plan, "finish a run there; its report says what it needs")
        features = needed_features(compiler, report.best.configuration)
        # Nothing was compared with the original: without the extensions the same code stays.
        best = replace(report.best, features=features, fallback=report.best.configuration)
        return Remembered(replace(report, best=best), ())

    def _reason(self) -> str:
        """Why a trial is written that no finals confirmed."""
        if self.choice is None:
            return "the best stored trial"
        if len(self.choice.objectives) == 1:
            return f"the best stored trial by `{self.choice.objectives[0]}`"
        return f"point {self.choice.point} of the stored trials' Pareto front"

    def _chosen(self, stored: StoredSeries, plan: Plan) -> Trial | None:
        """The trial of a series that is to be written."""
        if self.choice is None:
            return self.database.best(stored.series)
        trials = list(self.database.find(stored.series, stored.generation).values())
        front = front_of(trials, self.choice.objectives or stored_objectives(trials))
        if len(front.trials) < self.choice.point and front.judged:
            message = (
                f"the front of `{plan.task.name}` has {len(front.trials)} points, not {self.choice.point}"
            )
            _refuse("ORIO-D018", message, plan, "`orio results front` shows them")
        chosen = front.trials[self.choice.point - 1 :][:1]
        return self.database.get(chosen[0].key, stored.generation) if chosen else None


_BUILD_THE_SAME = (
    "build the application with that command's options; `orio results delete` removes what no longer counts"
)

_NOTHING = "`orio tune` it, or `orio results import` its trials; `orio results list` shows what is stored"


def _unstarted(task: TuningTask, path: Path, override: str | None) -> Compiler:
    """The compiler of the build command, which may not be there: the code is built elsewhere."""
    words = shlex.split(task.build.command)
    if override is not None:
        words = [*shlex.split(override), *words[1:]]
    return Compiler(tuple(words), (), path.resolve().parent, task.build, "")


def _measured_first(found: Sequence[StoredSeries]) -> Sequence[StoredSeries]:
    """The series that were measured; where none was, those that were emulated."""
    measured = [s for s in found if s.clock not in (None, Clock.EMULATED)]
    return measured or [s for s in found if s.clock is Clock.EMULATED] or found


def _is_namesake(stored: StoredSeries, file: LoadedFile, plan: Plan, meant: Selection | None) -> bool:
    """Whether a series is of the same region at the same size, however the code reads today."""
    is_named = meant is not None and meant.task is not None
    same_file = PurePath(stored.file).name == file.path.name or is_named
    sizes = Configuration(stored.inputs) == Configuration(plan.point.values)
    return same_file and stored.name == plan.task.name and sizes


def _outdated(task: TuningTask, point: InputPoint, stored: StoredSeries) -> Diagnostic:
    message = (
        f"`{task.name}`{_sizes(point)} was tuned with other code, options or version of orio_py "
        f"(task {stored.series.task[:12]}); its configuration is applied all the same"
    )
    return Diagnostic("ORIO-D013", message, task.position, Severity.WARNING)


def _confirmed(report: RegionReport) -> float:
    """What the finals measured of the code that is written: the best variant, or the original where that stayed."""
    best, goal = report.best, report.goal
    assert best is not None
    if goal is not None:
        value = goal.baseline if report.kept_original else goal.best
        return value if value is not None else inf
    timing = report.baseline if report.kept_original and report.baseline is not None else best.timing
    return timing.median_s


def _choice_of(best: Remembered, found: Sequence[Remembered], plan: Plan, *, is_fastest: bool) -> Diagnostic:
    """Which of several finished runs is written, and why: a warning."""
    why = "the fastest confirmed one" if is_fastest else "the newest one, as their objectives differ"
    shown = [f"`{run.report.environment.command}` ({_confirmed(run.report):.3g})" for run in found]
    others = ", ".join(text for run, text in zip(found, shown, strict=True) if run is not best)
    taken = shown[next(place for place, run in enumerate(found) if run is best)]
    message = (
        f"`{plan.task.name}`{_sizes(plan.point)} was tuned with {len(found)} build commands or compilers; the run "
        f"with {taken} is written, {why}; not {others}"
    )
    return Diagnostic("ORIO-D021", message, plan.task.position, Severity.WARNING, help=_BUILD_THE_SAME)


def _check_parameters(best: Best | None, plan: Plan) -> None:
    assert best is not None
    here = {p.name for p in plan.task.parameters}
    if set(best.configuration) != here:
        other = ", ".join(f"`{name}`" for name in sorted(here ^ set(best.configuration)))
        message = f"the stored configuration of `{plan.task.name}` has other parameters"
        _refuse("ORIO-D011", message, plan, f"only on one side: {other}")


def _report(trial: Trial, stored: StoredSeries, plan: Plan, reason: str) -> RegionReport:
    """A report on a trial that no finals confirmed."""
    assert isinstance(trial.measurement, Success)
    told: Mapping[str, str] = trial.metadata
    ordered = {
        p.name: trial.configuration[p.name] for p in plan.task.parameters if p.name in trial.configuration
    }
    values: Mapping[str, Value] = (
        ordered if len(ordered) == len(trial.configuration) else dict(trial.configuration)
    )
    none = Seconds(0.0)
    return RegionReport(
        file=plan.task.position.file,
        line=plan.task.position.line,
        name=plan.task.name,
        target=str(plan.target),
        inputs=dict(plan.point.values),
        space=SpaceCount(plan.space.cartesian, plan.space.size),
        trials=stored.trials,
        cached=stored.trials,
        failures={},
        refused=0,
        seconds=TimeSpent(none, none, none, none),
        environment=Environment(
            told.get("CPU Type", "unknown"),
            int(told.get("CPU Cores", "0") or 0),
            told.get("OS Name", "unknown"),
            told.get("Compiler", "unknown compiler"),
            told.get("orio:command", plan.task.build.command),
        ),
        best=Best(values, trial.measurement.timing, 1.0),
        kept_original=False,
        reason=f"{reason}; not compared with the original",
    )


def _sizes(point: InputPoint) -> str:
    return " at " + ", ".join(f"{n}={show(v)}" for n, v in point.values) if point.values else ""


def _refuse(code: str, message: str, plan: Plan, advice: str | None) -> NoReturn:
    raise DiagnosticError(Diagnostic(code, f"{message}{_sizes(plan.point)}", plan.task.position, help=advice))
