"""OpenCL host code on the PoCL device that comes with pip: the same results as plain loops, and no leaks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from c_programs import SANITIZERS, links
from opencl_build import SUPPORT, build, device_environment, loader, run, write_unit
from opencl_plans import add_2d, axpy, squares, turn

from orio_py.codegen.host_unit import HostKernel

pytestmark = pytest.mark.skipif(loader() is None, reason="the wheel pyopencl[pocl] is not installed")


def results(folder: Path, main: str, *kernels: HostKernel) -> str:
    """What a program over the host code of some kernels prints."""
    write_unit(folder, *kernels)
    flags = SANITIZERS if links(*SANITIZERS) else ()
    program = build(folder, ["test_opencl.c", SUPPORT / main, str(loader())], *flags)
    # What PoCL and the compiler in it forget is not ours; objects that we forget are counted by the fake library.
    suppressions = folder / "theirs"
    suppressions.write_text("leak:libpocl\nleak:libOpenCL\nleak:libLLVM\nleak:libhwloc\n")
    environment = device_environment(
        {
            "ASAN_OPTIONS": "detect_leaks=1",
            "LSAN_OPTIONS": f"suppressions={suppressions}:print_suppressions=0",
            "POCL_CACHE_DIR": str(folder / "cache"),
            "ORIO_OPENCL_DEVICE": "",
        }
    )
    return run(program, environment=environment)


@pytest.mark.parametrize("streams", [1, 3])
def test_results_are_those_of_plain_loops(tmp_path, streams):
    told = results(tmp_path, "opencl_device_main.c", axpy(streams=streams), add_2d(streams), squares())
    assert told == "0 differences\n0 differences with threads\n"


def test_arrays_are_transposed_on_the_way(tmp_path):
    assert results(tmp_path, "opencl_turn_main.c", turn()) == "0 differences\n"


def test_a_mistake_in_device_text_is_shown_with_the_compilers_words(tmp_path):
    kernel = axpy(build_flags="-DORIO_WRONG=")
    wrong = type(kernel)(kernel.plan, kernel.source.replace("a * x[i]", "a * nonsense[i]"), kernel.function)
    write_unit(tmp_path, wrong, add_2d(), squares())
    program = build(tmp_path, ["test_opencl.c", SUPPORT / "opencl_device_main.c", str(loader())])
    done = subprocess.run(
        [str(program)],
        capture_output=True,
        text=True,
        env=device_environment({"POCL_CACHE_DIR": str(tmp_path / "cache")}),
    )
    assert done.returncode == -6
    assert "orio_opencl_test_axpy: clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11)" in done.stderr
    assert "nonsense" in done.stderr
