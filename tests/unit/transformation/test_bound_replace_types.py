"""Types of bounds that become constants: the type that C computes an expression in, None where that is unsure."""

from __future__ import annotations

import pytest
from c_trees import context, statement

from orio_py.ctree.nodes import Node, c_ast
from orio_py.transformation.storage.bound_replace_types import compared_type, expression_type

AROUND = context(
    """int i, n, row[9], *p; unsigned u; long wide; unsigned long ul; long long huge; unsigned long long ull;
short tiny; unsigned char byte; char letter; _Bool flag; uint16_t word; uint32_t mask; size_t size; double x;
ptrdiff_t gap;""",
    macros={"COUNT": "(64)", "SUM": "n + 1"},
    function_macros=frozenset({"max"}),
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
        ("2147483648u", None),
        ("7L", "long"),
        ("7UL", "unsigned long"),
        ("7LL", "long long"),
        ("7ull", "unsigned long long"),
        ("0x10", None),
        ("'c'", "int"),
        ("1.5", None),
        ("COUNT", "int"),
        ("SUM", None),
        ("n", "int"),
        ("elsewhere", "int"),
        ("elsewhere[i]", None),
        ("row[i]", "int"),
        ("row", None),
        ("p", None),
        ("p[i]", "int"),
        ("x", None),
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
        ("!u", None),
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
        ("n * x", None),
        ("x * n", None),
        ("size + 1", "size_t"),
        ("1 + size", "size_t"),
        ("size + u", None),
        ("size + size", "size_t"),
        ("size + gap", None),
        ("i ? n : u", "unsigned"),
        ("i ? n : x", None),
        ("(long)n", "long"),
        ("(double)n", None),
        ("(short)n", "int"),
        ("(signed)n", "int"),
        ("max(n, wide)", "long"),
        ("max(n, x)", None),
        ("min(n, wide)", None),
        ("g(n, wide)", None),
        ("n++", None),
    ],
)
def test_type_of_an_expression(text: str, kind: str | None) -> None:
    assert expression_type(expression(text), AROUND.declarations, AROUND) == kind


@pytest.mark.parametrize(
    ("kind", "index", "result"),
    [
        ("int", None, "int"),
        ("int", "int", "int"),
        ("int", "unsigned", "unsigned"),
        ("int", "size_t", "size_t"),
        ("long", "size_t", "size_t"),
        ("unsigned", "size_t", "unsigned"),
        ("long", "unsigned", "long"),
        ("unsigned", "int", "unsigned"),
        ("long", "int", "long"),
        ("int", "long", "int"),
        ("int", "unsigned long", "unsigned long"),
        ("int", "ptrdiff_t", "int"),
    ],
)
def test_type_of_a_bound_beside_an_index(kind: str, index: str | None, result: str) -> None:
    assert compared_type(kind, index) == result
