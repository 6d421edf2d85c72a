"""Kernels of code that tests pointers, follows pointers set in blocks, and stands behind the user's threads: the same results."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_trees import context, statement, transformed_file
from cuda_host_build import build, run, transformed

from orio_py.build.cuda_cpu import cuda_on_cpu
from orio_py.transformation.base import Refusal
from orio_py.transformation.offload.opencl import OpenCL

SOURCE = """\
#include <stddef.h>
void nest_rows(int b, int n, const double *restrict x, const double *restrict bias, double *restrict y)
{
  const int WIDTH = 4;
  int i, j;
  /*@ begin Loop(transform CUDA(threadCount=32)) @*/
  #pragma omp parallel for private(j) schedule(static)
  for (i = 0; i < b; i++) {
    const double *row = x + i * n + 1;
    double *out = y + i * n;
    double sums[WIDTH];
    for (j = 0; j < WIDTH; j++)
      sums[j] = (bias != NULL) ? bias[j] : 0.5;
    for (j = 0; j < n - 1; j++)
      sums[j % WIDTH] += row[j];
    for (j = 0; j < n; j++)
      out[j] = sums[j % WIDTH] * (!bias ? 2 : 3);
    if (bias && n > 2)
      out[1] -= bias[0];
  }
  /*@ end @*/
}
"""

DRIVER = """\
#include <cstdio>
#include <cstring>
extern "C" {
void nest_rows(int b, int n, const double *x, const double *bias, double *y);
void plain_rows(int b, int n, const double *x, const double *bias, double *y);
}
static double x[70], bias[4] = {1, 2, 3, 4}, y[2][70];
int main()
{
  int differ = 0;
  for (int k = 0; k < 70; k++)
    x[k] = k % 13;
  for (int turn = 0; turn < 2; turn++) {
    nest_rows(7, 10, x, turn ? bias : NULL, y[0]);
    plain_rows(7, 10, x, turn ? bias : NULL, y[1]);
    differ += memcmp(y[0], y[1], sizeof y[0]) != 0;
  }
  printf("%d differ\\n", differ);
  return 0;
}
"""


def test_on_the_executor(tmp_path: Path) -> None:
    transformed(tmp_path, SOURCE)
    text = (tmp_path / "out.c").read_text()
    assert "#pragma omp parallel for private(j) schedule(static)" in text
    assert text.index("orio_cuda_nest_rows_0(") < text.index("#pragma omp")
    program = build(cuda_on_cpu(tmp_path), tmp_path, DRIVER)
    assert run(program) == "0 differ\n"


def test_the_host_tells_of_pointers() -> None:
    text = """void f(int n, double *restrict x, const double *restrict b) {
  /*@ begin Loop(transform OpenCL()) @*/
  for (int i = 0; i < n; i++)
    if (b != 0) x[i] = b[i]; else x[i] = 1;
  /*@ end @*/
}
"""
    result = transformed_file(text, {})
    assert "b != 0 ? n : 0" in result
    assert ", n, b != 0, n)" in result


@pytest.mark.parametrize(
    "code", ["for (i = 0; i < n; i++) if (x == y) x[i] = 0;", "for (i = 0; i < n; i++) if (x > 0) x[i] = 0;"]
)
def test_other_comparisons_of_pointers_are_refused(code: str) -> None:
    inner = context("int i, n; double *restrict x, *restrict y;", live="x y")
    with pytest.raises(Refusal) as caught:
        OpenCL(loop="i").apply(statement(code), inner)
    (problem,) = caught.value.diagnostics
    assert problem.code == "ORIO-T124"
    assert problem.position is not None


def test_threads_of_a_region_around_are_not_a_kernels() -> None:
    """Each thread would run the kernel."""
    text = """void f(int n, double *restrict x) {
  #pragma omp parallel
  {
  /*@ begin PerfTuning(def build { arg build_command = 'gcc -fopenmp'; }) @*/
  /*@ begin Loop(transform OpenCL()) @*/
  #pragma omp for
  for (int i = 0; i < n; i++)
    x[i] = 1;
  /*@ end @*/
  /*@ end @*/
  }
}
"""
    with pytest.raises(Refusal, match="each thread around `#pragma omp for` would run") as caught:
        transformed_file(text, {})
    assert caught.value.diagnostics[0].code == "ORIO-T023"
