"""Annotated regions: the code to transform and the code that says what it must compute."""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.core.source import Position, Span
from orio_py.ctree.nodes import Compound
from orio_py.spec.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Region:
    """One region of a file with code to transform, as its annotation module has read it."""

    leader: Span
    """The opening annotation comment."""
    content: Span
    """Everything between the two comments, which write-back replaces."""
    trailer: Span
    """The closing annotation comment."""
    position: Position
    """Where the leader begins."""
    tree: Compound
    """The code to transform."""
    recipe: Recipe
    """How it is transformed."""
    reference: Compound
    """The user's own code: what follows the leader, or what the leader says where nothing follows."""
    reference_text: str
    """That code as it stands in the file."""
    indent: str
    """The white space before the leader."""
    pragmas: tuple[str, ...] = ()
    """What stands directly before the leader: the texts of pragmas, without `#pragma`."""
    is_body: bool = False
    """Whether it is the body of an `if`, `else` or loop that has no braces, where C takes one statement."""
    step: str = "  "
    """One level of the file's indentation."""
    definitions: str = ""
    """The preprocessor lines for macros that stand in the user's code: they count behind the region as well."""
