"""Parts of one array that a test at run time tells apart: the same results wherever they lie."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FILE = """#include <stdio.h>
static double z[40];
static void work(int n, int m, int k, int p, double *a, double *b)
{{
  int i, j;
  double t;
  (void)i; (void)j; (void)t; (void)m; (void)k; (void)p; (void)b; (void)z;
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
}}
static double memory[600];
int main(void)
{{
  for (int n = -1; n < 8; n++)
    for (int k = 0; k < 9; k++)
      for (int p = 0; p < 9; p++)
        for (int d = 0; d < 60; d += 19) {{
          for (int i = 0; i < 600; i++) memory[i] = i % 23 - 11;
          for (int i = 0; i < 40; i++) z[i] = i % 7;
          work(n, 5, k, p, memory + 200, memory + 200 + d);
          double sum = 0;
          for (int i = 0; i < 600; i++) sum = sum * 0.75 + memory[i];
          for (int i = 0; i < 40; i++) sum = sum * 0.75 + z[i];
          printf("%.17g\\n", sum);
        }}
  return 0;
}}
"""
KERNELS = {
    "rows": ("Vectorize()", "for (j = 0; j < n; j++) a[k * m + j] -= 2 * a[p * m + j];"),
    "elimination": (
        "Parallelize()",
        "for (j = k + 1; j < n; j++) a[p * m + j] -= a[p * m + k] * a[k * m + j];",
    ),
    "rotation": (
        "Vectorize()",
        "for (i = 0; i < n; i++) { t = 2 * a[i + k] + 3 * a[i + p * m]; a[i + p * m] -= a[i + k]; a[i + k] = t; }",
    ),
    "downwards": (
        "Parallelize()",
        "for (j = 0; j < n; j++) { double s = a[k - j]; a[k - j] = a[p - j - 1]; a[p - j - 1] = s; }",
    ),
    "neighbours": (
        "Reverse()",
        "for (j = 1; j < n; j++) a[k * m + j] = a[p * m + j - 1] + a[p * m + j + 1];",
    ),
    "blocks": (
        "Permut(seq=['j', 'i'])",
        "for (i = 0; i < n; i++) for (j = 0; j < 3; j++) a[k + i * 3 + j] += a[p * m + i * 3 + j] * b[j];",
    ),
    "array of the file": ("Reverse()", "for (j = 0; j < n; j++) z[k + j] += z[p + j + 1];"),
    "less": ("Reverse()", "for (j = 0; j < n; j++) a[j - k] += a[j - p * m];"),
}


@pytest.mark.parametrize("name", KERNELS)
def test_the_same_is_computed_wherever_the_parts_lie(tmp_path: Path, name: str) -> None:
    recipe, code = KERNELS[name]
    source = FILE.format(recipe=recipe, code=code)
    result = transformed_file(source, {})
    assert "_at" in result
    assert "Runs unless arrays overlap" in result or "; else the original code does" in result
    flags = ("-w", *checked(), *openmp())
    outputs = [compile_and_run(program, tmp_path, *flags) for program in (result, source)]
    assert outputs[0] == outputs[1]


def test_a_call_before_may_be_given_a_part(tmp_path: Path) -> None:
    recipe, code = KERNELS["rows"]
    marks = "  /*@ begin"
    source = FILE.format(recipe=recipe, code=code).replace(marks, f"  t = norm(&a[k * m]);\n{marks}", 1)
    source = source.replace("static void work", "double norm(double *x);\nstatic void work", 1)
    source += "double norm(double *x) { return x[0] < 0 ? -x[0] : x[0]; }\n"
    result = transformed_file(source, {})
    assert "Runs unless arrays overlap (`a_at` and " in result
    flags = ("-w", *checked(), *openmp())
    outputs = [compile_and_run(program, tmp_path, *flags) for program in (result, source)]
    assert outputs[0] == outputs[1]


UNSIGNED_FILE = """#include <stdio.h>
#include <stddef.h>
static void work({kind} n, {kind} m, {kind} k, {kind} p, double *a)
{{
  {kind} i, j;
  (void)i; (void)j; (void)m; (void)k; (void)p;
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
}}
static double memory[600];
int main(void)
{{
  for (int n = 0; n < 8; n++)
    for (int k = 0; k < 9; k++)
      for (int p = 0; p < 9; p++) {{
        for (int i = 0; i < 600; i++) memory[i] = i % 23 - 11;
        work(n, 5, k, p, memory + 200);
        double sum = 0;
        for (int i = 0; i < 600; i++) sum = sum * 0.75 + memory[i];
        printf("%.17g\\n", sum);
      }}
  return 0;
}}
"""
UNSIGNED = {
    "rows": ("Vectorize()", "for (j = 0; j < n; j++) a[k * m + j] -= 2 * a[p * m + j];"),
    "wrapping around between": (
        "Parallelize()",
        "for (j = p; j < n + p; j++) a[k - p + 8 + j] += a[40 - p + j] + a[k * m];",
    ),
    "blocks": (
        "Permut(seq=['j', 'i'])",
        "for (i = 0; i < n; i++) for (j = 0; j < 3; j++) a[k + i * 3 + j] += a[p * m + i * 3 + j];",
    ),
    "multiples": (
        "Reverse()",
        "for (j = 0; j < n; j++) a[k + j * 2] += a[p * m + j * 2];",
    ),
}
HASHED = ("Reverse()", "for (j = 0; j < n; j++) a[k * 65536 * 65536 + k + j] += a[p * m + j];")
WIDE = {
    "neighbours": (
        "Reverse()",
        "for (j = 1; j < n; j++) a[k * m + j] = a[p * m + j - 1] + a[p * m + j + 1];",
    ),
    "downwards": ("Parallelize()", "for (j = 0; j < n; j++) a[k - j + 20] = a[p - j - 1 + m];"),
    "below the array": ("Vectorize()", "for (j = 0; j < n; j++) a[k - p + j] -= a[m - k + j];"),
}


@pytest.mark.parametrize(
    ("kind", "name"),
    [("unsigned", name) for name in {**UNSIGNED, "hashed": HASHED}]
    + [("size_t", name) for name in {**UNSIGNED, **WIDE}],
)
def test_unsigned_places_may_wrap_around(tmp_path: Path, kind: str, name: str) -> None:
    """A part begins where the program's own arithmetic leads to, in `unsigned` only where that is no detour."""
    recipe, code = {**UNSIGNED, **WIDE, "hashed": HASHED}[name]
    source = UNSIGNED_FILE.format(kind=kind, recipe=recipe, code=code)
    result = transformed_file(source, {})
    assert "a_at" in result
    assert ("<= 2147483647" in result) == (kind == "unsigned")
    flags = ("-w", *checked(), *openmp())
    outputs = [compile_and_run(program, tmp_path, *flags) for program in (result, source)]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("name", WIDE)
def test_sums_in_unsigned_that_wrap_back_are_no_parts(name: str) -> None:
    """What is added to a place may count down in an address, not in `unsigned`."""
    recipe, code = WIDE[name]
    source = UNSIGNED_FILE.format(kind="unsigned", recipe=recipe, code=code)
    if name == "below the array":
        assert "<= 2147483647" in transformed_file(source, {})
        return
    with pytest.raises(Refusal) as caught:
        transformed_file(source, {})
    assert caught.value.diagnostics[0].code in {"ORIO-T040", "ORIO-T041"}


PROMISED = "def assumptions { arg noalias = True; }"


def test_promises_of_names_are_none_of_parts() -> None:
    """What the user promises of `a` and `b` says nothing of two places in `a`."""
    recipe, code = KERNELS["rows"]
    source = FILE.format(recipe=recipe, code=code.replace("2 *", "b[j] *"))
    inside = source.replace("/*@ begin Loop", f"/*@ begin PerfTuning({PROMISED}) @*/ /*@ begin Loop")
    result = transformed_file(inside.replace("/*@ end @*/", "/*@ end @*/ /*@ end @*/"), {})
    assert "`a_at` and `a_at_2`" in result
    assert "`b`" not in result.partition("#if")[0].partition("Runs")[2].partition("*/")[0]


@pytest.mark.parametrize(
    "code",
    [
        "for (j = 0; j < n; j++) a[k * m + j] -= a[p * m + 2 * j];",
        "for (j = 0; j < n; j++) { a[k * m + j] -= a[p * m + j]; k += j; }",
        "for (j = 0; j < n; j++) a[(unsigned)k + j] -= a[p + j];",
        "for (j = 0; j < n; j++) a[k + j] = a[3];",
        "for (j = 0; j < n; j++) { a[k + j] -= a[p + j]; b = a; }",
    ],
)
def test_parts_that_are_not_told_apart_are_refused(code: str) -> None:
    """Other steps, offsets that change or may wrap around, and pointers that lead elsewhere."""
    with pytest.raises(Refusal) as caught:
        transformed_file(FILE.format(recipe="Reverse()", code=code), {})
    (problem, *_) = caught.value.diagnostics
    assert problem.code in {"ORIO-T027", "ORIO-T040", "ORIO-T041"}
    assert "_at" not in problem.message
    assert problem.position is not None
