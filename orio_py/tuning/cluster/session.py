"""A cluster as a tuning session uses it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from orio_py.build.compiler import Compiler
from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem
from orio_py.measure.base import RunLimits
from orio_py.search_space.configuration import Configuration
from orio_py.tuning.cluster.batch import ClusterQueue
from orio_py.tuning.cluster.errors import WorkerLostError
from orio_py.tuning.cluster.remote import RemoteEvaluator
from orio_py.tuning.cluster.remote_worker import Assignment, WorkerKind, kind_here
from orio_py.tuning.plan import Plan
from orio_py.tuning.variants.evaluators import Evaluation
from orio_py.tuning.variants.pipeline import Recall

if TYPE_CHECKING:  # Dask takes time to load
    from orio_py.tuning.cluster.connection import Connection


@dataclass(slots=True)
class Cluster:
    """The workers of a command; its tasks are tuned one after the other."""

    connection: Connection
    _kinds: dict[tuple[str, Path, str | None], WorkerKind] = field(
        default_factory=dict[tuple[str, Path, "str | None"], WorkerKind]
    )

    @classmethod
    def open(cls, address: str) -> Cluster:
        """Connect, or start workers here.  Raises as `Connection.open`, and EnvironmentProblem ORIO-B052 without Dask."""
        try:
            from orio_py.tuning.cluster.connection import Connection  # takes time to load, and may be missing
        except ImportError as problem:
            message = f"`--cluster` needs the Python package `distributed`: {problem}"
            help_text = "`pip install 'orio-py[cluster]'`, here and on the workers"
            raise EnvironmentProblem(Diagnostic("ORIO-B052", message, help=help_text)) from None
        return cls(Connection.open(address))

    def kind(self, evaluation: Evaluation, folder: Path, cc: str | None) -> WorkerKind:
        """The kind of the first worker that answers: only workers of this kind take part.

        Raises EnvironmentProblem ORIO-B051 without workers, and what the compiler's search on the worker raises.
        """
        key = evaluation.task.build.command, folder, cc
        while key not in self._kinds:
            worker = self.connection.wait_for_workers()[0]
            try:
                self._kinds[key] = self.connection.call(worker, kind_here, evaluation, folder, cc)
            except WorkerLostError:
                continue
        return self._kinds[key]

    def session(self, plan: Plan, compiler: Compiler, cc: str | None) -> ClusterSession:
        """The session of a plan on the workers."""
        folder = compiler.directory
        first = plan.space.first() or Configuration()
        kind = self.kind(plan.evaluation, folder, cc)
        return ClusterSession(
            self.connection, Assignment(uuid4().hex, plan.evaluation, folder, cc, first, kind), compiler
        )

    def close(self) -> None:
        """Leave the cluster, or end the workers that were started here."""
        self.connection.close()


@dataclass(frozen=True, slots=True)
class ClusterSession:
    """One plan on a cluster."""

    connection: Connection
    assignment: Assignment
    compiler: Compiler

    def evaluator(self, folder: Path) -> RemoteEvaluator:
        """The evaluator for original and finals."""
        evaluation = self.assignment.evaluation
        limits = RunLimits(evaluation.timeout, evaluation.repeats)
        return RemoteEvaluator(self.connection, self.assignment, self.compiler, folder, limits)

    def queue(self, best: float, recall: Recall, is_over: Callable[[], bool]) -> ClusterQueue:
        """What evaluates the search's batches; `best` is the original's objective."""
        return ClusterQueue(self.connection, self.assignment, best, recall, is_over)
