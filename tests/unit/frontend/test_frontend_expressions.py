"""Parsing of expressions: places and messages."""

from __future__ import annotations

import time

import pytest

from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.expr import Binary, Literal, Name
from orio_py.core.source import Position, SourceFile
from orio_py.frontend.expressions import parse_expression, parse_setting, parse_value


def test_nodes_know_their_places() -> None:
    source = SourceFile("f.spec", b"\n  a +\n  bb * 2")
    expr = parse_expression(source.text, locate=source.position)
    assert isinstance(expr, Binary)
    assert isinstance(expr.left, Name)
    assert isinstance(expr.right, Binary)
    assert isinstance(expr.right.right, Literal)
    assert expr.left.position == Position("f.spec", 2, 3)
    assert expr.position == Position("f.spec", 2, 5)
    assert expr.right.left.position == Position("f.spec", 3, 3)
    assert expr.right.right.position == Position("f.spec", 3, 8)


@pytest.mark.parametrize(
    ("text", "code", "column", "part"),
    [
        ("", "ORIO-E001", 1, "unexpected end of the text; expected a value"),
        ("1 +", "ORIO-E001", 4, "expected a value"),
        ("[1, 2", "ORIO-E001", 6, "expected `]`"),
        ("(1", "ORIO-E001", 3, "expected `)`"),
        ("[1 2]", "ORIO-E001", 4, "unexpected `2`; expected `]`"),
        ("[1,,2]", "ORIO-E001", 4, "unexpected `,`"),
        ("1 2", "ORIO-E001", 3, "unexpected `2`"),
        ("10k", "ORIO-E001", 3, "unexpected `k`"),
        ("a = 3", "ORIO-E001", 3, "unexpected `=`"),
        ("'abc", "ORIO-E001", 1, "never closed; expected '"),
        ("007", "ORIO-E001", 1, "`007` is not a number"),
        ("[x for x in]", "ORIO-E001", 12, "unexpected `]`"),
        ("\0", "ORIO-E001", 1, r"unexpected `\x00`"),
        ("\x80", "ORIO-E001", 1, r"unexpected `\x80`"),
        ("min(1", "ORIO-E001", 6, "expected `)`"),
        ("os.system('x')", "ORIO-E010", 3, "attributes and methods"),
        ("__import__('os').system('touch x')", "ORIO-E010", 17, "attributes and methods"),
        ("().__class__", "ORIO-E010", 3, "attributes and methods"),
        ("lambda x: 1", "ORIO-E010", 8, "`lambda`"),
        ("f'{x}'", "ORIO-E010", 2, "string prefixes such as `f`"),
        ("`ls`", "ORIO-E010", 1, "backticks"),
        ("{1: 2}", "ORIO-E010", 1, "dictionaries"),
        ("a[1:2]", "ORIO-E010", 4, "slices"),
        ("a ? b : c", "ORIO-E010", 3, "`?:`"),
        ("a & b", "ORIO-E010", 3, "bit operations"),
        ("a is b", "ORIO-E010", 3, "`is`"),
        ("eval('1')", "ORIO-E003", 1, "unknown function `eval`"),
        ("open('x')", "ORIO-E003", 1, "unknown function `open`"),
        ("(" * 10000, "ORIO-E007", 121, "nested"),
        ("(" * 10000 + "1" + ")" * 10000, "ORIO-E007", 121, "nested"),
        ("[" * 10000, "ORIO-E007", 121, "nested"),
        ("-" * 10000 + "1", "ORIO-E007", None, "nested"),
        ("not " * 10000 + "1", "ORIO-E007", None, "nested"),
        ("1+" * 10000 + "1", "ORIO-E007", None, "nested"),
        ("1 if 1 else " * 3000 + "1", "ORIO-E007", None, "nested"),
        ("a" + "[0]" * 5000, "ORIO-E007", None, "nested"),
        ("9" * 5000, "ORIO-E006", 1, "5000 digits"),
        ("1," * 150_000, "ORIO-E006", 1, "characters long"),
    ],
)
def test_refused(text: str, code: str, column: int | None, part: str) -> None:
    source = SourceFile("f.spec", text.encode("latin-1"))
    start = time.process_time()
    with pytest.raises(DiagnosticError) as caught:
        parse_expression(text, locate=source.position)
    (problem,) = caught.value.diagnostics
    assert problem.code == code
    assert part in problem.message
    assert problem.position is not None
    assert column is None or problem.position.column == column
    assert time.process_time() - start < 10  # processor time: no blow-up


def test_unknown_function_names_the_nearest() -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse_value("rnge(3)")
    assert caught.value.diagnostics[0].help == "did you mean `range`?"


def test_equal_sign_is_explained() -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse_expression("a = 3")
    assert caught.value.diagnostics[0].help == "values are compared with `==`"


def test_keywords_can_begin_names() -> None:
    expr = parse_expression("order + iffy + notes + inner")
    assert "order" in str(expr)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", 4),
        ("-4", -4),
        ("2 * 3", 6),
        ("True", True),
        ("'4'", "4"),
        ("['a', 2]", ["a", 2]),
        ("gpu", "gpu"),
        ("-O3", "-O3"),
        ("--fast", "--fast"),
        ("-O2 -funroll-loops", "-O2 -funroll-loops"),
        ("range", "range"),
        ("a b", "a b"),
    ],
)
def test_settings_are_expressions_or_bare_text(text: str, value: object) -> None:
    assert parse_setting(text) == value


@pytest.mark.parametrize("text", ["rnge(3)", "4 4", "[1, 2", "'a", "1 / 0", "4x"])
def test_what_is_neither_is_refused(text: str) -> None:
    with pytest.raises(DiagnosticError):
        parse_setting(text)
