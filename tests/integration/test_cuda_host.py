"""CUDA host code over the executor: errors, memory that is kept, arrays on the device, threads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cuda_host_build import build, run, transformed

from orio_py.build.cuda_cpu import Check, cuda_on_cpu

SOURCE = """\
void nest_axpy(int n, double a, const double *restrict x, double *restrict y)
{
  int i;
  /*@ begin Loop(transform CUDA(threadCount=32, streamCount=3, pinHostMem=True, dataOnDevice=True)) @*/
  for (i = 0; i < n; i++)
    y[i] += a * x[i];
  /*@ end @*/
}

double nest_dot(int n, const double *x, const double *y, double s)
{
  int i;
  /*@ begin Loop(transform CUDA(threadCount=64, dataOnDevice=True, preferL1Size=32, force=True)) @*/
  for (i = 0; i < n; i++)
    s += x[i] * y[i];
  /*@ end @*/
  return s;
}

void nest_turned(double new[40][24], double P[40][24])
{
  int i, j;
  /*@ begin Loop(transform CUDA(nd=2, layout='column', pinHostMem=True, force=True)) @*/
  for (i = 0; i < 40; i++)
    for (j = 0; j < 24; j++)
      new[i][j] = 2 * P[i][j] + new[i][j];
  /*@ end @*/
}

#pragma pack(1)
struct packed { char kind; double x; };
#pragma pack()
void nest_packed(int n, struct packed *restrict c)
{
  int i;
  /*@ begin Loop(transform CUDA(dataOnDevice=True)) @*/
  for (i = 0; i < n; i++)
    c[i].x += c[i].kind;
  /*@ end @*/
}

int nest_count(int n, int s)
{
  int i;
  /*@ begin Loop(transform CUDA()) @*/
  for (i = 3; i < n; i++)
    s += 1;
  /*@ end @*/
  return s;
}
"""

DRIVER = """\
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <thread>
#include "out_cuda.h"

extern "C" {
void nest_axpy(int n, double a, const double *x, double *y);
double nest_dot(int n, const double *x, const double *y, double s);
void nest_turned(double Q[40][24], double P[40][24]);
void plain_turned(double Q[40][24], double P[40][24]);
void nest_packed(int n, void *c);
int nest_count(int n, int s);
}

enum { N = 500 };
static double x[N], y[N], before[N], P[40][24], Q[40][24], R[40][24];
static int told;
static char last[512];

static void handler(int status, const char *message)
{
  told++;
  snprintf(last, sizeof last, "%d %s", status, message);
}

static void fill()
{
  for (int k = 0; k < N; k++) {
    x[k] = k % 7 - 3;
    y[k] = before[k] = k % 5;
  }
  for (int k = 0; k < 40 * 24; k++) {
    P[k / 24][k % 24] = k;
    Q[k / 24][k % 24] = R[k / 24][k % 24] = -k % 11;
  }
}

static double expected()
{
  double s = 1;
  for (int k = 0; k < N; k++)
    s += x[k] * (before[k] + 2 * x[k]);
  return s;
}

/* All three functions; whether each either did all of its work, on the device or in C, or, where an error was told, left
   its arrays alone. */
static int all_or_nothing()
{
  int errors = told;
  fill();
  nest_axpy(N, 2, x, y);
  int failed = told != errors;
  int is_done = y[0] != before[0];
  if (!is_done && !failed)
    return 0;
  for (int k = 0; k < N; k++)
    if (y[k] != before[k] + (is_done ? 2 * x[k] : 0))
      return 0;
  if (!is_done)
    nest_axpy(N, 2, x, y);
  errors = told;
  double s = nest_dot(N, x, y, 1);
  failed = told != errors;
  if (fabs(s - expected()) > 1e-9 && !(failed && s == 1))
    return 0;
  errors = told;
  nest_turned(Q, P);
  failed = told != errors;
  if (failed && memcmp(Q, R, sizeof Q) == 0)
    return 1;
  plain_turned(R, P);
  return memcmp(Q, R, sizeof Q) == 0;
}

static void inject()
{
  int bad = 0;
  int calls = 0;
  orio_cuda_out_on_error(handler);
  for (int k = 1; k < 1000; k++) {
    char option[32];
    told = 0;
    snprintf(option, sizeof option, "fail=%d:2", k);
    orio_cuda_cpu_options(option);
    bad += !all_or_nothing();
    orio_cuda_cpu_options("fail=0");
    if (told == 0)
      break;
    calls++;
    bad += told != 1 || strstr(last, "cudaErrorMemoryAllocation (2)") == NULL;
    told = 0;
    bad += !all_or_nothing() || told != 0;
    bad += orio_cuda_out_release() != 0 || orio_cuda_cpu_alive() != 0;
  }
  orio_cuda_out_release();
  printf("%d calls failed, %d bad, %ld alive\\n", calls, bad, orio_cuda_cpu_alive());
}

static void growth()
{
  static const int sizes[] = {100, 100, 50, 400, 300};
  for (int n : sizes) {
    fill();
    long made = orio_cuda_cpu_alive();
    nest_axpy(n, 2, x, y);
    printf("n=%d: %ld more alive\\n", n, orio_cuda_cpu_alive() - made);
  }
}

static void chain()
{
  double *dx, *dy, s = 1;
  cudaStream_t stream;
  fill();
  cudaMalloc(&dx, sizeof x);
  cudaMalloc(&dy, sizeof y);
  cudaStreamCreate(&stream);
  cudaMemcpyAsync(dx, x, sizeof x, cudaMemcpyHostToDevice, stream);
  cudaMemcpyAsync(dy, y, sizeof y, cudaMemcpyHostToDevice, stream);
  long waiting = orio_cuda_cpu_calls();
  orio_cuda_nest_axpy_0_on_device(dx, dy, 2, N, stream);
  waiting = orio_cuda_cpu_calls() - waiting;
  orio_cuda_nest_dot_0_on_device(dx, dy, N, &s, stream);
  printf("%ld call, %s\\n", waiting, fabs(s - expected()) < 1e-9 ? "same" : "differs");
  cudaStreamDestroy(stream);
  cudaFree(dx);
  cudaFree(dy);
}

/* Structures that the host packs are not those of the device. */
static void packed()
{
  static char cells[90];
  orio_cuda_out_on_error(handler);
  nest_packed(10, cells);
  printf("%s\\n", last);
  orio_cuda_nest_packed_0_on_device(cells, 9, 10, NULL);
  printf("%s, %d counted\\n", last, nest_count(10, 1));
}

static void threads()
{
  static double ys[4][N];
  std::thread all[4];
  int bad = 0;
  fill();
  memset(ys, 0, sizeof ys);
  for (int t = 0; t < 4; t++)
    all[t] = std::thread([t] { for (int k = 0; k < 5; k++) nest_axpy(N - t, 1, x, ys[t]); });
  for (auto &one : all)
    one.join();
  for (int t = 0; t < 4; t++)
    for (int k = 0; k < N; k++)
      bad += ys[t][k] != (k < N - t ? 5 * x[k] : 0);
  printf("%d differ\\n", bad);
}

int main(int count, char **words)
{
  const char *what = count > 1 ? words[1] : "";
  if (strcmp(what, "inject") == 0)
    inject();
  else if (strcmp(what, "growth") == 0)
    growth();
  else if (strcmp(what, "chain") == 0)
    chain();
  else if (strcmp(what, "packed") == 0)
    packed();
  else
    threads();
  orio_cuda_out_release();
  return orio_cuda_cpu_alive() != 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("cuda")
    transformed(folder, SOURCE)
    return build(cuda_on_cpu(folder), folder, DRIVER, check=Check.NONE)


def test_whichever_call_fails_is_told_and_nothing_is_left(program):
    told = run(program, "inject")
    calls = int(re.match(r"\d+", told)[0])
    assert told == f"{calls} calls failed, 0 bad, 0 alive\n"
    assert calls > 50


def test_what_is_large_enough_is_kept(program):
    """Two arrays on the device and in pinned memory, three streams, and events of three slices with two copies each."""
    assert run(program, "growth").splitlines() == [
        "n=100: 16 more alive",
        "n=100: 0 more alive",
        "n=50: 0 more alive",
        "n=400: 0 more alive",
        "n=300: 0 more alive",
    ]


def test_kernels_are_chained_on_the_device(program):
    assert run(program, "chain") == "1 call, same\n"


def test_structures_with_another_layout_are_told(program):
    message = "structures in c, which are not as long as the device's: cudaErrorInvalidValue (1)"
    assert run(program, "packed").splitlines() == [
        f"1 orio_cuda_nest_packed_0: {message}",
        f"1 orio_cuda_nest_packed_0_on_device: {message}, 8 counted",
    ]


def test_calls_of_several_threads_take_turns(program):
    assert run(program, "threads") == "0 differ\n"


def test_every_call_has_its_status_looked_at(program):
    text = (program.parent / "out_cuda.cu").read_text()
    code = re.sub(r'"(\\.|[^"\\\n])*"|/\*.*?\*/', '""', text, flags=re.DOTALL)
    flat = " ".join(code.split())
    calls = re.findall(r"\bcuda[A-Z]\w+(?=\()", flat)
    given = {"cudaGetErrorName", "cudaGetLastError"}
    looked_at = re.findall(
        r"orio_failed(?:_of_out)?\( ?failure, cuda[A-Z]\w+\(|return cuda(?:LaunchKernel|FuncSetAttribute|FuncGetAttributes)\(",
        flat,
    )
    assert len([call for call in calls if call not in given]) == len(looked_at) > 15
