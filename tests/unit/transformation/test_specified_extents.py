"""Extents of arrays for devices that only the specification says."""

from __future__ import annotations

from pathlib import Path

import pytest

import orio_py
from orio_py.core.diagnostics import Severity

SPECIFIED = """void scatter(%s) {
  /*@ begin PerfTuning(
        def input_params { param parts%s; param N[] = [8, 16]; }
        def input_vars { decl dynamic double x[parts * N] = random; }
  ) @*/
  int i, n = N;
  /*@ begin Loop(
    transform OpenCL()
    for (i = 0; i <= n - 1; i++)
      if (i %% 3 == 0) x[i + n] = 1.0;
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
"""


@pytest.mark.parametrize(
    ("parameter", "values", "codes"),
    [
        ("void", " = 2", []),
        ("void", "[] = [2, 3]", ["ORIO-S022"]),
        # How much memory a parameter points to is up to the application.
        ("double *x", " = 2", ["ORIO-T122"]),
    ],
)
def test_extents_may_use_sizes_of_one_value_that_the_code_does_not_know(
    tmp_path: Path, parameter: str, values: str, codes: list[str]
) -> None:
    path = tmp_path / "scatter.c"
    path.write_text(SPECIFIED % (parameter, values))
    found = [d.code for d in orio_py.check(path).diagnostics if d.severity is Severity.ERROR]
    assert found == codes
    if not codes:
        orio_py.transform(path, output=tmp_path / "out.c")
        assert "(long)N * 2" in (tmp_path / "out.c").read_text()


FOLLOWED = """typedef struct { unsigned scale; } factor;
struct plain { unsigned scale; };
void f(int n, const KIND *w, const unsigned *x, unsigned char *y)
{
  /*@ begin PerfTuning (
    def input_vars { decl int n = 100; decl dynamic KIND w[1] = random;
      decl dynamic unsigned x[100] = random; decl dynamic unsigned char y[100] = 0; }
  ) @*/
  /*@ begin Loop (transform Parallelize()) @*/
  for (int i = 0; i < n; ++i)
    y[i] = x[i] * w->scale;
  /*@ end @*/
  /*@ end @*/
}
"""


@pytest.mark.parametrize("kind", ["factor", "struct plain"])
def test_a_structure_that_is_followed_is_a_single_one_whatever_it_is_called(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "scaled.c"
    path.write_text(FOLLOWED.replace("KIND", kind))
    assert orio_py.check(path).diagnostics == ()
