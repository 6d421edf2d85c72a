"""What `static` in a parameter's extent promises holds only where the extent still says the same."""

import pytest
from c_trees import read_tasks

from orio_py.transform.context import context_for

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
