"""Places, marks, refusals and type names of `parse_statements`."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orio_py.core.codes import CODES
from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.source import Position, SourceFile
from orio_py.ctree.emit import emit
from orio_py.ctree.macros import Macro
from orio_py.ctree.nodes import Comment, Compound, For, Transform, c_ast
from orio_py.ctree.parse import parse_external, parse_statements, position
from orio_py.ctree.rewrite import walk


def parse(text: str, before: str = "", **options: object) -> Compound:
    source = SourceFile("t.c", (before + text).encode("latin-1"))
    return parse_statements(text, source=source, start=len(before), **options)  # pyright: ignore


def refused(text: str, before: str = "", **options: object) -> list[str]:
    with pytest.raises(DiagnosticError) as error:
        parse(text, before, **options)
    return [
        f"{d.position.line}:{d.position.column} {d.code} {d.message}"
        for d in error.value.diagnostics
        if d.position
    ]


def test_places_are_the_users() -> None:
    tree = parse("x = 1;\n  for (i = 0; i < n; i++)\n    a[i] = y;", before="int f() {\n  ")
    first, loop = tree.block_items
    assert position(first) == Position("t.c", 2, 3)
    assert position(loop) == Position("t.c", 3, 3)
    assert position(loop.stmt.rvalue) == Position("t.c", 4, 12)


def test_places_behind_comments_pragmas_and_marks() -> None:
    text = "/* c */ x = 1; /* d */\n#pragma omp for \\\n  private(i)\n/* e\n f */ y = 2; XXXXX z = 3;"
    mark = text.index("XXXXX")
    tree = parse(text.replace("XXXXX", "     "), before="\n\n  ", marks={mark + 4: 7})
    kinds = [type(item).__name__ for item in tree.block_items]
    assert kinds == ["Comment", "Assignment", "Comment", "Pragma", "Comment", "Assignment", "Transform"]
    places = [(position(i).line, position(i).column) for i in tree.block_items]
    assert places == [(3, 3), (3, 11), (3, 18), (4, 1), (6, 1), (7, 7), (7, 14)]
    assert tree.block_items[-1].step == 7
    assert position(tree.block_items[-1].stmt) == Position("t.c", 7, 20)
    assert tree.block_items[3].string == "omp for private(i)"


def test_columns_count_characters_in_utf8_lines() -> None:
    text = 's = "é"; x = ;'.encode().decode("latin-1")
    assert refused(text)[0].startswith("1:14 ORIO-C001")


def test_every_node_with_a_place_has_the_users() -> None:
    tree = parse("for (int i = 0; i < n; i++) { struct s *p = q; p->x += (double) i; }", before="\n  ")
    for node in walk(tree):
        assert node.coord is None or isinstance(node.coord, Position)
        if isinstance(node.coord, Position):
            assert node.coord.line == 2


MARK = "        "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@for (;;) x;", "#pragma orio_transform 0\nfor (;;)\n  x;\n"),
        ("for (;;) @for (;;) x;", "for (;;)\n  #pragma orio_transform 0\n  for (;;)\n    x;\n"),
        ("@ @for (;;) x;", "#pragma orio_transform 0\n#pragma orio_transform 1\nfor (;;)\n  x;\n"),
        (
            "if (a) @x; else @y;",
            "if (a)\n  #pragma orio_transform 0\n  x;\nelse\n  #pragma orio_transform 1\n  y;\n",
        ),
        ("@ /* c */ x;", "/* c */\n#pragma orio_transform 0\nx;\n"),
        ("@\n#pragma p\nx;", "#pragma p\n#pragma orio_transform 0\nx;\n"),
        ("{ @{ x; } }", "{\n  #pragma orio_transform 0\n  {\n    x;\n  }\n}\n"),
        ("switch (a) { case 1: @x; }", "switch (a) {\ncase 1:\n  #pragma orio_transform 0\n  x;\n}\n"),
        ("@ a: x;", "#pragma orio_transform 0\na:\nx;\n"),
        ("@for (;;) /* c */ x;", "/* c */\n#pragma orio_transform 0\nfor (;;)\n  x;\n"),
    ],
)
def test_marks(text: str, expected: str) -> None:
    marks: dict[int, int] = {}
    while "@" in text:
        marks[text.index("@")] = len(marks)
        text = text.replace("@", " ", 1)
    tree = parse(text, marks=marks)
    assert emit(tree) == expected
    assert emit(parse(expected)) == expected


@pytest.mark.parametrize(
    "text", ["x; @", "{ x; @ } y;", "x = @ 1;", "@ int x;", "f(@);", "for (@ i = 0;;) x;", "@"]
)
def test_marks_without_a_statement(text: str) -> None:
    at = text.index("@")
    (message,) = refused(text.replace("@", " "), marks={at: 0})
    assert message.startswith(f"1:{at + 1} ORIO-C008")


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("x = ;", "1:5 ORIO-C001", "found `;` behind `=`; an expression is needed"),
        ("x = 1\ny = 2;", "2:1 ORIO-C001", "found `y` behind `1`; an operator or `;` is needed"),
        ("x = 1", "1:6 ORIO-C001", "found the end of the code behind `1`"),
        ("f(a,);", "1:5 ORIO-C001", "an expression is needed"),
        ("else x;", "1:1 ORIO-C001", "without an `if`"),
        ("void g(void) { x; }", "1:14 ORIO-C001", "body of a function"),
        ("x # 5;", "1:3 ORIO-C001", "stray `#`"),
        ("x = `1;", "1:5 ORIO-C001", "no C token"),
        ("for (i = 0; i < n) x;", "1:18 ORIO-C001", "found `)`"),
        ("x = 08;", "1:5 ORIO-C001", "octal"),
        ("#include <a>\nx;\n  #error B\n", "1:1 ORIO-C002", "`#include <a>`"),
        ("x = (1;", "1:5 ORIO-C003", "`(` is never closed"),
        ("if (x) { y; ", "1:8 ORIO-C003", "`{` is never closed"),
        ("x; }", "1:4 ORIO-C003", "without an opening bracket"),
        ("} void g(void) {", "1:1 ORIO-C003", "without an opening bracket"),
        ("x[(1];", "1:5 ORIO-C003", "where `(` of line 1 is still open"),
        ("x; /* y", "1:4 ORIO-C004", "comment is never closed"),
        ('x = "abc;\n', "1:5 ORIO-C004", "string is not closed"),
        ("x = 'a;\n", "1:5 ORIO-C004", "character is not closed"),
        ("x;\x00", "1:3 ORIO-C005", "control character \\x00"),
        ("/* \x1b */ x;", "1:4 ORIO-C005", "control character \\x1b"),
        ("x = ({ int a; a; });", "1:6 ORIO-C007", "statement inside an expression"),
        ("f(({ a; }), b);", "1:4 ORIO-C007", "statement inside an expression"),
        ('asm("nop");', "1:1 ORIO-C007", "`asm`"),
        ("int x __attribute__((aligned(8)));", "1:7 ORIO-C007", "`__attribute__`"),
        ("x = " + "(" * 900 + "1" + ")" * 900 + ";", "1:1 ORIO-C006", "nested more than"),
        ("if (a) " * 300 + ";", "1:694 ORIO-C006", "nested more than"),
        ("{" * 500 + "}" * 500, "1:1 ORIO-C006", "nested more than"),
        ("x = a" + "[a" * 400 + "]" * 400 + ";", "1:1 ORIO-C006", "nested more than"),
    ],
)
def test_refusals(text: str, place: str, words: str) -> None:
    message = refused(text)[0]
    assert message.startswith(place)
    assert words in message


def test_every_code_is_explained() -> None:
    codes = [code for name, code in CODES.items() if name.startswith("ORIO-C")]
    assert [code.name for code in codes] == [f"ORIO-C00{k}" for k in range(1, 9)]
    assert all(code.title and len(code.explanation) > 80 for code in codes)


def test_all_preprocessor_lines_are_reported() -> None:
    assert [m.split()[0] for m in refused("#include <a>\nx;\n  #error B\n")] == ["1:1", "3:3"]


def test_macros_that_the_code_defines_count_behind_their_lines() -> None:
    macros = {
        name: Macro(name, body, None) for name, body in (("ONE", "1"), ("TWO", "2"), ("TEN", "(TWO * 5)"))
    }
    text = "x = ONE + TWO;\n#define F(v) (v + ONE)\n#undef TWO\nx = F(TEN);\n#define ONE 3\n#undef F\nx = ONE + F(0);\n"
    source = SourceFile("t.c", text.encode())
    parsed = parse_statements(text, source=source, start=0, macros=macros)
    assert emit(parsed) == "x = 1 + 2;\nx = TWO * 5 + 1;\nx = 3 + F(0);\n"


def test_a_long_sum_is_refused_where_it_is_too_long() -> None:
    assert "ORIO-C006" in refused("x = " + " + ".join(["a"] * 300) + ";")[0]
    tree = parse("x = " + " + ".join(["a"] * 150) + ";")
    assert emit(tree).count("+") == 149


def test_flat_code_of_many_statements() -> None:
    text = "".join(f"a[{k}] = b[{k}] + {k}; /* {k} */\n" for k in range(5_000))
    started = time.process_time()
    tree = parse(text)
    assert len(tree.block_items) == 10_000
    parsed = time.process_time()
    assert emit(tree) == text
    assert time.process_time() - parsed < 10
    assert parsed - started < 60


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("foo_t x;", c_ast.Decl),
        ("foo *p = q;", c_ast.Decl),
        ("foo *p;", c_ast.Decl),
        ("foo * restrict p = q;", c_ast.Decl),
        ("const foo *p = q;", c_ast.Decl),
        ("size_t n;", c_ast.Decl),
        ("__const int x = 1;", c_ast.Decl),
        ("double complex z = 1;", c_ast.Decl),
        ("a * b + c;", c_ast.BinaryOp),
        ("min(a, b);", c_ast.FuncCall),
        ("__extension__ int x;", c_ast.Decl),
    ],
)
def test_type_names_are_found(text: str, kind: type) -> None:
    (item,) = parse(text).block_items
    assert type(item) is kind
    assert emit(item).replace(" ", "").strip() == text.replace("__extension__", "").replace(" ", "")


@pytest.mark.parametrize(
    "text",
    [
        "x = (foo)y;",
        "x = (foo *)y;",
        "x = (foo_t)-1;",
        "x = (foo)(y + 1);",
        "x = (foo)1.0;",
        "x = f((foo)y);",
    ],
)
def test_casts_to_unknown_types_are_casts(text: str) -> None:
    (item,) = parse(text).block_items
    assert any(isinstance(node, c_ast.Cast) for node in walk(item))
    assert emit(item) == text.replace(")-1", ") -1") + "\n"


@pytest.mark.parametrize(
    "text",
    [
        "s += (int)i * b[i];",
        "for (i = 0; i < n; i++) s += (int)i * b[i];",
        "s = sizeof(int) * i * b, i = 2;",
        "s = (sizeof(int)) * i * b; i = sizeof(int) * n;",
        "s = n ? 1 : i * b[2]; i = 2;",
        "s = (x)i * b[2]; i = 2;",
    ],
)
def test_products_behind_casts_and_colons_are_no_declarations(text: str) -> None:
    assert isinstance(parse(text).block_items[0], (c_ast.Assignment, c_ast.ExprList, c_ast.For))


def test_pointers_of_unknown_types_are_declared_behind_braces_and_keywords() -> None:
    first, second = parse("again: { T *p = a; } do { U *q = b; } while (p);").block_items
    assert isinstance(first, c_ast.Label)
    assert isinstance(second, c_ast.DoWhile)
    for block in (first.stmt, second.stmt):
        assert isinstance(block.block_items[0], c_ast.Decl)


def test_parentheses_around_a_variable_are_no_cast() -> None:
    (item,) = parse("x = (a) - 1 + (b) * (c);").block_items
    assert not any(isinstance(node, c_ast.Cast) for node in walk(item))


def test_given_type_names() -> None:
    (item,) = parse("x = (real) - 1;", typedefs=frozenset({"real"})).block_items
    assert isinstance(item.rvalue, c_ast.Cast)


def test_a_loop_over_an_unknown_type() -> None:
    (loop,) = parse("for (idx i = 0; i < n; i++) x;").block_items
    assert isinstance(loop, For)
    assert isinstance(loop.init, c_ast.DeclList)


def test_a_variable_may_have_the_name_of_a_standard_type() -> None:
    tree = parse("int bool = 1; x = bool * 2;")
    assert isinstance(tree.block_items[1].rvalue, c_ast.BinaryOp)


def test_crlf_and_continuation_lines() -> None:
    tree = parse("x = 1 + \\\r\n  2;\r\n// c\r\ny = 3;\r\n")
    assert emit(tree) == "x = 1 + 2;\n// c\ny = 3;\n"
    assert isinstance(tree.block_items[1], Comment)


def test_empty_blocks_have_an_empty_list() -> None:
    assert parse("").block_items == []
    assert parse("{}").block_items[0].block_items == []


def test_an_else_that_could_be_misread_gets_braces() -> None:
    (outer,) = parse("if (a) if (b) x; else y;").block_items
    assert isinstance(outer.iftrue, Compound)
    assert outer.iffalse is None


def test_struct_declarators_stay_together() -> None:
    (item,) = parse("struct { int a; } x, *y = &x;").block_items
    assert isinstance(item, c_ast.DeclList)
    assert [d.name for d in item.decls] == ["x", "y"]


def test_pragma_that_names_a_step_is_a_mark() -> None:
    (item,) = parse("#pragma orio_transform 3\nx;").block_items
    assert isinstance(item, Transform)
    assert item.step == 3


@given(st.text(alphabet=st.sampled_from(list("abi01 ();{}[]=+-*/<>,.#\"'\\\n&|!?:for")), max_size=60))
@settings(max_examples=400, deadline=None)
def test_any_text_is_parsed_or_refused_with_a_place(text: str) -> None:
    try:
        tree = parse(text, before="x\n")
    except DiagnosticError as error:
        for diagnostic in error.diagnostics:
            assert diagnostic.code.startswith("ORIO-C")
            assert diagnostic.position is not None
            assert diagnostic.position.line >= 2
    else:
        assert emit(parse(emit(tree))) == emit(tree)


WORDS = """for ( ) { } ; i = 0 < n ++ if else do while switch case 1 : a [ ] , * int foo struct /*c*/ break goto
    sizeof ? & -> . "s" 'c' const static typedef return ... ~ !"""


@given(st.lists(st.sampled_from([*WORDS.split(), "//d\n", "\n#pragma x\n"]), max_size=25))
@settings(max_examples=600, deadline=None)
def test_any_tokens_are_parsed_or_refused_with_a_place(words: list[str]) -> None:
    test_any_text_is_parsed_or_refused_with_a_place.hypothesis.inner_test(" ".join(words))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("for (i = 0; i < n; i++) { int j; for (j = 0; j < n; j++) a[j] = i; }", "for (int j = 0;"),
        (
            "for (i = 0; i < n; i++) { int j, k; for (j = 0; j < n; j++) for (k = j; k < n; k++) a[k] = j; }",
            "int k = j;",
        ),
        (
            "for (i = 0; i < n; i++) { int j; double t; for (j = 0; j < n; j++) { t = i; a[j] = t; } }",
            "double t;",
        ),
        ("for (i = 0; i < n; i++) { int j; for (j = 0; j < n; j++) a[j] = i; b[j] = 1; }", "int j;"),
        ("for (i = 0; i < n; i++) { int j; for (k = 0; k < n; k++) a[j] = i; }", "int j;"),
        ("for (i = 0; i < n; i++) { int j; for (j = j; j < n; j++) a[j] = i; }", "int j;"),
        ("for (i = 0; i < n; i++) { static int j; for (j = 0; j < n; j++) a[j] = i; }", "static int j;"),
        ("int j; for (j = 0; j < n; j++) a[j] = 1;", "int j;"),
    ],
)
def test_a_declaration_between_loops_moves_into_the_header(code: str, expected: str) -> None:
    assert expected in emit(parse(code))


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("typedef struct { float re, im; } complex; complex one(complex x);", True),
        ("struct pair { float re, im; }; typedef struct pair complex; complex one;", True),
        ("double complex product(double complex, double complex);", False),
        ("typedef double complex number; number one;", False),
    ],
)
def test_a_file_may_have_a_type_of_its_own_by_the_name_of_a_macro(text: str, own: bool) -> None:
    kinds = {
        tuple(part.names)
        for node in parse_external(text)
        for part in walk(node)
        if isinstance(part, c_ast.IdentifierType)
    }
    assert (("complex",) in kinds) == own
    assert (("double", "complex") in kinds) != own
