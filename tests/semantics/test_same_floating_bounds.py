"""Loops with floating-point bounds, in variables, members and macros: refused, or the same results."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

HEAD = """#include <math.h>
typedef double real;
struct inner { int k; double y; };
struct s { int n; double x; real r; struct inner in; double v[3]; };
#define MEMBER(p) ((p)->x)
"""
FUNCTION = """static double {name}(int n, double x, real r, struct s *s, double *{q}a, double *{q}b, double *{q}c)
{{
  int i = 0, j = 0;
  double acc = 0;
  struct s t = *s;
  (void)n; (void)x; (void)r; (void)t; (void)j; (void)a; (void)b; (void)c;
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
  return acc + i;
}}
"""
MAIN = """#include <stdio.h>
#include <string.h>
typedef double (*kernel)(int, double, real, struct s *, double *, double *, double *);
static const kernel kernels[][2] = {TABLE};
int main(void)
{
  static double memory[2][1000];
  static const int at[][2] = {{150, 300}, {1, 2}, {-1, 3}, {5, -4}, {0, 0}, {9, 30}};
  for (unsigned v = 0; v < sizeof kernels / sizeof *kernels; v++)
    for (int n = 0; n < 9; n++)
      for (int part = 0; part < 4; part++)
        for (int place = 0; place < (v < APART ? 6 : 1); place++) {
          double result[2], x = (n * 3 + part) * 0.25;
          for (int w = 0; w < 2; w++) {
            struct s s[2] = {{n, x, x + 0.5, {3, x + 0.25}, {1, x, 2}}, {n, x, x, {3, x}, {1, x, 2}}};
            double *a = memory[w] + 300;
            for (int k = 0; k < 1000; k++) memory[w][k] = k * 7 % 13 * 0.5;
            result[w] = kernels[v][w](n, x, x, s, a, a + at[place][0], a + at[place][1]);
          }
          if (result[0] != result[1] || memcmp(memory[0], memory[1], sizeof memory[0]) != 0) {
            printf("%u %d %d %d differ", v, n, part, place);
            return 1;
          }
        }
  printf("same");
  return 0;
}
"""
BOUNDS = (
    "x",
    "r",
    "s->x",
    "t.r",
    "s[1].x",
    "s->in.y",
    "MEMBER(s)",
    "n * 0.75",
    "n * s->x",
    "floor(x)",
    "(*s).x",
    "s->v[1]",
)
LOOPS = (
    "for (i = 0; i < @; i++) { b[i] = a[i + 1] * 2; c[i] += i; }",
    "for (i = 9; i >= @; i -= 2) { b[i] = a[i + 1] * 2; c[i] += i; }",
    "for (i = 0; i < n; i++) for (j = 0; j <= @; j++) b[i * 12 + j] = a[i + j] + c[j];",
    "for (i = 0; i < n; i++) if (i < @) b[i] = a[i] + 1;",
    "for (i = 0; i < @; i++) b[i] = a[i] + 1; for (i = 0; i < @; i++) c[i] = b[i] * 2;",
)
RECIPES = (
    "Reverse()",
    "Unroll(ufactor=3)",
    "Tile(tsize=4, tindex='ii')",
    "UnrollJam(ufactor=2)",
    "Permut(seq=['j', 'i'])",
    "Distribute()",
    "Fuse()",
    "Parallelize()",
)  # fmt: skip


@pytest.mark.parametrize("bound", BOUNDS)
def test_what_is_accepted_computes_the_same(bound: str, tmp_path: Path) -> None:
    functions: list[str] = []
    apart = 0
    for qualifier in ("", "restrict "):
        for code in LOOPS:
            for recipe in RECIPES:
                number = len(functions) // 2
                words = {"q": qualifier, "recipe": recipe, "code": code.replace("@", bound)}
                try:
                    changed = transformed_file(HEAD + FUNCTION.format(name=f"changed_{number}", **words), {})
                except Refusal:
                    continue
                functions += [FUNCTION.format(name=f"kernel_{number}", **words), changed.removeprefix(HEAD)]
        apart = apart or len(functions) // 2
    count = len(functions) // 2
    assert count > apart > 5, "hardly anything is accepted"
    table = ", ".join(f"{{kernel_{k}, changed_{k}}}" for k in range(count))
    program = HEAD + "\n".join(functions) + MAIN.replace("TABLE", table).replace("APART", str(apart))
    assert compile_and_run(program, tmp_path, "-std=c99", *checked()[1:], *openmp()) == "same"


@pytest.mark.parametrize("bound", ["x", "s->x", "s[1].x", "n * 0.75", "MEMBER(s)"])
def test_no_test_of_overlap_counts_in_floating_point_numbers(bound: str) -> None:
    code = LOOPS[0].replace("@", bound)
    with pytest.raises(Refusal) as refused:
        transformed_file(HEAD + FUNCTION.format(name="kernel", q="", recipe="Reverse()", code=code), {})
    assert refused.value.diagnostics[0].code in {"ORIO-T027", "ORIO-T040", "ORIO-T041"}
