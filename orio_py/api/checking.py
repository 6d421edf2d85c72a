"""`check`: the recipes' legality, without building anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orio_py.api.report import BAD_INPUT, OK, Paths, Report, given_paths, nothing_found
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, has_errors
from orio_py.spec.assumptions import Promise
from orio_py.spec.search import SEARCHER_NAMES
from orio_py.tuning.files.load import LoadedTask, load
from orio_py.tuning.variants.legality import Legality, legality


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport(Report):
    """The outcome of `check`: the problems are the result, and how much of each task's space is legal."""

    regions: int = 0
    legality: tuple[Legality, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Diagnostics, the number of regions looked at, and the configurations tried and refused of each task."""
        found = [each.as_json() for each in self.legality]
        return {**Report.as_json(self), "regions": self.regions, "legality": found}


def check(paths: Paths, *, spec: Path | None = None, assume: Sequence[Promise] = ()) -> CheckReport:
    """Check files without building anything: syntax, specifications, and the recipes' legality.

    The recipe is applied at every configuration of a small space, at a sample of a large one, at the first
    problem size.  A recipe that is refused everywhere is an error; one that is refused here and there gives a
    warning.  `assume` is what is promised of all regions.
    """
    loaded = load(given_paths(paths), spec=spec, assume=assume)
    problems = list(loaded.diagnostics)
    found: list[Legality] = []
    for task in loaded.tasks:
        problems += _searcher(task)
        found.append(legality(task.task, task.spaces[0], task.points[0]))
        problems += found[-1].diagnostics()
    problems.extend(nothing_found(loaded, problems))
    return CheckReport(
        diagnostics=tuple(problems),
        sources=loaded.sources,
        exit_code=BAD_INPUT if has_errors(problems) else OK,
        regions=sum(len(task.task.regions) for task in loaded.tasks),
        legality=tuple(found),
    )


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
