"""Counts variants and gives them their score: the value of the search's objective."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from orio_py.build.compiler import Artifact, BuildFailure
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Severity
from orio_py.core.expr import Value, evaluate
from orio_py.core.source import Position
from orio_py.measure.observers.observing import Observation
from orio_py.record.measurement import Clock, Failure, Measurement, Stage, Success
from orio_py.record.trial import CounterValue
from orio_py.spec.objective import Objective


class Observes(Protocol):
    """Counts variants."""

    def observe(
        self, artifact: Artifact, values: Mapping[str, Value], arguments: Sequence[str] = ()
    ) -> Observation:
        """The counters of a variant that was found valid."""
        ...


Arguments = Callable[[Mapping[str, Value]], tuple[str, ...]]


@dataclass(slots=True)
class Scorer:
    """Observes valid variants and evaluates the objective; without either it changes nothing.

    Variants that the race gave up are not observed; with an objective there is no race.
    """

    objective: Objective | None = None
    observing: Observes | None = None
    arguments: Arguments = field(default=lambda values: ())

    def inspect(
        self, built: Artifact | BuildFailure | None, values: Mapping[str, Value], found: Measurement
    ) -> tuple[Measurement, Observation]:
        """A measurement of the search with its score, and what was seen of the variant."""
        is_kept = isinstance(found, Success) and (found.is_full or self.objective is not None)
        if not is_kept or not isinstance(built, Artifact):
            return found, Observation()
        seen = self.observe(built, values)
        return self.scored(found, seen.counters, seen.problems), seen

    def observe(self, artifact: Artifact, values: Mapping[str, Value]) -> Observation:
        """The counters of a valid variant; none where no observer was chosen."""
        if self.observing is None:
            return Observation()
        return self.observing.observe(artifact, values, self.arguments(values))

    def measured(self, artifact: Artifact, values: Mapping[str, Value], found: Measurement) -> Measurement:
        """A measurement of the heats or finals with its score, for which the variant is counted anew."""
        if self.objective is None or not isinstance(found, Success):
            return found
        seen = self.observe(artifact, values) if self.objective.counters else Observation()
        return self.scored(found, seen.counters, seen.problems)

    def scored(
        self, found: Measurement, counters: Sequence[CounterValue], problems: Sequence[str] = ()
    ) -> Measurement:
        """A measurement with its score; a failure where the objective has no usable value."""
        if self.objective is None or not isinstance(found, Success):
            return found
        names: dict[str, Value] = {
            "time": float(found.time),
            "wall_time": float(found.time_by(Clock.WALL)),
            "cpu_time": float(found.time_by(Clock.THREAD_CPU)),
            **{counter.name: counter.value for counter in counters},
        }
        missing = [name for name in self.objective.counters if name not in names]
        if missing:
            reason = f": {'; '.join(problems)}" if problems else ""
            return Failure(Stage.COUNTERS, f"no `{'`, `'.join(missing)}`{reason}")
        values: list[float] = []
        for objective in self.objective.all:
            value = _value(objective, names)
            if isinstance(value, Failure):
                return value
            values.append(value)
        return replace(found, score=values[0], others=tuple(values[1:]))

    def baseline(
        self, artifact: Artifact, values: Mapping[str, Value], found: Success, position: Position
    ) -> tuple[Success, tuple[CounterValue, ...], tuple[Diagnostic, ...]]:
        """The original's measurement with its score, its counters, and warnings about those missing.

        Raises DiagnosticError ORIO-M016 when the objective has no value.
        """
        seen = self.observe(artifact, values)
        scored = self.scored(found, seen.counters, seen.problems)
        if isinstance(scored, Failure):
            message = f"the objective has no value for the original: {scored.reason}"
            place = self.objective.position if self.objective is not None else None
            raise DiagnosticError(Diagnostic("ORIO-M016", message, place or position))
        warnings = tuple(
            Diagnostic("ORIO-M016", f"counters of the original are missing: {p}", position, Severity.WARNING)
            for p in seen.problems
        )
        return scored, seen.counters, warnings


def _value(objective: Objective, names: Mapping[str, Value]) -> float | Failure:
    """The value of one objective; a failure where it is no number, not finite, or negative."""
    text = objective.text
    try:
        value = evaluate(objective.expression, names)
    except DiagnosticError as problem:
        return Failure(Stage.COUNTERS, f"the objective `{text}`: {problem.diagnostics[0].message}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Failure(Stage.COUNTERS, f"the objective `{text}` is no number")
    if not math.isfinite(value) or value < 0:
        return Failure(Stage.COUNTERS, f"the objective `{text}` is {value}; it must not be negative")
    return float(value)
