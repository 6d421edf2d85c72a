"""Pointers that are read as pointers to another type become pointers of that type, whose elements are told apart.

    for (i = 0; i < n; i++)                         double *in_double = (double *)in;
      y[i] = ((double *)in)[i * stride];            for (i = 0; i < n; i++)
                                                      y[i] = in_double[i * stride];

The pointer itself keeps its value throughout the loops, and has one before them.  The loops use it as of one type alone, so
that no memory gets two names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from orio_py.core.names import NameSupply
from orio_py.ctree.build import declare, flat_block, ident
from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import Rewriter, assigned_names, copy_with, declared_names, walk
from orio_py.transformation.base import Context
from orio_py.transformation.sites import outermost_marks, rewrite_where


def with_typed_pointers(tree: Node, context: Context) -> Node:
    """The tree with pointers of the types that its marks use others as; the same object where there are none."""
    marks = {id(mark) for mark in outermost_marks(tree) if any(_casts(mark))}

    def change(mark: Node, inner: Context) -> Node:
        typed = _Typed.of(mark, inner)
        new = typed.rewrite(mark)
        return flat_block(*typed.declared.values(), new) if typed.declared else mark

    return rewrite_where(tree, lambda node: id(node) in marks, change, context) if marks else tree


def _casts(statement: Node) -> Iterator[tuple[str, str]]:
    """The variables that are converted to pointers to elements, each with the type."""
    for part in walk(statement):
        match part:
            case c_ast.Cast(expr=c_ast.ID(name=name), to_type=kind) if _is_to_elements(kind):
                yield name, emit_type(kind)
            case _:
                pass


def _is_to_elements(kind: Node) -> bool:
    """Whether a type is a pointer to numbers or structures."""
    match kind:
        case c_ast.Typename(type=c_ast.PtrDecl(type=c_ast.TypeDecl(type=c_ast.IdentifierType(names=names)))):
            return names != ["void"]
        case c_ast.Typename(type=c_ast.PtrDecl(type=c_ast.TypeDecl(type=c_ast.Struct(decls=None)))):
            return True
        case _:
            return False


@dataclass(slots=True)
class _Typed(Rewriter):
    """Puts the new pointers in place of the conversions of those that keep their values."""

    fit: frozenset[str]
    types: Mapping[str, str]
    supply: NameSupply
    declared: dict[tuple[str, str], c_ast.Decl] = field(default_factory=dict[tuple[str, str], c_ast.Decl])

    @classmethod
    def of(cls, statement: Node, context: Context) -> _Typed:
        """For a statement in its context."""
        changing = frozenset(assigned_names(statement)) | declared_names(statement) | context.exposed
        uses = Counter(_casts(statement))
        shown = Counter(part.name for part in walk(statement) if isinstance(part, c_ast.ID))
        names = {name for (name, _), count in uses.items() if count == shown[name]} - changing
        fit = frozenset(name for name in names if _has_value(name, context))
        return cls(fit, context.types, context.names(statement))

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        """`((T *)p)[i]`."""
        pointer = self._pointer(node.name)
        if pointer is None:
            return self.generic(node)
        return copy_with(node, name=pointer, subscript=self.rewrite(node.subscript))

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        """`*(T *)p` and `*((T *)p + i)`."""
        match node:
            case c_ast.UnaryOp(op="*", expr=c_ast.BinaryOp(op="+", left=left, right=right) as total):
                pointer = self._pointer(left)
                if pointer is None:
                    return self.generic(node)
                return copy_with(node, expr=copy_with(total, left=pointer, right=self.rewrite(right)))
            case c_ast.UnaryOp(op="*", expr=inner) if (pointer := self._pointer(inner)) is not None:
                return copy_with(node, expr=pointer)
            case _:
                return self.generic(node)

    def visit_StructRef(self, node: c_ast.StructRef) -> Node:
        """`((T *)p)->m`."""
        pointer = self._pointer(node.name) if node.type == "->" else None
        return copy_with(node, name=pointer or self.rewrite(node.name))

    def _pointer(self, node: Node) -> Node | None:
        """The variable for a conversion."""
        match node:
            case c_ast.Cast(to_type=kind, expr=c_ast.ID(name=name)) if name in self.fit and _is_to_elements(
                kind
            ):
                text = " ".join(self.types.get(word, word) for word in emit_type(kind).split())
                if (name, text) not in self.declared:
                    own = self.supply.fresh("_".join([name, *_last_word(text)]))
                    self.declared[name, text] = declare(text, own, node)
                return ident(self.declared[name, text].name or "")
            case _:
                return None


def _last_word(text: str) -> list[str]:
    return text.replace("*", " ").split()[-1:]


def _has_value(name: str, context: Context) -> bool:
    """Whether a pointer is one of the function's that is set before its statements, or an array."""
    declared = context.declarations.get(name)
    if declared is None or "volatile" in declared.qualifiers or declared.points_to_array:
        return False
    if declared.scope == "parameter":
        return declared.pointers + len(declared.dimensions) > 0
    return bool(declared.dimensions) != bool(declared.pointers and declared.initialiser)
