"""CUDA variants from annotation to verdict: checked without a GPU, tuned with one whose times are made up."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cuda_compilers import nvrtc_or_skip
from fake_cuda import CRASHING, made_up_gpu

from orio_py.cli.main import main
from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem
from orio_py.measure.cuda import client
from orio_py.measure.cuda import evaluator as cuda_evaluator
from orio_py.measure.cuda.client import CudaPlace
from orio_py.measure.cuda.variant import CudaVariant
from orio_py.measure.offload import evaluator
from orio_py.record.measurement import Failure, Stage, Success
from orio_py.results import Selection, show_trials

pytestmark = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("gcc", "g++")), reason="gcc or g++ is not installed"
)

AXPY = """\
#include <math.h>

void axpy(int n, double a, const double *restrict x, double *restrict y)
{
  int i;
  /*@ begin PerfTuning (
    def performance_params { param TC[] = %(threads)s; param SC[] = %(streams)s; }
    def performance_counter { arg repetitions = 3; }
    def input_params { param n[] = [%(n)s]; }
    def input_vars {
      decl double a = random;
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
    }
  ) @*/
  /*@ begin Loop(transform CUDA(threadCount=TC, streamCount=SC%(more)s)) @*/
  for (i = 0; i < n; i++)
    %(body)s
  /*@ end @*/
  /*@ end @*/
}
"""

SHORT = "y[i] += a * x[i];"
LONG = "y[i] += a * sin(x[i]) * exp(cos(x[i]));"

TWO_KERNELS = """\
#define N 40
double A[N][N], B[N][N], C[N][N];

double kernels(void)
{
  int i, j, k;
  double s = 0.0;
  /*@ begin PerfTuning (
    def performance_params { param ST[] = [1, 2]; }
    def input_params { param N[] = [40]; }
    def input_vars {
      decl static double A[N][N] = random;
      decl static double B[N][N] = random;
      decl static double C[N][N] = 0;
    }
    def assumptions { arg reassociate = True; }
  ) @*/
  /*@ begin Loop(transform CUDA(domain='i, j', threadCount=(8, 8), cacheBlocks=True, arch='sm_80')) @*/
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++)
      for (k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
  /*@ end @*/
  /*@ begin Loop(transform CUDA(threadCount=48, blockCount=3, streamCount=ST)) @*/
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++)
      s += A[i][j] * B[j][i];
  /*@ end @*/
  /*@ end @*/
  return s;
}
"""

NO_GPU = CudaPlace(client.PROCESSOR, "sm_90", "processor", None, "no GPU in this test", "buy one")


def without_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (cuda_evaluator, client):
        monkeypatch.setattr(module, "cuda_place", lambda: NO_GPU)


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    without_gpu(monkeypatch)


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise EnvironmentProblem(Diagnostic("ORIO-B020", "no NVRTC in this test", help="install it"))

    monkeypatch.setattr(cuda_evaluator, "cuda_compiler", missing)


@pytest.fixture
def any_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A made-up GPU runs what was built for the processor: machine code is not needed."""
    plain = cuda_evaluator.cuda_tools

    def tools(place: CudaPlace, folder: Path) -> Any:
        return replace(plain(replace(place, device=None), folder), warnings=())

    monkeypatch.setattr(cuda_evaluator, "cuda_tools", tools)


def axpy(folder: Path, threads: Sequence[int], streams: Sequence[int] = (1,), *, more: str = "") -> Path:
    fields = {"threads": list(threads), "streams": list(streams), "more": more}
    return written(folder, {**fields, "n": 1000, "body": SHORT})


def slow_axpy(folder: Path, threads: Sequence[int]) -> Path:
    """Takes so long on the processor that times are good there on a busy machine, too."""
    fields = {"threads": list(threads), "streams": [1], "more": ""}
    return written(folder, {**fields, "n": 6000, "body": LONG})


def written(folder: Path, fields: dict[str, object]) -> Path:
    path = folder / "axpy.c"
    path.write_text(AXPY % fields)
    return path


@pytest.fixture
def few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times that are made up are short, and kernels that run on the executor are not."""
    monkeypatch.setattr(evaluator, "ENOUGH", 0.0)


def tune(path: Path, *words: str, db: bool = False) -> tuple[int, dict[str, Any]]:
    """Exit status and JSON of a run that writes `out.c`, if anything."""
    report = path.parent / "report.json"
    report.unlink(missing_ok=True)
    store = ["--db", str(path.parent / "t.db")] if db else ["--no-db"]
    output = str(path.parent / "out.c")
    status = main(["tune", str(path), "-o", output, "--json", str(report), "-j", "2", *store, *words])
    return status, json.loads(report.read_text()) if report.exists() else {}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix in (".c", ".cu", ".h"))


# --- without a GPU ---


@pytest.mark.proof
@pytest.mark.nvrtc
def test_variants_are_compiled_checked_and_stored(tmp_path: Path, capsys, no_gpu) -> None:
    nvrtc_or_skip()
    path = axpy(tmp_path, [32], [1, 3])
    status, report = tune(path, db=True)
    told = capsys.readouterr()
    assert status == 3
    assert names(tmp_path) == ["axpy.c"]
    assert "error[ORIO-B040]: 2 of 2 variants of `axpy` are right, and nothing here times them" in told.err
    assert "help: what was found is kept" in told.err
    assert "no GPU in this test" in told.out
    assert "TC = 32, SC = 3" in told.out
    [region] = report["regions"]
    assert (region["best"], region["output"], region["kept_original"]) == (None, None, True)
    assert region["failures"] == {"checked, not timed": 2}
    assert (region["failed"], region["invalid"]) == (0, 0)
    variants = region["untimed"]["variants"]
    assert "variants are compiled for sm_90 where" in region["untimed"]["reason"]
    for variant in variants:
        counters = {c["name"]: (c["value"], c["source"]) for c in variant["counters"]}
        assert 4 <= counters["registers"][0] <= 255
        assert counters["registers"][1] == "compiler"
        assert counters["spill_store_bytes"] == (0.0, "compiler")
        assert 0 < counters["occupancy"][0] <= 1
        assert counters["occupancy"][1] == "derived"
        assert {name for name in counters if "time" in name} <= {"emulated_time"}
    trials = show_trials(tmp_path / "t.db", Selection())
    assert [t.measurement for t in trials] == [Failure(Stage.CHECKED, "its results are right")] * 2
    assert trials[0].metadata["cuda_compiled_for"] == "sm_90"
    assert {c.name for c in trials[0].counters} >= {"registers", "occupancy", "shared_bytes"}
    status, again = tune(path, db=True)
    assert (status, again["regions"][0]["cached"]) == (3, 2)
    recalled = again["regions"][0]["untimed"]["variants"]
    assert [v["configuration"] for v in recalled] == [v["configuration"] for v in variants]
    assert [v["outcome"] for v in recalled] == ["checked, not timed"] * 2
    assert {c["name"] for c in recalled[0]["counters"]} == {c["name"] for c in variants[0]["counters"]}


def test_tiles_and_reductions_are_checked_without_any_compiler(
    tmp_path: Path, capsys, no_gpu, no_compiler
) -> None:
    path = tmp_path / "two.c"
    path.write_text(TWO_KERNELS)
    status, report = tune(path)
    told = capsys.readouterr()
    assert status == 3
    assert "registers, spilled registers and occupancy of variants are not known" in told.err
    assert "no NVRTC in this test" in told.err
    [region] = report["regions"]
    assert region["failures"] == {"checked, not timed": 2}
    assert all(variant["counters"] == [] for variant in region["untimed"]["variants"])


def test_wrong_variants_are_told_from_right_ones(
    tmp_path: Path, capsys, monkeypatch, no_gpu, no_compiler
) -> None:
    """The generator makes none, so that their kernels are changed on the way."""
    wrong = {
        32: "y[i] += a + x[i];",
        64: "y[i / 2] += a * x[i];",
        128: "y[i] += a * x[i + 1];",
        192: "y[i] += a * x[i]; if (i == 3) __syncthreads();",
    }
    plain = CudaVariant.of

    def changed(architecture, options, host, programs) -> CudaVariant:
        variant = plain(architecture, options, host, programs)
        [source] = variant.sources
        assert SHORT in source
        [threads] = variant.calls[0].items
        source = source.replace(SHORT, wrong.get(threads, SHORT))
        return CudaVariant(architecture, options, (source,), host, variant.calls, {})

    monkeypatch.setattr(CudaVariant, "of", changed)
    status, report = tune(axpy(tmp_path, [16, *wrong]))
    found = {v["configuration"]["TC"]: v for v in report["regions"][0]["untimed"]["variants"]}
    assert {threads: v["outcome"] for threads, v in found.items()} == {
        16: "checked, not timed",
        32: "wrong result",
        64: "sanitizer report",
        128: "sanitizer report",
        192: "sanitizer report",
    }
    assert "race" in found[64]["reason"]
    assert "behind the end of a buffer" in found[128]["reason"]
    assert "barrier" in found[192]["reason"]
    told = capsys.readouterr()
    assert status == 3
    assert "1 of 5 variants of `axpy` are right" in told.err
    assert "wrong result: `y` element 0" in " ".join(told.out.split())


def test_without_any_right_variant_the_status_is_4(tmp_path: Path, monkeypatch, no_gpu, no_compiler) -> None:
    plain = CudaVariant.of

    def changed(*arguments) -> CudaVariant:
        variant = plain(*arguments)
        sources = tuple(source.replace("a * x[i]", "a + x[i]") for source in variant.sources)
        return CudaVariant(variant.architecture, "", sources, variant.host, variant.calls, {})

    monkeypatch.setattr(CudaVariant, "of", changed)
    status, report = tune(axpy(tmp_path, [64]))
    assert status == 4
    assert [d["code"] for d in report["diagnostics"] if d["severity"] == "error"] == ["ORIO-M020"]
    assert report["regions"][0]["failures"] == {"wrong result": 1}


def test_a_machine_with_nothing_says_what_is_missing(tmp_path: Path, capsys, monkeypatch, no_gpu) -> None:
    def missing(folder: Path) -> None:
        raise EnvironmentProblem(Diagnostic("ORIO-B030", "no C++ compiler in this test", help="install g++"))

    monkeypatch.setattr(cuda_evaluator, "cuda_on_cpu", missing)
    status, _ = tune(axpy(tmp_path, [64]))
    told = capsys.readouterr().err
    assert status == 3
    assert "error[ORIO-B040]: nothing here can run CUDA variants: no GPU in this test" in told
    assert "error[ORIO-B030]: no C++ compiler in this test" in told
    assert names(tmp_path) == ["axpy.c"]


# --- with a GPU whose times are made up ---


def test_the_fastest_variant_is_found_stored_and_written(
    tmp_path: Path, monkeypatch, no_compiler, any_compiler, few_samples
) -> None:
    path = slow_axpy(tmp_path, [32, CRASHING, 256])
    with monkeypatch.context() as patch:
        without_gpu(patch)
        assert tune(path, "--trials", "1", db=True)[0] == 3
    with made_up_gpu(monkeypatch):
        status, first = tune(path, "--trials", "2", db=True)
        assert (status, first["regions"][0]["cached"]) == (0, 0), "what was checked elsewhere is not taken"
        status, report = tune(path, db=True)
        assert status == 0
        status, answered = tune(path, db=True)
    [region] = report["regions"]
    assert first["regions"][0]["trials"] == 2
    assert (region["trials"], region["cached"]) == (3, 2)
    assert region["failures"] == {"crash": 1}
    assert region["best"]["configuration"]["TC"] == 256
    assert region["best"]["speedup"] > 1.0
    counters = {c["name"]: c["value"] for c in region["best"]["counters"]}
    assert counters["kernel_time"] == pytest.approx(2e-7 / 16)
    assert counters["transfer_time"] > 0
    assert report["environment"]["device"] == "Made-up GPU"
    assert "untimed" not in region
    assert names(tmp_path) == ["axpy.c", "out.c", "out_cuda.cu", "out_cuda.h"]
    assert "__launch_bounds__(256)" in (tmp_path / "out_cuda.cu").read_text()
    assert "orio_cuda_axpy_0(" in (tmp_path / "out.c").read_text()
    assert answered["regions"][0]["cached"] == 3
    assert answered["regions"][0]["best"] == region["best"]
    trials = show_trials(tmp_path / "t.db", Selection())
    assert [t.measurement.stage for t in trials[:1]] == [Stage.CHECKED]
    trials = trials[1:]
    crashed = [t.measurement for t in trials if t.configuration["TC"] == CRASHING]
    assert {type(t.measurement) for t in trials} == {Success, Failure}
    assert all(isinstance(m, Failure) and "CUDA_ERROR_ILLEGAL_ADDRESS" in m.reason for m in crashed)
    assert trials[0].metadata["cuda_name"] == "Made-up GPU"
    assert trials[0].metadata["cuda_clock"] == "made up"


def test_machine_code_for_another_gpu_is_refused(
    tmp_path: Path, capsys, monkeypatch, no_compiler, any_compiler, few_samples
) -> None:
    with made_up_gpu(monkeypatch):
        status, _ = tune(axpy(tmp_path, [64], more=", arch='sm_80'"))
    assert status == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "error[ORIO-B041]: machine code for `sm_80` does not run on Made-up GPU, which is `sm_90`" in told
