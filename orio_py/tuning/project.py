"""Tunes and transforms whole files: one session per task and problem size, then the write-back."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from orio_py.build.compiler import Compiler, resolve
from orio_py.build.detect import host, scratch_folder, supports_openmp
from orio_py.build.scratch import Scratch
from orio_py.codegen.host_unit import HostKernel
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, EnvironmentProblem, Note, Severity
from orio_py.core.expr import Value
from orio_py.core.source import Span
from orio_py.core.units import Seconds
from orio_py.record.environment import Host
from orio_py.spec.target import Target
from orio_py.spec.task import TuningTask
from orio_py.transformation.base import Refusal
from orio_py.tuning.events import Listener, TreeProgress
from orio_py.tuning.files.host_functions import HostFunctions
from orio_py.tuning.files.load import LoadedFile, LoadedTask
from orio_py.tuning.files.writeback import splice
from orio_py.tuning.options import TuneOptions
from orio_py.tuning.plan import Plan, make_plan, resolve_target
from orio_py.tuning.result import RegionReport, Winner
from orio_py.tuning.session.cache_keys import make_keys
from orio_py.tuning.session.cached_result import answered, task_started
from orio_py.tuning.session.past import guided_by_past
from orio_py.tuning.session.trial_cache import Archive, TrialCache
from orio_py.tuning.variants.contents import transformed_contents, tuned_contents, without_stale_calls

if TYPE_CHECKING:  # only those who have a cluster wait for what it loads
    from orio_py.tuning.cluster.session import Cluster


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


@dataclass(slots=True)
class TunedFile:
    """The new bytes of a file (None: leave it alone), its reports, and what was noticed on the way.

    `failed` says that nothing is to be written: the original of a region cannot be built or run, say, or a
    recipe was refused and no other region has anything to write.  `refused` says that a region's recipe was
    refused at every configuration; it keeps its text.  `untimed` says that variants of a region are right and nothing
    here times them: nothing is to be written.
    `kernels` are those that the new text calls.
    """

    data: bytes | None
    reports: list[RegionReport]
    diagnostics: list[Diagnostic]
    interrupted: bool = False
    failed: bool = False
    refused: bool = False
    kernels: tuple[HostKernel, ...] = ()
    untimed: bool = False


def tune_file(
    file: LoadedFile,
    options: TuneOptions,
    listener: Listener,
    version: str,
    archive: Archive | None = None,
    *,
    clock: TaskClock | None = None,
    cluster: Cluster | None = None,
) -> TunedFile:
    """Tune every task of a file, up to the first with bad input, with what `archive` knows, on the `cluster` if any.

    A task without a valid variant keeps its text; the others are written all the same.  Raises EnvironmentProblem without a compiler.
    """
    result = TunedFile(None, [], [])
    contents: dict[Span, str] = {}
    functions = HostFunctions()
    clock = clock or TaskClock(1, listener, perf_counter)
    machine = host()
    with _workspace(options.keep, file.path.stem) as folder:
        for number, loaded in enumerate(file.tasks):
            try:
                around = _Around(folder / f"task_{number}", clock, archive, machine, version, cluster)
                contents.update(_task_contents(file, loaded, options, around, result, functions))
            except EnvironmentProblem:
                raise
            except DiagnosticError as problem:
                result.diagnostics.extend(problem.diagnostics)
                result.failed = True
                return result
            if result.interrupted:
                return result
    if contents and not result.untimed:
        result.data = splice(file.source, without_stale_calls(file.tasks, contents, version))
        result.kernels = tuple(functions.kernels)
    result.failed = result.refused and not contents
    return result


def transform_file(
    file: LoadedFile, pins: Mapping[str, Value], version: str
) -> tuple[bytes | None, tuple[HostKernel, ...]]:
    """The file with every recipe applied at one configuration, and the kernels that it then calls.

    None for the file when it has no region.  Raises DiagnosticError (a refusal, say).
    """
    contents: dict[Span, str] = {}
    functions = HostFunctions()
    for loaded in file.tasks:
        contents.update(transformed_contents(loaded, pins, version, functions))
    return splice(file.source, contents) if contents else None, tuple(functions.kernels)


@dataclass(frozen=True, slots=True)
class _Around:
    """What a session is given beside its plan."""

    folder: Path
    clock: TaskClock
    archive: Archive | None
    machine: Host
    version: str
    cluster: Cluster | None = None


def _task_contents(
    file: LoadedFile,
    loaded: LoadedTask,
    options: TuneOptions,
    around: _Around,
    result: TunedFile,
    functions: HostFunctions,
) -> Mapping[Span, str]:
    """What is to stand in a task's regions; nothing where they keep their text."""
    if loaded.task.has_spec:
        winners = _tune_task(file, loaded, options, around, result)
        return {} if result.interrupted else tuned_contents(loaded.task, winners, around.version, functions)
    try:
        return transformed_contents(loaded, {}, around.version, functions)
    except Refusal as refusal:
        result.diagnostics.extend(refusal.diagnostics)
        result.refused = True
        return {}


def _tune_task(
    file: LoadedFile, loaded: LoadedTask, options: TuneOptions, around: _Around, result: TunedFile
) -> list[Winner]:
    options = _with_usable_target(file, loaded.task, options, result)
    winners: list[Winner] = []
    for index, (point, space) in enumerate(zip(loaded.points, loaded.spaces, strict=True)):
        plan = make_plan(loaded.task, point, space, options)
        compiler = _compiler(plan.task, file.path, options)
        if around.cluster is not None:
            kind = around.cluster.kind(plan.evaluation, compiler.directory, options.cc)
            compiler, around = replace(compiler, version=kind.compiler), replace(around, machine=kind.host)
        around.clock.begin()
        winner, refusal = _winner(plan, compiler, options, around, index, result.diagnostics)
        if winner.report.trials == 0 and refusal is not None and not winner.report.interrupted:
            result.refused = True
            result.diagnostics.append(_refused(refusal, winner.report.refused))
            reason = f"every configuration was refused ({refusal.code})"
            winner = replace(winner, report=replace(winner.report, reason=reason))
        elif winner.report.right and winner.report.best is None:
            result.untimed = True
            result.diagnostics.append(_untimed(plan.task, winner.report))
        elif winner.report.best is None and not winner.report.interrupted:
            result.diagnostics.append(_no_variant(plan.task, winner, refusal))
        result.reports.append(winner.report)
        if winner.report.interrupted:
            result.interrupted = True
            break
        winners.append(winner)
    return winners


def _winner(
    plan: Plan,
    compiler: Compiler,
    options: TuneOptions,
    around: _Around,
    index: int,
    diagnostics: list[Diagnostic],
) -> tuple[Winner, Diagnostic | None]:
    """The winner at one problem size, from a finished run or a session, and the first refusal met."""
    started = perf_counter()
    memory: TrialCache | None = None
    if around.archive is not None:
        keys = make_keys(plan, compiler, around.machine, around.version)
        known = around.archive.finished(keys, plan.task.position) if not options.fresh else None
        if known is not None:
            diagnostics.extend(known.diagnostics)
            around.clock.listener(task_started(plan))
            return answered(plan, known, around.clock.listener, Seconds(perf_counter() - started)), None
        if (database := around.archive.database()) is not None:
            memory = TrialCache.open(database, keys, lambda: datetime.now(UTC), fresh=options.fresh)
            if not options.fresh:
                plan = guided_by_past(plan, memory)
    # Here and not above: what builds and measures takes time to load, and most runs need none of it.
    from orio_py.tuning.session.session import TuningSession

    cluster = around.cluster.session(plan, compiler, options.cc) if around.cluster is not None else None
    folder = around.folder / f"size_{index}"
    session = TuningSession(plan, compiler, folder, around.clock.listener, memory, cluster)
    winner = session.run()
    diagnostics.extend(session.diagnostics)
    return winner, session.first_refusal


def _with_usable_target(
    file: LoadedFile, task: TuningTask, options: TuneOptions, result: TunedFile
) -> TuneOptions:
    """Plain C instead of OpenMP where nobody insists on OpenMP and the compiler cannot build it."""
    asked = options.target is not None or "openmp" in task.build.command
    if asked or resolve_target(task, None) != Target.OPENMP:
        return options
    if supports_openmp(_compiler(task, file.path, options).driver):
        return options
    message = (
        "the compiler cannot build OpenMP programs, so the OpenMP pragmas of the recipe have no effect here"
    )
    help_text = "install its OpenMP library (Debian, Ubuntu: `apt install libomp-dev`), or use gcc"
    result.diagnostics.append(
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
        "what was found is kept in the results database; tune where there is a GPU, or write one variant with"
    )
    return Diagnostic(
        "ORIO-B040", f"{right}: {report.untimed}", task.position, help=f"{help_text} `orio transform --set`"
    )


@contextmanager
def _workspace(keep: Path | None, stem: str) -> Generator[Path]:
    """A folder for generated files: the user's, or a temporary one that is removed afterwards."""
    if keep is not None:
        folder = (keep / stem).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    scratch = Scratch.make(scratch_folder())
    try:
        yield scratch.path
    finally:
        scratch.remove()
