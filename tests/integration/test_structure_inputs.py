"""Regions over arrays of structures: their inputs are made, their members compared one by one, on both targets."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from opencl_build import build, device_environment, loader, run
from opencl_devices import skip_without_device

import orio_py
from orio_py.cli.main import main
from orio_py.record.measurement import Failure
from orio_py.results import Selection, show_trials

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

HEADER = """#define DIM 3
typedef double real;
struct particle { char kind; real x; float w[DIM]; int cell; };
typedef struct particle particle_t;
"""
PUSH = """#include "particles.h"
#ifndef MODE
#define MODE 0
#endif
static struct particle heap[6][5];
void push(int n, real dt, particle_t *restrict p, const struct particle *q, struct particle one)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1 @CFLAGS@'; }
    def performance_params { param CFLAGS[] = ['', '-DMODE=1', '-DMODE=2', '-DMODE=3', '-DMODE=4', '-DMODE=5']; }
    def performance_counter { arg repetitions = 2; }
    def input_params { param n[] = [200]; }
    def input_vars {
      decl dynamic particle_t p[n] = random;
      decl dynamic struct particle q[n] = 2;
      decl struct particle one = random;
      decl real dt = 0.5;
      arg init_file = 'init.c';
    }
    def search { arg algorithm = 'Exhaustive'; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=2)) @*/
  for (i = 0; i < n; i++) {
    p[i].x += dt * q[i].x * q[i].w[1] * one.x;
    p[i].w[2] = p[i].cell * q[i].w[DIM - 1];
    p[i].cell += q[i].kind;
    heap[i % 6][i % 5].x += one.w[1];
  }
  /*@ end @*/
#if MODE == 1
  p[7].x *= 1 + 1e-7;
#elif MODE == 2
  p[7].w[2] *= 1 + 1e-6f;
#elif MODE == 3
  p[7].w[2] *= 1 + 1e-3f;
#elif MODE == 4
  p[7].cell++;
#elif MODE == 5
  (&p[7].kind)[1] ^= 1;  /* what lies between two members is nobody's */
#endif
  /*@ end @*/
}
"""
INIT = """
void init_input_vars(void)
{
  int i;
  for (i = 0; i < 200; i++) q[i].kind = (char)(i % 3);
}
"""


def tuned(folder: Path, *options: str) -> tuple[int, dict]:
    paths = ["--json", str(folder / "r.json"), "--db", str(folder / "r.db")]
    status = main(["tune", str(folder / "k.c"), "--quiet", "--seed", "3", *paths, *options])
    return status, json.loads((folder / "r.json").read_text())


def test_members_are_filled_and_compared_by_their_types(tmp_path: Path) -> None:
    (tmp_path / "particles.h").write_text(HEADER)
    (tmp_path / "init.c").write_text(INIT)
    (tmp_path / "k.c").write_text(PUSH)
    status, report = tuned(tmp_path)
    assert (status, report["diagnostics"]) == (0, [])
    assert report["regions"][0]["failures"] == {"wrong result": 3}
    found = {t.configuration["CFLAGS"]: t.measurement for t in show_trials(tmp_path / "r.db", Selection())}
    told = {flags: m.reason.split(":")[0] for flags, m in found.items() if isinstance(m, Failure)}
    assert told == {
        "-DMODE=1": "`p.x` element 7",
        "-DMODE=3": "`p.w[2]` element 7",
        "-DMODE=4": "`p.cell` element 7",
    }


PACKED = """#pragma pack(1)
struct pair { char c; double x; };
void f(int n, struct pair *p)
{
  int i;
  /*@ begin PerfTuning (
    def performance_params { param U[] = [1, 2]; }
    def input_params { param n[] = [100]; }
    def input_vars { decl dynamic struct pair p[n] = random; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++) p[i].x += p[i].c;
  /*@ end @*/
  /*@ end @*/
}
"""


def test_another_layout_in_memory_is_told(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text(PACKED)
    report = orio_py.tune(tmp_path / "k.c")
    [problem] = report.diagnostics
    assert problem.code == "ORIO-B004"
    assert "orio_structure_0_differs_from_its_declaration" in problem.message


KNOWN = "struct node { double x; const int next; }; struct other { float x; };"


@pytest.mark.parametrize(
    ("declared", "code", "place", "part", "hint"),
    [
        ("struct nod p[n]", "ORIO-S014", "5:22", "unknown type `struct nod`", "did you mean `struct node`?"),
        ("shape p[n]", "ORIO-S014", "5:22", "unknown type `shape`", 'header that it includes by `#include "'),
        ("struct node p[n]", "ORIO-S014", "5:22", "`next` is constant", "members are numbers"),
        ("struct other p[n]", "ORIO-M003", "3:3", "its decl says `struct other`", ""),
        ("double p[n]", "ORIO-M003", "3:3", "its decl says `double`", ""),
    ],
)
def test_structures_that_cannot_be_made(
    tmp_path: Path, capsys, declared: str, code: str, place: str, part: str, hint: str
) -> None:
    lines = (
        f"{KNOWN} struct point {{ double x; }}; void f(int n, struct {'node' if 'S014' in code else 'point'} *p) {{",
        "  int i;",
        "  /*@ begin PerfTuning (",
        "    def input_params { param n[] = [100]; }",
        f"    def input_vars {{ decl dynamic {declared} = 0; }}",
        "  ) @*/ /*@ begin Loop (transform Unroll(ufactor=2)) @*/",
        "  for (i = 0; i < n; i++) p[i].x += 1;",
        "  /*@ end @*/ /*@ end @*/",
        "}",
    )
    (tmp_path / "k.c").write_text("\n".join(lines))
    assert main(["tune", str(tmp_path / "k.c")]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert f"k.c:{place}: error[{code}]" in told
    assert part in told
    assert hint in told


def test_a_missing_declaration_is_shown_with_the_structure(tmp_path: Path, capsys) -> None:
    lines = (
        "typedef struct { double x; } point; void f(int n, point *p, point one) {",
        "  int i;",
        "  /*@ begin PerfTuning ( def input_params { param n[] = [100]; } ) @*/",
        "  /*@ begin Loop (transform Unroll(ufactor=2)) @*/",
        "  for (i = 0; i < n; i++) p[i].x += one.x;",
        "  /*@ end @*/ /*@ end @*/",
        "}",
    )
    (tmp_path / "k.c").write_text("\n".join(lines))
    assert main(["check", str(tmp_path / "k.c")]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "k.c:3:3: error[ORIO-S017]: the extents of `p` are not known" in told
    assert "`decl dynamic point p[N] = random;`" in told
    assert "`decl point one = random;`" in told


FORCE = """struct body { double x, y, mass; };
typedef struct { double x, y; } vector;
void force(int n, double soft, const struct body *restrict b, vector *restrict a)
{
  int i, j;
  /*@ begin PerfTuning (
    def performance_params { param L[] = ['aos', 'soa', 'b:soa']; param VW[] = [1, 2]; constraint c = VW == 1 or L == 'soa'; }
    def performance_counter { arg repetitions = 2; }
    def input_params { param n[] = [60]; }
    def input_vars {
      decl dynamic struct body b[n] = random;
      decl dynamic vector a[n] = 0;
      decl double soft = 0.1;
    }
  ) @*/
  /*@ begin Loop (transform OpenCL(layout=L, vectorWidth=VW)) @*/
  for (i = 1; i < n; i++)
    for (j = 0; j < n; j++) {
      double dx = b[j].x - b[i].x, dy = b[j].y - b[i].y, d = dx * dx + dy * dy + soft;
      a[i].x += b[j].mass / d * dx;
      a[i].y += b[j].mass / d * dy;
    }
  /*@ end @*/
  /*@ end @*/
}
"""


MIXED = """#define WIDTH 3
struct cell { char kind; double x; float w[WIDTH]; int next; };
struct rule { double step; int first; float weights[2]; };
void move(int n, struct cell *restrict c, const struct rule *restrict r, struct rule one)
{
  int i;
  /*@ begin PerfTuning (
    def performance_counter { arg repetitions = 2; }
    def input_params { param n[] = [100]; }
    def input_vars {
      decl dynamic struct cell c[n] = random;
      decl dynamic struct rule r[1] = random;
      decl struct rule one = 3;
    }
  ) @*/
  /*@ begin Loop (transform OpenCL(workItemsPerGroup=8)) @*/
  for (i = r->first; i < n - one.first; i++) {
    c[i].x += c[i].kind * r->step / one.weights[1] + r->first;
    c[i].w[2] = c[i].w[0] + c[i].next / 2;
    c[i].next++;
  }
  /*@ end @*/
  /*@ end @*/
  (void)i;
}
"""
APPLICATION = """#include <stdio.h>
#ifdef PACKED
#pragma pack(1)
#endif
#include SOURCE

int main(void)
{
  static struct cell c[50];
  struct rule r = {0.5, 3, {1.0f, 4.0f}}, one = {2.0, 5, {7.0f, 0.25f}};
  int i;
  for (i = 0; i < 50; i++) {
    c[i].kind = (char)(i - 20);
    c[i].x = 1.0 / (i + 1);
    c[i].w[0] = (float)i;
    c[i].next = -3 * i;
  }
  move(50, c, &r, one);
  for (i = 0; i < 50; i++)
    (void)printf("%d %.9g %g %g %g %d\\n", c[i].kind, c[i].x, c[i].w[0], c[i].w[1], c[i].w[2], c[i].next);
  return 0;
}
"""


@pytest.mark.skipif(loader() is None, reason="the wheel pyopencl[pocl] is not installed")
def test_an_application_runs_kernels_on_its_own_structures(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text(MIXED)
    (tmp_path / "main.c").write_text(APPLICATION)
    assert main(["transform", str(tmp_path / "k.c"), "-o", str(tmp_path / "out.c")]) == 0
    library, environment = str(loader()), device_environment({"POCL_CACHE_DIR": str(tmp_path)})
    plain = run(build(tmp_path, ["main.c"], '-DSOURCE="k.c"'))
    variant = build(tmp_path, ["main.c", "out_opencl.c"], '-DSOURCE="out.c"', library)
    assert run(variant, environment=environment) == plain
    packed = build(tmp_path, ["main.c", "out_opencl.c"], "-DPACKED", '-DSOURCE="out.c"', library)
    done = subprocess.run([str(packed)], capture_output=True, text=True, env=environment)
    assert done.returncode != 0
    assert "structures in c, which are not as long as the device's: CL_INVALID_VALUE" in done.stderr


def test_members_of_several_types_are_what_they_are_on_a_device(tmp_path: Path) -> None:
    skip_without_device()
    (tmp_path / "k.c").write_text(MIXED)
    status, report = tuned(tmp_path, "--target", "opencl")
    assert status == 0, report
    [region] = report["regions"]
    assert (region["trials"], region["refused"], region["failures"]) == (1, 0, {})


@pytest.mark.proof
def test_the_layout_on_a_device_is_tuned(tmp_path: Path) -> None:
    skip_without_device()
    (tmp_path / "k.c").write_text(FORCE)
    status, report = tuned(tmp_path, "--target", "opencl")
    assert status == 0, report
    [region] = report["regions"]
    assert (region["trials"], region["refused"], region["failures"]) == (4, 0, {})
