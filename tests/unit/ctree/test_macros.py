"""Macros in the code of a region: what is expanded, what stays, and where the results come from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orio_py.ctree.lexer import scan
from orio_py.ctree.macros import Expansion, MacroChange, add_changes, expanded


def macros(*lines: str, system: bool = False):
    found = {}
    for line in lines:
        (token,) = scan(f"#define {line}")
        change = MacroChange.of(token, is_system=system)
        assert change is not None
        add_changes(found, [change])
    return found


OWN = macros(
    "N 64",
    "NEGATIVE -1",
    "SUM 3 + 4",
    "TWO_N (2 * N)",
    "BOUND LIMIT(N, n)",
    "LIMIT(x, y) y",
    "IDX(r, c) ((r) * n + (c))",
    "MIN(a, b) ((a) < (b) ? (a) : (b))",
    "fp float",
    "ALIAS IDX",
    "ELEMENT a[i]",
    "SELF SELF + 1",
    "TEXT(x) #x",
    "JOIN(x, y) x ## y",
    "NOTHING",
    "LOG(x) fabs(x)",
    'FORMAT "%d"',
    "put(x, y, label) put(y, x)",
    "PUT(x) (put(x, x, 0) + 1)",
)
SYSTEM = macros("INT_MAX 2147483647", "bool _Bool", "isnan(x) __builtin_isnan(x)", system=True)
PREFIXED = macros('PREFIX "l"', 'PRIu64 PREFIX "u"', system=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a[N]", "a[N]"),
        ("x * NEGATIVE", "x * NEGATIVE"),
        ("2 * SUM", "2 * 3 + 4"),
        ("TWO_N", "TWO_N"),
        ("i < BOUND", "i < n"),
        ("a[IDX(i, N)]", "a[((i) * n + (N))]"),
        ("IDX", "IDX"),
        ("MIN(MIN(a, b), c)", "((((a) < (b) ? (a) : (b))) < (c) ? (((a) < (b) ? (a) : (b))) : (c))"),
        ("fp t;", "float t;"),
        ("ALIAS(1, 2)", "((1) * n + (2))"),
        ("ELEMENT = 0;", "a[i] = 0;"),
        ("SELF", "SELF + 1"),
        ("z = put(a, b, c);", "z = (*put)(b, a);"),
        ("return put(a, put(b, c, 1), 2);", "return (*put)((*put)(c, b), a);"),
        ("PUT(q)", "((*put)(q, q) + 1)"),
        ("int put(int x, int y, int z);", "int put(int y, int x);"),
        ("void *put(int x, int y, int z) {", "void *put(int y, int x) {"),
        ("TEXT(a b)", '"a b"'),
        ("printf(FORMAT, N)", "printf(FORMAT, N)"),
        ('printf("a " FORMAT FORMAT "b", N)', 'printf("a " "%d" "%d" "b", N)'),
        ('printf("a " PRIu64 "b", x)', 'printf("a " "l" "u" "b", x)'),
        ("printf(PRIu64, x)", 'printf("l" "u", x)'),
        ("JOIN(a, 1)", "a1"),
        ("x NOTHING;", "x ;"),
        ("LOG(IDX(0, 1))", "fabs(((0) * n + (1)))"),
        ("INT_MAX", "INT_MAX"),
        ("bool b;", "bool b;"),
        ("isnan(ELEMENT)", "isnan(a[i])"),
        ("IDX(i, /* the\ncolumn */ j)", "((i) * n + (j))"),
        ("/* N IDX(1, 2) */ x", "/* N IDX(1, 2) */ x"),
        ('"IDX(1, 2)"', '"IDX(1, 2)"'),
        ("IDX(i, j", "IDX(i, j"),
    ],
)
def test_expansion(text: str, expected: str) -> None:
    assert Expansion.of(text, {**SYSTEM, **PREFIXED, **OWN}).text == expected


def test_an_expansion_that_would_be_expanded_again_is_found() -> None:
    found = Expansion.of("x = SELF * 2 + SUM;", OWN)
    assert [found.pieces[place] for place in found.again] == [(4, 4)]
    assert expanded("x = SELF * 2 + SUM;", OWN) == "x = @ * 2 + 3 + 4;"


PIECES = st.lists(st.sampled_from(["IDX(i, j)", "N", "BOUND", " ", "x", "+", "\n", "/* N */", "MIN(a, b)"]))


@given(PIECES)
def test_places_lead_back_to_the_original(pieces: list[str]) -> None:
    text = " ".join(pieces)
    found = Expansion.of(text, OWN)
    for offset, letter in enumerate(found.text):
        place = found.original(offset)
        call = next((w for w in ("IDX(i, j)", "BOUND", "MIN(a, b)") if text.startswith(w, place)), None)
        assert call is not None or text[place] == letter
    places = [found.original(offset) for offset in range(len(found.text))]
    assert places == sorted(places)
    for token in scan(text):
        if token.text in {"x", "+", "N"}:
            assert found.text.startswith(token.text, found.offset_of(token.start))
