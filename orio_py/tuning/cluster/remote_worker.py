"""What runs on the workers of a cluster: one evaluator per session and process, kept from request to request.

Of all processes of a machine that share a device, one measures at a time, and nothing is built meanwhile: they
hold a lock of the operating system, which a process that dies gives back.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from orio_py.build.compiler import Artifact, Compiler, resolve
from orio_py.build.detect import device_name, host, unset_single_thread
from orio_py.core.expr import Value
from orio_py.measure.base import VariantEvaluator
from orio_py.measure.calibration import Calibrations
from orio_py.measure.evaluator import Evaluator
from orio_py.measure.observers.observing import Observation, Observing
from orio_py.record.environment import Host
from orio_py.record.measurement import Clock
from orio_py.search_space.configuration import Configuration
from orio_py.tuning.variants.batch import BatchMeasurer, VariantMaker
from orio_py.tuning.variants.evaluators import Evaluation, command_line, make_evaluator
from orio_py.tuning.variants.pipeline import BuildRequest, BuildResult, EvaluatedVariant, RefusedVariant
from orio_py.tuning.variants.scoring import Scorer
from orio_py.tuning.variants.static import FeatureExtractor
from orio_py.tuning.variants.variant import VariantGenerator

KEPT = 4
"""Sessions whose evaluators a worker keeps; several commands may use one cluster."""


@dataclass(frozen=True, slots=True)
class WorkerKind:
    """What the results of a worker depend on; trials of one task come from workers of one kind."""

    version: str
    host: Host
    compiler: str

    def is_like(self, other: WorkerKind) -> bool:
        """Whether trials of both may stand beside each other."""
        mine, theirs = ((kind.version, kind.host.digest, kind.compiler) for kind in (self, other))
        return mine == theirs


@dataclass(frozen=True, slots=True)
class Assignment:
    """A session as its workers know it.

    `number` is the session's own; `folder` is that of the source file, where compilers run, and must be there on
    every machine; `cc` overrules the compiler.  `first` is the configuration whose values the original is built
    with, `kind` that of the workers whose results count.
    """

    number: str
    evaluation: Evaluation
    folder: Path
    cc: str | None
    first: Configuration
    kind: WorkerKind


@dataclass(frozen=True, slots=True)
class OtherKind:
    """The answer of a worker that is of another kind than the session's."""

    kind: WorkerKind


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a session wants to know of an evaluator that has measured the original."""

    baseline: Any
    clock: Clock
    inner: int
    untimed: str = ""


@dataclass(slots=True)
class RemoteWorker:
    """The evaluator of one session in this process."""

    assignment: Assignment
    folder: Path
    compiler: Compiler
    evaluator: VariantEvaluator
    observing: Observing | None
    maker: VariantMaker
    measurer: BatchMeasurer
    prepared: Prepared
    built: dict[str, BuildResult] = field(default_factory=dict[str, BuildResult])

    @classmethod
    def open(cls, assignment: Assignment, scratch: Path | None) -> RemoteWorker:
        """Build and measure the original here, with files in a new folder in `scratch`.

        Raises as `VariantEvaluator.prepare`.
        """
        evaluation = assignment.evaluation
        folder = Path(tempfile.mkdtemp(prefix="orio-worker-", dir=scratch))
        try:
            compiler = resolve(evaluation.task.build, assignment.folder, override=assignment.cc)
            evaluator = make_evaluator(evaluation, compiler, folder / "variants")
            with device_lock(exclusive=True):
                arguments = command_line(evaluation.task, assignment.first)
                baseline = evaluator.prepare(assignment.first, arguments)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        watched = evaluation.watches and isinstance(evaluator, Evaluator)
        observing = Observing(evaluator, evaluation.watches) if watched else None  # pyright: ignore[reportArgumentType]

        def arguments_of(values: Any) -> tuple[str, ...]:
            return command_line(evaluation.task, values)

        measurer = BatchMeasurer(
            evaluator,
            arguments_of,
            baseline.measurement.objective,
            evaluation.full_samples or evaluation.objective is not None,
            keeps_files=False,
            calibrations=Calibrations(),
            scorer=Scorer(evaluation.objective, observing, arguments_of),
        )
        generator = VariantGenerator.of(evaluation.task)
        extractor = FeatureExtractor.of(generator, evaluation.point, compiler)
        maker = VariantMaker(generator, evaluation.point, evaluator, arguments_of, extractor)
        prepared = Prepared(baseline, evaluator.clock, evaluator.inner, evaluator.untimed)
        return cls(assignment, folder, compiler, evaluator, observing, maker, measurer, prepared)

    def evaluate(self, configuration: Configuration, best: float) -> EvaluatedVariant:
        """Transform, build and measure one configuration; `best` is what the session has seen so far."""
        request = BuildRequest(0, configuration)
        with device_lock(exclusive=False):
            made = self.maker.make(request, 1)
            if made.refusal is not None:
                return RefusedVariant(configuration, made.refusal)
            if made.built is None:
                made = self.built.get(made.key) or self.maker.make(request, 2)
            self.built.setdefault(made.key, made)
        self.measurer.best = min(self.measurer.best, best)
        with device_lock(exclusive=True):
            *_, last = self.measurer.measure([replace(made, request=request)])
        # What was built lies on this worker's disk, and the session hears of the variant only now.
        return replace(last, artifact=None, amends=False)

    def ask(self, method: str, arguments: Sequence[Any], options: dict[str, Any]) -> Any:
        """Call a method of the evaluator; those that run code have the machine for themselves."""
        if method == "prepared":
            return self.prepared
        if method == "observe":
            return self._observe(*arguments)
        with device_lock(exclusive=method not in ("program", "build", "facts", "run_facts")):
            return getattr(self.evaluator, method)(*arguments, **options)

    def close(self) -> None:
        """End the evaluator's processes and remove its files."""
        self.evaluator.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _observe(self, artifact: Artifact, values: dict[str, Value]) -> Observation:
        if self.observing is None:
            return Observation()
        with device_lock(exclusive=True):
            words = command_line(self.assignment.evaluation.task, values)
            return self.observing.observe(artifact, values, words)


_OPEN: dict[str, RemoteWorker] = {}
"""The sessions of this process, the last used last."""


def kind_here(
    evaluation: Evaluation, folder: Path, cc: str | None, scratch: Path | None = None
) -> WorkerKind:
    """The kind of this process, wherever its `scratch` is.  Raises EnvironmentProblem without a compiler."""
    unset_single_thread()
    compiler = resolve(evaluation.task.build, folder, override=cc)
    return WorkerKind(version("orio-py"), host(), compiler.version)


def evaluate_here(
    assignment: Assignment, configuration: Configuration, best: float, scratch: Path | None = None
) -> EvaluatedVariant | OtherKind:
    """One trial on this worker, whose files lie in `scratch`."""
    found = _workshop(assignment, scratch)
    return found if isinstance(found, OtherKind) else found.evaluate(configuration, best)


def ask_here(
    assignment: Assignment,
    method: str,
    arguments: Sequence[Any],
    options: dict[str, Any],
    scratch: Path | None = None,
) -> Any:
    """The answer of this worker's evaluator, or `OtherKind`."""
    found = _workshop(assignment, scratch)
    return found if isinstance(found, OtherKind) else found.ask(method, arguments, options)


def close_here(number: str) -> None:
    """End a session on this worker."""
    if (found := _OPEN.pop(number, None)) is not None:
        found.close()


def _workshop(assignment: Assignment, scratch: Path | None) -> RemoteWorker | OtherKind:
    kind = kind_here(assignment.evaluation, assignment.folder, assignment.cc)
    if not kind.is_like(assignment.kind):
        return OtherKind(kind)
    if assignment.number not in _OPEN:
        while len(_OPEN) >= KEPT:
            close_here(next(iter(_OPEN)))
        _OPEN[assignment.number] = RemoteWorker.open(assignment, scratch)
    _OPEN[assignment.number] = found = _OPEN.pop(assignment.number)
    return found


@contextmanager
def device_lock(*, exclusive: bool) -> Generator[None]:
    """Hold this machine's device: alone for measuring, with others for building.

    Processes that see different GPUs (`CUDA_VISIBLE_DEVICES`) have different devices.
    """
    path = Path(tempfile.gettempdir()) / f"orio-{device_name()}.lock"
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)
