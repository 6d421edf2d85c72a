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
        ("double *x", " = 2", []),
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
        found_out = "/* Which elements of `x` the loops use. */" if "*" in parameter else "(long)N * 2"
        assert found_out in (tmp_path / "out.c").read_text()


BLOCKS = """void blocks(void) {
  /*@ begin PerfTuning(
        def input_params { param P[] = [9]; param Q[] = [5]; }
        def input_vars {
          decl int p = P; decl int q = Q;
          decl dynamic double r[P*Q*Q] = 0; decl dynamic double t[P*Q*Q*Q] = random;
        }
  ) @*/
  int i, k, l, m;
  /*@ begin Loop(
    transform CUDA(threadCount=32)
    for (i = 0; i <= p - 1; i++)
      for (k = 0; k <= q - 1; k++)
        for (l = 0; l <= q - 1; l++)
          for (m = 0; m <= q - 1; m++)
            r[i * Q * Q + k * Q + l] += t[i * Q * Q * Q + m * Q * Q + k * Q + l];
  ) @*/
  /*@ end @*/
  /*@ end @*/
}
"""


def test_a_specified_extent_stands_where_the_first_element_would_be_one_of_many(tmp_path: Path) -> None:
    path = tmp_path / "blocks.c"
    path.write_text(BLOCKS)
    orio_py.transform(path, output=tmp_path / "out.c")
    text = (tmp_path / "out.c").read_text()
    assert "orio_cuda_blocks_0(t, r, (long)Q * Q * Q * 9, (long)Q * Q * 9, q, Q, p);" in text


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
