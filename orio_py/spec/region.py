"""Annotated regions: the code to transform and the code that says what it must compute."""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.core.source import Position, Span
from orio_py.ctree.nodes import Compound
from orio_py.spec.parameter import Parameter
from orio_py.spec.recipe import RecipeStep


@dataclass(frozen=True, slots=True)
class Region:
    """One `Loop` or `CHiLL` region of a file.

    `leader` covers the opening annotation comment, `content` everything between the comments (which
    write-back replaces), `trailer` the closing one.  `tree` is the code to transform; each
    `ctree.nodes.Transform` in it marks a statement with an index into `steps`.  `reference` is the
    user's own code: what follows the annotation, or the annotation's code where nothing follows.
    `reference_text` is that code as it stands in the file.  `indent` is the white space before the
    leader, `step` one level of the file's indentation.

    In a `CHiLL` region `by_statement` is True: `tree` holds no marks, `steps` are commands on its numbered
    statements that are applied one after the other, and `lists` are the parameters that its recipe defines.
    """

    leader: Span
    content: Span
    trailer: Span
    position: Position
    tree: Compound
    steps: tuple[RecipeStep, ...]
    reference: Compound
    reference_text: str
    indent: str
    step: str = "  "
    by_statement: bool = False
    lists: tuple[Parameter, ...] = ()
