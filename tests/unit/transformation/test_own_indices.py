"""Indices that live outside their loops, and variables that copies of a loop's body have for themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_programs import checked, compile_and_run
from c_trees import transformed_file

from orio_py.core.diagnostics import DiagnosticError

FILE = """#include <stdio.h>
#define N 17
int i, j, k;
double a[N][N], b[N][N], c[N][N], x[N];
static void kernel(int n, int m) {{
  /*@ begin Loop(transform {recipe}) @*/
{loops}
  /*@ end @*/
}}
int main(void) {{
  for (int n = 0; n < N; n += 3)
    for (int m = 0; m < N; m += 4) {{
      i = j = k = -7;
      for (int p = 0; p < N; p++) {{
        x[p] = p % 3;
        for (int q = 0; q < N; q++) {{ a[p][q] = (p + 2 * q) % 5; b[p][q] = (3 * p + q) % 7; c[p][q] = p; }}
      }}
      kernel(n, m);
      double sum = i + 100 * j + 10000 * k;
      for (int p = 0; p < N; p++)
        for (int q = 0; q < N; q++) sum += (p + 1) * (q + 3) * c[p][q];
      printf("%.0f %d %d %d\\n", sum, i, j, k);
    }}
  return 0;
}}
"""

PRODUCT = """for (i = 0; i < n; i++)
  for (j = 0; j < m; j++)
    for (k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];"""

ROWS = """for (i = 0; i < n; i++) {
  for (j = 0; j < m; j++) c[i][j] = 0;
  for (j = 1; j <= m; j++) for (k = 0; k <= i; k++) c[i][j - 1] += a[i][k];
}"""

LOCALS = """for (i = 0; i < n; i++) {
  int stop = m < 8 ? m : 8;
  stop = stop < n ? stop : n;
  double s = x[i];
  s = s * s + i;
  for (j = 0; j < stop; j++) {
    double t = s;
    for (k = 0; k < n; k++) t += a[i][k] * b[k][j];
    c[i][j] = t;
  }
}"""

TRIANGLE = """for (i = 0; i < n; i++)
  for (j = i + 1; j < n; j++) {
    c[i][j] += x[j];
    for (k = 0; k < (m > 3 ? m : 3); k++) c[i][j] += a[i][k];
  }"""

BOTH = "Composite(unrolljam = (['j'], [3]), regtile = (['i', 'k'], [2, 2]))"
TILED = "Composite(unrolljam = (['i', 'j'], [2, 2]), regtile = (['i', 'j', 'k'], [2, 1, 3]))"


@pytest.mark.parametrize(
    ("recipe", "loops"),
    [
        (BOTH, PRODUCT),
        (TILED, PRODUCT),
        ("Composite(unrolljam = (['i', 'j'], [2, 2]), vector = (True, ['ivdep']))", PRODUCT),
        ("Composite(unrolljam = (['k'], [2]), regtile = (['i'], [3]))", ROWS),
        ("Composite(unrolljam = (['k'], [2]), regtile = (['i'], [3]))", LOCALS),
        ("UnrollJam(ufactor=3)", LOCALS),
        ("Permut(seq=['i', 'j'])\n  transform Unroll(ufactor=3)", TRIANGLE),
        ("Parallelize()\n  transform Unroll(ufactor=3)", TRIANGLE.replace("i + 1", "n")),
        ("RegTile(loops=['i', 'j'], ufactors=[3, 2])", LOCALS),
    ],
)
def test_results_and_last_values_are_those_of_the_original(recipe: str, loops: str, tmp_path: Path) -> None:
    text = FILE.format(recipe=recipe, loops=loops)
    new = transformed_file(text, {})
    assert new != text
    assert compile_and_run(new, tmp_path, *checked()) == compile_and_run(text, tmp_path, *checked())


def test_a_block_may_declare_as_much_as_it_likes() -> None:
    declared = "\n".join(
        f"int v{number} = {number}; x[{number % 17}] += v{number};" for number in range(1200)
    )
    text = FILE.format(recipe="Unroll(ufactor=2)", loops="for (i = 0; i < n; i++) {\n" + declared + "\n}")
    assert transformed_file(text, {}).count("v1199 = 1199") >= 2


VARYING = "for (i = 0; i < n; i++) { for (j = i; j < 3; j++) for (k = 0; k < m; k++) c[i][j] += a[i][k]; x[i] = m; }"
LEFT = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { if (c[i][j] > 3) break; c[i][j] += 1; }"
RETURNED = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { if (c[i][j] > 3) return; c[i][j] += 1; }"


def test_an_index_that_a_pointer_reads_stays_the_variable_that_it_is() -> None:
    loops = "for (int p = 0; p < n; p++) { x[p] = *where; for (j = 0; j < m; j++) c[p][j] = 1; }"
    text = FILE.format(recipe="Distribute()", loops=loops).replace(
        "int i, j, k;", "int i, j, k, *where = &j;"
    )
    with pytest.raises(DiagnosticError):
        transformed_file(text, {})
    assert "for (j = 0" in transformed_file(text.replace("*where;", "1;"), {})


@pytest.mark.parametrize(
    ("loops", "code"), [(LEFT, "ORIO-T040"), (RETURNED, "ORIO-T025"), (VARYING, "ORIO-T040")]
)
def test_an_index_whose_loop_may_be_left_has_no_known_last_value(loops: str, code: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        transformed_file(FILE.format(recipe="Parallelize()", loops=loops), {})
    assert caught.value.diagnostics[0].code == code
