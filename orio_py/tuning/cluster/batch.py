"""Batches on a cluster: every configuration is transformed, built and measured by some worker."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orio_py.core.digest import digest
from orio_py.record.measurement import Failure, Stage
from orio_py.search_space.configuration import Configuration
from orio_py.tuning.cluster.errors import WorkerLostError
from orio_py.tuning.cluster.remote_worker import Assignment, OtherKind, evaluate_here
from orio_py.tuning.variants.pipeline import (
    EvaluatedVariant,
    MeasuredVariant,
    QueueCosts,
    Recall,
    RefusedVariant,
)

if TYPE_CHECKING:  # Dask takes time to load
    from orio_py.tuning.cluster.connection import Connection, Future

AHEAD = 2
"""Requests under way for each worker: one at work, one that it finds when it is done."""


@dataclass(slots=True)
class ClusterQueue:
    """A `VariantQueue` on the workers of a cluster, which build and measure at the same time."""

    connection: Connection
    assignment: Assignment
    best: float
    """The least objective so far, by which hopeless variants are given up."""
    recall: Recall
    is_over: Callable[[], bool]
    """Whether the time is up, asked while results are waited for."""

    @property
    def costs(self) -> QueueCosts:
        """Nothing: what workers use is not this machine's time."""
        return QueueCosts()

    def evaluate(self, batch: Sequence[Configuration], room: int) -> Generator[EvaluatedVariant]:
        """As in `VariantQueue`, in the order in which results arrive.

        A result comes once, whatever becomes of workers meanwhile.  Raises EnvironmentProblem ORIO-B051 when no
        worker is left.
        """
        waiting: dict[Future, Configuration] = {}
        proposed = done = 0
        try:
            while True:
                while proposed < len(batch) and done + len(waiting) < room and self._has_room(waiting):
                    configuration = batch[proposed]
                    proposed += 1
                    if (known := self.recall(configuration)) is not None:
                        done += 1
                        yield self._noted(known)
                    else:
                        waiting[self._submit(configuration)] = configuration
                if not waiting or self.is_over():
                    return
                for future in self.connection.first_done(waiting):
                    configuration = waiting.pop(future)
                    found = self._found(future, configuration)
                    if found is None:
                        waiting[self._submit(configuration)] = configuration
                    else:
                        done += isinstance(found, MeasuredVariant)
                        yield self._noted(found)
        finally:
            self.connection.cancel(list(waiting))

    def close(self) -> None:
        """Nothing to end: the session's evaluator ends what workers run."""

    def _has_room(self, waiting: dict[Future, Configuration]) -> bool:
        return len(waiting) < AHEAD * len(self.connection.wait_for_workers())

    def _submit(self, configuration: Configuration) -> Future:
        return self.connection.submit(evaluate_here, self.assignment, configuration, self.best)

    def _found(self, future: Future, configuration: Configuration) -> EvaluatedVariant | None:
        """The variant; None where a worker of another kind was asked, which is asked no more."""
        try:
            worker, found = self.connection.result(future)
        except WorkerLostError:
            key = digest(["lost", configuration.digest])
            failure = Failure(Stage.CRASH, "the workers that ran it ended, one after the other")
            return MeasuredVariant(configuration, key, failure)
        if isinstance(found, OtherKind):
            self.connection.leave_out(worker)
            return None
        return found

    def _noted(self, variant: EvaluatedVariant) -> EvaluatedVariant:
        if not isinstance(variant, RefusedVariant) and variant.objective is not None:
            self.best = min(self.best, variant.objective)
        return variant
