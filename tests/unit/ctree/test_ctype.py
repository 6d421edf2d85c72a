"""C's arithmetic types, and the type that C computes an expression in: None where it depends on the machine."""

from __future__ import annotations

import pytest
from c_trees import context, statement

from orio_py.ctree.ctype import ctype, literal_type
from orio_py.ctree.nodes import Node, c_ast
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.storage.bound_replace import compared_type

AROUND = context(
    """int i, n, row[9], *p; unsigned u; long wide; unsigned long ul; long long huge; unsigned long long ull;
short tiny; unsigned char byte; char letter; _Bool flag; uint16_t word; uint32_t mask; size_t size; double x;
ptrdiff_t gap;""",
    macros={"COUNT": "(64)", "SUM": "n + 1"},
)


def expression(text: str) -> Node:
    result = statement(f"return {text};")
    assert isinstance(result, c_ast.Return)
    assert result.expr is not None
    return result.expr


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0", "int"),
        ("2147483647", "int"),
        ("2147483648", None),
        ("2147483647u", "unsigned"),
        ("2147483648u", "unsigned"),
        ("7L", "long"),
        ("7UL", "unsigned long"),
        ("7LL", "long long"),
        ("7ull", "unsigned long long"),
        ("0x10", "int"),
        ("'c'", "int"),
        ("1.5", "double"),
        ("COUNT", "int"),
        ("SUM", None),
        ("n", "int"),
        ("elsewhere", "int"),
        ("elsewhere[i]", None),
        ("row[i]", "int"),
        ("row", None),
        ("p", None),
        ("p[i]", "int"),
        ("x", "double"),
        ("tiny", "int"),
        ("byte", "int"),
        ("letter", "int"),
        ("flag", "int"),
        ("word", "int"),
        ("mask", "unsigned"),
        ("size", "size_t"),
        ("u", "unsigned"),
        ("-u", "unsigned"),
        ("~tiny", "int"),
        ("!u", "int"),
        ("wide << u", "long"),
        ("u >> wide", "unsigned"),
        ("u < wide", "int"),
        ("u && wide", "int"),
        ("n + u", "unsigned"),
        ("u + n", "unsigned"),
        ("n + wide", "long"),
        ("u + wide", None),
        ("wide + u", None),
        ("u + ul", "unsigned long"),
        ("u + huge", "long long"),
        ("ul + huge", None),
        ("wide + ul", "unsigned long"),
        ("huge + ull", "unsigned long long"),
        ("n * x", "double"),
        ("x * n", "double"),
        ("size + 1", "size_t"),
        ("1 + size", "size_t"),
        ("size + u", "size_t"),
        ("wide + size", "size_t"),
        ("size + huge", None),
        ("size + size", "size_t"),
        ("size + gap", None),
        ("i ? n : u", "unsigned"),
        ("i ? n : x", "double"),
        ("(long)n", "long"),
        ("(double)n", "double"),
        ("(short)n", "int"),
        ("(signed)n", "int"),
        ("min(n, wide)", None),
        ("g(n, wide)", None),
        ("n++", "int"),
    ],
)
def test_type_of_an_expression(text: str, kind: str | None) -> None:
    found = expression_type(expression(text), AROUND)
    assert (None if found is None else found.promoted.words) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("7", "int"),
        ("0x7fffffff", "int"),
        ("0x80000000", "unsigned"),
        ("020000000000", "unsigned"),
        ("4294967295u", "unsigned"),
        ("4294967296u", None),
        ("2147483648", None),
        ("2147483648LL", "long long"),
        ("0xffffffffL", None),
        ("9223372036854775807LL", "long long"),
        ("1e3", "double"),
        ("1e3f", "float"),
        ("1.L", "long double"),
        ("0x1p3", "double"),
        ("0xe", "int"),
    ],
)
def test_type_of_a_literal(text: str, kind: str | None) -> None:
    found = literal_type("int", text)
    assert (None if found is None else found.words) == kind


@pytest.mark.parametrize(
    ("text", "words", "limits"),
    [
        ("unsigned char", "unsigned char", (0, 255)),
        ("char", "char", (0, 127)),
        ("signed char", "signed char", (-128, 127)),
        ("int short unsigned", "unsigned short", (0, 65535)),
        ("signed", "int", (-(2**31), 2**31 - 1)),
        ("long int long unsigned", "unsigned long long", (0, 2**64 - 1)),
        ("long", "long", (-(2**31), 2**31 - 1)),
        ("_Bool", "_Bool", (0, 1)),
        ("uint64_t", "uint64_t", (0, 2**64 - 1)),
        ("size_t", "size_t", (0, 2**32 - 1)),
        ("double long", "long double", None),
        ("const volatile float", "float", None),
    ],
)
def test_words_and_limits_of_a_type(text: str, words: str, limits: tuple[int, int] | None) -> None:
    found = ctype(text)
    assert found is not None
    assert (found.words, found.limits) == (words, limits)


@pytest.mark.parametrize(
    "text", ["", "const", "struct point", "real", "long long long", "char int *", "short char"]
)
def test_other_types(text: str) -> None:
    assert ctype(text) is None


@pytest.mark.parametrize(
    ("kind", "index", "result"),
    [
        ("int", None, "int"),
        ("int", "int", "int"),
        ("int", "unsigned", "unsigned"),
        ("int", "size_t", "size_t"),
        ("long", "size_t", "size_t"),
        ("unsigned", "size_t", "size_t"),
        ("long", "unsigned", "long"),
        ("unsigned", "int", "unsigned"),
        ("long", "int", "long"),
        ("int", "long", "int"),
        ("int", "unsigned long", "unsigned long"),
        ("int", "ptrdiff_t", "int"),
    ],
)
def test_type_of_a_bound_beside_an_index(kind: str, index: str | None, result: str) -> None:
    found = ctype(kind)
    assert found is not None
    assert compared_type(found, None if index is None else ctype(index)).words == result


@pytest.mark.parametrize(
    ("text", "reach"),
    [
        ("char", (-128, 255)),
        ("unsigned short", (0, 65535)),
        ("int", (-(2**31), 2**31 - 1)),
        ("long", (-(2**63), 2**63 - 1)),
        ("size_t", (0, 2**64 - 1)),
        ("wchar_t", (-(2**63), 2**63 - 1)),
        ("float", None),
    ],
)
def test_the_values_that_a_type_has_on_some_machine(text: str, reach: tuple[int, int] | None) -> None:
    found = ctype(text)
    assert found is not None
    assert found.reach == reach


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("char", "signed char"),
        ("size_t", "unsigned long"),
        ("long long", "long"),
        ("uint16_t", "unsigned short"),
        ("off_t", "long"),
        ("double", "double"),
        ("wchar_t", None),
        ("int_fast16_t", None),
        ("double_t", None),
    ],
)
def test_the_type_on_lp64_systems(text: str, words: str | None) -> None:
    found = ctype(text)
    assert found is not None
    assert (None if found.lp64 is None else found.lp64.words) == words
