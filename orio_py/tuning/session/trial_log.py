"""What a session has tried: it counts trials, remembers them in the results database, and tells of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from orio_py.build.compiler import Artifact
from orio_py.core.diagnostics import Diagnostic
from orio_py.record.measurement import Failure, Stage, Success
from orio_py.record.trial import CounterValue
from orio_py.search_space.configuration import Configuration
from orio_py.tuning import events
from orio_py.tuning.result import CheckedVariant
from orio_py.tuning.session.trial_cache import TrialCache
from orio_py.tuning.variants.batch import Candidate
from orio_py.tuning.variants.scoring import Scorer


@dataclass(slots=True)
class TrialLog:
    """The trials of one session.  `planned` is how many there will be, if that is known.

    Each trial is stored as soon as it has been measured.  `valid` holds the valid variants, each code once, `all` every
    trial where `keeps_all` is set.
    Methods raise EnvironmentProblem ORIO-D001 when the database fails.
    """

    planned: int | None
    listener: events.Listener
    scorer: Scorer
    memory: TrialCache | None = None
    valid: list[Candidate] = field(default_factory=list[Candidate])
    failures: Counter[str] = field(default_factory=Counter[str])
    trials: int = 0
    cached: int = 0
    refused: int = 0
    first_refusal: Diagnostic | None = None
    keeps_all: bool = False
    all: list[Candidate] = field(default_factory=list[Candidate])

    def recall(self, configuration: Configuration) -> Candidate | None:
        """The candidate with the outcome of an earlier run, if there is one."""
        if self.memory is None or (known := self.memory.recall(configuration)) is None:
            return None
        outcome = self.scorer.scored(known.measurement, known.counters)
        self.memory.rank(configuration, outcome)
        return Candidate(
            configuration,
            known.code,
            outcome=outcome,
            is_recalled=True,
            counters=known.counters,
            metadata=known.metadata,
        )

    def refuse(self, candidate: Candidate, refusal: Diagnostic) -> None:
        """Count a configuration that a transformation refused; that is no trial."""
        self.refused += 1
        self.first_refusal = self.first_refusal or refusal
        candidate.outcome = Failure(Stage.TRANSFORM, refusal.message)
        self._tell(candidate)

    def finish(self, candidate: Candidate) -> None:
        """Count, store and tell of a trial that has been measured."""
        self.trials += 1
        self.cached += candidate.is_copy or candidate.is_recalled
        self._remember(candidate)
        if self.keeps_all:
            self.all.append(candidate)
        if isinstance(candidate.outcome, Failure):
            self.failures[str(candidate.outcome.stage)] += 1
        elif candidate.key not in {c.key for c in self.valid}:
            self.valid.append(candidate)
        self._tell(candidate)

    def amend(self, candidate: Candidate) -> None:
        """Store what a second round has brought a trial: more samples, or a failure."""
        if self.memory is not None and candidate.outcome is not None:
            stored = self.memory.amend(candidate.configuration, candidate.outcome)
            candidate.outcome = self.scorer.scored(stored, candidate.counters)
        if isinstance(candidate.outcome, Failure):
            self.failures[str(candidate.outcome.stage)] += 1
            self.valid = [other for other in self.valid if other is not candidate]

    def checked(self) -> tuple[CheckedVariant, ...]:
        """All trials, where none is timed: what was found of each."""
        return tuple(
            CheckedVariant(
                dict(c.configuration),
                str(c.outcome.stage),
                c.outcome.reason,
                c.counters,
            )
            for c in self.all
            if isinstance(c.outcome, Failure)
        )

    def leader(self) -> Candidate | None:
        """The best valid variant so far."""
        return min(self.valid, key=objective_of, default=None)

    def counters_of(self, configuration: Configuration) -> tuple[CounterValue, ...]:
        """The counters of a valid variant."""
        found = (c.counters for c in self.valid if c.configuration == configuration)
        return next(found, ())

    def ranked(self) -> Sequence[Candidate]:
        """The valid variants, the best first."""
        return sorted(self.valid, key=objective_of)

    def _remember(self, candidate: Candidate) -> None:
        """Store a trial; where another process has stored it meanwhile, that one counts."""
        if self.memory is None or candidate.outcome is None or candidate.is_recalled:
            return
        built = candidate.built
        build = built.seconds if isinstance(built, Artifact) and not candidate.is_copy else None
        stored = self.memory.remember(
            candidate.configuration,
            candidate.outcome,
            code=candidate.key,
            build=build,
            run=candidate.running,
            counters=candidate.counters,
            profiles=candidate.profiles,
            metadata=candidate.metadata,
        )
        candidate.outcome = self.scorer.scored(stored, candidate.counters)

    def _tell(self, candidate: Candidate) -> None:
        outcome, seconds, reason = "ok", None, ""
        match candidate.outcome:
            case Success() as success:
                seconds = success.time
            case Failure(stage=stage, reason=reason):
                outcome = str(stage)
            case None:
                return
        leader = self.leader()
        best = leader.outcome.time if leader is not None and isinstance(leader.outcome, Success) else None
        self.listener(
            events.TrialDone(
                self.trials, self.planned, dict(candidate.configuration), outcome, reason, seconds, best
            )
        )


def objective_of(candidate: Candidate) -> float:
    """What valid candidates are ranked by."""
    assert isinstance(candidate.outcome, Success)
    return candidate.outcome.objective
