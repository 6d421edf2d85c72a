"""The smallest and the largest of values, which loops find in any order, and sums that wrap around."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FILE = """#include <math.h>
#include <stdio.h>
static double work(int n, {kind} (*a)[7], double *y)
{{
  {kind} low = 100, high = -100, v;
  int i, j, k = 0;
  (void)v; (void)k; (void)y;
  /*@ begin PerfTuning(def assumptions {{ {promise} }}) @*/
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
  /*@ end @*/
  return 1000.0 * low + high + k;
}}
int main(void)
{{
  static {kind} a[12][7];
  static double y[12];
  for (int n = -1; n <= 12; n++)
    for (int s = 1; s < 40; s += 3) {{
      for (int i = 0; i < 12; i++)
        for (int j = 0; j < 7; j++) a[i][j] = (i * 7 + j) * s % 41 - 20;
      printf("%g ", work(n, a, y));
      for (int i = 0; i < 12; i++) printf("%g ", y[i]);
      puts("");
    }}
  return 0;
}}
"""
BOTH = "if (a[i][j] < low) low = a[i][j]; if (a[i][j] > high) high = a[i][j];"
NEST = "for (i = 0; i < n; i++) for (j = 0; j < 7; j++) {{ {} }}"
CODES = {
    "branches": NEST.format(BOTH),
    "choices": NEST.format("low = a[i][j] < low ? a[i][j] : low; high = high >= a[i][j] ? high : a[i][j];"),
    "temporaries": NEST.format("v = a[i][j]; if (low > v) low = v; if (v >= high) high = v;"),
    "declarations": NEST.format("const KIND t = a[i][j]; if (low > t) { low = t; } if (high < t) high = t;"),
}
RECIPES = {
    "jam": "UnrollJam(ufactor=2)",
    "register tile": "RegTile(loops=['i', 'j'], ufactors=[2, 3])",
    "permuted": "Permut(seq=['j', 'i'])",
    "tiled": "Composite(tile=[(['i', 'j'], [4, 2], ['it', 'jt'])])",
    "reversed": "Reverse()",
}


@pytest.mark.parametrize("kind", ["int", "long", "double"])
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("code", CODES)
def test_extremes_are_the_same_in_any_order(tmp_path: Path, kind: str, recipe: str, code: str) -> None:
    """Of floating-point numbers where another order is as good."""
    promise = "arg reassociate = True;" if kind == "double" else ""
    text = CODES[code].replace("KIND", kind)
    source = FILE.format(kind=kind, promise=promise, recipe=RECIPES[recipe], code=text)
    result = transformed_file(source, {})
    outputs = [
        compile_and_run(program, tmp_path, "-w", *checked(), *openmp()) for program in (result, source)
    ]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("kind", ["unsigned", "size_t", "uint64_t"])
@pytest.mark.parametrize("recipe", RECIPES)
def test_what_wraps_around_is_the_same_in_any_order(tmp_path: Path, kind: str, recipe: str) -> None:
    code = NEST.format("low += a[i][j] * 3; low -= j + k; high = high * (2 * a[i][j] + 1);")
    source = FILE.format(kind=kind, promise="", recipe=RECIPES[recipe], code=code)
    source = source.replace("#include <math.h>", "#include <stddef.h>\n#include <stdint.h>")
    result = transformed_file(source, {})
    outputs = [
        compile_and_run(program, tmp_path, "-w", *checked(), *openmp()) for program in (result, source)
    ]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("int", "low += a[i][j];"),
        ("unsigned char", "low += a[i][j];"),
        ("unsigned", "low += y[i];"),
        ("unsigned", "low += (long long)a[i][j];"),
        ("_Bool", "low ^= a[i][j];"),
        ("double", BOTH),
        ("int", "if (a[i][j] > high) { high = a[i][j]; k = i; }"),
        ("int", "if (a[i][j] > high) high = a[i][j]; y[i] = high;"),
        ("int", "if (a[i][j] > high) high = a[i][j]; if (a[i][j] < high) high = a[i][j];"),
        ("int", "if (a[i][j] > high) high = a[i][j] + 1;"),
        ("signed char", "if (a[i][j] + 1 > high) high = a[i][j] + 1;"),
        ("int", "long high_at = a[i][j]; if (high_at > high) high = high_at;"),
    ],
)
def test_what_depends_on_the_order_is_refused(kind: str, code: str) -> None:
    """Sums that overflow, or drop a fraction; another zero or NaN, where an extreme is, values in between, two operators, and values that a variable may not hold."""
    recipe = "UnrollJam(ufactor=2)"
    with pytest.raises(Refusal) as caught:
        transformed_file(FILE.format(kind=kind, promise="", recipe=recipe, code=NEST.format(code)), {})
    (problem, *_) = caught.value.diagnostics
    assert problem.code in {"ORIO-T040", "ORIO-T041"}
    assert "high" in problem.message or "low" in problem.message or "`k`" in problem.message
    assert problem.position is not None


def test_the_promise_that_is_missing_is_named() -> None:
    code = NEST.format("if (a[i][j] > high) high = a[i][j];")
    with pytest.raises(Refusal) as caught:
        transformed_file(FILE.format(kind="float", promise="", recipe="UnrollJam(ufactor=2)", code=code), {})
    (problem, *_) = caught.value.diagnostics
    assert "is a reduction with `max`" in problem.message
    assert "reassociate" in (problem.help or "")
