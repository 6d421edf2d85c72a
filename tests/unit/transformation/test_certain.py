"""Tests that hold whatever the values are, and what stands behind those that may fail."""

from __future__ import annotations

import pytest
from c_trees import statement
from typed_variables import around, expression

from orio_py.ctree.emit import emit
from orio_py.transformation import certain_conditions


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("n <= n", True),
        ("n >= n", True),
        ("n < n", False),
        ("n > n", False),
        ("u >= 0", True),
        ("0 <= u", True),
        ("u >= 1", False),
        ("u <= 0", False),
        ("0 >= u", False),
        ("u > 0", False),
        ("n >= 0", False),
        ("0 <= n", False),
        ("n >= 0u", True),
        ("n >= 0UL", True),
        ("sizeof(int) + n >= 0", True),
        ("n - +sizeof(int) >= 0", True),
        ("longest + sizeof(int) >= 0", False),
        ("small - size >= 0", True),
        ("size * small % 3 >= 0", True),
        ("wide + size >= 0", True),
        ("wide + u >= 0", False),
        ("longest - ul >= 0", False),
        ("u + 1L >= 0", False),
        ("u + 'a' >= 0", True),
        ("n - 1ul >= 0", True),
        ("n - elsewhere >= 0", False),
        ("n - exact >= 0", False),
        ("(unsigned)n + n >= 0", True),
        ("(unsigned char)n - n >= 0", False),
        ("u - 1.5 >= 0", False),
        ("size / x >= 0", False),
        ("size << n >= 0", True),
        ("(n & sizeof(int)) >= 0", True),
        ("+u >= 0", True),
        ("+word >= 0", True),
        ("-word >= 0", False),
        ("wide >= 0u", False),
        ("wide >= (unsigned)0", False),
        ("wide >= 0UL", True),
        ("wide >= (size_t)0", True),
        ("longest >= 0UL", False),
        ("elsewhere >= 0u", False),
        ("u >= (long)0", True),
        ("n >= (unsigned)0", True),
        ("byte >= 0", True),
        ("word >= 0", True),
        ("tiny >= 0", False),
        ("(long)u >= 0", True),
        ("(long)(u - v) >= 0", True),
        ("(int)u >= 0", False),
        ("(long)n >= 0", False),
        ("(long)size >= 0", False),
        ("(long)(u - 1) >= 0", True),
        ("(long)(u - size) >= 0", False),
        ("u", False),
    ],
)
def test_tests_that_say_nothing(text: str, true: bool) -> None:
    assert certain_conditions.is_always_true(expression(text), around()) == true


def test_only_what_can_fail_is_tested() -> None:
    then = statement("a[0] = 1;")
    never, first, second = (expression(text) for text in ("u >= 0", "n > 0", "m > 1"))
    assert certain_conditions.if_all([never], then, around()) is then
    assert certain_conditions.if_all([], then, around()) is then
    assert emit(certain_conditions.if_all([first, never, second], then, around())).startswith(
        "if (n > 0 && m > 1)"
    )


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("byte < 0", True),
        ("0 > byte", True),
        ("u < 0", True),
        ("n < 0", False),
        ("n < n", True),
        ("n > n", True),
        ("n <= n", False),
        ("byte <= 0", False),
        ("byte > 0", False),
        ("0 < byte", False),
        ("byte", False),
    ],
)
def test_tests_that_never_hold(text: str, never: bool) -> None:
    assert certain_conditions.never_holds(expression(text), around()) == never
