"""Writes a tree in which planned elements are scalars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from orio_py.core.names import NameSupply
from orio_py.ctree.build import assign, block, declare, ident, if_
from orio_py.ctree.dependence.reuse import stepped
from orio_py.ctree.nodes import Comment, For, Node, c_ast
from orio_py.ctree.rewrite import map_children, used_names
from orio_py.transformation.base import Context
from orio_py.transformation.storage.array_uses.items import Ref, StatementList
from orio_py.transformation.storage.array_uses.rebuild import BlockRewriter, readable, with_references
from orio_py.transformation.storage.array_uses.uses import Uses
from orio_py.transformation.storage.scalar_replace_plan import Scalar

_Names = Mapping[Ref, Node]
_PLAIN = (c_ast.ArrayRef, c_ast.Assignment, c_ast.BinaryOp, c_ast.Constant)


class Writer(BlockRewriter[_Names]):
    """Rewrites the blocks of a tree by their plans; names are numbered in the order of the blocks."""

    def __init__(
        self,
        root: Node,
        uses: Uses,
        plans: Mapping[StatementList, Sequence[Scalar]],
        context: Context,
        prefix: str,
    ) -> None:
        self._root, self._uses, self._plans, self._context = root, uses, plans, context
        self._supply = fresh_names(root, context)
        self._prefix, self._count = prefix, 0

    def write(self) -> Node:
        """The new tree; the root itself where nothing is planned."""
        return self.body(self._root, self._uses.root, {})

    def _fresh(self) -> str:
        self._count += 1
        return self._supply.fresh(f"{self._prefix}{self._count}")

    def items(self, block_: StatementList, state: _Names) -> list[Node]:
        """The statements of a block with loads before and stores behind them."""
        scalars = self._plans.get(block_, ())
        for scalar in scalars:
            scalar.name = self._fresh()
        return self._range(block_, range(len(block_.items)), scalars, state)

    def _range(
        self, block_: StatementList, numbers: range, scalars: Sequence[Scalar], names: _Names
    ) -> list[Node]:
        guarded: dict[int, list[Scalar]] = {}
        plain: dict[int, list[Scalar]] = {}
        for scalar in scalars:
            (plain if scalar.guard is None else guarded).setdefault(scalar.first, []).append(scalar)
        result: list[Node] = []
        active: dict[Ref, Node] = dict(names)
        closing: dict[int, list[Scalar]] = {}
        number = numbers.start
        while number < numbers.stop:
            begun, inside = plain.get(number, []), list[Scalar]()
            last = number
            if number in guarded:
                last = guarded[number][0].last
                within = (s for n in range(number, last + 1) for s in plain.get(n, ()) if s.last <= last)
                inside = [s for s in within if (s.first, s.last) != (number, last)]
                begun = [s for s in begun if s not in inside]
            for scalar in begun:
                closing.setdefault(scalar.last, []).append(scalar)
            active.update((s.ref, ident(s.name)) for s in begun)
            if number in guarded:
                result.extend(self._load(s, names) for s in begun)
                result.append(self._guarded(block_, range(number, last + 1), guarded[number], inside, active))
            else:
                result.extend(self._item(block_, number, begun, active, names))
            ended = closing.pop(last, ())
            result.extend(self._store(s, names) for s in ended if s.stores)
            for scalar in ended:
                self._close(active, scalar, names)
            number = last + 1
        return result

    def _close(self, active: dict[Ref, Node], scalar: Scalar, names: _Names) -> None:
        if scalar.ref in names:
            active[scalar.ref] = names[scalar.ref]
        else:
            del active[scalar.ref]

    def _guarded(
        self,
        block_: StatementList,
        numbers: range,
        guarded: Sequence[Scalar],
        inside: Sequence[Scalar],
        names: _Names,
    ) -> Node:
        here = {**names, **{s.ref: ident(s.name) for s in guarded}}
        loads = [self._load(s, names) for s in guarded]
        stores = [self._store(s, names) for s in guarded if s.stores]
        items = self._range(block_, numbers, inside, here)
        guard = guarded[0].guard
        assert guard is not None
        return if_(readable(guard), block(*loads, *items, *stores), self._else(block_, numbers))

    def _else(self, block_: StatementList, numbers: range) -> Node | None:
        """What is left of loops that do not run: their indices get their first values, if those are read."""
        loops = [item.loop for n in numbers if (item := block_.items[n]).loop is not None]
        inside = [block_.items[n].node for n in numbers]
        found: dict[str, Node] = {}
        for loop in loops:
            init = loop.node.init
            name = loop.index
            if not isinstance(init, c_ast.Assignment) or name is None or name in found:
                continue
            if self._is_needed(name, inside):
                found[name] = init
        if not found:
            return None
        return block(*found.values()) if len(found) > 1 else next(iter(found.values()))

    def _is_needed(self, index: str, inside: Sequence[Node]) -> bool:
        """Whether the value of an index may be read outside the loops that set it themselves."""
        if index in self._context.live_after or index in self._context.exposed:
            return True
        skipped = {id(node) for node in inside}
        seen = set(skipped)  # Copies of a statement share references.
        stack = [self._root]
        while stack:
            node = stack.pop()
            if isinstance(node, c_ast.ID):
                if node.name == index:
                    return True
            elif id(node) not in seen:
                seen.add(id(node))
                stack.extend(node if isinstance(node, _PLAIN) else _readers(node, index, skipped))
        return False

    def _item(
        self, block_: StatementList, number: int, begun: Sequence[Scalar], active: _Names, names: _Names
    ) -> list[Node]:
        new = self.statement(block_.items[number], active)
        result: list[Node] = []
        for scalar in begun:
            if not scalar.loads and _sets(new, scalar.name):
                assert isinstance(new, c_ast.Assignment)
                new = declare(scalar.type, scalar.name, new.rvalue)
            else:
                result.append(self._load(scalar, names))
        result.append(new)
        return result

    def _load(self, scalar: Scalar, names: _Names) -> Node:
        if not scalar.loads:
            return declare(scalar.type, scalar.name)
        kind = scalar.type if scalar.stores else f"const {scalar.type}"
        return declare(kind, scalar.name, self._element(scalar.ref, names))

    def _store(self, scalar: Scalar, names: _Names) -> Node:
        return assign(self._element(scalar.ref, names), ident(scalar.name))

    def _element(self, ref: Ref, names: _Names) -> Node:
        """The element itself, with what its subscripts read in scalars where it is."""
        return map_children(ref.node, lambda child: self.expression(child, names)) if ref.inner else ref.node

    def expression(self, node: Node, state: _Names) -> Node:
        """The expression with elements replaced by scalars."""
        return with_references(node, self._uses, state)


def _readers(node: Node, index: str, skipped: Set[int]) -> Iterator[Node]:
    """The parts of a node that may read an index whose value they do not set themselves.

    The loop over a remainder has its index from the loop before it, unless that is skipped.
    """
    known = False
    for child in node:
        match child:
            case For() if id(child) in skipped:
                known = False
            case For(init=c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=start)) if (
                name == index
            ):
                known = True
                yield start
            case For(init=None) if known and (stepped(child) or ("", 0))[0] == index:
                pass
            case Comment():
                pass
            case _:
                known = False
                yield child


def _sets(node: Node, name: str) -> bool:
    match node:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target)):
            return target == name
        case _:
            return False


def fresh_names(root: Node, context: Context) -> NameSupply:
    """Names that occur neither in the tree nor around it."""
    return NameSupply(used_names([root]) | context.reserved | set(context.declarations))
