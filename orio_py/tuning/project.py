"""Tunes and transforms whole files: one session per task and problem size, then the write-back."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from orio_py.build.detect import host, scratch_folder
from orio_py.build.scratch import Scratch
from orio_py.codegen.host_unit import HostKernel
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, EnvironmentProblem
from orio_py.core.expr import Value
from orio_py.core.source import Span
from orio_py.transformation.base import Refusal
from orio_py.tuning.events import Listener
from orio_py.tuning.files.host_functions import HostFunctions
from orio_py.tuning.files.load import LoadedFile, LoadedTask
from orio_py.tuning.files.writeback import splice
from orio_py.tuning.options import TuneOptions
from orio_py.tuning.result import RegionReport
from orio_py.tuning.session.trial_cache import Archive
from orio_py.tuning.task_sizes import Around, TaskClock, TaskOutcome, raise_if_general, tune_task
from orio_py.tuning.variants.contents import transformed_contents, tuned_contents, without_stale_calls

if TYPE_CHECKING:  # only those who have a cluster wait for what it loads
    from orio_py.tuning.cluster.session import Cluster


@dataclass(slots=True)
class TunedFile:
    """The new bytes of a file (None: leave it alone), its reports, and what was noticed on the way.

    `failed` says that the original of a region cannot be built or run at some problem size, or that a recipe was
    refused and no other region has anything to write.  `refused` says that a region's recipe was refused at every
    configuration, `lacking` that this machine lacks something that a region needs.  All these regions keep their
    text, and the others are written.  `untimed` says that variants of a region are right and nothing here times them.
    `kernels` are those that the new text calls.
    """

    data: bytes | None
    reports: list[RegionReport]
    diagnostics: list[Diagnostic]
    interrupted: bool = False
    failed: bool = False
    refused: bool = False
    lacking: bool = False
    kernels: tuple[HostKernel, ...] = ()
    untimed: bool = False

    def add(self, outcome: TaskOutcome) -> None:
        """Take note of what came of a task."""
        self.reports += outcome.reports
        self.diagnostics += outcome.diagnostics
        self.interrupted |= outcome.interrupted
        self.failed |= outcome.failed
        self.refused |= outcome.refused
        self.lacking |= outcome.lacking
        self.untimed |= outcome.untimed


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
    """Tune every task of a file with what `archive` knows, on the `cluster` if any.

    A task that fails, or has no valid variant, keeps its text; the others are written all the same.  Raises
    EnvironmentProblem where nothing can be tuned at all.
    """
    result = TunedFile(None, [], [])
    contents: dict[Span, str] = {}
    functions = HostFunctions()
    clock = clock or TaskClock(1, listener, perf_counter)
    machine = host()
    with _workspace(options.keep, file.path.stem) as folder:
        for number, loaded in enumerate(file.tasks):
            around = Around(folder / f"task_{number}", clock, archive, machine, version, cluster)
            contents.update(_task_contents(file, loaded, options, around, result, functions))
            if result.interrupted:
                return result
    whole = without_stale_calls(file.tasks, contents, version)
    # What an earlier run put into a region that nothing here can time is not thrown away for the sake of the others.
    if contents and not (result.untimed and len(whole) > len(contents)):
        result.data = splice(file.source, whole)
        result.kernels = tuple(functions.kernels)
    result.failed |= result.refused and not contents
    return result


def transform_file(
    file: LoadedFile, pins: Mapping[str, Value], version: str
) -> tuple[bytes | None, tuple[HostKernel, ...]]:
    """The file with every recipe applied at one configuration, and the kernels that it then calls.

    None for the file when it has no region.  Raises DiagnosticError; of refusals those of all tasks.
    """
    contents: dict[Span, str] = {}
    functions = HostFunctions()
    refused: list[Diagnostic] = []
    for loaded in file.tasks:
        try:
            contents.update(transformed_contents(loaded, pins, version, functions))
        except Refusal as refusal:
            refused.extend(refusal.diagnostics)
    if refused:
        raise Refusal(*refused)
    return splice(file.source, contents) if contents else None, tuple(functions.kernels)


def _task_contents(
    file: LoadedFile,
    loaded: LoadedTask,
    options: TuneOptions,
    around: Around,
    result: TunedFile,
    functions: HostFunctions,
) -> Mapping[Span, str]:
    """What is to stand in a task's regions; nothing where they keep their text."""
    try:
        if not loaded.task.has_spec:
            return transformed_contents(loaded, {}, around.version, functions)
        outcome = tune_task(file, loaded, options, around)
        result.add(outcome)
        if result.interrupted:
            return {}
        return tuned_contents(loaded.task, outcome.winners, around.version, functions)
    except Refusal as refusal:
        result.diagnostics.extend(refusal.diagnostics)
        result.refused = True
    except DiagnosticError as problem:
        raise_if_general(problem, around)
        result.diagnostics.extend(problem.diagnostics)
        is_lack = isinstance(problem, EnvironmentProblem)
        result.lacking, result.failed = result.lacking or is_lack, result.failed or not is_lack
    return {}


@contextmanager
def _workspace(keep: Path | None, stem: str) -> Generator[Path]:
    """A folder for generated files: the user's, or a temporary one that is removed afterwards.

    In the user's folder those of an earlier run make way.
    """
    if keep is not None:
        folder = (keep / stem).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for earlier in folder.glob("task_[0-9]*"):
            shutil.rmtree(earlier)
        yield folder
        return
    scratch = Scratch.make(scratch_folder())
    try:
        yield scratch.path
    finally:
        scratch.remove()
