"""The walk over a region: what an analysis is told, in which order, and under which conditions."""

from __future__ import annotations

import pytest

from orio_py.core.source import SourceFile
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import CanonicalLoop, ends_iterations
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.region_walk import RegionWalk


def tree(text: str) -> Node:
    source = SourceFile("s.c", text.encode())
    return parse_statements(source.text, source=source, start=0)


class Told(RegionWalk[str]):
    """Writes down what it is told; the state is what stands around a place."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def counted(self, loop: CanonicalLoop, state: str) -> None:
        self.expression(loop.start, state)
        self.expression(loop.bound, state)
        self.statement(loop.body, f"{state}{loop.index}:")

    def repeated(self, node: Node, state: str) -> str:
        return f"{state}{type(node).__name__}:"

    def under(self, condition: Node, truth: bool, state: str) -> tuple[str]:
        return (f"{state}{'' if truth else 'not '}{emit_expression(condition)}:",)

    def declaration(self, node: c_ast.Decl, state: str) -> str:
        if node.init is not None:
            self.expression(node.init, state)
        return f"{state}{node.name}:"

    def reference(self, node: Node, state: str, *, reads: bool, writes: bool) -> None:
        if isinstance(node, c_ast.ArrayRef):
            self.expression(node.subscript, state)
        self.lines.append(f"{state}{'r' * reads}{'w' * writes} {emit_expression(node)}")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a[i] = b;", ["r b", "r i", "w a[i]"]),
        ("a += b;", ["r b", "rw a"]),
        ("a++; --b;", ["rw a", "rw b"]),
        ("x = *p;", ["r *p", "w x"]),
        ("x = sizeof y;", ["w x"]),
        ("x = a && b;", ["r a", "a:r b", "w x"]),
        ("x = a || b;", ["r a", "not a:r b", "w x"]),
        ("x = c ? a : b;", ["r c", "c:r a", "not c:r b", "w x"]),
        ("x = f(a, b);", ["r a", "r b", "w x"]),
        ("x = (int) a;", ["r a", "w x"]),
        ("if (c) a = 1; else b = 1;", ["r c", "c:w a", "not c:w b"]),
        ("for (i = s; i < n; i++) a = i;", ["r s", "r n", "i:r i", "i:w a"]),
        ("while (c) a = 1;", ["While:r c", "While:w a"]),
        ("for (; c; i *= 2) a = 1;", ["For:r c", "For:rw i", "For:w a"]),
        ("switch (c) { case 1: a = 1; break; default: b = 1; }", ["r c", "Switch:w a", "Switch:w b"]),
        ("{ int t = a; b = t; } c = 1;", ["r a", "t:r t", "t:w b", "w c"]),
        ("again: a = 1;", ["w a"]),
        ("return a;", ["r a"]),
    ],
)
def test_what_an_analysis_is_told(text: str, told: list[str]) -> None:
    walk = Told()
    walk.statement(tree(text), "")
    assert walk.lines == told


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("if (c) continue; a = 1;", True),
        ("if (c) break;", True),
        ("switch (c) { case 1: break; }", False),
        ("switch (c) { case 1: continue; }", True),
        ("switch (c) { case 1: for (;;) { if (a) continue; } }", False),
        ("while (c) { if (a) break; }", False),
        ("return;", False),
    ],
)
def test_jumps_of_the_loop_around(text: str, ends: bool) -> None:
    assert ends_iterations(tree(text)) == ends
