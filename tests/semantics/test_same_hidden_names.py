"""Names that mean several variables in a region, and names that an expression needs though it reads nothing of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from c_programs import checked, compile_and_run, openmp
from c_trees import transformed_file

from orio_py.transformation.base import Refusal

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FILE = """#include <stdio.h>
static double a[64], b[64];
static __thread int i;
static void work(int n, int m)
{{
  {declared}
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
  printf("%d %g\\n", (int)i, t);
}}
int main(void)
{{
  for (int n = 0; n < 12; n++)
    for (int m = 0; m < 9; m += 4) {{
      for (int k = 0; k < 64; k++) {{ a[k] = k % 5; b[k] = k % 7 - 2; }}
      work(n, m);
      for (int k = 0; k < 64; k++) printf("%g %g ", a[k], b[k]);
    }}
  return 0;
}}
"""
CASES = {
    "a block hides the index": (
        "Tile(tsize=4, tindex='ii')",
        "double t = 0;",
        "for (i = 0; i < n; i++) { a[i] += 1; { double i = 2.5; b[n] += i; } }",
        "double i_2 = 2.5",
    ),
    "a block hides a sum": (
        "Unroll(ufactor=3)",
        "double t = 1;",
        "for (i = 0; i < n; i++) { t += a[i]; { int t = i / 2; b[t] += t; } }",
        "int t_2 = i / 2",
    ),
    "a block hides an index that nothing else uses": (
        "Coalesce(index='number')",
        "double t = 1;",
        "for (int j = 0; j < n; j++) for (int k = 0; k < m; k++) { int k = 1; b[k] += 0.5; }",
        "int k_2 = 1",
    ),
    "an index of the thread": (
        "Composite(vector=(True, ['omp simd']))",
        "double t = 0;",
        "for (i = 0; i < n; i++) a[i] = b[i];",
        "for (int i = 0",
    ),
    "the size of an index": (
        "BoundReplace()",
        "double t = 0;",
        "for (short k = 0; k < n; k++) for (int j = (int)sizeof(k); j < n; j++) a[j] += b[k];",
        "for (short k = 0; k < n; k++)",
    ),
    "values that depend on each other": (
        "Distribute()",
        "double t = 0;",
        "for (int k = 0; k < n; k++) { double u = b[k] + 1; double v = u * 3; a[k] = v; b[k] = u - v; }",
        "v_x[k - k_strip] = u_x[k - k_strip] * 3;",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_same_is_computed(name: str, tmp_path: Path) -> None:
    recipe, declared, code, shown = CASES[name]
    before = FILE.format(recipe=recipe, declared=declared, code=code)
    after = transformed_file(before, {})
    assert shown in after.split("#else")[0]
    flags = (*checked(), *openmp(), "-Wall", "-Wextra")
    assert compile_and_run(after, tmp_path, *flags) == compile_and_run(before, tmp_path, *flags)


REFUSED = {
    "a hidden truth value": (
        "Parallelize()",
        "double t = 0; _Bool i;",
        "for (i = 0; i < 1; i++) { a[i] = 1; { int i = 1; b[i] += 0.5; } }",
        "ORIO-T091",
    ),
    "an index that ends by wrapping around": (
        "StripMine(tsize=3, tindex='strip')",
        "double t = 0; signed char k; unsigned end = n - 5u;",
        "for (k = 0; k < end; k++) t += a[k & 63];",
        "ORIO-T022",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str) -> None:
    recipe, declared, code, expected = REFUSED[name]
    with pytest.raises(Refusal) as found:
        transformed_file(FILE.format(recipe=recipe, declared=declared, code=code), {})
    assert found.value.diagnostics[0].code == expected


@pytest.mark.parametrize(("kind", "accepted"), [("int", True), ("size_t", False), ("unsigned", False)])
@pytest.mark.parametrize("own", [True, False])
def test_bounds_are_joined_where_they_compare_with_the_index_as_with_each_other(
    kind: str, accepted: bool, own: bool
) -> None:
    """Of -1 and 5 an unsigned index ends at 5."""
    declared, first = ("", f"{kind} k") if own else (f"{kind} k;", "k")
    code = f"for ({first} = 0; k < n && k < m; k++) a[k] += 1;"
    text = "#include <stddef.h>\n" + FILE.format(
        recipe="Unroll(ufactor=2)", declared=f"double t = 0; {declared}", code=code
    )
    if accepted:
        assert "n < m ? n : m" in transformed_file(text, {})
    else:
        assert "break;" in transformed_file(text, {})
        with pytest.raises(Refusal):
            transformed_file(text.replace("Unroll(ufactor=2)", "StripMine(tsize=2, tindex='strip')"), {})
