"""What `static` in a parameter's extent promises, where the extent still says the same; addresses that may be copied."""

import pytest
from c_trees import read_tasks

from orio_py.transformation.context import context_for

FUNCTION = """void f(int m, double h, const double x[static m * m], double *y)
{
  int i;
  %s
  /*@ begin Loop(transform Unroll(ufactor=2)) @*/
  for (i = 0; i < m; i++)
    y[i] = x[i];
  /*@ end @*/
  %s
}
"""


def promised(before: str = "", after: str = "", text: str = FUNCTION) -> bool:
    [task] = read_tasks(text % (before, after))
    [region] = task.regions
    return context_for(task, region).declarations["x"].promised


@pytest.mark.parametrize(
    ("before", "after"), [("", ""), ("h = m;", ""), ("if (m == 3 && h > m) y[0] = x[m];", "")]
)
def test_a_promise_holds(before: str, after: str) -> None:
    assert promised(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [("m = 3;", ""), ("m--;", ""), ("", "m += 2;"), ("g(&m);", ""), ("x = y;", ""), ("x++;", "")],
)
def test_a_promise_ends_where_something_changes(before: str, after: str) -> None:
    assert not promised(before, after)


@pytest.mark.parametrize(
    ("old", "new"), [("static m * m", "m * m"), ("static m * m", "static h_(m)"), ("int m", "double m")]
)
def test_other_extents_promise_nothing(old: str, new: str) -> None:
    assert old in FUNCTION
    assert not promised(text=FUNCTION.replace(old, new))


SPECIFIED = """void f(int m, const double *x, const double *z, double *y)
{
  int i;
  /*@ begin PerfTuning (
    def input_params { param m[] = [9]; param k[] = [3]; }
    def input_vars {
      decl dynamic double x[m*m] = random;
      decl dynamic double z[k*m] = random;
      decl static double y[m] = 0;
    }
  ) @*/
  %s
  /*@ begin Loop(transform Unroll(ufactor=2)) @*/
  for (i = 0; i < m; i++)
    y[i] = x[i] + z[i];
  /*@ end @*/
  /*@ end @*/
}
"""


def declarations(before: str = "") -> dict[str, tuple[tuple[str, ...], int, bool]]:
    [task] = read_tasks(SPECIFIED % before)
    [region] = task.regions
    known = context_for(task, region).declarations
    return {name: (known[name].dimensions, known[name].pointers, known[name].promised) for name in "xyz"}


def test_what_the_specification_declares_is_promised_for_parameters() -> None:
    """Where its extents are numbers and parameters: `k` is known to the test program alone."""
    assert declarations() == {"x": (("m*m",), 0, True), "y": (("m",), 0, True), "z": ((), 1, False)}


@pytest.mark.parametrize("before", ["m = 3;", "x = z;"])
def test_and_not_where_something_changes(before: str) -> None:
    assert declarations(before)["x"] == ((), 1, False)


def test_a_size_of_the_specification_assigns_nothing_in_the_code() -> None:
    """`param m = 9;` and `decl int m = 9;` are of the test program; a remark assigns nothing either."""
    sized = SPECIFIED.replace("param m[] = [9];", "param m = 9;") % "/* m = 3; */ // x = z;"
    assert "param m = 9;" in sized
    [task] = read_tasks(sized)
    known = context_for(task, task.regions[0]).declarations
    assert known["x"].promised
    assert known["x"].dimensions == ("m*m",)
    assert promised("/* m = 9; */")


MENTIONED = """void f(const double *x, double *y)
{
  int i;
  /*@ begin PerfTuning (
    def input_params { param N[] = [9, 10]; param K[] = [3]; }
    def input_vars { decl dynamic double x[N*N] = random; decl dynamic double y[K*N] = 0; }
  ) @*/
  %s
  /*@ begin Loop(transform Unroll(ufactor=2)) @*/
  for (i = 0; i < m; i++) y[i] = x[i];
  /*@ end @*/
  /*@ end @*/
}
"""


@pytest.mark.parametrize(
    ("before", "holds"), [("int m = N;", True), ("int N = 2, m = N;", False), ("int m = 9;", False)]
)
def test_a_size_that_the_code_itself_uses_is_known_there(before: str, holds: bool) -> None:
    """`N` has to be something for `int m = N;`; nothing in the code knows `K`."""
    [task] = read_tasks(MENTIONED % before)
    known = context_for(task, task.regions[0]).declarations
    assert (known["x"].promised, known["y"].promised) == (holds, False)


def test_code_that_only_an_annotation_holds_can_end_a_promise() -> None:
    other = "/*@ begin Loop(transform Unroll(ufactor=2) for (i = 0; i < 9; i++) m = 3; ) @*/ /*@ end @*/"
    with_other = FUNCTION % (other, "")
    regions = read_tasks(with_other)[-1].regions
    task = read_tasks(with_other)[-1]
    assert not context_for(task, regions[-1]).declarations["x"].promised
    own = FUNCTION.replace("ufactor=2)) @*/", "ufactor=2) for (i = 0; i < 9; i++) m = i; ) @*/")
    own = own.replace("  for (i = 0; i < m; i++)\n    y[i] = x[i];\n", "")
    assert "m = i;" in own
    assert not promised(text=own)


def test_memory_that_a_fragment_declares_has_its_extent() -> None:
    fragment = SPECIFIED[SPECIFIED.index("  /*@ begin PerfTuning") : SPECIFIED.rindex("}")] % "int i;"
    [task] = read_tasks(fragment)
    [region] = task.regions
    context = context_for(task, region)
    assert [context.declarations[name].promised for name in "xyz"] == [True, False, True]
    assert context.sizes == {"m": "int", "k": "int"}


ALLOCATED = """/*@ begin PerfTuning (def input_vars { decl dynamic double x[8]; decl int n = 8; }) @*/
double* t = (double*) malloc(n*sizeof(double));
%s
/*@ begin Loop(
  transform Unroll(ufactor=2)
  for (i = 0; i <= n - 1; i++) t[i] = x[i];
) @*/
/*@ end @*/
/*@ end @*/
"""


@pytest.mark.parametrize(
    ("after", "is_own"),
    [
        ("", True),
        ("t[0] = 3;", True),
        ("t = x;", False),
        ("t++;", False),
        ("g(&t);", False),
        ("t -= 2;", False),
    ],
)
def test_a_pointer_of_a_fragment_that_only_its_declaration_allocates(after: str, is_own: bool) -> None:
    [task] = read_tasks(ALLOCATED % after)
    assert context_for(task, task.regions[0]).declarations["t"].allocated is is_own


@pytest.mark.parametrize(
    ("use", "copied"),
    [
        ("", False),
        ("a[1][2] = 3; a[2][1]++;", False),
        ("double *q = *a;", True),
        ("double *q = 1 + *a;", True),
        ("double *q = a[1];", True),
        ("double *q = a[0] + 1;", True),
        ("double *q = *(a + 1);", True),
        ("double *q = &a[1][0];", True),
        ("double *q = &(*a)[1];", True),
        ("double (*q)[4] = a;", True),
        ("double (*q)[4] = &a[1];", True),
    ],
)
def test_the_address_of_an_array_or_a_row_may_be_copied(use: str, copied: bool) -> None:
    text = f"""double f(int n, double *x)
{{
  double a[4][4];
  {use}
  /*@ begin Loop(transform Parallelize()) @*/
  for (int i = 0; i < n; i++) a[i][0] = x[i];
  /*@ end @*/
  return a[0][0];
}}
"""
    (task,) = read_tasks(text)
    assert context_for(task, task.regions[0]).declarations["a"].copied is copied
