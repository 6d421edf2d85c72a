"""Bodies that may stand in the program more than once, and bounds that keep their values."""

from __future__ import annotations

import pytest
from c_trees import context, statement

from orio_py.ctree.loops import CanonicalLoop
from orio_py.transformation.base import Refusal
from orio_py.transformation.forms import bound_is_invariant, require_copyable


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a[i] = 0;", None),
        ("double t = a[i]; b[i] = t;", None),
        ("extern int t; b[i] = t;", None),
        ("static int t; b[i] = t;", "the `static` variable `t`"),
        ("if (i) { int k; static int t; b[i] = t; }", "the `static` variable `t`"),
        ("for (int k = 0; k < 3; k++) b[i] = k;", None),
        ("switch (i) { case 1: b[i] = 0; }", None),
        ("case 1: b[i] = 0;", "a `case` label of a `switch` outside the loop"),
        ("again: b[i] = 0;", "the label `again`"),
    ],
)
def test_copies(body: str, message: str | None) -> None:
    view = CanonicalLoop.match(statement(f"for (i = 0; i < n; i++) {{ {body} }}"))
    assert view is not None
    if message is None:
        require_copyable(view.body, "X")
        return
    with pytest.raises(Refusal) as caught:
        require_copyable(view.body, "X")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "ORIO-T026"
    assert message in diagnostic.message


@pytest.mark.parametrize(
    ("declared", "bound", "keeps"),
    [
        ("const int m;", "m", True),
        ("const unsigned short m;", "2 * m", True),
        ("int m;", "m", False),
        ("volatile const int m;", "m", False),
        ("const int *m;", "*m", False),
        ("const int (*m)[3];", "m[0][1]", False),
    ],
)
def test_numbers_that_nothing_may_write_keep_their_values_in_calls(
    declared: str, bound: str, keeps: bool
) -> None:
    view = CanonicalLoop.match(statement(f"for (i = 0; i < {bound}; i++) {{ f(i); x[i] = 0; }}"))
    assert view is not None
    around = context(f"{declared} int i; int *x;", exposed=frozenset({"m"}))
    assert bound_is_invariant(view, around) is keeps
