"""Align regions: a version for aligned arrays of code with or without a recipe of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_programs import checked, compile_and_run
from c_trees import read_tasks, transformed_file

import orio_py

FILE = """void add(int n, double *restrict y, double *restrict x)
{
  int i;
  /*@ begin Align(x[], y[]) @*/
  %s
  /*@ end @*/
}
"""
CODE = "for (i = 0; i < n; i++) y[i] = 2 * x[i] + y[i];"
UNROLLED = f"/*@ begin Loop(transform Unroll(ufactor=4)) @*/ {CODE} /*@ end @*/"
MAIN = """
#include <stdio.h>
int main(void)
{
  static _Alignas(16) double m[99];
  for (int way = 0; way < 4; way++) {
    for (int k = 0; k < 99; k++) m[k] = k % 7;
    add(13, m + (way & 1), m + 40 + way / 2);
    for (int k = 0; k < 99; k++) printf("%g ", m[k]);
  }
}
"""


@pytest.mark.parametrize("code", [CODE, UNROLLED])
def test_both_versions_compute_the_same(code: str, tmp_path: Path) -> None:
    text = FILE % code
    new = transformed_file(text, {})
    assert "(unsigned long)x % 16 == 0 && (unsigned long)y % 16 == 0" in new
    assert "aligned(x, y: 16)" in new
    assert ("y[i + 3]" in new) == (code is UNROLLED)
    before = compile_and_run(text + MAIN, tmp_path, *checked(), "-std=c11")
    assert compile_and_run(new + MAIN, tmp_path, *checked(), "-std=c11", "-fopenmp-simd") == before


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "add.c"
    path.write_text(FILE % UNROLLED)
    once, twice = tmp_path / "once.c", tmp_path / "twice.c"
    orio_py.transform(path, output=once)
    orio_py.transform(once, output=twice)
    assert twice.read_text() == once.read_text()
    assert orio_py.check(once).diagnostics == ()


def test_a_region_with_two_recipes_inside_is_one_without_recipe() -> None:
    (task,) = read_tasks(FILE % (UNROLLED + "\n" + UNROLLED))
    assert [step.name for step in task.regions[0].recipe.steps] == ["Specialize"]


@pytest.mark.parametrize(
    ("leader", "code", "column", "part"),
    [
        ("Align(x, y[])", "ORIO-A022", 20, "expected arrays such as `x[], y[]`, found `,`"),
        ("Align()", "ORIO-A022", 19, "expected arrays"),
        ("Align(x[0])", "ORIO-A022", 21, "found `0`"),
    ],
)
def test_what_is_no_list_of_arrays(tmp_path: Path, leader: str, code: str, column: int, part: str) -> None:
    path = tmp_path / "add.c"
    path.write_text((FILE % CODE).replace("Align(x[], y[])", leader))
    (problem,) = orio_py.check(path).diagnostics
    assert (problem.code, part in problem.message) == (code, True), problem.headline()
    assert problem.position is not None
    assert (problem.position.line, problem.position.column) == (4, column)


def test_a_region_without_code_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "add.c"
    path.write_text(FILE % "")
    (problem,) = orio_py.check(path).diagnostics
    assert (problem.code, "this Align region" in problem.message) == ("ORIO-A015", True)


@pytest.mark.parametrize("name", ["OrTil", "PolySyn", "Pluto"])
def test_modules_that_tile_are_replaced_by_a_recipe(tmp_path: Path, name: str) -> None:
    path = tmp_path / "add.c"
    path.write_text((FILE % CODE).replace("Align(x[], y[])", f"{name} ((i,j):2)"))
    (problem,) = orio_py.check(path).diagnostics
    assert problem.code == "ORIO-A004"
    assert "use `Loop` with a recipe such as `transform Composite(tile=" in (problem.help or "")
