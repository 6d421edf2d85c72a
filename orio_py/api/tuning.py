"""`tune`, and `compile_tuned`, which tunes what a compiler is about to compile."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import orio_py
from orio_py.api.report import (
    BAD_INPUT,
    ENVIRONMENT,
    INTERRUPTED,
    NO_VARIANT,
    OK,
    Paths,
    Report,
    given_paths,
    nothing_found,
)
from orio_py.build.detect import cpu_cores, cpu_name, default_compiler
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, EnvironmentProblem, has_errors
from orio_py.tuning.events import Event, Listener
from orio_py.tuning.files.load import Loaded, load
from orio_py.tuning.files.output import Destination
from orio_py.tuning.files.tree import FileSelection
from orio_py.tuning.options import TuneOptions
from orio_py.tuning.project import tune_file
from orio_py.tuning.result import RegionReport
from orio_py.tuning.session.trial_cache import Archive
from orio_py.tuning.task_sizes import TaskClock
from orio_py.tuning.wrapper import Wrapper

if TYPE_CHECKING:  # only those who have a cluster wait for what it loads
    from orio_py.tuning.cluster.session import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneReport(Report):
    """The outcome of `tune`."""

    regions: tuple[RegionReport, ...] = ()
    outputs: tuple[Path, ...] = ()

    def as_json(self) -> dict[str, object]:
        """The shape that `tune --json` promises."""
        machine = self.regions[0].environment if self.regions else None
        environment = (
            {
                "cpu": machine.cpu,
                "cores": machine.cores,
                "system": machine.system,
                "compiler": machine.compiler,
                "device": machine.device or machine.cpu,
            }
            if machine
            else {"cpu": cpu_name(), "cores": cpu_cores(), "compiler": None, "device": cpu_name()}
        )
        return {
            **Report.as_json(self),
            "environment": environment,
            "regions": [region.as_json() for region in self.regions],
            "outputs": [str(path) for path in self.outputs],
        }


def tune(
    paths: Paths,
    *,
    output: Path | None = None,
    in_place: bool = False,
    options: TuneOptions | None = None,
    listener: Listener | None = None,
) -> TuneReport:
    """Tune every annotated region of the files and write the winners back.

    Without `output` or `in_place`, `name.c` gives `_name.c` beside it; `output` is a file for one input
    and a folder for several.  `listener` is called with every event of `tuning.events`.
    """
    chosen = options if options is not None else TuneOptions()
    given = given_paths(paths)
    loaded = load(
        given,
        spec=chosen.spec,
        pins=chosen.pins,
        assume=chosen.assume,
        selection=FileSelection(chosen.include, chosen.exclude, output),
        compile_commands=chosen.compile_commands,
    )
    destination = Destination(given, loaded.files, output, in_place)
    problems = [*loaded.diagnostics, *destination.problems()]
    if has_errors(problems) or not loaded.tasks:
        if not has_errors(problems):
            problems.extend(destination.complete(()))
        return TuneReport(
            diagnostics=(*problems, *nothing_found(loaded, problems)),
            sources=loaded.sources,
            exit_code=BAD_INPUT if has_errors(problems) else OK,
        )
    run = _TuneRun(loaded, destination, chosen, listener or _ignore, problems)
    try:
        default_compiler()
        with _cluster(chosen) as cluster, _archive(chosen, problems) as archive:
            run.tune_all(archive, cluster)
        if run.exit_code in (OK, NO_VARIANT, BAD_INPUT):
            problems.extend(destination.complete(run.outputs))
    except EnvironmentProblem as missing:
        problems.extend(missing.diagnostics)
        run.exit_code = ENVIRONMENT
    except DiagnosticError as problem:
        problems.extend(problem.diagnostics)
        run.exit_code = BAD_INPUT
    return TuneReport(
        diagnostics=tuple(problems),
        sources=loaded.sources,
        exit_code=run.exit_code,
        regions=tuple(run.regions),
        outputs=tuple(run.outputs),
    )


@contextmanager
def _archive(options: TuneOptions, problems: list[Diagnostic]) -> Generator[Archive | None]:
    """The results database asked for; None for none."""
    if options.db is None:
        yield None
        return
    with closing(Archive.open(options.db, problems, required=options.db_required)) as archive:
        yield archive


@contextmanager
def _cluster(options: TuneOptions) -> Generator[Cluster | None]:
    """The cluster asked for; None for none."""
    if options.cluster is None:
        yield None
        return
    from orio_py.tuning.cluster.session import Cluster  # what builds and measures takes time to load

    with closing(Cluster.open(options.cluster)) as cluster:
        yield cluster


@dataclass(slots=True)
class _TuneRun:
    """The files of one call of `tune`, worked off one after the other."""

    loaded: Loaded
    destination: Destination
    options: TuneOptions
    listener: Listener
    problems: list[Diagnostic]
    regions: list[RegionReport] = field(default_factory=list[RegionReport])
    outputs: list[Path] = field(default_factory=list[Path])
    exit_code: int = OK

    def tune_all(self, archive: Archive | None, cluster: Cluster | None = None) -> None:
        """A file that fails does not keep the others from being tuned and written; exit code 2 tells of it.

        So it is with regions and problem sizes of one file.  Exit code 4 tells of those that found no valid variant,
        exit code 3 of those for which this machine lacks something, and of variants that nothing here can time.
        """
        total = sum(len(task.points) for task in self.loaded.tasks if task.task.has_spec)
        clock = TaskClock(total, self.listener, perf_counter)
        for file in self.loaded.files:
            if not file.tasks:
                continue
            result = tune_file(
                file,
                self.options,
                self.listener,
                orio_py.__version__,
                archive,
                clock=clock,
                cluster=cluster,
            )
            self.problems.extend(result.diagnostics)
            failed = result.failed
            target: Path | None = None
            if result.data is not None and not result.interrupted:
                try:
                    target, *others = self.destination.write(file, result.data, result.kernels)
                    self.outputs += [target, *others]
                except DiagnosticError as problem:
                    self.problems.extend(problem.diagnostics)
                    failed = True
            self.regions.extend(replace(r, output=target if r.best else None) for r in result.reports)
            if result.interrupted:
                self.exit_code = INTERRUPTED
                return
            if failed:
                self.exit_code = BAD_INPUT
            elif (result.untimed or result.lacking) and self.exit_code in (OK, NO_VARIANT):
                self.exit_code = ENVIRONMENT
            elif self.exit_code == OK and (result.refused or any(r.best is None for r in result.reports)):
                self.exit_code = NO_VARIANT


def compile_tuned(
    command: Sequence[str],
    *,
    run: Callable[[Sequence[str]], int],
    store: Path,
    options: TuneOptions | None = None,
    may_tune: bool = True,
    listener: Listener | None = None,
    announce: Callable[[Path], None] | None = None,
) -> Report:
    """Run a compiler command with the tuned texts of its annotated sources, as `orio cc` does.

    `run` runs a command and gives its exit status, which becomes the report's exit code.  Tuned texts are
    kept in the folder `store`; without `may_tune` only those are used.  `announce` hears of each source
    before it is tuned.  The results database of the options is used as by `tune`.  Sources that cannot be
    tuned are compiled as they are, with warnings.
    """

    def tune_into(source: Path, target: Path, chosen: TuneOptions) -> Sequence[Diagnostic]:
        if announce is not None:
            announce(source)
        report = tune(source, output=target, options=chosen, listener=listener)
        if report.exit_code == INTERRUPTED:
            raise KeyboardInterrupt
        return report.diagnostics

    wrapper = Wrapper(
        tuple(command),
        Path.cwd(),
        store,
        options or TuneOptions(),
        tune_into,
        run,
        may_tune,
    )
    status = wrapper.compile()
    return Report(diagnostics=tuple(wrapper.told), exit_code=status)


def _ignore(event: Event) -> None:
    """The listener of those who do not listen."""
