"""Loops that a `collapse` clause of the user's is about: changed inside, not taken apart."""

from __future__ import annotations

import pytest
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

FILE = """void f(int n, double *restrict a)
{
  /*@ begin Loop(
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
      %s
      for (int j = 0; j < n; j++)
        %s
        for (int k = 0; k < n; k++)
          a[(i * n + j) * n + k] += k;
  ) @*/
  #pragma omp parallel for collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        a[(i * n + j) * n + k] += k;
  /*@ end @*/
}
"""


def test_a_collapsed_loop_is_not_taken_apart() -> None:
    with pytest.raises(Refusal) as caught:
        transformed_file(FILE % ("transform Unroll(ufactor=2)", ""), {})
    (found,) = caught.value.diagnostics
    assert found.code == "ORIO-T023"
    assert found.position is not None


def test_a_loop_inside_the_collapsed_ones_is_changed() -> None:
    assert "k += 2" in transformed_file(FILE % ("", "transform Unroll(ufactor=2)"), {})
