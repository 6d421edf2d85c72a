"""Memory that code reaches under another name, and names that mean something else in another place."""

from __future__ import annotations

import pytest
from c_programs import checked, compile_and_run
from c_trees import read_tasks, transformed_file

from orio_py.transformation.base import Refusal

TEMPLATE = """#include <stdio.h>
static int total, g; static __thread int own; static int team;
#pragma omp threadprivate(team)
struct range {{ int first, last; }};
static int twice(void) {{ return g * 2; }}
int more(void);
{function} {{
  int i, j;
  {before}
  /*@ begin Loop(transform {recipe}) @*/
  {code}
  /*@ end @*/
}}
"""
UNROLL = "Unroll(ufactor=4)"
STRIPS = "StripMine(tsize=4, tindex='strip')"


def source(function: str, code: str, recipe: str = UNROLL, before: str = "") -> str:
    return TEMPLATE.format(function=function, code=code, recipe=recipe, before=before)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (source("void f(int *a, int *count)", "for (i = 0; i < *count; i++) a[i] = 3;"), None),
        (source("void f(int *a, int *count)", "for (i = *count; i < 9; i++) a[i] = 3;"), None),
        (source("void f(double *a, int *count)", "for (i = 0; i < *count; i++) a[i] = 3;"), None),
        (source("void f(int *restrict a, int *count)", "for (i = 0; i < *count; i++) a[i] = 3;"), None),
        (source("void f(int *a, struct range *r)", "for (i = 0; i < r->last; i++) a[i] = 3;"), None),
        (source("void f(int *a)", "for (i = 0; i < total; i++) a[i + total] = 3;"), None),
        (source("void f(double *a)", "for (i = 0; i < total; i++) a[i] = 3;"), None),
        (source("void f(int n, int *a)", "for (i = 0; i < n; i++) a[i] = *p;", before="int *p = &n;"), None),
        (source("void f(int n, int *a)", "for (i = 0; i < n; i++) *p = 2;", before="int *p = &n;"), None),
        (source("void f(int n, int *a)", "for (i = 0; i < n; i++) a[i] = *p;", recipe=STRIPS, before="int *p = &i;"), "ORIO-T024"),
        (source("void f(int n, int *a)", "for (i = 0; i < n; i++) *p = 1;", recipe=STRIPS, before="int *p = &i;"), "ORIO-T024"),
        (source("void f(int n, int *a)", "for (i = 0; i < n; i++) a[i] = q[0];", before="double *q = (double *)&i;"), None),
        (source("void f(int n, int *a)", "for (g = 0; g < n; g++) a[g] = 1;", STRIPS), "ORIO-T024"),
        (source("void f(int n, double *a)", "for (g = 0; g < n; g++) a[g] = 1;"), None),
        (source("void f(int n, double *a)", "for (g = 0; g < n; g++) a[g] = twice();"), None),
        (source("void f(int n, double *a)", "for (g = 0; g < n; g++) a[g] = more();", STRIPS), "ORIO-T024"),
        (source("void f(int n, double *a)", "for (i = 0; i < n; i++) a[i] = own;", "Parallelize()"), "ORIO-T041"),
        (source("void f(int n, double *a)", "for (i = 0; i < n; i++) a[i] = team;", "Parallelize()"), "ORIO-T041"),
        (source("void f(int n, double *a)", "for (i = 0; i < n; i++) a[i] = own;", "Vectorize()"), None),
        (
            source(
                "void f(int n, double *restrict a)",
                "for (i = 0; i < n; i++) a[i] = own;",
                "Composite(openmp=(True, 'omp parallel for'))",
            ),
            "ORIO-T041",
        ),
        (
            source("int f(int n, int *a)", "for (i = 0; i < n; i++) s = s > a[i] ? s : a[i];",
                   "UnrollReduction(ufactor=3)", "signed char s = 0;"),
            "ORIO-T054",
        ),
        (
            source("int f(int n, short *a)", "for (i = 0; i < n; i++) s = s > a[i] ? s : a[i];",
                   "UnrollReduction(ufactor=3)", "int s = 0;"),
            None,
        ),
    ],
)  # fmt: skip
def test_what_another_name_reaches(text: str, code: str | None) -> None:
    assert len(read_tasks(text)) == 1
    if code is None:
        transformed_file(text, {})
        return
    with pytest.raises(Refusal) as caught:
        transformed_file(text, {})
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert found.position is not None


HIDING = """#include <stdio.h>
static void fill(int n, double *restrict a)
{{
  {index} i;
  /*@ begin Loop(transform {recipe}) @*/
  for (i = 0; i < n; i++) {{
    {body}
  }}
  /*@ end @*/
}}
int main(void) {{ double a[9] = {{0}}; int k; fill(7, a); for (k = 0; k < 9; k++) printf("%g ", a[k]); return 0; }}
"""


@pytest.mark.parametrize(
    "recipe", ["Peel(first=1, last=2)", "Unroll(ufactor=3)", "Reverse()", "Peel(last=1)"]
)
@pytest.mark.parametrize(
    ("index", "body"),
    [
        ("int", "int n = i + 1; a[i] = n;"),
        ("short", "a[i] = sizeof(i) + i;"),
        ("short", "a[i] = sizeof(i + 0);"),
    ],
)
def test_a_name_of_the_bounds_means_another_thing_in_the_body(tmp_path, recipe, index, body) -> None:
    text = HIDING.format(recipe=recipe, index=index, body=body)
    before = compile_and_run(text, tmp_path, *checked())
    assert compile_and_run(transformed_file(text, {}), tmp_path, *checked()) == before


@pytest.mark.parametrize(
    ("element", "tested"),
    [("float", False), ("double", False), ("int", True), ("unsigned", True), ("char", True)],
)
def test_a_bound_that_is_a_member_has_the_members_type(element: str, tested: bool) -> None:
    text = f"""struct state {{ int size; {element} *window; }};
typedef struct state State;
void f(State *st, {element} *a) {{
  int i;
  /*@ begin Loop(transform {UNROLL}) @*/
  for (i = 0; i < st->size; i++) {{ a[i] = st->window[i]; st->window[i] = 0; }}
  /*@ end @*/
}}
"""
    found = transformed_file(text, {})
    assert ("(unsigned long)(st + 1) <= " in found) == tested
