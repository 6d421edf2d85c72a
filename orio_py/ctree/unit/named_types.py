"""What the names of types stand for: numbers, arrays of numbers, and pointers to data.

    typedef float real;         real: float
    typedef real row[4];        row: float [4]
    typedef struct grid *mesh;  mesh: struct grid *

A variable of such a type is taken for what it is, `mesh m` for `struct grid *m`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from orio_py.ctree.ctype import ctype
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import Rewriter
from orio_py.ctree.symbols import CDeclaration, declaration_of, is_complex

_OTHER_TYPES = re.compile(
    r"__attribute(?:__)?\s*\(\s*\((?:[^()]|\([^()]*\))*?\b_*(?:vector_size|ext_vector_type|mode|may_alias)_*\b"
)
"""Attributes of GNU C and clang that make another type, or one that overlaps others, of the words before them."""


@dataclass(frozen=True, eq=False)
class NamedTypes:
    """The `typedefs` of a translation unit by their names."""

    typedefs: Mapping[str, c_ast.Typedef]

    @cached_property
    def _declared(self) -> Mapping[str, CDeclaration]:
        """Variables of the types, by the names of these."""
        return {name: declaration_of(_as_variable(node)) for name, node in self.typedefs.items()}

    def number(self, name: str, *, arrays: bool = False) -> str | None:
        """The arithmetic type that a name stands for; with `arrays`, also that of the elements of arrays."""
        for _ in range(len(self.typedefs) + 1):
            if _is_arithmetic(name) or name not in self.typedefs:
                break
            declared = self._declared[name]
            if declared.pointers or (declared.dimensions and not (arrays and "" not in declared.dimensions)):
                return None
            name = declared.type
        return name if _is_arithmetic(name) else None

    @cached_property
    def arrays(self) -> Mapping[str, CDeclaration]:
        """The names of arrays of numbers, with their extents and the types of the numbers."""
        found: dict[str, CDeclaration] = {}
        for name, declared in self._declared.items():
            extents, kind = declared.dimensions, self.number(declared.type) or declared.type
            inner = found.get(declared.type)
            if inner is not None:
                extents, kind = (*extents, *inner.dimensions), inner.type
            if extents and "" not in extents and not declared.pointers and ctype(kind) is not None:
                found[name] = replace(declared, type=kind, dimensions=extents)
        return found

    @cached_property
    def pointers(self) -> Mapping[str, CDeclaration]:
        """The names of pointers to data, with what these point to."""
        found: dict[str, CDeclaration] = {}
        for name, declared in self._declared.items():
            kind, stars, qualifiers = declared.type, declared.pointers, declared.qualifiers
            inner = found.get(kind)
            if inner is not None:
                kind, stars, qualifiers = inner.type, stars + inner.pointers, inner.qualifiers
            if stars and not declared.dimensions and "(" not in kind:
                kind = self.number(kind) or kind
                found[name] = replace(declared, type=kind, pointers=stars, qualifiers=qualifiers)
        return found

    def of(self, declared: CDeclaration) -> CDeclaration:
        """The variable; one whose type is the name of an array has the extents of that, too, and that of a pointer its stars."""
        pointer = self.pointers.get(declared.type)
        if pointer is not None and not declared.points_to_array:
            qualifiers = (declared.qualifiers - {"const"}) | pointer.qualifiers
            stars = declared.pointers + pointer.pointers
            return replace(declared, type=pointer.type, pointers=stars, qualifiers=qualifiers)
        named = self.arrays.get(declared.type)
        if named is None or declared.pointers > 1 or (declared.pointers and declared.dimensions):
            return declared
        outer = ("",) if declared.pointers else declared.dimensions
        qualifiers = declared.qualifiers | named.qualifiers
        extents = (*outer, *named.dimensions)
        return replace(declared, type=named.type, dimensions=extents, pointers=0, qualifiers=qualifiers)


def has_other_types(text: str) -> bool:
    """Whether attributes say that declarations have other types than their words, as those of vectors do."""
    return "__attribute" in text and _OTHER_TYPES.search(text) is not None


def with_unknown_types(nodes: Sequence[Node], word: str) -> list[Node]:
    """Declarations with a word that nobody knows for each type of numbers."""
    return [_Unknown(word).rewrite(node) for node in nodes]


class _Unknown(Rewriter):
    def __init__(self, word: str) -> None:
        self._word = word

    def visit_IdentifierType(self, node: c_ast.IdentifierType) -> Node:
        return c_ast.IdentifierType([self._word], node.coord)


def _is_arithmetic(kind: str) -> bool:
    return ctype(kind) is not None or is_complex(kind)


def _as_variable(typedef: c_ast.Typedef) -> Node:
    return c_ast.Decl(typedef.name, [], [], [], [], typedef.type, None, None, typedef.coord)
