"""`check`: the recipes' legality, without building anything."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from orio_py.api.report import BAD_INPUT, OK, Paths, Report, given_paths, nothing_found
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Note, Severity, has_errors
from orio_py.core.source import Position
from orio_py.spec.search import SEARCHER_NAMES
from orio_py.tuning.files.load import LoadedTask, load
from orio_py.tuning.variants.variant import VariantGenerator

CONFIGURATIONS_CHECKED = 200
"""How many configurations of a space `check` tries the recipe on at most; all of them in smaller spaces."""

CONFIGURATIONS_WITHOUT_NEWS = 25
"""After so many configurations in a row that brought no new outcome, the sample of a larger space ends.

A sample in which everything was refused goes on to its end: a recipe is not called refused everywhere lightly.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport(Report):
    """The outcome of `check`: the problems are the result."""

    regions: int = 0

    def as_json(self) -> dict[str, object]:
        """Diagnostics and the number of regions looked at."""
        return {**Report.as_json(self), "regions": self.regions}


def check(paths: Paths, *, spec: Path | None = None) -> CheckReport:
    """Check files without building anything: syntax, specifications, and the recipes' legality.

    The recipe is applied at every configuration of a small space, at a sample of a large one.  A recipe
    that is refused everywhere is an error; one that is refused here and there gives a warning.
    """
    loaded = load(given_paths(paths), spec=spec)
    problems = list(loaded.diagnostics)
    for task in loaded.tasks:
        problems += [*_searcher(task), *_legality(task)]
    problems.extend(nothing_found(loaded, problems))
    return CheckReport(
        diagnostics=tuple(problems),
        sources=loaded.sources,
        exit_code=BAD_INPUT if has_errors(problems) else OK,
        regions=sum(len(task.task.regions) for task in loaded.tasks),
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
