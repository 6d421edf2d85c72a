"""The tuning session of one task at one problem size: search, evaluate, confirm."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter

from orio_py.build.compiler import Artifact, BuildFailure, Compiler
from orio_py.build.detect import cpu_cores, cpu_name, memory_bytes, system_name
from orio_py.codegen.program import Program
from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.digest import digest
from orio_py.core.expr import Value
from orio_py.core.units import Bytes, Seconds
from orio_py.measure.evaluator import Baseline, Evaluator, RunLimits
from orio_py.record.environment import Environment
from orio_py.record.measurement import Failure, Measurement, Stage, Success
from orio_py.search.base import Search
from orio_py.space.configuration import Configuration
from orio_py.space.search_space import SearchSpace
from orio_py.spec.inputs import InputPoint
from orio_py.spec.search import Budget, SearchSpec
from orio_py.spec.target import Target
from orio_py.spec.task import TuningTask
from orio_py.tune import events
from orio_py.tune.finals import Finalist, Verdict, hold_finals
from orio_py.tune.memory import Remembered, TrialMemory
from orio_py.tune.result import Best, RegionReport, SpaceCount, Spent
from orio_py.tune.variant import VariantGenerator

FINALISTS = 5
BATCH = 16
"""Variants built in parallel before they are timed alone."""

REFUSALS_PER_TRIAL = 200
"""A search that meets this many refusals for every planned trial gives up."""

MEMORY_SHARE = 0.8
"""Share of the main memory that one variant may take."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a session searches: what to build, with which searcher, within which limits."""

    task: TuningTask
    point: InputPoint
    space: SearchSpace
    search: Search
    budget: Budget
    target: Target
    seed: int
    jobs: int
    repeats: int
    timeout: Seconds | None
    spec: SearchSpec = SearchSpec()


@dataclass(frozen=True, slots=True)
class Winner:
    """The code of every region at one problem size; None where the original stays."""

    point: InputPoint
    codes: tuple[str, ...] | None
    report: RegionReport


@dataclass(slots=True)
class _Seconds:
    build: float = 0.0
    run: float = 0.0
    search: float = 0.0


@dataclass(slots=True)
class _Candidate:
    """A configuration on its way through build and measurement."""

    configuration: Configuration
    key: str
    program: Program | None = None
    outcome: Measurement | None = None
    is_recalled: bool = False


@dataclass(slots=True)
class TuningSession:
    """Runs one plan; `folder` holds its files, `listener` hears of its progress."""

    plan: Plan
    compiler: Compiler
    folder: Path
    listener: events.Listener
    memory: TrialMemory | None = None
    _code: VariantGenerator = field(init=False)
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    _built: dict[str, Artifact | BuildFailure] = field(default_factory=dict[str, "Artifact | BuildFailure"])
    _known: dict[str, Measurement] = field(default_factory=dict[str, Measurement])
    _valid: list[_Candidate] = field(default_factory=list[_Candidate])
    _failures: Counter[str] = field(default_factory=Counter[str])
    _trials: int = 0
    _cached: int = 0
    _refused: int = 0
    _spent: _Seconds = field(default_factory=_Seconds)
    _first_refusal: Diagnostic | None = None

    def __post_init__(self) -> None:
        self._code = VariantGenerator.of(self.plan.task)

    def run(self) -> Winner:
        """Search until the budget is spent, then hold the finals.

        Raises DiagnosticError when the original itself cannot be built or run.  Ctrl-C ends the search;
        what was found until then is reported and nothing is written back.
        """
        start = perf_counter()
        plan = self.plan
        self._tell_start()
        if self.memory is not None and (known := self.memory.finished(plan.task.position)) is not None:
            return self._answered(known, Seconds(perf_counter() - start))
        evaluator = self._evaluator()
        interrupted = False
        baseline: Baseline | None = None
        verdict: Verdict | None = None
        try:
            self.listener(events.Stage(events.StageName.BASELINE))
            baseline = self._prepare(evaluator)
            if self.memory is not None:
                self.memory.clock = baseline.measurement.clock
            self.listener(events.BaselineMeasured(baseline.measurement.timing))
            self.listener(events.Stage(events.StageName.SEARCH))
            self._search(evaluator, start)
            if self._valid:
                self.listener(events.Stage(events.StageName.FINALS))
                verdict = self._finals(evaluator, baseline, start)
        except KeyboardInterrupt:
            interrupted = True
        report = self._report(baseline, verdict, Seconds(perf_counter() - start), interrupted)
        if self.memory is not None:
            report = self.memory.finish(report, self.diagnostics)
        return self._winner(report)

    def _answered(self, known: Remembered, total: Seconds) -> Winner:
        """The winner of an earlier run of the same plan; nothing is built or measured."""
        self.diagnostics.extend(known.diagnostics)
        seconds = Spent(total, Seconds(0.0), Seconds(0.0), Seconds(0.0))
        return self._winner(replace(known.report, cached=known.report.trials, seconds=seconds))

    def _winner(self, report: RegionReport) -> Winner:
        self.listener(events.TaskFinished(report))
        codes: tuple[str, ...] | None = None
        if report.best is not None and not report.kept_original:
            codes = tuple(self._code.codes(self.plan.point, report.best.configuration))
        return Winner(self.plan.point, codes, report)

    # --- before the search ---

    def _tell_start(self) -> None:
        plan, position = self.plan, self.plan.task.position
        planned = plan.budget.trials
        if planned is None and plan.budget.time is None:
            planned = plan.space.size
        self.listener(
            events.TaskStarted(
                position.file,
                position.line,
                plan.task.name,
                dict(plan.point.values),
                plan.space.cartesian,
                plan.space.size,
                None if planned is None else min(planned, plan.space.size),
            )
        )

    def _evaluator(self) -> Evaluator:
        plan = self.plan
        parallel = plan.target is Target.OPENMP
        limits = RunLimits(plan.timeout, plan.repeats, Bytes(int(MEMORY_SHARE * memory_bytes())))
        return Evaluator(plan.task, plan.point, self.compiler, self.folder, limits, parallel)

    def _prepare(self, evaluator: Evaluator) -> Baseline:
        first = self.plan.space.first()
        values = dict(first) if first is not None else {}
        started = perf_counter()
        baseline = evaluator.prepare(values, self._arguments(values))
        self._spent.build += perf_counter() - started
        self.diagnostics.extend(baseline.warnings)
        return baseline

    # --- the search ---

    def _search(self, evaluator: Evaluator, start: float) -> None:
        """Drive the searcher: it proposes batches, the budget decides how much of them is tried."""
        search, budget = self.plan.search, self.plan.budget
        results: Sequence[float | None] | None = None
        with ThreadPoolExecutor(self.plan.jobs) as pool:
            try:
                while not self._is_spent(start):
                    asked = perf_counter()
                    try:
                        batch = next(search) if results is None else search.send(results)
                    except StopIteration:
                        return
                    self._spent.search += perf_counter() - asked
                    room = len(batch) if budget.trials is None else budget.trials - self._trials
                    results = self._evaluate(evaluator, batch, room, pool, start)
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                self.compiler.running.kill()
                raise

    def _is_spent(self, start: float) -> bool:
        budget = self.plan.budget
        if budget.trials is not None and self._trials >= budget.trials:
            return True
        if budget.time is not None and perf_counter() - start >= budget.time:
            return True
        planned = budget.trials if budget.trials is not None else 100
        return self._refused > REFUSALS_PER_TRIAL * max(planned, 10)

    def _evaluate(
        self,
        evaluator: Evaluator,
        batch: Sequence[Configuration],
        room: int,
        pool: ThreadPoolExecutor,
        start: float,
    ) -> list[float | None]:
        """Build what is new in parallel while the next are transformed, then measure one after the other."""
        began = perf_counter()
        candidates: list[_Candidate] = []
        tried: list[_Candidate] = []
        builds: dict[str, Future[Artifact | BuildFailure]] = {}
        for configuration in batch:
            if len(tried) >= room:
                break
            candidate = self._transform(evaluator, configuration)
            candidates.append(candidate)
            if candidate.is_recalled:
                tried.append(candidate)
            if candidate.program is None:
                continue
            tried.append(candidate)
            if candidate.key not in self._built and candidate.key not in builds:
                builds[candidate.key] = pool.submit(evaluator.build, candidate.program, configuration)
        self._built.update({key: build.result() for key, build in builds.items()})
        self._spent.build += perf_counter() - began
        for candidate in tried:
            if self.plan.budget.time is not None and perf_counter() - start >= self.plan.budget.time:
                break
            self._measure(evaluator, candidate)
        return [_objective(c.outcome) for c in candidates]

    def _transform(self, evaluator: Evaluator, configuration: Configuration) -> _Candidate:
        """The candidate with its program, or with the outcome of an earlier run, or refused with the reason."""
        if self.memory is not None and (known := self.memory.recall(configuration)) is not None:
            return _Candidate(configuration, known.code, outcome=known.measurement, is_recalled=True)
        try:
            codes = self._code.codes(self.plan.point, configuration)
        except DiagnosticError as problem:
            self._refused += 1
            first = problem.diagnostics[0]
            self._first_refusal = self._first_refusal or first
            refused = _Candidate(configuration, "", outcome=Failure(Stage.TRANSFORM, first.message))
            self._tell(refused)
            return refused
        program = evaluator.program(codes)
        words = self.compiler.words(configuration)
        key = digest([program.text, words, list(self._arguments(configuration))])
        return _Candidate(configuration, key, program)

    def _measure(self, evaluator: Evaluator, candidate: _Candidate) -> None:
        self._trials += 1
        if candidate.is_recalled and candidate.outcome is not None:
            self._known[candidate.key] = candidate.outcome
            self._cached += 1
        elif candidate.key in self._known:
            candidate.outcome = self._known[candidate.key]
            self._cached += 1
            self._remember(candidate, Seconds(0.0))
        else:
            began = perf_counter()
            candidate.outcome = self._outcome(evaluator, candidate)
            self._spent.run += perf_counter() - began
            self._remember(candidate, Seconds(perf_counter() - began))
            self._known[candidate.key] = candidate.outcome
        if isinstance(candidate.outcome, Failure):
            self._failures[str(candidate.outcome.stage)] += 1
        elif candidate.key not in {c.key for c in self._valid}:
            self._valid.append(candidate)
        self._tell(candidate)

    def _remember(self, candidate: _Candidate, run: Seconds) -> None:
        """Store a trial; where another process has stored it meanwhile, that one counts."""
        if self.memory is None or candidate.outcome is None:
            return
        built = self._built.get(candidate.key)
        build = built.seconds if isinstance(built, Artifact) and run else None
        candidate.outcome = self.memory.remember(
            candidate.configuration, candidate.outcome, code=candidate.key, build=build, run=run
        )

    def _outcome(self, evaluator: Evaluator, candidate: _Candidate) -> Measurement:
        built = self._built[candidate.key]
        if isinstance(built, BuildFailure):
            return Failure(Stage.COMPILE_TIMEOUT if built.timed_out else Stage.COMPILE, built.reason)
        arguments = self._arguments(candidate.configuration)
        return evaluator.measure(built, arguments, coordinate=candidate.configuration.show())

    def _tell(self, candidate: _Candidate) -> None:
        outcome, seconds, reason = "ok", None, ""
        match candidate.outcome:
            case Success() as success:
                seconds = success.timing.median_s
            case Failure(stage=stage, reason=reason):
                outcome = str(stage)
            case None:
                return
        best = min((_seconds(c) for c in self._valid), default=None)
        planned = self.plan.budget.trials
        self.listener(
            events.TrialDone(
                self._trials, planned, dict(candidate.configuration), outcome, reason, seconds, best
            )
        )

    def _arguments(self, values: Mapping[str, Value]) -> tuple[str, ...]:
        """Command-line options of the test program that are tuning parameters."""
        words: list[str] = []
        for parameter in self.plan.task.parameters:
            if parameter.option is not None and parameter.name in values:
                words.extend((parameter.option, str(values[parameter.name])))
        return tuple(words)

    # --- after the search ---

    def _finals(self, evaluator: Evaluator, baseline: Baseline, start: float) -> Verdict:
        """The best few against the original, which is also built with each finalist's own flags."""
        best = sorted(self._valid, key=_seconds)[:FINALISTS]
        limit = 1.5 * _seconds(best[0])
        best = [self._built_again(evaluator, c) for c in best if _seconds(c) <= limit]
        first = self.plan.space.first()
        originals = [Finalist(baseline.artifact, first)]
        seen = {tuple(self.compiler.words(first or {}))}
        for candidate in best:
            words = tuple(self.compiler.words(candidate.configuration))
            if words in seen:
                continue
            seen.add(words)
            built = evaluator.build(baseline.program, candidate.configuration)
            if isinstance(built, Artifact):
                originals.append(Finalist(built, candidate.configuration, " ".join(words)))
        builds = [(self._built.get(c.key), c.configuration) for c in best]
        finalists = [Finalist(b, configuration) for b, configuration in builds if isinstance(b, Artifact)]
        spent = perf_counter() - start
        began = perf_counter()
        verdict = hold_finals(
            originals,
            finalists,
            lambda f: evaluator.measure(f.artifact, self._arguments(f.configuration or {})),
            rng=random.Random(self.plan.seed),
            allowance=Seconds(max(10.0, 0.25 * spent)),
            clock=baseline.measurement.clock,
        )
        self._spent.run += perf_counter() - began
        return verdict

    def _built_again(self, evaluator: Evaluator, candidate: _Candidate) -> _Candidate:
        """A finalist whose measurement came from an earlier run, built so that it can be measured."""
        if candidate.key in self._built:
            return candidate
        program = evaluator.program(self._code.codes(self.plan.point, candidate.configuration))
        self._built[candidate.key] = evaluator.build(program, candidate.configuration)
        return candidate

    def _report(
        self, baseline: Baseline | None, verdict: Verdict | None, total: Seconds, interrupted: bool
    ) -> RegionReport:
        plan, position = self.plan, self.plan.task.position
        original = baseline.measurement.timing if baseline is not None else None
        best: Best | None = None
        reason = "no valid variant was found"
        if verdict is not None:
            if verdict.original.samples:
                original = verdict.original.timing(verdict.clock)
            reason = verdict.reason
            if verdict.best is not None and verdict.best.configuration is not None:
                best = Best(
                    dict(verdict.best.configuration), verdict.best.timing(verdict.clock), verdict.speedup
                )
        elif self._valid and original is not None:
            leader = min(self._valid, key=_seconds)
            assert isinstance(leader.outcome, Success)
            timing = leader.outcome.timing
            best = Best(dict(leader.configuration), timing, original.median_s / timing.median_s)
            reason = "interrupted before the finals"
        return RegionReport(
            file=position.file,
            line=position.line,
            name=plan.task.name,
            target=str(plan.target),
            inputs=dict(plan.point.values),
            space=SpaceCount(plan.space.cartesian, plan.space.size),
            trials=self._trials,
            cached=self._cached,
            failures=dict(self._failures),
            refused=self._refused,
            seconds=Spent(
                total, Seconds(self._spent.build), Seconds(self._spent.run), Seconds(self._spent.search)
            ),
            environment=self._environment(best.configuration if best is not None else {}),
            baseline=original,
            best=best,
            kept_original=verdict is None or not verdict.wins,
            reason=reason,
            interrupted=interrupted,
        )

    def _environment(self, values: Mapping[str, Value]) -> Environment:
        command = " ".join(self.compiler.words(values))
        return Environment(cpu_name(), cpu_cores(), system_name(), self.compiler.version, command)

    @property
    def first_refusal(self) -> Diagnostic | None:
        """The first refusal met, to explain a session in which everything was refused."""
        return self._first_refusal


def _objective(outcome: Measurement | None) -> float | None:
    return outcome.timing.median_s if isinstance(outcome, Success) else None


def _seconds(candidate: _Candidate) -> Seconds:
    assert isinstance(candidate.outcome, Success)
    return candidate.outcome.timing.median_s
