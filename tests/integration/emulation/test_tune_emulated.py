"""`orio tune --device emulated:GPU`: variants are checked here, ranked by emulated times, and stored apart."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cuda_compilers import nvrtc_or_skip
from fake_cuda import made_up_gpu

from orio_py.cli.main import main
from orio_py.emulation.bottleneck import BottleneckProfile
from orio_py.measure.cuda import client
from orio_py.measure.cuda import evaluator as cuda_evaluator
from orio_py.measure.cuda.client import CudaPlace
from orio_py.measure.cuda.variant import CudaVariant
from orio_py.measure.offload import evaluator
from orio_py.record.measurement import Clock, Failure, Stage, Success
from orio_py.results import Selection, list_series, show_trials

pytestmark = [
    pytest.mark.nvrtc,
    pytest.mark.skipif(
        any(shutil.which(name) is None for name in ("gcc", "g++")), reason="gcc or g++ is not installed"
    ),
]

ROWS = """\
void rows(int n, const double *restrict x, double *restrict y)
{
  int i, j;
  /*@ begin PerfTuning (
    def performance_params { param IN[] = ['i, j', 'j, i']; param TC[] = %(threads)s; }
    def input_params { param n[] = [96]; }
    def input_vars { decl dynamic double x[n*n] = random; decl dynamic double y[n*n] = 0; }
  ) @*/
  /*@ begin Loop(transform %(transformation)s) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      y[i*n+j] += 2.0 * x[i*n+j];
  /*@ end @*/
  /*@ end @*/
}
"""
CUDA = "CUDA(domain=IN, threadCount=TC%s)"

NO_GPU = CudaPlace(client.PROCESSOR, "sm_90", "processor", None, "no GPU in this test", "buy one")


@pytest.fixture(autouse=True)
def compiler():
    nvrtc_or_skip()


def written(folder: Path, transformation: str = CUDA % "", threads: str = "[(32, 4)]") -> Path:
    path = folder / "rows.c"
    path.write_text(ROWS % {"transformation": transformation, "threads": threads})
    return path


def tune(path: Path, *words: str, device: str | None = "emulated:sm_90") -> tuple[int, dict[str, Any]]:
    report = path.parent / "report.json"
    report.unlink(missing_ok=True)
    words = (*words, "--db", str(path.parent / "t.db"), "-o", str(path.parent / "out.c"), "-j", "1")
    chosen = () if device is None else ("--device", device)
    status = main(["tune", str(path), "--json", str(report), *chosen, *words])
    return status, json.loads(report.read_text()) if report.exists() else {}


@pytest.mark.proof
def test_the_best_by_emulation_is_written_and_called_emulated(tmp_path, capsys):
    path = written(tmp_path)
    status, report = tune(path, "--search", "bottleneck")
    told = capsys.readouterr()
    (region,) = report["regions"]
    assert (status, region["failures"], region["kept_original"], region["baseline"]) == (0, {}, False, None)
    best = region["best"]
    # Columns along the fastest dimension of the block: accesses are coalesced.
    assert best["configuration"]["IN"] == "i, j"
    assert (best["clock"], best["speedup"], best["mad_s"]) == ("emulated time", None, 0.0)
    assert "times emulated for H200 SXM" in told.err
    assert "finals" not in told.err
    assert "us, emulated" in told.out or "ns, emulated" in told.out
    text = (tmp_path / "out.c").read_text()
    assert "the fastest by emulation of H200 SXM; not measured" in text
    assert "device: H200 SXM (emulated)" in text
    assert (tmp_path / "out_cuda.cu").exists()
    trials = show_trials(tmp_path / "t.db", Selection())
    slow, fast = sorted(trials, key=lambda t: t.configuration["IN"], reverse=True)
    for trial in trials:
        assert isinstance(trial.measurement, Success)
        assert trial.measurement.clock is Clock.EMULATED
        profile = BottleneckProfile.of({c.name: c.value for c in trial.counters})
        assert profile is not None
        assert 0 < profile.occupancy_needed <= profile.occupancy <= 1
        assert sum(profile.sensitivity.values()) > 0
        assert (trial.metadata["orio:obtained"], trial.metadata["cuda_name"]) == (
            "emulated",
            "H200 SXM (emulated)",
        )
    assert slow.measurement.time > 1.05 * fast.measurement.time
    status, again = tune(path, "--search", "exhaustive")
    assert (status, again["regions"][0]["cached"]) == (0, 2)
    same = ("configuration", "median_s", "clock", "speedup")
    assert [again["regions"][0]["best"][name] for name in same] == [best[name] for name in same]
    capsys.readouterr()
    assert main(["results", "show", "--db", str(tmp_path / "t.db")]) == 0
    shown = capsys.readouterr().out
    assert shown.count(", emulated") == 2
    # Another GPU is another machine: nothing of the first is its answer.
    assert tune(path, device="emulated:A100")[1]["regions"][0]["cached"] == 0


@pytest.mark.proof
def test_emulated_and_measured_trials_are_never_mixed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(evaluator, "ENOUGH", 0.0)
    plain = cuda_evaluator.cuda_tools
    path = written(tmp_path, threads="[(32, 4), (32, 8)]")
    assert tune(path, "--trials", "2")[0] == 0

    def tools(place: CudaPlace, folder: Path) -> Any:
        found = plain(NO_GPU, folder)
        return cuda_evaluator.CudaTools(None, found.executor)

    with monkeypatch.context() as patch, made_up_gpu(monkeypatch):
        patch.setattr(cuda_evaluator, "cuda_tools", tools)
        status, report = tune(path, device=None)
    (region,) = report["regions"]
    assert (region["trials"], region["cached"]) == (4, 0)
    assert status in (0, 4)
    series = {one.clock: one for one in list_series(tmp_path / "t.db")}
    assert {clock: one.trials for clock, one in series.items()} == {Clock.EMULATED: 2, Clock.WALL: 4}
    assert "guide the search" not in capsys.readouterr().err
    # What was measured is written rather than what was emulated.
    output = tmp_path / "applied.c"
    assert main(["results", "apply", str(path), "--db", str(tmp_path / "t.db"), "-o", str(output)]) == 0
    assert "emulat" not in output.read_text()


@pytest.mark.proof
def test_wrong_variants_have_no_emulated_time(tmp_path, monkeypatch):
    plain = CudaVariant.of

    def changed(architecture, options, host, programs):
        variant = plain(architecture, options, host, programs)
        source = variant.sources[0].replace("2.0 *", "3.0 *")
        return CudaVariant(architecture, options, (source,), host, variant.calls, {})

    monkeypatch.setattr(CudaVariant, "of", changed)
    status, report = tune(written(tmp_path), "--set", "IN=i, j")
    assert status == 4
    assert report["regions"][0]["failures"] == {"wrong result": 1}
    assert {t.measurement.stage for t in show_trials(tmp_path / "t.db", Selection())} == {Stage.WRONG_RESULT}


@pytest.mark.proof
def test_without_a_device_the_table_is_in_the_order_of_emulated_times(tmp_path, capsys, monkeypatch):
    for module in (cuda_evaluator, client):
        monkeypatch.setattr(module, "cuda_place", lambda: NO_GPU)
    path = written(tmp_path)
    path.write_text(path.read_text().replace("['i, j', 'j, i']", "['j, i', 'i, j']"))
    status, report = tune(path, device=None)
    told = capsys.readouterr().out
    assert status == 3
    assert "emulated time" in told
    assert "bound by" in told
    assert "latencies (" in told
    assert told.index("IN = 'i, j'") < told.index("IN = 'j, i'")
    for variant in report["regions"][0]["untimed"]["variants"]:
        (counter,) = [c for c in variant["counters"] if c["name"] == "emulated_time"]
        assert (counter["source"], counter["unit"]) == ("emulated", "s")
    assert all(isinstance(t.measurement, Failure) for t in show_trials(tmp_path / "t.db", Selection()))


def test_without_a_gpu_the_fastest_by_prediction_is_written_where_that_is_accepted(
    tmp_path, capsys, monkeypatch
):
    for module in (cuda_evaluator, client):
        monkeypatch.setattr(module, "cuda_place", lambda: NO_GPU)
    path = written(tmp_path, CUDA % ", arch='sm_80'")
    status, report = tune(path, "--accept-predicted", device=None)
    (region,) = report["regions"]
    assert (status, region["kept_original"], region["best"]["clock"]) == (0, False, "emulated time")
    assert region["best"]["configuration"]["IN"] == "i, j"
    text = (tmp_path / "out.c").read_text()
    assert "the fastest by emulation of A100" in text
    assert "not measured" in text
    assert tune(written(tmp_path, "HIP(threadCount=32)"), "--accept-predicted", device=None)[0] == 2
    assert "error[ORIO-U060]: `--accept-predicted`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("device", "transformation", "words", "code"),
    [
        ("sm_90", CUDA % "", (), "U060"),
        ("emulated:sm_91", CUDA % "", (), "U054"),
        ("emulated:Titan X Pascal", CUDA % "", (), "U054"),
        ("emulated:sm_90", "Unroll(ufactor=2)", (), "U060"),
        ("emulated:sm_90", CUDA % "", ("--objective", "instructions"), "U060"),
        ("emulated:sm_90", CUDA % ", arch='sm_80'", (), "B041"),
    ],
)
def test_what_is_not_emulated(tmp_path, capsys, device, transformation, words, code):
    status, _ = tune(written(tmp_path, transformation), *words, device=device)
    assert f"error[ORIO-{code}]" in capsys.readouterr().err
    assert status == 2
    assert not (tmp_path / "out.c").exists()
