"""Kernels of what a Composite makes, as a key of that Composite.

    transform CUDA(nd=2)                        transform Composite(unrolljam=(['i', 'j'], [4, 4]),
    transform Composite(                          cuda=(True, ('nd', 2)))
      unrolljam=(['i', 'j'], [4, 4]))           for (i = 0; i < n; i++)
    for (i = 0; i < n; i++)                       …
      …

Both mean the same, as kernels come last in a Composite; but only there it is known what has been unrolled, so that
kernels can have register tiles in place of loops that are cut in two.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from orio_py.core.expr import Literal, TupleExpr
from orio_py.ctree.nodes import Compound, Node, Transform
from orio_py.ctree.rewrite import Rewriter, copy_with
from orio_py.kernel.backends import BACKENDS, BY_TITLE
from orio_py.spec.recipe import Argument, MarkedRecipe, RecipeStep
from orio_py.transformation.forms import sole_statement


def with_kernels_inside(tree: Compound, recipe: MarkedRecipe) -> tuple[Compound, MarkedRecipe] | None:
    """The tree and its recipe with kernels made by the Composite inside of them; None where there is none such.

    Only a Composite that unrolls is of interest; one that makes kernels itself keeps to what it says.
    """
    inward = _Inward(recipe)
    result = inward.rewrite(tree)
    return None if result is tree else (cast("Compound", result), replace(recipe, steps=tuple(inward.steps)))


class _Inward(Rewriter):
    """Takes the marks of kernels away that stand around a Composite, whose step gets what they ask for.

    `steps` are the recipe's, in which those of kernels stay, as marks name them by their number.
    """

    def __init__(self, recipe: MarkedRecipe) -> None:
        self.steps = list(recipe.steps)

    def visit_Transform(self, node: Transform) -> Node:
        inner = sole_statement(node.stmt)
        kernel = self.steps[node.step]
        if not isinstance(inner, Transform) or kernel.name not in BY_TITLE:
            return self.generic(node)
        composite = self.steps[inner.step]
        names = {argument.name for argument in composite.arguments}
        if composite.name != "Composite" or "unrolljam" not in names or not names.isdisjoint(BACKENDS):
            return self.generic(node)
        self.steps[inner.step] = _joined(composite, kernel)
        return copy_with(inner)


def _joined(composite: RecipeStep, kernel: RecipeStep) -> RecipeStep:
    """The step of a Composite with a kernel's arguments as the key of its language."""
    given = (TupleExpr((Literal(a.name), a.expression)) for a in kernel.arguments)
    key = Argument(BY_TITLE[kernel.name].name, TupleExpr((Literal(True), *given)), kernel.position)
    return replace(composite, arguments=(*composite.arguments, key))
