"""Functions of a file whose calls do nothing but compute a value, and what the code of a region knows of them."""

from __future__ import annotations

import pytest
from c_trees import read_tasks

from orio_py.ctree.nodes import OwnFunction
from orio_py.ctree.rewrite import walk
from orio_py.ctree.unit.translation_unit import translation_unit

FILE = """
#define LIMIT 3
enum { EDGE = 2 };
static const double table[2] = {{1, 2}};
static int calls; static double grid[4]; const int fixed = 4;
double there(double);
%s
void region(int n, double *a) {
  int i;
  /*@ begin Loop(transform Unroll(ufactor=2)) @*/
  for (i = 0; i < n; i++)
    a[i] = f(a[i]);
  /*@ end @*/
}
"""


@pytest.mark.parametrize(
    ("function", "is_pure"),
    [
        ("static double f(double x) { return x < LIMIT ? EDGE * x : fixed; }", True),
        ("double f(double x) { double s = 0; int i; for (i = 0; i < 3; i++) s += x; return s; }", True),
        ("double g(double x) { return sqrt(x); } double f(double x) { x += g(x); return x; }", True),
        ("double f(double x) { return table[x > 0]; }", True),
        ("double f(x) double x; { return -x; }", True),
        ("double f(double x) { double t[2]; t[0] = x; t[1] = t[0]; return t[1]; }", True),
        ("double f(double x) { return x + calls++; }", False),
        ("double f(double x) { return x + calls; }", False),
        ("double f(double x) { return x + grid[0]; }", False),
        ("double f(double x) { grid[0] = x; return x; }", False),
        ("double f(double x) { static int n; return x + n++; }", False),
        ("double f(double *x) { return *x; }", False),
        ("typedef struct { double *at; } row; double f(row r) { return r.at[0]; }", False),
        ("typedef struct { double x, y[2]; } point; double f(point r) { return r.x + r.y[1]; }", True),
        ("struct point { double x, *y; }; double f(struct point r) { return r.x; }", False),
        ("typedef enum { LEFT, RIGHT } side; double f(side x) { return x == LEFT; }", True),
        ("typedef double real; real f(real x) { return -x; }", True),
        ("enum side { LEFT }; double f(enum side x) { return x; }", True),
        (
            "typedef double (*curve)(double); double id(double x) { return x; }"
            " double f(curve g, double y) { return g == id ? 1 : y; }",
            True,
        ),
        ("typedef double (*curve)(double); double f(curve g) { return g(1); }", False),
        ("typedef double (*curve)(double); double f(curve exp) { return exp(1); }", False),
        ("double f(double (*exp)(double), double x) { return exp(x); }", False),
        ("typedef double *row; double f(row r) { return *r; }", False),
        ("double f(double x) { volatile double y = x; return y; }", False),
        ("double f(double x) { double *p = &x; return *p; }", False),
        ("double f(double x) { return there(x); }", False),
        ("double f(double x) { return x > 1 ? f(x - 1) : x; }", False),
        ("double sqrt(double x) { calls++; return x; } double f(double x) { return sqrt(x); }", False),
        ('double f(double x) { asm("nop"); return x; }', False),
    ],
)
def test_pure_functions(function: str, is_pure: bool) -> None:
    text = FILE.replace("{{", "{").replace("}}", "}").replace("%s", function)
    assert ("f" in translation_unit(text).pure_functions) == is_pure
    (task,) = read_tasks(text)
    found = [node.is_pure for node in walk(task.regions[0].tree) if isinstance(node, OwnFunction)]
    assert found == ([True] if is_pure else [])


@pytest.mark.parametrize(
    "around",
    [
        "static double sin(double x) { return x + calls++; }\n",
        "double sin(double);\n",
        "static double (*sin)(double) = there;\n",
    ],
)
def test_a_function_of_the_file_is_not_the_librarys_of_its_name(around: str) -> None:
    text = FILE.replace("{{", "{").replace("}}", "}").replace("%s", around).replace("f(a[i])", "sin(a[i])")
    (task,) = read_tasks(text)
    (found,) = [node for node in walk(task.regions[0].tree) if isinstance(node, OwnFunction)]
    assert (found.function, found.is_pure) == ("sin", False)


def test_a_large_function_keeps_its_secrets() -> None:
    body = "x += 1; " * 200
    text = (
        FILE.replace("{{", "{").replace("}}", "}").replace("%s", f"double f(double x) {{ {body} return x; }}")
    )
    assert translation_unit(text).pure_functions == set()
