"""Loops that test behind their bodies: they run once in any case, and as often as before with any recipe."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FILE = """#include <stdio.h>
static double x[64], y[64];
static long work(int n, unsigned u, long first, const double *s, double *d)
{
  int i = 0;
  long k = first;
  const double *end = s + n;
  (void)u; (void)end;
  /*@ begin Loop(transform @RECIPE@) @*/
  @CODE@
  /*@ end @*/
  return i + 100 * k + 10000 * n + 1000000 * (d - y) + 100000000L * (s - x) + (long)u * 10000000000L;
}
int main(void)
{
  for (int n = -2; n < 12; n++)
    for (int at = 0; at < 5; at++) {
      for (int q = 0; q < 64; q++) x[q] = q * 1.5, y[q] = q;
      printf("%ld ", work(n, n > 0 ? (unsigned)n : 1, at, x + 20, y + 20 + at));
      for (int q = 0; q < 64; q++) printf("%g ", y[q]);
      puts("");
    }
  return 0;
}
"""
LOOPS = {
    "an index": "do { d[i] = s[i] * 2; i++; } while (i < n);",
    "an index in the test": "do { d[i] = s[i] * 2; } while (++i < n);",
    "downwards": "do { d[n + 3] = s[n] + n; --n; } while (n > 0);",
    "a counter of its own": "do { *d++ = *s++ * 2; } while (--n > 0);",
    "an unsigned counter": "do { *d++ = *s++ * 2; } while (--u);",
    "from a start": "do { d[k] = s[k] + k; k += 2; } while (k <= n);",
    "an end": "do { *d++ = *s++ * 2; } while (s < end);",
    "left early": "do { if (s[i] > 33) break; d[i] = s[i] * 2; i++; } while (i < n);",
}


def _file(code: str, recipe: str) -> str:
    return FILE.replace("@CODE@", code).replace("@RECIPE@", recipe)


REFUSED = {
    ("left early", "Parallelize()"),
    ("left early", "Peel(first=1)"),
    ("an unsigned counter", "Peel(first=1)"),
}


@pytest.mark.parametrize("recipe", ["Unroll(ufactor=4)", "Parallelize()", "Peel(first=1)"])
@pytest.mark.parametrize("name", LOOPS)
def test_the_body_runs_as_often(tmp_path: Path, name: str, recipe: str) -> None:
    text = _file(LOOPS[name], recipe)
    if (name, recipe) in REFUSED:
        with pytest.raises(Refusal):
            transformed_file(text, {})
        return
    new = transformed_file(text, {})
    assert "} else {" in new
    flags = ("-w", *checked(), *(openmp() if "omp" in new else ()))
    outputs = [compile_and_run(program, tmp_path, *flags) for program in (new, text)]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    "loop",
    [
        # What the test reads is known behind the body alone, or it may not be evaluated before.
        "do { d[i] = s[i]; i++; } while (s[i] > 2);",
        "do { d[i] = s[i]; i++; } while (10 / n > i);",
        "do { int n = 3; d[i] = n; i++; } while (i < n + getchar());",
        # A `continue` leads to the test.
        "do { if (s[i] > 33) continue; d[i] = s[i]; } while (++i < n);",
        "do { d[i] = s[i]; } while (i++ < n);",
    ],
)
def test_loops_that_stay_as_they_are(loop: str) -> None:
    with pytest.raises(Refusal, match="ORIO-T020"):
        transformed_file(_file(loop, "Unroll(ufactor=2)"), {})
