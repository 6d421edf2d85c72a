"""The connection to a Dask cluster: the only user of `distributed`.

Dask decides which worker does what, starts again what a dead worker was at, and hands over each result once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dask
import distributed
from distributed import Future
from distributed.client import FutureCancelledError
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, EnvironmentProblem
from orio_py.core.units import Seconds
from orio_py.tuning.cluster.errors import WorkerLostError

CONNECT_TIMEOUT = Seconds(30.0)

NO_WORKERS = Seconds(120.0)
"""How long a cluster may be without a worker before a session gives up."""

POLL = 1.0
"""Seconds between two looks at who is still there."""

RETRIES = 2
"""How often Dask starts a request anew that ended with an exception of the connection, not of the work."""


@dataclass(slots=True)
class Connection:
    """A cluster that is connected; `close` ends one that was started for this command."""

    address: str
    _client: distributed.Client
    _own: distributed.LocalCluster | None = None
    _others: set[str] = field(default_factory=set[str])

    @classmethod
    def open(cls, address: str) -> Connection:
        """Connect to `dask://host:port`, or start `local` or `local:N` workers on this machine.

        Raises DiagnosticError ORIO-U036 for another address, EnvironmentProblem ORIO-B050 where nobody answers.
        """
        kind, _, rest = address.partition(":")
        own = None
        if kind == "local" and (not rest or (rest.isdigit() and int(rest) > 0)):
            own = _workers_here(int(rest) if rest else None)
            target: str | distributed.LocalCluster = own
        elif kind == "dask" and rest.startswith("//") and rest.rpartition(":")[2].isdigit():
            target = f"tcp:{rest}"
        else:
            message = f"`--cluster {address[:60]}` is no address of a cluster"
            help_text = "write `dask://host:port`, or `local` or `local:N` for workers on this machine"
            raise DiagnosticError(Diagnostic("ORIO-U036", message, help=help_text))
        try:
            client = distributed.Client(target, timeout=f"{CONNECT_TIMEOUT:g}s")
        except (OSError, TimeoutError) as problem:
            message = f"no Dask scheduler answers at {address}: {problem}"
            help_text = "start one with `dask scheduler` and workers with `dask worker ADDRESS --nthreads 1`"
            raise EnvironmentProblem(Diagnostic("ORIO-B050", message, help=help_text)) from None
        return cls(address, client, own)

    @property
    def workers(self) -> list[str]:
        """The addresses of the workers that take part, in order of their names."""
        return sorted(set(self._client.nthreads()) - self._others)

    def leave_out(self, worker: str) -> None:
        """Send nothing more to a worker."""
        self._others.add(worker)

    def wait_for_workers(self) -> list[str]:
        """The workers, at least one.  Raises EnvironmentProblem ORIO-B051 when none comes in time."""
        deadline = time.monotonic() + NO_WORKERS
        while not (found := self.workers):
            if time.monotonic() > deadline:
                message = f"the cluster {self.address} has had no usable worker for {NO_WORKERS:g} s"
                raise EnvironmentProblem(
                    Diagnostic(
                        "ORIO-B051", message, help="what was measured is kept; tune again with workers"
                    )
                )
            time.sleep(POLL)
        return found

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future:
        """A future of a call on any worker that takes part; a worker that dies is replaced by another one."""
        allowed = self.workers if self._others else None
        return self._client.submit(
            _with_scratch, function, arguments, pure=False, retries=RETRIES, workers=allowed
        )

    def first_done(self, futures: Collection[Future]) -> list[Future]:
        """Those that are done now, after at most `POLL` seconds."""
        with suppress(TimeoutError):
            distributed.wait(list(futures), timeout=POLL, return_when="FIRST_COMPLETED")
        return [future for future in futures if future.done()]

    def call(self, worker: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a call on one worker.  Raises WorkerLostError, and what the call raises."""
        future = self._client.submit(
            _with_scratch, function, arguments, pure=False, workers=[worker], allow_other_workers=False
        )
        while not self.first_done([future]):
            if worker not in self._client.nthreads():
                future.cancel()
                raise WorkerLostError(worker)
        return self.result(future)[1]

    def tell_all(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function once on every worker, whatever it gives; none that is gone is waited for."""
        with suppress(OSError, TimeoutError, CommClosedError):
            self._client.run(function, *arguments, on_error="ignore", nanny=False)

    @staticmethod
    def result(future: Future) -> tuple[str, Any]:
        """The worker's address and what the call gave.

        Raises WorkerLostError where the workers that ran it died, and what the call raised.
        """
        try:
            worker, found = future.result()
        except (KilledWorker, FutureCancelledError) as problem:
            raise WorkerLostError(str(problem)) from None
        if isinstance(found, DiagnosticError):
            raise found
        return worker, found

    @staticmethod
    def cancel(futures: Sequence[Future]) -> None:
        """Give up what has not begun."""
        for future in futures:
            future.cancel()

    def close(self) -> None:
        """Leave the cluster; end it if it is this command's own."""
        self._client.close()
        if self._own is not None:
            self._own.close()


def _workers_here(number: int | None) -> distributed.LocalCluster:
    """Workers on this machine, whose environment is left as it is."""
    with dask.config.set({"distributed.nanny.pre-spawn-environ": {}}):
        return distributed.LocalCluster(
            n_workers=number, threads_per_worker=1, processes=True, dashboard_address=":0"
        )


def _with_scratch(function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[str, Any]:
    """Runs on a worker: its address, and what the function gives with Dask's folder as its last argument.

    Diagnostics are a result like others: Dask would log them as failures.
    """
    worker = distributed.get_worker()
    try:
        return worker.address, function(*arguments, Path(worker.local_directory))
    except DiagnosticError as problem:
        return worker.address, problem
