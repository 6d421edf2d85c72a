"""Copies of statements: what they have in common stays one node."""

from orio_py.core.source import SourceFile
from orio_py.ctree.build import assign, binary, block, ident, index
from orio_py.ctree.emit import emit
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import c_ast
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.rewrite import copy_with
from orio_py.transformation.base import Context
from orio_py.transformation.unrolling.body_copies import Copies


def _loop(*body: c_ast.Assignment) -> CanonicalLoop:
    text = "for (i = 0; i < n; i++) ;"
    (loop,) = parse_statements(text, source=SourceFile("a.c", text.encode()), start=0).block_items or []
    view = CanonicalLoop.match(copy_with(loop, stmt=block(*body)))
    assert view is not None
    return view


def test_a_shared_reference_is_one_node_in_each_copy() -> None:
    shared = index("a", binary("-", binary("+", ident("i"), 3), 1))
    view = _loop(assign("x", shared), assign("y", shared))
    copies = Copies(view, view.body, Context())
    first, second = copies.at(1)
    assert isinstance(first, c_ast.Assignment)
    assert isinstance(second, c_ast.Assignment)
    assert first.rvalue is second.rvalue
    assert emit(block(first, second)) == "x = a[i + 3];\ny = a[i + 3];\n"
    (third, fourth) = copies.at(2)
    assert emit(block(third, fourth)) == "x = a[i + 4];\ny = a[i + 4];\n"


def test_what_no_copy_changes_is_the_original_node() -> None:
    same = index("b", ident("j"))
    view = _loop(assign(index("c", ident("i")), same))
    (copy,) = Copies(view, view.body, Context()).at(1)
    assert isinstance(copy, c_ast.Assignment)
    assert copy.rvalue is same


def test_copies_keep_the_comments_by_which_a_case_goes_on_into_the_next() -> None:
    text = """for (i = 0; i < n; i++) {
      /* the terms */
      switch (m) {
        case 2: s += a[i + 1]; /* Falls through. */
        case 1: s += a[i]; // FALLTHRU
        default: break; /* none left */
      }
    }"""
    (loop,) = parse_statements(text, source=SourceFile("a.c", text.encode()), start=0).block_items or []
    view = CanonicalLoop.match(loop)
    assert view is not None
    copy = emit(block(*Copies(view, view.body, Context()).at(1)))
    assert copy.count("/* Falls through. */") == copy.count("FALLTHRU") == 1
    assert "terms" not in copy
    assert "left" not in copy
