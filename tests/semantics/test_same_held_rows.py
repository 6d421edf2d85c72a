"""Numbers behind pointers that structures of an array hold, also behind pointers to anything: wherever they lie, the results are the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FILE = """#include <stdio.h>
typedef struct values { long length; double *data; } *Values;
typedef struct vector { void *content; char *name; } *Vector;
struct part { int n; double *d; float *f; unsigned char *bytes; };
struct owner { int n; struct part *part; struct part own; };
struct band { long n, lower, upper, shift; double **cols; };
struct matrix { void *content, *more; };
static void work(int n, long m, double *c, Vector *X, Vector *Y, struct part *s, struct owner **t, struct matrix *a,
                 const struct matrix *b, double *z, unsigned char *w)
{
  int i;
  long j;
  double *p, *q;
  /*@ begin Loop(transform @RECIPE@) @*/
  @CODE@
  /*@ end @*/
}
static double room[400], columns[2][6][9];
static float floats[400];
int main(void)
{
  for (int d = -40; d <= 40; d += 8)
    for (int n = -1; n < 5; n++) {
      struct values values[8];
      struct vector vectors[8];
      Vector all[8];
      struct part parts[8];
      struct owner owners[8], *others[8];
      double *rows[2][6];
      struct band bands[2];
      struct matrix matrices[2];
      unsigned char bytes[64] = {0};
      for (int k = 0; k < 400; k++) room[k] = k % 19 - 9, floats[k] = k % 13;
      for (int k = 0; k < 8; k++) {
        values[k] = (struct values){7, room + 100 + 10 * k};
        vectors[k] = (struct vector){&values[k], "v"};
        all[k] = &vectors[k];
        parts[k] = (struct part){k % 4, room + 100 + 10 * k, floats + 10 * k, bytes};
        owners[k] = (struct owner){k % 3, &parts[7 - k], {k, room + 200 + 10 * k, floats + 100 + 10 * k, bytes}};
        others[k] = &owners[k];
      }
      for (int k = 0; k < 12; k++) {
        rows[k / 6][k % 6] = columns[k / 6][k % 6];
        for (int l = 0; l < 9; l++) columns[k / 6][k % 6][l] = k * l % 7;
      }
      for (int k = 0; k < 2; k++) {
        bands[k] = (struct band){n, 1, 2, 3, rows[k && d < 0]};
        matrices[k] = (struct matrix){&bands[k], rows};
      }
      if (d > 8) values[2].data = values[1].data, parts[2].d = parts[1].d, owners[3].part = owners[4].part;
      work(n, d % 3 ? 6 : 0, room + 60 + d, all, all + 4, parts, others, matrices, matrices + 1, room + 100 + d, bytes);
      for (int k = 0; k < 400; k++) printf("%g %g ", room[k], floats[k]);
      for (int k = 0; k < 108; k++) printf("%g ", columns[k / 54][k / 9 % 6][k % 9]);
      puts("");
    }
  return 0;
}
"""
DATA = "((Values)X[i]->content)->data"
BAND = "((struct band *)a->content)"
LOOPS = {
    "sum": f"for (i = 0; i < n; i++) {{ z[i] = 0; for (j = 0; j < m; j++) z[i] += {DATA}[j]; }}",
    "sum of products": (
        f"for (i = 0; i < n; i++) {{ p = {DATA}; q = ((Values)Y[i]->content)->data; z[i] = 0;"
        " for (j = 0; j < m; j++) z[i] += p[j] * q[j]; }"
    ),
    "combination": f"for (i = 1; i < n; i++) {{ p = {DATA}; for (j = 0; j < m; j++) z[i * m + j] += c[i] * p[j]; }}",
    "parts": "for (i = 0; i < n; i++) { z[i] = 1; for (j = 0; j < m; j++) z[i] += s[i].d[j]; }",
    "parts from a start": "for (i = 2; i < n; i++) for (j = 1; j < m; j++) z[i] += s[i].d[j] * c[j - 1];",
    "parts of owners": "for (i = 0; i < n; i++) for (j = 0; j < m; j++) z[i * m + j] = t[i]->part->d[j] + c[j];",
    "own parts": "for (i = 0; i < n; i++) for (j = 0; j < m; j++) z[i] += t[i]->own.d[j] + t[i]->part->d[j];",
    "shifted": "for (i = 0; i < n; i++) for (j = 0; j < m; j++) z[i] += t[i + 1]->own.d[j] + s[2 * i].f[j] * s[i].d[0];",
    "band": (
        f"for (j = 0; j < {BAND}->n; j++) {{ p = {BAND}->cols[j] + {BAND}->shift;"
        f" for (long k = -{BAND}->lower; k <= {BAND}->upper; k++) p[k] *= 2; {BAND}->cols[j][0] += 1; }}"
    ),
    "two bands": (
        f"for (j = 0; j < {BAND}->n; j++) for (long k = 0; k < {BAND}->upper; k++)"
        f" {BAND}->cols[j][k] = 3 * {BAND}->cols[j][k] + ((struct band *)b->content)->cols[j][k + 1];"
    ),
}


def _file(code: str, recipe: str) -> str:
    return FILE.replace("@CODE@", code).replace("@RECIPE@", recipe)


@pytest.mark.share(4)
@pytest.mark.parametrize("recipe", ["Parallelize()", "UnrollJam(ufactor=2)"])
@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_numbers_wherever_they_lie(tmp_path: Path, loop: str, recipe: str) -> None:
    new = transformed_file(_file(loop, recipe), {})
    assert DATA not in loop or DATA in new
    flags = ("-w", *checked(), *(openmp() if "omp" in new else ()))
    outputs = [compile_and_run(program, tmp_path, *flags) for program in (new, _file(loop, recipe))]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    "loop",
    [
        # What leads to the numbers may change.
        "for (i = 0; i < n; i++) { for (j = 0; j < m; j++) z[i] += s[i].d[j]; s[i].d = z; }",
        "for (i = 0; i < n; i++) { for (j = 0; j < m; j++) z[i] += t[i]->part->d[j]; t[i]->part = s; }",
        "for (i = 0; i < n; i++) { t[0] = t[i]; for (j = 0; j < m; j++) z[i] += t[i]->part->d[j]; }",
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) w[i] += s[i].bytes[j];",
        "for (i = 0; i < n; i++) { X[i]->content = Y[0]->content; z[i] = ((Values)X[i]->content)->data[0]; }",
        # Several structures may hold one address, so that rows may be one.
        f"for (i = 0; i < n; i++) {{ p = {DATA}; for (j = 0; j < m; j++) p[j] = c[i] * p[j] + z[j]; }}",
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) s[i].d[j] += z[j];",
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) t[i]->part->d[j] += t[i]->own.d[j];",
        # It need not be followed.
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) if (c[j] > 0) z[i] += t[i]->part->d[j];",
        "for (i = 0; i < n; i++) for (j = 0; j < (long)c[i]; j++) z[i] += t[i]->part->d[j];",
        # One address is used as that of two types.
        f"for (i = 0; i < n; i++) {{ z[i] = {DATA}[0]; ((struct part *)X[i]->content)->d[0] = 1; }}",
        f"for (i = 0; i < n; i++) {{ z[i] = {DATA}[0]; if (X[i]->content == w) z[i] = 0; }}",
    ],
)
def test_what_is_not_known_beforehand(loop: str) -> None:
    with pytest.raises(Refusal):
        transformed_file(_file(loop, "Parallelize()"), {})
