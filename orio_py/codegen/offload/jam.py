"""Several iterations of a kernel's body side by side: unroll-and-jam on device trees.

    t = c[i];                                t_0 = c[i_0];  t_1 = c[i_1];
    for (k = 0; k < n; k++)                  for (k = 0; k < n; k++) {
      t += a[k] * b[i + k];                    t_0 += a[k] * b[i_0 + k];
    c[i] = t;                                  t_1 += a[k] * b[i_1 + k];
                                             }
                                             c[i_0] = t_0;  c[i_1] = t_1;

The iterations may run in any order, so that any mixture of them is one.  Loops whose headers are the same in all
iterations run once, for all of them, and so does what stands under conditions of scalars that they have in common;
others run for one iteration after the other.

Source: S. Carr, K. Kennedy, "Improving the ratio of memory operations to floating-point operations in loops",
TOPLAS 1994 (unroll-and-jam).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orio_py.ctree.build import assign, block, if_
from orio_py.ctree.nodes import Compound, For, Node, c_ast
from orio_py.ctree.rewrite import copy_with, declared_names, rename, used_names, walk

_JUMPS = (c_ast.Break, c_ast.Continue, c_ast.Goto, c_ast.Return)


@dataclass(frozen=True, slots=True)
class Copy:
    """One of the iterations: the names that it has for itself, and the test that it exists, None where it does."""

    names: Mapping[str, str]
    test: Node | None = None


@dataclass(frozen=True, slots=True)
class Jam:
    """Statements for some iterations at once; `shared` are the indices of loops that run for all of them."""

    copies: tuple[Copy, ...]
    shared: frozenset[str]

    def statements(self, items: Sequence[Node]) -> list[Node]:
        """The statements of one iteration, for all of them."""
        if any(_is_initialised_array(item) for item in items):
            return [self._guarded(copy, items) for copy in self.copies]
        found: list[Node] = []
        pragmas: list[Node] = []
        for item in items:
            if isinstance(item, c_ast.Pragma):
                pragmas.append(item)
                continue
            found += self._statement(item, pragmas)
            pragmas = []
        return found

    def _statement(self, item: Node, pragmas: Sequence[Node]) -> list[Node]:
        if isinstance(item, Compound):
            return [block(*self.statements(item.block_items or []))]
        if isinstance(item, For) and _index_of(item) in self.shared:
            body = item.stmt.block_items or [] if isinstance(item.stmt, Compound) else [item.stmt]
            return [*pragmas, copy_with(item, stmt=block(*self.statements(body)))]
        if isinstance(item, c_ast.If) and self._is_alike(item.cond):
            otherwise = None if item.iffalse is None else self._branch(item.iffalse)
            return [*pragmas, if_(item.cond, self._branch(item.iftrue or block()), otherwise)]
        if isinstance(item, c_ast.Decl):
            return [part for copy in self.copies for part in _declared(copy, item)]
        return [part for copy in self.copies for part in self._one(copy, [*pragmas, item])]

    def _is_alike(self, condition: Node) -> bool:
        """Whether a condition names and changes nothing that the iterations have for themselves, nor reads memory."""
        own = {name for copy in self.copies for name in copy.names}
        parts = (c_ast.ArrayRef, c_ast.FuncCall, c_ast.Assignment)
        return own.isdisjoint(used_names([condition])) and not any(
            isinstance(part, parts) for part in walk(condition)
        )

    def _branch(self, part: Node) -> Node:
        return block(*self.statements(part.block_items or [] if isinstance(part, Compound) else [part]))

    def _one(self, copy: Copy, items: Sequence[Node]) -> list[Node]:
        renamed = [rename(item, copy.names) for item in items]
        return renamed if copy.test is None else [if_(copy.test, block(*renamed))]

    def _guarded(self, copy: Copy, items: Sequence[Node]) -> Node:
        return block(*self._one(copy, items))


def shared_indices(body: Sequence[Node], varying: frozenset[str]) -> frozenset[str]:
    """The indices of the loops that run alike in all iterations, in which the names of `varying` differ.

    Each is named in its loops alone; there it counts from, to and by what is the same for all.
    """
    loops = [part for item in body for part in walk(item) if isinstance(part, For)]
    by_index: dict[str, list[For]] = {}
    for loop in loops:
        if (index := _index_of(loop)) is not None:
            by_index.setdefault(index, []).append(loop)
    shared = {index for index in by_index if not any(_names_outside(index, item) for item in body)}
    declared = frozenset(name for item in body for name in declared_names(item))
    while True:
        differing = (varying | declared) - shared
        left = {
            index for index in shared if not any(_differs(loop, index, differing) for loop in by_index[index])
        }
        if left == shared:
            return frozenset(shared)
        shared = left


def own_names(body: Sequence[Node], private: Sequence[str], shared: frozenset[str]) -> tuple[str, ...]:
    """The names that each iteration has for itself: its scalars, and what the body declares."""
    declared = {name for item in body for name in declared_names(item)}
    return tuple(sorted((declared | set(private)) - shared))


def _differs(loop: For, index: str, differing: frozenset[str]) -> bool:
    """Whether a loop's header may not be the same in all iterations, or the loop may end in its midst."""
    header = [part for part in (loop.init, loop.cond, loop.next) if part is not None]
    if not differing.isdisjoint(used_names(header) - {index}):
        return True
    return any(isinstance(part, _JUMPS) for part in walk(loop.stmt)) or _is_assigned(index, loop.stmt)


def _index_of(loop: For) -> str | None:
    """The variable that a loop's header sets, if it is one."""
    match loop.init:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name)):
            return name
        case c_ast.DeclList(decls=[c_ast.Decl(name=str() as name)]):
            return name
        case _:
            return None


def _names_outside(index: str, node: Node) -> bool:
    """Whether a statement names a variable outside of the loops that count it."""
    if isinstance(node, For) and _index_of(node) == index:
        return False
    is_name = isinstance(node, c_ast.ID) and node.name == index
    is_declared = isinstance(node, c_ast.Decl) and node.name == index
    return is_name or is_declared or any(_names_outside(index, part) for part in node)


def _is_assigned(name: str, body: Node) -> bool:
    return any(target == name for part in walk(body) for target in _targets(part))


def _targets(node: Node) -> Iterator[str]:
    match node:
        case c_ast.Assignment(lvalue=c_ast.ID(name=name)):
            yield name
        case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--", expr=c_ast.ID(name=name)):
            yield name
        case _:
            return


def _declared(copy: Copy, item: c_ast.Decl) -> list[Node]:
    """The declaration of a variable of one iteration; where that may not exist, a value of its own comes later."""
    own = rename(item, copy.names)
    assert isinstance(own, c_ast.Decl)
    if copy.test is None or own.init is None:
        return [own]
    assert own.name is not None
    kind = own.type
    assert isinstance(kind, c_ast.TypeDecl)
    plain = copy_with(own, quals=[], type=copy_with(kind, quals=[]), init=c_ast.Constant("int", "0"))
    return [plain, if_(copy.test, block(assign(own.name, own.init)))]


def _is_initialised_array(item: Node) -> bool:
    return (
        isinstance(item, c_ast.Decl) and item.init is not None and not isinstance(item.type, c_ast.TypeDecl)
    )
