"""Which addresses something may keep: what functions do with pointers to numbers, and what calls hand to them."""

from __future__ import annotations

import pickle

import pytest

from orio_py.core.source import SourceFile, Span
from orio_py.ctree.file_scope import FileScope, surroundings
from orio_py.ctree.unit.translation_unit import translation_unit

REGION = "/*@ begin Loop(transform Unroll(ufactor=2)) @*/ for (i = 0; i < 9; i++) x[i] = v; /*@ end @*/"


def around(functions: str, before: str, after: str = "") -> FileScope:
    """What a region sees of its file."""
    text = f"{functions}\nvoid go(double *x) {{ int i; double v = 0, u; {before} {REGION} {after} }}\n"
    start = text.index("/*@ begin")
    return surroundings(SourceFile("a.c", text.encode()), Span(start, text.index("end @*/") + len("end @*/")))


@pytest.mark.parametrize(
    ("function", "places"),
    [
        ("void f(double *p, int n, float *q) { *p = q[n]; }", {0, 2}),
        ("void f(double *p) { if (p) *p = sizeof(p); if (!p || p != 0) p[1]++; }", {0}),
        ("void f(double *p) { double *q = p; *q = 1; }", set()),
        ("void f(double *p) { p++; *p = 1; }", set()),
        ("double *f(double *p) { return p; }", set()),
        ("double *kept; void f(double *p) { kept = &p[0]; }", set()),
        ("void g(double *); void f(double *p) { g(p); }", set()),
        ("void f(double *p) { { double *p = 0; *p = 1; } }", set()),
        ("struct s { double v; }; void f(struct s *p) { p->v = 1; }", set()),
        ("void f(double **p) { **p = 1; }", set()),
        ("void g(double *q) { *q = 1; } void f(double *p) { g(p); }", {0}),
        ("double *kept; void g(double *q) { kept = q; } void f(double *p) { g(p); }", set()),
        ("void f(double *p, int n) { if (n) f(p, n - 1); *p += n; }", {0}),
        (
            "void g(double *, int); void f(double *p, int n) { g(p, n); } void g(double *p, int n) { f(p, n); }",
            {0},
        ),
    ],
)
def test_parameters_that_a_function_only_follows(function: str, places: set[int]) -> None:
    unit = translation_unit(f"{function}\nvoid go(double *x) {{ int i; f; {REGION.replace('= v', '= 1')} }}")
    assert unit.borrowed_parameters().get("f", frozenset()) == places


BORROWS = "void f(double a, double *p) { *p = a; }"


@pytest.mark.parametrize(
    ("functions", "before", "exposed"),
    [
        (BORROWS, "f(1, &v);", set()),
        (BORROWS, "f(v, &v); f(2, &v);", set()),
        (BORROWS, "double *q = &v; f(1, &v); *q = 2;", {"v"}),
        (BORROWS, "f(1, &v + 0);", {"v"}),
        ("void f(double, double *);", "f(1, &v);", {"v"}),
        ("double *kept; void f(double a, double *p) { kept = p; }", "f(1, &v); f(1, &u);", {"u", "v"}),
        (BORROWS, "void (*f)(double, double *) = 0; f(1, &v);", {"v"}),
    ],
)
def test_what_something_may_point_to(functions: str, before: str, exposed: set[str]) -> None:
    near = around(functions, before)
    assert near.flow is not None
    assert near.flow.exposed_before(near.inside) == exposed


@pytest.mark.parametrize(
    ("before", "exposed"),
    [
        ("norm(&x[i]);", set()),
        ("norm(&x[i], &(*x), &x[(int)x[0]]);", set()),
        ("norm(&x[i], &x);", {"x"}),
        ("double **q = &x; norm(&q[1][2], &x[3]);", {"x"}),
        ("double w[4]; norm(&w[1]);", {"w"}),
        ("struct s { double m, w[3]; } *p = 0; norm(&p->m, &p->w[1], &p[2].m);", set()),
        ("struct s { double m, *q; } p; norm(&p.m);", {"p"}),
        ("struct s { double m, *q; } p; norm(&p.q[2]);", {"p"}),
    ],
)
def test_the_address_of_an_element_is_none_of_the_pointer(before: str, exposed: set[str]) -> None:
    near = around("void norm();", before)
    assert near.flow is not None
    pointers = {"x", "q"} | ({"p"} if "*p" in before else set())
    assert near.flow.exposed_before(near.inside, pointers) == exposed
    assert near.flow.exposed_before(near.inside) >= exposed


def test_a_call_that_borrows_reads_what_it_is_lent() -> None:
    near = around("double f(double *p) { return *p; }", "", "x[0] = f(&v); f(&u);")
    assert near.flow is not None
    assert near.flow.live_after("v", near.inside)
    assert near.flow.live_after("u", near.inside)
    assert not near.flow.is_exposed("v", near.inside)


def test_a_unit_whose_functions_are_known_travels_to_other_processes() -> None:
    near = around(BORROWS, "f(1, &v);")
    assert near.flow is not None
    copy = pickle.loads(pickle.dumps(near))
    assert copy.flow.exposed_before(copy.inside) == frozenset()
    assert copy.unit.functions["go"].flow.is_allocated("x", copy.inside) is False
