"""Code for compilers of C before 1999: where declarations of loops go."""

import pytest

from orio_py.core.source import SourceFile
from orio_py.ctree.c89 import in_c89, is_before_c99, restrict_word
from orio_py.ctree.emit import emit
from orio_py.ctree.nodes import Compound
from orio_py.ctree.parse import parse_statements


def parsed(text: str) -> Compound:
    return parse_statements(text, source=SourceFile("t.c", text.encode()), start=0)


def made(text: str) -> str:
    tree = parsed(text)
    return " ".join(emit(in_c89(tree)).split())


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("for (int i = 0; i < n; i++) a[i] = 0;", "{ int i; for (i = 0; i < n; i++) a[i] = 0; }"),
        (
            "for (int i = 0, j = n; i < j; i++, j--) f(i, j);",
            "{ int i; int j; for (i = 0, j = n; i < j; i++, j--) f(i, j); }",
        ),
        ("if (n) for (long i = 0; i < n; i++) f(i);", "if (n) { long i; for (i = 0; i < n; i++) f(i); }"),
        (
            "x = 1;\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) for (int j = 0; j < n; j++) f(i, j);",
            "x = 1; { int i; #pragma omp parallel for for (i = 0; i < n; i++) { int j; "
            "for (j = 0; j < n; j++) f(i, j); } }",
        ),
        (
            "\n#pragma omp parallel for collapse(2)\nfor (int i = 0; i < n; i++) {\n"
            "for (int j = 0; j < n; j++) { for (int k = 0; k < n; k++) f(i, j, k); } }",
            "{ int i; int j; #pragma omp parallel for collapse(2) for (i = 0; i < n; i++) { "
            "for (j = 0; j < n; j++) { { int k; for (k = 0; k < n; k++) f(i, j, k); } } } }",
        ),
        ("double *restrict p = a; f(p);", "double *__restrict p = a; f(p);"),
    ],
)
def test_declarations_stand_in_blocks_around_loops_and_their_pragmas(text: str, result: str) -> None:
    assert made(text) == result


def test_code_that_old_compilers_take_is_the_same_object() -> None:
    tree = parsed("{\n#pragma omp parallel for\nfor (i = 0; i < n; i++) a[i] = 0; x = 1; }")
    assert in_c89(tree) is tree


@pytest.mark.parametrize(
    ("command", "before"),
    [
        ("gcc -std=c90", True),
        ("cc -ansi -O2", True),
        ("clang --std=iso9899:199409", True),
        ("gcc -std=gnu99", False),
        ("gcc -std=gnu89 -std=gnu11", False),
        ("gcc -std=c11 -ansi", True),
        ("gcc -O3 -DA=-ansible", False),
    ],
)
def test_the_last_standard_of_a_command_counts(command: str, before: bool) -> None:
    assert is_before_c99(command) == before
    assert restrict_word(command) == ("__restrict" if before else "restrict")
