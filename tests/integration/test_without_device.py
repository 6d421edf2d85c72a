"""Tuned applications where no device can be used: the user's loops run, with a word on stderr, or it is an error."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from cuda_host_build import build as build_cuda
from cuda_host_build import transformed
from opencl_build import build as build_opencl
from opencl_build import device_environment, loader

from orio_py.build.cuda_cpu import cuda_on_cpu

SOURCE = """\
void nest_steps(int n, int m, double *restrict x, double *restrict y)
{
  /*@ begin Loop(
    for (int t = 0; t < m; t++) {
      transform @(threadCount=32)
      for (int i = 0; i < n; i++)
        y[i] = x[i] + t;
      transform @(threadCount=32)
      for (int i = 1; i < n; i++)
        x[i] += y[i - 1];
    }
  ) @*/
  /*@ end @*/
}

double nest_sum(int n, const double *restrict x)
{
  double s = 1;
  int i;
  /*@ begin Loop(transform @(threadCount=32, force=True)) @*/
  for (i = 0; i < n; i++)
    s += x[i];
  /*@ end @*/
  return s;
}
"""

MAIN = """\
#include <stdio.h>
#include <string.h>
#include "out_%(language)s.h"
#ifdef __cplusplus
extern "C" {
#endif
void nest_steps(int n, int m, double *x, double *y);
void plain_steps(int n, int m, double *x, double *y);
double nest_sum(int n, const double *x);
double plain_sum(int n, const double *x);
#ifdef __cplusplus
}
#endif
static double x[2][90], y[2][90];
int main(void)
{
  int k, turn;
  for (k = 0; k < 90; k++)
    x[0][k] = x[1][k] = k;
  for (turn = 0; turn < 2; turn++) {
    nest_steps(90, 3, x[0], y[0]);
    plain_steps(90, 3, x[1], y[1]);
  }
  k = memcmp(x[0], x[1], sizeof x[0]) == 0 && memcmp(y[0], y[1], sizeof y[0]) == 0 && nest_sum(90, x[0]) == plain_sum(90, x[1]);
  (void)printf("%%s\\n", k ? "same" : "differs");
  return 0;
}
"""

OPENCL_FAILS = """\
#include <CL/cl.h>
cl_mem no_memory(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *status);
cl_mem no_memory(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *status)
{
  (void)context, (void)flags, (void)size, (void)host;
  *status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return NULL;
}
"""

NO_GPU = 'extern "C" cudaError_t no_gpu(int *device) { (void)device; return cudaErrorNoDevice; }\n'
NO_MEMORY = """\
extern "C" cudaError_t no_memory(void **pointer, size_t bytes) { (void)pointer, (void)bytes; return cudaErrorMemoryAllocation; }
"""


def ended(program: Path, environment: Mapping[str, str] | None = None) -> tuple[int, str, list[str]]:
    """Status, output and lines of stderr of a program."""
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=120, env=environment)
    return done.returncode, done.stdout, done.stderr.splitlines()


@pytest.mark.skipif(loader() is None, reason="the wheel pyopencl[pocl] is not installed")
def test_opencl(tmp_path: Path) -> None:
    transformed(tmp_path, SOURCE.replace("@(", "OpenCL("))
    (tmp_path / "main.c").write_text(MAIN % {"language": "opencl"})
    (tmp_path / "fails.c").write_text(OPENCL_FAILS)
    plain = ["-DORIO_ORIGINAL", "-Dnest_steps=plain_steps", "-Dnest_sum=plain_sum"]
    for output, flags in (("tuned.o", []), ("plain.o", plain)):
        command = ["gcc", "-std=c99", "-O1", *flags, "-c", "out.c", "-o", output]
        subprocess.run(command, cwd=tmp_path, check=True)
    sources = ["main.c", "out_opencl.c", "tuned.o", "plain.o", str(loader())]
    program = build_opencl(tmp_path, sources)
    environment = device_environment({"POCL_CACHE_DIR": str(tmp_path / "cache"), "ORIO_OPENCL_DEVICE": ""})
    assert ended(program, environment) == (0, "same\n", [])

    absent = {**environment, "ORIO_OPENCL_DEVICE": "no such device"}
    status, told, lines = ended(program, absent)
    assert (status, told) == (0, "same\n")
    assert len(lines) == 1
    assert lines[0].startswith("orio_opencl_nest_steps_0_data_begin: no OpenCL device")
    assert lines[0].endswith("; the loops run in C")
    status, _, lines = ended(program, {**absent, "ORIO_REQUIRE_DEVICE": "1"})
    assert status == -6
    assert lines[0].startswith("orio_opencl_nest_steps_0_data_begin: no OpenCL device")

    program = build_opencl(tmp_path, [*sources, "fails.c"], "-DclCreateBuffer=no_memory")
    status, told, lines = ended(program, environment)
    assert (status, told) == (0, "same\n")
    assert lines == [
        "orio_opencl_nest_steps_0_data_begin: clCreateBuffer: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4); the loops run in C"
    ]


@pytest.mark.proof
@pytest.mark.parametrize(
    ("language", "replaced", "by", "text", "reason"),
    [
        ("cuda", "cudaGetDevice", "no_gpu", NO_GPU, "cudaGetDevice: cudaErrorNoDevice (100)"),
        ("cuda", "cudaMalloc", "no_memory", NO_MEMORY, "cudaMalloc: cudaErrorMemoryAllocation (2)"),
        ("hip", "cudaMalloc", "no_memory", NO_MEMORY, "hipMalloc: cudaErrorMemoryAllocation (2)"),
    ],
)
def test_cuda_and_hip(tmp_path: Path, language: str, replaced: str, by: str, text: str, reason: str) -> None:
    transformed(tmp_path, SOURCE.replace("@(", f"{language.upper()}("))
    driver = f"#include <cuda_runtime.h>\n{text}" + MAIN % {"language": language}
    host = {"cuda": "out_cuda.cu", "hip": "out_hip.hip"}[language]
    program = build_cuda(cuda_on_cpu(tmp_path), tmp_path, driver, more=[f"-D{replaced}={by}"], host=host)
    status, told, lines = ended(program)
    assert (status, told) == (0, "same\n")
    assert lines == [f"orio_{language}_nest_steps_0_data_begin: {reason}; the loops run in C"]
    assert ended(program, {"ORIO_REQUIRE_DEVICE": "1"})[0] == -6


@pytest.mark.parametrize("language", ["CUDA", "HIP"])
def test_the_test_stands_before_the_region(tmp_path: Path, language: str) -> None:
    transformed(tmp_path, SOURCE.replace("@(", f"{language}("))
    text = (tmp_path / "out.c").read_text()
    assert f"if (orio_{language.lower()}_nest_sum_0_ready(n)) {{" in text
    assert "_0_data_begin_ready(x, (long)n * (long) sizeof(x[0])" in text


def test_code_that_cannot_stand_there_twice_runs_as_ever(tmp_path: Path) -> None:
    label = SOURCE.replace("double s = 1;", "double s = 1;").replace(
        "    s += x[i];\n", "    s += x[i];\n  done: ;\n"
    )
    transformed(tmp_path, label.replace("@(", "OpenCL("))
    assert "_nest_sum_0_ready" not in (tmp_path / "out.c").read_text()


KEPT = """\
#undef clCreateProgramWithSource
#include <CL/cl.h>
#include <stdio.h>
cl_program counted(cl_context context, cl_uint count, const char **strings, const size_t *lengths, cl_int *status);
cl_program counted(cl_context context, cl_uint count, const char **strings, const size_t *lengths, cl_int *status)
{
  (void)printf("built\\n");
  return clCreateProgramWithSource(context, count, strings, lengths, status);
}
"""


@pytest.mark.proof
@pytest.mark.skipif(loader() is None, reason="the wheel pyopencl[pocl] is not installed")
def test_built_programs_are_kept_where_that_is_asked_for(tmp_path: Path) -> None:
    transformed(tmp_path, SOURCE.replace("@(", "OpenCL("))
    (tmp_path / "main.c").write_text(MAIN.replace("plain_", "nest_") % {"language": "opencl"})
    (tmp_path / "counts.c").write_text(KEPT)
    sources = ["main.c", "out.c", "out_opencl.c", "counts.c", str(loader())]
    replaced = "-DclCreateProgramWithSource=counted"
    program = build_opencl(tmp_path, sources, replaced, "-Wno-unknown-pragmas")
    (tmp_path / "kept").mkdir()
    environment = device_environment({"POCL_CACHE_DIR": str(tmp_path / "cache"), "ORIO_OPENCL_DEVICE": ""})
    kept = {**environment, "ORIO_OPENCL_CACHE": str(tmp_path / "kept")}
    first = ended(program, environment)
    assert first[1].count("built") > 0
    assert ended(program, kept) == first
    files = sorted((tmp_path / "kept").iterdir())
    assert len(files) == first[1].count("built")
    assert ended(program, kept) == (0, first[1].replace("built\n", ""), [])
    files[0].write_bytes(files[0].read_bytes()[:-1])
    assert ended(program, kept)[1].count("built") == 1
    absent = ended(program, {**environment, "ORIO_OPENCL_CACHE": str(tmp_path / "nowhere")})
    assert absent == first
