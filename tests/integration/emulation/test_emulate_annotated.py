"""`orio emulate` on annotated C files: launches come from the recipe, arguments from the specification."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from cuda_compilers import nvrtc_or_skip

from orio_py.build.compiler import resolve
from orio_py.cli.main import main
from orio_py.codegen.extent import extent_text
from orio_py.core.diagnostics import DiagnosticError
from orio_py.measure.base import RunLimits
from orio_py.measure.cuda.variant import CudaVariant
from orio_py.measure.evaluator import Evaluator
from orio_py.measure.offload.host import followed_launches
from orio_py.measure.offload.host_data import measured_data, told_data
from orio_py.tuning.files.load import load
from orio_py.tuning.variants.variant import VariantGenerator

pytestmark = pytest.mark.nvrtc

ROOT = Path(__file__).resolve().parents[3]
AXPY = ROOT / "benchmarks" / "kernels" / "cuda" / "vecaxpy.c"
COMPAT = ROOT / "tests" / "compat" / "cuda"

STEPS = """\
void steps(int n, int m, double *restrict x, double *restrict y)
{
  int i, t;
  /*@ begin PerfTuning (
    def performance_params { param TC[] = [64, 128]; }
    def input_params { param n[] = [4096, 65536]; param m[] = [3]; }
    def input_vars { decl dynamic double x[n] = random; decl dynamic double y[n] = 0; }
  ) @*/
  for (t = 0; t < m; t++) {
    /*@ begin Loop(transform %(language)s) @*/
    for (i = 0; i < n; i++)
      y[i] = y[i] + x[i];
    /*@ end @*/
  }
  /*@ end @*/
}
"""


@pytest.fixture(autouse=True)
def compiler():
    nvrtc_or_skip()


def told(capsys, *arguments):
    status = main(["emulate", *map(str, arguments)])
    return status, *capsys.readouterr()


def steps(folder: Path, language="CUDA(threadCount=TC)") -> Path:
    path = folder / "steps.c"
    path.write_text(STEPS % {"language": language})
    return path


def test_a_region(capsys):
    status, out, err = told(capsys, AXPY, "--set", "TC=256")
    assert (status, err) == (0, "")
    assert re.search(r"vecaxpy n=10000000: TC = 256,", out)
    assert "orio_cuda_vecaxpy_0 on H200 SXM (sm_90), grid 39063x1x1, block 256x1x1" in out
    assert re.search(r"emulated time 6\d\.\d us of 1 launches; copies are not counted", out)
    assert "limited by the throughput of device memory" in out


def test_sizes_launches_and_architectures(capsys, tmp_path):
    path = steps(tmp_path)
    status, out, _ = told(capsys, path, "--arch", "A100", "--json", "--no-sensitivity")
    assert status == 0
    content = json.loads(out)
    assert content["emulation"] is None
    small, large = content["regions"]
    assert (small["inputs"], large["inputs"]) == ({"n": 4096, "m": 3}, {"n": 65536, "m": 3})
    assert small["configuration"] == {"TC": 64}
    (kernel,) = large["kernels"]
    assert (kernel["times"], kernel["gpu"], kernel["grid"]) == (3, "A100", [1024, 1, 1])
    assert kernel["obtained"] == large["obtained"] == "emulated"
    assert large["seconds"] == pytest.approx(3 * kernel["seconds"])
    assert large["seconds"] > small["seconds"]


def test_the_recipe_names_the_architecture(capsys, tmp_path):
    path = steps(tmp_path, "CUDA(threadCount=TC, arch='sm_80')")
    pins = ("--set", "n=4096", "--no-sensitivity")
    assert "on A100 (sm_80)" in told(capsys, path, *pins)[1]
    status, _, err = told(capsys, path, *pins, "--arch", "sm_90")
    assert (status, f"{path}:4:3: error[ORIO-B041]" in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--grid", "4", "--block", "4"), "U059"),
        (("--arg", "n=4"), "U059"),
        (("--set", "TC=7"), "P008"),
        (("--set", "n=0"), "U058"),
    ],
)
def test_what_does_not_fit(capsys, tmp_path, arguments, code):
    status, out, err = told(capsys, steps(tmp_path), *arguments)
    assert f"error[ORIO-{code}]" in err
    assert (status, out) == (2, "")


def test_other_languages_and_texts(capsys, tmp_path):
    path = steps(tmp_path, "OpenCL(workItemsPerGroup=TC)")
    status, _, err = told(capsys, path)
    assert (status, f"{path}:4:3: error[ORIO-U018]" in err) == (2, True)
    text = ROOT / "benchmarks" / "kernels" / "cuda_text" / "vecaxpy.cu"
    for arguments in ((), ("--grid", "4"), ("--grid", "4", "--block", "64", "--set", "n=4")):
        status, _, err = told(capsys, text, *arguments)
        assert (status, "error[ORIO-U059]" in err) == (2, True)


@pytest.mark.proof
def test_a_picture_is_of_one_launch(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "steps.svg"
    status, _, err = told(capsys, steps(tmp_path), "--no-sensitivity", "--plot", picture)
    assert (status, "ORIO-U059" in err, picture.exists()) == (2, True, False)
    assert told(capsys, steps(tmp_path), "--set", "n=4096", "--no-sensitivity", "--plot", picture)[0] == 0
    assert picture.exists()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize(
    "name",
    ["gemver", *(pytest.param(n, marks=pytest.mark.proof) for n in ("jacobi_1d", "types", "mat_vec_tile"))],
)
def test_what_the_text_tells_is_what_a_run_finds(name, tmp_path):
    """Launches, trip counts and whole numbers are the same without a run as with one."""
    path = COMPAT / f"{name}.c"
    (one,) = load([path]).tasks
    task, point = one.task, one.points[0]
    configuration = one.spaces[0].first() or {}
    parts = VariantGenerator.of(task).parts(point, configuration)
    variant = CudaVariant.of("sm_90", "", extent_text(task, parts.codes), parts.devices)
    original = Evaluator(
        task, point, resolve(task.build, path.parent), tmp_path / "build", RunLimits(), keeps_inputs=True
    )
    try:
        original.prepare(dict(configuration))
        known = measured_data(original)
    finally:
        original.close()
    found = [
        [
            (
                launch.call.kernel,
                launch.trips,
                {n: v for n, v in launch.numbers.items() if not v.type.is_floating},
            )
            for launch in followed_launches(variant.host, variant.calls, data, task.position)
        ]
        for data in (known, told_data(task, point))
    ]
    assert found[0] == found[1]
    assert found[0]
    with_extents = {v.name: v.bytes for v in known.variables if v.is_array}
    assert {v.name: v.bytes for v in told_data(task, point).variables if v.is_array} == with_extents


def test_what_only_a_run_tells_is_refused(tmp_path):
    path = tmp_path / "cells.c"
    path.write_text(
        "struct cell { int n; double x; };\n"
        + STEPS.replace("double *restrict x", "struct cell *restrict x")
        .replace("dynamic double x", "dynamic struct cell x")
        .replace("+ x[i]", "+ x[i].x")
        .replace("%(language)s", "CUDA(threadCount=TC)")
    )
    (structures,) = load([path]).tasks
    with pytest.raises(DiagnosticError) as caught:
        told_data(structures.task, structures.points[0])
    assert caught.value.diagnostics[0].code == "ORIO-M017"
    assert caught.value.diagnostics[0].position is not None
