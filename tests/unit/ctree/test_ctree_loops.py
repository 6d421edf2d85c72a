"""Canonical loops and searches among loops."""

from __future__ import annotations

import pytest

from orio_py.core.source import SourceFile
from orio_py.ctree import loops
from orio_py.ctree.emit import emit_expression
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Compound, Node
from orio_py.ctree.parse import parse_statements


def parse(text: str) -> Compound:
    return parse_statements(text, source=SourceFile("t.c", text.encode("latin-1")), start=0)


def first(text: str) -> Node:
    return parse(text).block_items[0]


@pytest.mark.parametrize(
    ("header", "view"),
    [
        ("i = 0; i < n; i++", ("i", None, "0", "<", "n", 1)),
        ("i = 0; i <= n - 1; ++i", ("i", None, "0", "<=", "n - 1", 1)),
        ("i = n; i > 0; i--", ("i", None, "n", ">", "0", -1)),
        ("i = n; i >= 0; --i", ("i", None, "n", ">=", "0", -1)),
        ("int i = 0; i < n; i += 2", ("i", "int", "0", "<", "n", 2)),
        ("unsigned long i = 0; n > i; i = i + 2", ("i", "unsigned long", "0", "<", "n", 2)),
        ("i = 0; n >= i; i = 3 + i", ("i", None, "0", "<=", "n", 3)),
        ("i = 9; i > n; i -= 2", ("i", None, "9", ">", "n", -2)),
        ("i = 9; 0 < i; i = i - 2", ("i", None, "9", ">", "0", -2)),
        ("i = 9; 0 <= i; i += -1", ("i", None, "9", ">=", "0", -1)),
        ("i = a[0]; i < 2 * 3; i += 2 * 2", ("i", None, "a[0]", "<", "2 * 3", 4)),
        ("size_t i = 0; i < sizeof(x); i += 0x10", ("i", "size_t", "0", "<", "sizeof(x)", 16)),
    ],
)
def test_canonical(header: str, view: tuple[object, ...]) -> None:
    node = first(f"for ({header}) x;")
    loop = CanonicalLoop.match(node)
    assert loop is not None
    shown = (
        loop.index,
        loop.declared_type,
        emit_expression(loop.start),
        loop.relation,
        emit_expression(loop.bound),
    )
    assert (*shown, loop.stride) == view
    assert loop.upward == (loop.stride > 0)
    assert loop.node is node
    assert loops.reasons(node) == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("while (i) x;", "not a `for` loop"),
        ("for (; i < n; i++) x;", "does not set its index"),
        ("for (i = 0, j = 0; i < n; i++) x;", "more than one variable"),
        ("for (int i = 0, j = 0; i < n; i++) x;", "more than one variable"),
        ("for (int i; i < n; i++) x;", "more than one variable"),
        ("for (int *p = q; p < n; p++) x;", "more than one variable"),
        ("for (i += 1; i < n; i++) x;", "does not begin with `index = value`, but with `i += 1`"),
        ("for (a[0] = 0; a[0] < n; a[0]++) x;", "does not begin"),
        ("for (i = 0; i != n; i++) x;", "it tests `i != n`"),
        ("for (i = 0;; i++) x;", "it tests nothing"),
        ("for (i = 0; j < n; i++) x;", "does not compare the index `i`"),
        ("for (i = 0; i < n && j; i++) x;", "it tests `i < n && j`"),
        ("for (i = 0; i < i + n; i++) x;", "depends on the index"),
        ("for (i = 0; i < n;) x;", "does not step"),
        ("for (i = 0; i < n; j++) x;", "its step `j++`"),
        ("for (i = 0; i < n; i += k) x;", "its step `i += k`"),
        ("for (i = 0; i < n; i += 0) x;", "other than 0"),
        ("for (i = 0; i < n; i *= 2) x;", "its step `i *= 2`"),
        ("for (i = 0; i < n; i = 2 - i) x;", "its step `i = 2 - i`"),
        ("for (i = 0; i < n; i++, j++) x;", "its step"),
        ("for (i = 0; i < n; i--) x;", "its step counts down but its test is `i < n`"),
        ("for (i = 0; n < i; i++) x;", "its step counts up but its test is `i > n`"),
    ],
)
def test_not_canonical(text: str, reason: str) -> None:
    node = first(text)
    assert CanonicalLoop.match(node) is None
    assert reason in loops.reasons(node)


def test_a_member_is_not_the_index_of_its_name() -> None:
    loop = CanonicalLoop.match(first("for (c = 0; c < im.c; c++) x;"))
    assert loop is not None
    assert emit_expression(loop.bound) == "im.c"


@pytest.mark.parametrize("start", [-3, 0, 5])
@pytest.mark.parametrize("bound", [-4, 0, 6, 7])
@pytest.mark.parametrize("step", [-3, -1, 1, 2])
@pytest.mark.parametrize("equal", ["", "="])
def test_trip_count(start: int, bound: int, step: int, equal: str) -> None:
    relation = ("<" if step > 0 else ">") + equal
    loop = CanonicalLoop.match(first(f"for (i = {start}; i {relation} {bound}; i += {step}) x;"))
    assert loop is not None
    end = bound + (1 if step > 0 else -1) * bool(equal)
    assert loop.trip_count() == len(range(start, end, step))


def test_trip_count_of_a_symbolic_loop() -> None:
    loop = CanonicalLoop.match(first("for (i = 0; i < n; i++) x;"))
    assert loop is not None
    assert loop.trip_count() is None


FOR = "for ({0} = 0; {0} < n; {0}++) "
OVER_I, OVER_J, OVER_K = (FOR.format(name) for name in "ijk")


def test_nest() -> None:
    loop = CanonicalLoop.match(first(OVER_I + "{ /* c */ {" + OVER_J + OVER_K + "x; } }"))
    assert loop is not None
    assert [view.index for view in loops.nest(loop)] == ["i", "j", "k"]
    loop = CanonicalLoop.match(first(OVER_I + "{ " + OVER_J + "x; y; }"))
    assert loop is not None
    assert [view.index for view in loops.nest(loop)] == ["i"]


def test_searches() -> None:
    tree = parse(OVER_I + "{" + OVER_J + "x; " + OVER_K + "{ while (1) " + OVER_I + "y; } }" + OVER_J + "z;")
    assert [loops.header_index(loop) for loop in loops.loops_in(tree)] == ["i", "j", "k", "i", "j"]
    assert [loops.header_index(loop) for loop in loops.innermost_loops(tree)] == ["j", "i", "j"]
    assert [loops.header_index(loop) for loop in loops.outermost_loops(tree)] == ["i", "j"]
    assert len(loops.find_loops(tree, "j")) == 2
    assert loops.find_loops(tree, "zz") == []


def test_bodies() -> None:
    assert len(loops.body_statements(first("{ /* a */ x; y; }"))) == 2
    assert len(loops.body_statements(first("x;"))) == 1
    assert loops.sole_statement(first("{ { /* c */ x; } }")) is not None
    assert loops.sole_statement(first("{ x; y; }")) is None


@pytest.mark.parametrize(
    "text", ["i = 1;", "x = i++;", "--i;", "f(&i);", "a[i += 2] = 0;", "for (i = 0;;) ;"]
)
def test_first_write(text: str) -> None:
    assert loops.first_write("i", parse("x = i; a[i] = 2; " + text)) is not None


def test_no_write() -> None:
    assert loops.first_write("i", parse("x = i; a[i]++; j = -i; p = &a[i]; s.i = 1;")) is None


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ("break;", True), ("continue;", True), ("return;", True), ("goto a;", True), ("a: x;", True),
        ("for (;;) break;", False), ("while (1) continue;", False), ("do break; while (1);", False),
        ("switch (x) { case 1: break; }", False), ("switch (x) { case 1: continue; }", True),
        ("for (;;) return;", True), ("x = 1; if (y) { z; }", False),
        ("for (;;) { switch (x) { case 1: continue; } }", False),
    ],
)  # fmt: skip
def test_jumps_out(text: str, out: bool) -> None:
    assert (loops.jumps_out(parse(text)) is not None) == out
