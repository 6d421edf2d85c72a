"""A worker process: builds variants, runs and times them, in answer to lines of JSON.

It is started by `client.DeviceWorker` with the numbers of its pipe's ends in the environment variable
`ORIO_DEVICE`.  A request is one line with a `Task`; every line that comes back has a `status`: `ready`, `built`, `done` or `failed`.  One with `last` is the last: the
process ends, for nothing more can be run in it.  A kernel may take this process down or never end; whoever asked
sees the pipe close, or kills it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Protocol, TypeVar

from orio_py.build.process import service_ends
from orio_py.core.diagnostics import DiagnosticError
from orio_py.ctree.evaluate import NoValueError
from orio_py.measure.offload.host_state import HostState
from orio_py.measure.offload.problem import Spent, VariantProblem
from orio_py.measure.offload.variant import HostData

ENDS = "ORIO_DEVICE"
"""The environment variable with the pipe's ends."""

CONDITION = "condition"
"""Begins lines of a report with `NAME=VALUE` of what was known of the device behind the last repetition."""

Say = Callable[[Mapping[str, Any]], None]
Line = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Task:
    """How to run a variant, as in `measure.job.Job`; `race` is (best, hopeless, may win) or None.

    `with_transfers` ranks by kernels and transfers together.  With `most` 0 nothing is timed.
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
        return asdict(self)


class BuiltVariant(Protocol):
    """A variant that was built, in how many seconds, and what the compiler said."""

    @property
    def seconds(self) -> float:
        """Seconds on the wall."""
        ...

    @property
    def log(self) -> str:
        """The compiler's messages."""
        ...


Built = TypeVar("Built", bound=BuiltVariant)


class VariantRun(Protocol):
    """One variant with its data on a device."""

    def first(self) -> HostState:
        """Follow the timed code once; the state is that behind it.  Raises NoValueError, VariantProblem."""
        ...

    def again(self) -> Spent:
        """Repeat the launches on restored inputs.  Raises VariantProblem."""
        ...

    def differences(self, state: HostState) -> Iterator[tuple[str, str]]:
        """Variables that differ from the original's outputs."""
        ...

    def conditions(self) -> Mapping[str, str]:
        """What is known of the device's clocks and temperature now, by name; empty where nothing tells."""
        ...

    def release(self) -> None:
        """Give the device's memory back."""
        ...


class VariantRuntime(Protocol[Built]):
    """A device of a worker process."""

    def build(self, path: Path) -> Built:
        """The variant in a file.  Raises VariantProblem."""
        ...

    def run(self, built: Built, data: HostData) -> VariantRun:
        """A run of a variant."""
        ...


def serve_device(runtime: VariantRuntime[Built]) -> None:
    """Answer requests until the pipe is closed, or nothing more can be run."""
    reading, writing = service_ends(ENDS)

    def say(answer: Mapping[str, Any]) -> None:
        data = (json.dumps(answer) + "\n").encode()
        while data:
            data = data[os.write(writing, data) :]

    _serve(runtime, _requests(reading), say)


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


def _serve(runtime: VariantRuntime[Built], requests: SimpleQueue[str], say: Say) -> None:
    say({"status": "ready"})
    is_last = False
    while not is_last:
        request = json.loads(requests.get())
        race = request.pop("race")
        task = Task(**request, race=tuple(race) if race is not None else None)
        try:
            built = runtime.build(Path(task.variant))
            say({"status": "built", "seconds": built.seconds, "log": built.log})
            lines, is_last = _run(runtime, built, task)
            say({"status": "done", "lines": lines, "last": is_last})
        except VariantProblem as problem:
            is_last = problem.poisons
            say(
                {
                    "status": "failed",
                    "keyword": problem.keyword,
                    "text": _reason(problem.text),
                    "log": problem.text,
                    "last": is_last,
                }
            )
        except Exception as error:  # the boundary of the process: a bug here is the variant's failure there
            say(
                {
                    "status": "failed",
                    "keyword": "broken",
                    "text": f"{type(error).__name__}: {error}",
                    "log": "",
                    "last": False,
                }
            )


def _run(runtime: VariantRuntime[Built], built: Built, task: Task) -> tuple[list[Line], bool]:
    """The lines of the report, as a test program writes them, and whether nothing more can be run."""
    run: VariantRun | None = None
    is_last = False
    try:
        run = runtime.run(built, HostData.read(Path(task.data)))
        state = run.first()
        if task.check:
            for name, place in run.differences(state):
                return [("wrong", f"{name} {place}")], False
        timed = _timed(run, task)
        conditions = (
            [(CONDITION, f"{name}={value}") for name, value in run.conditions().items()] if timed else []
        )
        return [("valid", ""), *timed, *conditions, ("end", "")], False
    except VariantProblem as problem:
        is_last = problem.poisons
        return [(problem.keyword, problem.text)], is_last
    except NoValueError as problem:
        return [("reference", f"the code around the kernels cannot be followed: {problem}")], False
    except DiagnosticError as problem:
        return [("reference", problem.diagnostics[0].message)], False
    finally:
        if run is not None and not is_last:
            run.release()


def _timed(run: VariantRun, task: Task) -> list[Line]:
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
