"""The type that C computes an expression in, and operands of `?:` in the type of the whole."""

from __future__ import annotations

import pytest
from typed_variables import around, expression

from orio_py.ctree.emit_expression import emit_expression
from orio_py.transformation.conversions import as_common_type


@pytest.mark.parametrize(
    ("taken", "other", "written"),
    [
        ("1u", "7L", None),
        ("7", "u", "7u"),
        ("u", "7", "u"),
        ("7", "size", "(size_t)7"),
        ("7", "(size_t)2", "(size_t)7"),
        ("7", "2UL", "7UL"),
        ("7", "wide", "7L"),
        ("wide", "7", "wide"),
        ("n", "wide", None),
        ("byte", "n", "byte"),
        ("7", "byte", "7"),
        ("x", "a[0]", "x"),
        ("x", "f", "x"),
        ("1.0", "x", "1.0"),
        ("1.0", "f", "1.0"),
        ("1", "x", None),
        ("other(n)", "other(n)", "other(n)"),
        ("other(n)", "n", None),
        ("exact", "exact", "exact"),
        ("exact", "7", "exact"),
        ("'a'", "n", "'a'"),
    ],
)
def test_the_operand_of_a_choice_has_the_type_of_the_choice(
    taken: str, other: str, written: str | None
) -> None:
    result = as_common_type(expression(taken), expression(other), around())
    assert (None if result is None else emit_expression(result)) == written
