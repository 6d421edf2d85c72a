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
