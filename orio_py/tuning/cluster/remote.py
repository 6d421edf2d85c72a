"""An evaluator whose work is done by one worker of a cluster, its home; a home that is lost is replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orio_py.build.compiler import Artifact, BuildFailure, Compiler
from orio_py.codegen.device import DeviceProgram
from orio_py.codegen.program import Program
from orio_py.core.expr import Value
from orio_py.measure.base import Baseline, RunLimits
from orio_py.measure.job import EarlyStopping
from orio_py.measure.observers.observing import Observation
from orio_py.record.measurement import Clock, Failure, Measurement, Sample, Stage
from orio_py.record.outcome import VariantFacts
from orio_py.tuning.cluster.errors import WorkerLostError
from orio_py.tuning.cluster.remote_worker import Assignment, OtherKind, Prepared, ask_here, close_here

if TYPE_CHECKING:  # Dask takes time to load
    from orio_py.tuning.cluster.connection import Connection

ATTEMPTS = 3
"""Workers that one request may take down before it counts as the request's fault."""


@dataclass(slots=True)
class RemoteEvaluator:
    """A `VariantEvaluator` on the cluster, for the original and the finals.

    Files are on the home's machine; where another home takes over, variants are built there anew.
    """

    connection: Connection
    assignment: Assignment
    compiler: Compiler
    folder: Path
    limits: RunLimits
    _home: str | None = None
    _prepared: Prepared | None = None
    _built: dict[Path, tuple[Program, Mapping[str, Value]]] = field(
        default_factory=dict[Path, tuple[Program, Mapping[str, Value]]]
    )
    _homes: dict[Path, str] = field(default_factory=dict[Path, str])
    _moved: dict[Path, Artifact] = field(default_factory=dict[Path, Artifact])

    @property
    def clock(self) -> Clock:
        """The clock that ranks variants on the workers."""
        return self._known.clock

    @property
    def inner(self) -> int:
        """How many calls of the kernel make one sample at the home."""
        return self._prepared.inner if self._prepared is not None else 1

    @property
    def untimed(self) -> str:
        """Why variants are not timed at the home; '' where they are, and before `prepare`."""
        return self._prepared.untimed if self._prepared is not None else ""

    def prepare(self, values: Mapping[str, Value], arguments: Sequence[str] = ()) -> Baseline:
        """Build and run the original at a home.  Raises as the evaluator there, and EnvironmentProblem ORIO-B051."""
        self._prepared = self._ask("prepared")
        found: Baseline = self._known.baseline
        self._note(found.artifact, found.program, values)
        return found

    def program(self, codes: Sequence[str], devices: Sequence[DeviceProgram] = ()) -> Program:
        """As the evaluator of the home."""
        return self._ask("program", tuple(codes), tuple(devices))

    def build(
        self, program: Program, values: Mapping[str, Value], name: str | None = None
    ) -> Artifact | BuildFailure:
        """Build a variant at the home."""
        built = self._ask("build", program, dict(values), name)
        if isinstance(built, Artifact):
            self._note(built, program, values)
        return built

    def measure(
        self,
        artifact: Artifact,
        arguments: Sequence[str] = (),
        *,
        coordinate: str = "",
        race: EarlyStopping | None = None,
        check: bool = True,
    ) -> Measurement:
        """Validate and time a variant at the home."""
        options = {"coordinate": coordinate, "race": race, "check": check}
        return self._on(artifact, "measure", tuple(arguments), **options)

    def confirm(self, artifact: Artifact, arguments: Sequence[str] = (), *, check: bool) -> Measurement:
        """Time a variant for the finals at the home."""
        return self._on(artifact, "confirm", tuple(arguments), check=check)

    def observe(
        self, artifact: Artifact, values: Mapping[str, Value], arguments: Sequence[str] = ()
    ) -> Observation:
        """Count a variant at the home."""
        try:
            return self._ask("observe", self._here(artifact), dict(values))
        except WorkerLostError as problem:
            return Observation(problems=(f"the worker was lost: {problem}",))

    def facts(self, artifact: Artifact) -> VariantFacts:
        """What is known of a variant before it is measured."""
        return self._ask("facts", self._here(artifact))

    def run_facts(self, artifact: Artifact) -> VariantFacts:
        """What its last measurement at the home told beside the samples."""
        return self._ask("run_facts", self._here(artifact))

    def calibrate(self) -> tuple[Sample, ...]:
        """Some runs of a loop of fixed length at the home."""
        return self._ask("calibrate")

    def close(self) -> None:
        """End the session on all workers."""
        self.connection.tell_all(close_here, self.assignment.number)

    @property
    def _known(self) -> Prepared:
        assert self._prepared is not None, "prepare comes first"
        return self._prepared

    def _on(self, artifact: Artifact, method: str, *arguments: Any, **options: Any) -> Measurement:
        """A measurement; a variant that takes worker after worker down has crashed."""
        try:
            return self._ask(method, artifact, *arguments, **options)
        except WorkerLostError:
            return Failure(Stage.CRASH, f"{ATTEMPTS} workers ended while they ran it")

    def _ask(self, method: str, *arguments: Any, **options: Any) -> Any:
        """What the home's evaluator answers; artifacts among the arguments are made there first."""
        for _ in range(ATTEMPTS):
            try:
                home = self._at_home()
                given = tuple(self._here(one) if isinstance(one, Artifact) else one for one in arguments)
                answer = self.connection.call(home, ask_here, self.assignment, method, given, options)
            except WorkerLostError:
                self._home = None
                continue
            if not isinstance(answer, OtherKind):
                return answer
            self.connection.leave_out(self._at_home())
            self._home = None
        raise WorkerLostError(f"{ATTEMPTS} workers were asked for `{method}`")

    def _at_home(self) -> str:
        if self._home is None or self._home not in self.connection.workers:
            self._home = self.connection.wait_for_workers()[0]
        return self._home

    def _note(self, artifact: Artifact, program: Program, values: Mapping[str, Value]) -> None:
        self._built[artifact.path] = program, dict(values)
        self._homes[artifact.path] = self._at_home()

    def _here(self, artifact: Artifact) -> Artifact:
        """The artifact at today's home, built anew where that is another one."""
        now = self._moved.get(artifact.path, artifact)
        home = self._at_home()
        if self._homes.get(now.path) in (None, home):
            return now
        program, values = self._built[artifact.path]
        built = self.connection.call(home, ask_here, self.assignment, "build", (program, values), {})
        if not isinstance(built, Artifact):
            raise WorkerLostError(f"{home} cannot build what another worker could")
        self._homes[built.path] = home
        self._moved[artifact.path] = built
        return built
