"""One task at all its problem sizes: the original is measured at each, then each is tuned.

A size that fails costs no other one: its code stays the original's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from orio_py.build.compiler import Compiler, resolve
from orio_py.build.detect import directive_devices
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, EnvironmentProblem, Note, Severity
from orio_py.core.expr import show
from orio_py.core.units import Seconds
from orio_py.kernel.backends import BACKENDS
from orio_py.record.environment import Host
from orio_py.search.catalog import find
from orio_py.spec.inputs import InputPoint
from orio_py.spec.target import COMPILER_OPTIONS, DIRECTIVES, Target
from orio_py.spec.task import TuningTask
from orio_py.tuning.events import Listener, TreeProgress
from orio_py.tuning.files.load import LoadedFile, LoadedTask
from orio_py.tuning.options import TuneOptions
from orio_py.tuning.plan import Plan, make_plan, resolve_target, with_features
from orio_py.tuning.result import RegionReport, Winner
from orio_py.tuning.session.cache_keys import make_keys
from orio_py.tuning.session.cached_result import answered, task_started
from orio_py.tuning.session.past import guided_by_past
from orio_py.tuning.session.report_codec import Remembered
from orio_py.tuning.session.trial_cache import Archive, TrialCache

if (
    TYPE_CHECKING
):  # those who have no cluster, and those whose answers are stored, do not wait for what these load
    from orio_py.tuning.cluster.session import Cluster
    from orio_py.tuning.session.session import TuningSession


@dataclass(slots=True)
class TaskClock:
    """Counts the tasks of a command and tells listeners how many are left, and for how long."""

    total: int
    listener: Listener
    now: Callable[[], float]
    done: int = 0
    _begun: float | None = None

    def begin(self) -> None:
        """A task begins."""
        now = self.now()
        if self._begun is None:
            self._begun = now
        if self.total > 1:
            left = (now - self._begun) / self.done * (self.total - self.done) if self.done else None
            self.listener(TreeProgress(self.done, self.total, None if left is None else Seconds(left)))
        self.done += 1


LEAST_TIME_TO_RANK = Seconds(60.0)
"""In searches that are shorter nothing is ranked before it is built: that takes some seconds."""


@dataclass(frozen=True, slots=True)
class Around:
    """What a session is given beside its plan."""

    folder: Path
    clock: TaskClock
    archive: Archive | None
    machine: Host
    version: str
    cluster: Cluster | None = None


@dataclass(slots=True)
class TaskOutcome:
    """The winners of a task, one for each problem size that was tuned or failed, and what was noticed.

    The flags are as in `TunedFile`.
    """

    has_several: bool
    """Whether there are several problem sizes."""
    winners: list[Winner] = field(default_factory=list[Winner])
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    interrupted: bool = False
    failed: bool = False
    refused: bool = False
    lacking: bool = False
    untimed: bool = False

    @property
    def reports(self) -> list[RegionReport]:
        """What is reported of each size."""
        return [winner.report for winner in self.winners]

    def fail(self, problem: DiagnosticError, point: InputPoint) -> None:
        """Take note of what ended a problem size; what does not build at several of them is told once."""
        is_lack = isinstance(problem, EnvironmentProblem)
        self.lacking, self.failed = self.lacking or is_lack, self.failed or not is_lack
        known = {(d.code, d.message) for d in self.diagnostics if d.code.startswith("ORIO-B")}
        size = ", ".join(f"{name} = {show(value)}" for name, value in point.values)
        notes = (Note(f"at {size}"),) if self.has_several else ()
        self.diagnostics += (
            replace(found, notes=(*found.notes, *notes))
            for found in problem.diagnostics
            if (found.code, found.message) not in known
        )


@dataclass(frozen=True, slots=True)
class _Size:
    """A problem size under way: its plan, and its session or what a finished run of the same plan left."""

    plan: Plan
    session: TuningSession | None = None
    known: Remembered | None = None
    started: float = 0.0


def tune_task(file: LoadedFile, loaded: LoadedTask, options: TuneOptions, around: Around) -> TaskOutcome:
    """Tune a task at all its problem sizes; those share the time that the caller allows.

    Raises DiagnosticError for what no size can do without.
    """
    outcome = TaskOutcome(len(loaded.points) > 1)
    options = _with_usable_target(file, loaded.task, options, outcome)
    if options.time is not None:
        options = replace(options, time=Seconds(options.time / len(loaded.points)))
    sizes = _opened(file, loaded, options, around, outcome)
    try:
        for size in sizes if not outcome.interrupted else ():
            if outcome.interrupted:
                break
            around.clock.begin()
            if size.known is not None:
                outcome.diagnostics.extend(size.known.diagnostics)
                around.clock.listener(task_started(size.plan))
                spent = Seconds(perf_counter() - size.started)
                outcome.winners.append(answered(size.plan, size.known, around.clock.listener, spent))
            elif size.session is not None:
                _tune(size.session, outcome, around)
    finally:
        for size in sizes:
            if size.session is not None:
                size.session.close()
    outcome.winners.sort(key=lambda winner: loaded.points.index(winner.point))
    return outcome


def _opened(
    file: LoadedFile, loaded: LoadedTask, options: TuneOptions, around: Around, outcome: TaskOutcome
) -> list[_Size]:
    """The problem sizes that can be tuned; where there are several, with their originals measured."""
    sizes: list[_Size] = []
    for index, (point, space) in enumerate(zip(loaded.points, loaded.spaces, strict=True)):
        started = perf_counter()
        plan = make_plan(loaded.task, point, space, options)
        compiler = _compiler(plan.task, file.path, options)
        outcome.diagnostics.extend(compiler.warnings if not index else ())
        size = _size(plan, compiler, options, around, around.folder / f"size_{index}")
        sizes.append(replace(size, started=started))
    for size in sizes if outcome.has_several else ():
        if size.session is None:
            continue
        size.session.has_siblings = True
        # On devices and clusters every session that has begun holds a process, and memory, of its own.
        if around.cluster is None and size.plan.target not in BACKENDS:
            _measure_original(size.session, outcome, around)
    return sizes


def _size(plan: Plan, compiler: Compiler, options: TuneOptions, around: Around, folder: Path) -> _Size:
    """The session of a plan, or what a finished run of the same plan left."""
    machine, memory = around.machine, None
    if around.cluster is not None:
        kind = around.cluster.kind(plan.evaluation, compiler.directory, options.cc)
        compiler, machine = replace(compiler, version=kind.compiler), kind.host
    if around.archive is not None:
        keys = make_keys(plan, compiler, machine, around.version)
        known = around.archive.finished(keys, plan.task.position) if not options.fresh else None
        if known is not None:
            return _Size(plan, known=known)
        if (database := around.archive.database()) is not None:
            memory = TrialCache.open(database, keys, lambda: datetime.now(UTC), fresh=options.fresh)
            if not options.fresh:
                plan = guided_by_past(plan, memory)
    if _may_rank(plan):
        from orio_py.tuning.variants.static import LazyFeatures  # takes time to load

        features = LazyFeatures(plan.task, plan.point, compiler)
        plan = with_features(plan, features, features.judge)
    # Here and not above: what builds and measures takes time to load, and most runs need none of it.
    from orio_py.tuning.session.session import TuningSession

    cluster = around.cluster.session(plan, compiler, options.cc) if around.cluster is not None else None
    return _Size(plan, TuningSession(plan, compiler, folder, around.clock.listener, memory, cluster))


def _may_rank(plan: Plan) -> bool:
    """Whether the search may rank variants by what a model predicts: it takes seconds, and says nothing but of time."""
    limit, searcher = plan.budget.time, find(plan.spec.algorithm)
    in_time = limit is None or limit >= LEAST_TIME_TO_RANK
    return in_time and plan.objective is None and (searcher.uses_features or searcher.uses_counters)


def _measure_original(session: TuningSession, outcome: TaskOutcome, around: Around) -> None:
    """Measure the original of one of several sizes, and tell at once what the search will cost."""
    if outcome.interrupted:
        return
    try:
        session.prepare()
    except KeyboardInterrupt:
        outcome.interrupted = True
    except DiagnosticError as problem:
        raise_if_general(problem, around)
        outcome.fail(problem, session.plan.point)
        outcome.winners.append(session.failed(problem))


def _tune(session: TuningSession, outcome: TaskOutcome, around: Around) -> None:
    """Tune at one problem size, if its original could be measured."""
    if session.has_failed:
        return
    try:
        winner = session.run()
    except DiagnosticError as problem:
        raise_if_general(problem, around)
        outcome.fail(problem, session.plan.point)
        outcome.winners.append(session.failed(problem))
        return
    outcome.diagnostics.extend(session.diagnostics)
    report, refusal = winner.report, session.first_refusal
    if report.interrupted:
        outcome.interrupted = True
    elif report.trials == 0 and refusal is not None:
        outcome.refused = True
        outcome.diagnostics.append(_refused(refusal, report.refused))
        reason = f"every configuration was refused ({refusal.code})"
        winner = replace(winner, report=replace(report, reason=reason))
    elif report.right and report.best is None:
        outcome.untimed = True
        outcome.diagnostics.append(_untimed(session.plan.task, report))
    elif report.best is None:
        outcome.diagnostics.append(_no_variant(session.plan.task, winner, refusal))
    outcome.winners.append(winner)


def raise_if_general(problem: DiagnosticError, around: Around) -> None:
    """Where a cluster or a database fails, no other region or size would fare better."""
    is_own = problem.diagnostics[0].code.startswith(("ORIO-B", "ORIO-M"))
    if isinstance(problem, EnvironmentProblem) and (around.cluster is not None or not is_own):
        raise problem


def _with_usable_target(
    file: LoadedFile, task: TuningTask, options: TuneOptions, outcome: TaskOutcome
) -> TuneOptions:
    """Plain C instead of OpenMP or OpenACC where nobody insists on these and the compiler cannot build them."""
    target = options.target or resolve_target(task, None)
    if target not in COMPILER_OPTIONS:
        return options
    option = COMPILER_OPTIONS[Target(target)]
    insists = options.target is not None or option.removeprefix("-f") in task.build.command
    is_for_devices = target in DIRECTIVES.values()
    if insists and not is_for_devices:
        return options
    devices = directive_devices(_compiler(task, file.path, options).driver, option)
    model = "OpenACC" if target == Target.OPENACC else "OpenMP"
    if devices == 0 and is_for_devices:
        message = (
            f"{model} finds no device here: the loops of the variants run, and are timed, on the processor"
        )
        outcome.diagnostics.append(Diagnostic("ORIO-B008", message, task.position, Severity.WARNING))
    if devices is not None or insists:
        return options
    message = f"the compiler cannot build {model} programs, so the {model} pragmas of the recipe have no effect here"
    help_text = f"install its {model} library, or use gcc"
    if model == "OpenMP":
        help_text = "install its OpenMP library (Debian, Ubuntu: `apt install libomp-dev`), or use gcc"
    outcome.diagnostics.append(
        Diagnostic("ORIO-B006", message, task.position, Severity.WARNING, help=help_text)
    )
    return replace(options, target=str(Target.C))


def _compiler(task: TuningTask, path: Path, options: TuneOptions) -> Compiler:
    return resolve(task.build, path.resolve().parent, override=options.cc)


def _refused(first: Diagnostic, count: int) -> Diagnostic:
    """The refusal that left nothing to try, as the error that it is."""
    note = Note(f"refused for all {count} configurations proposed")
    return replace(first, severity=Severity.ERROR, notes=(*first.notes, note))


def _no_variant(task: TuningTask, winner: Winner, refusal: Diagnostic | None) -> Diagnostic:
    kinds = [f"{count} {kind}" for kind, count in winner.report.failures.items()]
    if winner.report.refused:
        kinds.append(f"{winner.report.refused} refused")
    message = f"no valid variant of `{task.name}` was found ({', '.join(kinds) or 'nothing was tried'})"
    help_text = f"the first refusal was: {refusal.message}" if refusal is not None else None
    return Diagnostic("ORIO-M020", message, task.position, help=help_text)


def _untimed(task: TuningTask, report: RegionReport) -> Diagnostic:
    right = (
        f"{report.right} of {report.trials} variants of `{task.name}` are right, and nothing here times them"
    )
    help_text = (
        "what was found is kept in the results database; tune where there is a GPU, write the one that is predicted to be "
        "the fastest with `--accept-predicted`, or any with"
    )
    return Diagnostic(
        "ORIO-B040", f"{right}: {report.untimed}", task.position, help=f"{help_text} `orio transform --set`"
    )
