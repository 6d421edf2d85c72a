"""What loops keep side by side is the same where arrays overlap, counters stop, and values have no room in a counter's type."""

from __future__ import annotations

from pathlib import Path

from cuda_host_build import build, run, transformed

from orio_py.build.cuda_cpu import cuda_on_cpu

CASES = """\
int nest_all(int n, const float *x, float *out)
{
  int m, i;
  /*@ begin Loop(transform CUDA(threadCount=64, blockCount=8)) @*/
  m = 0;
  for (i = 0; i < n; i++)
    if (x[i] > 0.5f)
      out[m++] = 2.0f * x[i];
  /*@ end @*/
  return m;
}

unsigned nest_unsigned(int n, const float *x, float *out, unsigned m)
{
  int i;
  /*@ begin Loop(transform CUDA(threadCount=64, blockCount=8)) @*/
  for (i = 0; i < n; i++)
    if (x[i] > 0.5f)
      out[m++] = 2.0f * x[i];
  /*@ end @*/
  return m;
}

int nest_limit(int n, const float *x, float *out, int m, int most)
{
  int i;
  /*@ begin Loop(transform CUDA(threadCount=64, blockCount=8)) @*/
  for (i = 0; i < n; i++)
    if (x[i] > 0.5f && m < most)
      out[m++] = 2.0f * x[i];
  /*@ end @*/
  return m;
}
"""

DRIVER = """\
#include <cstdio>
#include <cstring>
#define BOTH(result, name, ...) extern "C" result nest_##name(__VA_ARGS__); extern "C" result plain_##name(__VA_ARGS__)
BOTH(int, all, int, const float *, float *);
BOTH(unsigned, unsigned, int, const float *, float *, unsigned);
BOTH(int, limit, int, const float *, float *, int, int);
enum { SIZE = 4000, FIRST = 1000 };
static float tuned[SIZE], plain[SIZE];
static int runs, differ;

static void filled(float *p) {
  unsigned seed = 1;
  for (int i = 0; i < SIZE; i++) {
    seed = seed * 1664525u + 1013904223u;
    p[i] = (seed >> 8) % 1000 / 1000.0f;
  }
}

#define SAME(name, n, at, ...) do { \\
    filled(tuned); filled(plain); \\
    auto one = nest_##name(n, tuned + FIRST, tuned + FIRST + (at) __VA_ARGS__); \\
    auto two = plain_##name(n, plain + FIRST, plain + FIRST + (at) __VA_ARGS__); \\
    runs++; differ += one != two || std::memcmp(tuned, plain, sizeof tuned) != 0; } while (0)

int main() {
  const int places[] = {-1000, -500, -3, -1, 0, 1, 50, 699, 700, 1000, 1001};
  const int limits[] = {-5, 0, 5, 6, 100, 5000};
  for (int at : places)
    for (int n = 0; n <= 1000; n += n ? 699 / 2 : 1) {
      SAME(all, n, at);
      SAME(unsigned, n, at, , 5u);
      for (int most : limits)
        for (int m = 0; m < 10; m += 5)
          SAME(limit, n, at, , m, most);
    }
  SAME(limit, 1000, 1000, , 2147483000, 100);
  SAME(limit, 1000, 1000, , -2147483647 - 1, -2147483647 - 1);
  SAME(unsigned, 0, 1000, , 4294967295u);
  std::printf("%d runs, %d differ\\n", runs, differ);
  return 0;
}
"""


def test_the_same_is_kept(tmp_path: Path) -> None:
    assert transformed(tmp_path, CASES) == ["out.c", "out_cuda.cu", "out_cuda.h"]
    program = build(cuda_on_cpu(tmp_path), tmp_path, DRIVER)
    assert run(program) == "619 runs, 0 differ\n"
