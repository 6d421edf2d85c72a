"""The tuning session of one task at one problem size: search, evaluate, confirm."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter

from orio_py.build.compiler import Artifact, BuildFailure, Compiler
from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.expr import Value
from orio_py.core.units import Seconds
from orio_py.measure.base import Baseline, VariantEvaluator
from orio_py.measure.calibration import Calibrations
from orio_py.measure.evaluator import Evaluator
from orio_py.measure.observers.observing import Observing
from orio_py.measure.offload.measurer import device_measurer
from orio_py.record.measurement import Clock, Measurement
from orio_py.record.outcome import Outcome
from orio_py.record.trial import CounterValue
from orio_py.search.base import ProfiledBatch
from orio_py.search_space.configuration import Configuration
from orio_py.tuning import events
from orio_py.tuning.cluster.session import ClusterSession
from orio_py.tuning.plan import Plan
from orio_py.tuning.result import RegionReport, Winner
from orio_py.tuning.session.cached_result import answered, layout_of, task_started, winning_codes, with_flags
from orio_py.tuning.session.confirmation import (
    FEWEST_ROUNDS,
    HEATS_WITHIN,
    IN_HEATS,
    LEAST_ALLOWANCE,
    Finalist,
    Verdict,
    hold_finals,
    hold_heats,
)
from orio_py.tuning.session.report_codec import Remembered
from orio_py.tuning.session.session_report import WORTH_TELLING, SessionReporter, Stages, expected_cost
from orio_py.tuning.session.trial_cache import TrialCache
from orio_py.tuning.session.trial_log import TrialLog, objective_of
from orio_py.tuning.variants.batch import BatchBuilder, BatchMeasurer, LocalQueue, VariantMaker
from orio_py.tuning.variants.evaluators import command_line, make_evaluator
from orio_py.tuning.variants.pipeline import QueueCosts, VariantQueue
from orio_py.tuning.variants.scoring import Observes, Scorer
from orio_py.tuning.variants.static import FeatureExtractor
from orio_py.tuning.variants.variant import VariantGenerator

REFUSALS_PER_TRIAL = 200
"""A search that meets this many refusals for every planned trial gives up."""


@dataclass(slots=True)
class TuningSession:
    """Runs one plan; `folder` holds its files, `listener` hears of its progress."""

    plan: Plan
    compiler: Compiler
    folder: Path
    listener: events.Listener
    memory: TrialCache | None = None
    cluster: ClusterSession | None = None
    _code: VariantGenerator = field(init=False)
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    has_siblings: bool = False
    """Whether there are other problem sizes of the same task."""
    is_interrupted: bool = False
    has_failed: bool = False
    """Whether the original could not be measured."""
    _queue: VariantQueue | None = None
    _calibrations: Calibrations = field(default_factory=Calibrations)
    _scorer: Scorer = field(default_factory=Scorer)
    _book: TrialLog = field(init=False)
    _original_counters: tuple[CounterValue, ...] = ()
    _proposed: set[Configuration] = field(default_factory=set[Configuration])
    _is_last_attempt: bool = False
    _evaluator: VariantEvaluator | None = None
    _baseline: Baseline | None = None
    _known: Remembered | None = None
    _has_asked: bool = False
    _is_closed: bool = False
    _spent: Stages = field(default_factory=Stages)

    def __post_init__(self) -> None:
        self._code = VariantGenerator.of(self.plan.task)
        self._book = self._new_book()

    def prepare(self) -> None:
        """Build, run and time the original, once, unless the database knows the answer.

        Raises DiagnosticError when the original cannot be built or run.
        """
        if self._evaluator is not None or self._remembered() is not None:
            return
        plan, began = self.plan, perf_counter()
        try:
            evaluator, observing = self._new_evaluator()
            self._evaluator = evaluator
            self._scorer = Scorer(plan.objective, observing, self._arguments)
            self._book = self._new_book()
            self._baseline = self._measured_original(evaluator)
        except DiagnosticError:
            self.has_failed = True
            raise
        finally:
            self._spent.prepare += perf_counter() - began
        if self.memory is not None:
            self.memory.clock = None if plan.emulated else self._baseline.measurement.clock
        cost = expected_cost(plan, self._baseline)
        if self.has_siblings or cost.seconds > WORTH_TELLING:
            self.listener(cost)

    def run(self) -> Winner:
        """Search until the budget is spent, then hold the finals.

        Raises as `prepare`.  Ctrl-C ends the search; what was found until then is reported and nothing is written back.
        """
        start = perf_counter() - self._spent.prepare
        plan = self.plan
        self.listener(task_started(plan))
        if (known := self._remembered()) is not None:
            self.diagnostics.extend(known.diagnostics)
            return answered(plan, known, self.listener, Seconds(perf_counter() - start))
        self.diagnostics.extend(plan.warnings)
        if plan.past is not None:
            self.listener(events.PastFound(plan.past))
        verdict: Verdict | None = None
        try:
            if not self.is_interrupted:
                verdict = self._search_and_confirm(start)
        except KeyboardInterrupt:
            self.is_interrupted = True
            self.compiler.running.kill()
        finally:
            self.close()
        report = self._report(verdict, start)
        self.listener(events.TaskFinished(report))
        return Winner(plan.point, self._codes(report), report)

    def failed(self, problem: DiagnosticError) -> Winner:
        """The outcome of a session whose original could not be measured: it stays."""
        self.has_failed = True
        reporter = SessionReporter(self.plan, self.compiler, self._book, ())
        spent = self._spent.spent(Seconds(self._spent.prepare), QueueCosts())
        report = reporter.report(None, None, spent, interrupted=False)
        reason = problem.diagnostics[0].message
        self.listener(events.SizeFailed(report.file, report.line, report.name, report.inputs, reason))
        return Winner(self.plan.point, None, replace(report, reason=reason))

    def close(self) -> None:
        """End all processes, once."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._queue is not None:
            self._queue.close()
        if self._evaluator is not None:
            self._evaluator.close()

    def _remembered(self) -> Remembered | None:
        """The outcome of a finished run of the same plan; the database is asked once."""
        if self.memory is not None and not self._has_asked:
            self._has_asked = True
            self._known = self.memory.finished(self.plan.task.position)
        return self._known

    def _search_and_confirm(self, start: float) -> Verdict | None:
        self.listener(events.StageStarted(events.StageName.BASELINE))
        self.prepare()
        evaluator, baseline = self._evaluator, self._baseline
        assert evaluator is not None
        assert baseline is not None
        if not self.plan.emulated:
            self.listener(events.BaselineMeasured(baseline.measurement.timing))
        self.listener(events.StageStarted(events.StageName.SEARCH))
        self._search(evaluator, baseline, start)
        if not self._book.valid or self.plan.emulated:  # emulated times are the same every time
            return None
        self.listener(events.StageStarted(events.StageName.FINALS))
        return self._finals(evaluator, baseline, start)

    def _report(self, verdict: Verdict | None, start: float) -> RegionReport:
        """The report of the session, as the database has it where another process was first."""
        plan, evaluator = self.plan, self._evaluator
        costs = self._queue.costs if self._queue is not None else QueueCosts()
        spent = self._spent.spent(Seconds(perf_counter() - start), costs)
        reporter = SessionReporter(plan, self.compiler, self._book, self._original_counters)
        report = reporter.report(self._baseline, verdict, spent, interrupted=self.is_interrupted)
        if evaluator is not None:
            steadiness = self._calibrations.steadiness(evaluator.limits.cpu)
            report = replace(report, steadiness=steadiness, calls_per_sample=evaluator.inner)
            if evaluator.untimed:
                report = replace(report, untimed=evaluator.untimed, checked=self._book.checked())
        codes = self._codes(report)
        report = with_flags(report, codes, self._code, plan.point, self.compiler)
        if self.memory is None:
            return report
        finals = verdict.entries if verdict is not None else ()
        return self.memory.finish(report, self.diagnostics, codes, layout_of(plan.task), finals)

    def _new_book(self) -> TrialLog:
        return TrialLog(self.plan.budget.trials, self.listener, self._scorer, self.memory)

    def _codes(self, report: RegionReport) -> tuple[str, ...] | None:
        return winning_codes(self._code, self.plan.point, report)

    # --- before the search ---

    def _new_evaluator(self) -> tuple[VariantEvaluator, Observes | None]:
        """The evaluator of the target, here or on the cluster, and what counts variants where that is wanted.

        Raises as `make_evaluator`.
        """
        plan = self.plan
        if self.cluster is not None:
            remote = self.cluster.evaluator(self.folder)
            return remote, remote if plan.watches else None
        evaluator = make_evaluator(plan.evaluation, self.compiler, self.folder)
        if plan.watches and isinstance(evaluator, Evaluator):
            return evaluator, Observing(evaluator, plan.watches)
        return evaluator, None

    def _measured_original(self, evaluator: VariantEvaluator) -> Baseline:
        first = self.plan.space.first()
        values = dict(first) if first is not None else {}
        baseline = evaluator.prepare(values, self._arguments(values))
        self.diagnostics.extend(baseline.warnings)
        measured, counters, warnings = self._scorer.baseline(
            baseline.artifact, values, baseline.measurement, self.plan.task.position
        )
        self._original_counters = counters
        self.diagnostics.extend(warnings)
        return replace(baseline, measurement=measured)

    # --- the search ---

    def _search(self, evaluator: VariantEvaluator, baseline: Baseline, start: float) -> None:
        """Ask the searcher for batches and tell it their outcomes until the budget is spent.

        Where that has tried nothing, as with huge factors that are refused or take too long to build, the
        first configuration of the space is tried, whatever the time.
        """
        self._queue = queue = self._open_queue(evaluator, baseline.measurement.objective, start)
        self._ask(queue, start)
        simplest = self.plan.space.first()
        if self._book.trials == 0 and simplest is not None and simplest not in self._proposed:
            self._is_last_attempt = True
            self._evaluate(queue, [simplest])

    def _ask(self, queue: VariantQueue, start: float) -> None:
        outcomes: list[Outcome] | None = None
        while not self._is_spent(start):
            asked = perf_counter()
            try:
                batch = next(self.plan.search) if outcomes is None else self.plan.search.send(outcomes)
            except StopIteration:
                return
            self._spent.search += perf_counter() - asked
            if isinstance(batch, ProfiledBatch):
                # What can be counted here came with the outcomes: a further run would tell no more.
                outcomes = [Outcome(configuration) for configuration in batch]
            else:
                outcomes = self._evaluate(queue, batch)

    def _evaluate(self, queue: VariantQueue, batch: Sequence[Configuration]) -> list[Outcome]:
        """The outcomes of a batch in its order, as far as the budget allows it to be tried."""
        limit = self.plan.budget.trials
        room = len(batch) if limit is None else limit - self._book.trials
        self._proposed.update(batch)
        outcomes: dict[Configuration, Outcome] = {}
        began = perf_counter()
        try:
            with closing(queue.evaluate(batch, room)) as variants:
                for variant in variants:
                    outcomes[variant.configuration] = self._book.record(variant).outcome
        finally:
            self._spent.evaluation += perf_counter() - began
        return [outcomes[configuration] for configuration in batch if configuration in outcomes]

    def _open_queue(self, evaluator: VariantEvaluator, best: float, start: float) -> VariantQueue:
        """What builds and measures, here or on the cluster; `best` is the original's objective."""
        plan, is_over = self.plan, partial(self._is_over, start)
        if self.cluster is not None:
            return self.cluster.queue(best, self._book.recall, is_over)
        device = device_measurer(plan.target)
        most = device.most_jobs if device is not None else None
        extractor = FeatureExtractor.of(self._code, plan.point, self.compiler)
        maker = VariantMaker(self._code, plan.point, evaluator, self._arguments, extractor)
        measurer = BatchMeasurer(
            evaluator,
            self._arguments,
            best,
            plan.full_samples or plan.objective is not None,
            plan.keeps_files,
            self._calibrations,
            self._scorer,
        )
        builder = BatchBuilder(maker, plan.jobs if most is None else min(plan.jobs, most))
        return LocalQueue(builder, measurer, self._book.recall, is_over)

    def _is_spent(self, start: float) -> bool:
        budget = self.plan.budget
        if budget.trials is not None and self._book.trials >= budget.trials:
            return True
        if self._is_late(start):
            return True
        planned = budget.trials if budget.trials is not None else 100
        return self._book.refused > REFUSALS_PER_TRIAL * max(planned, 10)

    def _is_over(self, start: float) -> bool:
        return self._is_late(start) and not self._is_last_attempt

    def _is_late(self, start: float) -> bool:
        limit = self.plan.budget.time
        return limit is not None and perf_counter() - start >= limit

    def _arguments(self, values: Mapping[str, Value]) -> tuple[str, ...]:
        return command_line(self.plan.task, values)

    # --- after the search ---

    def _finals(self, evaluator: VariantEvaluator, baseline: Baseline, start: float) -> Verdict:
        """The best few against the original, which is also built with each finalist's own flags."""
        spent = perf_counter() - start
        began = perf_counter()
        allowance = Seconds(max(LEAST_ALLOWANCE, 0.25 * spent))

        def again(finalist: Finalist) -> Measurement:
            arguments = self._arguments(finalist.configuration or {})
            found = evaluator.measure(finalist.artifact, arguments, check=False)
            return self._scorer.measured(finalist.artifact, finalist.configuration or {}, found)

        def confirm(finalist: Finalist) -> Measurement:
            arguments = self._arguments(finalist.configuration or {})
            found = evaluator.confirm(finalist.artifact, arguments, check=not finalist.rounds)
            return self._scorer.measured(finalist.artifact, finalist.configuration or {}, found)

        rng = random.Random(self.plan.seed)
        call = baseline.measurement.time_by(Clock.WALL)
        half = Seconds(allowance / 2)
        best = hold_heats(self._contenders(evaluator), again, rng=rng, allowance=half, call=call)
        allowance = Seconds(allowance + began - perf_counter())
        if call * FEWEST_ROUNDS * len(best) > allowance:
            best = best[:1]
        verdict = hold_finals(
            self._originals(evaluator, baseline, best),
            best,
            confirm,
            rng=rng,
            allowance=allowance,
            clock=evaluator.clock,
            better="faster" if self.plan.objective is None else "better",
        )
        self._calibrations.add(evaluator.calibrate())
        self._spent.finals += perf_counter() - began
        return verdict

    def _contenders(self, evaluator: VariantEvaluator) -> list[Finalist]:
        """Enough of the best for the heats; what was recalled, or built by another machine, is built to be measured."""
        ranked = self._book.ranked()[:IN_HEATS]
        found: list[Finalist] = []
        for variant in ranked:
            if objective_of(variant) > HEATS_WITHIN * objective_of(ranked[0]):
                break
            built: Artifact | BuildFailure | None = variant.artifact
            if built is None:
                parts = self._code.parts(self.plan.point, variant.configuration)
                program = evaluator.program(parts.codes, parts.devices)
                built = evaluator.build(program, variant.configuration)
            if isinstance(built, Artifact):
                found.append(Finalist(built, variant.configuration, objective=objective_of(variant)))
        return found

    def _originals(
        self, evaluator: VariantEvaluator, baseline: Baseline, finalists: Sequence[Finalist]
    ) -> list[Finalist]:
        first = self.plan.space.first()
        originals = [Finalist(baseline.artifact, first)]
        seen = {tuple(self.compiler.words(first or {}))}
        for finalist in finalists:
            values = finalist.configuration or Configuration()
            words = tuple(self.compiler.words(values))
            if words in seen:
                continue
            seen.add(words)
            built = evaluator.build(baseline.program, values)
            if isinstance(built, Artifact):
                originals.append(Finalist(built, values, " ".join(words)))
        return originals

    @property
    def first_refusal(self) -> Diagnostic | None:
        """The first refusal met, to explain a session in which everything was refused."""
        return self._book.first_refusal
