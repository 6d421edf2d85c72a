"""Loop: the recipe stands in C code, or before the code that follows the leader."""

from __future__ import annotations

from collections.abc import Sequence

from orio_py.core.diagnostics import fail
from orio_py.ctree.nodes import Compound, Node, Transform, c_ast
from orio_py.frontend.annotations.module import Annotation, CodeModule, RegionParts, is_statement
from orio_py.frontend.annotations.modules.loop_recipe import marker_step, read_recipe
from orio_py.spec.recipe import MarkedRecipe, RecipeStep


def _read(annotation: Annotation) -> RegionParts:
    """Problems: ORIO-A013 to A016, A018, C…, E…."""
    body = annotation.leader.body
    text = read_recipe(annotation.source, body)
    annotation.problems.extend(text.problems)
    enclosed = annotation.enclosed
    steps = text.steps
    if text.has_code:
        tree = annotation.parsed(text.code, body.start, text.marks)
        return RegionParts(tree, MarkedRecipe(tuple(steps)), annotation.parsed(text.code, body.start))
    if not annotation.has_code:
        message = "this Loop region has no code, neither in its annotation nor behind it"
        fail("ORIO-A015", message, annotation.position)
    if annotation.leader.is_marker and annotation.known is not None:
        steps = [*steps, marker_step(enclosed, annotation.known, annotation.position)]
    return RegionParts(_marked(enclosed, steps), MarkedRecipe(tuple(steps)), enclosed)


def _marked(tree: Compound, steps: Sequence[RecipeStep]) -> Compound:
    """The block with all steps on its statement; several statements become one block for that.

    Declarations at the beginning stay outside, so that they keep their scope.
    """
    items: list[Node] = list(tree.block_items or [])
    if not steps:
        return tree
    outside = (c_ast.Decl, c_ast.Typedef)
    first = next(
        (i for i, item in enumerate(items) if is_statement(item) and not isinstance(item, outside)), 0
    )
    last = max(i for i, item in enumerate(items) if is_statement(item))
    inner = items[first : last + 1]
    marked: Node = inner[0] if len(inner) == 1 else Compound(inner, coord=inner[0].coord)
    for index in range(len(steps) - 1, -1, -1):
        marked = Transform(index, marked, coord=steps[index].position)
    return Compound([*items[:first], marked, *items[last + 1 :]], coord=tree.coord)


MODULE = CodeModule("Loop", _read)
