"""Asks for OpenCL devices, and runs kernels on them, in processes of their own."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from orio_py.build.process import run
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


def opencl_worker(folder: Path) -> DeviceWorker:
    """A worker for OpenCL devices; `folder` takes the driver's cache of built programs, which all of it share."""
    environment = {"PYOPENCL_NO_CACHE": "1", "POCL_CACHE_DIR": str(folder / "programs")}
    return DeviceWorker(folder, _COMMAND, "OpenCL kernels", environment)


@cache
def survey() -> OpenCLSurvey:
    """The platforms and devices of this machine, asked for once, in a process that drivers may crash."""
    told = run([*_COMMAND, "devices"], timeout=START_TIMEOUT, directory=Path.cwd())
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
