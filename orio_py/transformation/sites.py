"""Rewrites chosen statements of a tree, each told what is read after it and what stands before it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, takewhile

from orio_py.ctree.loops import CanonicalLoop, jumps_out, loops_in, unmarked
from orio_py.ctree.nodes import (
    WITH_STATEMENTS,
    Comment,
    Compound,
    For,
    GuardedPragma,
    Node,
    Transform,
    c_ast,
)
from orio_py.ctree.rewrite import Rewriter, copy_with, declared_names, used_names, walk_statements
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.transformation.base import Context

Choice = Callable[[Node], bool]
Change = Callable[[Node, Context], Node]
_LiveAfter = Callable[[str], bool]


def rewrite_where(root: Node, chosen: Choice, change: Change, context: Context) -> Node:
    """`root` with each statement that `chosen` names replaced by `change` of it, innermost first.

    `chosen` sees the statements of `root` itself; `change` sees them with the changes inside them, and
    the context of their own place.  A block that comes back for a loop is spliced into the surrounding
    block where that keeps the meaning.  Unchanged parts are shared.
    """
    sites = _Sites(root, chosen, change, context)
    live = context.live_after

    def live_after(name: str) -> bool:
        return name in live

    return sites.visit(root, _Site(live_after, live_after, context.pragmas, {}))


@dataclass(frozen=True, slots=True)
class _Site:
    """A place: what is read after it and where its jumps lead, pragmas before it, and what is declared and stands around it."""

    live_after: _LiveAfter
    live_at_jump: _LiveAfter
    pragmas: tuple[str, ...]
    declarations: Mapping[str, CDeclaration]
    around: tuple[Node, ...] = ()


@dataclass(slots=True)
class _Order:
    """The statements of a block by what they read first or write, put in order when that is first asked."""

    items: list[Node]
    context: Context
    _places: dict[str, list[int]] | None = None
    _jumps: list[int] | None = None

    def jumps(self, number: int, last: int) -> bool:
        """Whether one of the statements, from one with a number on to the last, may lead out of the block."""
        if self._jumps is None:
            self._jumps = [place for place, item in enumerate(self.items) if jumps_out(item) is not None]
        return any(number <= place <= last for place in self._jumps)

    def using(self, name: str, number: int) -> Iterator[tuple[int, Node]]:
        """The statements, from one with a number on, that read a name before they write it, or write it, with their numbers."""
        if self._places is None:
            self._places = {}
            for place, item in enumerate(self.items):
                effects = self.context.effects(item)
                for used in effects.reads_before_write | effects.writes:
                    self._places.setdefault(used, []).append(place)
        places = self._places.get(name, [])
        return ((place, self.items[place]) for place in islice(places, bisect_left(places, number), None))


@dataclass(slots=True)
class _Sites:
    root: Node
    chosen: Choice
    change: Change
    context: Context
    _read_by_jump: frozenset[str] | None = None

    @property
    def read_by_jump(self) -> frozenset[str]:
        """What may be read behind a `goto`: everything that the tree mentions, if it has one."""
        if self._read_by_jump is None:
            jumps = any(isinstance(n, c_ast.Goto) for n in walk_statements(self.root))
            self._read_by_jump = frozenset(used_names([self.root])) if jumps else frozenset()
        return self._read_by_jump

    def visit(self, node: Node, site: _Site) -> Node:
        new = self._inside(node, site)
        if not self.chosen(node):
            return new
        return self.change(new, self._context(node, site))

    def _inside(self, node: Node, site: _Site) -> Node:
        match node:
            case Compound():
                items = self._items(node.block_items or [], site, ends=node is not self.root)
                if items is None:
                    return node
                return copy_with(node, block_items=items if node is self.root else _unwrapped(items))
            case c_ast.Case() | c_ast.Default():
                items = self._items(node.stmts or [], site)
                return node if items is None else copy_with(node, stmts=items)
            case For() | c_ast.While() | c_ast.DoWhile():
                around = (*site.around, node)
                live = self._around(node, site)
                inner = _Site(live, live, (), site.declarations, around)
                return self._only(node, "stmt", inner)
            case c_ast.If():
                inner = replace(site, pragmas=())
                return self._only(self._only(node, "iftrue", inner), "iffalse", inner)
            case c_ast.Switch():
                return self._only(node, "stmt", self._in_switch(node, site))
            case c_ast.Label() | Transform():
                return self._only(node, "stmt", site)
            case _:
                return node

    def _only(self, node: Node, name: str, site: _Site) -> Node:
        child: Node | None = getattr(node, name)
        if child is None:
            return node
        if isinstance(node, For) and isinstance(node.init, c_ast.DeclList):
            site = replace(
                site,
                declarations={
                    **site.declarations,
                    **_declared([d for d in node.init.decls if isinstance(d, c_ast.Decl)]),
                },
            )
        new = self.visit(child, site)
        return node if new is child else copy_with(node, **{name: new})

    def _steady(self, node: Node) -> list[CanonicalLoop]:
        """The loop itself, if it is canonical and its body leaves its index and its bounds alone."""
        view = CanonicalLoop.match(node)
        if view is None:
            return []
        header = self.context.effects(view.start).reads | self.context.effects(view.bound).reads
        changed = self.context.effects(view.body).writes & (header | {view.index})
        return [] if changed else [view]

    def _in_switch(self, node: Node, site: _Site) -> _Site:
        # Control may go from one case to any other: what is read anywhere counts as read after.
        reads = self.context.effects(node).reads

        def live(name: str) -> bool:
            return name in reads or site.live_after(name)

        def live_at_jump(name: str) -> bool:
            return site.live_after(name) or site.live_at_jump(name)

        return replace(site, live_after=live, live_at_jump=live_at_jump, pragmas=())

    def _around(self, loop: Node, site: _Site) -> _LiveAfter:
        after = site.live_after
        children: list[Node | None] = [getattr(loop, name, None) for name in ("next", "cond", "stmt")]
        parts = [child for child in children if child is not None]

        def live(name: str) -> bool:
            return after(name) or any(self._reads_first(part, name) for part in parts)

        return live

    def _items(self, items: list[Node], site: _Site, *, ends: bool = False) -> list[Node] | None:
        """The statements of a block; `ends` says that its variables end with it."""
        result: list[Node] = []
        changed = False
        pragmas: tuple[str, ...] = site.pragmas if len(_statements(items)) == 1 else ()
        declarations = site.declarations
        places: dict[str, int] = {}
        order = _Order(items, self.context)
        for number, item in enumerate(items):
            if isinstance(item, WITH_STATEMENTS) or self.chosen(item):
                live = self._then(order, number + 1, places, site)
                new = self.visit(item, _Site(live, site.live_at_jump, pragmas, declarations, site.around))
            else:
                new = item
            changed = changed or new is not item
            if isinstance(new, Compound) and not isinstance(item, Compound) and splices(new):
                result.extend(new.block_items or [])
            else:
                result.append(new)
            pragmas = _pragmas_after(pragmas, item)
            if isinstance(item, c_ast.Decl):
                declarations = {**declarations, **_declared([item])}
                if ends and item.name and not item.storage:
                    places.setdefault(item.name, number)
        return result if changed else None

    def _then(self, order: _Order, number: int, places: Mapping[str, int], site: _Site) -> _LiveAfter:
        """What is read from the statement of a number on, which is not looked at before that is asked."""
        after, at_jump = (_besides(places, number - 1, live) for live in (site.live_after, site.live_at_jump))

        def live(name: str) -> bool:
            if name in self.read_by_jump:
                return True
            last = len(order.items)
            for place, statement in order.using(name, number):
                if self._reads_first(statement, name):
                    return True
                if _assigns(statement, name):
                    last = place
                    break
            if order.jumps(number, last) and at_jump(name):
                return True
            return last == len(order.items) and after(name)

        return live

    def _reads_first(self, node: Node, name: str) -> bool:
        return name in self.context.effects(node).reads_before_write

    def _context(self, node: Node, site: _Site) -> Context:
        mine = self.context.effects(node)
        indices = {view.index for loop in loops_in(node) if (view := CanonicalLoop.match(loop)) is not None}
        asked = mine.scalar_writes | indices | self.context.live_after
        live_after = site.live_after
        if node is not self.root:
            live_after = _without(_declared_first(node), live_after)
        live = frozenset(name for name in asked if live_after(name))
        declarations = {**self.context.declarations, **site.declarations}
        return replace(
            self.context,
            live_after=live,
            pragmas=site.pragmas,
            declarations=declarations,
            surrounding=(*self.context.surrounding, *(v for loop in site.around for v in self._steady(loop))),
        )


def outermost_marks(node: Node) -> Iterator[Transform]:
    """The marks of recipe steps that stand in no other mark."""
    inner: set[int] = set()
    for part in walk_statements(node):
        if isinstance(part, Transform):
            if id(part) not in inner:
                yield part
            inner.update(id(each) for each in walk_statements(part) if isinstance(each, Transform))


def repeated_steps(node: Node) -> frozenset[int]:
    """The steps of outermost marks of which there are several: copies of one statement, which no guard tells apart."""
    counts = Counter(mark.step for mark in outermost_marks(node))
    return frozenset(step for step, count in counts.items() if count > 1)


def with_marks_on_loops(root: Node) -> Node:
    """The tree with marks behind what blocks do before their first loop, and before what they do behind a single one.

    Conditions about the loops can then read what is done before them.

    The same object where no block begins so.
    """
    return _Narrowing().rewrite(root)


class _Narrowing(Rewriter):
    def visit_Transform(self, node: Transform) -> Node:
        items = list(node.stmt.block_items or []) if isinstance(node.stmt, Compound) else []
        before = list(takewhile(_is_plain, items))
        if not before or len(before) == len(items):
            return node
        rest = items[len(before) :]
        behind = rest[1:] if all(map(_is_plain, rest[1:])) else []
        loops = rest[: len(rest) - len(behind)]
        inner = loops[0] if len(loops) == 1 else Compound(loops, node.stmt.coord)
        return Compound([*before, copy_with(node, stmt=inner), *behind], node.stmt.coord)


def _is_plain(item: Node) -> bool:
    """Whether a statement has no loop in it, and is nothing that belongs to one."""
    apart = (For, c_ast.While, c_ast.DoWhile, Transform, Comment, c_ast.Pragma, GuardedPragma, c_ast.Label)
    return not any(isinstance(part, apart) for part in walk_statements(item))


def rewrite_marked(root: Node, wanted: Choice, change: Change, context: Context) -> Node:
    """As `rewrite_where`, for statements that `wanted` names under the marks that stand on them: `change` sees both."""
    marks = [part for part in walk_statements(root) if isinstance(part, Transform) and wanted(unmarked(part))]
    inner = {id(each) for mark in marks for each in (mark.stmt, unmarked(mark))}
    return rewrite_where(root, lambda node: wanted(unmarked(node)) and id(node) not in inner, change, context)


def marked_like(statement: Node, new: Node) -> Node:
    """A statement under the marks that another one has."""
    if isinstance(statement, Transform):
        return copy_with(statement, stmt=marked_like(statement.stmt, new))
    return new


def splices(node: Node) -> bool:
    """Whether a block may be written without its braces: it declares nothing."""
    kinds = (c_ast.Decl, c_ast.DeclList, c_ast.Typedef)
    return isinstance(node, Compound) and not any(isinstance(i, kinds) for i in node.block_items or [])


def _unwrapped(items: list[Node]) -> list[Node]:
    """The contents of a block that holds nothing but one block."""
    match items:
        case [Compound(block_items=[*inner])]:
            return inner
        case _:
            return items


def _statements(items: list[Node]) -> list[Node]:
    return [item for item in items if not isinstance(item, Comment)]


def _without(declarations: list[c_ast.Decl], live_after: _LiveAfter) -> _LiveAfter:
    """What is live after the block of some declarations: their variables end there, unless static."""
    names = {declared.name for declared in declarations if not declared.storage}
    return lambda name: name not in names and live_after(name)


def _besides(places: Mapping[str, int], number: int, live_after: _LiveAfter) -> _LiveAfter:
    """What is live after a block but the variables that it declares, at their places, before a statement."""
    return lambda name: places.get(name, number) >= number and live_after(name)


def _declared_first(node: Node) -> list[c_ast.Decl]:
    """The declarations at the beginning of a block."""
    node = unmarked(node)
    items = _statements(node.block_items or []) if isinstance(node, Compound) else []
    return [
        item
        for item in takewhile(lambda item: isinstance(item, c_ast.Decl), items)
        if isinstance(item, c_ast.Decl)
    ]


def _pragmas_after(before: tuple[str, ...], item: Node) -> tuple[str, ...]:
    match item:
        case Comment():
            return before
        case c_ast.Pragma() | GuardedPragma():
            return (*before, item.string)
        case _:
            return ()


def _declared(declarations: list[c_ast.Decl]) -> dict[str, CDeclaration]:
    return {d.name: declaration_of(d) for d in declarations if d.name}


def _assigns(node: Node, name: str) -> bool:
    """Whether `node` certainly gives `name` a new value before anything else happens to it."""
    match node:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target)):
            return target == name
        case For(init=Node() as init):
            return _assigns(init, name)
        case c_ast.ExprList():
            return any(_assigns(e, name) for e in node.exprs)
        case Compound():
            mine = name in declared_names(node)
            return not mine and any(_assigns(item, name) for item in node.block_items or [])
        case _:
            return False
