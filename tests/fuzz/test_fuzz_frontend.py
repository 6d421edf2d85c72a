"""Damaged annotated files give tasks or diagnostics, never an exception, and quickly."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orio_py.core.diagnostics import DiagnosticError, render
from orio_py.core.source import SourceFile
from orio_py.frontend.expressions import parse_value
from orio_py.frontend.read import read
from orio_py.spec.check import check

ROOT = Path(__file__).resolve().parents[1]
FILES = [
    path.read_bytes()
    for folder in ("compat", "bad_input")
    for path in sorted((ROOT / folder).glob("*.c"))
    if path.stat().st_size < 8000
]
PIECES = (
    b"/*@ begin Loop( @*/ ( ) [ ] { } ; , = ** // % /*@ end @*/ /* // # ' \" \\ \\\n \r\n \0 \xff transform "
    b"Unroll(ufactor=2) def build { arg let param X[] = decl static double random constraint import spec "
    b"range( for if else and not in lambda 10**9 #ifndef ORIO_ORIGINAL #else #endif #pragma Orio Oiro orio "
    b"loop begin struct typedef int while *p ++ ? : 'a' \"b\" begin PerfTuning("
).split(b" ")


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A valid file with a few mutations."""
    data = draw(st.sampled_from(FILES))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 40)))
        match draw(st.sampled_from(("delete", "insert", "swap", "repeat", "cut", "splice", "replace"))):
            case "delete":
                data = data[:start] + data[end:]
            case "insert":
                data = data[:start] + draw(st.binary(max_size=6)) + data[start:]
            case "swap":
                data = data[:start] + data[start:end][::-1] + data[end:]
            case "repeat":
                data = data[:start] + data[start:end] * draw(st.sampled_from((2, 3, 40))) + data[end:]
            case "cut":
                data = data[:start]
            case "splice":
                data = data[:start] + b" " + draw(st.sampled_from(PIECES)) + b" " + data[start:]
            case _:
                data = data[:start] + draw(st.sampled_from(PIECES)) + data[end:]
    return data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@given(data=damaged())
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_damaged_files_never_raise(data: bytes, folder: Path) -> None:
    start = time.process_time()
    result = read(SourceFile("fuzz.c", data), directory=folder)
    problems = [*result.diagnostics, *(p for task in result.tasks for p in check(task))]
    for problem in problems:
        assert render(problem, result.sources)
    assert time.process_time() - start < 10  # processor time: no blow-up
    for task in result.tasks:
        assert 0 <= task.extent.start <= task.extent.end <= len(data)


_PARTS = st.sampled_from(
    [
        "1",
        "2.5",
        "'a'",
        '"b"',
        "[",
        "]",
        "(",
        ")",
        ",",
        "+",
        "-",
        "*",
        "/",
        "//",
        "%",
        "**",
        "<",
        "<=",
        "==",
        "!=",
        "and",
        "or",
        "not",
        "in",
        "if",
        "else",
        "for",
        "x",
        "range(",
        "min(",
        "len(",
        "True",
        "None",
        "0x",
        "1e",
        "10**9",
        ".",
        ":",
        ";",
        "=",
        "{",
        "}",
        "`",
        "@",
        "\\",
        "\x00",
        "ÿ",
        "\n",
        "#",
    ]
)


@given(st.lists(_PARTS, max_size=25).map(" ".join) | st.text(st.characters(max_codepoint=255), max_size=40))
@settings(max_examples=400, deadline=None)
def test_any_text_is_a_value_or_refused(text: str) -> None:
    start = time.process_time()
    with contextlib.suppress(DiagnosticError):
        parse_value(text)
    assert time.process_time() - start < 10  # processor time: no blow-up
