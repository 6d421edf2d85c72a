"""`check`: the recipes' legality, without building anything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from orio_py.api.report import BAD_INPUT, ENVIRONMENT, OK, Paths, Report, given_paths, nothing_found
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, EnvironmentProblem, has_errors
from orio_py.spec.search import SEARCHER_NAMES
from orio_py.tuning.files.load import Loaded, LoadedTask, load
from orio_py.tuning.options import TuneOptions
from orio_py.tuning.variants.legality import Legality, legality


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport(Report):
    """The outcome of `check`: the problems are the result, and how much of each task's space is legal."""

    regions: int = 0
    legality: tuple[Legality, ...] = ()
    built: int | None = None
    """How many tasks were built without a problem; None where nothing was to be built."""

    def as_json(self) -> dict[str, object]:
        """Diagnostics, the number of regions looked at, and the configurations tried and refused of each task."""
        found = [each.as_json() for each in self.legality]
        return {**Report.as_json(self), "regions": self.regions, "legality": found, "built": self.built}


def check(
    paths: Paths, *, spec: Path | None = None, build: bool = False, options: TuneOptions | None = None
) -> CheckReport:
    """Check files: syntax, specifications, and the recipes' legality.  Nothing is run, and nothing built without `build`.

    The recipe is applied at every configuration of a small space, at a sample of a large one, at the first
    problem size.  A recipe that is refused everywhere is an error; one that is refused here and there gives a
    warning.  With `build` the original of each task, its test program and one variant are compiled and linked at the
    first problem size, as `tune` with these options would do it.
    """
    chosen = options if options is not None else TuneOptions()
    loaded = load(
        given_paths(paths),
        spec=spec,
        pins=chosen.pins,
        compile_commands=chosen.compile_commands,
        assume=chosen.assume,
    )
    problems = list(loaded.diagnostics)
    found: list[Legality] = []
    for task in loaded.tasks:
        problems += _searcher(task)
        try:
            found.append(legality(task.task, task.spaces[0], task.points[0]))
        except DiagnosticError as problem:
            problems += problem.diagnostics
        else:
            problems += found[-1].diagnostics()
    lacks, built = False, 0
    if build and not has_errors(problems):
        lacks, built = _build(loaded, chosen, problems)
    problems.extend(nothing_found(loaded, problems))
    failing = ENVIRONMENT if lacks else BAD_INPUT
    return CheckReport(
        diagnostics=tuple(problems),
        sources=loaded.sources,
        exit_code=failing if has_errors(problems) else OK,
        built=built if build else None,
        regions=sum(len(task.task.regions) for task in loaded.tasks),
        legality=tuple(found),
    )


def _build(loaded: Loaded, options: TuneOptions, problems: list[Diagnostic]) -> tuple[bool, int]:
    """Whether the machine lacks something, and how many tasks were built without a problem."""
    from orio_py.tuning.trial_build import trial_build  # what builds takes time to load

    lacks, built = False, 0
    for file in loaded.files:
        for task in file.tasks:
            if not task.task.has_spec:
                continue
            try:
                found = trial_build(file, task, options)
            except DiagnosticError as problem:
                found = list(problem.diagnostics)
                lacks |= isinstance(problem, EnvironmentProblem)
            built += not has_errors(found)
            problems.extend(found)
    return lacks, built


def _searcher(loaded: LoadedTask) -> tuple[Diagnostic, ...]:
    """What is wrong with the name of the searcher: ORIO-P020, P021."""
    if loaded.task.search.algorithm.lower() in SEARCHER_NAMES:
        return ()
    from orio_py.search.catalog import find  # the searchers take time to load

    try:
        find(loaded.task.search.algorithm, loaded.task.search.position)
    except DiagnosticError as problem:
        return problem.diagnostics
    return ()
