"""Places that counters, copies of indices and unsigned sizes lead to: the variant prints what the original prints."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FILE = """#include <stdio.h>
struct kernel {{ int rows, columns, step; float **data; }};
static int step_x = 1, step_y = 2;
static float m[900], numbers[3][3] = {{{{1, 2, 1}}, {{0, 1, 3}}, {{2, 1, 1}}}};
static int shifts[2] = {{3, -2}};
{code}
int main(void)
{{
  float *rows[3] = {{numbers[2], numbers[0], numbers[1]}};
  struct kernel k = {{3, 3, 1, rows}};
  for (unsigned h = 0; h < 6; h++)
    for (unsigned w = 0; w < 5; w++)
      for (k.step = 1; k.step < 4; k.step++)
      for (int apart = -40; apart <= 300; apart += 20) {{
        for (int i = 0; i < 900; i++) m[i] = i % 17 + 1;
        double more = work(h, w, m + 300, m + 300 + apart, &k);
        double sum = 0, weighted = 0;
        for (int i = 0; i < 900; i++) {{ sum += m[i]; weighted += i % 31 * m[i]; }}
        printf("%g %g %g\\n", sum, weighted, more);
      }}
  (void)shifts, (void)step_x, (void)step_y;
  return 0;
}}
"""
HEAD = "static double work(unsigned h, unsigned w, float *to, float *from, struct kernel *k)\n{\n  (void)k, (void)from, (void)w;\n"
CASES = {
    "rows of pixels and what is left of them": (
        "Parallelize()",
        "float *at = to; unsigned j, i, rest = 3; const int *shift = shifts;",
        """for (j = 0; j < h; j++) {
    for (i = 0; i < w; i++) { *at = *at * 2 + *shift; ++at; }
    at += rest;
  }""",
        "at - to",
    ),
    "samples of rows": (
        "Parallelize()",
        "int i, j, id, jd, a, b; float *lined, *linet, sum;",
        """for (i = 0, id = 0; id < (int)h; i += step_y, id++) {
    lined = to + id * 6;
    for (j = 0, jd = 0; jd < (int)w; j += step_x, jd++) {
      sum = 0;
      for (a = 0; a < k->rows; a++) {
        linet = from + (i + a) * 20;
        for (b = 0; b < k->columns; b++) sum += *(linet + j + b) * k->data[a][b];
      }
      *(lined + jd) = sum;
    }
  }""",
        "0",
    ),
    "every other sample, as a structure says": (
        "Parallelize()",
        "int i, j; float *at = to;",
        """for (j = 0; j <= k->rows; j += 2)
    for (i = (int)w; i <= k->columns; i += k->step) {
      *at = from[i + 20 * j];
      at += 2;
    }""",
        "at - to",
    ),
    "blocks of a number of elements": (
        "Parallelize()",
        "unsigned long i, block, size = w;",
        """for (block = 0; block < h; block++) {
    float part = (float)block + 1;
    for (i = (2 + size) * block; i < (2 + size) * (block + 1); i++) to[i] = to[i] * 2 + part;
  }""",
        "0",
    ),
    "sums from an index on": (
        "UnrollJam(ufactor=2)",
        "unsigned i;",
        """for (i = 0; i < h + 1; i++) {
    unsigned lag = i;
    unsigned j;
    to[i] = 0;
    for (j = lag; j < 4 * w; j++) to[i] += from[j] * from[j - lag];
  }""",
        "0",
    ),
    "backwards from a number without a sign": (
        "Reverse()",
        "unsigned i;",
        "for (i = 0; i < h; i++) to[i] = to[i] * 2 + i;",
        "i",
    ),
    "as far as a number without a sign": (
        "Tile(tsize=3, tindex='ii')",
        "unsigned long i;",
        "for (i = 0; i < h; i++) to[i] += from[i];",
        "(double)i",
    ),
}


@pytest.mark.share(3)
@pytest.mark.parametrize("name", CASES)
def test_the_places_are_those_of_the_original(tmp_path: Path, name: str) -> None:
    recipe, declared, code, more = CASES[name]
    region = f"  /*@ begin Loop(transform {recipe}) @*/\n  {code}\n  /*@ end @*/\n"
    text = FILE.format(code=f"{HEAD}  {declared}\n{region}  return {more};\n}}")
    new = transformed_file(text, {})
    assert ("omp parallel for" in new) == (recipe == "Parallelize()")
    assert compile_and_run(new, tmp_path, *checked(), *openmp()) == compile_and_run(
        text, tmp_path, *checked()
    )


VECTORS = """#include <stdio.h>
typedef float four __attribute__((__vector_size__(16), __may_alias__));
static void scale(four *v, four by, unsigned n, int *count)
{
  unsigned i;
  /*@ begin Loop(transform Vectorize()) @*/
  for (i = 0; i < n; i++) { v[0] *= by; count[i]++; v += 2; }
  /*@ end @*/
}
int main(void)
{
  static four rows[8], two = {2, 3, 4, 5};
  int count[4] = {0};
  for (int i = 0; i < 32; i++) ((float *)rows)[i] = i;
  for (unsigned n = 0; n < 5; n++) scale(rows, two, n, count);
  for (int i = 0; i < 32; i++) printf("%g ", ((float *)rows)[i]);
  printf("%d\\n", count[0]);
  return 0;
}
"""


def test_vectors_of_gnu_c_are_no_numbers(tmp_path: Path) -> None:
    new = transformed_file(VECTORS, {})
    assert "omp simd" in new
    before = compile_and_run(VECTORS, tmp_path, *checked())
    assert compile_and_run(new, tmp_path, *checked(), *openmp()) == before
    sums = VECTORS.replace("{ v[0] *= by; count[i]++; v += 2; }", "by += v[i];")
    with pytest.raises(Refusal, match="T053"):
        transformed_file(sums.replace("Vectorize()", "UnrollReduction(ufactor=2)"), {})


def test_a_structure_is_not_followed_before_its_loop_runs() -> None:
    code = "for (j = 0; j < (int)h; j++) for (i = 0; i < k->columns; i += k->step) to[j * 40 + i] = from[i];"
    region = f"  /*@ begin Loop(transform Parallelize()) @*/\n  {code}\n  /*@ end @*/\n"
    text = FILE.format(code=f"{HEAD}  int i, j;\n{region}  return 0;\n}}")
    with pytest.raises(Refusal, match="has no known range"):
        transformed_file(text, {})
    assert "omp parallel for" in transformed_file(text.replace("(int)h", "k->rows"), {})
