"""Variables of many types, and expressions over them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from c_trees import context, statement

from orio_py.ctree.nodes import Node, c_ast
from orio_py.transformation.base import Context

DECLARATIONS = """int i, n, m, row[9], *p, grid[4][4]; unsigned u, v, many[9]; long wide; long long longest; unsigned long ul; size_t size;
unsigned char byte; unsigned short word; short tiny; char letter; signed char small; _Bool flag; int64_t exact;
uint8_t octet; double x, a[9]; float f; real_t strange; volatile int w;"""


AROUND = context(DECLARATIONS)


def around(**fields: Any) -> Context:
    return replace(AROUND, **fields)


def expression(text: str) -> Node:
    result = statement(f"return {text};")
    assert isinstance(result, c_ast.Return)
    assert result.expr is not None
    return result.expr
