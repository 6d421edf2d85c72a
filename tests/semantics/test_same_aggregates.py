"""Loops over structures of numbers: taken apart, tested for overlap, and they compute the same wherever pointers lead."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FILE = """#include <stdio.h>
typedef struct { float re, im; } complex_t;
typedef struct { int at; struct { double x, y; } in; } nested;
struct plan { int n; complex_t *tmp, *tw; };
typedef struct plan *plan_t;
typedef double *vector;
static complex_t m[300];
static complex_t of(int k) { complex_t c; c.re = k; c.im = -k; return c; }
static double work(int n, int s, complex_t *x, complex_t *y, plan_t p, vector v, nested *w)
{
  int i, j;
  complex_t t = {7, 8}, u, a[4];
  complex_t *x0 = x, *x1 = x + s;
  nested q;
  /*@ begin Loop(transform @RECIPE@) @*/
  @CODE@
  /*@ end @*/
  return @RESULT@;
}
int main(void)
{
  for (int d = -40; d <= 40; d += 1)
    for (int n = 0; n < 8; n += 1) {
      double v[40] = {1, 2, 3};
      nested w[20] = {{1, {2, 3}}, {3, {4, 5}}, {0, {6, 7}}};
      struct plan p = {n, m + 100 + d, m + 120};
      for (int i = 0; i < 300; i++) { m[i].re = i % 23 - 11; m[i].im = i % 7; }
      printf("%g ", work(n, n + 1, m + 100, m + 100 - d, &p, v, w));
      for (int i = 0; i < 300; i++) printf("%g %g ", m[i].re, m[i].im);
      for (int i = 0; i < 40; i++) printf("%g ", v[i]);
      for (int i = 0; i < 20; i++) printf("%d %g %g ", w[i].at, w[i].in.x, w[i].in.y);
      printf("\\n");
    }
  (void)of;
  return 0;
}
"""
MULTIPLY = "u.re = t.re * p->tw[i].re - t.im * p->tw[i].im; u.im = t.re * p->tw[i].im + t.im * p->tw[i].re;"
CASES = {
    "copied and used": (
        "Parallelize()",
        f"for (i = 0; i < n; i++) {{ t = x[i]; {MULTIPLY} y[i] = u; }}",
        "0",
    ),
    "declared inside": (
        "Parallelize()",
        "for (i = 1; i < n; i++) { complex_t r = x[n - i], b; b = r; b.im = -b.im; p->tmp[i] = b; }",
        "0",
    ),
    "array": (
        "Parallelize()",
        "for (i = 0; i < s; i++) { a[0] = *x0; a[1].re = x1->im; a[1].im = x1->re; x0->re += a[1].re; a[2] = a[0]; *x1 = a[2]; ++x0; ++x1; }",
        "0",
    ),
    "members of members": (
        "Parallelize()",
        "for (i = 0; i < n; i++) { q = w[i]; q.in.x = q.in.y + q.at; q.at = q.in.x; v[i] = q.in.x - q.at; }",
        "0",
    ),
    "one after the other": (
        "UnrollJam(ufactor=2)",
        "for (i = 0; i < n; i++) for (j = 0; j < s; j++) { t = x[j]; y[i] = t; p->tmp[i].re = p->tmp[i].im + j; }",
        "0",
    ),
    "result of a function": (
        "Parallelize()",
        "for (i = 0; i < n; i++) { t = of(v[i]); v[i] = t.re; }",
        "0",
    ),
    "pointers by name": ("Parallelize()", "for (i = 0; i < p->n; i++) p->tmp[i] = x[i];", "0"),
    "vectors by name": ("Parallelize()", "for (i = 0; i < n; i++) v[i + 1] = x[i].re;", "0"),
}


def _file(recipe: str, code: str, result: str) -> str:
    return FILE.replace("@RECIPE@", recipe).replace("@CODE@", code).replace("@RESULT@", result)


@pytest.mark.share(4)
@pytest.mark.parametrize("name", CASES)
def test_numbers_compute_what_structures_compute(tmp_path: Path, name: str) -> None:
    text = _file(*CASES[name])
    new = transformed_file(text, {})
    flags = ("-w", *checked(), *openmp())
    outputs = [compile_and_run(program, tmp_path, *flags) for program in (new, text)]
    assert outputs[0] == outputs[1]


def test_variables_stand_for_the_numbers_and_memory_is_tested() -> None:
    new = transformed_file(_file(*CASES["copied and used"]), {})
    assert "float t_re = x[i].re;" in new
    assert "unless arrays overlap (`p.tmp`" not in new
    assert "(`p.tw` and `y`, `x` and `y`)" in new


@pytest.mark.parametrize(
    ("code", "result"),
    [
        # A value from before, or one that is used behind the loop, is that of the structure.
        ("for (i = 0; i < n; i++) { y[i] = t; t = x[i]; }", "0"),
        ("for (i = 0; i < n; i++) { t = x[i]; v[i] = t.re; }", "t.im"),
        ("for (i = 0; i < n; i++) { if (i > 2) t = x[i]; v[i] = t.re; }", "0"),
        # It is used as a whole.
        ("for (i = 0; i < n; i++) { complex_t *r = &t; *r = x[i]; v[i] = t.re; }", "0"),
        ("for (i = 0; i < n; i++) { a[0] = x[i]; a[i & 1].re = 1; v[i] = a[0].re; }", "0"),
        ("for (i = 0; i < n; i++) { q = w[i]; q = w[q.at]; v[i] = q.in.x; }", "0"),
        # Each iteration reads what the one before wrote.
        ("for (i = 0; i < n; i++) { t = x[i]; x[i + 1].re = t.im; x[i + 1].im = t.re; }", "0"),
    ],
)
def test_a_structure_that_has_to_be_one_stays_one(code: str, result: str) -> None:
    with pytest.raises(Refusal):
        transformed_file(_file("Parallelize()", code, result), {})
