"""Structures in structures, unions and bit fields as inputs: filled, put back, watched and compared part by part."""

import json
import shutil
from pathlib import Path

import pytest

from orio_py.cli.main import main
from orio_py.record.measurement import Failure
from orio_py.results import Selection, show_trials

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

HEADER = """#ifndef MESH_H
#define MESH_H
#define DIM 3
typedef double real3[DIM];
typedef union { float f; int n; } word;
struct box { int n; real3 lo, hi; };
struct level {
  unsigned kind : 3, deep : 5, : 0, open : 1;
  double *x;
  struct box at[2];
  real3 *r;
};
struct mesh {
  int n;
  struct { double dx, dy; } step;
  struct level top, levels[4];
  union { double d; long l; } u;
  union { float w[2]; double wide; };
  word words[2];
};
typedef struct grid { struct mesh mesh, *other; double t; } grid_t;
#endif
"""
KERNEL = """#include "mesh.h"
#ifndef MODE
#define MODE 0
#endif
static word flags[3];
void sweep(int n, grid_t *restrict g, struct mesh *restrict many, word *restrict w)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1 -Wall -Wextra @CFLAGS@'; }
    def performance_params { param CFLAGS[] = [%s]; }
    def performance_counter { arg repetitions = 2; }
    def input_params { param n[] = [40]; }
    def input_vars {
      decl grid_t g = random;
      decl int g.mesh.n = n;
      decl double g.mesh.step.dx = 0.25;
      decl double g.mesh.top.x[n] = random;
      decl double g.mesh.levels.x[n] = random;
      decl double g->mesh.levels.r[n][DIM] = random;
      decl double g->other->top.x[n] = random;
      decl unsigned g.mesh.top.deep = 9;
      decl dynamic struct mesh many[7] = random;
      decl double many.top.x[n] = random;
      decl long many.u.l = 5;
      decl float many.w = 1.5;
      decl dynamic word w[n] = random;
      decl int w.n = 3;
    }
    def search { arg algorithm = 'Exhaustive'; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=2)) @*/
  for (i = 0; i < g->mesh.n; i++) {
    g->mesh.top.x[i] += g->mesh.step.dx * g->mesh.levels[i %% 4].x[i] + g->other->top.x[i];
    g->mesh.levels[i %% 4].r[i][1] += g->mesh.top.at[1].hi[2] + g->mesh.top.deep;
    g->mesh.levels[2].deep ^= i;
    g->mesh.levels[1].at[1].hi[2] += 1;
    many[i %% 7].u.l += many[i %% 7].top.deep;
    many[i %% 7].w[1] += 1;
    many[i %% 7].top.x[i] += 1;
    w[i].n += i;
    flags[i %% 3].f += 1;
  }
  /*@ end @*/
#if MODE == 1
  g->mesh.levels[1].at[1].hi[2] *= 1 + 1e-7;
#elif MODE == 2
  g->mesh.levels[3].deep ^= 1;
#elif MODE == 3
  g->mesh.top.open ^= 1;
#elif MODE == 4
  g->mesh.levels[3].r[39][2] = 7;
#elif MODE == 5
  g->mesh.levels[3].x[40] = 0.25;
#elif MODE == 6
  many[5].u.l++;
#elif MODE == 7
  many[5].w[1] *= 1 + 1e-6f;
#elif MODE == 8
  many[5].w[1] *= 1 + 1e-3f;
#elif MODE == 9
  w[7].n++;
#elif MODE == 10
  flags[1].f *= 1 + 1e-6f;  /* a union that no decl says the member of */
#elif MODE == 11
  g->mesh.words[1].n ^= 1;
#elif MODE == 12
  { double *x = g->mesh.levels[0].x; g->mesh.levels[0].x = g->mesh.levels[1].x; g->mesh.levels[1].x = x; }
#elif MODE == 13
  (&g->mesh.step.dy)[0] *= 1.1;
#elif MODE == 14
  g->other->top.at[0].lo[1] = 9;
#elif MODE == 15
  ((char *)&g->mesh.levels[2])[7] ^= 1;  /* bits between a bit field and the next member are nobody's */
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
    (folder / "mesh.h").write_text(HEADER)
    (folder / "k.c").write_text(KERNEL.replace("-O1", options) % modes)


@pytest.mark.share(2)
def test_every_part_is_compared_by_its_type(tmp_path: Path) -> None:
    write(tmp_path, ", ".join(["''", *(f"'-DMODE={mode}'" for mode in range(1, 16))]))
    status, report = tuned(tmp_path)
    assert (status, report["diagnostics"]) == (0, [])
    assert told(tmp_path) == {
        "-DMODE=1": "`g.mesh.levels.at.hi[11]` element 0",
        "-DMODE=2": "`g.mesh.levels.deep[3]` element 0",
        "-DMODE=3": "`g.mesh.top.open` element 0",
        "-DMODE=4": "`g.mesh.levels.r` element 479",
        "-DMODE=5": "wrote outside `g.mesh.levels.x`",
        "-DMODE=6": "`many.u.l` element 5",
        "-DMODE=8": "`many.w[1]` element 5",
        "-DMODE=9": "`w.n` element 7",
        "-DMODE=10": "`flags` element 1",
        "-DMODE=11": "`g.mesh.words[1]` element 0",
        "-DMODE=12": "`g.mesh.levels.x[0]` element 0",
        "-DMODE=13": "`g.mesh.step.dy` element 0",
        "-DMODE=14": "`g.other.top.at.lo[1]` element 0",
    }


def test_sanitizers_find_nothing_in_the_test_program(tmp_path: Path) -> None:
    write(tmp_path, "'', '-DMODE=2'", "-O1 -fsanitize=address,undefined")
    status, report = tuned(tmp_path)
    assert (status, report["diagnostics"]) == (0, [])
    assert list(told(tmp_path)) == ["-DMODE=2"]


STRUCTURES = """union word { int n; float x; };
struct part { int n; double *v; unsigned a : 3, b : 4; };
struct outer { struct part in, *p, list[3]; union word w; union { int k; struct { int lo, hi; } two; }; };
"""
WHOLE = "decl struct outer o = 0;"


@pytest.mark.parametrize(
    ("declared", "body", "code", "column", "part"),
    [
        ("decl double o.in.w[n] = 0;", "o->in.v[i] += 1", "S027", 34, "`struct part` has no member `w`"),
        ("decl float o.in.v[n] = 0;", "o->in.v[i] += 1", "S027", 33, "its decl says `float`"),
        ("decl double o.in.v = 0;", "o->in.v[i] += 1", "S027", 34, "has 1 extents in the file"),
        (WHOLE, "o->in.v[i] += 1", "S017", 3, "the extent of `o.in.v` is not known"),
        (f"decl double o.p->v[n] = 0; {WHOLE}", "o->p[i].v[i] += 1", "S027", 34, "`o.p` has to be declared"),
        (
            f"decl int o.w.n = 3; decl float o.w.x = 2; {WHOLE}",
            "o->w.n += i",
            "S027",
            53,
            "`o.w.n` and `o.w.x` are in members of one union",
        ),
        (
            f"decl int o.k = 3; decl int o.two.lo = 2; {WHOLE}",
            "o->k += i",
            "S027",
            49,
            "`o.k` and `o.two.lo` are in members of one union",
        ),
        ("decl unsigned o.in.a[3] = 3;", "o->in.a += i", "S027", 36, "has 0 extents in the file"),
        ("decl int o.in.a = 3;", "o->in.a += i", "S027", 31, "`o.in.a` is `unsigned` in the file"),
        ("decl unsigned o.in.a = 3;", "o->in.a += o->in.b", "S017", 3, "the value of `o.in.b` is not known"),
        ("decl union wird q = 3;", "o->k += i", "S014", 22, "unknown type `union wird`"),
        (f"decl double o.list.v[3][n] = 1; {WHOLE}", "o->list[1].v[i] = 3", "S027", 34, "decl says 2"),
    ],
)
def test_what_does_not_fit_is_told_at_its_place(
    tmp_path: Path, capsys, declared: str, body: str, code: str, column: int, part: str
) -> None:
    lines = (
        f"{STRUCTURES}void f(int n, struct outer *o) {{",
        "  int i;",
        "  /*@ begin PerfTuning (",
        "    def input_params { param n[] = [100]; }",
        f"    def input_vars {{ {declared} }}",
        "  ) @*/ /*@ begin Loop (transform Unroll(ufactor=2)) @*/",
        f"  for (i = 0; i < n; i++) {body};",
        "  /*@ end @*/ /*@ end @*/",
        "}",
    )
    (tmp_path / "k.c").write_text("\n".join(lines) + "\n")
    assert main(["check", str(tmp_path / "k.c")]) == 2
    told = capsys.readouterr().err
    line = 6 if code == "S017" else 8
    assert f"k.c:{line}:{column}: error[ORIO-{code}]: " in told
    assert part in told
