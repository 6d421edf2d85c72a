"""Subscripts whose strides do not divide each other: where blocks overlap the original runs, else what reorders it."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

FILE = """#include <stdio.h>
static double m[900];
void f(int p, int q, int s, int t, double *y, double *x) {{
  int i, j, k, b;
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
}}
int main(void)
{{
  for (int p = -1; p < 5; p++)
    for (int q = -1; q < 6; q++)
      for (int s = -2; s < 5; s++)
        for (int t = -1; t < 7; t++) {{
          for (int k = 0; k < 900; k++) m[k] = k % 17 + 1;
          f(p, q, s, t, m + 300, m + 40);
          double sum = 0, weighted = 0;
          for (int k = 0; k < 900; k++) {{ sum += m[k]; weighted += k % 31 * m[k]; }}
          printf("%g %g\\n", sum, weighted);
        }}
  return 0;
}}
"""
SAMPLES = "y[i * s + t * (j * s + q * (k + 3 * b))]"
CASES = {
    "samples of images": (
        "for (b = 0; b < 2; b++) for (k = 0; k < 3; k++) for (j = 0; j < q; j++) for (i = 0; i < p; i++) "
        f"{SAMPLES} = {SAMPLES} * 0.5 + i + 2 * b;",
        "UnrollJam(ufactor=2)",
        "sample",
    ),
    "samples of one image": (
        "for (k = 0; k < 3; k++) for (j = 0; j < q; j++) for (i = 0; i < p; i++) "
        f"{SAMPLES.replace(' + 3 * b', '')} = {SAMPLES.replace(' + 3 * b', '')} * 0.5 + i;",
        "UnrollJam(ufactor=3)",
        "image",
    ),
    "steps in a block": (
        "for (i = 0; i < 4; i++) for (j = 0; j < p; j++) y[i * t + j * s] = y[i * t + j * s] * 0.5 + i;",
        "Permut(seq=['j', 'i'])",
        "steps",
    ),
    "steps from the end": (
        "for (i = 3; i >= 0; i--) for (j = p; j > 0; j--) y[i * t - j * s] = y[i * t - j * s] * 0.5 + i;",
        "UnrollJam(ufactor=2)",
        "steps",
    ),
    "rows or columns of blocks": (
        "for (b = 0; b < 3; b++) for (k = 0; k < p; k++) for (i = 0; i < q; i++) "
        "if (t) y[b * p * q + i * p + k] = 2 * i + b + k; else y[b * p * q + k * q + i] = i + 3 * b - k;",
        "UnrollJam(ufactor=2)",
        "blocks",
    ),
    "groups of batches": (
        "for (b = 0; b < 3; b++) for (k = 0; k < 2; k++) for (i = 0; i < p; i++) "
        "y[b * t * 4 + k * q + i * s] = x[b * t * 4 + k * q + i * s] + y[b * t * 4 + k * q + i * s] * 0.5;",
        "UnrollJam(ufactor=2)",
        "groups",
    ),
    "rows of a number of elements": (
        "for (j = 0; j < 4; j++) for (i = 1; i <= q; i++) y[j * 4 + i] = y[j * 4 + i - 1] * 0.5 + x[i];",
        "Permut(seq=['i', 'j'])",
        "rows",
    ),
    "pairs in rows, from somewhere": (
        "for (j = p; j > 0; j--) for (i = 0; i < q; i++) { y[s + j * 6 + 2 * i] += x[i]; y[s + j * 6 + 2 * i + 1] = y[s + j * 6 + 2 * i] * 0.5; }",
        "Composite(unrolljam=(['j'], [2]), parallelize=True)",
        "pairs",
    ),
    "planes of rows": (
        "for (b = 0; b < 3; b++) for (j = 0; j < p; j++) for (i = 0; i < q; i++) y[b * 12 + j * 4 + i] = y[b * 12 + j * 4 + i] * 0.5 + y[b * 12 + i];",
        "UnrollJam(ufactor=3)",
        "planes",
    ),
}


@pytest.mark.share(3)
@pytest.mark.parametrize("name", CASES)
def test_the_result_is_that_of_the_original_for_all_strides(tmp_path: Path, name: str) -> None:
    code, recipe, _ = CASES[name]
    text = FILE.format(recipe=recipe, code=code)
    before = compile_and_run(text, tmp_path, *checked())
    new = transformed_file(text, {})
    assert "/* Runs where" in new
    assert compile_and_run(new, tmp_path, *checked(), *openmp()) == before


@pytest.mark.parametrize(
    ("code", "tests"),
    [
        (CASES["steps in a block"][0], ["s >= 0", "(long)p * s < (long)s + t"]),
        (CASES["rows or columns of blocks"][0], ["p >= 0", "q >= 0"]),
        (CASES["rows of a number of elements"][0].replace("i - 1]", "i]"), ["q <= 4"]),
    ],
)
def test_no_more_is_tested_than_the_outer_loop_needs(code: str, tests: list[str]) -> None:
    new = transformed_file(FILE.format(recipe="Parallelize()", code=code), {})
    (remark,) = (line for line in new.splitlines() if "/* Runs where" in line)
    assert remark.strip().startswith("/* Runs where " + " and ".join(f"`{test}`" for test in tests))
