"""The public Python API: tune, transform, check and count, on files.

Problems that a user can cause are in the reports' `diagnostics`, never raised; `exit_code` says what a
command would return: 0 success, 2 bad input, 3 environment, 4 no valid variant, 130 interrupted.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import orio_py
from orio_py.build.detect import CompilerInfo, compilers, cpu_cores, cpu_name, default_compiler, host
from orio_py.core.diagnostics import (
    Diagnostic,
    DiagnosticError,
    EnvironmentProblem,
    Note,
    Severity,
    has_errors,
)
from orio_py.core.expr import Value, show
from orio_py.core.source import Position, SourceFile
from orio_py.measure.observers.base import ObserverInfo, look_at
from orio_py.measure.observers.catalog import OBSERVERS
from orio_py.measure.opencl.client import survey
from orio_py.record.device import OpenCLSurvey
from orio_py.tune.events import Event, Listener
from orio_py.tune.load import Loaded, LoadedTask, load
from orio_py.tune.memory import Archive
from orio_py.tune.options import TuneOptions
from orio_py.tune.output import Destination
from orio_py.tune.project import Clock, transform_file, tune_file
from orio_py.tune.result import RegionReport
from orio_py.tune.tree import Selection
from orio_py.tune.variant import VariantGenerator
from orio_py.tune.wrapper import Wrapper

if TYPE_CHECKING:  # its library takes time to load
    from orio_py.store.selection import Selection as StoredSelection

Paths = Path | str | Sequence[Path] | Sequence[str]

OK, BAD_INPUT, ENVIRONMENT, NO_VARIANT, INTERRUPTED = 0, 2, 3, 4, 130

CONFIGURATIONS_CHECKED = 200
"""How many configurations of a space `check` tries the recipe on at most; all of them in smaller spaces."""

CONFIGURATIONS_WITHOUT_NEWS = 25
"""After so many configurations in a row that brought no new outcome, the sample of a larger space ends.

A sample in which everything was refused goes on to its end: a recipe is not called refused everywhere lightly.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What every command reports: problems, the sources to show them in, and the exit code."""

    diagnostics: tuple[Diagnostic, ...] = ()
    sources: Mapping[str, SourceFile] = field(default_factory=dict[str, SourceFile])
    exit_code: int = OK

    def _problems(self) -> list[dict[str, object]]:
        return [
            {
                "code": d.code,
                "severity": str(d.severity),
                "message": d.message,
                "file": d.position.file if d.position else None,
                "line": d.position.line if d.position else None,
                "column": d.position.column if d.position else None,
                "help": d.help,
            }
            for d in self.diagnostics
        ]

    def as_json(self) -> dict[str, object]:
        """The report as JSON content."""
        return {"version": 1, "tool": f"orio_py {orio_py.__version__}", "diagnostics": self._problems()}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformReport(Report):
    """The outcome of `transform`."""

    outputs: tuple[Path, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Diagnostics and the files written."""
        return {**Report.as_json(self), "outputs": [str(path) for path in self.outputs]}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport(Report):
    """The outcome of `check`: the problems are the result."""

    regions: int = 0

    def as_json(self) -> dict[str, object]:
        """Diagnostics and the number of regions looked at."""
        return {**Report.as_json(self), "regions": self.regions}


@dataclass(frozen=True, slots=True)
class SpaceParameter:
    """A parameter with the number of its values and the values as text."""

    name: str
    count: int
    values: str


@dataclass(frozen=True, slots=True)
class SpaceGroup:
    """Parameters that constraints connect, and how many combinations of them are valid."""

    parameters: tuple[str, ...]
    constraints: tuple[str, ...]
    valid: int


@dataclass(frozen=True, slots=True)
class SpaceRegion:
    """The search space of one task at one problem size."""

    file: str
    line: int
    name: str
    inputs: Mapping[str, Value]
    parameters: tuple[SpaceParameter, ...]
    cartesian: int
    valid: int
    groups: tuple[SpaceGroup, ...]

    def as_json(self) -> dict[str, object]:
        """The entry of `space --json`."""
        return {
            "file": self.file,
            "line": self.line,
            "name": self.name,
            "inputs": dict(self.inputs),
            "parameters": [{"name": p.name, "count": p.count, "values": p.values} for p in self.parameters],
            "space": {"cartesian": self.cartesian, "valid": self.valid},
            "groups": [
                {"parameters": list(g.parameters), "constraints": list(g.constraints), "valid": g.valid}
                for g in self.groups
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceReport(Report):
    """The outcome of `space`."""

    regions: tuple[SpaceRegion, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Diagnostics and the spaces."""
        return {**Report.as_json(self), "regions": [region.as_json() for region in self.regions]}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceReport(Report):
    """The outcome of `devices`."""

    cpu: str = ""
    cores: int = 0
    compilers: tuple[CompilerInfo, ...] = ()
    observers: tuple[ObserverInfo, ...] = ()
    opencl: OpenCLSurvey = field(default_factory=OpenCLSurvey)

    def as_json(self) -> dict[str, object]:
        """Processor, compilers, methods of counting, and OpenCL platforms with their devices."""
        return {
            **Report.as_json(self),
            "cpu": self.cpu,
            "cores": self.cores,
            "compilers": [
                {"name": c.name, "path": c.path, "version": c.version, "works": c.works, "reason": c.reason}
                for c in self.compilers
            ],
            "observers": [
                {
                    "name": o.name,
                    "works": o.reason is None,
                    "reason": o.reason,
                    "counters": list(o.counters),
                    "missing": dict(o.missing),
                }
                for o in self.observers
            ],
            "opencl": {
                "problem": self.opencl.problem,
                "advice": self.opencl.advice,
                "platforms": [platform.as_json() for platform in self.opencl.platforms],
            },
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
    and a folder for several.  `listener` is called with every event of `tune.events`.
    """
    chosen = options if options is not None else TuneOptions()
    given = _paths(paths)
    loaded = load(
        given,
        spec=chosen.spec,
        pins=chosen.pins,
        selection=Selection(chosen.include, chosen.exclude, output),
        compile_commands=chosen.compile_commands,
    )
    destination = Destination(given, loaded.files, output, in_place)
    problems = [*loaded.diagnostics, *destination.problems()]
    if has_errors(problems) or not loaded.tasks:
        if not has_errors(problems):
            problems.extend(destination.complete(()))
        return TuneReport(
            diagnostics=(*problems, *_nothing_found(loaded, problems)),
            sources=loaded.sources,
            exit_code=BAD_INPUT if has_errors(problems) else OK,
        )
    run = _TuneRun(loaded, destination, chosen, listener or _ignore, problems)
    try:
        default_compiler()
        with _archive(chosen, problems) as archive:
            run.tune_all(archive)
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

    def tune_all(self, archive: Archive | None) -> None:
        """A file that fails does not keep the others from being tuned and written; exit code 2 tells of it."""
        total = sum(len(task.points) for task in self.loaded.tasks if task.task.has_spec)
        clock = Clock(total, self.listener, perf_counter)
        for file in self.loaded.files:
            if not file.tasks:
                continue
            result = tune_file(file, self.options, self.listener, orio_py.__version__, archive, clock=clock)
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
            elif self.exit_code == OK and any(report.best is None for report in result.reports):
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
    before it is tuned.  Sources that cannot be tuned are compiled as they are, with warnings.
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


def transform(
    paths: Paths,
    *,
    output: Path | None = None,
    in_place: bool = False,
    spec: Path | None = None,
    recipe: Path | None = None,
    pins: Mapping[str, Value] | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    compile_commands: Path | None = None,
) -> TransformReport:
    """Apply the recipes at one configuration: pinned values, and the first possible ones for the rest.

    `recipe` is a recipe by statement number for the CHiLL regions that have none; `include` and `exclude`
    are globs that choose files of folders; `compile_commands` is a compilation database.  Nothing is built,
    measured or run.  When one file is refused, none is written.
    """
    chosen = dict(pins or {})
    given = _paths(paths)
    loaded = load(
        given,
        spec=spec,
        recipe=recipe,
        pins=chosen,
        selection=Selection(include, exclude, output),
        compile_commands=compile_commands,
    )
    destination = Destination(given, loaded.files, output, in_place)
    problems = [*loaded.diagnostics, *destination.problems()]
    written: list[Path] = []
    if not has_errors(problems):
        try:
            results = [(f, *transform_file(f, chosen, orio_py.__version__)) for f in loaded.files]
            destination.write_all(results, written)
        except DiagnosticError as problem:
            problems.extend(problem.diagnostics)
    problems.extend(_nothing_found(loaded, problems))
    return TransformReport(
        diagnostics=tuple(problems),
        sources=loaded.sources,
        exit_code=BAD_INPUT if has_errors(problems) else OK,
        outputs=tuple(written),
    )


def apply_results(
    paths: Paths,
    place: Path | str,
    *,
    output: Path | None = None,
    in_place: bool = False,
    spec: Path | None = None,
    stored: StoredSelection | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    compile_commands: Path | None = None,
) -> TransformReport:
    """Write the best stored configurations of the results database at `place` into sources.

    `stored` says which of the stored trials may be used.  Nothing is built, measured or run; the text is
    what `tune` would have written.  When a region of a file has nothing, none is written.
    """
    # Only this command needs these two, and the database takes time to load.
    from orio_py.store.database import ResultsDatabase
    from orio_py.tune.apply import Applier

    given = _paths(paths)
    loaded = load(
        given,
        spec=spec,
        selection=Selection(include, exclude, output),
        compile_commands=compile_commands,
    )
    destination = Destination(given, loaded.files, output, in_place)
    problems = [*loaded.diagnostics, *destination.problems()]
    written: list[Path] = []
    if not has_errors(problems):
        try:
            with ResultsDatabase.open(place, create=False) as database:
                applier = Applier(database, stored, host(), orio_py.__version__)
                results = [(file, applier.apply(file)) for file in loaded.files]
            problems.extend(d for _, result in results for d in result.diagnostics)
            if not has_errors(problems):
                destination.write_all([(file, r.data, r.kernels) for file, r in results], written)
        except EnvironmentProblem as problem:
            problems.extend(problem.diagnostics)
            return TransformReport(diagnostics=tuple(problems), sources=loaded.sources, exit_code=ENVIRONMENT)
        except DiagnosticError as problem:
            problems.extend(problem.diagnostics)
    problems.extend(_nothing_found(loaded, problems))
    errors = {d.code for d in problems if d.severity is Severity.ERROR}
    return TransformReport(
        diagnostics=tuple(problems),
        sources=loaded.sources,
        exit_code=OK if not errors else NO_VARIANT if errors == {"ORIO-D014"} else BAD_INPUT,
        outputs=tuple(written),
    )


def check(paths: Paths, *, spec: Path | None = None) -> CheckReport:
    """Check files without building anything: syntax, specifications, and the recipes' legality.

    The recipe is applied at every configuration of a small space, at a sample of a large one.  A recipe
    that is refused everywhere is an error; one that is refused here and there gives a warning.
    """
    loaded = load(_paths(paths), spec=spec)
    problems = list(loaded.diagnostics)
    for task in loaded.tasks:
        problems.extend(_legality(task))
    problems.extend(_nothing_found(loaded, problems))
    return CheckReport(
        diagnostics=tuple(problems),
        sources=loaded.sources,
        exit_code=BAD_INPUT if has_errors(problems) else OK,
        regions=sum(len(task.task.regions) for task in loaded.tasks),
    )


def space(paths: Paths, *, spec: Path | None = None) -> SpaceReport:
    """Count the search space of every region, exactly, without listing it."""
    loaded = load(_paths(paths), spec=spec)
    problems = list(loaded.diagnostics)
    regions: list[SpaceRegion] = []
    try:
        regions = [region for task in loaded.tasks for region in _space_regions(task)]
    except DiagnosticError as problem:
        problems.extend(problem.diagnostics)
    problems.extend(_nothing_found(loaded, problems))
    return SpaceReport(
        diagnostics=tuple(problems),
        sources=loaded.sources,
        exit_code=BAD_INPUT if has_errors(problems) else OK,
        regions=tuple(regions),
    )


def devices() -> DeviceReport:
    """Look for compilers, methods of counting and OpenCL devices on this machine and try each."""
    found = compilers()
    try:
        default_compiler()
        missing: tuple[Diagnostic, ...] = ()
    except EnvironmentProblem as problem:
        missing = problem.diagnostics
    return DeviceReport(
        diagnostics=missing,
        exit_code=ENVIRONMENT if missing else OK,
        cpu=cpu_name(),
        cores=cpu_cores(),
        compilers=found,
        observers=tuple(look_at(observer) for observer in OBSERVERS.values()),
        opencl=survey(),
    )


def _paths(paths: Paths) -> list[Path]:
    if isinstance(paths, str | Path):
        return [Path(paths)]
    return [Path(path) for path in paths]


def _ignore(event: Event) -> None:
    """The listener of those who do not listen."""


def _legality(loaded: LoadedTask) -> list[Diagnostic]:
    """What the recipe refuses, over the configurations of the first problem size."""
    space_, point = loaded.spaces[0], loaded.points[0]
    generator = VariantGenerator.of(loaded.task)
    some = space_.sample(CONFIGURATIONS_CHECKED, random.Random(0))
    is_sample = space_.size > len(some)
    # Messages name parameter values, so that the same refusal reads differently in each configuration.
    counts: Counter[tuple[str, Position | None]] = Counter()
    first: dict[tuple[str, Position | None], Diagnostic] = {}
    tried, last_news, is_possible = 0, 0, False
    for tried, configuration in enumerate(some, 1):
        try:
            generator.codes(point, configuration)
            if not is_possible:
                is_possible, last_news = True, tried
        except DiagnosticError as problem:
            diagnostic = problem.diagnostics[0]
            kind = (diagnostic.code, diagnostic.position)
            counts[kind] += 1
            if kind not in first:
                first[kind], last_news = diagnostic, tried
        if is_sample and is_possible and tried - last_news >= CONFIGURATIONS_WITHOUT_NEWS:
            break
    found: list[Diagnostic] = []
    everywhere = not is_possible
    for kind, count in counts.items():
        diagnostic = first[kind]
        note = Note(f"refused for {count} of {tried} configurations tried")
        severity = Severity.ERROR if everywhere else Severity.WARNING
        found.append(replace(diagnostic, severity=severity, notes=(*diagnostic.notes, note)))
    return found


def _space_regions(loaded: LoadedTask) -> list[SpaceRegion]:
    task = loaded.task
    return [
        SpaceRegion(
            task.position.file,
            task.position.line,
            task.name,
            dict(point.values),
            tuple(
                SpaceParameter(p.name, len(p.values), ", ".join(show(v) for v in p.values))
                for p in space_.parameters
            ),
            space_.cartesian,
            space_.size,
            tuple(SpaceGroup(g.parameters, g.constraints, g.count) for g in space_.groups),
        )
        for point, space_ in zip(loaded.points, loaded.spaces, strict=True)
    ]


def _nothing_found(loaded: Loaded, problems: Sequence[Diagnostic]) -> list[Diagnostic]:
    if loaded.tasks or has_errors(problems):
        return []
    return [Diagnostic("ORIO-U014", "no annotated region was found", severity=Severity.WARNING)]
