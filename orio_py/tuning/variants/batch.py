"""One batch of configurations: transformed and built on all cores first, then measured one at a time.

Nothing is built while kernels are timed, because compilers share their caches and memory.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import inf
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import perf_counter

from orio_py.build.compiler import Artifact, BuildFailure
from orio_py.build.pool import WorkerPool
from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.digest import digest
from orio_py.core.expr import Value
from orio_py.core.units import Seconds
from orio_py.ctree.dependence.sets import Solver
from orio_py.measure.base import VariantEvaluator
from orio_py.measure.calibration import Calibrations
from orio_py.measure.job import EarlyStopping
from orio_py.record.measurement import Clock, Failure, Measurement, Stage, Success
from orio_py.record.trial import CounterValue, Profile
from orio_py.search_space.configuration import Configuration
from orio_py.spec.inputs import InputPoint
from orio_py.tuning.variants.scoring import Scorer
from orio_py.tuning.variants.variant import VariantGenerator

EXTRA_ROUNDS = {Clock.THREAD_CPU: 0, Clock.WALL: 1}
"""Rounds after the first in which those that may win are measured again, in turn: wall time needs them."""

CALIBRATE_EVERY = 8
"""Variants measured between two looks at the machine's speed."""

WORTH_KEEPING = 2.0
"""Files of variants slower than the best variant, which the original may beat, by this factor are removed."""

Arguments = Callable[[Mapping[str, Value]], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """A configuration that a worker is to transform and build."""

    number: int
    configuration: Configuration


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a worker made of an order; without `built` and `refusal` another worker builds the same code.

    `code` is a digest of the machine code, `transforming` and `compiling` are seconds of CPU time.
    """

    number: int
    key: str = ""
    refusal: Diagnostic | None = None
    built: Artifact | BuildFailure | None = None
    code: str = ""
    transforming: Seconds = Seconds(0.0)
    compiling: Seconds = Seconds(0.0)


@dataclass(slots=True)
class Candidate:
    """A configuration on its way through build and measurement; `key` is the digest of all it is built of."""

    configuration: Configuration
    key: str = ""
    code: str = ""
    refusal: Diagnostic | None = None
    built: Artifact | BuildFailure | None = None
    outcome: Measurement | None = None
    is_copy: bool = False
    is_recalled: bool = False
    running: Seconds = Seconds(0.0)
    counters: tuple[CounterValue, ...] = ()
    profiles: tuple[Profile, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def objective(self) -> float | None:
        """What the searcher hears: seconds or the value of the objective, or None for a failure."""
        return self.outcome.objective if isinstance(self.outcome, Success) else None


@dataclass(frozen=True, slots=True)
class VariantMaker:
    """Transforms, prints and builds; this is what runs in the worker processes."""

    generator: VariantGenerator
    point: InputPoint
    evaluator: VariantEvaluator
    arguments: Arguments

    def make(self, order: BuildRequest, attempt: int) -> BuildResult:
        """The built variant of a configuration.  The first worker to make the folder of a code builds it."""
        started = _cpu()
        try:
            parts = self.generator.parts(self.point, order.configuration)
            program = self.evaluator.program(parts.codes, parts.devices)
        except DiagnosticError as problem:
            return BuildResult(order.number, refusal=problem.diagnostics[0], transforming=_since(started))
        compiler = self.evaluator.compiler
        words = compiler.words(order.configuration)
        key = digest([program.text, words, list(self.arguments(order.configuration))])
        transforming = _since(started)
        folder = self.evaluator.folder / f"code_{key[:24]}"
        try:
            folder.mkdir(exist_ok=attempt > 1)
        except FileExistsError:
            return BuildResult(order.number, key, transforming=transforming)
        started = _cpu()
        built = self.evaluator.build(program, order.configuration, folder.name)
        code = _code_digest(built.path) if isinstance(built, Artifact) and not compiler.spec.postrun else ""
        return BuildResult(
            order.number, key, built=built, code=code, transforming=transforming, compiling=_since(started)
        )

    @staticmethod
    def lost(order: BuildRequest) -> BuildResult:
        """The answer for a configuration that ended two worker processes."""
        failure = BuildFailure("the process that transforms and builds it ended unexpectedly, twice", "")
        return BuildResult(order.number, f"lost {order.number} {order.configuration.show()}", built=failure)


@dataclass(slots=True)
class BatchBuilder:
    """Builds batches with worker processes; equal code is built once in a session."""

    maker: VariantMaker
    jobs: int
    transforming: float = 0.0
    compiling: float = 0.0
    _pool: WorkerPool[BuildRequest, BuildResult] | None = None
    _built: dict[str, BuildResult] = field(default_factory=dict[str, BuildResult])

    def build(
        self,
        batch: Sequence[Configuration],
        room: int,
        recall: Callable[[Configuration], Candidate | None] | None = None,
    ) -> list[Candidate]:
        """The first candidates of a batch, as many as give `room` that were not refused; in order.

        What `recall` knows is not made again.
        """
        pool = self._started()
        candidates: list[Candidate] = []
        under_way = accepted = 0
        while len(candidates) < len(batch) or under_way:
            while len(candidates) < len(batch) and accepted + under_way < room:
                configuration = batch[len(candidates)]
                if recall is not None and (known := recall(configuration)) is not None:
                    candidates.append(known)
                    accepted += 1
                    continue
                pool.submit(BuildRequest(len(candidates), configuration))
                candidates.append(Candidate(configuration))
                under_way += 1
            if not under_way:
                break
            for made in pool.collect():
                under_way -= 1
                accepted += made.refusal is None
                self._take(candidates[made.number], made)
        for candidate in candidates:
            if candidate.refusal is None and not candidate.is_recalled:
                # Who was to build that code may have been lost: then nobody has.
                first = self._built.get(candidate.key) or VariantMaker.lost(
                    BuildRequest(0, candidate.configuration)
                )
                candidate.built, candidate.code = first.built, first.code
        return candidates

    def close(self) -> None:
        """End the workers and what they run."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _take(self, candidate: Candidate, made: BuildResult) -> None:
        self.transforming += made.transforming
        self.compiling += made.compiling
        candidate.key, candidate.refusal = made.key, made.refusal
        if made.built is not None:
            self._built[made.key] = made

    def _started(self) -> WorkerPool[BuildRequest, BuildResult]:
        if self._pool is None:
            Solver()  # loads its library here, once, and not in each of the workers that are forked next
            stop = self.maker.evaluator.compiler.running.kill
            self._pool = WorkerPool(self.maker.make, self.maker.lost, workers=self.jobs, stop=stop)
        return self._pool


@dataclass(slots=True)
class BatchMeasurer:
    """Measures candidates one at a time; equal code is measured once in a session.

    With `full` every valid variant gets all repetitions, as data for a model need them; otherwise a
    variant is given up as soon as it is clearly slower than the best so far, which is the original at first.
    """

    evaluator: VariantEvaluator
    arguments: Arguments
    best: float
    full: bool
    keeps_files: bool
    calibrations: Calibrations
    scorer: Scorer = field(default_factory=Scorer)
    least_run: float = 0.0
    _leader: float = inf
    _measured: int = 0
    _first: dict[str, Candidate] = field(default_factory=dict[str, Candidate])

    def measure(
        self,
        candidates: Sequence[Candidate],
        finish: Callable[[Candidate], None],
        amend: Callable[[Candidate], None],
        is_over: Callable[[], bool],
    ) -> None:
        """Give each candidate its outcome and then to `finish`; stop between two when `is_over`.

        Those that are measured once more at the end of the batch are given to `amend` after that.
        """
        rounds = EXTRA_ROUNDS[self.evaluator.clock]
        waiting: list[Candidate] = []
        for candidate in candidates:
            if is_over():
                break
            is_waiting = False
            if candidate.is_recalled:
                self._first.setdefault(candidate.key, candidate)
                self.best = min(self.best, candidate.objective or self.best)
            elif self._is_known(candidate):
                first = self._first[candidate.key]
                candidate.is_copy, candidate.outcome = True, first.outcome
                candidate.counters, candidate.profiles = first.counters, first.profiles
                candidate.metadata = first.metadata
                is_waiting = any(first is other for other in waiting)
            else:
                if self._measured % CALIBRATE_EVERY == 0:
                    self.calibrations.add(self.evaluator.calibrate())
                self._measured += 1
                began = perf_counter()
                candidate.outcome, seen = self.scorer.inspect(
                    candidate.built, candidate.configuration, self._outcome(candidate)
                )
                candidate.counters, candidate.profiles = seen.counters, seen.profiles
                self._learn(candidate)
                candidate.running = Seconds(perf_counter() - began)
                self._note(candidate)
                is_waiting = rounds > 0 and candidate.objective is not None and self._may_win(candidate)
            finish(candidate)
            if is_waiting:
                waiting.append(candidate)
            else:
                self._tidy(candidate)
        for _ in range(rounds):
            self._repeat(waiting, amend)

    def _is_known(self, candidate: Candidate) -> bool:
        """Whether the same source, or other source with the same machine code, was measured before."""
        if candidate.key in self._first:
            return True
        same = self._first.get(candidate.code) if candidate.code else None
        self._first[candidate.key] = same or candidate
        if same is None and candidate.code:
            self._first[candidate.code] = candidate
        return same is not None

    def _outcome(self, candidate: Candidate) -> Measurement:
        built = candidate.built
        if not isinstance(built, Artifact):
            assert built is not None
            return Failure(Stage.COMPILE_TIMEOUT if built.timed_out else Stage.COMPILE, built.reason)
        arguments = self.arguments(candidate.configuration)
        coordinate = candidate.configuration.show()
        return self.evaluator.measure(built, arguments, coordinate=coordinate, race=self._race)

    def _learn(self, candidate: Candidate) -> None:
        if isinstance(candidate.built, Artifact):
            facts = self.evaluator.facts(candidate.built)
            candidate.counters, candidate.metadata = (*candidate.counters, *facts.counters), facts.metadata

    @property
    def _race(self) -> EarlyStopping | None:
        return None if self.full else EarlyStopping(self.best)

    def _note(self, candidate: Candidate) -> None:
        if (found := candidate.objective) is not None:
            self.best = min(self.best, found)
            self._leader = min(self._leader, found)
            assert isinstance(candidate.outcome, Success)
            # On a machine that others use the wall would hold their time, too; the thread's CPU time does not.
            self.least_run += min(min(sample.wall, sample.cpu) for sample in candidate.outcome.samples)
            if candidate.outcome.clock is Clock.THREAD_CPU:
                self.calibrations.watch(candidate.outcome.samples)

    def _may_win(self, candidate: Candidate) -> bool:
        if self.full or candidate.outcome is None:
            return self.full
        return EarlyStopping(self.best).may_still_win(candidate.outcome)

    def _repeat(self, contenders: Sequence[Candidate], amend: Callable[[Candidate], None]) -> None:
        """One more round, in turn, for those that may still win."""
        for candidate in contenders:
            if candidate.is_copy or not isinstance(candidate.outcome, Success):
                continue
            if not self._may_win(candidate):
                continue
            assert isinstance(candidate.built, Artifact)
            arguments = self.arguments(candidate.configuration)
            again = self.evaluator.measure(candidate.built, arguments, race=self._race, check=False)
            joined = candidate.outcome.joined(again) if isinstance(again, Success) else again
            candidate.outcome = self.scorer.scored(joined, candidate.counters)
            for other in contenders:
                if self._first[other.key] is candidate:
                    other.outcome = candidate.outcome
                    amend(other)
            if (found := candidate.objective) is not None:
                self.best = min(self.best, found)

    def _tidy(self, candidate: Candidate) -> None:
        seconds = candidate.objective
        is_slow = seconds is None or seconds > WORTH_KEEPING * self._leader
        if (
            is_slow
            and not self.keeps_files
            and candidate.key
            and not candidate.is_copy
            and not candidate.is_recalled
        ):
            folder = self.evaluator.folder / f"code_{candidate.key[:24]}"
            shutil.rmtree(folder, ignore_errors=True)


def _code_digest(library: Path) -> str:
    return sha256(library.read_bytes()).hexdigest()


def _cpu() -> float:
    """CPU seconds of this process and of those that it ran."""
    used = [getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def _since(start: float) -> Seconds:
    return Seconds(_cpu() - start)
