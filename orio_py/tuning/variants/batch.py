"""One batch of configurations: transformed and built on all cores first, then measured one at a time.

Nothing is built while kernels are timed, because compilers share their caches and memory.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import inf
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import perf_counter

from orio_py.build.compiler import Artifact, BuildFailure
from orio_py.build.pool import WorkerPool
from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.digest import digest
from orio_py.core.expr import Value
from orio_py.core.units import Seconds
from orio_py.ctree.dependence.sets import Solver
from orio_py.measure.base import VariantEvaluator
from orio_py.measure.calibration import Calibrations
from orio_py.measure.job import EarlyStopping
from orio_py.record.measurement import Clock, Failure, Measurement, Stage, Success
from orio_py.record.outcome import VariantFacts
from orio_py.search_space.configuration import Configuration
from orio_py.spec.inputs import InputPoint
from orio_py.tuning.variants.pipeline import (
    BuildRequest,
    BuildResult,
    EvaluatedVariant,
    MeasuredVariant,
    MeasurementOrigin,
    QueueCosts,
    Recall,
    RefusedVariant,
    code_folder,
)
from orio_py.tuning.variants.scoring import Scorer
from orio_py.tuning.variants.static import FeatureExtractor
from orio_py.tuning.variants.variant import VariantGenerator

EXTRA_ROUNDS = {Clock.THREAD_CPU: 0, Clock.WALL: 1, Clock.EMULATED: 0}
"""Rounds after the first in which those that may win are measured again, in turn: wall time needs them."""

SPELL = Seconds(10.0)
"""After so much building what is ready is measured, and stored, before the rest of its batch is built."""

PATIENCE = Seconds(0.2)
"""How long compilers run before it is asked again whether the time is up."""

CALIBRATE_EVERY = 8
"""Variants measured between two looks at the machine's speed."""

WORTH_KEEPING = 2.0
"""Files of variants slower than the best variant, which the original may beat, by this factor are removed."""

Arguments = Callable[[Mapping[str, Value]], tuple[str, ...]]
"""The command line of the test program at a configuration."""


@dataclass(frozen=True, slots=True)
class VariantMaker:
    """Transforms, prints and builds; this is what runs in the worker processes.

    With an `extractor` the static features are among the facts of what is built.
    """

    generator: VariantGenerator
    point: InputPoint
    evaluator: VariantEvaluator
    arguments: Arguments
    extractor: FeatureExtractor | None = None

    def make(self, request: BuildRequest, attempt: int) -> BuildResult:
        """The built variant of a configuration.  The first worker to make the folder of a code builds it."""
        started = _cpu()
        configuration = request.configuration
        try:
            parts = self.generator.parts(self.point, configuration)
            program = self.evaluator.program(parts.codes, parts.devices)
        except DiagnosticError as problem:
            return BuildResult(request, refusal=problem.diagnostics[0], transforming=_since(started))
        compiler = self.evaluator.compiler
        words = compiler.words(configuration)
        key = digest([*program.texts, words, list(self.arguments(configuration))])
        features: Mapping[str, float] = {}
        if self.extractor is not None:
            features = self.extractor.of_trees(parts.trees, configuration)
        made = BuildResult(request, key, facts=VariantFacts(features=features), transforming=_since(started))
        folder = self.evaluator.folder / code_folder(key)
        try:
            folder.mkdir(exist_ok=attempt > 1)
        except FileExistsError:
            return made
        started = _cpu()
        built = self.evaluator.build(program, configuration, folder.name)
        if isinstance(built, BuildFailure):
            return replace(made, built=built, compiling=_since(started))
        code = "" if compiler.spec.postrun else sha256(built.path.read_bytes()).hexdigest()
        compiling = _since(started)
        facts = replace(self.evaluator.facts(built), features=features)
        return replace(made, built=built, code=code, facts=facts, compiling=compiling)

    @staticmethod
    def lost(request: BuildRequest) -> BuildResult:
        """The answer for a configuration that ended two worker processes."""
        failure = BuildFailure("the process that transforms and builds it ended unexpectedly, twice", "")
        key = f"lost {request.number} {request.configuration.show()}"
        return BuildResult(request, key, built=failure)


@dataclass(slots=True)
class BatchBuilder:
    """Builds batches with worker processes; equal code is built once in a session."""

    maker: VariantMaker
    jobs: int
    """How many processes."""
    transforming: float = 0.0
    compiling: float = 0.0
    """CPU seconds of all workers so far."""
    _pool: WorkerPool[BuildRequest, BuildResult] | None = None
    _built: dict[str, BuildResult] = field(default_factory=dict[str, BuildResult])
    """By key, from the worker that built it."""

    def build(
        self,
        batch: Sequence[Configuration],
        room: int,
        recall: Recall = lambda configuration: None,
        is_over: Callable[[], bool] = lambda: False,
    ) -> list[BuildResult | EvaluatedVariant]:
        """What was made of the first configurations, as many as give `room` that were not refused; in order.

        What `recall` knows is not made again.  Some are left for another call when that takes longer than `SPELL`; when
        it `is_over`, what still runs is ended.
        """
        ends = perf_counter() + SPELL
        pool = self._started()
        found: dict[int, BuildResult | MeasuredVariant] = {}
        proposed = under_way = accepted = 0
        while proposed < len(batch) or under_way:
            while proposed < len(batch) and accepted + under_way < room:
                if (known := recall(batch[proposed])) is not None:
                    found[proposed] = known
                    accepted += 1
                else:
                    pool.submit(BuildRequest(proposed, batch[proposed]))
                    under_way += 1
                proposed += 1
            if not under_way:
                break
            for made in pool.collect(PATIENCE):
                under_way -= 1
                accepted += made.refusal is None
                self._take(made)
                found[made.request.number] = made
            if is_over():
                return [self._completed(found[number]) for number in sorted(self._give_up(found))]
            if accepted and perf_counter() > ends:
                under_way -= pool.withdraw()
                room = 0
        return [self._completed(found[number]) for number in sorted(found)]

    def _give_up(self, found: Mapping[int, BuildResult | MeasuredVariant]) -> set[int]:
        """End the workers and remove what they have begun, which may be asked for again; returns what is finished."""
        self.close()
        for folder in self.maker.evaluator.folder.glob(code_folder("*")):
            if folder.name not in map(code_folder, self._built):
                shutil.rmtree(folder)
        made = {number: one for number, one in found.items() if isinstance(one, BuildResult)}
        return found.keys() - {n for n in made if made[n].refusal is None and made[n].key not in self._built}

    def close(self) -> None:
        """End the workers and what they run."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _take(self, made: BuildResult) -> None:
        self.transforming += made.transforming
        self.compiling += made.compiling
        if made.built is not None:
            self._built[made.key] = made

    def _completed(self, made: BuildResult | MeasuredVariant) -> BuildResult | EvaluatedVariant:
        """The result with what another worker built of the same code."""
        if isinstance(made, MeasuredVariant):
            return made
        if made.refusal is not None:
            return RefusedVariant(made.request.configuration, made.refusal)
        # Who was to build that code may have been lost: then nobody has.
        first = self._built.get(made.key) or VariantMaker.lost(made.request)
        return replace(made, built=first.built, code=first.code, facts=first.facts)

    def _started(self) -> WorkerPool[BuildRequest, BuildResult]:
        if self._pool is None:
            Solver()  # loads its library here, once, and not in each of the workers that are forked next
            stop = self.maker.evaluator.compiler.running.kill
            self._pool = WorkerPool(self.maker.make, self.maker.lost, workers=self.jobs, stop=stop)
        return self._pool


@dataclass(slots=True)
class BatchMeasurer:
    """Measures what was built, one variant at a time; equal code is measured once in a session."""

    evaluator: VariantEvaluator
    arguments: Arguments
    best: float
    """The least objective so far, at first the original's."""
    full: bool
    """Whether every valid variant gets all repetitions, as data for a model need them; otherwise one is given up
    as soon as it is clearly slower than the best so far."""
    keeps_files: bool
    calibrations: Calibrations
    scorer: Scorer = field(default_factory=Scorer)
    least_run: float = 0.0
    """The sum of the shortest single runs of all valid variants, in seconds."""
    _leader: float = inf
    _count: int = 0
    _firsts: dict[str, str] = field(default_factory=dict[str, str])
    """The key of the first variant of the same code, by the keys and the machine codes of all."""
    _known: dict[str, MeasuredVariant] = field(default_factory=dict[str, MeasuredVariant])
    """Those first variants, as they were measured last, by their keys."""

    def measure(
        self, ready: Sequence[BuildResult | MeasuredVariant], is_over: Callable[[], bool] = lambda: False
    ) -> Generator[MeasuredVariant]:
        """Each variant as soon as it has been measured, until `is_over`; recalled ones as they are.

        Those that are measured once more at the end of the batch come again, amended.
        """
        rounds = EXTRA_ROUNDS[self.evaluator.clock]
        waiting: dict[str, list[MeasuredVariant]] = {}
        for one in ready:
            if is_over():
                break
            variant = self._next(one)
            first = self._firsts[variant.key]
            may_win = rounds > 0 and self._may_win(variant)
            yield variant
            match variant.origin:
                case MeasurementOrigin.MEASURED if may_win:
                    waiting[first] = [variant]
                case MeasurementOrigin.MEASURED:
                    self._tidy(variant)
                case MeasurementOrigin.COPY if first in waiting:
                    waiting[first].append(variant)
                case _:
                    pass
        for _ in range(rounds):
            for first, sharing in waiting.items():
                yield from self._repeated(self._known[first], sharing)

    def _next(self, one: BuildResult | MeasuredVariant) -> MeasuredVariant:
        """The measurement of a variant: recalled, of the same code before, or taken now."""
        if isinstance(one, MeasuredVariant):
            self._known.setdefault(self._firsts.setdefault(one.key, one.key), one)
            self.best = min(self.best, one.objective or self.best)
            return one
        artifact = one.built if isinstance(one.built, Artifact) else None
        first = self._first_of(one)
        if (known := self._known.get(first)) is not None:
            copy = replace(known, configuration=one.request.configuration, key=one.key, artifact=artifact)
            copy = replace(copy, facts=replace(known.facts, features=one.facts.features))
            return replace(copy, origin=MeasurementOrigin.COPY, build=None, run=Seconds(0.0))
        if self._count % CALIBRATE_EVERY == 0:
            self.calibrations.add(self.evaluator.calibrate())
        self._count += 1
        self._known[first] = variant = self._measured(one, artifact)
        self._note(variant.measurement)
        return variant

    def _first_of(self, made: BuildResult) -> str:
        """The key of the first variant with the same source, or with other source and the same machine code."""
        if (first := self._firsts.get(made.key)) is None:
            first = self._firsts.setdefault(made.code or made.key, made.key)
            self._firsts[made.key] = first
        return first

    def _measured(self, made: BuildResult, artifact: Artifact | None) -> MeasuredVariant:
        began = perf_counter()
        configuration, facts = made.request.configuration, made.facts
        found, seen = self.scorer.inspect(made.built, configuration, self._run(made))
        told = self.evaluator.run_facts(artifact) if artifact is not None else VariantFacts()
        return MeasuredVariant(
            configuration,
            made.key,
            found,
            artifact,
            facts=facts,
            counters=(*seen.counters, *told.counters, *facts.counters),
            profiles=seen.profiles,
            metadata={**facts.metadata, **told.metadata},
            build=artifact.seconds if artifact is not None else None,
            run=Seconds(perf_counter() - began),
        )

    def _run(self, made: BuildResult) -> Measurement:
        built, configuration = made.built, made.request.configuration
        assert built is not None
        if isinstance(built, BuildFailure):
            return Failure(Stage.COMPILE_TIMEOUT if built.timed_out else Stage.COMPILE, built.reason)
        arguments, coordinate = self.arguments(configuration), configuration.show()
        return self.evaluator.measure(built, arguments, coordinate=coordinate, race=self._race)

    @property
    def _race(self) -> EarlyStopping | None:
        return None if self.full else EarlyStopping(self.best)

    def _note(self, found: Measurement) -> None:
        if isinstance(found, Success):
            self.best = min(self.best, found.objective)
            self._leader = min(self._leader, found.objective)
            # On a machine that others use the wall would hold their time, too; the thread's CPU time does not.
            self.least_run += min(min(sample.wall, sample.cpu) for sample in found.samples)
            if found.clock is Clock.THREAD_CPU:
                self.calibrations.watch(found.samples)

    def _may_win(self, variant: MeasuredVariant) -> bool:
        found = variant.measurement
        return isinstance(found, Success) and (self.full or EarlyStopping(self.best).may_still_win(found))

    def _repeated(
        self, first: MeasuredVariant, sharing: Sequence[MeasuredVariant]
    ) -> Generator[MeasuredVariant]:
        """A variant that may still win after one more round, and those that share its code."""
        if not isinstance(first.measurement, Success) or not self._may_win(first):
            return
        assert first.artifact is not None
        arguments = self.arguments(first.configuration)
        again = self.evaluator.measure(first.artifact, arguments, race=self._race, check=False)
        joined = first.measurement.joined(again) if isinstance(again, Success) else again
        amended = replace(first, measurement=self.scorer.scored(joined, first.counters))
        self._known[first.key] = amended
        if amended.objective is not None:
            self.best = min(self.best, amended.objective)
        for variant in sharing:
            yield replace(variant, measurement=amended.measurement, amends=True)

    def _tidy(self, variant: MeasuredVariant) -> None:
        """Remove the files of a variant that is not among the fast ones."""
        seconds = variant.objective
        if not self.keeps_files and (seconds is None or seconds > WORTH_KEEPING * self._leader):
            shutil.rmtree(self.evaluator.folder / code_folder(variant.key), ignore_errors=True)


@dataclass(slots=True)
class LocalQueue:
    """A `VariantQueue` on this machine: a batch is built on all cores before anything of it is timed."""

    builder: BatchBuilder
    measurer: BatchMeasurer
    recall: Recall
    is_over: Callable[[], bool]
    """Whether the time is up, asked between two measurements."""
    _building: float = 0.0

    @property
    def costs(self) -> QueueCosts:
        """What workers and measurements have used so far."""
        used = (self._building, self.builder.transforming, self.builder.compiling, self.measurer.least_run)
        return QueueCosts(*map(Seconds, used))

    def evaluate(self, batch: Sequence[Configuration], room: int) -> Generator[EvaluatedVariant]:
        """As in `VariantQueue`: refused ones first, the others in order.  Raises RuntimeError for a bug in a worker."""
        while batch and room > 0:
            began = perf_counter()
            try:
                ready = self.builder.build(batch, room, self.recall, self.is_over)
            finally:
                self._building += perf_counter() - began
            yield from (one for one in ready if isinstance(one, RefusedVariant))
            accepted = [one for one in ready if not isinstance(one, RefusedVariant)]
            yield from self.measurer.measure(accepted, self.is_over)
            if self.is_over():
                return
            dealt_with = {one.configuration for one in ready}
            batch = [configuration for configuration in batch if configuration not in dealt_with]
            room -= len(accepted)

    def close(self) -> None:
        """End the workers and what they run."""
        self.builder.close()


def _cpu() -> float:
    """CPU seconds of this process and of those that it ran."""
    used = [getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def _since(start: float) -> Seconds:
    return Seconds(_cpu() - start)
