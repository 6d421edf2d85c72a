"""The OpenCL drivers of this machine, tested once for all processes of the tests."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from orio_py.core.resources import CACHE_FOLDER
from orio_py.core.units import Bytes
from orio_py.measure.opencl.survey import survey
from orio_py.record.device import DeviceKind, OpenCLDevice, OpenCLSurvey

CPU = OpenCLDevice(
    platform="Portable Computing Language",
    platform_version="OpenCL 3.0 PoCL 3.0-rc2",
    platform_number=0,
    number=0,
    name="pthread-cpu",
    vendor="GenuineIntel",
    kind=DeviceKind.CPU,
    version="OpenCL 3.0",
    language="OpenCL C 1.2",
    driver="3.0-rc2",
    compute_units=2,
    clock_mhz=2000,
    max_group=256,
    max_items=(256, 128, 64),
    global_bytes=Bytes(1 << 20),
    local_bytes=Bytes(4096),
    constant_bytes=Bytes(4096),
    max_buffer=Bytes(1 << 19),
    alignment=Bytes(128),
    has_doubles=True,
    is_usable=True,
)
"""A device that no machine has."""


def opencl_survey() -> OpenCLSurvey:
    """The drivers with what they cannot do; skips the test where there is none."""
    found = _survey()
    if not found.devices:
        pytest.skip(f"no OpenCL device: {found.problem}")
    return found


def skip_without_device() -> None:
    """Skip a test where no OpenCL device is, or where its driver fails its self-test, saying which."""
    fault = opencl_survey().devices[0].fault_text
    if fault is not None:
        pytest.skip(fault)


@cache
def _survey() -> OpenCLSurvey:
    # The answers are kept where those of commands are, which tests run as programs.
    before = CACHE_FOLDER.set(Path(os.environ["XDG_CACHE_HOME"]) / "orio_py" / "parsers")
    try:
        return survey()
    finally:
        CACHE_FOLDER.reset(before)
