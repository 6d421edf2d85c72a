"""Batches on a cluster: every configuration is transformed, built and measured by some worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orio_py.core.digest import digest
from orio_py.record.measurement import Failure, Stage
from orio_py.search_space.configuration import Configuration
from orio_py.tuning.cluster.errors import WorkerLostError
from orio_py.tuning.cluster.remote_worker import Assignment, OtherKind, evaluate_here
from orio_py.tuning.variants.batch import Candidate

if TYPE_CHECKING:  # Dask takes time to load
    from orio_py.tuning.cluster.connection import Connection, Future

AHEAD = 2
"""Requests under way for each worker: one at work, one that it finds when it is done."""

Told = Callable[[Candidate], None]


@dataclass(slots=True)
class ClusterBatches:
    """Evaluates batches; `best` is the least objective so far, by which hopeless variants are given up."""

    connection: Connection
    assignment: Assignment
    best: float

    def evaluate(
        self,
        batch: Sequence[Configuration],
        room: int,
        recall: Callable[[Configuration], Candidate | None] | None,
        refuse: Told,
        finish: Told,
        is_over: Callable[[], bool],
    ) -> list[Candidate]:
        """The first candidates of a batch, as many as give `room` that were not refused, in order.

        Each is told of when its result arrives, which happens once, whatever becomes of workers meanwhile.  Raises
        EnvironmentProblem ORIO-B051 when no worker is left.
        """
        candidates: list[Candidate] = []
        waiting: dict[Future, int] = {}
        done = 0
        try:
            while True:
                while len(candidates) < len(batch) and done + len(waiting) < room and self._has_room(waiting):
                    configuration = batch[len(candidates)]
                    if recall is not None and (known := recall(configuration)) is not None:
                        candidates.append(known)
                        self._note(known, finish)
                        done += 1
                        continue
                    waiting[self._submit(configuration)] = len(candidates)
                    candidates.append(Candidate(configuration))
                if not waiting or is_over():
                    return candidates
                for future in self.connection.first_done(waiting):
                    place = waiting.pop(future)
                    found = self._found(future, candidates[place].configuration)
                    if found is None:
                        waiting[self._submit(candidates[place].configuration)] = place
                        continue
                    candidates[place] = found
                    if found.refusal is not None:
                        refuse(found)
                    else:
                        self._note(found, finish)
                        done += 1
        finally:
            self.connection.cancel(list(waiting))

    def _has_room(self, waiting: dict[Future, int]) -> bool:
        return len(waiting) < AHEAD * len(self.connection.wait_for_workers())

    def _submit(self, configuration: Configuration) -> Future:
        return self.connection.submit(evaluate_here, self.assignment, configuration, self.best)

    def _found(self, future: Future, configuration: Configuration) -> Candidate | None:
        """The candidate; None where a worker of another kind was asked, which is asked no more."""
        try:
            worker, found = self.connection.result(future)
        except WorkerLostError:
            key = digest(["lost", configuration.digest])
            failure = Failure(Stage.CRASH, "the workers that ran it ended, one after the other")
            return Candidate(configuration, key, outcome=failure)
        if isinstance(found, OtherKind):
            self.connection.leave_out(worker)
            return None
        return found

    def _note(self, candidate: Candidate, finish: Told) -> None:
        if candidate.objective is not None:
            self.best = min(self.best, candidate.objective)
        finish(candidate)
        candidate.built = (
            None  # what was built lies on a worker's disk, and the finals are held by another one
        )
