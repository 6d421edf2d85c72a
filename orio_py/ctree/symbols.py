"""Declared variables as the rest of the program sees them, and what statements do to variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from orio_py.ctree.ctype import Rank, ctype
from orio_py.ctree.effects import Effects, effects
from orio_py.ctree.emit_expression import emit_argument, emit_declaration, emit_type
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import copy_with

__all__ = ["CDeclaration", "Effects", "Scope", "declaration_of", "effects"]

Scope = Literal["parameter", "local", "global"]


@dataclass(frozen=True, slots=True)
class CDeclaration:
    """A variable as declared in C.

    `type` is the element type in words.  `dimensions` are the array extents as C text, outermost first,
    '' for an open one; a pointer to an array counts as an array with an open outermost extent.
    `pointers` counts the stars below the extents.  `qualifiers` are those of the element, and `restrict`
    or `volatile` of the pointer.  `text` is the declaration without initialiser and semicolon.
    `promised` says that a parameter has as many elements at least as its outermost extent says, because
    `static` stands there (C99 6.7.5.3).
    """

    name: str
    type: str
    dimensions: tuple[str, ...] = ()
    pointers: int = 0
    qualifiers: frozenset[str] = frozenset()
    storage: frozenset[str] = frozenset()
    initialiser: str | None = None
    text: str = ""
    is_parameter: bool = False
    scope: Scope = "local"
    promised: bool = False
    allocated: bool = False
    """Whether it is a local pointer to memory that was allocated for it alone."""
    copied: bool = True
    """Whether the function may copy the address that a pointer parameter holds, or that of a local array."""
    element: str = ""
    """Of a member, the arithmetic type of which a typedef as its `type` makes arrays."""
    width: str = ""
    """Of a member, how many bits a bit field has."""
    overlaid: bool = False
    """Of a member, whether it shares its memory with the others, as those of a union do."""

    @property
    def is_array_like(self) -> bool:
        """Whether the variable is an array or a data pointer, so that it can have subscripts."""
        return bool(self.dimensions) or self.pointers > 0

    @property
    def points_to_array(self) -> bool:
        """Whether the outermost extent is that of a pointer: `double (*p)[3]`."""
        stars = "(*" in self.text or (not self.pointers and "*" in self.text.partition("[")[0])
        return self.dimensions[:1] == ("",) and stars

    @property
    def is_scalar(self) -> bool:
        """Whether the variable is a single number: no array, pointer, struct or function."""
        return not self.is_array_like and not self._is_compound

    @property
    def is_integer(self) -> bool:
        """Whether the element type is an integer type."""
        known = ctype(self.type)
        if known is None:
            return self.type.startswith("enum ") or "__int128" in self.type
        return not known.is_floating

    @property
    def holds_any_index(self) -> bool:
        """Whether the element type is an integer type as wide as `int`: a shorter one makes other numbers of large values."""
        known = ctype(self.type)
        return self.is_integer and (known is None or known.rank >= Rank.INT)

    @property
    def is_unsigned(self) -> bool:
        """Whether the element type is an unsigned integer type."""
        known = ctype(self.type)
        if known is None:
            return "__int128" in self.type and "unsigned" in self.type
        return known.unsigned or known.rank is Rank.BOOL

    @property
    def is_floating(self) -> bool:
        """Whether the element type is a real floating type."""
        known = ctype(self.type)
        return known is not None and known.is_floating

    @property
    def is_complex(self) -> bool:
        """Whether the element type is a complex one, `float _Complex`."""
        return is_complex(self.type)

    @property
    def _is_compound(self) -> bool:
        return self.type.startswith(("struct", "union", "void")) or "(" in self.type


def is_complex(kind: str) -> bool:
    """Whether words name a complex type, also by the macro of <complex.h>: `double complex`."""
    words = kind.split()
    return "_Complex" in words or ("complex" in words and len(words) > 1)


def declaration_of(decl: Node, *, scope: Scope = "local") -> CDeclaration:
    """The variable that a `Decl` declares.  Raises TypeError for another node, ValueError without name."""
    if not isinstance(decl, c_ast.Decl):
        raise TypeError(f"{type(decl).__name__} declares no variable")
    if decl.name is None:
        raise ValueError("the declaration has no name")
    dimensions, pointers, element = _shape(decl.type)
    qualifiers = _qualifiers(decl.type)
    bare = copy_with(decl, init=None) if decl.init is not None else decl
    return CDeclaration(
        name=decl.name,
        type=_element_type(element),
        dimensions=tuple(dimensions),
        pointers=pointers,
        qualifiers=frozenset(qualifiers),
        storage=frozenset(decl.storage),
        initialiser=None if decl.init is None else emit_argument(decl.init),
        text=emit_declaration(bare),
        is_parameter=scope == "parameter",
        scope=scope,
        promised=isinstance(decl.type, c_ast.ArrayDecl) and "static" in (decl.type.dim_quals or []),
    )


def _shape(kind: Any) -> tuple[list[str], int, Any]:
    """The extents, the stars below them, and the type that remains."""
    dimensions: list[str] = []
    if isinstance(kind, c_ast.PtrDecl) and isinstance(kind.type, c_ast.ArrayDecl):
        dimensions.append("")
        kind = kind.type
    while isinstance(kind, c_ast.ArrayDecl):
        dimensions.append("" if kind.dim is None else emit_argument(kind.dim))
        kind = kind.type
    pointers = 0
    while isinstance(kind, c_ast.PtrDecl) and not isinstance(kind.type, (c_ast.FuncDecl, c_ast.ArrayDecl)):
        pointers += 1
        kind = kind.type
    return dimensions, pointers, kind


def _element_type(kind: Any) -> str:
    if not isinstance(kind, c_ast.TypeDecl):
        return emit_type(_nameless(kind))
    base = kind.type
    if isinstance(base, c_ast.IdentifierType):
        return " ".join(base.names)
    if isinstance(base, (c_ast.Struct, c_ast.Union, c_ast.Enum)):
        word = type(base).__name__.lower()
        return f"{word} {base.name}" if base.name else word
    return emit_type(base)


def _nameless(kind: Any) -> Any:
    if isinstance(kind, c_ast.TypeDecl):
        return copy_with(kind, declname=None)
    return copy_with(kind, type=_nameless(kind.type))


def _qualifiers(kind: Any) -> set[str]:
    found: set[str] = set()
    while isinstance(kind, (c_ast.PtrDecl, c_ast.ArrayDecl)):
        words = kind.quals if isinstance(kind, c_ast.PtrDecl) else kind.dim_quals
        found.update(word.strip("_") for word in words or [] if word not in {"const", "static"})
        kind = kind.type
    if isinstance(kind, c_ast.TypeDecl):
        found.update(kind.quals or [])
    return found


def holds_constants(node: c_ast.Decl) -> bool:
    """Whether a variable keeps the values that it begins with, so that it makes no difference how long it lives."""
    kind: Node = node.type
    while isinstance(kind, c_ast.ArrayDecl):
        kind = kind.type
    is_constant = isinstance(kind, c_ast.TypeDecl) and "const" in kind.quals and "volatile" not in kind.quals
    return is_constant and node.init is not None and "extern" not in node.storage
