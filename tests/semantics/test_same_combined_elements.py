"""Elements that a nest only combines with values hold the same in another order of its iterations; so do complex sums.

The values are small numbers and quarters, whose sums and products are exact in any order.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FREE = """/*@ begin PerfTuning (def assumptions { arg reassociate = True; }
  def input_vars { decl int n = 4; decl int m = 4; }) @*/
"""
FILE = """#include <complex.h>
#include <stdio.h>
static int at[16] = {{3, 1, 1, 0, 3, 3, 2, 1, 0, 0, 2, 3, 1, 2, 0, 1}};
static void work(int n, int m, const int *restrict x, const double *restrict y, {kind} *restrict a)
{{
  int i, j;
  (void)x, (void)y;
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
}}
int main(void)
{{
  for (int n = 0; n < 9; n++)
    for (int m = 0; m < 8; m++) {{
      {kind} a[32];
      int x[16];
      double y[16];
      for (int i = 0; i < 32; i++) a[i] = i % 5 + 1;
      for (int i = 0; i < 16; i++) x[i] = (i * 7 + 3) % 11, y[i] = (i * 5 % 8) * 0.25 - 0.5;
      work(n, m, x, y, a);
      for (int i = 0; i < 32; i++) printf("%.17g ", creal(a[i]));
      puts("");
    }}
  return 0;
}}
"""
NEST = "for (i = 0; i < n; i++) for (j = 0; j < m; j++)"
EXACT = {
    "counted": ("int", f"{NEST} a[at[i] + at[j]]++;"),
    "counted twice": ("long", f"{NEST} {{ a[at[i] * 4 + at[j]] += 3; if (x[i] > 4) a[x[j]] += 3; }}"),
    "bits": ("unsigned", f"{NEST} a[i + j] |= 1u << x[i];"),
    "largest": ("int", f"{NEST} if (x[j] > a[i + j]) a[i + j] = x[j];"),
    "smallest": ("int", f"{NEST} a[i + j] = a[i + j] < x[i] ? a[i + j] : x[i];"),
}
ROUNDED = {
    "convolution": ("double", f"{NEST} a[i + j] += y[i] * y[j];"),
    "differences": (
        "double",
        f"{NEST} {{ double t = y[j]; a[at[i]] -= t; a[i + 2 * j] = t + a[i + 2 * j]; }}",
    ),
    "products": ("float", f"{NEST} a[at[j]] *= y[i] > 0 ? 2 : 0.5;"),
    "whole numbers": ("long", f"{NEST} a[i + j] += x[i] * x[j];"),
    "complex": ("double complex", f"{NEST} a[i + j] += y[i] + I * y[j];"),
    "largest of all": ("double", f"{NEST} if (y[j] > a[at[i]]) a[at[i]] = y[j];"),
}
RECIPES = ("Permut(seq=['j', 'i'])", "UnrollJam(ufactor=3)", "Reverse()", "Tile(loops=['i', 'j'], tsize=[2, 3], tindex=['ii', 'jj'])")  # fmt: skip


def promised(text: str) -> str:
    """The file with the promise that sums may be formed in another order."""
    return text.replace("  /*@ begin Loop", FREE + "  /*@ begin Loop").replace(
        "/*@ end @*/", "/*@ end @*/ /*@ end @*/"
    )


@pytest.mark.share(4)
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("name", [*EXACT, *ROUNDED])
def test_the_order_of_the_iterations_makes_no_difference(tmp_path: Path, name: str, recipe: str) -> None:
    kind, code = {**EXACT, **ROUNDED}[name]
    text = FILE.format(kind=kind, code=code, recipe=recipe)
    new = transformed_file(promised(text) if name in ROUNDED else text, {})
    assert compile_and_run(new, tmp_path, *checked()) == compile_and_run(text, tmp_path, *checked())


OTHER_USES = {
    "a sum in an integer of what is cut off": ("int", f"{NEST} a[i + j] += y[j];"),
    "an element that is read": ("double", f"{NEST} a[i + j] += y[i] * a[j];"),
    "two operators": ("double", f"{NEST} {{ a[i + j] += y[i]; a[i + j] *= y[j]; }}"),
    "a value that is set": ("double", f"{NEST} {{ a[i + j] += y[i]; if (x[i] > 4) a[j] = 1; }}"),
    "a sum whose value is used": ("double", f"{NEST} a[i + j] += a[i] += y[j];"),
    "values on the right of a minus": ("double", f"{NEST} a[i + j] = y[i] - a[i + j];"),
}


@pytest.mark.parametrize("recipe", RECIPES[:2])
@pytest.mark.parametrize("name", OTHER_USES)
def test_refused_where_the_order_makes_a_difference(name: str, recipe: str) -> None:
    kind, code = OTHER_USES[name]
    with pytest.raises(Refusal) as caught:
        transformed_file(promised(FILE.format(kind=kind, code=code, recipe=recipe)), {})
    assert caught.value.diagnostics[0].code in {"ORIO-T040", "ORIO-T041"}


@pytest.mark.parametrize("name", ROUNDED)
def test_refused_without_the_promise(name: str) -> None:
    kind, code = ROUNDED[name]
    with pytest.raises(Refusal, match="T04"):
        transformed_file(FILE.format(kind=kind, code=code, recipe=RECIPES[0]), {})


SUMS = """#include <complex.h>
#include <stdio.h>
typedef float complex point;
int main(void)
{{
  for (int n = 0; n < 9; n++) {{
    point x[9], s = 1 - I, p = I;
    int i;
    for (i = 0; i < 9; i++) x[i] = (i % 4 - 1) * 0.5f + 0.25f * I * i;
    /*@ begin Loop(transform {recipe}) @*/
    for (i = 0; i < n; i++) {{
      s += x[i] * conjf(x[n - i - 1]);
      if (cabsf(x[i]) > 0.5f) p *= cimagf(x[i]) > 1 ? I : -1;
    }}
    /*@ end @*/
    printf("%g %g %g %g\\n", crealf(s) + 0.0, cimagf(s) + 0.0, crealf(p) + 0.0, cimagf(p) + 0.0);
  }}
  return 0;
}}
"""


@pytest.mark.parametrize("recipe", ["UnrollReduction(ufactor=3)", "Parallelize()", "Vectorize()"])
def test_complex_sums_and_products(tmp_path: Path, recipe: str) -> None:
    text = SUMS.format(recipe=recipe)
    before = compile_and_run(text, tmp_path, *checked())
    new = transformed_file(promised(text), {})
    assert compile_and_run(new, tmp_path, *checked(), *openmp()) == before


def test_no_atomic_updates_of_complex_numbers() -> None:
    """OpenMP has none; C's compilers take sums of them in clauses."""
    code = "for (i = 0; i < n; i++) a[at[i]] += y[i];"
    with pytest.raises(Refusal, match="T041"):
        transformed_file(promised(FILE.format(kind="float complex", code=code, recipe="Parallelize()")), {})
