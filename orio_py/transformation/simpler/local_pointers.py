"""Pointers that a block sets once are replaced by what they point into, whose elements are then told apart.

    for (t = 0; t < n; t++) {                       for (t = 0; t < n; t++) {
      const float *x = in + t * c;
      for (i = 0; i < c; i++)                         for (i = 0; i < c; i++)
        out[t] += x[i];                                 out[t] += *(in + t * c + i);
    }                                               }

Nothing that the pointer is computed from may change while it is used.

Source: for the idea, forward substitution; S. Muchnick, "Advanced Compiler Design and Implementation", 1997, 12.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orio_py.ctree.build import as_long, binary, block, if_, index, literal_value
from orio_py.ctree.ctype import INT, CType, Rank, common
from orio_py.ctree.dependence.names import NO_NAMES, Names, names_of, references, resolve
from orio_py.ctree.nodes import NEGATED, Compound, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, assigned_names, copy_with, declared_names, used_names, walk
from orio_py.ctree.structures import member_path
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.overwriting import may_change
from orio_py.transformation.verdicts import aliases_in

_CASTS = (c_ast.Cast, c_ast.Typename, c_ast.TypeDecl, c_ast.IdentifierType)
_MEMORY = (c_ast.StructRef, c_ast.ArrayRef)
_PARTS = (c_ast.ID, c_ast.Constant, c_ast.TernaryOp, *_MEMORY, *_CASTS)
_LARGEST = 400
"""Nodes of what follows a pointer that has one of two values."""
_OPERATORS = frozenset({"+", "-", "*", *NEGATED})


def without_local_pointers(tree: Node, context: Context) -> Node:
    """The tree without the pointers that its blocks set once, where that keeps what it does, and without those that nothing uses."""
    if any(isinstance(part, (c_ast.Goto, c_ast.Label)) for part in walk(tree)):
        return tree
    found = _Blocks(tree, context).rewrite(tree)
    used = frozenset(part.name for part in walk(found) if isinstance(part, c_ast.ID))
    return _Unused(used).rewrite(found)


def without_threatened_pointers(tree: Node, context: Context) -> tuple[Node, frozenset[str]]:
    """The tree without the pointers that its blocks set once, and the names that nothing else in it may change for that.

    These are arrays, which no other name may overlap, and whose pointers nothing may write, and numbers in memory.
    """
    blocks = _Blocks(tree, context, is_tested=True)
    new = blocks.rewrite(tree)
    return new, frozenset(blocks.threatened)


@dataclass(frozen=True, slots=True)
class _Pointer:
    """A pointer and the expression that it is set to."""

    name: str
    value: Node
    declared: CDeclaration
    here: bool
    """Whether the statement that sets it declares it, too."""


class _Unused(Rewriter):
    """Leaves out the declarations of pointers that are neither set nor used."""

    def __init__(self, used: frozenset[str]) -> None:
        self._used = used

    def visit_Compound(self, node: Compound) -> Node:
        items = [item for item in node.block_items or [] if not self._is_idle(item)]
        same = len(items) == len(node.block_items or [])
        return self.generic(node if same else copy_with(node, block_items=items))

    def _is_idle(self, item: Node) -> bool:
        match item:
            case c_ast.Decl(name=str(name), type=c_ast.PtrDecl(), init=None):
                return name not in self._used and not item.storage
            case _:
                return False


class _Blocks(Rewriter):
    """Goes through the blocks from the outside in, so that pointers set from pointers follow."""

    def __init__(self, root: Node, context: Context, *, is_tested: bool = False) -> None:
        self.threatened: set[str] = set()
        self._is_tested = is_tested
        own = [declaration_of(d) for d in walk(root) if isinstance(d, c_ast.Decl) and d.name]
        self._root = root
        self._context = context
        self._all = replace(context, declarations={**{d.name: d for d in own}, **context.declarations})

    def visit_Compound(self, node: Compound) -> Node:
        items, place = list(node.block_items or []), 0
        while place < len(items):
            pointer = self._set(items[place])
            rest = items[place + 1 :]
            before = {item.name for item in items[:place] if isinstance(item, c_ast.Decl)}
            dies = pointer is not None and pointer.name in before
            if pointer is not None and (both := self._either(pointer, rest, dies=dies)) is not None:
                items = [*items[:place], both]
                break
            if pointer is None or not self._may_go(pointer, rest, dies=dies):
                place += 1
                continue
            new = with_value(block(*rest), pointer.name, pointer.value, self._all)
            assert isinstance(new, Compound)
            items = [*items[:place], *(new.block_items or [])]
        same = len(items) == len(node.block_items or [])
        return self.generic(node if same else copy_with(node, block_items=items))

    def _either(self, pointer: _Pointer, rest: Sequence[Node], *, dies: bool) -> Node | None:
        """What follows a pointer for either value of `c ? a : b`; None where a value could not stand for the pointer."""
        match pointer.value:
            case c_ast.TernaryOp(cond=cond, iftrue=one, iffalse=two) if _is_short(rest):
                pass
            case _:
                return None
        given = [replace(pointer, value=value) for value in (one, two)]
        if not all(self._may_go(each, rest, dies=dies) for each in given):
            return None
        return if_(cond, *(with_value(block(*rest), each.name, each.value, self._all) for each in given))

    def _set(self, item: Node) -> _Pointer | None:
        """The pointer that a statement does nothing but set."""
        match item:
            case c_ast.Decl(name=str(name), type=c_ast.PtrDecl(), init=Node() as value) if not item.storage:
                return _Pointer(name, value, declaration_of(item), here=True)
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
                declared = self._context.declarations.get(name)
                if declared is None or declared.scope == "global" or "static" in declared.storage:
                    return None
                return _Pointer(name, value, declared, here=False)
            case _:
                return None

    def _may_go(self, pointer: _Pointer, rest: Sequence[Node], *, dies: bool) -> bool:
        """Whether a pointer keeps one value in the statements behind, which are all that use it; `dies` if their block declares it."""
        name, after, declared = pointer.name, block(*rest), pointer.declared
        if declared.pointers != 1 or declared.dimensions or "volatile" in declared.qualifiers:
            return False
        if not pointer.here and not self._is_own(name, rest, dies=dies):
            return False
        value = _plain(pointer.value)
        if value is None or not self._is_same_type(value, pointer, after):
            return False
        shadowed = declared_names(after) & (used_names([value]) | {name})
        return not shadowed and _uses(after, name) and self._is_steady(value, name, after)

    def _is_own(self, name: str, rest: Sequence[Node], *, dies: bool) -> bool:
        """Whether nothing but the statements behind reads a pointer that the region did not declare here."""
        inside = sum(_count(item, name) for item in rest)
        elsewhere = _count(self._root, name) - inside - 1
        bare = sum(
            isinstance(part, c_ast.Decl) and part.name == name and part.init is not None
            for part in walk(self._root)
        )
        is_read = not dies and name in self._context.live_after
        return not elsewhere and not bare and not is_read and name not in self._context.exposed

    def _is_same_type(self, value: Node, pointer: _Pointer, after: Node) -> bool:
        """Whether what an expression points to is of the type that the pointer says, which stays in its row."""
        names = Names(self._context.declarations, {}, frozenset(), frozenset())
        base, _ = _inside_an_array(value) or (value, None)
        found = resolve(c_ast.UnaryOp("*", base), names)
        if found is None:
            return False
        outer = self._context.declarations.get(found.variable)
        depth = len(found.subscripts)
        for name in found.name.split(".")[1:]:
            path = () if outer is None else member_path(self._context.structures, outer.type, name)
            if outer is None or not path:
                return False
            depth -= sum(each.pointers + len(each.dimensions) for each in (outer, *path[:-1]))
            outer = path[-1]
        if outer is None:
            return False
        in_rows = len(outer.dimensions) > 1 or outer.points_to_array
        if _has_subscript(value) and in_rows and not _stays_in_row(value, pointer.name, outer, after):
            return False
        same = _class(outer, self._context) == _class(pointer.declared, self._context)
        return same and depth == outer.pointers + len(outer.dimensions)

    def _is_steady(self, value: Node, name: str, after: Node) -> bool:
        """Whether nothing that a pointer is computed from changes in the statements behind."""
        context = self._context
        read, done = used_names([value]), context.effects(after)
        if name in assigned_names(after) or not read.isdisjoint(assigned_names(after)):
            return False
        is_memory = any(isinstance(part, _MEMORY) for part in walk(value))
        if is_memory or not read.isdisjoint(context.exposed):
            names = names_of(after, context.declarations)
            aliases = aliases_in(self._all)
            written = [found for found, _, is_written in references(after, names) if is_written]
            used = [found for found, _, _ in references(value, NO_NAMES)]
            changed = {one.name for one in used if any(may_change(two, one, aliases) for two in written)}
            if done.calls or done.opaque or (changed and not self._is_tested):
                return False
            self.threatened |= changed
        return name not in done.address_taken


def _plain(value: Node) -> Node | None:
    """A sum that a pointer is set to, with `&a[i]` as `a + i`; None for what has more in it than names and numbers."""
    match value:
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(name=base, subscript=place)):
            value = binary("+", base, place)
        case _:
            pass
    return value if all(map(_is_plain_part, walk(value))) else None


def _is_short(rest: Sequence[Node]) -> bool:
    """Whether statements may stand twice: they declare nothing that keeps its value, and are few."""
    parts = [part for each in rest for part in walk(each)]
    is_kept = any(isinstance(part, c_ast.Decl) and "static" in (part.storage or []) for part in parts)
    return not is_kept and len(parts) <= _LARGEST


def _is_plain_part(part: Node) -> bool:
    match part:
        case c_ast.BinaryOp(op="/", right=divisor):
            return (literal_value(divisor) or 0) > 0
        case c_ast.BinaryOp(op=op):
            return op in _OPERATORS
        case c_ast.UnaryOp(op=op):
            return op in {"-", "+"}
        case _:
            return isinstance(part, _PARTS)


def _inside_an_array(value: Node) -> tuple[Node, Node | None] | None:
    """The array that a pointer evidently points into, and the place there if it is not the first; None for others."""
    match value:
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(name=base, subscript=place)):
            return base, None if literal_value(place) == 0 else place
        case c_ast.ArrayRef():
            return value, None
        case c_ast.BinaryOp(op="+", left=c_ast.ArrayRef() as inner, right=place):
            return inner, None if literal_value(place) == 0 else place
        case c_ast.BinaryOp(op="+", left=c_ast.ID() | c_ast.StructRef() as base, right=place) if any(
            isinstance(part, _MEMORY) for part in walk(place)
        ):
            return base, place  # Of two numbers from memory either could be a pointer by its form.
        case _:
            return None


def _type(place: Node, context: Context) -> CType | None:
    """The type of a step; a number without a sign counts as what is added to it."""
    value = literal_value(place)
    return expression_type(place, context) if value is None else INT if value < 0 else None


def _has_subscript(value: Node) -> bool:
    return any(isinstance(part, c_ast.ArrayRef) for part in walk(value))


def _stays_in_row(row: Node, name: str, matrix: CDeclaration, after: Node) -> bool:
    """Whether a pointer to the first element of a row is used for elements of that alone, by numbers."""
    extent = matrix.dimensions[-1] if matrix.dimensions else ""
    if not isinstance(row, c_ast.ArrayRef) or matrix.pointers or not extent.isdigit():
        return False
    places = [
        literal_value(part.subscript)
        for part in walk(after)
        if isinstance(part, c_ast.ArrayRef) and isinstance(part.name, c_ast.ID) and part.name.name == name
    ]
    inside = [place for place in places if place is not None and 0 <= place < int(extent)]
    return len(inside) == _count(after, name)


def _class(declared: CDeclaration, context: Context) -> str:
    """What the type of elements stands for."""
    return context.types.get(declared.type, declared.type)


def _count(node: Node, name: str) -> int:
    return sum(isinstance(part, c_ast.ID) and part.name == name for part in walk(node))


def _uses(after: Node, name: str) -> bool:
    """Whether a pointer is used for its value alone, which an expression can be used for as well."""
    for part in walk(after):
        match part:
            case c_ast.UnaryOp(op="sizeof" | "_Alignof" | "&", expr=inner) if (
                isinstance(inner, c_ast.ID) and inner.name == name
            ):
                return False
            case _:
                pass
    return True


def with_value(tree: Node, name: str, value: Node, context: Context) -> Node:
    """The tree with a plain sum, the address of an element, or an array in an array, where a pointer is used."""
    return _Replacing(name, value, context).rewrite(tree)


class _Replacing(Rewriter):
    """Puts an expression where a pointer is used."""

    def __init__(self, name: str, value: Node, context: Context) -> None:
        self._name = name
        self._context = context
        self._value = _plain(value) or value
        self._inner = _inside_an_array(value)

    def visit_ID(self, node: c_ast.ID) -> Node:
        return self._value if node.name == self._name else node

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        if not self._is_it(node.name) or isinstance(self._value, c_ast.ID):
            return self.generic(node)
        place = self.rewrite(node.subscript)
        if (element := self._element(place)) is not None:
            return element
        if isinstance(self._value, c_ast.BinaryOp) and any(isinstance(p, _MEMORY) for p in walk(place)):
            return copy_with(
                node, name=self._value, subscript=place
            )  # What is read could be a pointer by its form.
        return c_ast.UnaryOp("*", binary("+", self._value, place), node.coord)

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        element: Node | None = None
        match node:
            case c_ast.UnaryOp(op="*", expr=pointer) if self._is_it(pointer):
                element = self._element(None)
            case c_ast.UnaryOp(op="*", expr=c_ast.BinaryOp(op="+", left=pointer, right=place)) if self._is_it(
                pointer
            ):
                element = self._element(self.rewrite(place))
            case _:
                pass
        return element or self.generic(node)

    def _element(self, place: Node | None) -> Node | None:
        """The element at a place behind the pointer, if it is known of which array."""
        if self._inner is None:
            return None
        inner, first = self._inner
        if first is None or place is None:
            return index(inner, first or place or 0)
        return index(inner, self._sum(first, place))

    def _sum(self, first: Node, second: Node) -> Node:
        """How far two steps of a pointer lead, where C would compute their sum in a narrow type without a sign in `long`."""
        kinds = [_type(each, self._context) for each in (first, second)]
        total = None if None in kinds else common(*kinds)
        if total is None or not total.unsigned or total.rank > Rank.INT:
            return binary("+", first, second)
        are_natural = all(kind is not None and kind.promoted.unsigned for kind in kinds)
        return binary("+", first if are_natural else as_long(first), second)

    def visit_StructRef(self, node: c_ast.StructRef) -> Node:
        if not self._is_it(node.name) or isinstance(self._value, c_ast.ID):
            return copy_with(node, name=self.rewrite(node.name))
        match self._value:
            case c_ast.BinaryOp(op="+", left=c_ast.ID() as base, right=place):
                followed: Node = index(base, place)
            case _:
                followed = c_ast.UnaryOp("*", self._value, node.coord)
        return copy_with(node, name=self._element(None) or followed, type=".")

    def _is_it(self, node: Node) -> bool:
        return isinstance(node, c_ast.ID) and node.name == self._name
