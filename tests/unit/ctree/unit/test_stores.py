"""What calls of a file's functions may change outside them."""

from __future__ import annotations

import pytest

from orio_py.ctree.unit.stores import stores_of
from orio_py.ctree.unit.translation_unit import translation_unit

FILE = """
typedef struct { double *at; int w; } grid;
static double memory, table[4], *free_;
double other(double *);
FUNCTION
void region(int n, double *x) {
  /*@ begin Loop(transform Unroll(ufactor=2)) @*/
  for (int i = 0; i < n; i++)
    x[i] = f();
  /*@ end @*/
}
"""


@pytest.mark.parametrize(
    ("function", "variables", "places"),
    [
        ("double f(double x) { double y = x; y += 1; x = y; return x; }", "", ""),
        ("double f(double x) { memory += x; return x; }", "memory", ""),
        ("double f(int k) { return ++table[k]; }", "table", ""),
        ("double f(double memory) { memory = 2; return memory; }", "", ""),
        ("double f(void) { double table[2]; table[0] = 1; return table[0]; }", "", ""),
        ("void f(int n, double *p) { while (n--) *p++ = 1; }", "", "1"),
        ("double f(const double *p) { return *p++; }", "", ""),
        ("void f(double *p, double *q) { double *r = p; r[1] = 2; }", "", "0"),
        ("void f(grid *p, grid q) { p->w = q.w; }", "", "0"),
        ("void f(double p[2][3]) { p[1][2] = 0; }", "", "0"),
        ("void f(double *p, int n) { memset(p + 1, 0, n); }", "", "0"),
        ("void f(double *p, double *q) { memcpy(p, q, 8); }", "", "0"),
        ("void g(int k, double *p) { p[k] = 1; } void f(double *p) { g(3, &p[2]); }", "", "0"),
        ("void g(double *p) { *p = 1; } void f(void) { g(table); g(&memory); }", "memory table", ""),
        ("void g(void); void f(void) { g(); } void g(void) { memory = 0; f(); }", "memory", ""),
        ("void f(double *p) { other(p); }", "", ""),
        ("double f(void) { static double memory; return memory++; }", "", ""),
    ],
)
def test_what_a_call_may_change(function: str, variables: str, places: str) -> None:
    found = stores_of(translation_unit(FILE.replace("FUNCTION", function)))["f"]
    assert found.variables & {"memory", "table", "free_"} == set(variables.split())
    assert found.places == {int(place) for place in places}
