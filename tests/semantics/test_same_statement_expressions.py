"""Macros that are statement expressions of GNU C, as in kernels and codecs, in loops that are transformed: same results."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

FILE = """#include <stdio.h>
#define LEAST(a, b) ({{ __typeof__ (a) _a = (a); __typeof__(b) _b = b; (_a < _b) ? _a : _b; }})
#define LARGEST(a, b) ({{ __typeof__(a) _a = (a); __typeof__(b) _b = (b); (void)(&_a == &_b); _a > _b ? _a : _b; }})
#define WITHIN(x, low, high) LEAST(LARGEST(x, low), high)
#define BYTE(x) ({{ const unsigned char low = (x); int more = low + 1; more * 2 - low; }})
static int next(int *from) {{ return (*from)++; }}
static int f(int n, int *y, int *x) {{
  int i, j, most = -99, at = 0;
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
  (void)j, (void)next;
  return most + at;
}}
int main(void)
{{
  int x[64], y[64];
  for (int n = 0; n < 20; n++) {{
    for (int i = 0; i < 64; i++) x[i] = (i * 7919 + n) % 201 - 100, y[i] = i;
    printf("%d ", f(n, y, x));
    for (int i = 0; i < 64; i++) printf("%d ", y[i]);
  }}
  return 0;
}}
"""
CASES = {
    "clamped": ("for (i = 0; i < n; i++) y[i] = WITHIN(x[i] * 2, -50, 50 - i);", "Unroll(ufactor=3)"),
    "in bounds": (
        "for (i = 0; i < n; i++) for (j = LARGEST(i - 2, 0); j < LEAST(i + 3, n); j++) y[i] += x[j];",
        "UnrollJam(ufactor=2)",
    ),
    "a maximum": ("for (i = 0; i < n; i++) most = LARGEST(most, x[i]);", "UnrollReduction(ufactor=2)"),
    "with a type of its own": ("for (i = 0; i < n; i++) y[i] = BYTE(x[i]);", "Parallelize()"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_result_is_that_of_the_original(tmp_path: Path, name: str) -> None:
    code, recipe = CASES[name]
    text = FILE.format(recipe=recipe, code=code)
    options = ("-std=gnu99", *checked())
    before = compile_and_run(text, tmp_path, *options)
    new = transformed_file(text, {})
    assert compile_and_run(new, tmp_path, *options, *openmp()) == before


@pytest.mark.parametrize("value", ["next(&at)", "at++", "({ at; })"])
def test_what_may_not_be_evaluated_twice_is_refused(value: str) -> None:
    code = f"for (i = 0; i < n; i++) y[i] = LEAST({value}, x[i]);"
    with pytest.raises(AssertionError, match=r"ORIO-C00[17]"):
        transformed_file(FILE.format(recipe="Unroll(ufactor=3)", code=code), {})
