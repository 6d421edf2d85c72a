"""Construction, rewriting, equality, simplification and verification of trees."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orio_py.core.source import SourceFile
from orio_py.ctree import build
from orio_py.ctree.emit import emit, emit_expression
from orio_py.ctree.equal import equal, structure_digest
from orio_py.ctree.nodes import Comment, Compound, For, GuardedPragma, Node, Transform, c_ast
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.rewrite import (
    Replacement,
    Rewriter,
    copy_with,
    declared_names,
    map_children,
    rename,
    substitute,
    used_names,
    walk,
    walk_statements,
)
from orio_py.ctree.simplify import simplify
from orio_py.ctree.verify import verify


def parse(text: str) -> Compound:
    return parse_statements(text, source=SourceFile("t.c", text.encode("latin-1")), start=0)


def first(text: str) -> Node:
    return parse(text).block_items[0]


def expr(text: str) -> Node:
    return first(text + ";")


# build


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (build.const(-3), "-3"),
        (build.add(build.ident("i"), 0), "i"),
        (build.add(build.ident("i"), -2), "i - 2"),
        (build.add(0, build.ident("i")), "i"),
        (build.add(4, build.ident("i")), "4 + i"),
        (build.sub(build.ident("i"), -2), "i + 2"),
        (build.sub(build.ident("i"), build.ident("j")), "i - j"),
        (build.sub(build.ident("i"), build.add(build.ident("j"), 1)), "i - (j + 1)"),
        (build.mul(1, build.ident("i")), "i"),
        (build.mul(build.add(build.ident("i"), 1), 2), "(i + 1) * 2"),
        (build.binary("<=", build.ident("i"), 5), "i <= 5"),
        (build.binary("-", 1, build.const(-1)), "1 - -1"),
        (build.ternary(build.binary("<", build.ident("a"), build.ident("b")), 1, 2), "a < b ? 1 : 2"),
        (build.call("min", build.ident("a"), 3), "min(a, 3)"),
        (build.call("f"), "f()"),
        (build.index("a", build.ident("i"), 2), "a[i][2]"),
        (build.unary("p++", build.ident("i")), "i++"),
        (build.assign("i", 3, "+="), "i += 3"),
    ],
)
def test_build(node: Node, text: str) -> None:
    assert emit_expression(node) == text
    assert equal(expr(text), node)
    assert verify(node) == []


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (build.declare("double", "x"), "double x;"),
        (build.declare("register int", "x", 3), "register int x = 3;"),
        (build.declare("const double *restrict", "p", build.ident("q")), "const double *restrict p = q;"),
        (build.declare("unsigned long", "x", dimensions=[4, build.ident("n")]), "unsigned long x[4][n];"),
        (build.declare("double **", "p", dimensions=[4]), "double **p[4];"),
        (build.declare("struct s", "p"), "struct s p;"),
    ],
)
def test_declare(node: Node, text: str) -> None:
    assert emit(node) == text + "\n"
    assert equal(first(text), node)


def test_declare_needs_a_type() -> None:
    with pytest.raises(ValueError, match="no type"):
        build.declare("const *", "p")


def test_build_statements() -> None:
    body = build.assign(build.index("a", build.ident("i")), 0)
    loop = build.for_(
        build.declare("int", "i", 0),
        build.binary("<", build.ident("i"), build.ident("n")),
        build.unary("p++", build.ident("i")),
        body,
    )
    text = "for (int i = 0; i < n; i++)\n  a[i] = 0;\n"
    assert emit(loop) == text
    assert equal(first(text), loop)
    inner = build.block(build.assign("x", 1), build.declare("int", "y"))
    joined = build.flat_block(build.block(build.assign("z", 1)), inner)
    assert emit(joined) == "z = 1;\n{\n  x = 1;\n  int y;\n}\n"
    assert emit(build.if_(build.ident("x"), body, body)) == "if (x)\n  a[i] = 0;\nelse\n  a[i] = 0;\n"


@pytest.mark.parametrize(
    ("text", "value"),
    [("12", 12), ("0x1F", 31), ("017", 15), ("-3", -3), ("2*3 - 1", 5), ("1u", None), ("1.0", None), ("n", None),
     ("7 / 2", None), ("0", 0)],
)  # fmt: skip
def test_literal_value(text: str, value: int | None) -> None:
    assert build.literal_value(expr(text)) == value


def test_generated_nodes_are_emitted() -> None:
    text = emit(
        build.block(
            GuardedPragma("GCC ivdep", "defined(__GNUC__)"), GuardedPragma("omp simd"), Comment("/* c */")
        )
    )
    assert text == "#if defined(__GNUC__)\n#pragma GCC ivdep\n#endif\n#pragma omp simd\n/* c */\n"
    loop = build.for_(None, None, None, c_ast.Pragma("x"))
    assert emit(loop) == "for (;;) {\n  #pragma x\n}\n"


def test_a_branch_that_would_lose_its_else_gets_braces() -> None:
    inner = build.if_(build.ident("b"), build.assign("x", 1))
    outer = build.if_(build.ident("a"), inner, build.assign("x", 2))
    assert emit(outer) == "if (a) {\n  if (b)\n    x = 1;\n} else\n  x = 2;\n"


def test_statements_as_expressions_are_an_error() -> None:
    with pytest.raises(TypeError, match="Break"):
        emit_expression(c_ast.Break())


# rewrite


def test_identity_keeps_the_object() -> None:
    tree = parse(
        "for (i = 0; i < n; i++) { a[i] = b; struct s { int x; } y = {.x = 1}; switch (k) { case 1: f(); } }"
    )
    assert Rewriter().rewrite(tree) is tree
    assert map_children(tree, lambda node: node) is tree
    assert substitute(tree, "zz", build.const(1)) is tree
    assert rename(tree, {"zz": "y"}) is tree
    assert simplify(tree) is tree


class _Doubler(Rewriter):
    def visit_Assignment(self, node: c_ast.Assignment) -> Replacement:
        return [node, node]

    def visit_Break(self, node: c_ast.Break) -> Replacement:
        return []


def test_lists_in_place_of_statements() -> None:
    tree = parse("x = 1; { y = 2; } for (;;) z = 3; while (1) break; b: break;")
    before = copy.deepcopy(tree)
    new = _Doubler().rewrite(tree)
    assert emit(new) == (
        "x = 1;\nx = 1;\n{\n  y = 2;\n  y = 2;\n}\nfor (;;) {\n  z = 3;\n  z = 3;\n}\nwhile (1) {\n}\nb:\n{\n}\n"
    )
    assert equal(tree, before)


def test_a_list_cannot_replace_an_expression() -> None:
    class Bad(Rewriter):
        def visit_ID(self, node: c_ast.ID) -> Replacement:
            return [node, node]

    with pytest.raises(TypeError, match=r"subscript|name|lvalue"):
        Bad().rewrite(parse("a[i] = 0;"))


def test_unchanged_parts_are_shared() -> None:
    tree = parse("x = a; y = b;")
    new = substitute(tree, "a", build.const(1))
    assert new is not tree
    assert new.block_items[1] is tree.block_items[1]
    assert emit(tree) == "x = a;\ny = b;\n"
    assert new.block_items[0].coord == tree.block_items[0].coord


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = i + i;", "x = (j + 1) + (j + 1);"),
        ("{ int i = 0; x = i; } x = i;", "{ int i = 0; x = i; } x = j + 1;"),
        ("{ y = i; int i = i; x = i; }", "{ y = j + 1; int i = i; x = i; }"),
        ("for (int i = 0; i < n; i++) x = i; x = i;", "for (int i = 0; i < n; i++) x = i; x = j + 1;"),
        ("for (int k = i; k < i; k += i) x = i;", "for (int k = j + 1; k < j + 1; k += j + 1) x = j + 1;"),
        ("p->i = q.i + i;", "p->i = q.i + (j + 1);"),
        ("s = (struct s){.i = i, [i] = 2};", "s = (struct s){.i = j + 1, [j + 1] = 2};"),
        ("goto i; i: x = i;", "goto i; i: x = j + 1;"),
        ("int a[i]; struct t { int i; } v; x = i;", "int a[j + 1]; struct t { int i; } v; x = j + 1;"),
        ("switch (i) { case 1: x = i; int i; case 2: x = i; }", "switch (j + 1) { case 1: x = j + 1; int i; case 2: x = i; }"),
        ("enum { i = 1 } e; x = i;", "enum { i = 1 } e; x = i;"),
        ("typedef int i; i y = 1;", "typedef int i; i y = 1;"),
        ("int f(int i); x = sizeof(int[i]);", "int f(int i); x = sizeof(int[j + 1]);"),
    ],
)  # fmt: skip
def test_substitute_respects_scopes(text: str, expected: str) -> None:
    new = substitute(parse(text), "i", build.add(build.ident("j"), 1))
    assert emit(new) == emit(parse(expected))


def test_rename_everything() -> None:
    text = "int i = 1; { double i[3]; i[0] = s.i; } for (int i = 0; i < n; i++) f(i); i: x = i;"
    new = rename(parse(text), {"i": "i_2", "f": "g"})
    assert emit(new) == emit(
        parse(
            "int i_2 = 1; { double i_2[3]; i_2[0] = s.i; } for (int i_2 = 0; i_2 < n; i_2++) g(i_2); i: x = i_2;"
        )
    )


def test_names() -> None:
    tree = parse(
        "int a, *b; { double c[n]; typedef int t; enum { e } d; struct { int m; } f; } g(h); int p(int q);"
    )
    assert declared_names(tree) == {"a", "b", "c", "t", "e", "d", "f", "p"}
    assert {"a", "n", "g", "h", "m", "q", "t"} <= used_names([tree])


def test_walk_is_in_source_order() -> None:
    names = [node.name for node in walk(parse("a = b + c * d; e(f);")) if isinstance(node, c_ast.ID)]
    assert names == ["a", "b", "c", "d", "e", "f"]


# equal


TEXTS = ["x = 1;", "x = 1.0;", "x = 2;", "y = 1;", "x += 1;", "{ x = 1; }", "int x = 1;", "int *x = 1;", "x(1);",
         "/* c */ x = 1;", "x = 1; y;", "x = a[1];", "const int x = 1;", "x = (int)1;"]  # fmt: skip


def test_equal_tells_texts_apart() -> None:
    trees = [parse(text) for text in TEXTS]
    for number, tree in enumerate(trees):
        again = parse("\n  " + TEXTS[number])
        assert equal(tree, again)
        assert structure_digest(tree) == structure_digest(again)
        for other in trees[:number]:
            assert not equal(tree, other)
            assert structure_digest(tree) != structure_digest(other)


def test_equal_ignores_where_a_comment_stands_on_the_line() -> None:
    assert equal(parse("x; // c\n"), parse("x;\n// c\n"))


# simplify


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i + 1 + 2", "i + 3"), ("n - 1 - 3", "n - 4"), ("0 + i", "i"), ("i + 0", "i"), ("i - 0", "i"), ("1*i", "i"),
        ("i*1", "i"), ("i + 1 - 1", "i"), ("i + 3 - 5", "i - 2"), ("1 + i + 2", "i + 3"), ("i + -2", "i - 2"),
        ("2 * 3 * i", "6 * i"), ("3 - 5", "-2"), ("a[i + 1 + 1] + 0", "a[i + 2]"), ("-(i + 1 + 1)", "-(i + 2)"),
        ("(i + 1 + 1) % 4", "(i + 2) % 4"), ("i < n + 1 + 1", "i < n + 1 + 1"), ("c ? i + 1 + 1 : 0 + j", "c ? i + 2 : j"),
    ],
)  # fmt: skip
def test_simplify_expressions(text: str, expected: str) -> None:
    assert emit_expression(simplify(expr(text))) == expected


@pytest.mark.parametrize(
    "text",
    ["i + 1u + 2;", "i + 1L + 2L;", "x = y + 1 + 2;", "x += 1 + 2;", "2147483647 + 1;", "46341 * 46341;", "7 / 2 * 1.0;",
     "x + 1.0 + 2;", "f(x + 1 + 2);", "a[(int)(x + 1 + 2)];", "i * 2 * 3;", "i + 010 + 2;", "i + 0x10 + 2;",
     "for (i = x + 1 + 1; i < n; i++) ;", "i + 2147483647 + 1;", "i - (j - 1);"],
)  # fmt: skip
def test_simplify_leaves_alone(text: str) -> None:
    item = first(text)
    assert simplify(item) is item


def test_simplify_statements() -> None:
    tree = parse("for (int i = 0 + 1; i < n - 1 - 1; i += 1 + 1) a[i + n + 1 + 1] = x + 1 + 1;")
    assert emit(simplify(tree)) == "for (int i = 1; i < n - 2; i += 2)\n  a[i + n + 2] = x + 1 + 1;\n"
    assert emit(simplify(parse("for (t = s + 1 + 1; t < 9; t++) ;"), integers=frozenset({"t", "s"}))) == (
        "for (t = s + 2; t < 9; t++)\n  ;\n"
    )


OPERANDS = st.sampled_from(["i", "j", "k", "0", "1", "2", "3", "7", "(-1)"])
SUMS = st.recursive(
    OPERANDS,
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
)


def _value(node: Node, names: dict[str, int]) -> int:
    match node:
        case c_ast.ID():
            return names[node.name]
        case c_ast.Constant():
            return int(node.value)
        case c_ast.UnaryOp():
            return -_value(node.expr, names)
        case c_ast.BinaryOp():
            left, right = _value(node.left, names), _value(node.right, names)
            return {"+": left + right, "-": left - right, "*": left * right}[node.op]
        case _:
            raise AssertionError(type(node))


@given(SUMS, st.tuples(*[st.integers(-9, 9)] * 3))
@settings(max_examples=300, deadline=None)
def test_simplify_keeps_the_value(text: str, values: tuple[int, int, int]) -> None:
    names = dict(zip("ijk", values, strict=True))
    tree = expr(text)
    new = simplify(tree)
    assert _value(new, names) == _value(tree, names)
    assert len(list(walk(new))) <= len(list(walk(tree)))
    assert equal(simplify(new), new) or len(list(walk(simplify(new)))) < len(list(walk(new)))


# verify


def test_verify_accepts_parsed_code() -> None:
    assert verify(parse("for (;;) { /* c */ if (a) return 1; else int_f(); } switch (a) { case 1: ; }")) == []


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (Transform(3, c_ast.EmptyStatement()), "step 3"),
        (For(None, None, None, None), "no `stmt`"),  # pyright: ignore
        (For(None, None, None, Comment("/* */")), "body of For is a Comment"),
        (Compound([None]), "None among"),  # pyright: ignore
        (build.binary("+", c_ast.Break(), 1), "statement Break as its `left`"),
        (build.call("f", c_ast.Break()), "statement Break among its `exprs`"),
        (c_ast.Constant("int", "-1"), "carries a sign"),
        (build.assign(build.const(1), 1), "Constant is assigned"),
        (c_ast.ID(""), "empty name"),
        (c_ast.DeclList([]), "DeclList is empty"),
        (c_ast.FileAST([]), "no node of a region"),
    ],
)
def test_verify_finds_faults(node: Node, words: str) -> None:
    assert any(words in problem for problem in verify(node)), verify(node)


def test_verify_finds_cycles_but_allows_sharing() -> None:
    shared = build.assign("x", 1)
    assert verify(build.block(shared, shared)) == []
    block = build.block(shared)
    block.block_items.append(block)
    assert verify(block) == ["Compound contains itself"]


def test_copy_with_keeps_the_place() -> None:
    node = first("x = 1;")
    new = copy_with(node, op="+=")
    assert (new.op, new.coord, new.lvalue) == ("+=", node.coord, node.lvalue)


def test_statement_walks_meet_every_statement_and_no_expression() -> None:
    text = (
        "if (a) x = 1; else { y = 2; } for (i = 0; i < n; i++) while (b) do z++; while (c);"
        " switch (d) { case 1: e(); break; default: f(); } out: ;"
    )
    source = SourceFile("w.c", text.encode())
    tree = parse_statements(text, source=source, start=0)
    kinds = [type(node).__name__ for node in walk_statements(tree)]
    assert kinds == [
        *("Compound", "If", "Assignment", "Compound", "Assignment", "For", "While", "DoWhile", "UnaryOp"),
        *(
            "Switch",
            "Compound",
            "Case",
            "FuncCall",
            "Break",
            "Default",
            "FuncCall",
            "Label",
            "EmptyStatement",
        ),
    ]
