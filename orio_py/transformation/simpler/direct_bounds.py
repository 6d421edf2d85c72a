"""Starts and bounds that are copied into variables before their loops stand in the loops' own headers.

    last = *n;                          last = *n;
    for (j = 0; j < last; j++) …        for (j = 0; j < *n; j++) …
    end = i + 1;                        end = i + 1;
    for (j = 0; j < end; j++) …         for (j = 0; j < i + 1; j++) …
    int lag = i;                        int lag = i;
    for (j = lag; j < n; j++) …         for (j = i; j < n; j++) …

Translators from Fortran write all loops so.  Of two loops around each other, the outer one then changes no bound of the
inner one, or it is seen how.

Source: for the idea, forward substitution; S. Muchnick, "Advanced Compiler Design and Implementation", 1997, 12.5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import replace

from orio_py.ctree.ctype import Rank, ctype
from orio_py.ctree.dependence.names import names_of
from orio_py.ctree.loops import CanonicalLoop, unmarked
from orio_py.ctree.nodes import Compound, For, Node, c_ast
from orio_py.ctree.rewrite import (
    Rewriter,
    assigned_names,
    copy_with,
    declared_names,
    used_names,
    walk,
    walk_statements,
)
from orio_py.ctree.symbols import declaration_of
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.forms import bound_is_invariant
from orio_py.transformation.overwriting import overwritten_by
from orio_py.transformation.sites import marked_like

_PARTS = (c_ast.ID, c_ast.Constant, c_ast.StructRef)


def with_direct_bounds(tree: Node, context: Context) -> Node:
    """The tree in whose blocks no start and no bound is a variable that holds a sum; the same object where that is so."""
    if any(isinstance(part, (c_ast.Goto, c_ast.Label)) for part in walk_statements(tree)):
        return tree
    blocks = _Blocks(_with_own_declarations(tree, context))
    new = blocks.rewrite(tree)
    done = context.effects(new)
    used = done.scalar_reads | done.address_taken | context.live_after | context.exposed
    idle = {place for place, name in blocks.copies.items() if name not in used}
    return _Unread(idle).rewrite(new) if idle else new


class _Unread(Rewriter):
    """Leaves out statements, given by identity."""

    def __init__(self, idle: Set[int]) -> None:
        self._idle = idle

    def visit_Compound(self, node: Compound) -> Node:
        items = [item for item in node.block_items or [] if id(item) not in self._idle]
        same = len(items) == len(node.block_items or [])
        return self.generic(node if same else copy_with(node, block_items=items))


class _Blocks(Rewriter):
    """Goes through the blocks from the outside in; `copies` are the assignments whose values loops have got, by identity."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.copies: dict[int, str] = {}

    def visit_Compound(self, node: Compound) -> Node:
        items = list(node.block_items or [])
        for place, item in reversed(list(enumerate(items))):  # A copy may be copied.
            found = _copied(item)
            if found is None or not _is_kept(*found, self._context):
                continue
            if self._put(*found, items, place + 1) and isinstance(item, c_ast.Assignment):
                self.copies[id(item)] = found[0]
        same = all(one is two for one, two in zip(items, node.block_items or [], strict=True))
        return self.generic(node if same else copy_with(node, block_items=items))

    def _put(self, name: str, value: Node, items: list[Node], start: int) -> bool:
        """Put a value in the headers of loops behind the statement that copies it, as long as both are the same; whether there are any."""
        is_put = False
        for place in range(start, len(items)):
            loop = CanonicalLoop.match(unmarked(items[place]))
            if loop is not None and _is(loop.bound, name) and bound_is_invariant(loop, self._context):
                direct = replace(loop, bound=value)
                if bound_is_invariant(direct, self._context):
                    items[place] = marked_like(items[place], _with_bound(loop.node, loop.bound, value))
                    is_put = True
            loop = CanonicalLoop.match(unmarked(items[place]))
            if loop is not None and _is(loop.start, name) and loop.index not in used_names([value]):
                items[place] = marked_like(items[place], _with_start(loop.node, loop.start, value))
                is_put = True
            if not _keeps(items[place], name, value, self._context):
                break
        return is_put


def _with_own_declarations(tree: Node, context: Context) -> Context:
    """The context with what a tree declares under a name of which there is no other."""
    found = [declaration_of(d) for d in walk(tree) if isinstance(d, c_ast.Decl) and d.name]
    times = Counter([*context.declarations, *(each.name for each in found)])
    own = {each.name: each for each in found if times[each.name] == 1}
    return replace(context, declarations={**context.declarations, **own})


def _is(node: Node, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name


def _copied(item: Node) -> tuple[str, Node] | None:
    """The variable that a statement sets, and the sum of variables and numbers that it is set to."""
    match item:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
            pass
        case c_ast.Decl(name=str(name), type=c_ast.TypeDecl(), init=Node() as value) if not item.storage:
            pass
        case _:
            return None
    return (name, value) if _is_sum(value) and name not in used_names([value]) else None


def _is_sum(value: Node) -> bool:
    match value:
        case c_ast.BinaryOp(op="+" | "-", left=left, right=right):
            return _is_sum(left) and _is_sum(right)
        case c_ast.UnaryOp(op="*", expr=c_ast.ID()):
            return True
        case _:
            return all(isinstance(part, _PARTS) for part in walk(value))


def _is_kept(name: str, value: Node, context: Context) -> bool:
    """Whether a variable is of the type that the value is computed in, so that it holds that as it is."""
    declared = context.declarations.get(name)
    kind = expression_type(value, context)
    if declared is None or not declared.is_scalar or name in context.exposed or kind is None:
        return False
    own = ctype(context.types.get(declared.type, declared.type))
    return own is not None and not own.is_floating and own.rank >= Rank.INT and own == kind


def _keeps(item: Node, name: str, value: Node, context: Context) -> bool:
    """Whether a statement changes neither a variable nor what its value is computed from."""
    read, done = used_names([value]) | {name}, context.effects(item)
    if not read.isdisjoint(frozenset(assigned_names(item)) | declared_names(item) | done.address_taken):
        return False
    in_memory = bool(context.effects(value).array_reads) or not read.isdisjoint(context.exposed)
    if not in_memory:
        return True
    names = names_of(item, context.declarations)
    return not (done.calls or done.opaque or overwritten_by(value, item, names, context))


def _with_bound(loop: For, bound: Node, value: Node) -> For:
    test = loop.cond
    assert isinstance(test, c_ast.BinaryOp)
    side = "left" if test.left is bound else "right"
    return copy_with(loop, cond=copy_with(test, **{side: value}))


def _with_start(loop: For, start: Node, value: Node) -> For:
    init = loop.init
    if isinstance(init, c_ast.DeclList):
        return copy_with(loop, init=copy_with(init, decls=[copy_with(init.decls[0], init=value)]))
    assert isinstance(init, c_ast.Assignment)
    assert init.rvalue is start
    return copy_with(loop, init=copy_with(init, rvalue=value))
