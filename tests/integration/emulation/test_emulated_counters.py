"""What emulated launches count, against what can be counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from cuda_compilers import nvrtc_or_skip

from benchmarks import bottlenecks
from benchmarks.emulation.searching import EmulatedNest, Nest
from orio_py.model.counters.model import counted_work
from orio_py.model.counters.table import read_profile

pytestmark = pytest.mark.nvrtc


@pytest.fixture(autouse=True)
def compiler():
    nvrtc_or_skip()


def counted(folder: Path, loops: str, arrays: dict[str, str], size: int, recipe: str) -> dict[str, float]:
    path = folder / "nest.c"
    path.write_text(Nest(loops, "i, j, k", arrays, size, {"U": "[1]"}, (), recipe).text("nest"))
    nest = EmulatedNest(path, "sm_90")
    first = nest.space.first()
    assert first is not None
    return dict(nest(first).counters)


def test_operations_of_a_sweep_are_those_of_all_its_threads(tmp_path: Path) -> None:
    n = 1 << 20
    told = counted(
        tmp_path, "for (i = 0; i < n; i++)\n  A[i] = 3.0f * B[i];", {"A": "n", "B": "n"}, n, "threadCount=256"
    )
    work, profile = counted_work(told), read_profile(told)
    # Floats of 4 bytes, 8 to a sector; each element is read once, written once, and multiplied once.
    assert work["DRAM_RT"] == pytest.approx(n / 8, rel=0.01)
    assert work["L2_RT"] == work["L2_WT"] == pytest.approx(n / 8, rel=0.01)
    assert work["INST_F32"] == pytest.approx(n, rel=0.01)
    assert work["TEX_RWT"] == pytest.approx(n / 32, rel=0.01)
    assert (work["THREADS"], work["BLOCK"], work["SHR_LT"], work["INST_F64"]) == (n, 256, 0, 0)
    assert work["INST_EXE"] % (n / 32) == pytest.approx(0, abs=1)
    assert 0 < profile["DRAM_U"] <= 10
    assert 0 < profile["INST_ISSUE_U"] < 100
    assert profile["OCCUPANCY"] == pytest.approx(100)


def test_tiles_in_shared_memory_are_counted_as_passes(tmp_path: Path) -> None:
    n = 256
    loops = (
        "for (i = 0; i < n; i++)\n  for (j = 0; j < n; j++)\n    for (k = 0; k < n; k++)\n"
        "      C[i * n + j] += A[i * n + k] * B[k * n + j];"
    )
    recipe = "nd=2, threadCount=[32, 8], cacheBlocks=True"
    work = counted_work(counted(tmp_path, loops, dict.fromkeys("ABC", "n*n"), n, recipe))
    # One multiplication and addition of each product, for which a thread reads two elements at least once from shared memory.
    assert work["INST_F32"] == pytest.approx(n**3, rel=0.01)
    assert 0.25 * n**3 / 32 <= work["SHR_LT"] <= 2 * n**3 / 32
    assert 0 < work["SHR_WT"] < work["SHR_LT"]


@pytest.mark.parametrize("name", ["triad", "columns"])
def test_reports_of_emulated_kernels_are_borne_out(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert bottlenecks.main(["--only", name]) == 0
    told = capsys.readouterr().out
    assert "all reports are borne out" in told
    assert told.count(f"| {name} (CUDA") == 3
