"""The structures and unions that declarations define.

struct cell {                        struct cell            kind: int, `struct cell.at`, ``: `union cell.2`
  int kind;                          struct cell.at         x: int of 4 bits, y: int of 4 bits
  struct { int x : 4, y : 4; } at;   union cell.2           whole: long, part: float [2]
  union { long whole; float part[2]; };
};
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from orio_py.ctree.emit_expression import emit_argument
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import copy_with, walk
from orio_py.ctree.structures import Members, Structures
from orio_py.ctree.symbols import CDeclaration, declaration_of

_Compound = c_ast.Struct | c_ast.Union


def structures_of(nodes: Iterable[Node], resolved: Callable[[CDeclaration], CDeclaration]) -> Structures:
    """The members by tag (`struct cell`), by the names of typedefs, and by where they stand in another structure.

    `resolved` puts the types that typedefs stand for into a member.  A structure with a part that is no member is
    left out.
    """
    finder = _Finder(resolved)
    nodes = tuple(nodes)
    for node in nodes:
        for part in walk(node):
            if isinstance(part, (c_ast.Struct, c_ast.Union)) and part.decls:
                name = _tag(part) or _named(node, part)
                if name is not None:
                    finder.add(part, name)
    for node in nodes:
        if isinstance(node, c_ast.Typedef):
            kind = _target(node)
            tag = _tag(kind) if isinstance(kind, (c_ast.Struct, c_ast.Union)) else _word(kind)
            if tag in finder.found:
                finder.found.setdefault(node.name, finder.found[tag])
    return finder.found


@dataclass(slots=True)
class _Finder:
    resolved: Callable[[CDeclaration], CDeclaration]
    found: dict[str, Members] = field(default_factory=dict[str, Members])

    def add(self, node: _Compound, name: str) -> None:
        """Take the members of a structure, and those of the structures without a tag in it."""
        members: list[CDeclaration] = []
        for place, part in enumerate(node.decls or []):
            match part:
                case c_ast.StaticAssert():
                    continue
                case c_ast.Decl(
                    name=None, bitsize=None, type=c_ast.Struct(name=str()) | c_ast.Union(name=str())
                ):
                    continue  # declares a type alone
                case c_ast.Decl():
                    members.append(self._member(part, name, place))
                case _:
                    return
        overlaid = isinstance(node, c_ast.Union)
        self.found[name] = tuple(replace(member, overlaid=overlaid) for member in members)

    def _member(self, node: c_ast.Decl, outer: str, place: int) -> CDeclaration:
        own = _inner(node.type)
        name = node.name or ""
        if isinstance(own, (c_ast.Struct, c_ast.Union)) and own.decls and own.name is None:
            kind = f"{_keyword(own)} {outer.partition(' ')[2] or outer}.{name or place}"
            self.add(own, kind)
        else:
            kind = None
        if isinstance(node.type, (c_ast.Struct, c_ast.Union)):
            return CDeclaration("", kind or "")
        # Bits without a name are given one while they are looked at.
        declared = declaration_of(copy_with(node, name=name or "orio_bits", bitsize=None))
        width = "" if node.bitsize is None else emit_argument(node.bitsize)
        declared = replace(declared, name=name, width=width)
        return replace(declared, type=kind) if kind is not None else self.resolved(declared)


def _keyword(node: _Compound) -> str:
    return "struct" if isinstance(node, c_ast.Struct) else "union"


def _tag(node: _Compound) -> str | None:
    return None if node.name is None else f"{_keyword(node)} {node.name}"


def _named(node: Node, part: _Compound) -> str | None:
    """The name that a typedef gives to a structure without a tag."""
    return node.name if isinstance(node, c_ast.Typedef) and _target(node) is part else None


def _target(typedef: c_ast.Typedef) -> Node | None:
    kind = typedef.type
    return kind.type if isinstance(kind, c_ast.TypeDecl) else None


def _word(kind: Node | None) -> str | None:
    """The name of a type that is another typedef's."""
    return " ".join(kind.names) if isinstance(kind, c_ast.IdentifierType) else None


def _inner(kind: Node) -> Node:
    """What stands behind extents and stars."""
    while isinstance(kind, (c_ast.ArrayDecl, c_ast.PtrDecl, c_ast.TypeDecl)):
        kind = kind.type
    return kind
