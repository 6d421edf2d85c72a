"""Variables that the transformed code has no use for any more: their declarations go, or they are named.

    int i, j;                           int i;
    for (i = 0; i < n; i++) …           for (i = 0; i < n; i++) { … }
    for (j = 0; j < n; j++) …

Only declarations in a block of the region can go.  One that stands outside of it, in front of a region that alone
uses the variable, stays where it is; `(void)i;` behind the region says that this is meant, as compilers would warn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from orio_py.ctree.build import cast_to
from orio_py.ctree.known_functions import called_name
from orio_py.ctree.nodes import WITH_STATEMENTS, Compound, GuardedPragma, Node, c_ast
from orio_py.ctree.rewrite import Replacement, Rewriter, copy_with, declared_names, walk
from orio_py.transformation.base import Context
from orio_py.transformation.forms import names_in_pragmas

_WORD = re.compile(r"[A-Za-z_]\w*")


def without_superfluous(tree: Node, original: Node, context: Context) -> Node:
    """The tree without variables that the original declares and uses, and nothing in the tree uses."""
    if tree is original:
        return tree
    names = declared_names(original)
    if not names:
        return tree
    idle = {decl.name for decl in _idle_in(original, context)}
    return _Removal(tree, names - idle, context).rewrite(tree)


def with_idle_mentioned(tree: Compound, original: Node, context: Context) -> Compound:
    """The tree, with `(void)x;` behind it for each variable or function that only the original has a use for."""
    if tree is original or not context.only_here:
        return tree
    idle = (_used_in(original, context) - _used_in(tree, context)) & context.only_here
    if not idle:
        return tree
    mentions = [cast_to("void", c_ast.ID(name)) for name in sorted(idle)]
    return copy_with(tree, block_items=[*(tree.block_items or []), *mentions])


def _used_in(code: Node, context: Context) -> frozenset[str]:
    found = context.effects(code)
    called = {called_name(part) or "" for part in walk(code) if isinstance(part, c_ast.FuncCall)}
    return found.reads | found.writes | found.address_taken | names_in_pragmas(code) | called


class _Removal(Rewriter):
    def __init__(self, region: Node, names: frozenset[str], context: Context) -> None:
        self._region = region
        self._names = names
        self._context = context

    def visit(self, node: Node) -> Replacement:
        # Blocks are found among statements only.
        return super().visit(node) if isinstance(node, WITH_STATEMENTS) else node

    def visit_Compound(self, node: Compound) -> Node:
        if node is self._region:
            # What follows the region can name these.
            return self.generic(node)
        node = self.generic(node)
        idle = {id(decl) for decl in _idle(node, self._context) if decl.name in self._names}
        if not idle:
            return node
        return copy_with(node, block_items=[item for item in node.block_items or [] if id(item) not in idle])


def _idle_in(tree: Node, context: Context) -> Iterator[c_ast.Decl]:
    for part in walk(tree):
        if isinstance(part, Compound):
            yield from _idle(part, context)


def _idle(block: Compound, context: Context) -> list[c_ast.Decl]:
    """The plain variables that a block declares and does not mention again."""
    items = block.block_items or []
    found = [item for item in items if isinstance(item, c_ast.Decl) and _may_go(item)]
    if not found:
        return []
    used = frozenset(_mentioned(items))
    return [decl for decl in found if decl.name not in used]


def _may_go(decl: c_ast.Decl) -> bool:
    """Whether a declaration is that of a number, and does nothing else."""
    plain = isinstance(decl.type, c_ast.TypeDecl) and isinstance(decl.type.type, c_ast.IdentifierType)
    return plain and not decl.storage and (decl.init is None or isinstance(decl.init, c_ast.Constant))


def _mentioned(items: Iterable[Node]) -> Iterator[str]:
    for item in items:
        for part in walk(item):
            if isinstance(part, c_ast.ID):
                yield part.name
            elif isinstance(part, (c_ast.Pragma, GuardedPragma)):
                yield from _WORD.findall(str(part.string))
