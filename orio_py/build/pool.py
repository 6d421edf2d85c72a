"""Worker processes for transforming and building: work that holds Python's lock, or may take it down.

The processes are forked, so the task is theirs without being sent, and they start in milliseconds.  They
touch neither the terminal nor the locks of other threads, and end without running exit handlers.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from types import FrameType
from typing import Generic, TypeVar

from orio_py.core.units import Seconds

Order = TypeVar("Order")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Crash:
    """A bug in the work: the traceback, to be raised again in the parent."""

    text: str


@dataclass(slots=True)
class _Worker(Generic[Order]):
    process: ForkProcess
    connection: Connection
    order: Order | None = None
    attempt: int = 0


class WorkerPool(Generic[Order, Result]):
    """Gives orders to worker processes; a worker that dies is replaced and its order tried once more.

    `work(order, attempt)` runs in the workers, `lost(order)` answers for an order that killed two of
    them, `stop` runs in a worker that has to end at once.
    """

    def __init__(
        self,
        work: Callable[[Order, int], Result],
        lost: Callable[[Order], Result],
        *,
        workers: int,
        stop: Callable[[], None],
    ) -> None:
        self._work, self._lost, self._stop = work, lost, stop
        self._waiting: deque[tuple[Order, int]] = deque()
        self._workers: list[_Worker[Order]] = []
        gc.freeze()  # children then leave the pages of the parent's objects alone
        for _ in range(workers):
            self._workers.append(self._start())
        gc.unfreeze()

    def submit(self, order: Order) -> None:
        """Hand over an order; it is begun at once when a worker is free."""
        self._waiting.append((order, 1))
        self._distribute()

    def withdraw(self) -> int:
        """Forget the orders that no worker has begun; returns how many."""
        count = len(self._waiting)
        self._waiting.clear()
        return count

    def collect(self, patience: Seconds | None = None) -> list[Result]:
        """At least one result, unless nothing is under way or for longer than `patience`.

        Raises RuntimeError for a bug in the work.
        """
        results: list[Result] = []
        while not results and any(worker.order is not None for worker in self._workers):
            busy = {worker.connection: worker for worker in self._workers if worker.order is not None}
            ready = wait(list(busy), patience)
            if not ready:
                break
            for connection in ready:
                assert isinstance(connection, Connection)
                results.extend(self._receive(busy[connection]))
            self._distribute()
        return results

    def close(self) -> None:
        """End all workers now."""
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join(2.0)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.connection.close()
        self._workers.clear()

    def _receive(self, worker: _Worker[Order]) -> list[Result]:
        order = worker.order
        assert order is not None
        try:
            answer = worker.connection.recv()
        except (EOFError, OSError):
            return self._bury(worker, order)
        worker.order = None
        if isinstance(answer, _Crash):
            raise RuntimeError(f"in a worker process:\n{answer.text}")
        return [answer]

    def _bury(self, worker: _Worker[Order], order: Order) -> list[Result]:
        """Replace a dead worker; its order is tried again, or given up."""
        worker.process.join(2.0)
        worker.connection.close()
        attempt = worker.attempt
        self._workers[self._workers.index(worker)] = self._start()
        if attempt >= 2:
            return [self._lost(order)]
        self._waiting.appendleft((order, attempt + 1))
        return []

    def _distribute(self) -> None:
        for worker in self._workers:
            if not self._waiting:
                return
            if worker.order is None:
                worker.order, worker.attempt = self._waiting.popleft()
                try:
                    worker.connection.send((worker.order, worker.attempt))
                except OSError:
                    continue  # it has died; `collect` sees that

    def _start(self) -> _Worker[Order]:
        ours, theirs = multiprocessing.Pipe()
        others = [worker.connection for worker in self._workers if not worker.connection.closed]
        process = multiprocessing.get_context("fork").Process(
            target=_serve, args=(self._work, self._stop, theirs, [ours, *others]), daemon=True
        )
        with warnings.catch_warnings():
            # Python warns of other threads' locks; the workers use none (see above).
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        theirs.close()
        return _Worker(process, ours)


def _serve(
    work: Callable[[Order, int], Result],
    stop: Callable[[], None],
    connection: Connection,
    foreign: Sequence[Connection],
) -> None:
    """The life of a worker: orders in, results out, until the parent is gone."""

    def end(signum: int, frame: FrameType | None) -> None:
        stop()
        os._exit(0)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    signal.signal(signal.SIGTERM, end)
    for other in foreign:  # or the siblings would not notice the parent's end
        other.close()
    while True:
        try:
            order, attempt = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        answer: Result | _Crash
        try:
            answer = work(order, attempt)
        except Exception:  # the boundary of the process: the parent raises it
            answer = _Crash(traceback.format_exc())
        try:
            connection.send(answer)
        except OSError:
            os._exit(0)
