"""Which names may stand for the same memory, and what that means for verdicts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from c_trees import read_tasks

from orio_py.ctree.dependence.fusion import may_reverse
from orio_py.ctree.dependence.legality import (
    DependenceContext,
    Illegal,
    Legal,
    Unknown,
    Verdict,
    may_parallelise,
    may_reorder,
    may_vectorise,
)
from orio_py.ctree.loops import CanonicalLoop, loops_in, nest
from orio_py.transformation.recipe import context_for
from orio_py.transformation.verdicts import dependence_context


def parallel(parameters: str, body: str, **more: str) -> Verdict:
    """The verdict on a parallel loop in a function."""
    return answer(may_parallelise, parameters, body, **more)


def answer(
    question: Callable[[CanonicalLoop, DependenceContext], Verdict],
    parameters: str,
    body: str,
    *,
    outside: str = "",
    before: str = "",
    promise: str = "",
    bound: str = "100",
) -> Verdict:
    """The answer to a question about a loop in a function."""
    text = f"""{outside}
void f({parameters})
{{
  int i;
  {before}
  /*@ begin PerfTuning (
    def assumptions {{ {promise} }}
  ) @*/
  /*@ begin Loop(transform Unroll(ufactor=1)) @*/
  for (i = 0; i < {bound}; i++) {{
    {body}
  }}
  /*@ end @*/
  /*@ end @*/
}}
"""
    (task,) = read_tasks(text)
    (region,) = task.regions
    loop = CanonicalLoop.match(loops_in(region.tree)[0])
    assert loop is not None
    return question(loop, dependence_context(context_for(task, region)))


@pytest.mark.parametrize(
    "parameters",
    [
        "double *a, double *b",
        "double *a, const double *b",
        "double a[100], double b[100]",
        "double *a, double b[]",
        "unsigned *a, int *b",
        "unsigned long *a, long int *b",
        "char *a, int *b",
        "int *a, unsigned char *b",
        "size_t *a, unsigned long *b",
        "double *a, real *b",
        "double *a, double *restrict *b",
    ],
)
def test_pointers_may_overlap(parameters: str) -> None:
    read = "b[0][i]" if "*b" in parameters and "**" in parameters.replace("restrict ", "") else "b[i]"
    verdict = parallel(parameters, f"a[i] = {read};", outside="typedef double real;")
    assert isinstance(verdict, Unknown), parameters
    assert verdict.reason.startswith(f"`a[i]` (line 11) and `{read}` (line 11) may touch the same memory")
    assert "declare" in verdict.reason
    assert "`def assumptions { arg noalias = True; }`" in verdict.reason
    assert verdict.position is not None
    assert verdict.source is not None
    assert verdict.sink is not None


@pytest.mark.parametrize(
    "parameters",
    [
        "double *restrict a, double *b",
        "double *a, const double *restrict b",
        "double *__restrict a, double *b",
        "double *__restrict__ a, double *b",
        "double a[restrict 100], double b[100]",
        "double *a, float *b",
        "double *a, int *b",
        "short *a, int *b",
        "long *a, long long *b",
    ],
)
def test_restrict_and_types_keep_pointers_apart(parameters: str) -> None:
    assert parallel(parameters, "a[i] = b[i];") == Legal()


def test_declared_arrays_are_memory_of_their_own() -> None:
    assert parallel("int n", "g[i] = h[i];", outside="double g[100], h[100];") == Legal()
    assert parallel("double *a", "a[i] = w[i];", before="double w[100]; w[0] = 1;") == Legal()
    assert parallel("double *a", "a[i] = undeclared[i];") == Legal()


def test_pointers_and_global_arrays() -> None:
    verdict = parallel("double *a", "a[i] = g[i];", outside="double g[100];")
    assert isinstance(verdict, Unknown)
    assert "declare `a` `restrict`" in verdict.reason
    assert parallel("double *restrict a", "a[i] = g[i];", outside="double g[100];") == Legal()
    assert isinstance(parallel("int n", "g[i] = h[i];", outside="double *g, *h;"), Unknown)
    hidden = parallel("double *a", "a[i] = w[i];", before="static double w[100];")
    assert isinstance(hidden, Unknown)


def test_local_pointers_may_point_anywhere() -> None:
    assert isinstance(parallel("double *a", "a[i] = q[i];", before="double *q = a + 1;"), Unknown)
    # What is computed from a `restrict` pointer is allowed to overlap it (C99 6.7.3.1).
    assert isinstance(parallel("double *restrict a", "a[i] = q[i];", before="double *q = a + 1;"), Unknown)
    own = "double *restrict q = a + 1;"
    assert parallel("double *restrict a", "a[i] = q[i];", before=own) == Legal()
    local = "double w[100]; double *q = w + 1;"
    assert isinstance(parallel("int n", "w[i] = q[i];", before=local), Unknown)


def test_a_parameter_that_was_set_anew_may_be_based_on_another() -> None:
    assert isinstance(parallel("double *restrict a, double *b", "a[i] = b[i];", before="b = a + 1;"), Unknown)
    assert parallel("double *restrict a, double *b, int c", "a[i] = b[i];", before="c = b == a;") == Legal()


def test_pointers_in_memory() -> None:
    assert isinstance(parallel("double **a, double *b", "a[i][0] = b[i];"), Unknown)
    assert (
        parallel("double **a, double *restrict b", "a[i][0] = b[i];", promise="arg noalias = True;")
        == Legal()
    )
    assert parallel("double **a", "a[i][0] = a[i][1];") == Legal()
    struct = "struct vector { double *x, *y; };"
    fields = parallel("struct vector *p", "p->x[i] = p->y[i];", outside=struct)
    assert isinstance(fields, Unknown)
    assert "declare" not in fields.reason
    assert "promise it" in fields.reason


def test_members_that_point_to_arrays() -> None:
    struct = "typedef double row[3]; struct rows { double (*x)[3], (*y)[3]; row *z; double w[3]; };"
    for body in ("p->x[i][0] = p->y[i][1];", "p->x[i][0] = p->z[i][0];", "p->x[i][0] = p->w[1];"):
        assert isinstance(parallel("struct rows *p", body, outside=struct), Unknown), body
    assert parallel("struct rows *p", "p->x[i][0] = p->x[i][1];", outside=struct) == Legal()


def test_numbers_of_structures_behind_pointers() -> None:
    struct = """
        typedef double row[3]; typedef row matrix[3]; typedef int counts[3]; typedef double *rows[3];
        struct box { int n; row at; }; struct atoms { row *p; matrix *m; counts *c; rows *r; };
        struct all { struct box *box; struct atoms *atoms; };"""
    for target in ("p[i][0]", "m[i][0][1]"):
        body = f"s->atoms->{target} = s->box->n;"
        assert parallel("struct all *s", body, outside=struct) == Legal(), body
    for target in ("c[i][0]", "r[i][0][1]"):
        body = f"s->atoms->{target} = s->box->n;"
        assert isinstance(parallel("struct all *s", body, outside=struct), Unknown), body
    inside = parallel("struct all *s", "s->atoms->p[i][0] = s->box->at[1];", outside=struct)
    assert isinstance(inside, Unknown)


def test_fields_of_structs() -> None:
    struct = "struct point { double x, y; };"
    assert parallel("struct point *p", "p[i].x = p[i].y;", outside=struct) == Legal()
    assert parallel("struct point *p, struct point *q", "p[i].x = q[i].y;", outside=struct) == Legal()
    assert isinstance(
        parallel("struct point *p, struct point *q", "p[i].x = q[i].x;", outside=struct), Unknown
    )
    assert isinstance(parallel("struct point *p, double *q", "p[i].x = q[i];", outside=struct), Unknown)


def test_scalars_that_a_pointer_may_reach() -> None:
    assert isinstance(parallel("double *a", "a[i] = s;", outside="double s;"), Unknown)
    assert parallel("double *restrict a", "a[i] = s;", outside="double s;") == Legal()
    assert parallel("float *a", "a[i] = s;", outside="double s;") == Legal()
    assert parallel("double *a, double s", "a[i] = s;") == Legal()
    taken = "double s = 1; double *q = &s;"
    assert isinstance(parallel("int n", "q[i] = s;", before=taken), Unknown)
    assert parallel("double *a", "a[i] = s;", before="double s = 1;") == Legal()


def test_bounds_and_indices_that_a_pointer_may_reach() -> None:
    verdict = parallel("int *a", "a[i] = 0;", outside="int m;", bound="m")
    assert isinstance(verdict, Unknown)
    assert "write through another pointer may change" in verdict.reason
    assert parallel("int *restrict a", "a[i] = 0;", outside="int m;", bound="m") == Legal()
    rows = "for (int k = p[i]; k < p[i + 1]; k++) a[k] = 0;"
    assert isinstance(parallel("int *a, int *p", rows), Unknown)
    index = "for (j = 0; j < 5; j++) a[i] = 0;"
    assert isinstance(parallel("int *a", index, outside="int j;"), Unknown)


def test_promises() -> None:
    body = "a[i] = b[i] + c[i];"
    pointers = "double *a, double *b, double *c"
    assert parallel(pointers, body, promise="arg noalias = True;") == Legal()
    assert parallel(pointers, body, promise="arg noalias = ['a'];") == Legal()
    assert parallel(pointers, body, promise="arg noalias = ['b', 'c'];") == Legal()
    assert isinstance(parallel(pointers, body, promise="arg noalias = ['b'];"), Unknown)


def test_what_only_reads_never_matters() -> None:
    assert parallel("double *restrict a, double *b, double *c", "a[i] = b[i] + c[i];") == Legal()


def test_a_certain_dependence_comes_before_a_possible_one() -> None:
    verdict = parallel("double *a, double *b", "a[i] = a[i - 1] + b[i];")
    assert isinstance(verdict, Illegal)


def test_every_pair_of_writes_counts() -> None:
    text = """void f(int n, double *a, double *b)
{
  int i, j;
  /*@ begin Loop(transform Unroll(ufactor=1)) @*/
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++) {
      a[i] = 1;
      b[j] = 2;
    }
  /*@ end @*/
}
"""
    (task,) = read_tasks(text)
    (region,) = task.regions
    outer = CanonicalLoop.match(loops_in(region.tree)[0])
    assert outer is not None
    verdict = may_reorder(nest(outer), (1, 0), dependence_context(context_for(task, region)))
    assert isinstance(verdict, Unknown)
    assert "`a[i]` (line 7) and `b[j]` (line 8)" in verdict.reason


UNIONS = """typedef union { float f; int n; float *p; } word;
struct cell { int tag; union { double d; long l[2]; double *p; } u; };
struct anon { int tag; union { double d; long l; struct { float x, y; }; }; };"""


@pytest.mark.parametrize(
    ("parameters", "body", "name"),
    [
        ("word *w", "w[i].f = i; w[i + 1].n = 3;", "w.f"),
        ("word *w", "x[i] = w[i + 1].f; w[i].n = 3;", "w.f"),
        ("struct cell *w", "w[i].u.d = i; w[i + 1].u.l[1] = 3;", "w.u.d"),
        ("struct anon *w", "w[i].x = i; w[i + 1].l = 3;", "w.d"),
        ("struct anon *w", "w->d += w[i].y;", "w.d"),
    ],
)
def test_members_of_unions_are_the_same_memory(parameters: str, body: str, name: str) -> None:
    found = parallel(f"{parameters}, float *restrict x", body, outside=UNIONS)
    assert isinstance(found, Illegal)
    assert found.name == name


@pytest.mark.parametrize(
    ("parameters", "body"),
    [
        ("word *w", "w[i].f = i; w[i].n += 3;"),
        ("struct cell *w", "w[i].u.d = 2; w[i].u.l[1] += 3; w[i + 1].tag = i;"),
        ("struct anon *w", "w[i].x = i; x[i] = w[i].l; w[i + 1].tag = 3;"),
    ],
)
def test_unions_of_different_elements_are_apart(parameters: str, body: str) -> None:
    assert parallel(f"{parameters}, float *restrict x", body, outside=UNIONS) == Legal()


@pytest.mark.parametrize(
    ("parameters", "body", "part"),
    [
        ("word *w, word *v", "w[i].f = v[i].n;", "may overlap"),
        ("word *w, long *v", "w[i].f = v[i];", "may overlap"),
        ("struct cell *w", "w[i].u.p[i] = 3;", "follows a pointer in a union"),
        ("word *w", "w[0].p[i] = 3;", "follows a pointer in a union"),
        ("unknown *w", "w[i].f = w[i].n;", "may overlap"),
        ("union unknown *w", "w[i].f = w[i].n;", "is a union"),
    ],
)
def test_what_a_union_may_hide(parameters: str, body: str, part: str) -> None:
    found = parallel(parameters, body, outside=UNIONS)
    assert isinstance(found, Unknown)
    assert part in found.reason


def test_a_promise_does_not_take_the_members_of_a_union_apart() -> None:
    found = parallel("word *w", "w[i].f = i; w[i + 1].n = 3;", outside=UNIONS, promise="arg noalias = True;")
    assert isinstance(found, Illegal)


FLAGS = "struct flags { unsigned a : 4, b : 4; int c; int d : 3; unsigned : 0; int e : 3; struct { int f : 2; } in; };"


@pytest.mark.parametrize(
    ("body", "is_race"),
    [
        ("w[i].a = i; w[i + 1].b = 3;", True),
        ("x[i] = w[i + 1].a; w[i].b = 3;", True),
        ("w->a = i; if (w->b) x[i] = 2;", True),
        ("w[i].a = i; w[i].b = 3;", False),
        ("w[i].b = i; w[i + 1].c = 3;", False),
        ("w[i].d = i; w[i + 1].e = 3;", False),
        ("w[i].e = i; w[i + 1].in.f = 1;", False),
        ("x[i] = w[i + 1].a + w[i].b;", False),
    ],
)
def test_bit_fields_share_memory_locations_with_their_neighbours(body: str, is_race: bool) -> None:
    found = parallel("struct flags *restrict w, float *restrict x", body, outside=FLAGS)
    assert isinstance(found, Illegal if is_race else Legal)
    if isinstance(found, Illegal):
        assert "the bit field `w.a` shares with its neighbours (C11 3.14)" in found.message


@pytest.mark.parametrize(("question", "is_race"), [(may_vectorise, True), (may_reverse, False)])
def test_one_iteration_after_the_other_bit_fields_are_apart(
    question: Callable[[CanonicalLoop, DependenceContext], Verdict], is_race: bool
) -> None:
    body = "w[i + 1].a = i; x[i] = w[i].b;"
    found = answer(question, "struct flags *restrict w, int *restrict x", body, outside=FLAGS)
    assert isinstance(found, Illegal if is_race else Legal)
