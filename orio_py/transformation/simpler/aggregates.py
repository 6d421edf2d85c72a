"""Local structures of numbers become variables of their own, and structures are copied number by number.

    complex t;                          for (i = 0; i < n; i++) {
    for (i = 0; i < n; i++) {             double t_re = x[i].re;
      t = x[i];                           double t_im = x[i].im;
      y[i].re = t.re * t.re;              y[i].re = t_re * t_re;
      y[i].im = -t.im;                    y[i].im = -t_im;
    }                                   }

A local array of them goes the same way where all its subscripts are numbers.  What is copied as a whole and used by
members elsewhere can then be told apart, and what each iteration writes first is its own.

Source: scalar replacement of aggregates; S. Muchnick, "Advanced Compiler Design and Implementation", 1997, 12.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from orio_py.core.names import NameSupply
from orio_py.ctree.build import assign, block, ident, literal_value
from orio_py.ctree.ctype import Rank, ctype
from orio_py.ctree.dependence.names import Names, resolve
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.ctree.rewrite import (
    Replacement,
    Rewriter,
    copy_with,
    map_children,
    used_names,
    walk,
    walk_statements,
)
from orio_py.ctree.structures import is_pointer, member_path, paths
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.transformation.base import Context
from orio_py.transformation.simpler.private_scalars import with_declarations

_MOST_NUMBERS = 32
"""Of a structure that is copied number by number."""

_STEADY_PARTS = (
    c_ast.ID, c_ast.Constant, c_ast.BinaryOp, c_ast.Cast, c_ast.Typename, c_ast.TypeDecl, c_ast.IdentifierType,
)  # fmt: skip
_BOUND = frozenset({"volatile", "const", "_Atomic"})

_Record = tuple[tuple[tuple[str, ...], str], ...]
"""The numbers of a structure: the names of the members that lead to each, and its type."""


def without_aggregates(tree: Node, context: Context) -> Node:
    """The tree without local structures where variables can stand for their numbers; the same object where there are none."""
    records = _Records(tree, context)
    if not records.found:
        return tree
    chosen = {name: record for name, record in records.found.items() if records.may_be_apart(name)}
    while True:
        apart = _Apart(tree, chosen, records, context)
        new = apart.rewrite(tree)
        if not apart.unfit:
            return new if apart.changed else tree
        chosen = {name: record for name, record in chosen.items() if name not in apart.unfit}


class _Records:
    """The variables, and the kinds of lvalues, that are structures of numbers."""

    def __init__(self, tree: Node, context: Context) -> None:
        self.tree, self._context = tree, context
        declared = [declaration_of(part) for part in walk(tree) if isinstance(part, c_ast.Decl) and part.name]
        self.inside = {d.name: d for d in declared}
        self._twice = {name for name in self.inside if sum(d.name == name for d in declared) > 1}
        self.declarations = {**context.declarations, **self.inside}
        self._names = Names(self.declarations, {}, frozenset(), frozenset())
        self._kinds: dict[str, _Record | None] = {}
        shown = used_names([tree]) | self.inside.keys()
        kinds = {name: self._record(d.type) for name, d in self.declarations.items() if name in shown}
        self.found = {name: record for name, record in kinds.items() if record is not None}

    def may_be_apart(self, name: str) -> bool:
        """Whether a variable is a structure, or an array of them, that nothing but its name leads to."""
        declared, context = self.declarations[name], self._context
        bound = declared.qualifiers & _BOUND or declared.storage - {"register", "auto"}
        if declared.pointers or len(declared.dimensions) > 1 or bound or name in self._twice:
            return False
        if name in self.inside:
            return True
        if declared.scope == "global" or name in context.live_after | context.exposed:
            return False
        return not (declared.dimensions and declared.copied)

    def of(self, node: Node) -> _Record | None:
        """The numbers of the structure that an lvalue is; None for anything else."""
        found = resolve(node, self._names)
        outer = self.declarations.get(found.variable) if found is not None else None
        if found is None or outer is None:
            return None
        kind, depth = outer.type, len(outer.dimensions) + outer.pointers
        for name in found.name.split(".")[1:]:
            path = member_path(self._context.structures, kind, name)
            if len(path) != 1:
                return None
            kind, depth = path[0].type, depth + len(path[0].dimensions) + path[0].pointers
        return self._record(kind) if depth == len(found.subscripts) else None

    def _record(self, kind: str) -> _Record | None:
        if kind not in self._kinds:
            self._kinds[kind] = self._numbers(kind)
        return self._kinds[kind]

    def _numbers(self, kind: str) -> _Record | None:
        found: list[tuple[tuple[str, ...], str]] = []
        for path in paths(self._context.structures, kind):
            if ctype(self._context.types.get(path[-1].type, path[-1].type)) is None or not all(
                map(_is_plain, path)
            ):
                return None
            found.append((tuple(member.name for member in path), path[-1].type))
        return tuple(found) if 0 < len(found) <= _MOST_NUMBERS else None

    def stays(self, node: Node, record: _Record) -> bool:
        """Whether an lvalue in memory is the same one after a number of such a structure has been set."""
        found = resolve(node, self._names)
        if found is None or any(_is_short(kind, self._context) for _, kind in record):
            return False
        parts = [part for subscript in found.subscripts for part in walk(subscript)]
        read = used_names(found.subscripts)
        return (
            all(isinstance(part, _STEADY_PARTS) for part in parts)
            and read.isdisjoint(self._context.exposed)
            and self.is_pure(node)
        )

    def is_pure(self, node: Node) -> bool:
        """Whether an expression may be evaluated several times instead of once."""
        found = self._context.effects(node)
        known = [self.declarations.get(name) for name in found.reads]
        is_volatile = any(d is not None and "volatile" in d.qualifiers for d in known)
        return not (found.writes or found.calls or found.opaque or is_volatile)


def _is_plain(member: CDeclaration) -> bool:
    is_more = member.dimensions or member.width or member.overlaid or is_pointer(member)
    return bool(member.name) and not (is_more or member.qualifiers & _BOUND)


def _is_short(kind: str, context: Context) -> bool:
    """Whether what is set may be a part of any other object (C99 6.5p7)."""
    known = ctype(context.types.get(kind, kind))
    return known is None or (not known.is_floating and known.rank <= Rank.CHAR)


class _Apart(Rewriter):
    """Puts variables in place of numbers; `unfit` are the structures for which there are none."""

    def __init__(
        self, tree: Node, chosen: Mapping[str, _Record], records: _Records, context: Context
    ) -> None:
        self._chosen, self._records, self._context = chosen, records, context
        self._supply: NameSupply = context.names(tree)
        self._statements = _assignments(tree)
        self._parts: dict[tuple[str, int | None, tuple[str, ...]], str] = {}
        self._waiting: dict[str, dict[str, str]] = {}
        """The variables of each structure that are not declared yet, with their types."""
        self._misused: set[str] = set()
        self.changed = False

    @property
    def unfit(self) -> set[str]:
        """Those that are used as a whole, or have a value from before that is read."""
        return self._misused | self._waiting.keys()

    def visit_ID(self, node: c_ast.ID) -> Node:
        if node.name in self._chosen:
            self._misused.add(node.name)
        return node

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        if node.op in {"&", "sizeof"}:
            self._misused |= used_names([node.expr]) & self._chosen.keys()
        return self.generic(node)

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        return self._number(node) or self.generic(node)

    def visit_StructRef(self, node: c_ast.StructRef) -> Node:
        return self._number(node) or copy_with(node, name=self.rewrite(node.name))

    def visit_Assignment(self, node: c_ast.Assignment) -> Replacement:
        whole = node.op == "=" and id(node) in self._statements
        return (self._copies(node, node.lvalue, node.rvalue) if whole else None) or self.generic(node)

    def visit_Compound(self, node: Compound) -> Node:
        old = list(node.block_items or [])
        items: list[Node] = []
        for item in old:
            match item:
                case c_ast.Decl(name=str(name), init=value) if name in self._chosen:
                    items += self._declared(item, name, value)
                case _:
                    found = self.visit(item)
                    items += found if isinstance(found, list) else [found]
        same = len(items) == len(old) and all(one is two for one, two in zip(items, old, strict=True))
        return self._with_declarations(node, node if same else copy_with(node, block_items=items))

    def _number(self, node: Node) -> Node | None:
        """The variable that stands for a member."""
        fields: list[str] = []
        while isinstance(node, c_ast.StructRef) and node.type == ".":
            fields.insert(0, emit_expression(node.field))
            node = node.name
        place = self._place(node)
        kind = dict(self._chosen[place[0]]).get(tuple(fields)) if place is not None else None
        if place is None or kind is None:
            return None
        return self._variable(place[0], place[1], tuple(fields), kind)

    def _place(self, node: Node) -> tuple[str, int | None] | None:
        """The structure that is taken apart and that an lvalue is: its name, and which element of an array."""
        match node:
            case c_ast.ID(name=name) if name in self._chosen:
                return None if self._records.declarations[name].dimensions else (name, None)
            case c_ast.ArrayRef(name=c_ast.ID(name=name), subscript=place) if name in self._chosen:
                number = literal_value(place)
                return (name, number) if number is not None and number >= 0 else None
            case _:
                return None

    def _variable(self, name: str, element: int | None, fields: tuple[str, ...], kind: str) -> Node:
        key = name, element, fields
        if key not in self._parts:
            words = [name, *([] if element is None else [str(element)]), *fields]
            self._parts[key] = self._supply.fresh("_".join(words))
        self._waiting.setdefault(name, {})[self._parts[key]] = kind
        self.changed = True
        return ident(self._parts[key])

    def _copies(self, place: Node, target: Node, value: Node) -> list[Node] | None:
        """The statements that copy a structure number by number; None where it is none, or not the same throughout."""
        record = self._records.of(target)
        if record is None or self._records.of(value) != record:
            return None
        into = self._numbers(target, record, self._records.stays(target, record))
        own = self._place(target)
        steady = self._records.stays(value, record)
        if own is not None:
            steady = self._records.is_pure(value) and own[0] not in used_names([value])
        source = self._numbers(value, record, steady)
        if into is None or source is None:
            return None
        self.changed = True
        pairs = zip(into, source, strict=True)
        return [copy_with(assign(one, two), coord=place.coord) for one, two in pairs]

    def _numbers(self, side: Node, record: _Record, steady: bool) -> list[Node] | None:
        place = self._place(side)
        if place is not None:
            name, element = place
            return [self._variable(name, element, fields, kind) for fields, kind in record]
        whole = map_children(side, self.visit) if steady else None
        return None if whole is None else [_member(whole, fields) for fields, _ in record]

    def _declared(self, node: Node, name: str, value: Node | None) -> list[Node]:
        """What a declaration sets; the variables themselves are declared where they are used."""
        self.changed = True
        copies = self._copies(node, ident(name), value) if value is not None else []
        if copies is None:
            self._misused.add(name)
            return [node]
        return copies

    def _with_declarations(self, old: Compound, new: Compound) -> Compound:
        """The block, with declarations of the variables that nothing outside it uses."""
        ready: dict[str, str] = {}
        for name, parts in list(self._waiting.items()):
            if self._is_home(old, new, name, parts):
                ready |= self._waiting.pop(name)
        if not ready:
            return new
        items = list(new.block_items or [])
        unread = ready.keys() - self._context.effects(new).reads
        if unread:
            items = _Dropping(unread, self._records, items).items()
        used = used_names(items)
        kept = {name: kind for name, kind in ready.items() if name in used}
        return copy_with(new, block_items=with_declarations(kept, items))

    def _is_home(self, old: Compound, new: Compound, name: str, parts: Mapping[str, str]) -> bool:
        """Whether a block holds all that is done with a structure: the one that declares it, or one that sets it first."""
        if name in self._records.inside:
            return any(isinstance(item, c_ast.Decl) and item.name == name for item in old.block_items or [])
        is_all = _count(old, name) == _count(self._records.tree, name)
        return is_all and self._context.effects(new).exposed.isdisjoint(parts)


def _assignments(tree: Node) -> frozenset[int]:
    """The assignments, by identity, that are statements."""
    return frozenset(id(part) for part in walk_statements(tree) if isinstance(part, c_ast.Assignment))


def _count(node: Node, name: str) -> int:
    return sum(isinstance(part, c_ast.ID) and part.name == name for part in walk(node))


def _member(node: Node, fields: Sequence[str]) -> Node:
    for name in fields:
        node = c_ast.StructRef(node, ".", c_ast.ID(name), node.coord)
    return node


class _Dropping(Rewriter):
    """Takes away what sets variables that nothing reads: compilers warn of these."""

    def __init__(self, names: Set[str], records: _Records, items: list[Node]) -> None:
        self._names, self._records, self._items = names, records, items
        self._statements = _assignments(block(*items))

    def items(self) -> list[Node]:
        """The statements that are left."""
        found = self.generic(block(*self._items))
        return list(found.block_items or [])

    def visit_Assignment(self, node: c_ast.Assignment) -> Replacement:
        is_one = isinstance(node.lvalue, c_ast.ID) and node.lvalue.name in self._names
        gone = is_one and id(node) in self._statements and self._records.is_pure(node.rvalue)
        return [] if gone else node
