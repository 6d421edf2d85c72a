"""Invented trials for tests of the results database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from orio_py.core.digest import digest
from orio_py.core.units import Seconds
from orio_py.record.measurement import Clock, Failure, Measurement, Sample, Stage, Success
from orio_py.record.trial import CounterSource, CounterValue, Trial
from orio_py.search_space.configuration import Configuration
from orio_py.store.database import Series

START = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def series(task: str = "mm") -> Series:
    return Series(digest(task), digest("gcc"), digest("laptop"))


def success(middle: float = 1e-3, repeats: int = 5) -> Success:
    samples = [Sample(Seconds(middle + k * 1e-7), Seconds(middle - k * 1e-8)) for k in range(repeats)]
    return Success(tuple(samples), Clock.THREAD_CPU)


def failure(stage: Stage = Stage.CRASH) -> Failure:
    return Failure(stage, 'ended by SIGSEGV, "quoted", <tagged>,\nsecond line')


def trial(number: int = 0, measurement: Measurement | None = None, *, task: str = "mm", **changes) -> Trial:
    """A trial whose configuration has values of every kind."""
    values = {"U": number, "F": "-O3 -g", "T": (8, 2.5), "L": [1, "x"], "B": number % 2 == 0, "R": 0.1}
    content = {
        "name": task,
        "file": f"src/{task}.c",
        "task": series(task).task,
        "configuration": Configuration(values),
        "toolchain": series(task).toolchain,
        "environment": series(task).environment,
        "inputs": {"N": 500, "alpha": 1.5},
        "measurement": measurement if measurement is not None else success(1e-3 * (1 + number)),
        "code": digest(["code", number]),
        "build": Seconds(0.125),
        "run": Seconds(0.25),
        "time": START + timedelta(seconds=number),
        "threads": 2,
        "counters": (
            CounterValue("energy", 0.5, "J", CounterSource.HARDWARE),
            CounterValue("instructions", 1e6 + number, "", CounterSource.SIMULATED),
        ),
        "objectives": {},
        "metadata": {"CPU Type": 'A & B <"fast">', "orio:line": "12", "orio:param:U": str(number)},
    }
    return Trial(**{**content, **changes})
