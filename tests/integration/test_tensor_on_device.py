"""The function that runs a whole contraction on arrays that are on the device."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from opencl_build import STRICT, device_environment, headers, loader

import orio_py
from orio_py.build.compiler import Artifact
from orio_py.build.cuda_cpu import Check, cuda_on_cpu

pytestmark = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("gcc", "g++")), reason="gcc or g++ is not installed"
)
PROGRAM = """chain
signature: v w s a b c
define: n = 9 m = 13
variables: a: (n, m)  b: (m, n)  c: (n, n)  v: (n, n)  w: (n, n)  s: 0
operations:
  v:(i,j) += a:(i,k) * b:(k,l) * c:(l,j)
  w:(j,i) -= 2 * b:(k,j) * a:(i,k)
  s += v:(i,j) * w:(i,j)
"""
BY_RECIPE = (
    PROGRAM[: PROGRAM.index("  v:(i,j)")]
    + """\
  v:(i,j) += a:(i,k) * b:(k,j)
  w:(i,j) -= a:(i,k) * b:(k,j)
  v:(i,j) -= c:(i,k) * c:(k,j)
"""
)
ARRAYS = (("v", 81), ("w", 81), ("s", 1), ("a", 117), ("b", 117), ("c", 81), ("common", 81))
_START = """
#include <math.h>
#include <stdio.h>
%(include)s
#include "out_%(language)s.h"
%(plain)s
enum { ARRAYS = 7 };
static const int sizes[ARRAYS] = {81, 81, 1, 117, 117, 81, 81};
static double mine[ARRAYS][117], theirs[ARRAYS][117];
static void fill(void)
{
  int a, k;
  for (a = 0; a < ARRAYS; a++)
    for (k = 0; k < 117; k++)
      mine[a][k] = theirs[a][k] = (5 * a + 3 * k) %% 11 - 4;
}
static int compare(void)
{
  int a, k, bad = 0;
  chain(theirs[0], theirs[1], theirs[2], theirs[3], theirs[4], theirs[5]);
  for (a = 0; a + 1 < ARRAYS; a++)
    for (k = 0; k < sizes[a]; k++)
      bad += fabs(mine[a][k] - theirs[a][k]) > 1e-9 * fabs(theirs[a][k]);
  printf("%%d differ, %%d\\n", bad, theirs[0][5] != -4 + 25 %% 11);
  return 0;
}
"""
_CUDA_MAIN = """
int main()
{
  double *d[ARRAYS];
  cudaStream_t stream;
  fill();
  cudaStreamCreate(&stream);
  for (int k = 0; k < ARRAYS; k++) {
    cudaMalloc((void **)&d[k], sizes[k] * sizeof(double));
    cudaMemcpyAsync(d[k], mine[k], sizes[k] * sizeof(double), cudaMemcpyHostToDevice, stream);
  }
  orio_%(language)s_chain_all_on_device(%(given)s, stream);
  for (int k = 0; k < ARRAYS; k++) {
    cudaMemcpyAsync(mine[k], d[k], sizes[k] * sizeof(double), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    cudaFree(d[k]);
  }
  return compare();
}
"""
_OPENCL_MAIN = """
static int turn(cl_device_id device)
{
  cl_int status = 0;
  cl_mem d[ARRAYS];
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  int k;
  fill();
  for (k = 0; k < ARRAYS; k++) {
    d[k] = clCreateBuffer(context, CL_MEM_READ_WRITE, sizes[k] * sizeof(double), NULL, &status);
    clEnqueueWriteBuffer(queue, d[k], CL_TRUE, 0, sizes[k] * sizeof(double), mine[k], 0, NULL, NULL);
  }
  orio_opencl_chain_all_on_device(d[0], d[1], d[2], d[3], d[4], d[5], d[6], queue);
  for (k = 0; k < ARRAYS; k++) {
    clEnqueueReadBuffer(queue, d[k], CL_TRUE, 0, sizes[k] * sizeof(double), mine[k], 0, NULL, NULL);
    clReleaseMemObject(d[k]);
  }
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return compare();
}
int main(void)
{
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
    return 2;
  return turn(device) || turn(device) || orio_opencl_out_release();
}
"""


def written(target: str, folder: Path, *, by_recipe: bool = False) -> None:
    """The host code of the first variant in `out.c`, and the plain loops in `plain.o`."""
    source = folder / "chain.tensor"
    source.write_text(BY_RECIPE if by_recipe else PROGRAM)
    options = orio_py.TuneOptions(target=target)
    made = orio_py.tensor(source, emit=folder / "chain.c", by_recipe=by_recipe, tuned=False, options=options)
    assert made.exit_code == 0, made.diagnostics
    assert made.program is not None
    temporary = [(t.name, t.size) for t in made.program.tensors if t.is_temporary]
    assert [*((t.name, t.size) for t in made.program.parameters), *temporary] == list(
        ARRAYS[:6] if by_recipe else ARRAYS
    )
    assert orio_py.transform(folder / "chain.c", output=folder / "out.c").exit_code == 0
    words = ["gcc", "-O1", "-w", "-DORIO_ORIGINAL", "-c", "out.c", "-o", "plain.o"]
    subprocess.run(words, cwd=folder, check=True)


def parts(language: str, include: str, *, in_cpp: bool) -> dict[str, str]:
    plain = f"void chain({', '.join(['double *'] * 6)});"
    return {
        "given": "d[0], d[1], d[2], d[3], d[4], d[5], d[6]",
        "language": language,
        "include": include,
        "plain": f'extern "C" {plain}' if in_cpp else plain,
    }


@pytest.mark.parametrize(
    ("language", "source", "by_recipe"),
    [("cuda", "out_cuda.cu", False), ("cuda", "out_cuda.cu", True), ("hip", "out_hip.hip", False)],
)
def test_of_cuda_and_hip(language: str, source: str, by_recipe: bool, tmp_path: Path) -> None:
    written(language, tmp_path, by_recipe=by_recipe)
    found = parts(language, "#include <cuda_runtime.h>", in_cpp=True)
    if by_recipe:  # no kernel has `s`, and there is no temporary tensor
        found["given"] = "d[0], d[1], d[3], d[4], d[5]"
    text = (_START + _CUDA_MAIN) % found
    (tmp_path / "main.cu").write_text(text)
    subprocess.run(["ar", "rcs", "libplain.a", "plain.o"], cwd=tmp_path, check=True)
    built = cuda_on_cpu(tmp_path).build_program(
        [tmp_path / source, tmp_path / "main.cu"],
        tmp_path / "program",
        check=Check.ACCESSES,
        flags=["-O1", f"-L{tmp_path}", "-lplain"],
    )
    assert isinstance(built, Artifact), built.log
    done = subprocess.run([str(built.path)], capture_output=True, text=True, check=True)
    assert done.stdout == "0 differ, 1\n"


def test_of_opencl_in_contexts_of_the_callers(tmp_path: Path) -> None:
    environment = device_environment()
    written("opencl", tmp_path)
    include = "#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>"
    (tmp_path / "main.c").write_text((_START + _OPENCL_MAIN) % parts("opencl", include, in_cpp=False))
    words = ["gcc", *STRICT, *headers(), "main.c", "out_opencl.c", "plain.o", str(loader()), "-o", "program"]
    subprocess.run([*words, "-lm", "-pthread"], cwd=tmp_path, check=True)
    done = subprocess.run(
        [str(tmp_path / "program")], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "0 differ, 1\n" * 2


@pytest.mark.parametrize(
    ("between", "trips", "expected"),
    [("", "100", True), ("y[3] = 1;", "100", False), ("", "n", False), ("if (n > 1)", "100", False)],
)
def test_only_regions_that_are_kernels_alone_have_one(
    between: str, trips: str, expected: bool, tmp_path: Path
) -> None:
    text = f"""void f(int n, double *restrict x, double *restrict y)
{{
  /*@ begin Loop(
    {{
    transform CUDA(dataOnDevice=True)
    for (int i = 0; i < 100; i++)
      y[i] = 2 * x[i];
    {between}
    transform CUDA(dataOnDevice=True)
    for (int i = 0; i < {trips}; i++)
      x[i] = y[i] + 1;
    }}
  ) @*/
  /*@ end @*/
}}
"""
    (tmp_path / "r.c").write_text(text)
    assert orio_py.transform(tmp_path / "r.c", output=tmp_path / "o.c").exit_code == 0
    header = (tmp_path / "o_cuda.h").read_text()
    assert header.count("_on_device(") == 2 + expected
