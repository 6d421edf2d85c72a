"""The test program as a server: inputs are set up once, and each job runs in a child of that process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from orio_py.build.process import Completed, Service, kill_group
from orio_py.core.units import Seconds
from orio_py.measure.job import Job
from orio_py.record.measurement import Sample

START_TIMEOUT = Seconds(300.0)
"""Setting up large inputs takes a while."""

ANSWER_TIMEOUT = Seconds(30.0)
"""For answers that involve no kernel: a fork, the end of a killed child, a calibration."""


@dataclass(slots=True)
class VariantServer:
    """Runs jobs in children of one test program, which is replaced when it dies or hangs.

    `setup` is a job that names the original's library, whose arrays tell sizes, and the reference.
    Where the program cannot serve (its own inputs start threads, say) `run` answers None, and the caller
    has to run the test program anew for each job.
    """

    program: Path
    directory: Path
    setup: Job
    results: Path
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    is_usable: bool = True
    replaced: int = 0
    _service: Service | None = None
    _child: int | None = None

    def run(self, job: Job, timeout: Seconds) -> Completed | None:
        """The child's end; None when no server can be had, so that the job has to run without one.

        A job that the server does not survive, twice, has failed: it might end whoever starts it.
        """
        start = perf_counter()
        for _ in range(2):
            if not self._is_started():
                return None
            done = self._run_once(job, timeout)
            if done is not None:
                return done
            self._replace()
        told = "the process that started it ended with it, twice"
        return Completed(None, "", told, False, Seconds(perf_counter() - start))

    def calibrate(self) -> Sample | None:
        """One run of the loop of fixed length in the server itself; None without a server."""
        if not self._is_started():
            return None
        assert self._service is not None
        answer = self._service.tell("calibrate\n") and self._answer(ANSWER_TIMEOUT)
        if not answer or not answer.startswith("calibration "):
            self._replace()
            return None
        _, wall, cpu = answer.split()
        return Sample(Seconds(float(wall)), Seconds(float(cpu)))

    def close(self) -> None:
        """End the server and whatever it runs."""
        if self._child is not None:
            kill_group(self._child)
            self._child = None
        if self._service is not None:
            self._service.close()
            self._service = None

    @property
    def pid(self) -> int | None:
        """The server's process number; None when it does not run."""
        return self._service.pid if self._service is not None else None

    def _is_started(self) -> bool:
        if not self.is_usable or self._service is not None:
            return self.is_usable
        try:
            self._service = Service(
                [str(self.program)],
                directory=self.directory,
                ends="ORIO_SERVE",
                environment=self.environment,
            )
        except OSError:
            self.is_usable = False
            return False
        told = self._service.tell(self.setup.text(self.results))
        if not told or self._answer(START_TIMEOUT) != "ready":
            self.is_usable = False
            self.close()
        return self.is_usable

    def _run_once(self, job: Job, timeout: Seconds) -> Completed | None:
        """None when the server was lost on the way."""
        assert self._service is not None
        start = perf_counter()
        if not self._service.tell("job\n" + job.text(self.results)):
            return None
        started = self._answer(ANSWER_TIMEOUT)
        if started is None or not started.startswith("started "):
            return None
        child = self._child = int(started.split()[1])
        timed_out = False
        try:
            ended = self._service.line(timeout)
        except TimeoutError:
            timed_out = True
            kill_group(child)
            ended = self._answer(ANSWER_TIMEOUT)
        if ended is None or not ended.startswith("ended "):
            return None
        self._child = None
        status = os.waitstatus_to_exitcode(int(ended.split()[1]))
        return Completed(status, "", "", timed_out, Seconds(perf_counter() - start))

    def _answer(self, timeout: Seconds) -> str | None:
        assert self._service is not None
        try:
            return self._service.line(timeout)
        except TimeoutError:
            return None

    def _replace(self) -> None:
        self.close()
        self.replaced += 1
