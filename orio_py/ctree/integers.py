"""Variables that a tree itself shows to be integers."""

from __future__ import annotations

from orio_py.ctree.ctype import named_type
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk

ARITHMETIC = frozenset({"+", "-", "*", "/"})
"""Operators whose result is an integer only if both operands are."""

INTEGER_ONLY = frozenset({"%", "&", "|", "^", "<<", ">>"})
"""Operators that take integers only."""


def evident_integers(node: Node) -> frozenset[str]:
    """The variables that subscripts and declarations of the tree show to be integers."""
    found: set[str] = set()
    others: set[str] = set()
    for item in walk(node):
        if isinstance(item, c_ast.ArrayRef):
            found.update(_terms(item.subscript))
        elif isinstance(item, c_ast.Decl) and isinstance(item.type, c_ast.TypeDecl) and item.name:
            known = named_type(item.type)
            (others if known is None or known.is_floating else found).add(item.name)
    return frozenset(found - others)


def _terms(node: Node) -> list[str]:
    """The variables of a subscript that have to be integers for the subscript to be one."""
    found: list[str] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, c_ast.ID):
            found.append(current.name)
        elif isinstance(current, c_ast.BinaryOp) and current.op in ARITHMETIC | INTEGER_ONLY:
            stack.extend((current.left, current.right))
    return found
