"""SpMV regions: products of a sparse matrix in compressed rows with a vector, from arguments alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_programs import checked, compile_and_run
from c_trees import transformed_file

import orio_py

FILE = """void product(int n, int blocks, int *rows, int *ai, int *aj, double *aa, double *restrict x, double *restrict y)
{
  /*@ begin SpMV(
    # y = y + aa * x;
    total_rows = n;
    %s
  ) @*/
  /*@ end @*/
}
"""
MAIN = """
#include <stdio.h>
int main(void)
{
  int ai[] = {0, 3, 3, 8, 9, 12, 14, 21}, aj[21], rows[] = {0, 2, 3, 7};
  double aa[21], x[5], y[8] = {0, 0, 0, 0, 0, 0, 0, 5};
  for (int k = 0; k < 21; k++) { aj[k] = k * 3 % 5; aa[k] = k - 7; }
  for (int k = 0; k < 5; k++) x[k] = k + 0.5;
  product(7, 3, rows, ai, aj, aa, x, y);
  for (int k = 0; k < 8; k++) printf("%g ", y[k]);
}
"""
PLAIN = """void product(int n, int blocks, int *rows, int *ai, int *aj, double *aa, double *x, double *y)
{
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = ai[i]; j < ai[i + 1]; j++)
      y[i] += aa[j] * x[aj[j]];
  }
}
"""


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ("", "sum += aa[k] * x[aj[k]]"),
        ("out_unroll_factor = 4; in_unroll_factor = 6;", "sum += aa[k + 5] * x[aj[k + 5]]"),
        ("in_unroll_factor = 2; num_threads = 4; simd = 'gcc';", "omp simd reduction(+:sum)"),
        ("num_threads = 4;  # threads", "omp parallel for num_threads(4)"),
        ("out_unroll_factor = 2; block_structure = 'inode';", "row < n"),
    ],
)
def test_all_ways_compute_the_product(arguments: str, part: str, tmp_path: Path) -> None:
    expected = compile_and_run(PLAIN + MAIN, tmp_path, *checked(), "-std=c11")
    new = transformed_file(FILE % arguments, {})
    assert part in new
    assert compile_and_run(new + MAIN, tmp_path, *checked(), "-std=c11", "-fopenmp") == expected


def test_rows_of_blocks_stand_for_their_number(tmp_path: Path) -> None:
    text = (FILE % "block_structure = 'inode'; total_inodes = blocks; inode_rows = rows;").replace(
        "total_rows = n;", ""
    )
    new = transformed_file(text, {})
    assert "for (int row = rows[0]; row < rows[blocks]; row++)" in new
    expected = compile_and_run(PLAIN + MAIN, tmp_path, *checked(), "-std=c11")
    assert compile_and_run(new + MAIN, tmp_path, *checked(), "-std=c11") == expected


def test_names_of_operands_are_not_captured(tmp_path: Path) -> None:
    text = (FILE % "in_vector = sum; row_inds = row; col_inds = k; in_unroll_factor = 2;").replace(
        "int *ai, int *aj, double *aa, double *restrict x",
        "int *row, int *k, double *aa, double *restrict sum",
    )
    expected = compile_and_run(PLAIN + MAIN, tmp_path, *checked(), "-std=c11")
    assert compile_and_run(transformed_file(text, {}) + MAIN, tmp_path, *checked(), "-std=c11") == expected


def test_factors_may_be_parameters(tmp_path: Path) -> None:
    path = tmp_path / "product.c"
    arrays = " ".join(f"decl dynamic int {name}[n + 1] = 0;" for name in ("rows", "ai", "aj"))
    arrays += " ".join(f" decl dynamic double {name}[n] = random;" for name in ("aa", "x", "y"))
    spec = (
        "def performance_params { param U[] = [1, 2, 6]; param T[] = [1, 2]; }"
        f"def input_params {{ param n = 7; }} def input_vars {{ {arrays} }}"
    )
    path.write_text(
        f"/*@ begin PerfTuning({spec}) @*/\n{FILE % 'in_unroll_factor = U; num_threads = T;'}/*@ end @*/\n"
    )
    new = tmp_path / "new.c"
    orio_py.transform(path, output=new, pins={"U": 6, "T": 2})
    assert "aj[k + 5]" in new.read_text()
    assert "num_threads(2)" in new.read_text()


def test_overlapping_vectors_are_not_shared_out(tmp_path: Path) -> None:
    plain, shared = (
        transformed_file((FILE % f"num_threads = {number};").replace("restrict ", ""), {})
        for number in (1, 2)
    )
    assert "/* Which elements of `x` the loops use. */" in shared
    for vector in ("x", "y + 1", "y - 2 + 2"):
        main = MAIN.replace("aa, x, y)", f"aa, {vector}, y)")
        expected = compile_and_run(plain + main, tmp_path, *checked(), "-std=c11")
        assert compile_and_run(shared + main, tmp_path, *checked(), "-std=c11", "-fopenmp") == expected


@pytest.mark.parametrize(
    ("arguments", "code", "line", "part"),
    [
        ("out_vectr = y;", "ORIO-A023", 6, "no argument `out_vectr`"),
        ("simd = 'avx';", "ORIO-A023", 6, "must be one of 'none', 'gcc', 'sse', 'xlc'"),
        ("block_structure = 'bcsr';", "ORIO-A023", 6, "must be one of 'none', 'inode'"),
        ("num_threads 4;", "ORIO-A023", 6, "expected arguments such as"),
        ("simd = 'none'; simd = 'gcc';", "ORIO-A014", 6, "given twice"),
    ],
)
def test_what_is_no_product(tmp_path: Path, arguments: str, code: str, line: int, part: str) -> None:
    path = tmp_path / "product.c"
    path.write_text(FILE % arguments)
    problem = orio_py.check(path).diagnostics[0]
    assert (problem.code, part in problem.message) == (code, True), problem.headline()
    assert problem.position is not None
    assert problem.position.line == line
