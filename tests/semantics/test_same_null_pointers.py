"""Arrays that callers may leave out, `if (p) p[i] = …`: guarded at run time, also where the pointer is null."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FILE = """#include <stdio.h>
static void work(int n, float *a, float *b, float *c)
{{
  int i, j;
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
}}
static float m[300];
int main(void)
{{
  for (int d = -12; d <= 12; d += 3)
    for (int n = -1; n < 12; n++)
      for (int left_out = 0; left_out < 2; left_out++) {{
        for (int i = 0; i < 300; i++) m[i] = i % 23 - 11;
        work(n, m + 100, left_out ? NULL : m + 100 + d, m + 100 - 2 * d);
        for (int i = 0; i < 300; i++) printf("%g ", m[i]);
        puts("");
      }}
  return 0;
}}
"""

CASES = {
    "read": ("Parallelize()", "for (i = 0; i < n; i++) c[i] = a[i] * (b ? b[i] : 0);"),
    "written": ("Parallelize()", "for (i = 0; i < n; i++) { if (b) b[i] = c[i]; a[i] += 1; }"),
    "compared": (
        "Parallelize()",
        "for (i = 0; i < n; i++) { if (b != NULL) b[i + 1] = a[i]; else a[i] = 2; }",
    ),
    "unless": (
        "Permut(seq=['j', 'i'])",
        "for (i = 0; i < n; i++) for (j = 0; j < 3; j++) if (!(!b)) a[3 * i + j] = b[3 * i + j] + c[i];",
    ),
    "copies": (
        "UnrollJam(ufactor=2)",
        "for (i = 0; i < n; i++) for (j = 0; j < 3; j++) { if (b && b[j] > 0) c[i * 3 + j] += b[j]; a[i] += 1; }",
    ),
}


INPUTS = """/*@ begin PerfTuning (def input_vars { decl int n = 9; decl static float a[n*3] = random;
  decl static float b[n*3] = random; decl static float c[n*3] = random; }) @*/
"""
EXTENTS = (
    INPUTS.replace("n*3", "40"),
    INPUTS.replace("static float b[n*3]", "static float b[40]").replace("n*3", "n"),
)
"""What the test program allocates for the arrays, which the callers in the file do not have to do."""


@pytest.mark.share(4)
@pytest.mark.parametrize("inputs", ["", *EXTENTS])
@pytest.mark.parametrize("name", CASES)
def test_what_is_left_out_is_not_touched(tmp_path: Path, name: str, inputs: str) -> None:
    recipe, code = CASES[name]
    text = inputs + FILE.format(recipe=recipe, code=code) + ("/*@ end @*/\n" if inputs else "")
    new = transformed_file(text, {})
    assert "unless arrays overlap" in new
    flags = ("-w", *checked(), *openmp())
    outputs = [compile_and_run(program, tmp_path, *flags) for program in (new, text)]
    assert outputs[0] == outputs[1]
    # Without the sanitizers compilers take more for granted.
    assert compile_and_run(new, tmp_path, "-w", "-O3", *openmp()) == outputs[1]


@pytest.mark.parametrize(
    "code",
    [
        "for (i = 0; i < n; i++) { if (b) b[i] = 1; b = a; }",
        "for (i = 0; i < n; i++) { if (b) b[0] += a[i]; }",
        "for (i = 0; i < n; i++) { float **p = &b; if (b) b[i] = 1; *p = a; }",
    ],
)
def test_pointers_that_change_and_elements_that_all_touch_are_refused(code: str) -> None:
    with pytest.raises(Refusal):
        transformed_file(FILE.format(recipe="Parallelize()", code=code), {})


BOUNDED = """#include <stdio.h>
struct grid {{ int rows; }};
static void work(int n, const struct grid *g, const int *ends, int (*restrict a)[8])
{{
  int i, j;
  /*@ begin Loop(transform {recipe}) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < {bound}; j++) a[i][j] += 2 * i + j;
  /*@ end @*/
}}
static int m[8][8];
int main(void)
{{
  const struct grid grid = {{7}};
  const int ends[] = {{2, 5}};
  for (int n = 0; n < 8; n++) {{
    work(n, n ? &grid : NULL, n ? ends : NULL, m);
    for (int i = 0; i < 64; i++) printf("%d ", m[i / 8][i % 8]);
  }}
  return 0;
}}
"""


@pytest.mark.share(4)
@pytest.mark.parametrize("bound", ["g->rows", "*ends", "ends[1]", "56 / g->rows"])
@pytest.mark.parametrize("recipe", ["Permut(seq=['j', 'i'])", "Interchange(first='i', second='j')"])
def test_bounds_are_read_where_loops_run(tmp_path: Path, recipe: str, bound: str) -> None:
    text = BOUNDED.format(recipe=recipe, bound=bound)
    new = transformed_file(text, {})
    assert "if (n > 0)\n    for (j = 0; j < " in new
    assert compile_and_run(new, tmp_path, "-w", *checked()) == compile_and_run(
        text, tmp_path, "-w", *checked()
    )
