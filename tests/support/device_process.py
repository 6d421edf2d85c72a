"""Checks with OpenCL kernels, in processes of their own, and what their outcome means.

A driver that crashes, hangs or computes wrongly must neither end the tests nor fail them where the kernels' text is
right.  So a check that fails runs once more, its kernels compiled by the host's compiler (`opencl_on_cpu`): if it
passes there, the driver is wrong and the case is skipped with that reason; if it fails there too, our text is wrong.
What the driver fails at in its self-test is not asked for in the first place.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from opencl_devices import opencl_survey
from opencl_runs import PLACES, KnownFaultError, Place

from orio_py.build.cuda_cpu import cuda_on_cpu
from orio_py.core.diagnostics import EnvironmentProblem

T = TypeVar("T")
Case = TypeVar("Case")
Check = Callable[..., Any]

PATIENCE = 150.0
"""Seconds after which a check counts as one that does not end."""

FINDINGS = Path(__file__).resolve().parents[2] / ".pytest_cache" / "opencl-driver"
"""Here the texts of kernels that a driver fails at are kept."""


@dataclass(frozen=True)
class Outcome:
    """How a check ended: with a value, or with a problem; `known` tells of the self-test's faults."""

    value: Any = None
    problem: str | None = None
    known: bool = False
    text: str = ""


@dataclass
class _Verdicts:
    """What is to be told of a check's cases."""

    values: list[Any] = field(default_factory=list[Any])
    wrong: list[str] = field(default_factory=list[str])
    driver: list[str] = field(default_factory=list[str])


def on_device(check: Callable[..., T], *arguments: Any) -> T:
    """The value of a check with kernels; the test fails where our text is wrong, and is skipped where the driver is."""
    verdicts = _Verdicts()
    _judge(check, arguments, verdicts)
    _tell(verdicts)
    return verdicts.values[0]


def each_on_device(check: Callable[..., T], cases: Sequence[Case], *arguments: Any) -> list[T]:
    """The values of a check that takes a list of cases: of all at once, or one by one where that fails."""
    whole = _run(check, (list(cases), *arguments))
    if whole.problem is None:
        return [whole.value]
    verdicts = _Verdicts()
    for case in cases:
        _judge(check, ([case], *arguments), verdicts)
    if not verdicts.wrong and not verdicts.driver:
        # Right one by one: only together the driver, or our text, is wrong.
        _judge(check, (list(cases), *arguments), verdicts)
    _tell(verdicts)
    return verdicts.values


def isolated(check: Callable[..., T], *arguments: Any) -> T:
    """The value of what runs a driver by itself, without a second opinion: it fails where that fails or crashes."""
    outcome = _run(check, arguments)
    if outcome.problem is not None:
        pytest.fail(outcome.problem, pytrace=False)
    return outcome.value


def _judge(check: Check, arguments: tuple[Any, ...], verdicts: _Verdicts) -> None:
    outcome = _run(check, arguments)
    if outcome.problem is None:
        verdicts.values.append(outcome.value)
    elif outcome.known:
        verdicts.driver.append(outcome.problem)
    elif (opinion := _second_opinion(check, arguments)) is not None:
        verdicts.wrong.append(f"{outcome.problem}\nThe host's compiler: {opinion}")
    else:
        verdicts.driver.append(
            f"{_first_line(outcome.problem)}; the host's compiler runs the same text right{_keep(outcome.text)}"
        )


def _second_opinion(check: Check, arguments: tuple[Any, ...]) -> str | None:
    """What is wrong where the host's compiler takes the driver's place."""
    try:
        cuda_on_cpu(Path(tempfile.gettempdir()))
    except EnvironmentProblem as problem:
        return f"there is none for a second opinion ({problem.diagnostics[0].message})"
    return _run(check, arguments, is_driver=False).problem


def _tell(verdicts: _Verdicts) -> None:
    if verdicts.wrong:
        pytest.fail("\n\n".join(verdicts.wrong[:5]), pytrace=False)
    if verdicts.driver:
        device = opencl_survey().devices[0]
        pytest.skip(
            f"{device.label} fails {len(verdicts.driver)} cases: {'; '.join(dict.fromkeys(verdicts.driver))}"
        )


def _keep(text: str) -> str:
    if not text:
        return ""
    FINDINGS.mkdir(parents=True, exist_ok=True)
    path = FINDINGS / f"{len(list(FINDINGS.iterdir()))}-{os.getpid()}.cl"
    path.write_text(text)
    return f" ({path})"


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next(
        (line for line in reversed(lines) if "Error" in line or "ERROR" in line), lines[-1] if lines else ""
    )[:300]


def _run(check: Check, arguments: tuple[Any, ...], *, is_driver: bool = True) -> Outcome:
    """Run a check in the worker process; the process is a new one after each that ended or had to be ended."""
    found = opencl_survey()
    faults = tuple(fault.feature for fault in found.devices[0].faults)
    with tempfile.TemporaryDirectory(prefix="orio-device-") as name:
        folder = Path(name)
        place = Place(folder, is_driver, faults)
        future: Future[Outcome] = _pool(is_driver).submit(_work, place, check, arguments)
        try:
            return future.result(PATIENCE)
        except BrokenProcessPool:
            said = folder / "stderr"
            lines = said.read_text(errors="replace").splitlines() if said.exists() else []
            reason = next((line for line in lines if "ERROR" in line or "error:" in line), "no reason given")
            problem = f"the process of {'the driver' if is_driver else 'the kernels'} crashes: {reason}"
        except TimeoutError:
            problem = f"gives no result within {PATIENCE:.0f} s"
        text = folder / "kernels.cl"
        _end(is_driver)
        return Outcome(problem=problem, text=text.read_text() if text.exists() else "")


_POOLS: dict[bool, ProcessPoolExecutor] = {}


def _pool(is_driver: bool) -> ProcessPoolExecutor:
    if is_driver not in _POOLS:
        environment = dict(opencl_survey().environment)
        _POOLS[is_driver] = ProcessPoolExecutor(
            1, multiprocessing.get_context("spawn"), initializer=_settle, initargs=(environment,)
        )
    return _POOLS[is_driver]


def _settle(environment: dict[str, str]) -> None:
    os.environ.update(environment)


def _end(is_driver: bool) -> None:
    pool = _POOLS.pop(is_driver)
    for process in list((pool._processes or {}).values()):
        with suppress(OSError):
            process.kill()
    pool.shutdown(wait=False, cancel_futures=True)


def _work(place: Place, check: Check, arguments: tuple[Any, ...]) -> Outcome:
    """In the worker process: run a check, its messages in a file."""
    PLACES[:] = [place]
    with (place.folder / "stderr").open("w") as said:
        os.dup2(said.fileno(), 2)
    text = place.folder / "kernels.cl"
    try:
        return Outcome(check(*arguments))
    except KnownFaultError as problem:
        return Outcome(problem=str(problem), known=True)
    except Exception:  # whatever is wrong is told in the process of the tests
        return Outcome(problem=traceback.format_exc(limit=-3), text=text.read_text() if text.exists() else "")
