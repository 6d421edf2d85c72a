"""Of how much of a search space a recipe is legal, found by applying it, without building anything."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Note, Severity
from orio_py.core.expr import Value
from orio_py.core.source import Position
from orio_py.search_space.search_space import Configuration, SearchSpace
from orio_py.spec.inputs import InputPoint
from orio_py.spec.task import TuningTask
from orio_py.tuning.variants.constraint_hints import ConstraintHint, Neighbourhood
from orio_py.tuning.variants.variant import VariantGenerator

CONFIGURATIONS_CHECKED = 200
"""How many configurations of a space the recipe is tried on at most; all of them in smaller spaces."""

CONFIGURATIONS_WITHOUT_NEWS = 25
"""After so many configurations in a row that brought no new outcome, the sample of a larger space ends.

A sample in which everything was refused goes on to its end: a recipe is not called refused everywhere lightly.
"""

SECONDS = 1.5
"""The processor time after which a sample ends, once it has a legal configuration or `FEWEST` were tried."""

FEWEST = 10
"""How many configurations are tried at least, where all are refused."""

HINT_SECONDS = 0.5
"""The processor time after which the search for constraints ends."""

_Kind = tuple[str, Position | None]
"""Messages name parameter values, so that the same refusal reads differently in each configuration."""


@dataclass(frozen=True, slots=True)
class RefusalOfSome:
    """A kind of refusal: its first diagnostic, how many configurations it was of, and a constraint that leaves them out."""

    first: Diagnostic
    count: int
    constraint: str | None = None


@dataclass(frozen=True, slots=True)
class Legality:
    """How many configurations of a space there are, were tried and were refused, with the kinds of refusals."""

    place: Position
    size: int
    tried: int
    refusals: tuple[RefusalOfSome, ...] = ()

    @property
    def legal(self) -> int:
        """How many of those tried were not refused."""
        return self.tried - sum(refusal.count for refusal in self.refusals)

    def diagnostics(self) -> Iterator[Diagnostic]:
        """The refusals: errors where nothing else was found, warnings else."""
        severity = Severity.WARNING if self.legal else Severity.ERROR
        number = 0
        for refusal in self.refusals:
            notes = [Note(f"refused for {refusal.count} of {self.tried} configurations tried")]
            if refusal.constraint is not None:
                number += 1
                notes.append(Note(f"left out by `constraint legal{number} = {refusal.constraint};`"))
            first = refusal.first
            yield replace(first, severity=severity, notes=(*first.notes, *notes))

    def as_json(self) -> dict[str, object]:
        """The place and the numbers, and of each kind of refusal code, message of the first, number and constraint."""
        often = sorted(self.refusals, key=lambda refusal: -refusal.count)
        refused = [
            {"code": r.first.code, "message": r.first.message, "count": r.count, "constraint": r.constraint}
            for r in often
        ]
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
    some = _some(space)
    is_sample = space.size > len(some)
    sample = _Sample(VariantGenerator.of(task), point)
    started = time.process_time()
    last_news = 0
    for tried, configuration in enumerate(some, 1):
        if sample.take(configuration):
            last_news = tried
        is_possible = bool(sample.legal)
        if is_sample and is_possible and tried - last_news >= CONFIGURATIONS_WITHOUT_NEWS:
            break
        if time.process_time() - started > SECONDS and (is_possible or tried >= FEWEST):
            break
    hints = sample.hints({p.name: p.values for p in space.parameters})
    refusals = tuple(
        RefusalOfSome(sample.first[kind], len(found), hints.get(kind))
        for kind, found in sample.refused.items()
    )
    return Legality(task.position, space.size, sample.tried, refusals)


@dataclass(slots=True)
class _Sample:
    """The outcomes of the configurations that were tried."""

    generator: VariantGenerator
    point: InputPoint
    legal: list[Configuration] = field(default_factory=list[Configuration])
    refused: dict[_Kind, list[Configuration]] = field(default_factory=dict[_Kind, list[Configuration]])
    first: dict[_Kind, Diagnostic] = field(default_factory=dict[_Kind, Diagnostic])

    @property
    def tried(self) -> int:
        return len(self.legal) + sum(map(len, self.refused.values()))

    def take(self, configuration: Configuration) -> bool:
        """Try a configuration; whether it brought the first legal one or a new kind of refusal."""
        problem = self._problem(configuration)
        if problem is None:
            self.legal.append(configuration)
            return len(self.legal) == 1
        kind = _kind(problem)
        self.refused.setdefault(kind, []).append(configuration)
        return self.first.setdefault(kind, problem) is problem

    def hints(self, values: Mapping[str, tuple[Value, ...]]) -> dict[_Kind, str]:
        """Constraints that leave out the refused configurations and none of the legal ones, the most frequent kinds first."""
        found: dict[_Kind, str] = {}
        if not self.legal:
            return found
        end = time.process_time() + HINT_SECONDS
        with suppress(_OutOfTime):
            for kind, refused in sorted(self.refused.items(), key=lambda entry: -len(entry[1])):
                hint = self._neighbourhood(values, kind, end).hint(refused[0])
                if hint is not None and self._fits(hint, refused):
                    found[kind] = hint.text
        return found

    def _neighbourhood(
        self, values: Mapping[str, tuple[Value, ...]], kind: _Kind, end: float
    ) -> Neighbourhood:
        """The neighbourhood of the first legal configuration; asking it raises `_OutOfTime` from a time on."""

        def is_refused(chosen: Mapping[str, Value]) -> bool | None:
            if time.process_time() > end:
                raise _OutOfTime
            return self._has_kind(chosen, kind)

        return Neighbourhood(self.legal[0], values, is_refused)

    def _fits(self, hint: ConstraintHint, refused: list[Configuration]) -> bool:
        """Whether a hint keeps what is legal, and leaves out most of what is refused."""
        left_out = sum(not hint.holds(configuration) for configuration in refused)
        return all(map(hint.holds, self.legal)) and 2 * left_out > len(refused)

    def _has_kind(self, values: Mapping[str, Value], kind: _Kind) -> bool | None:
        """Whether a configuration is refused in one way; None if it is in another."""
        problem = self._problem(values)
        return None if problem is not None and _kind(problem) != kind else problem is not None

    def _problem(self, values: Mapping[str, Value]) -> Diagnostic | None:
        try:
            self.generator.codes(self.point, values)
        except DiagnosticError as problem:
            return problem.diagnostics[0]
        return None


class _OutOfTime(Exception):
    """No more configurations are tried in search of a constraint."""


def _kind(problem: Diagnostic) -> _Kind:
    return problem.code, problem.position


def _some(space: SearchSpace) -> list[Configuration]:
    """The whole of a small space; of a larger one its first configuration and others, as chance has it."""
    sample = space.sample(CONFIGURATIONS_CHECKED, random.Random(0))
    simplest = space.first()
    if simplest is None:
        return sample
    return [simplest, *(each for each in sample if each != simplest)][:CONFIGURATIONS_CHECKED]
