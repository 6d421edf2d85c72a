"""Loops that call functions of their file: accepted with the bodies in place of the calls, and they compute the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FILE = """#include <assert.h>
#include <stdio.h>
#define EDGE 2
typedef double triple[3];
typedef struct { int w, h; double *at; double own[2]; triple *rows; } grid;
static int calls;
static double memory = 1;
static double there(double x) { calls++; return x * 2; }
@FUNCTIONS@
static double work(int n, double *x, double *y, grid g, grid *to)
{
  int i, j, w = g.w;
  double t = 0.5;
  /*@ begin Loop(transform @RECIPE@) @*/
  @CODE@
  /*@ end @*/
  return t + calls;
}
static double m[600];
int main(void)
{
  for (int d = -60; d <= 60; d += 12)
    for (int n = 0; n < 9; n++) {
      grid g = {n, n, m + 150, {1, 2}, (triple *)(m + 300)}, to = {n, n, m + 200 + d, {3, 4}, (triple *)(m + 320 + d)};
      for (int i = 0; i < 600; i++) m[i] = i % 23 - 11;
      printf("%g ", work(n, m + 250, m + 250 + d, g, &to));
      for (int i = 0; i < 600; i++) printf("%g ", m[i]);
      printf("%g %g\\n", g.own[1] + to.own[0], memory);
    }
  return 0;
}
"""

EDGED = """static double edged(const double *im, int h, int w, int row, int col, int pad)
{
  row -= pad;
  col -= pad;
  if (row < 0 || col < 0 || row >= h || col >= w) return 0;
  return im[col + w * row];
}"""
PIXEL = "static double pixel(grid g, int x, int y) { return g.at[y * g.w + x]; }"
PUT = """static void put(grid g, int x, int y, double v)
{
  if (x < 0 || y < 0 || x >= g.w) return;
  g.at[y * g.w + x] = v;
}"""
CHECKED = "static double checked(grid g, int x) { assert(x < g.w && g.h >= 0); return g.at[x]; }"
SIGN = "static int sign(double v) { if (v < 0) return -1; else if (v > 0) return 1; return 0; }"
TOTAL = """static double total(int n, const double *v)
{
  double sum = 0;
  int i;
  for (i = 0; i < n; i++) sum += v[i];
  return sum;
}"""
ADD = "static void add(double *v, double t) { v[0] += t; v[1] = t * EDGE; }"
NESTED = f"{PIXEL}\nstatic double mean(grid g, int x, int y) {{ return (pixel(g, x, y) + pixel(g, x + 1, y)) / EDGE; }}"
NARROW = "static signed char narrow(short v, float f) { v += 1; return v * 100 + (int)f; }"

CASES = {
    "returns early": (
        "Parallelize()",
        EDGED,
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) y[i * n + j] = edged(x, n, n, i, j, 1);",
    ),
    "structure by value": (
        "Parallelize()",
        PIXEL,
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[i * n + j] += pixel(g, j, i);",
    ),
    "stores": (
        "UnrollJam(ufactor=2)",
        PIXEL + PUT,
        "for (i = 0; i < w; i++) for (j = 0; j < n; j++) put(g, j, i, j + t);",
    ),
    "reads and stores": (
        "Tile(tsize=4, tindex='ii')",
        f"{PIXEL}\n{PUT}",
        "for (i = 0; i < n; i++) for (j = 0; j < w; j++) { double v = pixel(g, j, i) * 2 + pixel(g, j, i + 1); put(g, j, i, v); }",
    ),
    "two ways": ("Parallelize()", SIGN, "for (i = 0; i < n; i++) { int s = sign(x[i]); y[2 * i] = s * t; }"),
    "in a condition": (
        "Parallelize()",
        f"{PIXEL}",
        "for (i = 0; i < n; i++) if (pixel(g, i, 0) > 1) y[i] = 1; else if (pixel(g, i, 1) < 2) y[i] = x[i];",
    ),
    "assertions": (
        "Parallelize()",
        f"{CHECKED}\nstatic double half(double v) {{ assert(v < 1e9); return v / EDGE; }}",
        "for (i = 0; i < n; i++) { double v = checked(g, i); assert(i < 100); y[i] = i > 2 ? half(v) : t; }",
    ),
    "a loop": ("Parallelize()", TOTAL, "for (i = 0; i < n; i++) y[i] = total(3, x + 4 * i);"),
    "row": ("Parallelize()", TOTAL, "for (i = 0; i < n; i++) y[i] = total(n, &x[4 * i]) + total(2, x);"),
    "through a pointer": ("Parallelize()", ADD, "for (i = 0; i < n; i++) add(x + 2 * i, y[i]);"),
    "nested": ("Parallelize()", NESTED, "for (i = 0; i < n; i++) x[i] = mean(g, i, 1) + mean(g, 1, i);"),
    "conversions": (
        "Unroll(ufactor=3)",
        f"{NARROW}\nstatic double of(const double *v, short k) {{ return v[k]; }}",
        "for (i = 0; i < n; i++) y[i] = narrow(300 * i, x[i]) + of(x, i);",
    ),
    "global variable": (
        "Unroll(ufactor=2)",
        "static void remember(double v) { memory = memory * 0.5 + v; }",
        "for (i = 0; i < n; i++) { remember(x[i]); y[i] = memory; }",
    ),
    "last value": (
        "Parallelize()",
        "static void keep(double v) { memory = v; }",
        "for (i = 0; i < n; i++) keep(x[i]);",
    ),
    "arrays in arrays": (
        "Parallelize()",
        "typedef double point[2]; static double cube[9][2][4];\n"
        "static void ahead(point p, const double *q) { p[0] = q[1]; p[1] += *(q + 2); }",
        "for (i = 0; i < n; i++) for (j = 0; j < 2; j++) { cube[i][j][0] = x[i]; cube[i][j][2] = j; "
        "ahead(&cube[i][j][1], &cube[i][1 - j][1]); y[2 * i + j] = cube[i][j][2]; }",
    ),
    "rows of matrices": (
        "Tile(tsize=4, tindex='ii')",
        "typedef double point[2]; static point all[12]; static int first;\n"
        "static void moved(point p, double by) { int k; for (k = 0; k < 2; k++) p[k] += by * first; }",
        "for (i = 0; i < n; i++) { all[i][1] = x[i]; moved(all[i + first], t); y[i] = all[i][0] - all[i][1]; }",
    ),
    "rows of members": (
        "Parallelize()",
        "static void zero(triple v, double first) { v[0] = first; v[1] = v[2] = 0; }",
        "for (i = 0; i < n; i++) { zero(to->rows[i], y[i]); x[i] = 3; }",
    ),
    "rows of members that are summed": (
        "UnrollJam(ufactor=2)",
        "static double square(const triple v) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }",
        "for (i = 0; i < n; i++) for (j = 0; j < 2; j++) x[2 * i + j] += square(g.rows[i]) * square(to->rows[j]);",
    ),
    "copied": (
        "ArrCopy(aref='x[j]', dimsizes=[8])",
        "static void set(double *to, double v) { *to = v; }",
        "for (i = 0; i < n; i++) for (j = 0; j < 8; j++) set(&x[j], x[j] * 0.5 + i);",
    ),
    "places": (
        "Parallelize()",
        "static double *place(const grid *g, int i, int j) { return &g->at[i * g->w + j]; }",
        "for (i = 0; i < to->h; i++) for (j = 0; j < to->w; j++) *place(to, i, j) += x[i] + *place(&g, i, j) * *place(to, i, j);",
    ),
    "places, cast to their own type": (
        "Parallelize()",
        "static double *place(const grid *g, int i, int j) { return (double *)(g->at + (i * g->w + j)); }",
        "for (i = 0; i < to->h; i++) for (j = 0; j < to->w; j++) *place(to, i, j) += x[i] + *place(&g, i, j) * *place(to, i, j);",
    ),
    "places of places": (
        "UnrollJam(ufactor=2)",
        "static double *row(double *v, int i) { ; return v + 9 * i; } static double *in(grid g, long i, int j) { return &g.at[9 * i + j]; }",
        "for (i = 0; i < n; i++) for (j = 0; j < 9; j++) row(x, i)[j] = in(g, i, j)[1] - *in(g, i + 1, j);",
    ),
    "places whose arguments are converted": (
        "Unroll(ufactor=2)",
        "static double *near(double *v, unsigned char i) { return &v[i]; }",
        "for (i = 0; i < n; i++) *near(x, i + 3) = *near(y, i + 250 - 2 * w) + 1;",
    ),
    "structures": (
        "Parallelize()",
        """typedef struct { double re, im; } number;
        static number sum(number a, number b) { number r; r.re = a.re + b.re; r.im = a.im + b.im; return r; }
        static number times(double s, number a) { a.re *= s; a.im *= s; return a; }
        static number at(const double *v, int i) { number r = {v[2 * i], 0}; r.im = v[2 * i + 1]; return r; }""",
        """for (i = 0; i < n; i++) {
          number c; c = sum(at(x, i), times(0.5, at(y, n - i))); x[2 * i] = c.re; x[2 * i + 1] = times(t, c).im; }""",
    ),
    "elements that are structures": (
        "UnrollJam(ufactor=2)",
        """typedef struct { double re, im; } number;
        static inline number sum(number a, number b) { number r; r.re = a.re + b.re; r.im = a.im + b.im; return r; }""",
        """for (i = 0; i < n; i++) for (j = 0; j < 5; j++)
          ((number *)x)[i] = sum(((number *)x)[i], sum(((number *)y)[j], ((number *)y)[i + j]));""",
    ),
    "in scalars": (
        "ScalarReplace()",
        "static void more(double *to, double v) { *to += v; }",
        "for (i = 0; i < n; i++) for (j = 0; j < 8; j++) more(&x[i], x[i] * 0.25 + i);",
    ),
    "numbers whose addresses are lent": (
        "Parallelize()",
        """static void parts(double v, double *a, double *b) { *a = (int)v; b[0] = v - *a; }
        static void half(const double *v, double *s, double *d) { double u; parts(v[0] + v[1], s, &u); *d = u * 2; }""",
        "double a, b; for (i = 0; i < n; i++) { half(x + i, &a, &b); y[i] = a - b; }",
    ),
    "an argument that changes by its address": (
        "Unroll(ufactor=2)",
        "static void more(double v, double *p, const double *q) { *p = v + 1; *p += v * 3 + q[0]; }",
        "for (i = 0; i < n; i++) { t = x[i]; more(t, &t, y); y[i] = t; }",
    ),
    "the larger of two by a macro": (
        "Parallelize()",
        "#define LARGER(a, b) ((a) > (b) ? (a) : (b))\n"
        "static double middle(const double *v) { double t = v[0]; if (t < v[2]) t = v[2]; return t + v[1]; }",
        "for (i = 1; i < n; i++) y[i + 200] = LARGER(x[i + 1], LARGER(middle(&x[i - 1]) - t, x[i]));",
    ),
    "a function that a macro is named like": (
        "Unroll(ufactor=3)",
        "static double mixed(double u, double v) { calls++; return u - 2 * v; }\n"
        "#define mixed(v, u, why) mixed((u) + 1, v)\n"
        "static double near(double u) { return 3 * mixed(u, 4, 0); }",
        'for (i = 0; i < n; i++) y[i] = mixed(x[i], i, "mixed") + near(x[i + 1]);',
    ),
    "names of the region": (
        "Parallelize()",
        "static double odd(const double *x, int i) { int j = i * 2, t; t = j + 1; return x[t] + j; }",
        "for (j = 0; j < n; j++) { double s = odd(x, j) - odd(x, j + 1); y[j + 100] = s; }",
    ),
}


def _file(recipe: str, functions: str, code: str) -> str:
    text = FILE.replace("@RECIPE@", recipe).replace("@FUNCTIONS@", functions)
    return text.replace("@CODE@", code)


@pytest.mark.share(4)
@pytest.mark.parametrize("name", CASES)
def test_bodies_compute_what_calls_compute(tmp_path: Path, name: str) -> None:
    text = _file(*CASES[name])
    new = transformed_file(text, {})
    flags = ("-w", *checked(), *openmp())
    outputs = [compile_and_run(program, tmp_path, *flags) for program in (new, text)]
    assert outputs[0] == outputs[1]


def test_functions_that_nothing_calls_any_more_are_named(tmp_path: Path) -> None:
    functions = "static void twice(double *v) { v[0] *= 2; }"
    text = _file("Parallelize()", functions, "for (i = 0; i < n; i++) twice(x + i);")
    text = text.replace("return t + calls;", "return t + there(j = 0);")
    new = transformed_file(text, {})
    assert "(void)twice;" in new
    compile_and_run(new, tmp_path, "-Werror=unused-function", *openmp())
    for other in ("twice(x + j);", "if (i > 3) twice(y);"):
        called = text.replace("  return t + there", f"  j = i = 0;\n  {other}\n  return t + there")
        assert "(void)twice;" not in transformed_file(called, {})


def test_a_macro_that_would_be_expanded_once_more_is_refused() -> None:
    functions = "static double base = 2;\n#define base base + 1"
    code = "for (i = 0; i < n; i++) y[i] = x[i] * base;"
    with pytest.raises(
        AssertionError, match=r"16:41: error\[ORIO-C007\]: found a macro whose text names it again"
    ):
        transformed_file(_file("Unroll(ufactor=2)", functions, code), {})


def test_the_bodies_stand_in_the_variant() -> None:
    new = transformed_file(_file(*CASES["returns early"]), {})
    assert "int row_2 = i - 1;" in new
    assert "edged_value = x[col_2 + n * row_2];" in new


@pytest.mark.parametrize(
    ("functions", "code"),
    [
        # Each iteration reads what the one before left.
        ("static double next(void) { return memory += 1; }", "for (i = 0; i < n; i++) x[i] = next();"),
        (
            "static void add(double *v, double t) { v[1] += t + v[0]; }",
            "for (i = 0; i < n; i++) add(x + i, t);",
        ),
        (PUT, "for (i = 0; i < n; i++) put(g, 1, 0, i);"),
        # The address is kept, or leads to more than the number.
        (
            "static double *kept; static void keep(double *p) { kept = p; *p = 1; }",
            "for (i = 0; i < n; i++) { double v; keep(&v); x[i] = v; }",
        ),
        (
            "static void next(double *p, int k) { p[k] = 1; }",
            "for (i = 0; i < n; i++) { double v = 0; next(&v, i - i); x[i] = v; }",
        ),
        # It goes on into the next row.
        ("static void far(triple v) { v[4] = v[0] + 1; }", "for (i = 0; i < n; i++) far(to->rows[i]);"),
        (
            "static void all(triple v, int n) { for (int k = 0; k < n; k++) v[k] += 1; }",
            "for (i = 0; i < n; i++) all(to->rows[i], n);",
        ),
        (
            "static void shift(triple v) { triple *w = (triple *)v; w[0][0] = w[1][0]; }",
            "for (i = 0; i < n; i++) shift(to->rows[i]);",
        ),
        # Which row it is could change while the body runs.
        (
            "static double rows[9][4], *heads[9]; static int at; static void next(double *p) { at++; p[1] = at; }",
            "for (i = 0; i < n; i++) next(rows[at]);",
        ),
        (
            "static char *heads[9]; static void set(char *p) { p[0] = 1; heads[1] = p; p[1] = 2; }",
            "for (i = 0; i < n; i++) set(heads[i]);",
        ),
        # The value of a parameter is not that of the argument when it is used.
        (
            "static double later(grid g, double v) { g.at[0] = v; return v; }",
            "for (i = 0; i < n; i++) x[i] = later(g, x[0]);",
        ),
        # What the body does is not known, is not certain to be evaluated, or cannot be written as statements.
        ("static double f(double x) { return there(x); }", "for (i = 0; i < n; i++) x[i] = f(x[i]);"),
        (PIXEL, "for (i = 0; i < n; i++) x[i] = i > 2 ? pixel(g, i - 3, 0) : 0;"),
        (PIXEL, "for (i = 0; i < n; i++) x[i] = x[i] > 0 && pixel(g, i, 0) > 0;"),
        (
            "static int find(const double *v, int n) { int k; for (k = 0; k < n; k++) if (v[k] > 0) return k; return -1; }",
            "for (i = 0; i < n; i++) x[i] = find(y, n);",
        ),
        (
            "static double deep(const double *v, int k) { return k < 1 ? v[0] : deep(v, k - 1); }",
            "for (i = 0; i < n; i++) x[i] = deep(y, i);",
        ),
        (
            "static double kept(const double *v) { static int k; return v[k]; }",
            "for (i = 0; i < n; i++) x[i] = kept(y);",
        ),
        # The place is found by more than a value, or an argument changes something.
        (
            "static double *next(double *v) { memory++; return &v[0]; }",
            "for (i = 0; i < n; i++) *next(x) = i;",
        ),
        (
            "static double *late(double *v, double t) { return &v[(int)there(t)]; }",
            "for (i = 0; i < n; i++) *late(x, i) = i;",
        ),
        (
            "static double *place(double *v, int i) { return &v[i]; }",
            "for (i = 0; i < n; i++) *place(x, j++) = i;",
        ),
        ("static double *any(double *v) { return v; }", "for (i = 0; i < n; i++) *any(x) = i;"),
        # What an assertion changes, where it is evaluated at all.
        ("", "for (i = 0; i < n; i++) { assert(w++ < 9999); x[i] = t; }"),
        # A name of the function means something else at the loop.
        (
            "static double w = 3; static double wide(const double *v) { return v[0] * w; }",
            "for (i = 0; i < n; i++) x[i] = wide(y);",
        ),
    ],
)
def test_what_has_no_body_to_put_there_stays_refused(functions: str, code: str) -> None:
    with pytest.raises(Refusal):
        transformed_file(_file("Parallelize()", functions, code), {})


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (
            "double far(double); static double f(double x) { return far(x); }",
            "in `f`, the body of `far` is not known",
        ),
        (
            "static double f(double x) { static double last; last += x; return last; }",
            "`f` has the variable `static last`",
        ),
        ("static double f(double x) { return x > 1 ? f(x / 2) : x; }", "`f` calls itself"),
        (
            'static double f(double x) { printf("%g", x); return x; }',
            "in `f`, the body of `printf` is not known",
        ),
        ("static double f(double x) { memory = x; return x; }", "`f` changes memory"),
    ],
)
def test_a_refusal_says_why_a_body_cannot_stand_there(function: str, why: str) -> None:
    code = "for (i = 0; i < n; i++) x[i] = f(x[i]);"
    with pytest.raises(Refusal) as caught:
        transformed_file(_file("Parallelize()", function, code), {})
    (problem,) = caught.value.diagnostics
    assert f"its body cannot stand in place of the call: {why}" in [note.message for note in problem.notes]


def test_the_last_value_of_a_variable_that_a_function_sets_is_kept() -> None:
    text = _file(
        "Reverse()", "static void keep(double v) { memory = v; }", "for (i = 0; i < n; i++) keep(x[i]);"
    )
    with pytest.raises(Refusal) as caught:
        transformed_file(text, {})
    assert "memory" in caught.value.diagnostics[0].message


SUMS = """#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static const uint64_t table[8] = {1, 20, 300, 4000, 50000, 600000, 7000000, 80000000};
static uint64_t (*other)(uint32_t);
static uint64_t slow(uint32_t v) { return v * (uint64_t)4000000000u; }
static inline uint64_t weight(uint32_t v) { return v < 8 ? table[v] : other(v); }
static double half(double v) { return v / 2; }
static long far(int v) { return v * 3000000L; }
static int work(int n, const int32_t *a, const double *x)
{
  uint64_t s = 5;
  int i, k = 3;
  /*@ begin Loop(transform UnrollReduction(ufactor=3)) @*/
  for (i = 0; i < n; i++) { @CODE@ }
  /*@ end @*/
  return (int)(s % 1000003) + k % 1000;
}
int main(void)
{
  int32_t a[40];
  double x[40];
  other = slow;
  for (int i = 0; i < 40; i++) { a[i] = i * 37 % 23 - 11; x[i] = i * 0.7 - 9; }
  for (int n = -1; n < 40; n++) printf("%d\\n", work(n, a, x) + (int)half(far(2)));
  return 0;
}
"""


@pytest.mark.parametrize(
    "code",
    [
        "s += weight(a[i]);",
        "const int32_t d = a[i] - 3; if (d != 0) s += abs(d) + abs(a[i]);",
        "if (a[i] > 0) s += weight(a[i]) - weight(i);",
    ],
)
def test_integers_that_functions_give_are_accumulated_apart(tmp_path: Path, code: str) -> None:
    text = SUMS.replace("@CODE@", code)
    new = transformed_file(text, {})
    assert "s_2" in new
    outputs = [compile_and_run(program, tmp_path, "-w", *checked()) for program in (new, text)]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    "code", ["k += half(x[i]);", "k += far(a[i]);", "const double d = half(x[i]) + a[i]; k += d;"]
)
def test_what_functions_give_is_cut_off_in_the_order_of_the_loop(code: str) -> None:
    with pytest.raises(Refusal) as caught:
        transformed_file(SUMS.replace("@CODE@", code), {})
    (found,) = caught.value.diagnostics
    assert found.code == "ORIO-T054"
    assert found.position is not None
    assert found.position.line == 15
