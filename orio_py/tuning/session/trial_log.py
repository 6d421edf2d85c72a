"""What a session has tried: it counts trials, remembers them in the results database, and tells of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from orio_py.core.diagnostics import Diagnostic
from orio_py.record.measurement import Failure, Success
from orio_py.record.outcome import VariantFacts
from orio_py.record.trial import CounterSource, CounterValue
from orio_py.search_space.configuration import Configuration
from orio_py.tuning import events
from orio_py.tuning.result import CheckedVariant
from orio_py.tuning.session.trial_cache import TrialCache
from orio_py.tuning.variants.pipeline import (
    EvaluatedVariant,
    MeasuredVariant,
    MeasurementOrigin,
    RefusedVariant,
)
from orio_py.tuning.variants.scoring import Scorer


@dataclass(slots=True)
class TrialLog:
    """The trials of one session, each stored as soon as it has been measured.

    Methods raise EnvironmentProblem ORIO-D001 when the database fails.
    """

    planned: int | None
    """How many trials there will be, None if that is open."""
    listener: events.Listener
    scorer: Scorer
    memory: TrialCache | None = None
    trials: int = 0
    cached: int = 0
    """Trials that were not measured: of code that was, or recalled."""
    refused: int = 0
    first_refusal: Diagnostic | None = None
    _valid: dict[str, MeasuredVariant] = field(default_factory=dict[str, MeasuredVariant])
    _failed: dict[Configuration, MeasuredVariant] = field(
        default_factory=dict[Configuration, MeasuredVariant]
    )

    @property
    def valid(self) -> list[MeasuredVariant]:
        """The valid variants, each code once, in the order in which they were tried."""
        return list(self._valid.values())

    @property
    def failures(self) -> Counter[str]:
        """How many trials failed at each stage."""
        return Counter(found.outcome for found in self.checked())

    def recall(self, configuration: Configuration) -> MeasuredVariant | None:
        """The trial of an earlier run, with the score of this one, if there is one."""
        if self.memory is None or (known := self.memory.recall(configuration)) is None:
            return None
        measurement = self.scorer.scored(known.measurement, known.counters)
        self.memory.rank(configuration, measurement)
        of_build = (CounterSource.COMPILER, CounterSource.DERIVED)
        built = tuple(counter for counter in known.counters if counter.source in of_build)
        return MeasuredVariant(
            configuration,
            known.code,
            measurement,
            origin=MeasurementOrigin.RECALLED,
            facts=VariantFacts(built, known.metadata, known.features),
            counters=known.counters,
            metadata=known.metadata,
        )

    def record(self, variant: EvaluatedVariant) -> EvaluatedVariant:
        """Count, store and tell of a variant; an amended one replaces what was stored of it.

        Returned is what counts: where another process has stored the trial first, with its measurement.
        """
        if isinstance(variant, RefusedVariant):
            self.refused += 1
            self.first_refusal = self.first_refusal or variant.refusal
        else:
            variant = self._stored(variant)
            self._file(variant)
            if variant.amends:
                return variant
            self.trials += 1
            self.cached += variant.origin is not MeasurementOrigin.MEASURED
        self._tell(variant)
        return variant

    def checked(self) -> tuple[CheckedVariant, ...]:
        """The trials that have no time, and why: they failed, or were right where nothing is timed."""
        return tuple(
            CheckedVariant(dict(failed.configuration), str(found.stage), found.reason, failed.counters)
            for failed in self._failed.values()
            if isinstance(found := failed.measurement, Failure)
        )

    def leader(self) -> MeasuredVariant | None:
        """The best valid variant so far."""
        return min(self._valid.values(), key=objective_of, default=None)

    def counters_of(self, configuration: Configuration) -> tuple[CounterValue, ...]:
        """The counters of a valid variant."""
        found = (variant.counters for variant in self.valid if variant.configuration == configuration)
        return next(found, ())

    def ranked(self) -> list[MeasuredVariant]:
        """The valid variants, the best first."""
        return sorted(self.valid, key=objective_of)

    def _stored(self, variant: MeasuredVariant) -> MeasuredVariant:
        """The trial as it is in the database now."""
        if self.memory is None or variant.origin is MeasurementOrigin.RECALLED:
            return variant
        if variant.amends:
            stored = self.memory.amend(variant.configuration, variant.measurement)
        else:
            stored = self.memory.remember(
                variant.configuration,
                variant.measurement,
                code=variant.key,
                build=variant.build,
                run=variant.run,
                counters=variant.counters,
                profiles=variant.profiles,
                metadata=variant.metadata,
                features=variant.facts.features,
            )
        return replace(variant, measurement=self.scorer.scored(stored, variant.counters))

    def _file(self, variant: MeasuredVariant) -> None:
        first = self._valid.get(variant.key, variant)
        is_first = first.configuration == variant.configuration
        if isinstance(variant.measurement, Failure):
            self._failed[variant.configuration] = variant
            if is_first:
                self._valid.pop(variant.key, None)
        elif is_first:
            self._valid[variant.key] = variant

    def _tell(self, variant: EvaluatedVariant) -> None:
        outcome, seconds, reason = "ok", None, ""
        match variant.measurement:
            case Success() as success:
                seconds = success.time
            case Failure(stage=stage, reason=reason):
                outcome = str(stage)
        leader = self.leader()
        best = leader.measurement.time if leader and isinstance(leader.measurement, Success) else None
        configuration = dict(variant.configuration)
        self.listener(
            events.TrialDone(self.trials, self.planned, configuration, outcome, reason, seconds, best)
        )


def objective_of(variant: MeasuredVariant) -> float:
    """What valid variants are ranked by."""
    assert isinstance(variant.measurement, Success)
    return variant.measurement.objective
