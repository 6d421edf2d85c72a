"""Asks worker processes for OpenCL devices, and tells programs how they find these."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from orio_py.build.process import Completed, run
from orio_py.core.units import Seconds
from orio_py.measure.offload.client import START_TIMEOUT, worker_command
from orio_py.measure.opencl.pocl import HOME
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


def program_environment(found: OpenCLSurvey, folder: Path) -> dict[str, str]:
    """The variables with which a program finds the drivers of a survey, and the devices that its code names.

    `folder` takes the cache of built programs of drivers that have one.
    """
    package = find_spec("pyopencl")
    beside = "" if package is None or package.origin is None else str(Path(package.origin).parent)
    return {
        # The loader in PyOpenCL's wheel looks for drivers below this folder, as PyOpenCL's import says.
        "PYOPENCL_HOME": found.environment.get(HOME, beside),
        "POCL_CACHE_DIR": str(folder / "programs"),
        "ORIO_OPENCL_DEVICE": "",
    }


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
    # A driver may bring a loader of its own along; PyOpenCL's is beside it in its wheel.
    loader = next(iter(sorted(answers[0]["loaders"], key=lambda path: "pyopencl" not in path)), None)
    survey = OpenCLSurvey(platforms, advice=INSTALL_DRIVER, environment=environment, loader=loader)
    return survey, tuple(map(Path, answers[0]["libraries"]))
