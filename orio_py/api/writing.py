"""`transform` and `apply_results`: sources are written, and nothing is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orio_py
from orio_py.api.report import (
    BAD_INPUT,
    ENVIRONMENT,
    NO_VARIANT,
    OK,
    Paths,
    Report,
    given_paths,
    nothing_found,
)
from orio_py.build.detect import host
from orio_py.core.diagnostics import DiagnosticError, EnvironmentProblem, Severity, has_errors
from orio_py.core.expr import Value
from orio_py.spec.assumptions import Promise
from orio_py.tuning.files.load import load
from orio_py.tuning.files.output import Destination
from orio_py.tuning.files.tree import FileSelection
from orio_py.tuning.options import TuneOptions
from orio_py.tuning.project import transform_file

if TYPE_CHECKING:  # their library takes time to load
    from orio_py.store.selection import Selection as StoredSelection
    from orio_py.tuning.session.front import Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformReport(Report):
    """The outcome of `transform`."""

    outputs: tuple[Path, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Diagnostics and the files written."""
        return {**Report.as_json(self), "outputs": [str(path) for path in self.outputs]}


def transform(
    paths: Paths,
    *,
    output: Path | None = None,
    in_place: bool = False,
    spec: Path | None = None,
    recipe: Path | None = None,
    pins: Mapping[str, Value] | None = None,
    assume: Sequence[Promise] = (),
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    compile_commands: Path | None = None,
) -> TransformReport:
    """Apply the recipes at one configuration: pinned values, and the first possible ones for the rest.

    `recipe` is a recipe by statement number for the CHiLL regions that have none; `assume` is what is promised of all regions; `include` and `exclude`
    are globs that choose files of folders; `compile_commands` is a compilation database.  Nothing is built,
    measured or run.  When one file is refused, none is written.
    """
    chosen = dict(pins or {})
    given = given_paths(paths)
    loaded = load(
        given,
        spec=spec,
        recipe=recipe,
        pins=chosen,
        assume=assume,
        selection=FileSelection(include, exclude, output),
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
    problems.extend(nothing_found(loaded, problems))
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
    options: TuneOptions | None = None,
    stored: StoredSelection | None = None,
    choice: Choice | None = None,
) -> TransformReport:
    """Write the best stored configurations of the results database at `place` into sources.

    `options` are those that the sources were tuned with: they choose files and decide which trials are
    theirs.  `stored` says which of the stored trials may be used, `choice` which point of their Pareto front is written
    instead of the best.  Nothing is built, measured or run; the
    text is what `tune` would have written.  When a region of a file has nothing, none is written.
    """
    # Only this command needs these two, and the database takes time to load.
    from orio_py.store.database import ResultsDatabase
    from orio_py.tuning.apply import Applier

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
    written: list[Path] = []
    if not has_errors(problems):
        try:
            with ResultsDatabase.open(place, create=False) as database:
                applier = Applier(database, stored, host(), orio_py.__version__, chosen, choice)
                results = [(file, applier.apply(file)) for file in loaded.files]
            problems.extend(d for _, result in results for d in result.diagnostics)
            if not has_errors(problems):
                destination.write_all([(file, r.data, r.kernels) for file, r in results], written)
        except EnvironmentProblem as problem:
            problems.extend(problem.diagnostics)
            return TransformReport(diagnostics=tuple(problems), sources=loaded.sources, exit_code=ENVIRONMENT)
        except DiagnosticError as problem:
            problems.extend(problem.diagnostics)
    problems.extend(nothing_found(loaded, problems))
    errors = {d.code for d in problems if d.severity is Severity.ERROR}
    return TransformReport(
        diagnostics=tuple(problems),
        sources=loaded.sources,
        exit_code=OK if not errors else NO_VARIANT if errors == {"ORIO-D014"} else BAD_INPUT,
        outputs=tuple(written),
    )
