"""Bytes of rows and pixels behind pointers of their own, wherever they lie: another order gives the same results."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FILE = """#include <stdio.h>
#include <stdint.h>
#include <string.h>
typedef unsigned char byte;
typedef struct { byte r, g, b, a; } color;
typedef struct { int w, h, stride; byte *data; color *pixels; byte **rows; } image;
static struct { byte before[64]; byte *table[4]; byte behind[64]; } held;
static byte *rows_of_file[4];
static void set(byte *p, const byte *mask) { p[0] ^= mask[0]; p[1] ^= mask[1]; }
static void work(int w, int h, int flip, unsigned shift, byte **rows, const byte *mask, image *im, const image *from, byte *x,
                 const int *start, const int *column, const double *v, const double *t, double *y)
{
  int i, j;
  byte *p;
  /*@ begin Loop(transform @RECIPE@) @*/
  @CODE@
  /*@ end @*/
}
static byte room[512];
static struct { byte before[1024]; image im; byte behind[1024]; } own;
static long sum(const byte *bytes, int n)
{
  long total = 0;
  for (int k = 0; k < n; k++) total = (total * 31 + bytes[k]) % 1000003;
  return total;
}
int main(void)
{
  for (int d = -48; d <= 44; d++)
    for (int target = -1; target < 9; target++) {
      byte mask[512] = {0};
      double v[64], y[64] = {0};
      int start[5] = {0, 3, 3, 9, 12}, column[64];
      for (int k = 0; k < 64; k++) v[k] = k % 7, column[k] = (k * 5) % 13;
      for (int k = 0; k < 512; k++) room[k] = (byte)(k * 3);
      memset(&held, 0, sizeof held);
      memset(&own, 0, sizeof own);
      /* One byte of a row may be the low one of a pointer or a number: what is behind it is elsewhere then. */
      for (int k = 0; k < 4; k++) held.table[k] = rows_of_file[k] = room + 128 + 64 * k;
      if (target < 6) held.table[0] = (byte *)held.table + d;
      for (int k = 0; k < 64; k++) if (d + k == 8 * target) mask[k] = 16;
      own.im = (image){10, 3, 12, room + 100, (color *)(room + 200), held.table};
      image from = {10, 3, 11, mask, (color *)mask, held.table};
      if (target > 2) own.im.data = (byte *)&own.im + d;
      if (target > 2) own.im.pixels = (color *)((byte *)&own.im + d);
      if (target == 8) own.im.data = room + 256, from.data = room + 256 + d;
      work(12, 3, target & 1, 5, held.table, mask, &own.im, &from, room + 8, start, column, v, v + (d + 48) % 9, y);
      printf("%ld %ld ", sum(room, 512), sum(held.before, 64) + sum(held.behind, 64));
      printf("%ld %ld ", sum(own.before, 1024), sum(own.behind, 1024));
      for (int k = 0; k < 5; k++) printf("%g ", y[k]);
      printf("%d %d %d\\n", own.im.w, own.im.h, own.im.stride);
    }
  return 0;
}
"""
LOOPS = {
    "rows": "for (i = 0; i < h; i++) { byte *p = rows[i]; for (j = 0; j < w; j++) p[j] ^= mask[j]; }",
    "rows, declared outside": "for (i = 0; i < h; i++) { p = rows[i]; for (j = 0; j < w; j++) p[j] ^= mask[j]; }",
    "rows of the file": "for (i = 0; i < h; i++) { byte *p = rows_of_file[i]; for (j = 0; j < w; j++) p[j] ^= x[j]; }",
    "rows in a function": "for (i = 0; i < h; i++) set(rows[i], mask);",
    "rows of a structure": "for (i = 0; i < im->h; i++) { byte *p = im->rows[i]; for (j = 0; j < im->w; j++) p[j] ^= mask[j]; }",
    "rows of a structure at once": "for (i = 0; i < im->h; i++) for (j = 0; j < im->w; j++) im->rows[i][j] ^= mask[j];",
    "pixels": "for (i = 0; i < h; i++) { color *p = &im->pixels[i]; p->r ^= mask[4 * i]; p->g ^= mask[4 * i + 1]; }",
    "pixels of rows": (
        "for (i = 0; i < im->h; i++) for (j = 0; j < im->w; j++)"
        " { color *p = &im->pixels[i * im->w + j]; p->r ^= mask[4 * j]; }"
    ),
    "lines": (
        "for (i = 0; i < im->h; i++) { byte *out = im->data + i * im->stride; const byte *in = from->data + i * from->stride;"
        " for (j = 0; j < im->w; j++) out[j] ^= in[j]; }"
    ),
    "rows of a matrix": (
        "for (i = 0; i < 4; i++) { const int *c = column + start[i]; const double *a = v + start[i]; double sum = 0;"
        " for (j = 0; j < start[i + 1] - start[i]; j++) sum += a[j] * t[c[j]]; y[i] = sum; }"
    ),
    "steps back": "for (i = 0; i < h; i++) { byte *p = &x[8 * i + shift - 5u]; p[-1] = p[0] + 1; }",
    "either": "for (i = 0; i < h; i++) { byte *p = flip ? &x[16 * i] : &x[200 + 16 * i]; for (j = 0; j < w; j++) p[j] = x[j + 100] + j; }",
}


def _file(code: str, recipe: str) -> str:
    return FILE.replace("@CODE@", code).replace("@RECIPE@", recipe)


@pytest.mark.share(6)
@pytest.mark.parametrize("recipe", ["Parallelize()", "UnrollJam(ufactor=2)", "Reverse()"])
@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_rows_wherever_they_lie(tmp_path: Path, loop: str, recipe: str) -> None:
    new = transformed_file(_file(loop, recipe), {})
    flags = ("-w", *checked(), *(openmp() if "omp" in new else ()))
    outputs = [compile_and_run(program, tmp_path, *flags) for program in (new, _file(loop, recipe))]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    "loop",
    [
        # Which row it is may change while the pointer is used.
        "for (i = 0; i < h; i++) { byte *p = rows[i]; rows[i] = x; p[0] = 1; }",
        "for (i = 0; i < h; i++) { byte *p = rows[i]; memcpy(x, p, 3); }",
        "for (i = 0; i < h; i++) { color *p = &im->pixels[i]; im->pixels = im->pixels + 1; p->r = 1; }",
        # The structure that has the rows may be another one in the next iteration.
        "for (i = 0; i < h; i++) { byte *p = (im + i)->rows[i]; for (j = 0; j < w; j++) p[j] = 1; }",
        # Rows that another pointer leads to may be written through.
        "for (i = 0; i < h; i++) { byte *p = rows[i]; byte *q = *(byte **)x; for (j = 0; j < w; j++) p[j] = q[j]; }",
    ],
)
def test_pointers_that_no_test_tells_of(loop: str) -> None:
    with pytest.raises(Refusal):
        transformed_file(_file(loop, "Parallelize()"), {})


def test_rows_that_no_loop_reads(tmp_path: Path) -> None:
    code = "for (i = 0; i < im->h; i++) for (j = 0; j < im->w; j++) im->rows[i][j] ^= mask[j];"
    call = "own.im = (image){0, 3, 0, 0, 0, 0}; work(0, 3, 0, 0, 0, 0, &own.im, 0, 0, 0, 0, 0, 0, 0);"
    text = _file(code, "Parallelize()").replace("  return 0;\n", f"  {call}\n  return 0;\n")
    new = transformed_file(text, {})
    assert "im_w > 0 ? im_rows[i] : 0" in new
    flags = ("-w", *checked(), *openmp())
    assert compile_and_run(new, tmp_path, *flags) == compile_and_run(text, tmp_path, *flags)
