"""Clocks and temperature from NVML, from a library that only answers."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from orio_py.measure.cuda.drivers.nvml import Clocks

LIBRARY = """
static int alive;
int nvmlInit_v2(void) { alive++; return INIT; }
int nvmlShutdown(void) { return --alive; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **device) { *device = (void *)42; return id[0] != '0'; }
int nvmlDeviceGetClockInfo(void *device, int type, unsigned *clock) { *clock = type == 1 ? 1755 : 2619; return device != (void *)42; }
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *value) { *value = 61; return sensor || !device; }
#ifdef POWER
int nvmlDeviceGetPowerUsage(void *device, unsigned *value) { *value = 123456; return !device; }
#endif
int left(void) { return alive; }
"""


@pytest.fixture
def library(tmp_path):
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    (tmp_path / "nvml.c").write_text(LIBRARY)

    def build(*macros: str) -> str:
        made = str(tmp_path / f"lib{len(macros)}{''.join(macros)}.so")
        words = ["gcc", "-shared", "-fPIC", *(f"-D{macro}" for macro in macros), "-o", made]
        subprocess.run([*words, str(tmp_path / "nvml.c")], check=True)
        return made

    return build


def test_what_nvml_knows_is_told_in_words(library):
    clocks = Clocks("0000:01:00.0", library("INIT=0", "POWER"))
    assert clocks.read() == {
        "cuda_sm_clock_now_mhz": "1755",
        "cuda_memory_clock_now_mhz": "2619",
        "cuda_temperature_celsius": "61",
        "cuda_power_watts": "123.5",
    }
    clocks.close()
    assert clocks.read() == {}


def test_what_is_not_known_is_left_out(library, tmp_path):
    assert "cuda_power_watts" not in Clocks("0000:01:00.0", library("INIT=0")).read()
    assert Clocks("0000:01:00.0", library("INIT=9")).read() == {}
    assert Clocks("nowhere", library("INIT=0")).read() == {}
    assert Clocks("0000:01:00.0", str(tmp_path / "none.so")).read() == {}
