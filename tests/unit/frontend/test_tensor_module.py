"""Tensor regions: contractions in index notation inside C files."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_programs import checked, compile_and_run
from c_trees import read_tasks, transformed_file

import orio_py

FILE = """void product(double *restrict c, double *restrict a, double *restrict b)
{
  /*@ begin Tensor(
    %s
    variables: c: (6, 5)  a: (6, 7)  b: (7, 5)  s: 0
    operations:
      %s
  ) @*/
  /*@ end @*/
}
"""
MAIN = """
#include <stdio.h>
int main(void)
{
  double c[30], a[42], b[35];
  for (int k = 0; k < 42; k++) { a[k] = k % 11; if (k < 35) b[k] = k % 7 - 3; if (k < 30) c[k] = k; }
  product(c, a, b);
  for (int k = 0; k < 30; k++) printf("%g ", c[k]);
}
"""
PLAIN = """void product(double *c, double *a, double *b)
{
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 5; j++)
      for (int k = 0; k < 7; k++)
        c[j + 5 * i] -= 2 * a[k + 7 * i] * b[j + 5 * k];
}
"""
CHAIN = """void product(double *c, double *a, double *b, double *d)
{
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 5; j++)
      for (int k = 0; k < 7; k++)
        for (int l = 0; l < 5; l++)
          c[j + 5 * i] += a[k + 7 * i] * b[l + 5 * k] * d[j + 5 * l];
}
"""
STATEMENT = "c:(i,j) -= 2 * a:(i,k) * b:(k,j)"


def test_the_region_stands_for_its_loops(tmp_path: Path) -> None:
    text = FILE % ("", STATEMENT)
    (task,) = read_tasks(text)
    names = [parameter.name for parameter in task.parameters]
    assert names == ["ORDER_c", "ROWS_c", "COLUMNS_c", "PACK_c", "UNROLL_c", "AHEAD_c", "SUMS_c"]
    values = {parameter.name: parameter.values[0] for parameter in task.parameters}
    expected = compile_and_run(PLAIN + MAIN, tmp_path, *checked(), "-std=c11")
    new = transformed_file(text, values)
    assert "sum0 -= 2 * a[" in new
    assert compile_and_run(new + MAIN, tmp_path, *checked(), "-std=c11") == expected


def test_temporary_tensors_are_arrays_of_a_block(tmp_path: Path) -> None:
    text = FILE.replace("s: 0", "d: (5, 5)").replace("restrict b)", "restrict b, double *restrict d)")
    text = text % ("", "c:(i,j) += a:(i,k) * b:(k,l) * d:(l,j)")
    (task,) = read_tasks(text)
    main = MAIN.replace("a, b)", "a, b, b)")
    expected = compile_and_run(CHAIN + main, tmp_path, *checked(), "-std=c11")
    for choice in (0, -1):
        values = {parameter.name: parameter.values[choice] for parameter in task.parameters}
        new = transformed_file(text, values)
        assert "double part[" in new
        assert compile_and_run(new + main, tmp_path, *checked(), "-std=c11") == expected


@pytest.mark.parametrize(("size", "apart"), [(181, True), (182, False)])
def test_large_temporary_tensors_are_not_put_on_the_stack(size: int, apart: bool) -> None:
    shape = f"({size}, {size})"
    text = FILE.replace("(6, 5)", shape).replace("(6, 7)", shape).replace("(7, 5)", shape)
    (task,) = read_tasks(text % ("", "c:(i,j) += a:(i,k) * b:(k,l) * a:(l,j)"))
    assert ("ORDER_part" in {parameter.name for parameter in task.parameters}) is apart


def test_statements_with_one_output_have_parameters_of_their_own() -> None:
    (task,) = read_tasks(FILE % ("", f"{STATEMENT}\n      {STATEMENT}"))
    assert {"ORDER_c", "ORDER_c_2"} <= {parameter.name for parameter in task.parameters}


def test_a_sum_begins_before_its_loop() -> None:
    (task,) = read_tasks(FILE % ("", "s = a:(i,k) * a:(i,k)"))
    assert len(task.regions[0].reference.block_items or []) == 2


@pytest.mark.parametrize(
    ("options", "statement", "place"),
    [
        ("memory: rows", STATEMENT, "4:13: error[ORIO-N002]"),
        ("", "c:(i,j) += a:(i,k) * d:(k,j)", "7:28: error[ORIO-N005]"),
        ("", "c:(i,j) += a:(i,k) ** b:(k,j)", "7:27: error[ORIO-N001]"),
    ],
)
def test_mistakes_have_their_places_in_the_file(
    options: str, statement: str, place: str, tmp_path: Path
) -> None:
    path = tmp_path / "p.c"
    path.write_text(FILE % (options, statement))
    told = [problem.headline() for problem in orio_py.check(path).diagnostics]
    assert any(f"{path}:{place}" in line for line in told), told
