"""Loops that use a running value compute the same with threads, which do tiles of them in two passes.

The values are small whole numbers, whose sums are exact in any order.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FILE = """#include <stdio.h>
#define MOST 300
static double work(int n, int m, const double *x, const int *c, double *y, int *z, double (*p)[4])
{{
  double s = 3, t = 0;
  int i = 0, j, count = 2, bits = 77;
  unsigned few = 1;
  (void)m, (void)x, (void)c, (void)y, (void)z, (void)p, (void)t, (void)i, (void)j, (void)few;
  /*@ begin PerfTuning(def assumptions {{ arg reassociate = True; }}) @*/
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
  /*@ end @*/
  return s + 10 * count + 1000.0 * bits + few;
}}
static double x[2 * MOST + 8], y[2 * MOST + 8], p[MOST][4];
static int c[2 * MOST + 8], z[2 * MOST + 8];
static void show(double value)
{{
  double sum = 0;
  printf("%g", value);
  for (int i = 0; i < 2 * MOST + 8; i++) sum += (i % 17 + 1) * (y[i] + 3.0 * z[i] + 0.5 * x[i] + c[i]);
  for (int i = 0; i < MOST; i++) for (int j = 0; j < 4; j++) sum += (i % 5 + j) * p[i][j];
  printf(" %.17g\\n", sum);
}}
int main(void)
{{
  const int sizes[] = {{-3, 0, 1, 2, 63, 64, 65, 128, 200, 300}};
  for (int k = 0; k < 10; k++)
    for (int apart = 0; apart < 2; apart++) {{
      for (int i = 0; i < 2 * MOST + 8; i++) x[i] = i * 7 % 11 - 3, y[i] = i % 3, c[i] = i * 5 % 13 - 4, z[i] = i % 4;
      for (int i = 0; i < MOST; i++) for (int j = 0; j < 4; j++) p[i][j] = (i + j) % 7 - 2;
      if (apart) show(work(sizes[k], 40, x, c, y, z, p));
      else show(work(sizes[k], 40, x, c, x + 2, c + 1, p));
    }}
  return 0;
}}
"""
FOR_I = "for (i = 0; i < n; i++)"
CODES = {
    "running sum": f"{FOR_I} {{ s += x[i]; y[i] = s; }}",
    "before its step": f"{FOR_I} {{ y[i] = s; s += x[i] - 1; }}",
    "downwards": "for (i = n - 1; i >= 0; i -= 2) { s += x[i]; y[i] = 2 * s; }",
    "up to a number": "for (i = 3; i <= n; i += 3) { few += c[i] & 3; z[i] = few % 1000; }",
    "of some": f"{FOR_I} {{ t = x[i]; if (t > 2) {{ t -= 1; count += 2; }} y[i] = t + count; }}",
    "of rows": f"{FOR_I} {{ t = 0; for (j = 0; j < 4; j++) {{ if (p[i][j] > 3) break; t += 2; }} y[i] = s; s += t; }}",
    "inside": f"{FOR_I} for (j = 0; j < 4; j++) {{ s += p[i][j]; y[i] = s; }}",
    "bits": f"{FOR_I} {{ bits ^= c[i]; z[i] = bits & 15; }}",
    "its own index": "for (unsigned e = 2; e + 1 <= (unsigned)(n < 0 ? 0 : n); e++) { count = 2 + count; z[e] = count; }",
    "kept": f"{FOR_I} if (x[i] > 3) y[count++] = x[i];",
    "kept twice": f"{FOR_I} {{ t = x[i]; if (t > 2) {{ y[count] = t; z[count++] = i; }} }}",
    "kept up to a limit": f"{FOR_I} if (x[i] > 1 && count < m) y[count++] = x[i];",
    "kept and counted": "for (i = n - 1; i >= 0; i--) { if (c[i] > 1) { if (c[i] < 8) y[count++] = c[i]; } z[i] = count; }",
}


@pytest.mark.share(3)
@pytest.mark.parametrize("arguments", ["", "schedule='dynamic', num_threads=3"])
@pytest.mark.parametrize("name", CODES)
def test_threads_compute_the_same(name: str, arguments: str, tmp_path: Path) -> None:
    check(FILE.format(code=CODES[name], recipe=f"Parallelize({arguments})"), tmp_path)


@pytest.mark.parametrize(
    ("name", "recipe"),
    [
        ("running sum", "Composite(unrolljam=(['i'], [3]), parallelize=True)"),
        ("downwards", "Composite(unrolljam=(['i'], [3]), parallelize=True)"),
        ("of some", "Composite(tile=[('i', 5, 'ii')], parallelize=True)"),
        ("inside", "Composite(unrolljam=(['j'], [2]), parallelize=True)"),
        ("kept", "Composite(unrolljam=(['j'], [2]), parallelize=True)"),
    ],
)
def test_copies_of_a_body_are_tested_anew(name: str, recipe: str, tmp_path: Path) -> None:
    check(FILE.format(code=CODES[name], recipe=recipe), tmp_path)


def check(text: str, tmp_path: Path) -> None:
    """Threads do two passes, and compute what C does."""
    new = transformed_file(text, {})
    assert new.count("#pragma omp parallel for") == 2
    expected = compile_and_run(text, tmp_path, *checked())
    assert compile_and_run(new, tmp_path, *checked(), *openmp()) == expected
    flags = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", *openmp())
    assert compile_and_run(new, tmp_path, *flags) == expected


@pytest.mark.parametrize(
    "code",
    [
        f"{FOR_I} {{ s += x[i] * s; y[i] = s; }}",
        f"{FOR_I} {{ s += x[i]; y[i] = s; y[i + 1] = 0; }}",
        f"{FOR_I} {{ s += x[i]; if (s < 5) s = 0; y[i] = s; }}",
        f"{FOR_I} {{ s += x[i]; count += c[i]; y[i] = s + count; }}",
        f"{FOR_I} if (x[i] > 3) {{ y[count++] = x[i]; y[i] = 0; }}",
    ],
)
def test_other_running_values_are_refused(code: str) -> None:
    with pytest.raises(Refusal, match=r"ORIO-T04[01]"):
        transformed_file(FILE.format(code=code, recipe="Parallelize()"), {})
