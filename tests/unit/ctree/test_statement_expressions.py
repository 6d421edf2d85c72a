"""Statement expressions of GNU C as expressions."""

from __future__ import annotations

import pytest

from orio_py.ctree.statement_expressions import as_expression, may_be_repeated


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("({ typeof(a) _a = (a); _a * _a; })", "(((( a ))) * ((( a ))))"),
        ("({ int n = x + 1; n; })", "(((int)(x + 1)))"),
        (
            "({ const unsigned char n = x; int m = n; m + n; })",
            "(((int)(((unsigned char)(x)))) + ((unsigned char)(x)))",
        ),
        ("({ __auto_type v = x; v; })", "(((x)))"),
        ("__extension__ ({ long v = x; v; })", "(((long)(x)))"),
        # What is no declaration of one variable with a value, or computes no value.
        ("({ int n = 1, m = 2; n + m; })", None),
        ("({ int n; n = x; n; })", None),
        ("({ int *p = x; *p; })", None),
        ("({ typeof(b) _a = (a); _a; })", None),
        ("({ int n = x; int n = y; n; })", None),
        ("({ f(x); x; })", None),
        ("({ int n = x; if (n) return 0; n; })", None),
        ("({ int n = x; })", None),
        ("(a + b)", None),
        ("{ a; }", None),
        ("", None),
    ],
)
def test_expression(body: str, expected: str | None) -> None:
    found = as_expression(body)
    assert (found or "").replace(" ", "") == (expected or "").replace(" ", "")
    assert (found is None) == (expected is None)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("(a + b) * sizeof(int) > -(c)", True),
        ("a == b ? (int)(x) : y[i]", True),
        ("i++", False),
        ("a = b", False),
        ("f (x)", False),
        ("({ a; })", False),
        ("a" + " + a" * 10_000, False),
    ],
)
def test_what_may_be_repeated(words: str, *, expected: bool) -> None:
    assert may_be_repeated(words) == expected
