"""The references of a tree by value numbering: what is written alike, or simplifies to the same, is one."""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.ctree.dependence.names import Names, Reference, resolve
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import INCREMENTS, Node, c_ast, reference_parts
from orio_py.ctree.rewrite import walk
from orio_py.ctree.simplify import simplify
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.storage.array_uses.items import Ref

Declarations = Mapping[str, CDeclaration]
"""The declarations that are in scope."""

_Key = str | int


class References:
    """The references of a tree, the same object for the same value number."""

    def __init__(self) -> None:
        self._refs: dict[int, Ref] = {}
        self._texts: dict[_Key, Ref] = {}
        self._keys: dict[int, _Key] = {}
        self._numbers: dict[tuple[_Key, ...], int] = {}
        self._kept: list[Node] = []

    def known(self, node: Node) -> Ref | None:
        """The reference that a node of the tree is, if it was met as one."""
        return self._refs.get(id(node))

    def of(self, node: Node, declarations: Declarations) -> Ref | None:
        """The reference that a node of the tree is; None if it is no part of a named variable."""
        ref = self._refs.get(id(node))
        if ref is None:
            ref = self._ref(node, declarations)
            if ref is not None:
                self._refs[id(node)] = ref
        return ref

    def _ref(self, node: Node, declarations: Declarations) -> Ref | None:
        key = self._key(node)
        ref = self._texts.get(key)
        if ref is not None:
            return ref
        facts = Names(declarations, {}, frozenset(), frozenset())
        found = resolve(node, facts)
        if found is None:
            return None
        simple = key
        if not all(_is_simple(subscript) for subscript in reference_parts(node)[1]):
            node = simplify(node)
            self._kept.append(node)
            found = resolve(node, facts)
            simple = self._key(node)
        ref = self._texts.get(simple)
        if ref is None and found is not None:
            ref = self._texts[simple] = self._new_ref(node, found, declarations)
        if ref is not None:
            self._texts[key] = ref
        return ref

    def _key(self, node: Node) -> _Key:
        """What two expressions share exactly when they are the same.

        It is kept by the identity of the node: copies of a statement have most of their nodes in common.
        The nodes of the tree live as long as this does; others that get a key are in `_kept`.
        """
        if isinstance(node, c_ast.ID):
            return node.name
        if isinstance(node, c_ast.Constant):
            return node.value
        key = self._keys.get(id(node))
        if key is None:
            parts: tuple[_Key, ...]
            if isinstance(node, c_ast.ArrayRef):
                parts = "[]", self._key(node.name), self._key(node.subscript)
            elif isinstance(node, c_ast.BinaryOp):
                parts = node.op, self._key(node.left), self._key(node.right)
            else:
                parts = ("{}", emit_expression(node))
            key = self._keys[id(node)] = self._numbers.setdefault(parts, len(self._numbers))
        return key

    def _new_ref(self, node: Node, found: Reference, declarations: Declarations) -> Ref:
        parts = [part for subscript in found.subscripts for part in walk(subscript)]
        names = frozenset({found.variable, *(part.name for part in parts if isinstance(part, c_ast.ID))})
        below = [self.of(part, declarations) for part in parts if is_reference(part)]
        inner = tuple(ref for ref in below if ref is not None)
        steady = len(inner) == len(below) and not any(_is_unsteady(part) for part in parts)
        level = max((ref.level for ref in inner), default=-1) + 1
        name, variable, subscripts = found.name, found.variable, found.subscripts
        return Ref(node, name, variable, subscripts, found.spot, names, inner, steady, level)


def is_reference(node: Node) -> bool:
    """Whether an expression is a part of a variable, or what a pointer points to."""
    is_target = isinstance(node, c_ast.UnaryOp) and node.op == "*"
    return is_target or isinstance(node, (c_ast.ArrayRef, c_ast.StructRef))


def _is_unsteady(node: Node) -> bool:
    """Whether an operation has effects, or evaluates a part under a condition."""
    match node:
        case c_ast.Assignment() | c_ast.FuncCall() | c_ast.TernaryOp() | c_ast.BinaryOp(op="&&" | "||"):
            return True
        case c_ast.UnaryOp(op=op):
            return op in INCREMENTS or op == "&"
        case _:
            return False


def _is_simple(node: Node) -> bool:
    """Whether there is nothing to fold in a subscript: it is `i` or `i + 1`."""
    match node:
        case c_ast.ID() | c_ast.Constant():
            return True
        case c_ast.BinaryOp(op="+" | "-", left=c_ast.ID(), right=c_ast.Constant(value=value)):
            return value != "0"
        case _:
            return False
