"""Functions whose bodies can stand where they are called, and which of them change memory."""

from __future__ import annotations

import pytest

from orio_py.ctree.unit.callees import callees
from orio_py.ctree.unit.translation_unit import translation_unit

FILE = """
typedef struct {{ double *at; struct in {{ double *q; }} in; int w; }} grid;
static double memory;
{function}
void region(int n, double *x) {{
  /*@ begin Loop(transform Unroll(ufactor=2)) @*/
  for (int i = 0; i < n; i++)
    x[i] = f();
  /*@ end @*/
}}
"""


@pytest.mark.parametrize(
    ("function", "stores"),
    [
        ("double f(double x) { double y = x; y += 1; return y; }", False),
        ("double f(double x) { double t[2][2]; t[0][1] = x; return t[0][1]; }", False),
        ("double f(grid g) { g.w = 3; return g.w; }", False),
        ("double f(const double *p) { return p++[0]; }", False),
        ("double f(void) { return memory; }", False),
        ("double f(void) { return memory++; }", True),
        ("double f(grid g) { *g.at = 1; return 1; }", True),
        ("double f(grid g) { g.in.q[1] = 1; return 1; }", True),
        ("double f(grid *g) { g->w = 3; return 1; }", True),
        ("double f(double *p) { *p++ = 1; return 1; }", True),
        ("double f(double *p) { double *q = p; q[0] = 1; return 1; }", True),
        ("double f(double **p) { double *q = *p; *q += 1; return 1; }", True),
        ("double f(grid g) { double *q = g.at; q[1] = 2; return 1; }", True),
        ("double g(double *p) { *p = 1; return 1; } double f(double *p) { return g(p); }", True),
        ("double f(short r) { short s; memcpy(&s, &r, sizeof(short)); return s; }", False),
        ("double f(short r) { short s; memcpy(&s, &r, sizeof s); return memory; }", False),
        ("double other(double); double f(double x) { return other(x); }", True),
        # These have no body that could stand there.
        ("double f(int row) { int *p = &row; row -= 1; return *p; }", None),
        ("double f(float r) { int s; memcpy(&s, &r, sizeof s); return s; }", None),
        ("double f(short r) { short s; if (r) memcpy(&s, &r, sizeof s); else s = 1; return s; }", False),
        ("double f(short r) { short s; char *p = memcpy(&s, &r, sizeof s); return p != 0; }", None),
        ("double f(short r) { short s; memcpy(&s, &r, 1); return s; }", None),
        ("double f(short r) { short s; memcpy(&s, &r, sizeof(int)); return s; }", None),
        ("double f(int x) { static int n; return n++; }", None),
        ("double f(int x, ...) { return x; }", None),
        ("double *f(double *x) { return x; }", None),
        ("double f(int x) { again: if (x--) goto again; return x; }", None),
    ],
)
def test_what_a_function_changes(function: str, stores: bool | None) -> None:
    unit = translation_unit(FILE.replace("{{", "{").replace("}}", "}").replace("{function}", function))
    found = callees(unit, {"f"}, {"memory"}, frozenset(), {}).get("f")
    assert (None if found is None else found.stores) == stores


@pytest.mark.parametrize(
    ("function", "is_place"),
    [
        ("double *f(grid *g, int i) { return g->at + i; }", True),
        ("double *f(grid *g, int i) { return (double *)(g->at + i); }", True),
        ("const double *f(const grid *g, int i) { return (const double *)(g->at + i); }", True),
        ("float *f(grid *g, int i) { return (float *)(g->at + i); }", False),
        ("double *f(char *g, int i) { return (double *)(g + i); }", False),
        ("double *f(grid *g, int i) { return (double *)(&g->w + i); }", False),
        ("double **f(grid *g, int i) { return (double **)(g->at + i); }", False),
    ],
)
def test_functions_that_give_back_places_of_elements(function: str, is_place: bool) -> None:
    unit = translation_unit(FILE.replace("{{", "{").replace("}}", "}").replace("{function}", function))
    found = callees(unit, {"f"}, {"memory"}, frozenset(), {}).get("f")
    assert (found is not None and found.place is not None) == is_place


def test_a_name_that_is_hidden_keeps_a_body_away() -> None:
    text = FILE.replace("{{", "{").replace("}}", "}")
    unit = translation_unit(text.replace("{function}", "double f(void) { return memory; }"))
    assert "f" in callees(unit, {"f"}, {"memory"}, frozenset(), {})
    assert "f" not in callees(unit, {"f"}, {"memory"}, frozenset({"memory"}), {})
    assert "f" not in callees(unit, {"f"}, (), frozenset(), {})
