"""Variables of the code as numbers: which numbers a type surely holds, how they are written, and clashes."""

from __future__ import annotations

import pytest
from c_trees import context, statement
from typed_variables import around, expression

from orio_py.ctree.emit import emit
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.types import is_narrow, narrow_range
from orio_py.transformation.versions.numbers import as_common_type, clash_with, typed_literal, version_with


def written(kind: str, value: int) -> str | None:
    number = typed_literal(kind, value)
    return None if number is None else emit_expression(number)


@pytest.mark.parametrize(
    ("kind", "least", "greatest"),
    [
        ("char", 0, 127),
        ("signed char", -128, 127),
        ("unsigned char", 0, 255),
        ("short", -32768, 32767),
        ("unsigned short", 0, 65535),
        ("_Bool", 0, 1),
        ("bool", 0, 1),
        ("int8_t", -128, 127),
        ("uint8_t", 0, 255),
        ("int16_t", -32768, 32767),
        ("uint16_t", 0, 65535),
        ("int", -(2**31) + 1, 2**31 - 1),
        ("unsigned", 0, 2**32 - 1),
        ("long", -(2**63) + 1, 2**63 - 1),
        ("unsigned long", 0, 2**64 - 1),
        ("long long", -(2**63) + 1, 2**63 - 1),
        ("unsigned long long", 0, 2**64 - 1),
        ("ptrdiff_t", -(2**31) + 1, 2**31 - 1),
        ("size_t", 0, 2**32 - 1),
        ("uint64_t", 0, 2**64 - 1),
        ("number_t", -32767, 32767),
    ],
)
def test_numbers_that_a_type_holds(kind: str, least: int, greatest: int) -> None:
    assert written(kind, least) is not None
    assert written(kind, greatest) is not None
    assert written(kind, least - 1) is None
    assert written(kind, greatest + 1) is None


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("int", 0, "0"),
        ("int", -3, "-3"),
        ("short", -3, "-3"),
        ("unsigned", 3, "3u"),
        ("long", -3, "-3L"),
        ("unsigned long", 3, "3UL"),
        ("long long", 3, "3LL"),
        ("unsigned long long", 3, "3ULL"),
        ("size_t", 3, "(size_t)3"),
        ("ptrdiff_t", -3, "(ptrdiff_t) -3"),
    ],
)
def test_numbers_as_they_are_written(kind: str, value: int, text: str) -> None:
    assert written(kind, value) == text


@pytest.mark.parametrize(
    ("kind", "ends"),
    [
        ("char", (-128, 255)),
        ("signed char", (-128, 127)),
        ("unsigned char", (0, 255)),
        ("short", (-32768, 32767)),
        ("_Bool", (0, 1)),
        ("int16_t", (-32768, 32767)),
        ("int", None),
        ("size_t", None),
    ],
)
def test_range(kind: str, ends: tuple[int, int] | None) -> None:
    assert narrow_range(kind) == ends


def test_narrow_types() -> None:
    assert is_narrow(CDeclaration("n", "short int"))
    assert not is_narrow(CDeclaration("n", "unsigned int"))


@pytest.mark.parametrize(
    ("code", "kind", "value", "version"),
    [
        ("t = a[n + 2] + n * m;", "int", 4, "t = a[6] + 4 * m;"),
        ("if (i < n) t = n;", "int", 4, "if (i < 4)\n  t = 4;"),
        # Decided by the number alone, here or everywhere.
        ("if (n > 3 && i < n) t = n;", "int", 4, "if (1 && i < 4)\n  t = 4;"),
        ("t = n - 1 == 3;", "int", 4, "t = 1;"),
        ("if (n < 3) t = i; else t = n;", "int", 4, "t = 4;"),
        ("{ t = 0; while (n < 3) t = i; }", "int", 4, "t = 0;"),
        ("t = (size_t)n - 5 > 7;", "int", 4, "t = (size_t)n - 5 > 7;"),
        ("t = -1L > n;", "unsigned", 0, "t = -1L > n;"),
        ("if (n > byte + 1 && n - (byte + 1) > 2) t = n; else t = 1;", "int", 0, "t = 1;"),
        # Decided by the type of the other side.
        ("if (u < n) t = n;", "unsigned", 0, "if (u < n)\n  t = 0u;"),
        ("if (u > n) t = n;", "unsigned", 0, "if (u > 0u)\n  t = 0u;"),
        ("if (i < n) t = n;", "unsigned", 0, "if (i < n)\n  t = 0u;"),
        ("if (byte < n) t = n;", "int", 300, "if (byte < n)\n  t = 300;"),
        ("if (byte < n) t = n;", "int", 200, "if (byte < 200)\n  t = 200;"),
        ("if (byte == n) t = n;", "int", -1, "if (byte == n)\n  t = -1;"),
        ("if (u < n) t = n;", "long", 2**33, "if (u < n)\n  t = 8589934592L;"),
        # Decided on some machines.
        ("if (u > n - 5) t = n;", "long", 4, "if (u > n - 5)\n  t = 4L;"),
        ("if (wide < n) t = n;", "unsigned", 0, "if (wide < n)\n  t = 0u;"),
        ("if (x < n) t = n;", "unsigned", 0, "if (x < 0u)\n  t = 0u;"),
    ],
)
def test_a_comparison_that_a_type_decides_keeps_the_variable(
    code: str, kind: str, value: int, version: str
) -> None:
    known = context(f"{kind} n; unsigned u; int i, t, m, *a; long wide; unsigned char byte; double x;")
    number = typed_literal(kind, value)
    assert number is not None
    assert emit(version_with(number, "n", statement(code), known)).rstrip() == version


@pytest.mark.parametrize(
    ("text", "value", "clashes"),
    [
        ("t = i / n;", 0, True),
        ("t = i / n;", 1, False),
        ("t = i % n;", 0, True),
        ("t /= n;", 0, True),
        ("t %= n;", 0, True),
        ("t += n;", 0, False),
        ("t = n / i;", 0, False),
        ("t = i / (n - 1);", 1, True),
        ("t = i / (n - 1);", 2, False),
        ("t = i / (n * m);", 0, True),
        ("t = i / (n * m);", 1, False),
        ("t = i / m;", 0, False),
        ("t = i / 0;", 0, False),
        ("t = n * n;", 46340, False),
        ("t = n * n;", 46341, True),
        ("t = n * n;", -46341, True),
        ("t = n + 1;", 2**31 - 2, False),
        ("t = n + 1;", 2**31 - 1, True),
        ("t = -2 - n;", 2**31 - 3, False),
        ("t = -2 - n;", 2**31 - 2, True),
        ("t = 65536 * 65536;", 1, False),
        ("t = 1 << n;", 31, False),
        ("t = 1 << n;", 32, True),
        ("t = 1 >> n;", 0, False),
        ("t = 1 >> n;", -1, True),
        ("t = 1 >> (n + m);", 99, False),
        ("t = n << 40;", 1, False),
        ("double z[n];", 1, False),
        ("double z[n];", 0, True),
        ("double z[n - 3];", 4, False),
        ("double z[n - 3];", 3, True),
        ("double z[n + m];", 0, True),
        ("double z[n + m];", 1, False),
        ("double z[m];", 0, False),
        ("double z[0];", 1, False),
    ],
)
def test_clash(text: str, value: int, clashes: bool) -> None:
    assert (clash_with(statement(text), "n", value, is_int=True) is not None) == clashes


def test_sums_of_wider_numbers_do_not_clash() -> None:
    assert clash_with(statement("t = n * n;"), "n", 46341, is_int=False) is None
    assert clash_with(statement("t = i / n;"), "n", 0, is_int=False) is not None


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
