"""Gives variables of inner blocks that hide others names of their own, so that a name means one variable in a region.

    _Bool i; …                          _Bool i; …
    for (i = 0; i < 1; i++) {           for (i = 0; i < 1; i++) {
      { int i = 1; b[i] += 0.5; }         { int i_2 = 1; b[i_2] += 0.5; }
    }                                   }

Everything behind this knows variables by their names.  Source: unique renaming of bound variables (alpha conversion);
A. Appel, "Modern Compiler Implementation in ML", Cambridge University Press 1998, section 15.7.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from orio_py.core.expr import Literal, children
from orio_py.core.names import NameSupply
from orio_py.ctree.loops import loops_in
from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, declared_names, rename, walk
from orio_py.ctree.symbols import declaration_of
from orio_py.spec.recipe import Recipe
from orio_py.spec.region import Region
from orio_py.transformation.base import Context
from orio_py.transformation.forms import names_in_pragmas
from orio_py.transformation.loop_names import index_name

_NAME = re.compile(r"[A-Za-z_]\w*")


def without_shadowing(region: Region, context: Context) -> tuple[Region, Context]:
    """The region, in whose blocks no variable hides another one that the region uses, and its context; the same objects where none does.

    Indices of loops keep their names, and so does what the recipe or a pragma names.
    """
    declared = declared_names(region.tree)
    if not declared:
        return region, context
    found = context.effects(region.tree)
    indices = {index_name(loop) for loop in loops_in(region.tree) if isinstance(loop.init, c_ast.DeclList)}
    hiding = {name for name in declared if name in found.reads | found.writes | found.address_taken | indices}
    hiding -= names_in_pragmas(region.tree) | frozenset(_named(region.recipe))
    if not hiding:
        return region, context
    tree = _Apart(region.tree, hiding, context.names(region.tree)).rewrite(region.tree)
    assert isinstance(tree, Compound)
    new = (declaration_of(d) for d in walk(tree) if isinstance(d, c_ast.Decl) and d.name not in declared)
    own = {d.name: replace(d, type=context.types.get(d.type, d.type)) for d in new}
    return replace(region, tree=tree), replace(context, declarations={**context.declarations, **own})


def _named(recipe: Recipe) -> Iterator[str]:
    """The words in the arguments of a recipe."""
    parts = [argument.expression for step in recipe.steps for argument in step.arguments]
    while parts:
        part = parts.pop()
        parts += children(part)
        if isinstance(part, Literal) and isinstance(part.value, str):
            yield from _NAME.findall(part.value)


class _Apart(Rewriter):
    def __init__(self, root: Node, hiding: Collection[str], names: NameSupply) -> None:
        self._root, self._hiding, self._names = root, hiding, names

    def visit_Compound(self, node: Compound) -> Node:
        new = self.generic(node)
        if node is self._root:
            return new
        items = list(new.block_items or [])
        for number, item in enumerate(items):
            name = (item.name if isinstance(item, c_ast.Decl) else None) or ""
            if name in self._hiding and not _counts(items[number:], name):
                own = {name: self._names.fresh(name)}
                items[number:] = [rename(part, own) for part in items[number:]]
        return new if items == (new.block_items or []) else copy_with(new, block_items=items)


def _counts(items: Sequence[Node], name: str) -> bool:
    """Whether a variable is the index of a loop, which a recipe may name."""
    return any(index_name(loop) == name for item in items for loop in loops_in(item))
