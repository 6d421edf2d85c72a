"""Align: the leader names arrays; the code is run in a version for aligned ones where their addresses are.

    /*@ begin Align(x[], y[]) @*/  …  /*@ end @*/         is `transform Specialize(aligned=['x', 'y'], alignment=16)`

The code may be a Loop region with a recipe of its own, which both versions follow.
"""

from __future__ import annotations

from lark import Token
from lark.exceptions import UnexpectedInput

from orio_py.core.diagnostics import fail
from orio_py.core.expr import ListExpr, Literal
from orio_py.frontend.annotations.module import Annotation, CodeModule, RegionParts
from orio_py.frontend.annotations.modules import loop
from orio_py.frontend.grammars import error_offset, parse
from orio_py.frontend.messages import found
from orio_py.spec.recipe import Argument, MarkedRecipe, RecipeStep

_BYTES = 16


def _read(annotation: Annotation) -> RegionParts:
    """Problems: ORIO-A015, A016, A022, C…, and those of the Loop region inside."""
    inner = annotation.inner
    parts = loop.plain(annotation) if inner is None else loop.MODULE.read(inner)
    assert isinstance(parts.recipe, MarkedRecipe)
    step = _step(annotation)
    steps = parts.recipe.steps
    tree = loop.marked(parts.tree, [step], first=len(steps))
    return RegionParts(tree, MarkedRecipe((*steps, step), parts.recipe.parameters), parts.reference)


def _step(annotation: Annotation) -> RecipeStep:
    body = annotation.leader.body
    text = annotation.source.text[body.start : body.end]
    try:
        names = [str(token) for token in parse("align", "arrays", text).children if isinstance(token, Token)]
    except UnexpectedInput as error:
        at = error_offset(error, text)
        place = annotation.source.position(body.start + at)
        message = f"expected arrays such as `x[], y[]`, found {found(text, at)}"
        fail("ORIO-A022", message, place)
    place = annotation.position
    arrays = Argument("aligned", ListExpr(tuple(map(Literal, names))), place)
    return RecipeStep("Specialize", (arrays, Argument("alignment", Literal(_BYTES), place)), place)


MODULE = CodeModule("Align", _read, around=True)
