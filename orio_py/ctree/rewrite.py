"""Copy-on-write rewriting: the argument is never changed and unchanged subtrees are shared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, cast

from orio_py.ctree.nodes import INCREMENTS, WITH_STATEMENTS, Compound, For, Node, c_ast, substatements

Replacement = Node | list[Node]
"""What stands in place of a node: one node, or in a list of statements any number of them."""

_STATEMENT_FIELDS = frozenset({"stmt", "iftrue", "iffalse", "body"})
_LEAVES = (c_ast.ID, c_ast.Constant)
_OPERANDS: Mapping[type[Node], Callable[[Node], tuple[Node, Node]]] = {
    c_ast.BinaryOp: attrgetter("right", "left"),
    c_ast.ArrayRef: attrgetter("subscript", "name"),
    c_ast.Assignment: attrgetter("rvalue", "lvalue"),
}
"""What gives the parts of a node of one of the commonest kinds, last one first."""


def _structure(node: Any) -> tuple[Node]:
    return (node.name,)


_EXPRESSIONS: Mapping[type[Node], Callable[[Node], tuple[Node, ...]]] = {
    **_OPERANDS,
    c_ast.StructRef: _structure,
}
"""The same without the names of members, which are apart from those of variables (C99 6.2.3)."""

_NOT_FIELDS = frozenset({"coord", "__weakref__"})
_N = TypeVar("_N", bound=Node)


@cache
def _fields_of(kind: type[Node]) -> tuple[str, ...]:
    slots: tuple[str, ...] = getattr(kind, "__slots__", ())
    return tuple(name for name in slots if name not in _NOT_FIELDS)


def fields(node: Node) -> tuple[str, ...]:
    """The names of the node's own fields: children and attributes, without the coordinate."""
    return _fields_of(type(node))


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, parents first, in the order of the source; names of members are left out."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        parts = _EXPRESSIONS.get(type(current))
        if parts is not None:
            stack += parts(current)
        elif not isinstance(current, _LEAVES):
            stack.extend(reversed(list(current)))


def walk_statements(node: Node) -> Iterator[Node]:
    """The statement and all statements below it, parents first; expressions are not entered."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        if isinstance(current, WITH_STATEMENTS):
            stack.extend(reversed(substatements(current)))


def copy_with(node: _N, **changes: object) -> _N:
    """A shallow copy of `node` with the given fields replaced; the coordinate is kept."""
    new = object.__new__(type(node))
    for name in _fields_of(type(node)):
        setattr(new, name, changes[name] if name in changes else getattr(node, name))
    new.coord = changes.get("coord", node.coord)
    return new


def map_children(node: _N, fn: Callable[[Node], Replacement]) -> _N:
    """`node` with `fn` applied to each child; the same object when no child changed.

    `fn` may return a list for an element of a list field.  For the body of a loop or branch, a list
    becomes a block, or its only statement.  Raises TypeError for a list in any other place.
    """
    if isinstance(node, _LEAVES):
        return node
    changes: dict[str, Any] | None = None
    for name in _fields_of(type(node)):
        value = getattr(node, name)
        if isinstance(value, str) or value is None:
            continue
        if isinstance(value, Node):
            new: Any = fn(value)
            if not isinstance(new, Node):
                new = _single(new, name)
        elif isinstance(value, list):
            new = _map_list(cast("list[Any]", value), fn)
        else:
            continue
        if new is not value:
            changes = {} if changes is None else changes
            changes[name] = new
    return node if changes is None else copy_with(node, **changes)


def _single(result: Replacement, name: str) -> Node:
    if isinstance(result, Node):
        return result
    if name not in _STATEMENT_FIELDS:
        raise TypeError(f"a list cannot replace the child `{name}`")
    return result[0] if len(result) == 1 else Compound(result)


def _map_list(items: list[Any], fn: Callable[[Node], Replacement]) -> list[Any]:
    result: list[Any] = []
    changed = False
    for item in items:
        new: Any = fn(item) if isinstance(item, Node) else item
        if isinstance(new, list):
            result.extend(cast("list[Node]", new))
            changed = True
        else:
            result.append(new)
            changed = changed or new is not item
    return result if changed else items


@cache
def _method_of(rewriter: type[Rewriter], kind: type[Node]) -> str | None:
    name = "visit_" + kind.__name__
    return name if hasattr(rewriter, name) else None


class Rewriter:
    """Rewrites a tree by node type: `visit_For(node)` handles each `For`, and so on.

    A method returns the node itself (unchanged), another node, or a list of statements.  Types without
    a method are rebuilt from their rewritten children; a method that wants that calls `generic`.
    """

    def visit(self, node: Node) -> Replacement:
        """What stands in place of `node`."""
        name = _method_of(type(self), type(node))
        if name is None:
            return map_children(node, self.visit)
        return cast("Replacement", getattr(self, name)(node))

    def generic(self, node: _N) -> _N:
        """`node` with its children rewritten."""
        return map_children(node, self.visit)

    def rewrite(self, node: Node) -> Node:
        """The rewritten tree as one node; a list of statements becomes a block."""
        result = self.visit(node)
        return result if isinstance(result, Node) else Compound(result)


def substitute(node: Node, name: str, replacement: Node) -> Node:
    """`node` with every use of the variable `name` replaced.

    Uses under a declaration of the same name in an inner scope stay, and so do member names, and what `sizeof` or
    `_Generic` is applied to unless the replacement is a variable, too: another expression may have another type.  The
    replacement itself may be captured by declarations in `node`: see `declared_names`.
    """
    return _Substitution(name, replacement).rewrite(node)


class _Substitution(Rewriter):
    def __init__(self, name: str, replacement: Node) -> None:
        self.name = name
        self.replacement = replacement
        self.shadowed = False

    def visit(self, node: Node) -> Replacement:
        return node if self.shadowed else super().visit(node)

    def visit_ID(self, node: c_ast.ID) -> Node:
        return self.replacement if node.name == self.name else node

    def visit_StructRef(self, node: c_ast.StructRef) -> Node:
        name = self.rewrite(node.name)
        return node if name is node.name else copy_with(node, name=name)

    def visit_NamedInitializer(self, node: c_ast.NamedInitializer) -> Node:
        designators = [d if isinstance(d, c_ast.ID) else self.rewrite(d) for d in node.name]
        value = self.rewrite(node.expr)
        same = value is node.expr and all(a is b for a, b in zip(designators, node.name, strict=True))
        return node if same else copy_with(node, name=designators, expr=value)

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        of_value = node.op == "sizeof" and not isinstance(node.expr, c_ast.Typename)
        return node if of_value and not isinstance(self.replacement, c_ast.ID) else self.generic(node)

    def visit_GenericSelection(self, node: c_ast.GenericSelection) -> Node:
        if isinstance(self.replacement, c_ast.ID):
            return self.generic(node)
        given = [each for each in node.associations if isinstance(each, c_ast.GenericAssociation)]
        chosen = [copy_with(each, expr=self.rewrite(each.expr)) for each in given]
        return copy_with(node, associations=chosen)

    def visit_FuncDecl(self, node: c_ast.FuncDecl) -> Node:
        return node

    def visit_Compound(self, node: Compound) -> Node:
        return self._scope(node)

    def visit_For(self, node: For) -> Node:
        return self._scope(node)

    def visit_Decl(self, node: c_ast.Decl) -> Node:
        kind = self.rewrite(node.type)
        self.shadowed = self.shadowed or node.name == self.name
        init = None if node.init is None else self.rewrite(node.init)
        return node if kind is node.type and init is node.init else copy_with(node, type=kind, init=init)

    def visit_Typedef(self, node: c_ast.Typedef) -> Node:
        kind = self.rewrite(node.type)
        self.shadowed = self.shadowed or node.name == self.name
        return node if kind is node.type else copy_with(node, type=kind)

    def visit_Enumerator(self, node: c_ast.Enumerator) -> Node:
        new = self.generic(node)
        self.shadowed = self.shadowed or node.name == self.name
        return new

    def visit_Struct(self, node: c_ast.Struct) -> Node:
        # Members have a name space of their own: their declarations shadow nothing.
        return node

    def visit_Union(self, node: c_ast.Union) -> Node:
        return node

    def _scope(self, node: Node) -> Node:
        # Children come in the order of the source, so a declaration shadows what follows it.
        before = self.shadowed
        new = self.generic(node)
        self.shadowed = before
        return new


def rename(node: Node, mapping: Mapping[str, str]) -> Node:
    """`node` with identifiers renamed everywhere, in uses and in declarations alike.

    Member names and labels stay.  The meaning is kept when the new names are fresh.
    """
    return _Renaming(mapping).rewrite(node)


class _Renaming(Rewriter):
    def __init__(self, mapping: Mapping[str, str]) -> None:
        self.mapping = mapping

    def visit_ID(self, node: c_ast.ID) -> Node:
        return self._renamed(node, "name")

    def visit_StructRef(self, node: c_ast.StructRef) -> Node:
        name = self.rewrite(node.name)
        return node if name is node.name else copy_with(node, name=name)

    def visit_NamedInitializer(self, node: c_ast.NamedInitializer) -> Node:
        return _Substitution.visit_NamedInitializer(cast("Any", self), node)

    def visit_Struct(self, node: c_ast.Struct) -> Node:
        return node

    def visit_Union(self, node: c_ast.Union) -> Node:
        return node

    def visit_TypeDecl(self, node: c_ast.TypeDecl) -> Node:
        return self._renamed(self.generic(node), "declname")

    def visit_Decl(self, node: c_ast.Decl) -> Node:
        return self._renamed(self.generic(node), "name")

    def visit_Typedef(self, node: c_ast.Typedef) -> Node:
        return self._renamed(self.generic(node), "name")

    def visit_Enumerator(self, node: c_ast.Enumerator) -> Node:
        return self._renamed(self.generic(node), "name")

    def visit_IdentifierType(self, node: c_ast.IdentifierType) -> Node:
        if not any(word in self.mapping for word in node.names):
            return node
        return copy_with(node, names=[self.mapping.get(word, word) for word in node.names])

    def _renamed(self, node: Node, field: str) -> Node:
        new = self.mapping.get(getattr(node, field) or "")
        return node if new is None else copy_with(node, **{field: new})


def declared_names(node: Node) -> frozenset[str]:
    """The variables, constants and types that declarations inside `node` introduce, in any scope."""
    kinds = (c_ast.Decl, c_ast.Typedef, c_ast.Enumerator)
    found: set[str] = set()
    for current in _distinct([node], (c_ast.Struct, c_ast.Union, c_ast.FuncDecl)):
        if isinstance(current, kinds) and current.name:
            found.add(current.name)
    return frozenset(found)


def assignments(node: Node) -> Iterator[tuple[str, Node]]:
    """The places that assign or step a variable as a whole, with its name, in the order of the source."""
    for part in walk(node):
        match part:
            case c_ast.Assignment(lvalue=c_ast.ID(name=name)):
                yield name, part
            case c_ast.UnaryOp(op=op, expr=c_ast.ID(name=name)) if op in INCREMENTS:
                yield name, part
            case _:
                pass


def targets(node: Node) -> Iterator[Node]:
    """What is assigned or stepped, variables and what is behind pointers alike, in the order of the source."""
    for part in walk(node):
        match part:
            case c_ast.Assignment(lvalue=target):
                yield target
            case c_ast.UnaryOp(op=op, expr=target) if op in INCREMENTS:
                yield target
            case _:
                pass


def assigned_names(*nodes: Node) -> tuple[str, ...]:
    """The names that are assigned or stepped anywhere in the trees, in the order of the source."""
    return tuple(dict.fromkeys(name for node in nodes for name, _ in assignments(node)))


def used_names(nodes: Iterable[Node], *, members: bool = True) -> frozenset[str]:
    """Every identifier that occurs anywhere in the trees, as a name of anything.

    Without `members`, names stay out that are those of members alone, which are apart from all others (C99 6.2.3).
    """
    found: set[str] = set()
    names: dict[int, str] = {}
    fields_of_structures: set[int] = set()
    for node in _distinct(list(nodes)):
        if isinstance(node, c_ast.ID):
            names[id(node)] = node.name
            continue
        if isinstance(node, c_ast.StructRef) and not members:
            fields_of_structures.add(id(node.field))
        for name in fields(node):
            value = getattr(node, name)
            if name in {"name", "declname", "function"} and isinstance(value, str):
                found.add(value)
            elif name == "names":
                found.update(cast("list[str]", value))
    return frozenset(found.union(name for key, name in names.items() if key not in fields_of_structures))


def _distinct(stack: list[Node], closed: tuple[type[Node], ...] = ()) -> Iterator[Node]:
    """The nodes below those of a stack, in any order, without operators and literals; `closed` ones are not entered.

    What occurs several times comes once: copies of a statement share most of their parts.
    """
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        parts = _OPERANDS.get(type(node))
        if parts is not None:
            stack += parts(node)
        elif not isinstance(node, c_ast.Constant):
            yield node
            if not isinstance(node, (c_ast.ID, *closed)):
                stack.extend(node)
