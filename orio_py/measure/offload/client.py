"""Starts worker processes, asks them, and replaces those that crash, hang, or can run nothing more."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from orio_py.build.process import Completed, Service
from orio_py.core.units import Seconds
from orio_py.measure.offload.worker import ENDS, Task

START_TIMEOUT = Seconds(120.0)
"""Python, the libraries and the drivers load; on a busy machine this takes some seconds."""

BUILD_TIMEOUT = Seconds(120.0)


@dataclass(frozen=True, slots=True)
class Ended:
    """A worker that gave no answer: it crashed or was killed past its time, while building or running."""

    completed: Completed
    is_build: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What a worker told of a variant: how its build went and, if it was run, the report's lines.

    `problem` is a keyword and a text when the variant could not be built.
    """

    seconds: Seconds = Seconds(0.0)
    log: str = ""
    problem: tuple[str, str] | None = None
    lines: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class DeviceWorker:
    """One worker process; it is started by the first request and again after it was lost.

    `command` runs it in `folder`, with the variables of `environment`.  `what` it runs is told where it does not
    start.
    """

    folder: Path
    command: tuple[str, ...]
    what: str
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    started: int = 0
    _service: Service | None = None

    def run(self, task: Task, timeout: Seconds) -> Answer | Ended:
        """Build and run a variant; `timeout` is for the run.  Raises OSError when no worker can be started."""
        return self._ask(task.request, timeout)

    @property
    def pid(self) -> int | None:
        """The worker's process number; None when it does not run."""
        return self._service.pid if self._service is not None else None

    def close(self) -> None:
        """End the worker."""
        if self._service is not None:
            self._service.close()
            self._service = None

    def _ask(self, request: Mapping[str, Any], running: Seconds) -> Answer | Ended:
        service = self._start()
        service.tell(json.dumps(request) + "\n")
        built = self._answer(service, BUILD_TIMEOUT, is_build=True)
        if isinstance(built, Ended):
            return built
        if built["status"] == "failed":
            return Answer(log=built["log"], problem=(built["keyword"], built["text"]))
        answer = Answer(Seconds(built["seconds"]), built["log"])
        done = self._answer(service, running, is_build=False)
        if isinstance(done, Ended):
            return done
        if done["status"] == "failed":
            return Answer(answer.seconds, done["log"], problem=(done["keyword"], done["text"]))
        return Answer(answer.seconds, answer.log, lines=tuple((k, rest) for k, rest in done["lines"]))

    def _answer(self, service: Service, timeout: Seconds, *, is_build: bool) -> dict[str, Any] | Ended:
        began = perf_counter()
        timed_out = False
        try:
            line = service.line(timeout)
        except TimeoutError:
            line, timed_out = None, True
        if line is not None:
            answer = json.loads(line)
            if answer.get("last", False):
                self.close()
            return answer
        status = None if timed_out else service.status(Seconds(5.0))
        self.close()
        seconds = Seconds(perf_counter() - began)
        return Ended(Completed(status, "", "", timed_out, seconds), is_build)

    def _start(self) -> Service:
        if self._service is not None:
            return self._service
        service = Service(self.command, directory=self.folder, ends=ENDS, environment=dict(self.environment))
        self._service = service
        self.started += 1
        if isinstance(self._answer(service, START_TIMEOUT, is_build=True), Ended):
            raise OSError(f"the process that runs {self.what} does not start")
        return service


def worker_command(module: str) -> tuple[str, ...]:
    """Runs `main` of a module of this very package, wherever the process stands."""
    root = str(Path(__file__).parents[3])
    code = f"import sys; sys.path.insert(0, {root!r}); from {module} import main"
    return (sys.executable, "-P", "-c", f"{code}; sys.exit(main(sys.argv[1:]))")
