"""The report of a tuning session, from what it tried, what the finals said and where the time went; its cost beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace

from orio_py.build.compiler import Compiler
from orio_py.build.detect import cpu_cores, cpu_name, system_name
from orio_py.build.features import needed_features, option_parameters
from orio_py.core.expr import Value
from orio_py.core.units import Seconds
from orio_py.measure.base import Baseline
from orio_py.measure.evaluator import FINAL_SAMPLES
from orio_py.record.cuda import CUDA_DEVICE_NAME
from orio_py.record.device import DEVICE_NAME
from orio_py.record.environment import Environment
from orio_py.record.front import FrontPoint, not_dominated
from orio_py.record.measurement import Clock, Stage, Success
from orio_py.record.trial import CounterValue
from orio_py.tuning.events import CostExpected
from orio_py.tuning.plan import Plan
from orio_py.tuning.result import Best, Goal, PredictionUse, RegionReport, SpaceCount, TimeSpent
from orio_py.tuning.session.confirmation import FEWEST_ALONE, LEAST_ALLOWANCE, ROUNDS, Verdict
from orio_py.tuning.session.trial_log import TrialLog, objective_of
from orio_py.tuning.variants.pipeline import MeasuredVariant, QueueCosts
from orio_py.tuning.variants.static import LazyFeatures

WORTH_TELLING = Seconds(60.0)
"""A single search that is expected to take less is not announced."""

CHECKED_CALLS = 2
"""Calls of a run beside the timed ones: one is checked, one is a look."""


@dataclass(slots=True)
class Stages:
    """Wall time of a session by stage, in seconds."""

    prepare: float = 0.0
    search: float = 0.0
    evaluation: float = 0.0
    """Building and measuring."""
    finals: float = 0.0

    def spent(self, total: Seconds, costs: QueueCosts) -> TimeSpent:
        """All that was spent, with what the queue used of it."""
        return TimeSpent(
            total,
            costs.building,
            Seconds(self.evaluation - costs.building),
            Seconds(self.search),
            prepare=Seconds(self.prepare),
            finals=Seconds(self.finals),
            transform_cpu=costs.transform_cpu,
            compile_cpu=costs.compile_cpu,
            least_run=costs.least_run,
        )


@dataclass(frozen=True, slots=True)
class SessionReporter:
    """Makes the report of a session of `plan`; `counters` are those of the original."""

    plan: Plan
    compiler: Compiler
    book: TrialLog
    counters: tuple[CounterValue, ...]

    def report(
        self, baseline: Baseline | None, verdict: Verdict | None, spent: TimeSpent, *, interrupted: bool
    ) -> RegionReport:
        """The report, without the steadiness of the machine."""
        plan, book, position = self.plan, self.book, self.plan.task.position
        original = baseline.measurement.timing if baseline is not None and not plan.emulated else None
        best, reason = None, "no valid variant was found"
        if book.failures[Stage.CHECKED]:
            reason = "variants were checked, and none was timed"
        if verdict is not None:
            if verdict.original.samples:
                original = verdict.original.timing(verdict.clock)
            best, reason = self._best(verdict, baseline), verdict.reason
        elif plan.emulated and (leader := book.leader()) is not None:
            best, reason = (
                self._emulated(leader, baseline),
                f"the fastest by emulation of {plan.emulated}; not measured",
            )
        elif original is not None and (leader := book.leader()) is not None:
            assert isinstance(leader.measurement, Success)
            timing = leader.measurement.timing
            gain = original.median_s / timing.median_s
            best = Best(dict(leader.configuration), timing, gain, leader.counters)
            reason = "interrupted before the finals"
        return RegionReport(
            file=position.file,
            line=position.line,
            name=plan.task.name,
            target=str(plan.target),
            inputs=dict(plan.point.values),
            space=SpaceCount(plan.space.cartesian, plan.space.size),
            trials=book.trials,
            cached=book.cached,
            failures=dict(book.failures),
            refused=book.refused,
            seconds=spent,
            environment=self._environment(best.configuration if best is not None else {}),
            baseline=original,
            best=best,
            kept_original=interrupted or best is None
            if plan.emulated
            else verdict is None or not verdict.wins,
            reason=reason,
            interrupted=interrupted,
            goal=self._goal(baseline, verdict),
            counters=self.counters,
            past=plan.past,
            prediction=self._prediction(),
        )

    def _emulated(self, leader: MeasuredVariant, baseline: Baseline | None) -> Best:
        """The best of an emulated search, which nothing on the processor is compared with."""
        assert isinstance(leader.measurement, Success)
        values = dict(leader.configuration)
        best = Best(values, leader.measurement.timing, None, leader.counters)
        features = needed_features(self.compiler, values)
        return replace(
            best, features=features, fallback=self._fallback(values, baseline) if features else None
        )

    def _prediction(self) -> PredictionUse | None:
        features = self.plan.context.features
        if not isinstance(features, LazyFeatures) or not (features.use.ranked or features.use.trust):
            return None
        return features.use

    def _best(self, verdict: Verdict, baseline: Baseline | None) -> Best | None:
        if verdict.best is None or verdict.best.configuration is None:
            return None
        values = dict(verdict.best.configuration)
        counters = self.book.counters_of(verdict.best.configuration)
        best = Best(values, verdict.best.timing(verdict.clock), verdict.speedup, counters)
        if not verdict.wins or not (features := needed_features(self.compiler, values)):
            return best
        return replace(best, features=features, fallback=self._fallback(values, baseline))

    def _fallback(self, winner: Mapping[str, Value], baseline: Baseline | None) -> Mapping[str, Value] | None:
        """The configuration for processors without the extensions of the winner; None: the original is for them.

        The best trial without extensions, if it beat the original; the winner's own code where nobody knows that it is wrong or
        slow without them.
        """
        seen: dict[tuple[str, ...], bool] = {}

        def is_plain(values: Mapping[str, Value]) -> bool:
            words = tuple(self.compiler.words(values))
            if words not in seen:
                seen[words] = not needed_features(self.compiler, values)
            return seen[words]

        plain = [variant for variant in self.book.ranked() if is_plain(variant.configuration)]
        if plain and self._may_beat(plain[0], baseline, is_plain):
            return dict(plain[0].configuration)
        options = option_parameters(self.compiler)
        failed = (checked.configuration for checked in self.book.checked())
        known = [*(v.configuration for v in plain), *filter(is_plain, failed)]
        is_known = any(_apart_from(options, values) == _apart_from(options, winner) for values in known)
        return None if is_known else winner

    def _may_beat(
        self,
        variant: MeasuredVariant,
        baseline: Baseline | None,
        is_plain: Callable[[Mapping[str, Value]], bool],
    ) -> bool:
        """Whether a trial was better than the original, or nobody knows as that was built with extensions."""
        first = self.plan.space.first()
        if baseline is None or first is None or not is_plain(first):
            return True
        return objective_of(variant) < baseline.measurement.objective

    def _goal(self, baseline: Baseline | None, verdict: Verdict | None) -> Goal | None:
        if self.plan.objective is None:
            return None
        original = baseline.measurement.objective if baseline is not None else None
        best = min(map(objective_of, self.book.valid), default=None)
        if verdict is not None:
            original = verdict.original.objective if verdict.original.rounds else original
            best = verdict.best.objective if verdict.best is not None else best
        return Goal(self.plan.objective.text, original, best, self.plan.objective.texts[1:], self._front())

    def _front(self) -> tuple[FrontPoint, ...]:
        """What no other variant beats in all objectives, where there are several."""
        if self.plan.objective is None or not self.plan.objective.others:
            return ()
        found = [(variant.configuration, variant.outcome.objectives) for variant in self.book.valid]
        chosen = (found[place] for place in not_dominated([values for _, values in found]))
        return tuple(FrontPoint(dict(configuration), values) for configuration, values in chosen)

    def _environment(self, values: Mapping[str, Value]) -> Environment:
        command = " ".join(self.compiler.words(values))
        tried = (c.metadata for c in self.book.valid if dict(c.configuration) == dict(values))
        names = (m.get(DEVICE_NAME) or m.get(CUDA_DEVICE_NAME, "") for m in tried)
        device = next(names, "")
        return Environment(cpu_name(), cpu_cores(), system_name(), self.compiler.version, command, device)


def expected_cost(plan: Plan, baseline: Baseline) -> CostExpected:
    """The time of search and finals if all variants were as fast as the original, builds not counted."""
    call = baseline.measurement.time_by(Clock.WALL)
    is_long = len(baseline.measurement.samples) == 1
    run = call if is_long else call * (CHECKED_CALLS + plan.repeats)
    trials = plan.budget.trials
    trials = plan.space.size if trials is None else min(trials, plan.space.size)
    search = Seconds(trials * run)
    if plan.budget.time is not None:
        search = min(search, plan.budget.time)
    round_of_two = 2 * (call if is_long else call * (CHECKED_CALLS + FINAL_SAMPLES[0]))
    finals = max(FEWEST_ALONE * round_of_two, min(ROUNDS * round_of_two, LEAST_ALLOWANCE))
    return CostExpected(dict(plan.point.values), call, trials, Seconds(search + finals))


def _apart_from(names: Set[str], values: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in values.items() if name not in names}
