"""The worker process: builds variants, runs and times them, in answer to lines of JSON.

It is started by `client.DeviceWorker` with the numbers of its pipe's ends in the environment variable
`ORIO_DEVICE`.  A request is one line, `{"do": "build", "variant": PATH}` or `{"do": "run", …}` with a `Task`;
every line that comes back has a `status`: `ready`, `built`, `done` or `failed`.  A kernel may take this
process down or never end; whoever asked sees the pipe close, or kills it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from orio_py.build.process import service_ends
from orio_py.core.diagnostics import DiagnosticError
from orio_py.ctree.evaluate import NoValueError
from orio_py.measure.opencl.variant import HostData

if TYPE_CHECKING:  # the driver is loaded when it is needed, and may be missing
    from orio_py.measure.opencl.runtime import Built, Run, Runtime, Spent

ENDS = "ORIO_DEVICE"
"""The environment variable with the pipe's ends."""

MARK = "orio-devices "
"""Begins the line with the devices; drivers may print lines of their own."""

MISSING = 3
"""Exit status without PyOpenCL."""

Say = Callable[[Mapping[str, Any]], None]
Line = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Task:
    """How to run a variant, as in `measure.job.Job`; `race` is (best, hopeless, may win) or None.

    `with_transfers` ranks by kernels and transfers together.
    """

    variant: str
    data: str
    check: bool
    least: int
    most: int
    enough: float
    with_transfers: bool
    race: tuple[float, float, float] | None = None

    @property
    def request(self) -> dict[str, Any]:
        """The request that the worker reads."""
        return {"do": "run", **asdict(self)}


def main(arguments: list[str]) -> int:
    """List the devices (`devices`), or serve until the pipe is closed.  Returns the exit status."""
    try:
        from orio_py.measure.opencl import (  # PyOpenCL takes time to load, and may be missing
            platforms,
            runtime,
        )
    except ImportError as error:
        sys.stderr.write(f"{error}\n")
        return MISSING
    if arguments == ["devices"]:
        try:
            found = [platform.as_json() for platform in platforms.platforms()]
            answer: dict[str, Any] = {"platforms": found}
        except runtime.VariantProblem as problem:
            answer = {"platforms": [], "problem": problem.text}
        sys.stdout.write(f"\n{MARK}{json.dumps(answer)}\n")
        return 0
    reading, writing = service_ends(ENDS)

    def say(answer: Mapping[str, Any]) -> None:
        data = (json.dumps(answer) + "\n").encode()
        while data:
            data = data[os.write(writing, data) :]

    _serve(runtime.Runtime(), _requests(reading), say)
    return 0


def _requests(reading: int) -> SimpleQueue[str]:
    """The lines of the pipe.  At its end the process ends, whatever a kernel or a compiler is at."""
    lines: SimpleQueue[str] = SimpleQueue()

    def read() -> None:
        with os.fdopen(reading) as pipe:
            for line in pipe:
                lines.put(line)
        os._exit(0)

    Thread(target=read, daemon=True).start()
    return lines


def _serve(runtime: Runtime, requests: SimpleQueue[str], say: Say) -> None:
    say({"status": "ready"})
    while True:
        request = json.loads(requests.get())
        kind = request.pop("do")
        try:
            built = _built(runtime, Path(request["variant"]), say)
            if kind == "run" and built is not None:
                race = request.pop("race")
                task = Task(**request, race=tuple(race) if race is not None else None)
                say({"status": "done", "lines": _run(built, task)})
        except Exception as error:  # the boundary of the process: a bug here is the variant's failure there
            say(
                {
                    "status": "failed",
                    "keyword": "broken",
                    "text": f"{type(error).__name__}: {error}",
                    "log": "",
                }
            )


def _built(runtime: Runtime, path: Path, say: Say) -> Built | None:
    from orio_py.measure.opencl.runtime import VariantProblem  # takes time to load

    try:
        built = runtime.build(path)
    except VariantProblem as problem:
        say(
            {
                "status": "failed",
                "keyword": problem.keyword,
                "text": _reason(problem.text),
                "log": problem.text,
            }
        )
        return None
    say({"status": "built", "seconds": built.seconds, "log": built.log})
    return built


def _run(built: Built, task: Task) -> list[Line]:
    """The lines of the report, as a test program writes them."""
    from orio_py.measure.opencl.runtime import Run, VariantProblem  # takes time to load

    data = HostData.read(Path(task.data))
    run: Run | None = None
    try:
        run = Run(built, data)
        state = run.first()
        if task.check:
            for name, place in run.differences(state):
                return [("wrong", f"{name} {place}")]
        return [("valid", ""), *_timed(run, task), ("end", "")]
    except VariantProblem as problem:
        return [(problem.keyword, problem.text)]
    except NoValueError as problem:
        return [("reference", f"the code around the kernels cannot be followed: {problem}")]
    except DiagnosticError as problem:
        return [("reference", problem.diagnostics[0].message)]
    finally:
        if run is not None:
            run.release()


def _timed(run: Run, task: Task) -> list[Line]:
    """A look, which warms up, then the samples: the same race as in the test program."""
    best, hopeless, may_win = task.race if task.race is not None else (0.0, 0.0, 0.0)
    if task.most == 0:
        return []
    look = run.again()
    samples: list[Spent] = []
    total, stopped = 0.0, best > 0.0 and task.check and _ranked(look, task) > hopeless * best
    if stopped:
        samples.append(look)
    while not stopped and (len(samples) < task.least or (len(samples) < task.most and total < task.enough)):
        samples.append(run.again())
        total += samples[-1].kernel + samples[-1].transfer
        low = min(_ranked(sample, task) for sample in samples)
        stopped = best > 0.0 and len(samples) >= 2 and low > may_win * best
    lines = [("sample", f"{_ranked(s, task):.9e} {s.cpu:.9e}") for s in samples]
    lines += [("split", f"{s.kernel:.9e} {s.transfer:.9e} {s.host:.9e}") for s in samples]
    return [*lines, ("stopped", "")] if stopped else lines


def _ranked(spent: Spent, task: Task) -> float:
    return max(1e-12, spent.kernel + (spent.transfer if task.with_transfers else 0.0))


def _reason(log: str) -> str:
    """The first line of a build log that tells of an error."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), lines[0] if lines else "no reason given")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
