"""Members that hold any address and are read as pointers of one type are taken for pointers of that type.

    for (j = 0; j < ((struct band *)a->content)->n; j++)     for (j = 0; j < a->content->n; j++)
      y[j] += ((struct band *)a->content)->cols[j][0];         y[j] += a->content->cols[j][0];

So structures and elements behind them are told apart.  What comes of the loops has the conversions again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from orio_py.ctree.ctype import ctype
from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, walk
from orio_py.ctree.structures import Structures, member_name, member_path, named_by
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.transformation.base import Context


@dataclass(frozen=True, slots=True)
class TypedMembers:
    """A tree without the conversions of some members, which have the types that it uses them as in its context.

    `types` are these types as the code has them, by the names of the members.
    """

    tree: Node
    context: Context
    types: Mapping[str, Node]

    @classmethod
    def of(cls, tree: Node, context: Context) -> TypedMembers | None:
        """The tree with such members; None where there are none."""
        own = (declaration_of(part) for part in walk(tree) if isinstance(part, c_ast.Decl) and part.name)
        declared = {**{d.name: d for d in own}, **context.declarations}
        shown = Counter(member_name(part) for part in walk(tree) if isinstance(part, c_ast.StructRef))
        casts: dict[str, list[c_ast.Cast]] = {}
        for name, cast in _converted(tree):
            casts.setdefault(name, []).append(cast)
        types: dict[str, Node] = {}
        structures = context.structures
        for name, found in casts.items():
            kind = _pointed_to(found[0].to_type, name, context)
            same = len({emit_type(each.to_type) for each in found}) == 1
            if kind is None or not same or len(found) != shown[name]:
                continue
            holders = {_holder(each.expr, declared, structures) for each in found}
            if None not in holders:
                types[name] = found[0].to_type
                structures = _with_type(structures, holders, kind)
        if not types:
            return None
        return cls(_Bare(frozenset(types)).rewrite(tree), replace(context, structures=structures), types)

    def restored(self, tree: Node) -> Node:
        """A tree with the conversions."""
        return _Converting(self.types).rewrite(tree)


def _converted(tree: Node) -> Iterator[tuple[str, c_ast.Cast]]:
    """The conversions of members, by their names."""
    for part in walk(tree):
        match part:
            case c_ast.Cast(expr=c_ast.StructRef(field=c_ast.ID(name=name))):
                yield name, part
            case _:
                pass


def _pointed_to(kind: Node, name: str, context: Context) -> CDeclaration | None:
    """The declaration of a member of a pointer type to structures or numbers; None for other types."""
    if not isinstance(kind, c_ast.Typename):
        return None
    declared = declaration_of(c_ast.Decl(name, [], [], [], [], kind.type, None, None))
    pointer = context.pointers.get(declared.type)
    if pointer is not None and not declared.pointers:
        declared = replace(pointer, name=name, storage=frozenset())
    words = context.types.get(declared.type, declared.type)
    is_known = words in context.structures or ctype(words) is not None
    if declared.pointers != 1 or declared.dimensions or declared.qualifiers - {"const"} or not is_known:
        return None
    return CDeclaration(name, words, pointers=1, qualifiers=declared.qualifiers, text=f"{words} *{name}")


def _holder(member: Node, declared: Mapping[str, CDeclaration], structures: Structures) -> str | None:
    """The structure of which a pointer is a member by itself; None where it is no such pointer, or that is not known."""
    assert isinstance(member, c_ast.StructRef)
    outer = named_by(member.name, declared, structures)
    path = () if outer is None else member_path(structures, outer.type, member_name(member))
    if outer is None or len(path) != 1:
        return None
    held = path[0]
    is_fit = held.pointers == 1 and not held.dimensions and "(" not in held.type and not held.overlaid
    return outer.type if is_fit and not held.qualifiers & {"volatile", "_Atomic", "restrict"} else None


def _with_type(structures: Structures, holders: set[str | None], kind: CDeclaration) -> Structures:
    """The structures where a member of some, under all their names, has another type."""
    changed = [structures[holder] for holder in holders if holder is not None]
    return {
        name: tuple(kind if member.name == kind.name else member for member in members)
        if members in changed
        else members
        for name, members in structures.items()
    }


class _Bare(Rewriter):
    """`a->content` for `(struct band *)a->content`."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def visit_Cast(self, node: c_ast.Cast) -> Node:
        match node.expr:
            case c_ast.StructRef(field=c_ast.ID(name=name)) as member if name in self._names:
                return copy_with(member, name=self.rewrite(member.name))
            case _:
                return self.generic(node)


class _Converting(Rewriter):
    """`(struct band *)a->content` for `a->content`."""

    def __init__(self, types: Mapping[str, Node]) -> None:
        self._types = types

    def visit_StructRef(self, node: c_ast.StructRef) -> Node:
        new = copy_with(node, name=self.rewrite(node.name))
        kind = self._types.get(member_name(node))
        return new if kind is None else c_ast.Cast(kind, new, node.coord)
