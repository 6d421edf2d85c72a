"""Matrices whose rows are behind several pointers, wherever the rows lie: other orders give the same results."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FILE = """#include <stdio.h>
#include <stddef.h>
typedef struct { double d, e; } cell;
struct grid { double h; double ***u; cell ***c; int n; };
static double ***g;
static void work(int n, int lo, int hi, double ***a, double ***b, double *x, unsigned char ***bytes, cell ***c, cell ***e,
                 double **four[3][2], struct grid *s, struct grid *nil)
{
  int i, j, k;
  /*@ begin Loop(transform Reverse()) @*/
  @CODE@
  /*@ end @*/
}
static double m[600];
static double *row_a[3][4], *row_b[3][4], *row_g[3][4], *row_f[3][2][3], **plane_a[4], **plane_b[4], **plane_g[4];
static cell *row_c[3][4], *row_e[3][4], **plane_c[4], **plane_e[4];
static unsigned char *row_y[3][4], **plane_y[4];
int main(void)
{
  for (int d = -30; d <= 30; d += 5)
    for (int n = 0; n < 4; n++) {
      double **four[3][2];
      for (int p = 0; p < 3; p++) {
        for (int q = 0; q < 4; q++) {
          /* What no loop reads leads nowhere. */
          int used = p < n && q < n + 1;
          row_a[p][q] = used ? m + 100 + 20 * p + 5 * q : NULL;
          row_b[p][q] = used ? m + 100 + d + 20 * p + 5 * q : NULL;
          row_g[p][q] = used ? m + 110 - d + 20 * p + 5 * q : NULL;
          row_c[p][q] = used ? (cell *)(m + 300 + 40 * p + 10 * q) : NULL;
          row_e[p][q] = used ? (cell *)(m + 300 + 2 * d + 40 * p + 10 * q) : NULL;
          row_y[p][q] = used ? (unsigned char *)(m + 500 + 8 * p + 2 * q) : NULL;
        }
        for (int q = 0; q < 2; q++) {
          for (int r = 0; r < 3; r++) row_f[p][q][r] = p < n && r < n ? m + 90 + d + 20 * p + 6 * q + r : NULL;
          four[p][q] = row_f[p][q];
        }
        plane_a[p] = p < n ? row_a[p] : NULL;
        plane_b[p] = p < n ? row_b[p] : NULL;
        plane_g[p] = p < n ? row_g[p] : NULL;
        plane_c[p] = p < n ? row_c[p] : NULL;
        plane_e[p] = p < n ? row_e[p] : NULL;
        plane_y[p] = p < n ? row_y[p] : NULL;
      }
      for (int i = 0; i < 600; i++) m[i] = i % 23 - 11;
      struct grid s = {0.5, plane_b, plane_e, n};
      g = plane_g;
      work(n, 1, n - 1, plane_a, plane_b, m + 120 + d, plane_y, plane_c, plane_e, four, &s, NULL);
      for (int i = 0; i < 600; i++) printf("%g ", m[i]);
      puts("");
    }
  return 0;
}
"""
ALL = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < 5; k++)"
LOOPS = {
    "two": f"{ALL} a[i][j][k] = b[i][j][k] + 1;",
    "vector": f"{ALL} a[i][j][k] += x[k] * 2;",
    "global": f"{ALL} g[i][j][k] = 2 * a[i][j][k];",
    "neighbours": (
        "for (i = lo; i <= hi; i++) for (j = 1; j <= n - 1; j++) for (k = 1; k < 4; k++)"
        " a[i][j][k] = b[i][j][k + 1] - b[i][j - 1][k] + b[i - 1][j][k] + b[i][j + 1][k - 1];"
    ),
    "every second": "for (i = 0; i < (n + 1) / 2; i++) for (j = 0; j < n; j++) a[2 * i][j][1] = b[2 * i][j][2 * i] + i;",
    "triangle": "for (i = 0; i < n; i++) for (j = 0; j <= i; j++) for (k = j; k < 5; k++) a[i][j][k] = b[i][j][k - j];",
    "other order": "for (k = 0; k < 5; k++) for (j = 0; j < n; j++) for (i = 0; i < n; i++) a[i][j][k] = b[i][j][k] * 3;",
    "one plane": "for (j = 0; j < n; j++) for (k = 0; k < 5; k++) a[n - 1][j][k] = b[0][j][k] + j;",
    "one row": "for (k = 0; k < n; k++) x[k] = a[0][n - 1][k] * k;",
    "structures": f"{ALL} c[i][j][k].d = e[i][j][k].e + e[i][j][k].d;",
    "structures and numbers": f"{ALL} a[i][j][k] = e[i][j][k].e * 2;",
    "member": f"{ALL} a[i][j][k] = s->u[i][j][k] * s->h;",
    "member from a start": "for (i = lo; i <= hi; i++) for (j = lo; j < n; j++) for (k = 0; k < 5; k++) s->u[i][j][k] += a[i][j][k];",
    "structures of a member": f"{ALL} c[i][j][k].e = s->c[i][j][k].e + k;",
    "never followed": "for (i = n; i < lo - 1; i++) for (j = 0; j < 2; j++) for (k = 0; k < 3; k++) nil->u[i][j][k] = a[i][j][k];",
    "four": "for (i = 0; i < n; i++) for (j = 0; j < n; j++) four[i][1][j][0] = a[i][j][0] + 1;",
}


def _file(code: str) -> str:
    return FILE.replace("@CODE@", code)


@pytest.mark.share(4)
@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_rows_wherever_they_lie(tmp_path: Path, loop: str) -> None:
    new = transformed_file(_file(loop), {})
    assert "/* Runs " in new
    outputs = [compile_and_run(program, tmp_path, "-w", *checked()) for program in (new, _file(loop))]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    "loop",
    [
        # The pointers may change, or be what is written: as bytes of rows.
        f"{ALL} {{ a[i][j][k] = x[k]; a[i][0] = x; }}",
        f"{ALL} {{ a[i][j][k] = x[k]; a[0] = b[i]; }}",
        f"{ALL} bytes[i][j][k] = x[k];",
        # A row need not be read.
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) if (x[j] > 0) a[i][j][0] = x[i];",
        "for (i = 0; i < n; i++) for (j = 0; j < (int)x[i]; j++) a[i][j][0] = b[j][i][0];",
    ],
)
def test_pointers_that_may_not_be_read_before_the_loops(loop: str) -> None:
    with pytest.raises(Refusal):
        transformed_file(_file(loop), {})


@pytest.mark.parametrize(
    "loop",
    [
        # Rows that are set may be one, and those of others.
        "for (i = 0; i < n; i++) { a[0][i] = x; a[0][i][0] = x[i + 1]; }",
        "for (i = 0; i < n; i++) { a[0][i] = x + 1; x[i] = a[0][i][0]; }",
        "for (i = 0; i < n; i++) { x[i] = b[0][i + 1][0]; a[0][i] = m; }",
        "for (i = 0; i < n; i++) { x[i] = b[i + 1][0][0]; a[i] = b[0]; }",
    ],
)
def test_pointers_that_loops_set(loop: str) -> None:
    with pytest.raises(Refusal):
        transformed_file(_file(loop), {})


def test_pointers_are_read_where_the_first_iterations_follow_them() -> None:
    new = transformed_file(_file(LOOPS["member from a start"]), {})
    assert "if (lo <= hi && lo < n) {" in new
    assert "for (long row_2 = lo; row_2 < n; row_2++)" in new


@pytest.mark.parametrize(
    "loop",
    [
        "for (i = lo; i <= hi; i++) { n = (int)x[i]; for (j = lo; j < n; j++) x[j] = nil->u[i][j][0]; }",
        "for (i = lo; i <= hi; i++) { s->n = i; for (j = 0; j < s->n; j++) x[j] = nil->u[i][j][0]; }",
        "{ long i; for (i = lo; i <= hi; i++) for (j = (int)i; j < n; j++) x[j] = nil->u[i][j][0]; }",
    ],
)
def test_structures_that_need_not_be_followed(loop: str) -> None:
    with pytest.raises(Refusal):
        transformed_file(_file(loop), {})
