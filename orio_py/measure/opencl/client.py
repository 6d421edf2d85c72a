"""Asks for OpenCL devices, and runs kernels on them, in processes of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orio_py.build.process import Completed, run
from orio_py.core.units import Seconds
from orio_py.measure.offload.client import START_TIMEOUT, DeviceWorker, worker_command
from orio_py.measure.opencl.worker import MARK, MISSING
from orio_py.record.device import OpenCLPlatform, OpenCLSurvey

INSTALL_PYOPENCL = (
    "`pip install 'orio_py[opencl]'` installs PyOpenCL and PoCL, which makes a device of the processor"
)
INSTALL_DRIVER = (
    "install a driver: `pip install 'pyopencl[pocl]'`, a package of the system (Debian, Ubuntu: "
    "`apt install pocl-opencl-icd`), or that of the device's vendor"
)

_COMMAND = worker_command("orio_py.measure.opencl.worker")


def opencl_worker(folder: Path, settings: Mapping[str, str] | None = None) -> DeviceWorker:
    """A worker for OpenCL devices; `folder` takes the driver's cache of built programs, which all of it share.

    `settings` are the variables of a survey.
    """
    environment = {"PYOPENCL_NO_CACHE": "1", "POCL_CACHE_DIR": str(folder / "programs"), **(settings or {})}
    return DeviceWorker(folder, _COMMAND, "OpenCL kernels", environment)


def ask(
    words: tuple[str, ...], environment: Mapping[str, str], timeout: Seconds = START_TIMEOUT
) -> tuple[Completed, list[dict[str, Any]]]:
    """What a new worker process answers to `words`, and how it ended: a driver may take it down."""
    told = run([*_COMMAND, *words], timeout=timeout, directory=Path.cwd(), environment=environment)
    lines = [line.removeprefix(MARK) for line in told.stdout.splitlines() if line.startswith(MARK)]
    return told, [json.loads(line) for line in lines]


def look(environment: Mapping[str, str]) -> tuple[OpenCLSurvey, tuple[Path, ...]]:
    """The platforms and devices as drivers tell, untested, and the shared objects of PoCL among the drivers."""
    told, answers = ask(("devices",), environment)
    if told.returncode == MISSING:
        return OpenCLSurvey(problem="PyOpenCL is not installed", advice=INSTALL_PYOPENCL), ()
    if not answers:
        how = "takes too long" if told.timed_out else f"ends with {told.signal_name or told.returncode}"
        last = told.stderr.strip().splitlines()[-1:]
        return OpenCLSurvey(
            problem=": ".join([f"looking for devices {how}", *last]), advice=INSTALL_DRIVER
        ), ()
    platforms = tuple(map(OpenCLPlatform.from_json, answers[0]["platforms"]))
    if not platforms:
        problem = answers[0].get("problem", "no platform")
        return OpenCLSurvey(problem=f"no driver is registered ({problem})", advice=INSTALL_DRIVER), ()
    survey = OpenCLSurvey(platforms, advice=INSTALL_DRIVER, environment=environment)
    return survey, tuple(map(Path, answers[0]["libraries"]))
