"""Structures with pointers as inputs: what they point to is made, restored and compared, however it is reached."""

import json
import shutil
from pathlib import Path

import pytest

from orio_py.cli.main import main
from orio_py.record.measurement import Failure
from orio_py.results import Selection, show_trials

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

HEADER = """#ifndef GRID_H
#define GRID_H
#define LEVELS 3
typedef double real;
struct part { int size; real *values; };
typedef struct grid {
  int nx, ny;
  real weight[4];
  real **u;
  float *line;
  real *face[2];
  struct part *part;
  char *name;
  struct grid *next;
  void (*done)(int);
} grid_t;
#endif
"""
KERNEL = """#include "grid.h"
#ifndef MODE
#define MODE 0
#endif
static struct part own;
static struct part table[LEVELS];
void sweep(int n, grid_t *restrict g, struct part copied, const struct part *many)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1 @CFLAGS@'; }
    def performance_params { param CFLAGS[] = [%s]; }
    def performance_counter { arg repetitions = 2; }
    def input_params { param n[] = [40]; }
    def input_vars {
      decl grid_t g = random;
      decl int g.nx = n;
      decl real g->u[n][n + 1] = random;
      decl float g->line[n] = random;
      decl real g->face[2][n] = random;
      decl struct part g.part[1] = 2;
      decl real g.part->values[n] = random;
      decl dynamic struct part many[5] = 1;
      decl real many->values[n] = random;
      decl real copied.values[n] = 0.5;
      decl real own.values[n] = random;
      decl real table.values[n] = random;
      decl int table.size = 3;
    }
    def search { arg algorithm = 'Exhaustive'; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=2)) @*/
  for (i = 0; i < g->nx; i++) {
    g->u[i][i + 1] += g->weight[1] * g->line[i] + g->part->values[i] + g->part->size;
    g->face[1][i] *= g->face[0][i] + copied.values[i] + many[i %% 5].values[i];
    own.values[i] += table[i %% LEVELS].values[i];
    table[i %% 3].values[n - 1 - i] *= table[1].size;
  }
  /*@ end @*/
#if MODE == 1
  g->u[7][8] *= 1 + 1e-7;
#elif MODE == 2
  g->line[39] *= 1.01f;
#elif MODE == 3
  many[4].values[1] = 7;
#elif MODE == 4
  table[2].values[3] = 7;
#elif MODE == 5
  own.values[n] = 0.25;
#elif MODE == 6
  { real *first = g->face[0]; g->face[0] = g->face[1]; g->face[1] = first; }
#elif MODE == 7
  g->part->values[5] = 7;
#elif MODE == 8
  g->line[39] *= 1 + 1e-6f;
#elif MODE == 9
  own.values = table[0].values;
#endif
  /*@ end @*/
}
"""


def tuned(folder: Path, *options: str) -> tuple[int, dict]:
    paths = ["--json", str(folder / "r.json"), "--db", str(folder / "r.db")]
    status = main(["tune", str(folder / "k.c"), "--quiet", "--seed", "3", *paths, *options])
    return status, json.loads((folder / "r.json").read_text())


def told(folder: Path) -> dict[str, str]:
    """What was wrong, by the options of the compiler."""
    found = {t.configuration["CFLAGS"]: t.measurement for t in show_trials(folder / "r.db", Selection())}
    return {flags: m.reason.split(":")[0] for flags, m in found.items() if isinstance(m, Failure)}


def write(folder: Path, modes: str, options: str = "-O1") -> None:
    (folder / "grid.h").write_text(HEADER)
    (folder / "k.c").write_text(KERNEL.replace("-O1", options) % modes)


@pytest.mark.proof
def test_what_members_point_to_is_compared_by_its_type(tmp_path: Path) -> None:
    write(tmp_path, ", ".join(["''", *(f"'-DMODE={mode}'" for mode in range(1, 10))]))
    status, report = tuned(tmp_path)
    assert (status, report["diagnostics"]) == (0, [])
    assert told(tmp_path) == {
        "-DMODE=1": "`g.u` element 295",
        "-DMODE=2": "`g.line` element 39",
        "-DMODE=3": "`many.values` element 161",
        "-DMODE=4": "`table.values` element 83",
        "-DMODE=5": "wrote outside `own.values`",
        "-DMODE=6": "`g.face[0]` element 0",
        "-DMODE=7": "`g.part.values` element 5",
        "-DMODE=9": "`own.values` element 0",
    }


@pytest.mark.proof
def test_sanitizers_find_nothing_in_the_test_program(tmp_path: Path) -> None:
    write(tmp_path, "'', '-DMODE=5'", "-O1 -fsanitize=address,undefined")
    status, report = tuned(tmp_path)
    assert (status, report["diagnostics"]) == (0, [])
    assert list(told(tmp_path)) == ["-DMODE=5"]


MATRIX = """#ifndef MATRIX_H
#define MATRIX_H
typedef struct { int n; int *row, *col; double *val; } csr;
#endif
"""
MAKE = """#include <stdlib.h>
#include "matrix.h"
int csr_make(csr *a, int n)
{
  int i;
  a->n = n;
  a->row = malloc((n + 1) * sizeof *a->row);
  a->col = malloc(3 * n * sizeof *a->col);
  a->val = malloc(3 * n * sizeof *a->val);
  if (!a->row || !a->col || !a->val) return 1;
  for (i = 0; i < 3 * n; i++) { a->col[i] = i * 5 % n; a->val[i] = i + 1; }
  for (i = 0; i <= n; i++) a->row[i] = 3 * i;
  return 0;
}
"""
PRODUCT = """#include "matrix.h"
void product(const csr *a, const double *restrict x, double *restrict y)
{
  int i, k;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1 -fsanitize=address,undefined @CFLAGS@'; }
    def performance_params { param CFLAGS[] = ['', '-DBAD']; }
    def performance_counter { arg repetitions = 2; }
    def input_params { param n[] = [40]; }
    def input_vars {
      arg init_file = 'init.c';
      decl int a.row[a.n + 1];
      decl int a.col[3 * n];
      decl double a.val[3 * n];
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = 0;
    }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=2)) @*/
  for (i = 0; i < a->n; i++) {
    double sum = 0.0;
    for (k = a->row[i]; k < a->row[i + 1]; k++)
      sum += a->val[k] * x[a->col[k]];
    y[i] = sum;
  }
  /*@ end @*/
#ifdef BAD
  a->col[11] = 0;
#endif
  /*@ end @*/
}
"""


@pytest.mark.share(2)
@pytest.mark.parametrize("lacking", ["", "val"])
def test_the_applications_own_function_makes_the_structure(tmp_path: Path, capsys, lacking: str) -> None:
    make = MAKE.replace("a->val = malloc(3 * n * sizeof *a->val)", "a->val = 0") if lacking else MAKE
    make = make.replace("|| !a->val", "").replace("a->val[i] = i + 1;", "") if lacking else make
    (tmp_path / "matrix.h").write_text(MATRIX)
    (tmp_path / "matrix.c").write_text(make)
    (tmp_path / "init.c").write_text(
        '#include "matrix.c"\nvoid init_input_vars(void) { if (csr_make(&a, n)) abort(); }\n'
    )
    (tmp_path / "k.c").write_text(PRODUCT)
    if lacking:
        assert main(["tune", str(tmp_path / "k.c"), "--quiet"]) == 2
        assert "init_input_vars() leaves `a.val` null" in capsys.readouterr().err
        return
    status, report = tuned(tmp_path)
    assert (status, report["diagnostics"]) == (0, [])
    assert told(tmp_path) == {"-DBAD": "`a.col` element 11"}


STRUCTURES = "struct part { int n; double *v, **rows; }; struct outer { struct part *p; double d[3]; };"


@pytest.mark.parametrize(
    ("declared", "code", "place", "part"),
    [
        ("decl double a.w[n] = 0;", "ORIO-S027", "5:34", "`struct part` has no member `w`"),
        ("decl float a.v[n] = 0;", "ORIO-S027", "5:33", "its decl says `float`"),
        ("decl double a.v[n][n] = 0;", "ORIO-S027", "5:34", "has 1 extents in the file but its decl says 2"),
        ("decl double a.rows[n] = 0;", "ORIO-S027", "5:34", "has 2 extents in the file but its decl says 1"),
        ("decl double a.v = 0;", "ORIO-S027", "5:34", "has 1 extents in the file but its decl says 0"),
        ("decl double n.v[n] = 0;", "ORIO-S027", "5:34", "`n` is no structure that the file defines"),
        ("decl double a.v[m] = 0;", "ORIO-S025", "5:34", "the extent of `a.v` uses the unknown name `m`"),
        ("decl static double a.v[n] = 0;", "ORIO-S013", "5:22", "expected a type and a member"),
        ("decl double a.v[n] = 0; decl double a->v[n];", "ORIO-S008", "5:58", "`a.v` is defined twice"),
        ("decl double a.v[n] = {0};", "ORIO-S013", "5:34", "cannot have an initialiser list"),
        ("decl double a.v[n] = 0;", "ORIO-S017", "3:3", "the value of `a.n` is not known"),
        ("decl int a.n = n;", "ORIO-S017", "3:3", "the extent of `a.v` is not known"),
        ("", "ORIO-S017", "3:3", "the extents of `a` are not known"),
    ],
)
def test_members_that_cannot_be_declared(
    tmp_path: Path, capsys, declared: str, code: str, place: str, part: str
) -> None:
    lines = (
        f"{STRUCTURES} void f(int n, struct part *a, struct outer *o) {{",
        "  int i;",
        "  /*@ begin PerfTuning (",
        "    def input_params { param n[] = [100]; }",
        f"    def input_vars {{ {declared} }}",
        "  ) @*/ /*@ begin Loop (transform Unroll(ufactor=2)) @*/",
        "  for (i = 0; i < a->n; i++) a->v[i] += 1;",
        "  /*@ end @*/ /*@ end @*/",
        "}",
    )
    (tmp_path / "k.c").write_text("\n".join(lines) + "\n")
    assert main(["check", str(tmp_path / "k.c")]) == 2
    told = capsys.readouterr().err
    assert f"k.c:{place}: error[{code}]: " in told
    assert part in told


ON_DEVICE = """struct state { int n; float dt; double *u, *v; };
void f(struct state *g)
{
  int i;
  /*@ begin PerfTuning (
    def input_params { param n[] = [1000]; }
    def input_vars {
      decl struct state g = 1;
      decl int g.n = n;
      decl double g.u[n] = random;
      decl double g.v[n] = random;
    }
  ) @*/
  /*@ begin Loop (transform CUDA(threadCount=32)) @*/
  for (i = 0; i < g->n; i++)
    g->v[i] = g->u[i] + g->dt;
  /*@ end @*/
  /*@ end @*/
}
"""


@pytest.mark.proof
@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_members_are_buffers_of_kernels(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text(ON_DEVICE)
    _, report = tuned(tmp_path, "-o", str(tmp_path / "out.c"))
    [region] = report["regions"]
    assert region["failures"] in ({}, {"checked, not timed": 1})
    assert main(["transform", str(tmp_path / "k.c"), "-o", str(tmp_path / "out.c"), "--quiet"]) == 0
    text = (tmp_path / "out.c").read_text()
    assert "Runs unless arrays overlap (`g.u` and `g.v`)" in text
    assert "(g->u, g->v, " in text
