"""Conditions at run time: arrays that may overlap, at every distance; what cannot be tested stays refused."""

from __future__ import annotations

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import read_tasks, transformed_file

from orio_py.transformation.base import Refusal

FILE = """#include <stdio.h>
#include <string.h>
static int fast;
{function} {{
  int i, j;
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
}}
"""
MAIN = """
#define SPACE 200
int main(void)
{
  static %(type)s m[SPACE];
  for (int d = -40; d <= 40; d += %(stride)d)
    for (int n = -1; n < 8; n += 2) {
      for (int k = 0; k < SPACE; k++) m[k] = (%(type)s)(k %% 17 + 1);
      %(call)s;
      for (int k = 0; k < SPACE; k++) printf("%%g ", (double)m[k]);
      printf("\\n");
    }
  return 0;
}
"""
CASES = {
    "vectors": (
        "void f(int n, double *y, double *x)",
        "for (i = 0; i < n; i++) y[i] = 2 * x[i];",
        "Parallelize()",
        "f(n, m + 80, m + 80 + d)",
    ),
    "offsets": (
        "void f(int n, double *y, double *x)",
        "for (i = n - 1; i >= 0; i -= 2) y[i + 3] = x[i - 1] + x[2 * i];",
        "Reverse()",
        "f(n, m + 80, m + 80 + d)",
    ),
    "rows": (
        "void f(int n, double y[][5], double x[][5])",
        "for (i = 1; i < n; i++) for (j = 0; j < 5; j++) y[i - 1][j] = x[i][j] + 1;",
        "Permut(seq=['j', 'i'])",
        "f(n, (double (*)[5])(m + 80), (double (*)[5])(m + 80 + d))",
    ),
    "rows of variable length": (
        "void f(int n, int k, double y[][k], double *x)",
        "for (i = 0; i < n; i++) { x[i] = 0; for (j = 0; j < k; j++) x[i] += y[i][j]; }",
        "UnrollJam(ufactor=3)",
        "f(n, 3, (double (*)[3])(m + 80), m + 80 + d)",
    ),
    "flat": (
        "void f(int n, double *y, double *x, double *s)",
        "for (i = 0; i < n; i++) { y[i] = 0; for (j = 0; j < 3; j++) y[i] += x[i * n + j] * s[0]; }",
        "UnrollJam(ufactor=2)",
        "f(n, m + 60, m + 80 + d, m + 70 + d / 2)",
    ),
    "sums": (
        "void f(int n, double *y, double *x)",
        "for (i = 0; i < n; i++) { *(y + 2 * i) = *(x + i) + *x; }",
        "Parallelize()",
        "f(n, m + 80, m + 80 + d)",
    ),
    "choices": (
        "void f(int n, double *y, double *x)",
        "for (i = 0; i < n; i++) { int w = i == 0 ? i : i - 1, e = i == n - 1 ? i : i + 1; y[i] = x[w] + x[e]; }",
        "Parallelize()",
        "f(n, m + 80, m + 80 + d)",
    ),
    "a variable of each block": (
        "void f(int n, double *y, double *x)",
        "for (i = 0; i < n; i++) { double t = 0; for (j = 0; j < 3; j++) { int k = i + 8 * j; t += x[k]; } "
        "for (j = 0; j < 3; j++) { int k = 3 * i + j; y[k] = t; } }",
        "Parallelize()",
        "f(n, m + 80, m + 80 + d)",
    ),
    "two bounds": (
        "void f(int n, double *y, double *x)",
        "for (i = 0; i < n; i++) for (int k = 0; k < 4; k++) { double t = 0; for (j = 0; j <= (i < k ? i : k); j++) t += x[i * 8 + j] + x[j * 8 + k]; y[i * 8 + k] = t; }",
        "Parallelize()",
        "f(n, m + 80, m + 80 + d)",
    ),
    "conditions": (
        "void f(int n, double *y, double *x)",
        "for (i = 0; i < n; i++) if (i > 2) y[i] = x[n - i]; else y[i] = x[i] + 1;",
        "Parallelize()",
        "f(n, m + 80, m + 80 + d)",
    ),
    "bounds in memory": (
        "void f(int n, int *y)",
        "for (i = 0; i < fast; i++) y[i] = fast;",
        "Unroll(ufactor=3)",
        "fast = d == 0 ? 1 : n; f(n, d == 0 ? &fast : m + 80)",
    ),
    "bounds behind pointers": (
        "void f(int n, int *y, int *rows, int *width)",
        "for (i = 0; i < *rows; i++) for (j = 0; j < *width; j++) y[i * *width + j] = (i + j) % 3 + 1;",
        "Parallelize()",
        "m[78] = n; m[79] = 3; f(n, m + 80 + d, m + 78, n > 0 ? m + 79 : 0)",
    ),
    "starts behind pointers": (
        "void f(int n, int *y, int *x, int *first)",
        "for (i = *first; i < n; i++) y[i] = x[i] % 5 - *first;",
        "Parallelize()",
        "m[78] = 2; f(n, m + 80 + d, m + 100, m + 78)",
    ),
    "several statements": (
        "void f(int n, double *y, double *x)",
        "{ for (i = 0; i < n; i++) y[i] = x[i]; for (i = 0; i < n; i++) x[i] = y[i] + 1; }",
        "Fuse(loops=['i', 'i'])",
        "f(n, m + 80, m + 80 + d)",
    ),
    "a bound that a cast changes": (
        "void f(int n, double *y, double *x)",
        "{ for (i = 0; i < (unsigned char)n; i++) y[i] = x[i]; for (i = 0; i < (unsigned char)n; i++) x[i] = y[i] + 1; }",
        "Fuse(loops=['i', 'i'])",
        "f((n & 7) - 256, m + 80, m + 80 + d)",
    ),
    "a difference that wraps": (
        "void f(unsigned n, unsigned k, double *y, double *x)",
        "{ for (i = 0; i < (int)(n - k); i++) y[i] = x[i]; for (i = 0; i < (int)(n - k); i++) x[i] = y[i] + 1; }",
        "Fuse(loops=['i', 'i'])",
        "f(n - 4, 4294967292u, m + 80, m + 80 + d)",
    ),
    "many offsets": (
        "void f(int n, int p, int q, int r, int s, double *y, double *x)",
        "for (i = 0; i < n; i++) y[i] = x[i + p] + x[i + q] + x[i - r] + x[i + s] + x[s - i];",
        "Parallelize()",
        "f(n, d / 3, 3, d & 3, d / 5, m + 80, m + 80 + d)",
    ),
    "a size beside a number below 0": (
        "void f(int n, double *y, double *x)",
        "{ for (i = 0; i <= (int)sizeof(n); i++) y[i] = x[n - i];"
        " for (i = 0; i <= (int)sizeof(n); i++) y[i] += x[n - i]; }",
        "Fuse(loops=['i', 'i'])",
        "f(n - 8, m + 80, m + 80 + d)",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_result_is_that_of_the_original_at_every_distance(tmp_path, name) -> None:
    function, code, recipe, call = CASES[name]
    text = FILE.format(function=function, code=code, recipe=recipe)
    stride = 5 if name == "rows" else 1
    kind = "int" if "int *y" in function else "double"
    main = MAIN % {"call": call, "stride": stride, "type": kind}
    before = compile_and_run(text + main, tmp_path, *checked())
    new = transformed_file(text, {})
    assert "Runs unless arrays overlap" in new
    assert "else" in new
    assert compile_and_run(new + main, tmp_path, *checked(), *openmp()) == before


ROWS = {
    "in place": (
        "void f(int w, int s, double *y)",
        "for (i = 0; i < 4; i++) for (j = 1; j < w; j++) y[i * s + j] += y[i * s + j - 1];",
        "UnrollJam(ufactor=2)",
        "f(w, s, m + 100)",
        "w <= s",
    ),
    "two arrays": (
        "void f(int w, int s, double *y, double *x)",
        "for (i = 0; i < 4; i++) for (j = 0; j < w; j++) y[i * s + j] = 2 * x[i * s + j] + x[(i + 1) * s + j];",
        "Parallelize()",
        "f(w, s, m + 100, m + 100 + 7 * w)",
        "s >= 0",
    ),
    "rows from the end": (
        "void f(int w, unsigned s, double *y)",
        "for (i = 3; i >= 0; i--) for (j = w; j > 0; j--) y[i * s + j] = y[i * s + j] - y[i * s + j - 1];",
        "Parallelize()",
        "if (s >= 0) f(w, s, m + 100)",
        "w < (long)s",
    ),
    "bounds of rows": (
        "void f(int w, int s, double *y)",
        "for (i = -1; i <= 2; i++) for (j = s; j <= w; j++) y[(w + 4) * (i - (s - 2)) + j - (s - 2)] *= 3;",
        "Parallelize()",
        "f(w, s, m + 60)",
        "s >= -1",
    ),
    "columns": (
        "void f(int w, int s, double *y)",
        "for (j = 0; j < w; j++) for (i = 0; i < 4; i++) y[i * s + j] = y[i * s + j] * 2 + j;",
        "Permut(seq=['i', 'j'])",
        "f(w, s, m + 100)",
        "w <= s",
    ),
    "rows with an edge": (
        "#define EDGE 2\nvoid f(int w, int s, double *y)",
        "for (i = EDGE; i < s - EDGE; i++) for (j = EDGE; j < s - EDGE; j++) y[i * s + j] = i + w;",
        "Parallelize()",
        "f(w, s, m + 100)",
        "",
    ),
    "rows of no width": (
        "void f(int w, int s, double *y)",
        "for (i = 0; i < w; i++) { y[i * s] = y[i * s] + i; y[i * s + s - 1] *= 2; }",
        "Parallelize()",
        "f(w, s, m + 100)",
        "s >= 1",
    ),
    "a triangle whose copies are fused": (
        "void f(int w, int s, double *y)",
        "for (i = 0; i < w; i++) for (j = i; j < w; j++) y[i * s + j] = y[i * s + j] * 2 + j;",
        "RegTile(loops=['i', 'j'], ufactors=[2, 2])",
        "f(w, s, m + 100)",
        "w <= s",
    ),
    "a start that changes": (
        "void f(int w, int s, double *y)",
        "for (i = 0; i < 4; i++) { k = s > 0 ? i : -s * w; for (j = 0; j < w; j++) { y[k] = y[k] * 2 + j; k += s; } }",
        "Composite(vectorize=True)",
        "f(w, s, m + 100)",
        "s >= 1",
    ),
    "a start of its own": (
        "void f(int w, int s, double *y)",
        "k = w * s + 3; for (i = 0; i < w; i++) { y[k] = y[k] * 2 + i; k += s; }",
        "Parallelize()",
        "f(w, s, m + 100)",
        "s >= 1",
    ),
    "planes": (
        "void f(int w, int s, double *y)",
        "for (i = 0; i < 3; i++) for (j = 0; j < 2; j++) for (k = 1; k < w; k++) "
        "y[(i * 2 + j) * s + k] = y[(i * 2 + j) * s + k - 1] + 1;",
        "Parallelize()",
        "f(w, s, m + 100)",
        "w <= s",
    ),
}
ROW_MAIN = """
int main(void)
{
  static double m[300];
  for (int w = -2; w < 7; w++)
    for (int s = -5; s < 9; s++) {
      for (int k = 0; k < 300; k++) m[k] = k %% 17 + 1;
      %s;
      for (int k = 0; k < 300; k++) printf("%%g ", m[k]);
      printf("\\n");
    }
  return 0;
}
"""


@pytest.mark.parametrize("name", ROWS)
def test_the_result_is_that_of_the_original_whatever_the_width_of_rows(tmp_path, name) -> None:
    function, code, recipe, call, condition = ROWS[name]
    text = FILE.format(function=function, code=code, recipe=recipe).replace("int i, j;", "int i, j, k;")
    before = compile_and_run(text + ROW_MAIN % call, tmp_path, *checked())
    new = transformed_file(text, {})
    assert f"`{condition}`" in new if condition else "/* Runs" not in new
    assert compile_and_run(new + ROW_MAIN % call, tmp_path, *checked(), *openmp()) == before


BEHIND_POINTERS = {
    "planes": (
        "void f(int n, int w, double **y, double **x)",
        "for (i = 1; i < n - 1; i++) for (j = 0; j < w; j++) y[i][j] = x[i - 1][j] + x[i + 1][j];",
        "Parallelize()",
    ),
    "backwards": (
        "void f(int n, int w, double **y, double *x[])",
        "for (i = 0; i < n; i++) for (j = w; j > 0; j -= 2) y[n - 1 - i][j] = x[i][w - j];",
        "Reverse()",
    ),
    "a triangle": (
        "void f(int n, int w, double **y, double **x)",
        "for (i = 0; i < n; i++) for (j = 0; j <= i; j++) for (k = 0; k < w; k++) y[i][j] += x[i][k];",
        "Parallelize()",
    ),
    "conditions": (
        "void f(int n, int w, double **y, double **x)",
        "for (i = 0; i < n; i++) for (j = 0; j < w; j++) { double t = x[i][j]; y[i][j] = t; if (t > 3) y[i][j + 1] = t; }",
        "Composite(permut=[['j', 'i']])",
    ),
    "one row": (
        "void f(int n, int w, double **y, double **x)",
        "for (j = 0; j < w; j++) y[n][j] = x[0][j] + x[n][w - j];",
        "Parallelize()",
    ),
}
POINTER_MAIN = """
#include <stdlib.h>
int main(void)
{
  static double m[700];
  for (int d = -30; d <= 30; d += 3)
    for (int n = 0; n < 5; n++)
      for (int w = 0; w < 6; w++) {
        int rows = n + w + 1;
        double **y = malloc(rows * sizeof *y), **x = malloc(rows * sizeof *x);
        for (int k = 0; k < 700; k++) m[k] = k % 17 + 1;
        for (int k = 0; k < rows; k++) { y[k] = m + 250 + 12 * k; x[k] = m + 250 + 12 * (d & 1 ? k : rows - k) + d * rows / 2; }
        f(n, w, y, x);
        for (int k = 0; k < 700; k++) printf("%g ", m[k]);
        printf("\\n");
        free(x); free(y);
      }
  f(4, 0, 0, 0);
  return 0;
}
"""


@pytest.mark.parametrize("name", BEHIND_POINTERS)
def test_the_result_is_that_of_the_original_wherever_rows_are(tmp_path, name) -> None:
    function, code, recipe = BEHIND_POINTERS[name]
    text = FILE.format(function=function, code=code, recipe=recipe).replace("int i, j;", "int i, j, k;")
    before = compile_and_run(text + POINTER_MAIN, tmp_path, *checked())
    new = transformed_file(text, {})
    assert "(`x` and `y`)" in new
    assert "y_end <= x_first" in new
    assert compile_and_run(new + POINTER_MAIN, tmp_path, *checked(), *openmp()) == before


BYTES_MAIN = """
int main(void)
{
  static unsigned char m[3][16];
  unsigned char *other = m[2], *x[2], *y[2];
  for (int in_table = 0; in_table < 2; in_table++)
    for (int apart = 0; apart < 16; apart += 5) {
      for (int k = 0; k < 48; k++) m[k / 16][k % 16] = k;
      x[0] = in_table ? (unsigned char *)&other : m[0];
      y[0] = in_table ? (unsigned char *)&x[1] : m[0] + apart;
      x[1] = m[1];
      y[1] = m[2] - apart;
      f(2, (int)sizeof other, y, x);
      for (int k = 0; k < 48; k++) printf("%d ", m[k / 16][k % 16]);
      printf("\\n");
    }
  return 0;
}
"""


@pytest.mark.parametrize("kind", ["unsigned char", "char"])
def test_rows_of_bytes_may_hold_the_pointers_to_rows(tmp_path, kind: str) -> None:
    code = "for (i = 0; i < n; i++) for (j = 0; j < w; j++) y[i][j] = x[i][j];"
    function = f"void f(int n, int w, {kind} **y, {kind} **x)"
    text = FILE.format(function=function, code=code, recipe="UnrollJam(ufactor=2)")
    new = transformed_file(text, {})
    for table in ("x", "y"):
        assert f"(unsigned long)({table} + n) <= y_first || y_end <= (unsigned long){table}" in new
    main = BYTES_MAIN.replace("unsigned char", kind)
    before = compile_and_run(text + main, tmp_path, *checked())
    assert compile_and_run(new + main, tmp_path, *checked()) == before


@pytest.mark.parametrize(
    "code",
    [
        "for (i = 0; i < n; i++) if (x[i]) for (j = 0; j < n; j++) y[i][j] = x[i][j];",
        "for (i = 0; i < n; i += 2) for (j = 0; j < n; j++) y[i][j] = x[i][j];",
        "for (i = 0; i < n; i++) for (j = 0; j < k[i]; j++) y[i][j] = x[i][j];",
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) { y[i][j] = x[i][j]; if (j == 3) break; }",
        "for (i = 0; i < n; i++) { for (j = 0; j < n; j++) y[i][j] = x[i][j]; x[i] = y[i]; }",
        "for (i = 0; i < n; i++) { for (j = 0; j < n; j++) y[i][j] = x[i][j]; y[i + 1][0] = 0; }",
        "for (i = 0; i < n; i++) { double *row = x[i]; if (i > 3) for (j = 0; j < n; j++) y[i][j] = row[j]; }",
        "for (i = 0; i < n; i++) { if (x[i] == y[0]) k[0]++; double *row = x[i]; for (j = 0; j < n; j++) y[i][j] = row[j]; }",
    ],
)
def test_rows_that_are_not_read_for_certain_are_not_read_before(code: str) -> None:
    function = "void f(int n, double **y, double **x, int *k)"
    text = FILE.format(function=function, code=code, recipe="Parallelize()")
    with pytest.raises(Refusal) as caught:
        transformed_file(text, {})
    (problem,) = caught.value.diagnostics
    assert problem.code in {"ORIO-T022", "ORIO-T040", "ORIO-T041"}, problem.headline()


@pytest.mark.parametrize(
    "code",
    [
        "for (i = 0; i < 4; i++) { for (j = 0; j < w; j++) y[i * s + j] = 0; s++; }",
        "for (i = 0; i < 4; i++) for (j = 0; j < w; j++) y[i * s + x[j]] = 0;",
        "for (i = 0; i < 4; i++) for (j = 0; j < w; j++) y[i * s + i * j] = 0;",
        "for (i = 0; i < 4; i++) { note(); for (j = 0; j < w; j++) y[i * width + j] = 0; }",
    ],
)
def test_rows_that_nobody_can_test_are_refused(code: str) -> None:
    function = "int width; void note(void); void f(int w, int s, int *restrict y, int *restrict x)"
    with pytest.raises(Refusal) as caught:
        transformed_file(FILE.format(function=function, code=code, recipe="Parallelize()"), {})
    (problem,) = caught.value.diagnostics
    assert problem.code in {"ORIO-T040", "ORIO-T041"}
    assert problem.position is not None
    assert problem.position.line == 7


def test_a_local_array_that_a_pointer_leads_to_is_no_own_one_where_they_meet() -> None:
    text = """void f(int n, long *restrict h, const long *restrict x)
{
  long t[5] = {0};
  long *p = t;
  /*@ begin Loop(transform Parallelize()) @*/
  for (int i = 0; i < n; i++) { t[0] = x[i]; h[i] = t[0] + p[x[i] & 3]; }
  /*@ end @*/
}
"""
    test = "(unsigned long)(p + 4) <= (unsigned long)t || (unsigned long)(t + 1) <= (unsigned long)p"
    assert test in transformed_file(text, {})


def test_a_promise_of_columns_is_tested_only_where_it_is_needed() -> None:
    code = "for (i = 0; i < w; i++) for (j = 0; j < s; j++) y[i * s + j] = 0;"
    text = FILE.format(function="void f(int w, int s, int *y)", code=code, recipe="Parallelize()")
    assert "/* Runs" not in transformed_file(text, {})


def test_a_pointer_that_only_some_iterations_follow_is_not_followed_before() -> None:
    text = FILE.format(
        function="void f(int n, int *y, int *width)",
        code="for (i = 0; i < n; i++) if (y[i]) for (j = 0; j < *width; j++) y[j] = i;",
        recipe="Composite(unrolljam=(['j'], [2]))",
    )
    with pytest.raises(Refusal) as caught:
        transformed_file(text, {})
    assert caught.value.diagnostics[0].code in {"ORIO-T027", "ORIO-T041"}


def test_what_stands_in_the_way_where_arrays_are_apart_is_the_reason() -> None:
    text = FILE.format(
        function="void f(int n, double *y, double *x, double s)",
        code="for (i = 0; i < n; i++) { y[i] = x[i]; s += y[i]; }",
        recipe="Parallelize()",
    )
    with pytest.raises(Refusal) as caught:
        transformed_file(text, {})
    (problem,) = caught.value.diagnostics
    assert problem.code == "ORIO-T090"
    assert problem.position is not None
    assert problem.position.line == 1 + text[: text.index("y[i] = x[i]")].count("\n")


def test_arrays_apart_take_the_transformed_code(tmp_path) -> None:
    function, code, recipe, _ = CASES["vectors"]
    new = transformed_file(FILE.format(function=function, code=code, recipe=recipe), {})
    counted = new.replace("#pragma omp parallel for", "#pragma omp parallel for firstprivate(y)", 1)
    counted = counted.replace("    #if defined(_OPENMP)", "    fast++;\n    #if defined(_OPENMP)", 1)
    main = (
        "int main(void) { double m[40] = {0}; f(8, m, m + 8); f(8, m, m + 7); f(8, m + 8, m); f(8, m + 7, m);"
    )
    main += ' f(0, m, m); f(8, m, m); printf("%d", fast); return 0; }'
    assert compile_and_run(counted + main, tmp_path, *checked(), *openmp()) == "3"


@pytest.mark.parametrize(
    ("function", "code", "recipe"),
    [
        ("void f(int n, int *y, int *x)", "for (i = 0; i < n; i++) y[i] = x[y[i]];", "Permut(seq=['i'])"),
        (
            "void f(int n, double *y, double *x)",
            "for (i = 1; i < n; i++) y[i] = y[i - 1] + x[i];",
            "Parallelize()",
        ),
        (
            "void f(int n, double *y, double *x)",
            "for (i = 0; i < n; i++) { y[i] = x[0]; x += y[i] > 0; }",
            "Parallelize()",
        ),
        (
            "void f(int n, int m, double *y, double *x)",
            "for (i = 0; i < n; i++) if (m) y[i] = x[i + n / m];",
            "Parallelize()",
        ),
        (
            "void f(int n, int *y, int *count)",
            "for (i = 0; i < count[0]; i++) { y[i] = 0; goto there; there: y[i]++; }",
            "Unroll(ufactor=2)",
        ),
        (
            "struct top { int score; };\nstruct best { struct top **f; int n; };\nvoid f(struct best *s, int k)",
            "for (i = 0; i < s->n; i++) { s->f[k][i].score -= 2; if (s->f[k][i].score > 9) s->f[k][i].score = 9; }",
            "Parallelize()",
        ),
        ("void f(double *y)", "for (i = 0; i < 99; i++) y[i] += y[i + (int)4294967303];", "Reverse()"),
        # What would divide by 0 that the code may not divide by.
        (
            "void f(int n, int s, double *y, double *x)",
            "for (i = 0; i < n; i++) for (j = 0; j < n / s; j++) y[j] += x[j];",
            "Parallelize()",
        ),
        (
            "void f(int n, int s, double *y, double *x)",
            "for (i = 0; i < (s ? n / s : 0); i++) y[i] += x[i];",
            "Reverse()",
        ),
        (
            "void f(int n, int s, double *y, double *x)",
            "for (i = 0; i < (s && n / s); i++) y[i + n / s] += x[i];",
            "Reverse()",
        ),
        ("void f(double *y)", "for (i = 0; i < 99; i++) y[i] += y[i + (unsigned)4294967303];", "Reverse()"),
        (
            "void f(int n, double *y, double *x)",
            "for (i = 0; i < n; i++) { static double t; t = x[i]; y[i] = t; }",
            "Restrict(arrays=['y'])",
        ),
    ],
)
def test_what_cannot_be_tested_is_refused(function: str, code: str, recipe: str) -> None:
    text = FILE.format(function=function, code=code, recipe=recipe)
    assert len(read_tasks(text)) == 1
    if recipe.startswith("Permut"):
        assert "overlap" not in transformed_file(text, {})
        return
    with pytest.raises(Refusal) as caught:
        transformed_file(text, {})
    codes = {"ORIO-T025", "ORIO-T027", "ORIO-T040", "ORIO-T041", "ORIO-T098"}
    assert {d.code for d in caught.value.diagnostics} <= codes


@pytest.mark.parametrize(
    "function", ["void f(int n, double *restrict y, double *x)", "void f(int n, double *y, float *x)"]
)
def test_what_cannot_overlap_has_no_guard(function: str) -> None:
    text = FILE.format(function=function, code=CASES["vectors"][1], recipe="Parallelize()")
    assert "overlap" not in transformed_file(text, {})


@pytest.mark.parametrize(
    ("condition", "recipe", "guard"),
    [
        ("n == 7", "Parallelize()", "if (n <= stride)"),
        ("stride < n", "Parallelize()", ""),
        ("stride < n + 1 || n < 2", "UnrollJam(ufactor=2)", ""),
        ("stride < n && m > 3", "Parallelize()", "if (n <= stride)"),
    ],
)
def test_what_the_code_before_a_region_says_is_not_tested_again(
    condition: str, recipe: str, guard: str
) -> None:
    text = f"""void f(int n, int m, int stride, double *restrict a, const double *restrict b) {{
  int i, j;
  if ({condition}) return;
  /*@ begin Loop(transform {recipe}) @*/
  for (i = 0; i < m; i++) for (j = 0; j < n; j++) a[i * stride + j] = b[j];
  /*@ end @*/
}}
"""
    found = transformed_file(text, {})
    assert ("Runs where" in found) == bool(guard)
    assert guard in found


@pytest.mark.parametrize(("least", "test"), [(1, "n > 3 && "), (4, ""), (3, "n > 3 && ")])
def test_a_loop_that_is_long_enough_has_no_test_of_that(least: int, test: str) -> None:
    text = f"""void f(int n, double *restrict a) {{
  int i;
  if (n < {least}) return;
  /*@ begin Loop(transform Unroll(ufactor=4)) @*/
  for (i = 0; i < n; i++) a[i] = 0;
  /*@ end @*/
}}
"""
    assert f"for (i = 0; {test}i < n - 3; i += 4)" in transformed_file(text, {})


@pytest.mark.parametrize(
    ("condition", "sent"),
    [
        ("stride < m || m <= 0", "(b, a, (long)m - stride + (long)n * stride, (long)m * n, m, stride, n);"),
        ("stride < m || m < 0", "? "),
    ],
)
def test_devices_are_sent_what_may_be_touched_by_what_is_known(condition: str, sent: str) -> None:
    text = f"""void f(int n, int m, int stride, double *restrict a, const double *restrict b) {{
  int i, j;
  if ({condition}) return;
  /*@ begin Loop(transform OpenCL()) @*/
  for (i = 0; i < n; i++) for (j = 0; j < m; j++) a[i * m + j] = b[i * stride + j];
  /*@ end @*/
}}
"""
    assert sent in transformed_file(text, {})


def test_ends_of_arrays_are_computed_with_signs() -> None:
    """With an unsigned product the smaller one of `m * n - …` and `9 * n - 8` could count as the larger one."""
    text = """#include <stddef.h>
void f(size_t n, size_t m, float *a, float *b)
{
  size_t i;
  /*@ begin Loop(transform Vectorize()) @*/
  for (i = 0; i < n; i = i + 3) { a[i * 8 + i] = a[i * m + i]; b[i] += 1; }
  /*@ end @*/
}
"""
    found = transformed_file(text, {})
    assert "(long)m * (long)n" in found
    assert "(long)m * n" not in found


def test_of_an_array_whose_elements_nobody_knows_the_whole_is_compared(tmp_path) -> None:
    text = """#include <stdio.h>
static double table[40];
static void f(int n, double *out, const int *at)
{
  /*@ begin Loop(transform Parallelize()) @*/
  for (int i = 0; i < n; i++) out[i] = table[at[i]] * 2;
  /*@ end @*/
}
int main(void)
{
  double other[10] = {0};
  int at[10];
  for (int i = 0; i < 10; i++) at[i] = i * 7 % 10;
  for (int shift = 0; shift < 30; shift++) {
    for (int i = 0; i < 40; i++) table[i] = i + 1;
    f(10, table + shift, at);
    for (int i = 0; i < 40; i++) printf("%g ", table[i]);
  }
  f(10, other, at);
  for (int i = 0; i < 10; i++) printf("%g ", other[i]);
  return 0;
}
"""
    new = transformed_file(text, {})
    assert "(unsigned long)(&table + 1) <= (unsigned long)out" in new
    assert compile_and_run(new, tmp_path, *checked(), *openmp()) == compile_and_run(
        text, tmp_path, *checked()
    )


def test_a_loop_that_begins_at_its_bound_has_no_iterations() -> None:
    function, code = "void f(int s, double *x)", "for (j = i; j < i; j += s) x[j] = i;"
    text = FILE.format(function=function, code=code, recipe="Reverse()").replace("int i, j;", "int i = s, j;")
    new = transformed_file(text, {})
    assert "j_trips = 0;" in new
    assert "i < i ?" not in new


def test_a_bound_that_changes_something_is_not_asked_for_once_more() -> None:
    text = """static int calls;
void f(int n, int m, double *a, double *b, int *c) {
  int bound = n, *limit = &bound;
  /*@ begin Loop(transform Prefetch(aref='b[k + 2]', distance=4)) @*/
  for (int i = 2; i < n; i++)
    for (int j = 1; j < %s; j++)
      for (int k = 0; k < *limit - 1; k++) { c[k] = 2; b[k + 2] = b[2 * k] + a[2 * k + 1]; }
  /*@ end @*/
}
"""
    assert "if (2 < n && 1 < m && " in transformed_file(text % "m", {})
    with pytest.raises(Refusal) as caught:
        transformed_file(text % "(calls++, m)", {})
    assert caught.value.diagnostics[0].position is not None
