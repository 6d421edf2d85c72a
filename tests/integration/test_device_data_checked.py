"""What stays on the device is checked with the variants: a wrong decision is a wrong result, a right one is none."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from orio_py.cli.main import main
from orio_py.kernel.plan import ResidentArray
from orio_py.measure.cuda import client
from orio_py.measure.cuda import evaluator as cuda_evaluator
from orio_py.measure.cuda.client import CudaPlace
from orio_py.transformation.base import Context
from orio_py.transformation.offload.device_data import (
    DeviceData,
    _Residents,  # pyright: ignore[reportPrivateUsage]
)
from orio_py.transformation.offload.host_uses import HostUses

pytestmark = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("gcc", "g++")), reason="gcc or g++ is not installed"
)

NO_GPU = CudaPlace(client.PROCESSOR, "sm_90", "processor", None, "no GPU in this test", "")

SOURCE = """\
void f(int n, int m, int k, double *restrict x, double *restrict y, double *restrict z)
{
  /*@ begin PerfTuning (
    def input_params { param n[] = [50]; param m[] = [3]; }
    def input_vars {
      decl int k = 0;
      decl dynamic double x[n + m] = random;
      decl dynamic double y[n] = random;
      decl dynamic double z[n] = random;
    }
  ) @*/
  /*@ begin Loop(
    transform DeviceData()
    for (int t = 0; t < m; t++) {
      transform @(threadCount=32)
      for (int i = 0; i < n; i++)
        y[i] = z[i] + t;
      transform @(threadCount=32)
      for (int i = 1; i < n; i++)
        z[i] += y[i - 1];
      transform @(threadCount=32)
      for (int i = 0; i < n; i++)
        x[k + i] += z[i];
      k = k + 1;
    }
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
"""


def verdict(
    folder: Path,
    step: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    source: str = SOURCE,
) -> str:
    """How the only variant fares on the processor, in words."""
    for module in (cuda_evaluator, client):
        monkeypatch.setattr(module, "cuda_place", lambda: NO_GPU)
    path = folder / "f.c"
    path.write_text(source.replace("@(", f"{step}("))
    main(["tune", "-v", str(path), "-o", str(folder / "out.c"), "--no-db", "-j", "1"])
    told = capsys.readouterr().err
    return next(line for line in told.splitlines() if line.startswith("  trial 1: "))


@pytest.mark.parametrize("step", ["CUDA", "HIP"])
def test_right_decisions_pass(
    tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "checked, not timed" in verdict(tmp_path, step, monkeypatch, capsys)


@pytest.mark.parametrize(
    ("changed", "reason"), [({"goes_out": False}, "wrong result"), ({"comes_in": False}, "sanitizer report")]
)
def test_an_array_that_is_not_copied_is_found(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    changed: dict[str, bool],
    reason: str,
) -> None:
    resident = DeviceData._resident  # pyright: ignore[reportPrivateUsage]

    def forgetful(self: DeviceData, name: str, found: _Residents, context: Context) -> ResidentArray:
        array = resident(self, name, found, context)
        return replace(array, **changed) if name == "z" else array

    monkeypatch.setattr(DeviceData, "_resident", forgetful)
    assert reason in verdict(tmp_path, "CUDA", monkeypatch, capsys)


def test_an_array_that_should_not_stay_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its first part stays, others are copied beside it."""
    monkeypatch.setattr(HostUses, "changing", lambda self, bounds: None)
    assert "wrong result" in verdict(tmp_path, "CUDA", monkeypatch, capsys)


def test_host_code_that_changes_arrays_before_they_stay_is_followed_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The host sets `y` between two kernels, and what stays begins behind that."""
    before = """\
    transform CUDA(threadCount=32)
    for (int i = 0; i < n; i++)
      y[i] = z[i];
    for (int i = 0; i < n; i++)
      z[i] = 2 * y[i] + 1;
    transform DeviceData()
"""
    text = SOURCE.replace("    transform DeviceData()\n", before)
    assert text != SOURCE
    assert "checked, not timed" in verdict(tmp_path, "CUDA", monkeypatch, capsys, text)
