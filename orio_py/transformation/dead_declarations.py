"""Takes away declarations of variables that the transformed code has no use for any more.

    int i, j;                           int i;
    for (i = 0; i < n; i++) …           for (i = 0; i < n; i++) { … }
    for (j = 0; j < n; j++) …

Only declarations in a block of the region can go: code behind the region can name those outside of it, and
compilers may then warn of an unused variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from orio_py.ctree.nodes import WITH_STATEMENTS, Compound, GuardedPragma, Node, c_ast
from orio_py.ctree.rewrite import Replacement, Rewriter, copy_with, declared_names, walk
from orio_py.transformation.base import Context

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
