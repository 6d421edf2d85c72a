"""Arrays that stay on the device between kernels: the same results, with one copy of each array in and one out."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cuda_host_build import build as build_cuda
from cuda_host_build import run as run_cuda
from cuda_host_build import transformed
from opencl_build import build as build_opencl
from opencl_build import device_environment, loader
from opencl_build import run as run_opencl

from orio_py.build.cuda_cpu import cuda_on_cpu
from orio_py.transformation.offload.device_data import DeviceData

SOURCE = """\
#include <math.h>
#define N 24
extern double grid[N][N], other[N][N];

void nest_jacobi(int steps)
{
  int t, i, j;
  /*@ begin Loop(
    for (t = 0; t < steps; t++) {
      transform @(nd=2)
      for (i = 1; i < N - 1; i++)
        for (j = 1; j < N - 1; j++)
          other[i][j] = 0.25 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]);
      transform @(nd=2)
      for (i = 1; i < N - 1; i++)
        for (j = 1; j < N - 1; j++)
          grid[i][j] = other[i][j];
    }
  ) @*/
  /*@ end @*/
}

int nest_gradients(int n, const double *restrict b, double *restrict x, double *restrict r, double *restrict p, double *restrict q)
{
  int i, k;
  double rr = 0, next, pq, alpha, beta;
  /*@ begin Loop(
    transform DeviceData(skipIn='q', skipOut=['r', 'p', 'q'])
    {
      transform @(force=True)
      for (i = 0; i < n; i++) {
        x[i] = 0;
        r[i] = b[i];
        p[i] = b[i];
        rr += b[i] * b[i];
      }
      for (k = 0; k < 4 * n && sqrt(rr) > 1e-8; k++) {
        pq = 0;
        transform @()
        for (i = 0; i < n; i++)
          q[i] = 2 * p[i] - (i > 0 ? p[i - 1] : 0) - (i < n - 1 ? p[i + 1] : 0);
        transform @(force=True)
        for (i = 0; i < n; i++)
          pq += p[i] * q[i];
        alpha = rr / pq;
        next = 0;
        transform @(force=True)
        for (i = 0; i < n; i++) {
          x[i] += alpha * p[i];
          r[i] -= alpha * q[i];
          next += r[i] * r[i];
        }
        beta = next / rr;
        rr = next;
        transform @()
        for (i = 0; i < n; i++)
          p[i] = r[i] + beta * p[i];
      }
    }
  ) @*/
  /*@ end @*/
  return k;
}

/* A kernel begins inside of what stays, the host reads an array between kernels, and there may be nothing to do. */
double nest_parts(int n, double *restrict x, double *restrict y)
{
  int i, t;
  double seen = 0;
  /*@ begin Loop(
    transform DeviceData()
    for (t = 0; t < 3; t++) {
      transform @()
      for (i = 0; i < n; i++)
        x[i] += i;
      transform @()
      for (i = 5; i < n; i++) {
        x[i] *= 2;
        y[i] = x[i];
      }
      if (n > 6)
        seen += y[6];
    }
  ) @*/
  /*@ end @*/
  return seen;
}
"""

MAIN = """\
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "out_%(language)s.h"
#ifdef __cplusplus
extern "C" {
#endif
enum { N = 24 };
double grid[N][N], other[N][N];
void nest_jacobi(int steps);
void plain_jacobi(int steps);
int nest_gradients(int n, const double *b, double *x, double *r, double *p, double *q);
int plain_gradients(int n, const double *b, double *x, double *r, double *p, double *q);
double nest_parts(int n, double *x, double *y);
double plain_parts(int n, double *x, double *y);
#ifdef __cplusplus
}
#endif
static void counted(const char *what, int is_same)
{
  struct orio_%(language)s_out_copies found = orio_%(language)s_out_count_copies();
  printf("%%s %%s: %%lu in, %%lu out, %%lu and %%lu bytes, %%lu allocations\\n", what, is_same ? "same" : "differs", found.to_device, found.to_host,
         found.bytes_to_device, found.bytes_to_host, found.allocations);
}
static void fill(void)
{
  int i, j;
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++) {
      grid[i][j] = (7 * i + 3 * j) %% 11;
      other[i][j] = i;
    }
}
static double b[64], x[64], r[64], p[64], q[64], y[64], x2[64], y2[64];
int main(void)
{
  static double kept[2][N][N];
  int k, turn, first, second;
  for (turn = 0; turn < 2; turn++) {
    fill();
    nest_jacobi(3);
    memcpy(kept[0], grid, sizeof grid);
    memcpy(kept[1], other, sizeof other);
    fill();
    plain_jacobi(3);
    counted("jacobi", memcmp(kept[0], grid, sizeof grid) == 0 && memcmp(kept[1], other, sizeof other) == 0);
  }
  nest_jacobi(0);
  counted("nothing", 1);
  for (k = 0; k < 64; k++)
    b[k] = k %% 7 - 3;
  first = nest_gradients(8, b, x, r, p, q);
  second = plain_gradients(8, b, x2, r, p, q);
  for (k = 0; k < 64; k++)
    first += fabs(x[k] - x2[k]) > 1e-6;
  counted("gradients", first == second);
  for (k = 0; k < 64; k++)
    x[k] = x2[k] = y[k] = y2[k] = k;
  k = nest_parts(64, x, y) == plain_parts(64, x2, y2);
  counted("parts", k && memcmp(x, x2, sizeof x) == 0 && memcmp(y, y2, sizeof y) == 0);
  k = nest_parts(0, x, y) == 0;
  counted("none", k);
  return 0;
}
"""

MATRIX = 8 * 24 * 24
EXPECTED = f"""\
jacobi same: 2 in, 2 out, {2 * MATRIX} and {2 * MATRIX} bytes, 2 allocations
jacobi same: 2 in, 2 out, {2 * MATRIX} and {2 * MATRIX} bytes, 0 allocations
nothing same: 0 in, 0 out, 0 and 0 bytes, 0 allocations
gradients same: 1 in, 1 out, 64 and 64 bytes, 8 allocations
parts same: 1 in, 4 out, 512 and {512 + 3 * 59 * 8} bytes, @ allocations
none same: 0 in, 0 out, 0 and 0 bytes, 0 allocations
"""
"""The buffers of the function before are used again: for `@`, CUDA needs two larger ones, OpenCL three."""


def test_on_the_executor(tmp_path: Path) -> None:
    assert DeviceData().arrays == ()
    transformed(tmp_path, SOURCE.replace("@(", "CUDA("))
    program = build_cuda(cuda_on_cpu(tmp_path), tmp_path, MAIN % {"language": "cuda"})
    assert run_cuda(program) == EXPECTED.replace("@", "2")


@pytest.mark.proof
@pytest.mark.skipif(loader() is None, reason="the wheel pyopencl[pocl] is not installed")
def test_on_a_device_of_opencl(tmp_path: Path) -> None:
    transformed(tmp_path, SOURCE.replace("@(", "OpenCL("))
    (tmp_path / "main.c").write_text(MAIN % {"language": "opencl"})
    names = [f"-Dnest_{name}=plain_{name}" for name in ("jacobi", "gradients", "parts")]
    for output, flags in (("tuned.o", []), ("plain.o", [*names, "-DORIO_ORIGINAL"])):
        command = ["gcc", "-std=c99", "-O1", *flags, "-c", "out.c", "-o", output]
        subprocess.run(command, cwd=tmp_path, check=True)
    sources = ["main.c", "out_opencl.c", "tuned.o", "plain.o", str(loader())]
    program = build_opencl(tmp_path, sources)
    environment = device_environment({"POCL_CACHE_DIR": str(tmp_path / "cache"), "ORIO_OPENCL_DEVICE": ""})
    assert run_opencl(program, environment=environment) == EXPECTED.replace("@", "3")
