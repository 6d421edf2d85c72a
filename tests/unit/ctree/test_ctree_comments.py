"""Every comment of a region comes out exactly once, and none changes the code."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orio_py.core.source import SourceFile
from orio_py.ctree.emit import emit
from orio_py.ctree.equal import equal
from orio_py.ctree.lexer import TokenKind, scan
from orio_py.ctree.nodes import Comment, Compound, Node
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.rewrite import Replacement, Rewriter

BASES = [
    "for (i = 0; i < n; i++) for (j = 0; j < n; j++) { a[i] = b[j] * (c + 1); d = 2; }",
    "if (x) { y = 1; } else if (z) y = f(1, 2); else { y = 3; }",
    "if (x) if (y) z = 1; else z = 2;",
    "do { x = 1; } while (y); do x++; while (y); while (z) { }",
    "switch (x) { case 1: y = 1; case 2: case 3: { y = 2; } break; default: y = 3; }",
    "again: x = (struct s){1, .y = 2}; goto again;",
    "int v[2] = {1, 2}, *p = &v[0]; struct s { int a; double b; } w; { int t; t = 1; }",
    "#pragma omp parallel for\nfor (i = 0; i < n; i++)\n#pragma omp simd\nfor (j = 0; j < n; j++) x[i] = sizeof(int);\n",
    "for (;;) ; return;",
    "do if (x) y = 1; else y = 2; while (z); x = 1;",
]


def parse(text: str) -> Compound:
    return parse_statements(text, source=SourceFile("t.c", text.encode("latin-1")), start=0)


class _WithoutComments(Rewriter):
    def visit_Comment(self, node: Comment) -> Replacement:
        return []


def bare(node: Node) -> Node:
    return _WithoutComments().rewrite(node)


def comments_of(text: str) -> list[str]:
    return [re.sub(r"\s+", " ", t.text).strip() for t in scan(text) if t.kind is TokenKind.COMMENT]


@given(st.sampled_from(BASES), st.data())
@settings(max_examples=400, deadline=None)
def test_comments_anywhere_come_out_once(base: str, data: st.DataObject) -> None:
    tokens = scan(base)
    places = data.draw(st.lists(st.integers(0, len(tokens)), min_size=1, max_size=6))
    pieces: list[str] = []
    number = 0
    for index in range(len(tokens) + 1):
        for _ in range(places.count(index)):
            number += 1
            shape = data.draw(
                st.sampled_from(["/* {} */", "// {}\n", "\n/* {} */\n", "\n  // {}\n", "/* {}\n    x */"])
            )
            pieces.append(shape.format(f"comment {number}"))
        if index < len(tokens):
            line = "\n" if tokens[index].kind is TokenKind.DIRECTIVE else ""
            pieces.append(line + tokens[index].text + line)
    text = " ".join(pieces)
    tree = parse(text)
    out = emit(tree)
    assert sorted(comments_of(out)) == sorted(comments_of(text)), out
    assert equal(bare(tree), parse(base)), out
    again = parse(out)
    assert equal(again, tree), out
    assert emit(again) == out


def layout(text: str) -> str:
    return emit(parse(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1; // set\n", "a = 1; // set\n"),
        ("// lead\na = 1;\n", "// lead\na = 1;\n"),
        ("a = 1; /* b next */ b = 2;", "a = 1;\n/* b next */\nb = 2;\n"),
        ("{ a = 1;\n /* last */ }", "{\n  a = 1;\n  /* last */\n}\n"),
        ("for (;;) /* c */ { a = 1; }", "for (;;) { /* c */\n  a = 1;\n}\n"),
        ("for (;;)\n// c\n{ a = 1; }", "for (;;) { // c\n  a = 1;\n}\n"),
        ("for (;;) /* c */ a = 1;", "/* c */\nfor (;;)\n  a = 1;\n"),
        ("if (a) { b = 1; } else /* c */ { b = 2; }", "if (a) {\n  b = 1;\n} else { /* c */\n  b = 2;\n}\n"),
        ("if (a) { b = 1; } /* c */ else { b = 2; }", "if (a) {\n  b = 1;\n} else { /* c */\n  b = 2;\n}\n"),
        ("if (a) b = 1; /* c */ else b = 2;", "/* c */\nif (a)\n  b = 1;\nelse\n  b = 2;\n"),
        ("a = b + /* c */ 1;", "/* c */\na = b + 1;\n"),
        ("for (;;) a = 1; // c\n", "for (;;)\n  a = 1; // c\n"),
        ("/* only */", "/* only */\n"),
        ("{\n/* only */\n}", "{\n  /* only */\n}\n"),
        ("{\n    /* a\n     * b\n       c */\n  x;\n}", "{\n  /* a\n   * b\n     c */\n  x;\n}\n"),
        ("a = 1; // one \\\n two\nb = 2;", "a = 1; // one \\\n two\nb = 2;\n"),
        ("a = 1; // c \\", "a = 1; // c\n"),
        ("{ // one\n // two\n a = 1; }", "{ // one\n  // two\n  a = 1;\n}\n"),
        ("a = 1; // one\n // two\nb = 2;", "a = 1; // one\n// two\nb = 2;\n"),
        ("#pragma x /* c */ \\\n  y\na = 1;", "#pragma x y\n/* c */\na = 1;\n"),
        ('a = "/* no */";', 'a = "/* no */";\n'),
    ],
)
def test_where_a_comment_goes(text: str, expected: str) -> None:
    assert layout(text) == expected


def test_line_ends_of_the_file_are_used() -> None:
    text = "/* a\r\n   b */\r\nx = 1;\r\n"
    assert emit(parse(text), newline="\r\n") == text


def test_indentation() -> None:
    text = "/* a\n   b */\nfor (;;) {\n  x;\n}\n"
    out = emit(parse(text), indent="    ", step="\t")
    assert out == "    /* a\n       b */\n    for (;;) {\n    \tx;\n    }\n"
