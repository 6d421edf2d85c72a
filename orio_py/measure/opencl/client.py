"""Starts worker processes, asks them, and replaces those that crash or hang."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

from orio_py.build.process import Completed, Service, run
from orio_py.core.units import Seconds
from orio_py.measure.opencl.worker import ENDS, MARK, MISSING, Task
from orio_py.record.device import OpenCLPlatform, OpenCLSurvey

START_TIMEOUT = Seconds(120.0)
"""Python, PyOpenCL and the drivers load; on a busy machine this takes some seconds."""

BUILD_TIMEOUT = Seconds(120.0)

INSTALL_PYOPENCL = (
    "`pip install 'orio_py[opencl]'` installs PyOpenCL and PoCL, which makes a device of the processor"
)
INSTALL_DRIVER = (
    "install a driver: `pip install 'pyopencl[pocl]'`, a package of the system (Debian, Ubuntu: "
    "`apt install pocl-opencl-icd`), or that of the device's vendor"
)


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

    `folder` takes the driver's cache of built programs, which all workers of a folder share.
    """

    folder: Path
    started: int = 0
    _service: Service | None = None

    def build(self, variant: Path, timeout: Seconds = BUILD_TIMEOUT) -> Answer | Ended:
        """Build a variant, which fills the cache.  Raises OSError when no worker can be started."""
        return self._ask({"do": "build", "variant": str(variant)}, timeout, Seconds(0.0))

    def run(self, task: Task, timeout: Seconds) -> Answer | Ended:
        """Build and run a variant; `timeout` is for the run.  Raises OSError when no worker can be started."""
        return self._ask(task.request, BUILD_TIMEOUT, timeout)

    @property
    def pid(self) -> int | None:
        """The worker's process number; None when it does not run."""
        return self._service.pid if self._service is not None else None

    def close(self) -> None:
        """End the worker."""
        if self._service is not None:
            self._service.close()
            self._service = None

    def _ask(self, request: Mapping[str, Any], building: Seconds, running: Seconds) -> Answer | Ended:
        service = self._start()
        service.tell(json.dumps(request) + "\n")
        built = self._answer(service, building, is_build=True)
        if isinstance(built, Ended):
            return built
        if built["status"] == "failed":
            return Answer(log=built["log"], problem=(built["keyword"], built["text"]))
        answer = Answer(Seconds(built["seconds"]), built["log"])
        if not running:
            return answer
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
            return json.loads(line)
        status = None if timed_out else service.status(Seconds(5.0))
        self.close()
        seconds = Seconds(perf_counter() - began)
        return Ended(Completed(status, "", "", timed_out, seconds), is_build)

    def _start(self) -> Service:
        if self._service is not None:
            return self._service
        service = Service(
            _command(),
            directory=self.folder,
            ends=ENDS,
            environment={"PYOPENCL_NO_CACHE": "1", "POCL_CACHE_DIR": str(self.folder / "programs")},
        )
        self._service = service
        self.started += 1
        if isinstance(self._answer(service, START_TIMEOUT, is_build=True), Ended):
            raise OSError("the process that runs OpenCL kernels does not start")
        return service


@cache
def survey() -> OpenCLSurvey:
    """The platforms and devices of this machine, asked for once, in a process that drivers may crash."""
    told = run([*_command(), "devices"], timeout=START_TIMEOUT, directory=Path.cwd())
    line = next((t for t in told.stdout.splitlines() if t.startswith(MARK)), None)
    if told.returncode == MISSING:
        return OpenCLSurvey(problem="PyOpenCL is not installed", advice=INSTALL_PYOPENCL)
    if line is None:
        how = "takes too long" if told.timed_out else f"ends with {told.signal_name or told.returncode}"
        last = told.stderr.strip().splitlines()[-1:]
        return OpenCLSurvey(problem=": ".join([f"looking for devices {how}", *last]), advice=INSTALL_DRIVER)
    answer = json.loads(line.removeprefix(MARK))
    platforms = tuple(map(OpenCLPlatform.from_json, answer["platforms"]))
    if not platforms:
        problem = answer.get("problem", "no platform")
        return OpenCLSurvey(problem=f"no driver is registered ({problem})", advice=INSTALL_DRIVER)
    return OpenCLSurvey(platforms, advice=INSTALL_DRIVER)


def _command() -> list[str]:
    """Runs the worker of this very package, wherever the process stands."""
    root = str(Path(__file__).parents[3])
    code = f"import sys; sys.path.insert(0, {root!r}); from orio_py.measure.opencl.worker import main"
    return [sys.executable, "-P", "-c", f"{code}; sys.exit(main(sys.argv[1:]))"]
