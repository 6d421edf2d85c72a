"""The indentation of generated code is that of the file."""

from __future__ import annotations

import pytest

from orio_py.ctree.emit import indent_step


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("", "  "),
        ("int x;\n", "  "),
        ("void f(void)\n{\n    int i;\n    for (i = 0; i < 3; i++)\n        g();\n}\n", "    "),
        ("void f(void) {\n\tint i;\n\tif (i)\n\t\tg();\n}\n", "\t"),
        ("void f(void) {\n   int i;\n   if (i) {\n      g();\n   }\n}\n", "   "),
        ("/* a\n   * b */\nvoid f(int a,\n       int b) {\n  g(a,\n    b);\n  h();\n}\n", "  "),
        ("void f(void) { // {\n  if (x) // why\n    g();\n#define A {\n        h();\n}\n", "  "),
    ],
)
def test_the_most_frequent_step_counts(text: str, step: str) -> None:
    assert indent_step(text) == step
