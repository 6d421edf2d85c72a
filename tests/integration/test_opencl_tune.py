"""OpenCL variants from annotation to verdict: tuned, stored with their device, refused, failing."""

import json
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from opencl_devices import skip_without_device

import orio_py
from orio_py.cli.main import main
from orio_py.measure.opencl.evaluator import OpenCLEvaluator
from orio_py.measure.opencl.survey import survey
from orio_py.results import Selection, show_trials
from orio_py.spec.target import DeviceTime

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

SOURCE = """
#include <math.h>
#define SCALE 2
void kernel(int n, double a, double *restrict y, const double *restrict x, double *result)
{
  int i;
  double s = 0.0;
  /*@ begin PerfTuning (
    def performance_params { %(parameters)s }
    def performance_counter { arg repetitions = 3; %(counter)s }
    def input_params { param n[] = [%(n)d]; }
    def input_vars {
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
      decl double a = random;
    }
  ) @*/
%(before)s
  /*@ begin Loop (transform OpenCL(%(arguments)s) %(loop)s) @*/
  %(loop)s
  /*@ end @*/
%(after)s
  /*@ end @*/
  *result = s;
}
"""
AXPY = "for (i = 0; i <= n - 1; i++) y[i] = y[i] + a * x[i];"
DOT = "for (i = 0; i <= n - 1; i++) s = s + x[i] * y[i];"


@pytest.fixture(autouse=True)
def device() -> None:
    skip_without_device()


def tune(folder: Path, *options: str, loop: str = AXPY, **changes: object) -> tuple[int, dict]:
    fields = {
        "parameters": "param WI[] = [32, 64];",
        "counter": "",
        "n": 5000,
        "before": "",
        "after": "",
        "arguments": "workItemsPerGroup=WI",
        "loop": loop,
        **changes,
    }
    text = (SOURCE % fields).replace("double s = 0.0;", f"double s = 0.0;{fields.get('local', '')}")
    (folder / "k.c").write_text(text)
    report = folder / "report.json"
    words = [
        "tune",
        str(folder / "k.c"),
        "--json",
        str(report),
        "--db",
        str(folder / "r.db"),
        "--jobs",
        "1",
        "--quiet",
    ]
    status = main([*words, *options])
    return status, json.loads(report.read_text()) if report.exists() else {}


def trials(folder: Path) -> list:
    return show_trials(folder / "r.db", Selection())


def test_vectors_are_added_on_a_device(tmp_path: Path) -> None:
    status, report = tune(tmp_path)
    assert status == 0, report
    [region] = report["regions"]
    assert region["target"] == "opencl"
    assert (region["trials"], region["refused"], region["failures"]) == (2, 0, {})
    assert region["best"]["clock"] == "wall time"
    counters = {c["name"]: c for c in region["best"]["counters"]}
    assert {"kernel_time", "transfer_time", "launches", "transfer_bytes"} <= set(counters)
    assert all(counters[name]["value"] > 0 for name in ("kernel_time", "transfer_time"))
    assert region["best"]["median_s"] > counters["kernel_time"]["value"]
    assert counters["kernel_time"]["source"] == "device"
    assert report["environment"]["device"] == survey().devices[0].name
    found = trials(tmp_path)
    assert len(found) == 2
    for trial in found:
        assert trial.metadata["OpenCL Device"] == survey().devices[0].name
        assert int(trial.metadata["OpenCL Local Memory Size"]) > 0
        assert trial.metadata["OpenCL Driver Version"]
        assert trial.metadata["orio:input:n"] == "5000"
        assert trial.build is not None
        assert trial.build > 0


@pytest.mark.proof
def test_stored_trials_are_not_run_again(tmp_path: Path) -> None:
    tune(tmp_path, "--trials", "1")
    _, report = tune(tmp_path)
    assert (report["regions"][0]["trials"], report["regions"][0]["cached"]) == (2, 1)


@pytest.mark.proof
def test_the_number_of_queues_is_a_parameter(tmp_path: Path) -> None:
    changes = {"parameters": "param S[] = [1, 3];", "arguments": "streamCount=S"}
    status, report = tune(tmp_path, counter="arg time = 'kernel+transfer';", n=1001, **changes)
    assert status == 0, report
    [region] = report["regions"]
    assert (region["trials"], region["refused"], region["failures"]) == (2, 0, {})


@pytest.mark.proof
def test_tiles_in_local_memory_are_a_parameter(tmp_path: Path) -> None:
    status, report = tune(
        tmp_path,
        loop="for (i = 1; i <= n - 2; i++) y[i] = x[i - 1] - 2 * x[i] + x[i + 1];",
        parameters="param CB[] = [False, True]; param WI[] = [32, 64];",
        arguments="workItemsPerGroup=WI, cacheBlocks=CB",
    )
    assert status == 0, report
    [region] = report["regions"]
    assert (region["trials"], region["refused"], region["failures"]) == (4, 0, {})


@pytest.mark.proof
def test_tiles_beyond_the_local_memory_are_not_built(tmp_path: Path) -> None:
    status, report = tune(
        tmp_path,
        loop="for (i = 1; i <= n - 2; i++) y[i] = x[i - 1] - 2 * x[i] + x[i + 1];",
        parameters="param T[] = [32, 64, 33554432];",
        arguments="workItemsPerGroup=32, cacheBlocks=True, localTile=T",
    )
    assert status == 0, report
    [region] = report["regions"]
    assert (region["trials"], region["refused"], region["failures"]) == (2, 1, {})


MATRIX = """
double A[90][70], B[90][70];
void kernel(int n, const double *restrict x, double *restrict y)
{
  int i, j;
  /*@ begin PerfTuning (
    def performance_params { param L[] = ['row', 'column']; param VW[] = [1, 2]; constraint c = VW == 1 or L == 'column'; }
    def performance_counter { arg repetitions = 3; }
    def input_params { param n[] = [70]; }
    def input_vars {
      decl static double A[90][70] = random;
      decl static double B[90][70] = random;
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
    }
  ) @*/
  /*@ begin Loop (transform OpenCL(layout=L, vectorWidth=VW)) @*/
  for (i = 1; i < n; i++)
    for (j = 0; j < n; j++) {
      B[i][j] += 2 * A[i - 1][j];
      y[i] += A[i][j] * x[j];
    }
  /*@ end @*/
  /*@ end @*/
}
"""


@pytest.mark.proof
def test_arrays_are_transposed_for_the_device(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text(MATRIX)
    status = main(
        [
            "tune",
            str(tmp_path / "k.c"),
            "--json",
            str(tmp_path / "r.json"),
            "--db",
            str(tmp_path / "r.db"),
            "--quiet",
        ]
    )
    report = json.loads((tmp_path / "r.json").read_text())
    assert status == 0, report
    [region] = report["regions"]
    assert (region["trials"], region["refused"], region["failures"]) == (3, 0, {})


@pytest.mark.proof
def test_a_sum_is_combined_on_the_host(tmp_path: Path) -> None:
    status, report = tune(
        tmp_path,
        loop=DOT,
        parameters="param WI[] = [32, 64]; param VW[] = [1, 4];",
        arguments="workItemsPerGroup=WI, workGroups=3, vectorWidth=VW, force=True",
    )
    assert status == 0, report
    [region] = report["regions"]
    assert (region["trials"], region["refused"], region["failures"]) == (4, 0, {})
    assert region["best"] is not None


@pytest.mark.proof
def test_scalars_around_the_kernels_are_evaluated(tmp_path: Path) -> None:
    status, report = tune(
        tmp_path, before="  a = a * SCALE;\n  if (n > 10) a = sqrt(a) / (n / 7);", after="  s = a + s;"
    )
    assert status == 0, report
    assert report["regions"][0]["failures"] == {}
    assert report["regions"][0]["trials"] == 2


def test_a_local_has_its_value_from_a_parameter_that_the_loop_does_not_read(tmp_path: Path) -> None:
    loop = "for (i = 0; i <= n - 1; i++) y[i] = y[i] + twice * x[i];"
    status, report = tune(tmp_path, loop=loop, local=" const double twice = 2 * a;")
    assert status == 0, report
    assert report["regions"][0]["failures"] == {}


@pytest.mark.proof
def test_what_ranks_variants_is_the_specifications_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole call is the default, so that the second run is answered by the first."""
    seen: list[DeviceTime] = []

    def listed(*arguments: object, time: DeviceTime, **others: object) -> OpenCLEvaluator:
        seen.append(time)
        return OpenCLEvaluator(*arguments, time=time, **others)

    monkeypatch.setattr(import_module("orio_py.measure.opencl.evaluator"), "OpenCLEvaluator", listed)
    for counter in ("", "arg time = 'call';", "arg time = 'kernel';", "arg time = 'kernel+transfer';"):
        status, _ = tune(tmp_path, counter=counter, parameters="param WI[] = [64];")
        assert status == 0
    assert seen == [DeviceTime.CALL, DeviceTime.KERNEL, DeviceTime.WITH_TRANSFERS]


@pytest.mark.parametrize("counter", ["", "arg time = 'call';"])
def test_a_call_that_takes_longer_than_the_original_is_not_written(tmp_path: Path, counter: str) -> None:
    """The loop takes microseconds; to copy and to launch takes longer, however fast the kernel is."""
    status, report = tune(tmp_path, "--in-place", counter=counter, parameters="param WI[] = [64];", n=200)
    assert status == 0, report
    [region] = report["regions"]
    assert region["kept_original"]
    assert region["best"]["speedup"] < 1
    assert not (tmp_path / "k_opencl.c").exists()


def test_what_the_device_cannot_do_is_refused_and_not_built(tmp_path: Path) -> None:
    most = survey().devices[0].max_group
    _, report = tune(tmp_path, parameters=f"param WI[] = [64, {2 * most}];")
    [region] = report["regions"]
    assert (region["trials"], region["refused"], region["failures"]) == (1, 1, {})


def test_when_everything_is_refused_the_reason_has_a_place(tmp_path: Path, capsys) -> None:
    status, _ = tune(
        tmp_path, parameters="param WI[] = [64];", arguments="workItemsPerGroup=WI, device='none such'"
    )
    told = capsys.readouterr().err
    assert status == 2
    assert "k.c:8:3: error[ORIO-B011]: there is no OpenCL device `none such`" in told


def test_code_around_the_kernels_is_compiled(tmp_path: Path) -> None:
    after = "  y[0] = 0.0;\n  i = 3;\n  while (i-- > 0) y[i] += floor(x[i] * 10.0);"
    status, report = tune(tmp_path, after=after, parameters="param WI[] = [64];")
    assert status == 0, report
    assert (report["regions"][0]["trials"], report["regions"][0]["failures"]) == (1, {})


def test_kernels_of_one_variant_have_one_device(tmp_path: Path, capsys) -> None:
    status, _ = tune(
        tmp_path,
        parameters="param WI[] = [64];",
        after="  /*@ begin Loop (transform OpenCL(clFlags='-w') for (i = 0; i <= n - 1; i++) y[i] = 2 * y[i]; ) @*/\n"
        "  for (i = 0; i <= n - 1; i++) y[i] = 2 * y[i];\n  /*@ end @*/",
    )
    assert status == 2
    assert (
        "error[ORIO-B016]: the kernels of one variant ask for different build options"
        in capsys.readouterr().err
    )


def test_options_of_the_command_line_reach_the_test_program(tmp_path: Path) -> None:
    parameters = "param WI[] = [64]; } def cmdline_params { option '-t' = [1, 2];"
    status, report = tune(tmp_path, parameters=parameters)
    assert status == 0, report
    assert (report["regions"][0]["trials"], report["regions"][0]["failures"]) == (2, {})


def test_two_regions_have_a_program_each(tmp_path: Path) -> None:
    status, report = tune(
        tmp_path,
        parameters="param WI[] = [64];",
        after="  /*@ begin Loop (transform OpenCL() for (i = 0; i <= n - 1; i++) y[i] = 2 * y[i]; ) @*/\n"
        "  for (i = 0; i <= n - 1; i++) y[i] = 2 * y[i];\n  /*@ end @*/",
    )
    assert status == 0, report
    assert (report["regions"][0]["trials"], report["regions"][0]["failures"]) == (1, {})


def test_a_build_error_is_counted(tmp_path: Path) -> None:
    _, report = tune(
        tmp_path,
        parameters="param WI[] = [64]; param F[] = ['', '-cl-no-such-flag'];",
        arguments="workItemsPerGroup=WI, clFlags=F",
    )
    assert report["regions"][0]["failures"] == {"compile error": 1}


def test_the_device_can_be_a_parameter(tmp_path: Path) -> None:
    _, report = tune(
        tmp_path,
        parameters="param WI[] = [64]; param D[] = [0, 77];",
        arguments="workItemsPerGroup=WI, device=D",
    )
    [region] = report["regions"]
    assert (region["trials"], region["refused"]) == (1, 1)
    assert region["best"]["configuration"] == {"WI": 64, "D": 0}


@pytest.mark.parametrize(
    ("target", "words"), [("c", "makes OpenCL kernels"), ("openmp", "makes OpenCL kernels")]
)
def test_another_target_does_not_fit(tmp_path: Path, capsys, target: str, words: str) -> None:
    status, _ = tune(tmp_path, "--target", target)
    assert status == 2
    told = capsys.readouterr().err
    assert "error[ORIO-U018]" in told
    assert words in told


def test_the_target_needs_a_recipe_that_fits(tmp_path: Path, capsys) -> None:
    source = (
        SOURCE
        % {
            "parameters": "param WI[] = [1, 2];",
            "counter": "",
            "n": 100,
            "before": "",
            "after": "",
            "arguments": "",
            "loop": AXPY,
        }
    ).replace("transform OpenCL()", "transform Unroll(ufactor=WI)")
    (tmp_path / "k.c").write_text(source)
    assert main(["tune", str(tmp_path / "k.c"), "--target", "opencl", "--no-db"]) == 2
    assert "makes no OpenCL kernels" in capsys.readouterr().err


def test_counting_methods_are_left_out_with_a_warning(tmp_path: Path) -> None:
    status, report = tune(tmp_path, counter="arg method = 'rusage';", parameters="param WI[] = [64];")
    assert status == 0
    [warning] = [d for d in report["diagnostics"] if d["code"] == "ORIO-M014"]
    assert warning["severity"] == "warning"
    assert warning["message"] == "method 'rusage' does not count what a device does"


def test_an_objective_with_counters_cannot_be_had(tmp_path: Path, capsys) -> None:
    status, _ = tune(tmp_path, counter="arg objective = 'instructions';")
    assert status == 3
    assert "error[ORIO-M015]: counter `instructions` cannot be had of kernels" in capsys.readouterr().err


# --- machines that lack something ---


def without_pyopencl(folder: Path) -> dict[str, str]:
    """An environment in which PyOpenCL cannot be imported."""
    (folder / "hidden").mkdir()
    (folder / "hidden" / "pyopencl.py").write_text("raise ImportError('no pyopencl here')\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "hidden"), *_paths()])}


def without_drivers(folder: Path) -> dict[str, str]:
    """An environment in which the loader finds no platform."""
    (folder / "hidden").mkdir()
    (folder / "hidden" / "pyopencl.py").write_text(
        "class Error(Exception): pass\n"
        "class device_type: CPU = GPU = ACCELERATOR = 1\n"
        "def __getattr__(name): return object\n"
        "def get_platforms(): raise Error('clGetPlatformIDs failed: PLATFORM_NOT_FOUND_KHR')\n"
    )
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "hidden"), *_paths()])}


def _paths() -> list[str]:
    return [str(Path(orio_py.__file__).parents[1])]


def orio(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "orio_py", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("lacking", "words"),
    [(without_pyopencl, "PyOpenCL is not installed"), (without_drivers, "PLATFORM_NOT_FOUND_KHR")],
)
def test_a_machine_without_opencl_says_what_to_install(tmp_path: Path, lacking, words: str) -> None:
    environment = lacking(tmp_path)
    shown = orio(environment, "devices")
    assert shown.returncode == 0
    assert words in " ".join(shown.stdout.split())
    assert "pip install" in shown.stdout
    document = json.loads(orio(environment, "devices", "--json").stdout)
    assert document["opencl"]["platforms"] == []
    assert words in document["opencl"]["problem"]
    fields = {"parameters": "param WI[] = [64];", "counter": "", "n": 100, "before": "", "after": ""}
    (tmp_path / "k.c").write_text(SOURCE % {**fields, "arguments": "", "loop": AXPY})
    done = orio(environment, "tune", str(tmp_path / "k.c"), "--no-db", "--target", "opencl")
    assert done.returncode == 3
    assert "error[ORIO-B010]: no OpenCL device was found" in done.stderr
    assert "pip install" in done.stderr


def test_devices_are_listed() -> None:
    done = orio({**os.environ, "PYTHONPATH": os.pathsep.join(_paths())}, "devices", "--json")
    [platform, *_] = json.loads(done.stdout)["opencl"]["platforms"]
    [device, *_] = platform["devices"]
    assert platform["version"].startswith("OpenCL")
    assert device["name"]
    assert device["max_group"] >= 1
