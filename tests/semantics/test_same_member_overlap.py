"""Loops over what members of structures point to, in another order, wherever the pointers lead: same results."""

import shutil
import subprocess
from pathlib import Path

import pytest

from orio_py.cli.main import main

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

LOOPS = {
    "two_members": "for (i = 1; i < n; i++) g->v[i] = g->u[i - 1] + 2 * g->u[i + 1];",
    "member_and_parameter": "for (i = 0; i < n; i++) g->v[i] = p[i] + 1;",
    "parameter_and_member": "for (i = 0; i < n; i++) p[i] = g->v[i] * 3 + g->u[0];",
    "behind_a_pointer_to_an_array": "for (i = 0; i < 2; i++) p[i] = (*g->q)[i] + 1;",
    "a_number_of_the_structure": "for (i = 0; i < 8; i++) g->v[i] = i + g->scale;",
    "the_bound_itself": "for (i = 0; i < g->n; i++) g->c[i] = 5 - i;",
    "pointers_to_arrays": "for (i = 0; i < 3; i++) g->r[i][1] = g->q[i + 1][0] + 1;",
    "an_array_inside": "for (i = 0; i < 6; i++) g->w[i] = g->v[i] + 1;",
    "two_structures": "for (i = 0; i < n; i++) h->v[i] = g->v[i] + h->u[i];",
    "the_pointer_may_be_written": "for (i = 0; i < n; i++) g->b[i] = 1;",
    "rows_of_a_member": "for (i = 0; i < 3; i++) for (j = 0; j < 5; j++) g->t[i][j] = g->u[j] + g->t[i][j];",
    "rows_of_two_members": "for (i = 0; i < 2; i++) for (j = 0; j < n; j++) h->t[i][j] = 2 * g->t[1 - i][j];",
    "one_row_of_a_member": "for (j = 0; j < n; j++) p[j] = g->t[n - 6][j] * 2 + 1;",
    "rows_up_to_a_member": "for (i = 0; i < n - 4; i++) for (j = 0; j < g->n - 2; j++) g->t[i][j] = p[j] + i;",
    "rows_never_followed": "for (i = 0; i < none; i++) for (j = 0; j < nil->n; j++) nil->t[j][i] = nil->u[i];",
    "in_a_later_loop": "for (i = 0; i < 3; i++) { double s = 0; for (j = 0; j < 2; j++) s += g->u[i * 2 + j];"
    " for (j = 0; j < 2; j++) h->v[i * 2 + j] = s; }",
    "below_the_diagonal": "for (i = 0; i < n - 3; i++) for (j = 0; j < i; j++) { h->t[i][j] = g->t[i][j] + p[j]; h->t[j][i] = g->t[i][j]; }",
    "above_the_diagonal": "for (i = 0; i < 4; i++) for (j = i + 1; j < 4; j++) { h->t[i][j] = g->u[j]; h->t[j][i] = g->u[i + 1]; }",
    "none_below": "for (i = 0; i < none + 1; i++) for (j = 0; j < i; j++) nil->t[i][j] = nil->t[j][i] + nil->u[j];",
    "behind_a_condition": "for (i = 0; i < n; i++) { if (p[i] > 20) p[i] = 20; h->v[i] = g->u[i]; }",
    "never_followed": "for (i = 0; i < none; i++) nil->v[i] = nil->scale;",
    "through_two_pointers": "for (i = 1; i < n; i++) s->one->v[i] = s->two->u[i - 1] + s->one->u[0];",
    "through_one_of_two": "for (i = 0; i < n; i++) s->two->v[i] = p[i] + s->in.u[i] + s->two->scale;",
    "bounds_through_two": "for (i = 0; i < s->one->n - 2; i++) { s->in.v[i] = s->two->u[i]; if (p[i] > 20) s->one->u[i] = 0; }",
    "rows_by_a_stride_of_the_structure": "for (i = 1; i < 3; i++) { const double *r = g->u + i * g->m; double *o = h->v + i * h->m;"
    " for (j = 1; j < g->n - 5; j++) o[j] = r[j - 1] + r[j - g->m] + r[j + g->m] + r[g->n + j]; }",
    "never_followed_through": "for (i = 0; i < none; i++) nowhere->two->v[i] = nowhere->one->u[i];",
}
REFUSED = {
    "several_structures": "for (i = 1; i < 7; i++) t[0].v[i] = t[1].v[i - 1];",
    "each_its_own": "for (i = 0; i < 2; i++) for (j = 0; j < 7; j++) t[i].v[j] = j * i;",
    "rows_that_may_be_written": "for (j = 0; j < 4; j++) { g->t[1][j] = 1; g->e[j] = g->u; }",
    "a_set_pointer": "for (i = 0; i < 4; i++) { g->v[i] = g->u[i]; g->u++; }",
    "a_set_pointer_on_the_way": "for (i = 0; i < 4; i++) { s->one->v[i] = s->two->u[i]; s->one = g; }",
    "a_pointer_on_the_way_that_may_be_set": "for (i = 0; i < 4; i++) { s->one->v[i] = s->two->u[i]; *slot = g; }",
    "bytes_on_the_way": "for (i = 0; i < 4; i++) { s->one->v[i] = s->two->u[i]; s->two->b[i] = 0; }",
}
KERNEL = """
struct grid { int n, m; double scale, rest[8], *u, *v; int *c; char *b; double w[8], (*r)[2], (*q)[2], **t, **e; }; struct box { struct grid *one, *two, in; };
void f(struct grid *g, struct grid *h, struct grid *t, struct grid *nil, struct box *s, struct box *nowhere, struct grid **slot, double *p, int none, int n)
{
  int i, j;
  /*@ begin Loop (transform %s) @*/
  %s
  /*@ end @*/
}
"""
PROGRAM = """
#include <stdio.h>
#include <string.h>
#include "%s"
static double memory[90], *rows[6];
static struct { int before; struct grid g, h; double tail[8]; } all;
int main(void)
{
  int a, b, c, k;
  for (a = 0; a < 6; a++) for (b = 0; b < 6; b++) for (c = 0; c < 5; c++) {
    for (k = 0; k < 90; k++) memory[k] = k + 1;
    memset(&all, 0, sizeof all);
    all.g.n = all.h.n = 8;
    all.g.m = all.h.m = 2;
    all.g.scale = 0.5;
    all.g.u = memory + 10;
    all.g.v = a < 5 ? memory + 8 + a : &all.g.scale;
    all.h.u = memory + 10 + b;
    all.h.v = b < 5 ? memory + 11 + b : all.g.w;
    all.g.c = b < 5 ? (int *)memory : &all.g.n;
    all.g.b = (char *)(memory + 20);
    all.g.r = (double (*)[2])(memory + 10);
    all.g.q = (double (*)[2])(memory + 8 + 2 * a + b / 3);
    for (k = 0; k < 6; k++) rows[k] = memory + 4 + a + 3 * b + 8 * k;
    all.g.t = all.g.e = rows;
    all.h.t = rows + c %% 3;
    struct box box = {c %% 2 ? &all.g : &all.h, c < 3 ? &all.g : &all.h, all.g};
    struct grid *spare;
    f(&all.g, &all.h, &all.g, 0, &box, 0, &spare, c < 4 ? memory + 9 + c : &all.g.scale, 0, 7);
    for (k = 0; k < 90; k++) printf("%%.3f ", memory[k]);
    for (k = 0; k < 8; k++) printf("%%.3f ", all.g.w[k]);
    printf("%%d %%d %%.3f %%d\\n", all.g.n, all.g.m, all.g.scale, all.h.n);
  }
  return 0;
}
"""


def transformed(folder: Path, loop: str, recipe: str = "Reverse()") -> int:
    (folder / "k.c").write_text(KERNEL % (recipe, loop))
    return main(["transform", str(folder / "k.c"), "-o", str(folder / "out.c"), "--quiet"])


def output(folder: Path, name: str, *options: str) -> str:
    (folder / "main.c").write_text(PROGRAM % "out.c")
    program = folder / name
    command = ["gcc", "-O1", "-g", "-fno-strict-aliasing", "-fsanitize=undefined", "-fno-sanitize=bounds"]
    subprocess.run([*command, *options, "main.c", "-o", str(program)], cwd=folder, check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    assert "runtime error" not in done.stderr
    return done.stdout


@pytest.mark.share(3)
@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_members_wherever_they_point(tmp_path: Path, loop: str) -> None:
    recipe = "Unroll(ufactor=3)" if "i < g->n;" in loop else "Reverse()"
    assert transformed(tmp_path, loop, recipe) == 0
    text = (tmp_path / "out.c").read_text()
    assert "/* Runs " in text or "b[i]" in text
    assert output(tmp_path, "original", "-DORIO_ORIGINAL") == output(tmp_path, "reversed")


IMAGES = """
typedef unsigned char byte;
struct image { int w, h; byte *pix; };
static byte clamp(int v) { return v < 0 ? 0 : v > 255 ? 255 : v; }
void f(const struct image *in, struct image *out)
{
  int x, y, k;
  /*@ begin Loop (transform Permut(seq=['x', 'y'])) @*/
  for (y = 1; y < in->h - 1; y++)
    for (x = 1; x < in->w - 1; x++) {
      int s = 0;
      for (k = -1; k <= 1; k++) s += in->pix[y * in->w + x + k];
      out->pix[y * out->w + x] = clamp(s / 2);
    }
  /*@ end @*/
}
"""
SHOWN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "%s"
static struct { byte first[200]; struct image in, out; byte last[200]; } all;
int main(void)
{
  for (int a = 0; a < 9; a++) for (int w = 3; w < 6; w++) for (int d = 0; d < 9; d++) {
    memset(&all, 0, sizeof all);
    for (int k = 0; k < 200; k++) all.first[k] = all.last[k] = 7 * k %% 120;
    all.in.w = 4; all.in.h = 5; all.out.w = w; all.out.h = 5;
    all.in.pix = all.first + 40;
    all.out.pix = a < 4 ? all.first + 36 + d : a < 6 ? all.last + d : a == 6 ? (byte *)&all.in.w - 18 - d : all.first + 100;
    f(&all.in, &all.out);
    for (int k = 0; k < 200; k++) printf("%%d ", all.first[k] + 1000 * all.last[k]);
    printf("%%d %%d %%d %%d\\n", all.in.w, all.in.h, all.out.w, all.out.h);
  }
  return 0;
}
"""


def test_bytes_that_may_be_the_structures_themselves(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text(IMAGES)
    assert main(["transform", str(tmp_path / "k.c"), "-o", str(tmp_path / "out.c"), "--quiet"]) == 0
    text = (tmp_path / "out.c").read_text()
    assert "in->w <= (long)out->w + 1" in text
    assert "(unsigned long)(out + 1) <= " in text
    assert text.index("for (x = 1;") < text.index("for (y = 1;", text.index("#ifndef"))
    results: list[str] = []
    for options in (["-DORIO_ORIGINAL"], []):
        (tmp_path / "main.c").write_text(SHOWN % "out.c")
        command = ["gcc", "-O1", "-g", *options, "main.c", "-o", "program"]
        subprocess.run(command, cwd=tmp_path, check=True)
        done = subprocess.run([str(tmp_path / "program")], capture_output=True, text=True, check=False)
        results.append(f"{done.returncode} {done.stdout}")
    assert results[0] == results[1]
    assert results[0].startswith("0 ")


SOMETIMES = "for (i = 0; i < n; i++) if (p[i] > 12) h->v[i] = g->u[i] + 1;"
FOLLOWED = {
    "a_test": "if (h->n + g->n < n) return;",
    "a_branch": "if (!none && h->n == 8 && g->n == 8)",
    "left_behind_or": "if (none || h->n < n || g->n < n) return;",
    "a_negation": "if (!(h->n == 8 && g->n == 8)) return;",
    "values": "n = h->n - 1; (void)(g->n ? none : n);",
    "both_ways": "if (none) n -= h->n; else n = h->n - 1; none = g->m;",
    "around": "for (k = g->n - 1; k < h->n; k++)",
}
NOT_FOLLOWED = {
    "one_of_them": "if (h->n < n) return;",
    "one_way": "if (none) n -= h->n + g->n;",
    "behind_or": "if (!none || h->n + g->n < n)",
    "an_address": "if (&h->n == &g->n) return;",
    "only_its_size": "if (sizeof h->n + sizeof g->n < n) return;",
    "set_again": "if (h->n + g->n < n) return; if (none) h = nil;",
    "perhaps_freed": "if (h->n + g->n < n) return; done(h);",
    "known_elsewhere": "if (h->n + g->n < n) return; others[0] = &h;",
    "another_one": "{ struct grid *h = g; if (h->n + g->n < n) return; }",
}


def kernel_behind(before: str) -> str:
    head, region = (KERNEL % ("Reverse()", SOMETIMES)).split("  /*@ begin")
    declared = "void done(struct grid *);\nstruct grid **others[1];\n"
    return f"{declared}{head}  int k = 0;\n  (void)j, (void)k;\n  {before}\n  /*@ begin{region}"


@pytest.mark.share(3)
@pytest.mark.parametrize("before", FOLLOWED.values(), ids=FOLLOWED)
def test_what_is_followed_before_may_be_followed_again(tmp_path: Path, before: str) -> None:
    (tmp_path / "k.c").write_text(kernel_behind(before))
    assert main(["transform", str(tmp_path / "k.c"), "-o", str(tmp_path / "out.c"), "--quiet"]) == 0
    assert "/* Runs unless arrays overlap" in (tmp_path / "out.c").read_text()
    assert output(tmp_path, "original", "-DORIO_ORIGINAL") == output(tmp_path, "reversed")


@pytest.mark.parametrize("before", NOT_FOLLOWED.values(), ids=NOT_FOLLOWED)
def test_what_need_not_have_been_followed_is_not(tmp_path: Path, capsys, before: str) -> None:
    (tmp_path / "k.c").write_text(kernel_behind(before))
    assert main(["transform", str(tmp_path / "k.c"), "-o", str(tmp_path / "out.c"), "--quiet"]) == 2
    assert "may touch the same memory" in capsys.readouterr().err


@pytest.mark.parametrize("loop", REFUSED.values(), ids=REFUSED)
def test_what_no_test_can_tell_is_refused(tmp_path: Path, capsys, loop: str) -> None:
    assert transformed(tmp_path, loop) == 2
    assert "k.c:7:" in capsys.readouterr().err


CELLS = """
struct inner { int m; double w[4]; };
struct cell { float speeds[9]; struct inner in; double m[3][2], *p; unsigned low : 3; };
struct list { int n; double x[1]; };
void f(int nx, int ny, struct cell *c, struct cell *t, struct list *one, struct list *two)
{
  int i, j, k;
  (void)one, (void)two;
  /*@ begin Loop (transform Reverse()) @*/
  %s
  /*@ end @*/
}
"""
CELL_LOOPS = {
    "one_of_each": "for (i = 0; i < nx; i++) t[i + ny].speeds[3] = c[i].speeds[1];",
    "all_of_each": "for (i = 0; i < nx; i++) for (k = 0; k < 9; k++) t[i].speeds[k] += c[i + 1].speeds[8 - k];",
    "rows": "for (j = 0; j < ny; j++) for (i = 0; i < nx; i++) t[i + j * nx].speeds[0] = c[i + j * nx].speeds[0] + 1;",
    "around": "for (j = 0; j < ny; j++) for (i = 0; i < nx; i++) {"
    " int e = (i + 1) % nx, w = i == 0 ? i + nx - 1 : i - 1;"
    " t[i + j * nx].speeds[1] = c[w + j * nx].speeds[1]; t[i + j * nx].speeds[2] = c[e + j * nx].speeds[2]; }",
    "inside_of_inside": "for (i = 0; i < nx; i++) for (k = 0; k < 4; k++) t[i].in.w[k] = c[nx - i].in.w[3 - k];",
    "two_dimensions": "for (i = 0; i < nx; i++) for (k = 0; k < 3; k++) t[i].m[k][1] = c[i].m[k][0];",
    "with_numbers": "for (i = 0; i < nx; i++) t[i].speeds[t[i].in.m & 3] = c[i].speeds[2];",
}
CELLS_REFUSED = {
    "pointers": "for (i = 0; i < nx; i++) t[i].p[0] = c[i].p[1];",
    "bits": "for (i = 0; i < nx; i++) t[i].low = c[i].low;",
    "longer_than_declared": "for (i = 0; i < nx; i++) one[0].x[i] = two[0].x[i];",
}
CELLS_SHOWN = """
#include <stdio.h>
#include "%s"
static struct cell all[60];
int main(void)
{
  for (int shift = -12; shift <= 12; shift++) for (int ny = 0; ny < 4; ny++) for (int nx = 1; nx < 5; nx++) {
    for (int q = 0; q < 60; q++) {
      for (int k = 0; k < 9; k++) all[q].speeds[k] = q * 9 + k;
      for (int k = 0; k < 4; k++) all[q].in.w[k] = q * 4 + k;
      for (int k = 0; k < 6; k++) all[q].m[k / 2][k %% 2] = q * 6 + k;
      all[q].in.m = q;
    }
    f(nx, ny, all + 20, all + 20 + shift, 0, 0);
    for (int q = 0; q < 60; q++) {
      for (int k = 0; k < 9; k++) printf("%%.1f ", all[q].speeds[k]);
      for (int k = 0; k < 4; k++) printf("%%.1f ", all[q].in.w[k]);
      for (int k = 0; k < 6; k++) printf("%%.1f ", all[q].m[k / 2][k %% 2]);
    }
    printf("\\n");
  }
  return 0;
}
"""


@pytest.mark.share(3)
@pytest.mark.parametrize("loop", CELL_LOOPS.values(), ids=CELL_LOOPS)
def test_arrays_in_structures_that_may_overlap(tmp_path: Path, loop: str) -> None:
    (tmp_path / "k.c").write_text(CELLS % loop)
    assert main(["transform", str(tmp_path / "k.c"), "-o", str(tmp_path / "out.c"), "--quiet"]) == 0
    assert "(unsigned long)" in (tmp_path / "out.c").read_text()
    (tmp_path / "main.c").write_text(CELLS_SHOWN % "out.c")
    results: list[str] = []
    for options in (["-DORIO_ORIGINAL"], []):
        command = ["gcc", "-O1", "-g", "-fsanitize=undefined,address", *options, "main.c", "-o", "program"]
        subprocess.run(command, cwd=tmp_path, check=True)
        done = subprocess.run([str(tmp_path / "program")], capture_output=True, text=True, check=True)
        assert "runtime error" not in done.stderr
        results.append(done.stdout)
    assert results[0] == results[1]


@pytest.mark.parametrize("loop", CELLS_REFUSED.values(), ids=CELLS_REFUSED)
def test_what_lies_elsewhere_than_in_the_structures_is_refused(tmp_path: Path, capsys, loop: str) -> None:
    (tmp_path / "k.c").write_text(CELLS % loop)
    assert main(["transform", str(tmp_path / "k.c"), "-o", str(tmp_path / "out.c")]) == 2
    assert "error[ORIO-T0" in capsys.readouterr().err
    assert not (tmp_path / "out.c").exists()


MATRICES = """
typedef struct { float re, im; } complex;
typedef struct { complex e[3][3]; } matrix;
typedef struct { complex c[3]; } vector;
typedef struct { vector d[4]; } spinor;
#define MUL(a, b, c) { (c).re = (a).re * (b).re - (a).im * (b).im; (c).im = (a).re * (b).im + (a).im * (b).re; }
#define SUM(a, b) { (a).re += (b).re; (a).im += (b).im; }
void f(int n, matrix *a, matrix *b, matrix *c, spinor *s, spinor *t)
{
  int i, j, k;
  register complex x, y;
  (void)k, (void)n, (void)s, (void)t, (void)x, (void)y;
  /*@ begin Loop (transform Reverse()) @*/
  %s
  /*@ end @*/
}
"""
MATRIX_LOOPS = {
    "product": "for (i = 0; i < 3; i++) for (j = 0; j < 3; j++) { x.re = x.im = 0.0f;"
    " for (k = 0; k < 3; k++) { MUL(a->e[i][k], b->e[k][j], y); SUM(x, y); } c->e[i][j] = x; }",
    "transpose": "for (i = 0; i < 3; i++) for (j = 0; j < 3; j++) c->e[i][j].re = a->e[j][i].re;",
    "up_to_a_number": "for (i = 0; i < n; i++) for (j = 0; j < 3; j++) c->e[j][i].im = a->e[i][j].im - b->e[0][0].im;",
    "deep": "for (i = 0; i < 4; i++) for (j = 0; j < 3; j++) s->d[i].c[j].re = t->d[3 - i].c[j].re;",
    "one_of_several": "for (i = 0; i < 3; i++) { s->d[0].c[i] = t->d[3].c[i]; s->d[1].c[i] = t->d[2].c[i]; }",
    "two_types": "for (i = 0; i < 3; i++) for (j = 0; j < 3; j++) s->d[j].c[i].re = a->e[i][j].re;",
}
MATRICES_SHOWN = """
#include <stdio.h>
#include "%s"
static float memory[200];
int main(void)
{
  for (int u = 0; u < 9; u++) for (int v = -24; v <= 24; v += 3) for (int n = 0; n < 4; n++) {
    for (int k = 0; k < 200; k++) memory[k] = k * 7 %% 23 - 11;
    f(n, (matrix *)(memory + 60), (matrix *)(memory + 60 + 2 * u), (matrix *)(memory + 60 + 2 * v),
      (spinor *)(memory + 60 + v), (spinor *)(memory + 62 + 2 * u));
    for (int k = 0; k < 200; k++) printf("%%.1f ", memory[k]);
    printf("\\n");
  }
  return 0;
}
"""


@pytest.mark.share(3)
@pytest.mark.parametrize("loop", MATRIX_LOOPS.values(), ids=MATRIX_LOOPS)
def test_arrays_of_structures_inside_single_ones(tmp_path: Path, loop: str) -> None:
    (tmp_path / "k.c").write_text(MATRICES % loop)
    assert main(["transform", str(tmp_path / "k.c"), "-o", str(tmp_path / "out.c"), "--quiet"]) == 0
    assert "/* Runs unless arrays overlap" in (tmp_path / "out.c").read_text()
    (tmp_path / "main.c").write_text(MATRICES_SHOWN % "out.c")
    results: list[str] = []
    for options in (["-DORIO_ORIGINAL"], []):
        flags = ["-O1", "-g", "-fno-strict-aliasing", "-fsanitize=undefined,address"]
        subprocess.run(["gcc", *flags, *options, "main.c", "-o", "program"], cwd=tmp_path, check=True)
        done = subprocess.run([str(tmp_path / "program")], capture_output=True, text=True, check=True)
        assert "runtime error" not in done.stderr
        results.append(done.stdout)
    assert results[0] == results[1]


SHAPES = """
struct tensor { int n, d[4]; float *x; unsigned char *bytes; };
void f(int axis, int m, int d[4], struct tensor *q, struct tensor *p, float *x, float *y, int *z, float (*w)[6])
{
  int i, j, k;
  (void)j, (void)k, (void)m, (void)axis, (void)d, (void)q, (void)p, (void)x, (void)y, (void)z, (void)w;
  /*@ begin Loop (transform %s) @*/
  %s
  /*@ end @*/
}
"""
SHAPE_LOOPS = {
    "transposed": "for (i = 0; i < d[0]; i++) for (j = 0; j < d[1]; j++) for (k = 0; k < d[2]; k++)"
    " y[(i * d[2] + k) * d[1] + j] = x[(i * d[1] + j) * d[2] + k];",
    "members": "for (i = 0; i < 2; i++) for (j = 0; j < q->d[axis]; j++) for (k = 0; k < m; k++)"
    " p->x[i * m + k] += q->x[(i * q->d[axis] + j) * m + k];",
    "values_in_bodies": "for (i = 0; i < d[0]; i++) { int at = i * d[1], to = i * d[3]; for (j = 0; j < d[2]; j++) y[to + j] = x[at + j]; }",
    "columns_in_rows": "for (i = 0; i < d[0]; i++) for (j = 0; j < m; j++) y[i * d[1] + j] = x[i * d[1] + j] + i;",
    "behind_a_pointer_to_an_array": "for (i = 0; i < 6; i++) y[i] = (*w)[5 - i] + 1;",
    "of_two_structures": "for (i = 0; i < p->d[0]; i++) for (j = 0; j < q->d[0 + 1]; j++) p->x[i * p->d[1] + j] = q->x[i * q->d[1] + j];",
}
SHAPES_REFUSED = {
    "set": "for (i = 0; i < d[0]; i++) { d[1] = 2; y[i * d[1]] = x[i]; }",
    "set_by_another_name": "for (i = 0; i < d[0]; i++) { z[1] = i; y[i * d[1]] = x[i]; }",
    "bytes": "for (i = 0; i < d[0]; i++) { p->bytes[i] = 1; y[i * d[1]] = x[i]; }",
    "sometimes": "for (i = 0; i < 3; i++) if (x[i] > 3) y[i * d[1]] = x[i];",
    "another_index": "for (i = 0; i < d[0]; i++) for (j = 0; j < d[i]; j++) y[i * d[i] + j] = x[j];",
    "set_in_a_structure": "for (i = 0; i < q->d[0]; i++) { p->d[1] = 2; y[i * q->d[1]] = x[i]; }",
    "its_address": "for (i = 0; i < d[0]; i++) { int *e = &d[1]; *e = 3; y[i * d[1]] = x[i]; }",
}
SHAPES_SHOWN = """
#include <stdio.h>
#include "%s"
static float memory[120];
int main(void)
{
  for (int a = 0; a < 4; a++) for (int b = 0; b < 4; b++) for (int s = -9; s <= 9; s++) {
    int d[4] = {a, b, 3, 1 + b}, z[4] = {5, 6, 7, 8};
    struct tensor q = {3, {a, b, 2, 3}, memory + 40, 0}, p = {3, {2, 3, a, b}, memory + 40 + 2 * s, 0};
    for (int k = 0; k < 120; k++) memory[k] = k * 7 %% 23 - 11;
    f(b, a, d, &q, &p, memory + 40, memory + 40 + 3 * s, z, (float (*)[6])(memory + 37 + s));
    for (int k = 0; k < 120; k++) printf("%%.1f ", memory[k]);
    printf("\\n");
  }
  return 0;
}
"""


@pytest.mark.share(3)
@pytest.mark.parametrize("loop", SHAPE_LOOPS.values(), ids=SHAPE_LOOPS)
def test_elements_that_keep_their_values_are_extents(tmp_path: Path, loop: str) -> None:
    recipe = "UnrollJam(ufactor=2)" if "->" in loop else "Reverse()"
    (tmp_path / "k.c").write_text(SHAPES % (recipe, loop))
    assert main(["transform", str(tmp_path / "k.c"), "-o", str(tmp_path / "out.c"), "--quiet"]) == 0
    assert "/* Runs " in (tmp_path / "out.c").read_text()
    (tmp_path / "main.c").write_text(SHAPES_SHOWN % "out.c")
    results: list[str] = []
    for options in (["-DORIO_ORIGINAL"], []):
        flags = ["-O1", "-g", "-fsanitize=undefined,address"]
        subprocess.run(["gcc", *flags, *options, "main.c", "-o", "program"], cwd=tmp_path, check=True)
        done = subprocess.run([str(tmp_path / "program")], capture_output=True, text=True, check=True)
        assert "runtime error" not in done.stderr
        results.append(done.stdout)
    assert results[0] == results[1]


@pytest.mark.parametrize("loop", SHAPES_REFUSED.values(), ids=SHAPES_REFUSED)
def test_elements_that_may_change_or_need_not_be_read_are_not(tmp_path: Path, capsys, loop: str) -> None:
    (tmp_path / "k.c").write_text(SHAPES % ("Reverse()", loop))
    assert main(["transform", str(tmp_path / "k.c"), "-o", str(tmp_path / "out.c"), "--quiet"]) == 2
    assert "k.c:8:" in capsys.readouterr().err
