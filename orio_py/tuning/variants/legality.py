"""Of how much of a search space a recipe is legal, found by applying it, without building anything."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Note, Severity
from orio_py.core.source import Position
from orio_py.search_space.search_space import Configuration, SearchSpace
from orio_py.spec.inputs import InputPoint
from orio_py.spec.task import TuningTask
from orio_py.tuning.variants.variant import VariantGenerator

CONFIGURATIONS_CHECKED = 200
"""How many configurations of a space the recipe is tried on at most; all of them in smaller spaces."""

CONFIGURATIONS_WITHOUT_NEWS = 25
"""After so many configurations in a row that brought no new outcome, the sample of a larger space ends.

A sample in which everything was refused goes on to its end: a recipe is not called refused everywhere lightly.
"""

SECONDS = 2.0
"""The processor time after which a sample ends, once it has a legal configuration or `FEWEST` were tried."""

FEWEST = 10
"""How many configurations are tried at least, where all are refused."""


@dataclass(frozen=True, slots=True)
class Legality:
    """How many configurations of a space there are, were tried and were refused, with the first refusal of each kind."""

    place: Position
    size: int
    tried: int
    refusals: tuple[tuple[Diagnostic, int], ...] = ()

    @property
    def legal(self) -> int:
        """How many of those tried were not refused."""
        return self.tried - sum(count for _, count in self.refusals)

    def diagnostics(self) -> Iterator[Diagnostic]:
        """The refusals: errors where nothing else was found, warnings else."""
        severity = Severity.WARNING if self.legal else Severity.ERROR
        for diagnostic, count in self.refusals:
            note = Note(f"refused for {count} of {self.tried} configurations tried")
            yield replace(diagnostic, severity=severity, notes=(*diagnostic.notes, note))

    def as_json(self) -> dict[str, object]:
        """The place and the numbers, and of each kind of refusal code, message of the first, and number."""
        often = sorted(self.refusals, key=lambda refusal: -refusal[1])
        refused = [{"code": d.code, "message": d.message, "count": count} for d, count in often]
        return {
            "file": self.place.file,
            "line": self.place.line,
            "configurations": self.size,
            "tried": self.tried,
            "legal": self.legal,
            "refused": refused,
        }


def legality(task: TuningTask, space: SearchSpace, point: InputPoint) -> Legality:
    """What the recipes of a task refuse at a problem size, over a space or a sample of it.

    The space's first configuration, where factors are small and switches often off, is always among them.
    """
    generator = VariantGenerator.of(task)
    some = _some(space)
    is_sample = space.size > len(some)
    # Messages name parameter values, so that the same refusal reads differently in each configuration.
    counts: Counter[tuple[str, Position | None]] = Counter()
    first: dict[tuple[str, Position | None], Diagnostic] = {}
    started = time.process_time()
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
        if time.process_time() - started > SECONDS and (is_possible or tried >= FEWEST):
            break
    refusals = tuple((first[kind], count) for kind, count in counts.items())
    return Legality(task.position, space.size, tried, refusals)


def _some(space: SearchSpace) -> list[Configuration]:
    """The whole of a small space; of a larger one its first configuration and others, as chance has it."""
    sample = space.sample(CONFIGURATIONS_CHECKED, random.Random(0))
    simplest = space.first()
    if simplest is None:
        return sample
    return [simplest, *(each for each in sample if each != simplest)][:CONFIGURATIONS_CHECKED]
