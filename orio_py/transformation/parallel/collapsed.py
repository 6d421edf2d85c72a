"""Nests that a `collapse` clause of the user's pragma is about stay nests of as many loops."""

from __future__ import annotations

from collections.abc import Sequence

from orio_py.ctree.loops import CanonicalLoop, nest
from orio_py.ctree.nodes import Comment, Compound, GuardedPragma, Node, c_ast
from orio_py.ctree.rewrite import walk_statements
from orio_py.transformation.base import refuse
from orio_py.transformation.parallel.pragma_text import clauses


def require_collapsed(tree: Node) -> None:
    """Refuse code in which fewer loops stand behind a pragma than it collapses: no compiler takes that.

    Raises Refusal: ORIO-T023.
    """
    for part in walk_statements(tree):
        if isinstance(part, Compound):
            _require_in_block(part.block_items or [])


def _require_in_block(items: Sequence[Node]) -> None:
    texts: list[str] = []
    for item in items:
        if isinstance(item, (c_ast.Pragma, GuardedPragma)):
            texts.append(item.string)
        elif not isinstance(item, Comment):
            for text in texts:
                _require(text, item)
            texts = []


def _require(text: str, statement: Node) -> None:
    collapse = clauses(text).collapse or ""
    view = CanonicalLoop.match(statement)
    if not collapse.isdigit() or (view is not None and len(nest(view)) >= int(collapse)):
        return
    refuse(
        "ORIO-T023",
        f"`#pragma {text}` is about {collapse} loops, which are no perfect nest any longer",
        statement,
        help="transform the loops inside these, or remove the pragma and let the recipe insert one",
    )
