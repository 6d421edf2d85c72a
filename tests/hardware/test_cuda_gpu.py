"""Kernels on a GPU: the drivers' cases, generated kernels against the C code, and a kernel that goes wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from cuda_compilers import nvrtc_or_skip
from cuda_driver_cases import CASES, CLASSES
from libcuda_double import FAKE, ROOT

from orio_py.build.cuda import CudaBinary, cuda_options
from orio_py.build.cuda_catalog import cuda_survey
from orio_py.cli.main import main
from orio_py.measure.cuda.drivers.catalog import with_libraries
from orio_py.record.cuda import CudaSurvey

pytestmark = pytest.mark.hardware

NAMES = {"cuda-bindings": "bindings", "pycuda": "pycuda"}

BEYOND = """
import sys
from importlib import import_module
from pathlib import Path
import numpy as np
from orio_py.core.units import Bytes
from orio_py.measure.cuda.drivers.base import DriverProblem
module, name, path = sys.argv[1:]
driver = getattr(import_module(f"orio_py.measure.cuda.drivers.{module}"), name)(0)
(kernel,) = driver.kernels(Path(path).read_bytes(), ["beyond"])
memory = driver.allocate(Bytes(80))
driver.launch(kernel, (1, 1, 1), (1, 1, 1), [memory, np.int64(1 << 40)])
for what in (driver.synchronize, lambda: driver.allocate(Bytes(8))):
    try:
        what()
        print("nothing")
    except DriverProblem as problem:
        print(problem.status, problem.poisons)
driver.close()
"""

STATIC = """\
#define N 257
double A[N][N], B[N][N], C[N][N];
double U[40][50][60], V[40][50][60];
double x[100001], y[100001];

double kernels(double a)
{
  int i, j, k;
  double s = 0.0;
  /*@ begin PerfTuning (
    def performance_params { param T[] = [64, 256]; param S[] = [1, 4]; }
    def performance_counter { arg repetitions = 3; }
    def input_params { param N[] = [257]; }
    def input_vars {
      decl double a = random;
      decl static double A[N][N] = random;
      decl static double B[N][N] = random;
      decl static double C[N][N] = random;
      decl static double U[40][50][60] = random;
      decl static double V[40][50][60] = 0;
      decl static double x[100001] = random;
      decl static double y[100001] = random;
    }
    def assumptions { arg reassociate = True; }
  ) @*/
  %s
  /*@ end @*/
  return s;
}
"""

NESTS = {
    "axpy": ("threadCount=T", "for (i = 0; i < 100001; i++)\n    y[i] += a * x[i];"),
    "streams": (
        "threadCount=T, streamCount=S, pinHostMem=True",
        "for (i = 0; i < 100001; i++)\n    y[i] += a * x[i];",
    ),
    "dot": ("threadCount=T, blockCount=8 * S", "for (i = 0; i < 100001; i++)\n    s += x[i] * y[i];"),
    "matmul": (
        "nd=2, threadCount=[16, 8], cacheBlocks=True, unrollInner=S",
        "for (i = 0; i < N; i++)\n    for (j = 0; j < N; j++)\n      for (k = 0; k < N; k++)\n"
        "        C[i][j] += A[i][k] * B[k][j];",
    ),
    "stencil": (
        "domain='i, j, k', threadCount=[16, 4, 2], cacheBlocks=True",
        "for (i = 1; i < 39; i++)\n    for (j = 1; j < 49; j++)\n      for (k = 1; k < 59; k++)\n"
        "        V[i][j][k] = U[i - 1][j][k] + U[i + 1][j][k] + U[i][j - 1][k] + U[i][j + 1][k]\n"
        "          + U[i][j][k - 1] + U[i][j][k + 1] - 6.0 * U[i][j][k];",
    ),
}


@cache
def survey() -> CudaSurvey:
    return with_libraries(cuda_survey())


def library_or_skip(name: str) -> None:
    found = survey()
    info = next(info for info in found.libraries if info.name == name)
    if not info.works:
        pytest.skip(f"{name}: {info.reason}")


def gpu_or_skip() -> None:
    if (reason := survey().problem) is not None:
        pytest.skip(f"no GPU: {reason}")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernels of the drivers' cases, compiled for this GPU."""
    gpu_or_skip()
    compiler, architecture = nvrtc_or_skip(), survey().gpus[0].architecture
    text = (FAKE / "kernels.cu").read_text()
    built = compiler.compile(text, architecture, cuda_options(f"-arch={architecture}"))
    assert isinstance(built, CudaBinary), built
    path = tmp_path_factory.mktemp("image") / "kernels.cubin"
    path.write_bytes(built.cubin)
    return path


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("library", NAMES)
def test_a_driver_does_what_it_must(image, library, case):
    library_or_skip(library)
    module = import_module(f"orio_py.measure.cuda.drivers.{NAMES[library]}")
    driver = getattr(module, CLASSES[NAMES[library]])(0)
    try:
        CASES[case](driver, image.read_bytes())
    finally:
        driver.close()


@pytest.mark.parametrize("library", NAMES)
def test_a_kernel_that_writes_out_of_bounds_costs_its_process_alone(image, library):
    library_or_skip(library)
    words = [sys.executable, "-c", BEYOND, NAMES[library], CLASSES[NAMES[library]], str(image)]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path[1:]])}
    done = subprocess.run(words, capture_output=True, text=True, env=variables, timeout=120, check=False)
    assert done.stdout.split("\n")[:2] == ["CUDA_ERROR_ILLEGAL_ADDRESS True"] * 2, done.stderr
    test_a_driver_does_what_it_must(image, library, "axpy")


@pytest.mark.parametrize("nest", NESTS)
def test_generated_kernels_give_what_the_c_code_gives(tmp_path, capsys, nest):
    gpu_or_skip()
    nvrtc_or_skip()
    arguments, loops = NESTS[nest]
    region = f"/*@ begin Loop(transform CUDA({arguments})) @*/\n  {loops}\n  /*@ end @*/"
    source, report = tmp_path / "k.c", tmp_path / "k.json"
    source.write_text(STATIC % region)
    words = ["--target", "cuda", "--no-db", "--trials", "4", "--json", str(report)]
    assert main(["tune", str(source), "-o", str(tmp_path / "out.c"), *words]) == 0, capsys.readouterr().err
    (region_report,) = json.loads(report.read_text())["regions"]
    assert (region_report["failed"], region_report["invalid"]) == (0, 0)
    assert region_report["best"]["median_s"] > 0
    assert (tmp_path / "out_cuda.cu").exists() or region_report["kept_original"]
