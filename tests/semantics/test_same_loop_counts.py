"""Loops behind directives run as often as C runs them: bounds far apart, of wider types, and indices of short ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FILE = """#include <limits.h>
#include <stdio.h>
static int ran;
static void work({parameters}, int *y)
{{
  {index} i;
  /*@ begin Loop(transform {recipe}) @*/
  for ({header})
    y[{place}] += 2;
  /*@ end @*/
}}
int main(void)
{{
  static int y[40000];
  {calls}
  for (int q = 0; q < 40000; q++) if (y[q]) ran += y[q];
  printf("%d\\n", ran);
  return 0;
}}
"""
EMPTY = "work(INT_MAX, INT_MIN, y); work(5, INT_MIN, y); work(2000000000, -2000000000, y);"
RUNS = {
    "int up": ("int lo, int hi", "int", "i = lo; i < hi; i++", f"{EMPTY} work(3, 11, y);"),
    "int up to": ("int lo, int hi", "int", "i = lo; i <= hi; i++", f"{EMPTY} work(3, 11, y);"),
    "int down": ("int hi, int lo", "int", "i = lo; i > hi; i--", f"{EMPTY} work(3, 11, y);"),
    "long": (
        "long lo, long hi",
        "long",
        "i = lo; i < hi; i++",
        "work(LONG_MAX, LONG_MIN, y); work(5, LONG_MIN, y); work(3, 11, y);",
    ),
    "wider bound": ("long n", "int", "i = 0; i < n; i++", "work(-4294967290, y); work(7, y);"),
    "wider start": (
        "long lo, int hi",
        "int",
        "i = lo; i < hi; i++",
        "work(4294967296, 5, y); work(2, 5, y);",
    ),
    "short start": ("unsigned char n", "unsigned char", "i = 0; i < n; i++", "work(255, y); work(0, y);"),
}
RECIPES = (
    "Parallelize()",
    "Parallelize(schedule='dynamic, 2')",
    "Composite(openmp=(True, 'omp parallel for'))",
    "Vectorize()",
)


def _program(case: tuple[str, str, str, str], recipe: str, place: str = "i") -> str:
    parameters, index, header, calls = case
    return FILE.format(
        parameters=parameters, index=index, header=header, calls=calls, recipe=recipe, place=place
    )


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("case", RUNS.values(), ids=list(RUNS))
def test_loops_run_as_often_as_in_c(tmp_path: Path, case: tuple[str, str, str, str], recipe: str) -> None:
    """A program that runs more iterations touches what it has not, and the sanitizers object to sums that overflow."""
    source = _program(case, recipe)
    result = transformed_file(source, {})
    outputs = [
        compile_and_run(program, tmp_path, "-w", *checked(), *openmp()) for program in (result, source)
    ]
    assert "#pragma omp" in result
    assert outputs[0] == outputs[1]


SHORT = {
    "literals": ("int n", "signed char", "i = -100; i < 100; i++", "i + 100"),
    "steps": ("int n", "unsigned char", "i = 0; i < 250; i += 10", "i"),
    "variables": ("short lo, short hi", "short", "i = lo; i < hi; i++", "i + 20000"),
    "down": ("signed char n", "signed char", "i = n; i > 0; i -= 3", "i"),
}


@pytest.mark.parametrize("recipe", RECIPES[:3])
@pytest.mark.parametrize("case", SHORT.values(), ids=list(SHORT))
def test_numbers_that_a_short_index_does_not_hold_are_refused(
    case: tuple[str, str, str, str], recipe: str
) -> None:
    parameters, index, header, place = case
    with pytest.raises(Refusal) as caught:
        transformed_file(_program((parameters, index, header, ""), recipe, place), {})
    (problem, *_) = caught.value.diagnostics
    assert problem.code == "ORIO-T091"
    assert f"iterations in `{index}`" in problem.message
    assert problem.position is not None
