"""The value of an index after its loop: how it is written, and when it cannot be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from c_trees import context, statement

from orio_py.ctree.emit import emit
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import CanonicalLoop, loops_in
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.final_index import final_value, is_live, test_before, with_final_indices

test_before.__test__ = False  # type: ignore[attr-defined]

DECLARATIONS = """int i, j, k, n, m, lo, row[9]; unsigned u, v, w; long wide, big; unsigned long ul; size_t size;
short tiny; unsigned char byte; char *text; double x, a[9];"""
AROUND = context(DECLARATIONS, live="i j k u w wide tiny byte ul size")


def around(**fields: Any) -> Context:
    return replace(AROUND, **fields)


def views(text: str) -> list[CanonicalLoop]:
    found = [CanonicalLoop.match(loop) for loop in loops_in(statement(text))]
    return [view for view in found if view is not None]


def value(header: str, inner: Context) -> str:
    (view,) = views(f"for ({header}) ;")
    return emit_expression(final_value(view, "X", inner))


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        # Numbers.
        ("i = 0; i < 7; i++", "7"),
        ("i = 0; i <= 7; i++", "8"),
        ("i = 0; i < 7; i += 2", "8"),
        ("i = 9; i >= 0; i--", "-1"),
        ("i = 9; i > 0; i -= 4", "-3"),
        ("i = 5; i < 3; i++", "5"),
        ("i = -2; i < 3; i++", "3"),
        ("u = 0; u < 7; u++", "7"),
        # One at a time.
        ("i = 0; i < n; i++", "n > 0 ? n : 0"),
        ("i = 0; i <= n; i++", "n >= 0 ? n + 1 : 0"),
        ("i = 1; i <= n - 1; i++", "n > 1 ? n : 1"),
        ("i = 1; i < n - 1; i++", "n - 1 > 1 ? n - 1 : 1"),
        ("i = 1; i <= n - 2; i++", "n - 2 >= 1 ? n - 1 : 1"),
        ("i = lo; i < n; i++", "lo < n ? n : lo"),
        ("i = n; i > 0; i--", "n > 0 ? 0 : n"),
        ("i = n; i >= 0; i--", "n >= 0 ? -1 : n"),
        ("i = n; i >= lo; i--", "n >= lo ? lo - 1 : n"),
        ("i = 9; i > n; i--", "n < 9 ? n : 9"),
        ("i = 9; i >= n; i--", "n <= 9 ? n - 1 : 9"),
        # Several at a time.
        ("i = 0; i < n; i += 4", "n > 0 ? n - (n - 1) % 4 + 3 : 0"),
        ("i = 0; i <= n; i += 4", "n >= 0 ? n - n % 4 + 4 : 0"),
        ("i = lo; i < n; i += 4", "lo < n ? n - (n - lo - 1) % 4 + 3 : lo"),
        ("i = n; i > 0; i -= 4", "n > 0 ? (n - 1) % 4 - 3 : n"),
        ("i = n; i >= 0; i -= 4", "n >= 0 ? n % 4 - 4 : n"),
        ("i = n; i >= lo; i -= 4", "n >= lo ? lo + (n - lo) % 4 - 4 : n"),
        ("i = 1; i < n; i += 4", "n > 1 ? n - (n - 2) % 4 + 3 : 1"),
        ("i = n; i > 1; i -= 4", "n > 1 ? (n - 2) % 4 - 2 : n"),
        ("i = n; i >= 1; i -= 4", "n >= 1 ? (n - 1) % 4 - 3 : n"),
        ("i = n; i < 0; i += 4", "n < 0 ? 0 - (0 - n - 1) % 4 + 3 : n"),
        ("i = n; i <= 0; i += 4", "n <= 0 ? 0 - (0 - n) % 4 + 4 : n"),
        # Loops that run for sure.
        ("i = 0; i <= byte; i++", "byte + 1"),
        ("u = 0; u <= v - 2; u++", "v - 1"),
        ("u = 0; u <= v; u++", "v + 1"),
        ("u = 0; u < v; u++", "v"),
        ("u = 1; u <= v; u++", "v >= 1 ? v + 1 : 1"),
        ("u = w; u < v; u++", "w < v ? v : w"),
        # Wider and shorter types.
        ("wide = 0; wide < n; wide++", "n > 0 ? n : 0"),
        ("wide = 0; wide <= n; wide++", "n >= 0 ? (long)n + 1 : 0"),
        ("wide = 0; wide <= big; wide++", "big >= 0 ? big + 1 : 0"),
        ("wide = 0; wide <= n + 1L; wide++", "n + 1L >= 0 ? n + 1L + 1 : 0"),
        ("wide = 0; wide < big; wide += 4", "big > 0 ? big - (big - 1) % 4 + 3 : 0"),
        ("wide = n; wide < big; wide += 4", "n < big ? big - (big - n - 1) % 4 + 3 : n"),
        ("tiny = 0; tiny < n; tiny++", "n > 0 ? n : 0"),
        ("byte = 0; byte < n; byte++", "n > 0 ? n : 0"),
        # Operands that are integers.
        ("i = 0; i < row[2]; i++", "row[2] > 0 ? row[2] : 0"),
        ("i = 0; i < 0x10; i++", "16"),
        ("i = 0; i < max(n, m); i++", "max(n, m) > 0 ? max(n, m) : 0"),
        ("i = 0; i < (n < m ? n : m); i++", "(n < m ? n : m) > 0 ? (n < m ? n : m) : 0"),
        ("i = 0; i < ~n; i++", "~n > 0 ? ~n : 0"),
        ("i = 0; i < COUNT; i++", "COUNT > 0 ? COUNT : 0"),
        ("i = 0; i < SUM; i++", "SUM > 0 ? SUM : 0"),
        ("i = 0; i < elsewhere; i++", "elsewhere > 0 ? elsewhere : 0"),
    ],
)
def test_final_value(header: str, expected: str) -> None:
    inner = around(macros={"COUNT": "-0x10L", "SUM": "(n + 2 * m)"})
    assert value(header, inner) == expected


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("i = 0; i < x; i++", "its bound is not known to be an integer"),
        ("i = x; i < n; i++", "its start is not known to be an integer"),
        ("i = 0; i < n * 0.5; i++", "its bound is not known to be an integer"),
        ("i = 0; i < 0.5 * n; i++", "its bound is not known to be an integer"),
        ("i = 0; i < a[2]; i++", "its bound is not known to be an integer"),
        ("i = 0; i < floor(n); i++", "its bound is not known to be an integer"),
        ("i = 0; i < max(n, x); i++", "its bound is not known to be an integer"),
        ("i = 0; i < (n ? m : x); i++", "its bound is not known to be an integer"),
        ("i = 0; i < (n ? x : m); i++", "its bound is not known to be an integer"),
        ("i = 0; i < -x; i++", "its bound is not known to be an integer"),
        ("i = 0; i < HALF; i++", "its bound is not known to be an integer"),
        ("i = 0; i < LIST; i++", "its bound is not known to be an integer"),
        ("i = 0; i < (long)n; i++", "its bound is not known to be an integer"),
        ("i = i + 1; i < n; i++", "its start has another value by then"),
        ("i = 0; i < u; i++", None),
        ("i = lo; i < u; i++", "its start and bound have other types than the index"),
        ("u = 0; u < n; u++", "its start and bound have other types than the index"),
        ("u = n; u < v; u++", "its start and bound have other types than the index"),
        ("tiny = lo; tiny < n; tiny++", "its start and bound have other types than the index"),
        ("tiny = 0; tiny < n; tiny += 2", None),
        ("i = n; i < n; i++", "its start and bound have other types than the index"),
        ("i = big; i < n; i++", "its start and bound have other types than the index"),
        ("wide = n; wide < m; wide++", None),
        ("wide = n; wide < m; wide += 2", "its start and bound have other types than the index"),
        ("u = -1; u > 7; u--", "its start and bound have other types than the index"),
    ],
)
def test_value_that_cannot_be_written(header: str, reason: str | None) -> None:
    inner = around(macros={"HALF": "(n * 0.5)", "LIST": "n, m"})
    if reason is None:
        value(header, inner)
        return
    with pytest.raises(Refusal) as caught:
        value(header, inner)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "ORIO-T029"
    assert diagnostic.message.endswith(f": {reason}")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("i = 0; i < n; i++", "n > 0"),
        ("i = lo; i <= n - 1; i++", "lo < n"),
        ("i = lo; i <= n - 2; i++", "lo <= n - 2"),
        ("i = lo; i < n - 1; i++", "lo < n - 1"),
        ("i = 9; i > n; i--", "n < 9"),
        ("i = 9; i >= n; i--", "n <= 9"),
        ("i = 1; i < 9; i++", "1 < 9"),
        ("i = lo; i < u; i++", None),
    ],
)
def test_whether_a_loop_runs(header: str, expected: str | None) -> None:
    (view,) = views(f"for ({header}) ;")
    found = test_before(view, AROUND)
    assert (None if found is None else emit_expression(found)) == expected


def after(text: str, live: str, **fields: Any) -> str:
    """What is written around and behind a nest, which is `nest();` in the result."""
    inner = around(live_after=frozenset(live.split()), **fields)
    result = with_final_indices(statement("nest();"), views(text), "X", inner)
    return " ".join(emit(result).split())


NEST = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) a[i] = j;"


@pytest.mark.parametrize(
    ("text", "live", "expected"),
    [
        (NEST, "", "nest();"),
        (NEST, "i", "nest(); i = n > 0 ? n : 0;"),
        (NEST, "j", "if (n > 0) { nest(); j = m > 0 ? m : 0; }"),
        (NEST, "i j", "if (n > 0) { nest(); j = m > 0 ? m : 0; } i = n > 0 ? n : 0;"),
        (NEST.replace("< n", "< 4"), "j", "nest(); j = m > 0 ? m : 0;"),
        (NEST.replace("< n", "< 4"), "i j", "nest(); j = m > 0 ? m : 0; i = 4;"),
        (NEST.replace("< m", "< i"), "j", "if (n > 0) { nest(); j = n - 1 > 0 ? n - 1 : 0; }"),
        (NEST.replace("< m", "<= i"), "j", "if (n > 0) { nest(); j = n > 0 ? n : 0; }"),
        (NEST.replace("j = 0", "j = i"), "j", "if (n > 0) { nest(); j = n - 1 < m ? m : n - 1; }"),
        (
            NEST.replace("i++", "i += 2").replace("< m", "< i"),
            "j",
            "if (n > 0) { nest(); j = n - (n - 1) % 2 - 1 > 0 ? n - (n - 1) % 2 - 1 : 0; }",
        ),
        ("for (u = 0; u < n; u++) a[u] = 1;", "u", "nest(); u = 0; if (u < n) u = n;"),
        ("for (u = 0; u <= n; u += 2) a[u] = 1;", "u", "nest(); u = 0; if (u <= n) u = n - (n - u) % 2 + 2;"),
        (
            "for (u = 0; u < n; u++) for (j = 0; j < m; j++) a[u] = j;",
            "j",
            "u = 0; if (u < n) { nest(); j = m > 0 ? m : 0; }",
        ),
        (
            "for (u = 0; u < n; u++) for (j = 0; j < m; j++) a[u] = j;",
            "u j",
            "u = 0; if (u < n) { nest(); j = m > 0 ? m : 0; u = 0; u = n; }",
        ),
    ],
)
def test_assignments_behind_a_nest(text: str, live: str, expected: str) -> None:
    assert after(text, live) == expected


def test_loops_that_do_not_run_for_sure() -> None:
    assert after(NEST.replace("i = 0; i < n", "i = 5; i < 3"), "j").startswith("if (5 < 3) {")
    converted = "for (u = -3; u < 4; u++) for (j = 0; j < m; j++) a[0] = j;"
    assert after(converted, "j").startswith("u = -3; if (u < 4) {")


TRIPLE = "for (i = 0; i < n; i++) for (j = 0; j < i; j++) for (k = 0; k < m; k++) a[i] = k;"

WIDE = "for (unsigned r = 0; r < n; r++) for (j = 0; j < m; j++) for (k = 0; k < m; k++) a[r] = k;"


@pytest.mark.parametrize(
    ("text", "live", "reason"),
    [
        (TRIPLE, "k", "the loop `j` around it runs a varying number of times"),
        (TRIPLE.replace("j = 0; j < i", "j = i; j < n"), "k", "the loop `j` around it runs a varying number"),
        (
            "for (unsigned r = 0; r < n; r++) for (j = 0; j < m; j++) a[r] = j;",
            "j",
            "start and bound of the loop `r` around it have other types than its index",
        ),
        (
            "for (wide = 0; wide < n; wide++) for (j = 0; j < wide; j++) a[j] = j;",
            "j",
            "start and bound of the loop `wide` around it have other types than its index",
        ),
        (
            "for (u = 0; u < n; u++) for (j = 0; j < u; j++) a[j] = j;",
            "j",
            "start and bound of the loop `u` around it have other types than its index",
        ),
        ("for (u = 0; u < n * 0.5; u++) k = 1;", "u", "its bound is not known to be an integer"),
        (
            "for (i = 0; i <= byte; i++) for (j = 0; j < i; j++) byte = 3;",
            "j",
            "cannot give `i`, which is read after the loop, its last value: its bound has another value",
        ),
        (WIDE, "j k", "cannot give `j`"),
        (TRIPLE, "j k", "cannot give `k`"),
        (WIDE, "i k", "cannot give `k`"),
        ("for (i = 0; i < a[1]; i++) for (j = 0; j < m; j++) k = j;", "j", "its bound is not known to be an"),
    ],
)
def test_nest_whose_last_values_cannot_be_written(text: str, live: str, reason: str) -> None:
    with pytest.raises(Refusal) as caught:
        after(text, live)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "ORIO-T029"
    assert reason in diagnostic.message


def test_index_that_is_read_afterwards() -> None:
    own, shared = views("for (int i = 0; i < n; i++) ;"), views("for (i = 0; i < n; i++) ;")
    assert is_live(shared[0], AROUND)
    assert not is_live(own[0], AROUND)
    assert not is_live(shared[0], around(live_after=frozenset("j")))
