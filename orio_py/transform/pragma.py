"""Pragma: put pragma lines before a statement.

    for (i = 0; i < n; i++)             #if defined(__GNUC__) && !defined(__clang__)
      y[i] = a * x[i];                  #pragma GCC unroll 4
                                        #endif
                                        for (i = 0; i < n; i++)
                                          y[i] = a * x[i];

The text is the user's promise to the compiler and is not examined.  Pragmas of a family (`omp`, `GCC`,
`clang`, Intel's) are seen only by the compilers of that family, so that others do not warn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orio_py.ctree.build import block
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.transform.arguments import texts
from orio_py.transform.base import Context, refuse
from orio_py.transform.entry import FORCE, ArgumentSpec, Entry
from orio_py.transform.pragma_text import belongs_to_loop, is_omp_loop, must_be_last, pragma_lines
from orio_py.transform.unrolled import hoisted


@dataclass(frozen=True, slots=True)
class Pragma:
    """Put `#pragma` lines before a statement; empty texts are ignored."""

    pragma_str: tuple[str, ...]
    force: bool = False

    def check(self, node: Node, context: Context) -> None:
        """Whether the pragmas can stand before the statement.  Raises Refusal: ORIO-T012, T020, T033."""
        check_texts(self.pragma_str, node, "pragma_str")
        for text in self.pragma_str:
            require_direct(text, node, context)
            if belongs_to_loop(text) and not isinstance(node, (For, c_ast.While, c_ast.DoWhile)):
                refuse("ORIO-T020", f"`#pragma {text}` needs a loop directly behind it", node)

    def apply(self, node: Node, context: Context) -> Node:
        """The statement after its pragmas; `node` is not modified."""
        self.check(node, context)
        lines = pragma_lines(self.pragma_str)
        return annotated(lines, node, context) if lines else node


def annotated(lines: Sequence[Node], node: Node, context: Context) -> Node:
    """The statement after pragma lines.

    gcc ignores a pragma, with a warning, on a loop whose test has branches (`?:`), so that a bound with
    branches gets a variable before the pragmas.
    """
    view = CanonicalLoop.match(node)
    if view is None or context.pragmas:
        return block(*lines, node)
    before, view = hoisted(view, context)
    return block(*before, *lines, view.node)


def require_direct(text: str, node: Node, context: Context) -> None:
    """OpenMP's loop pragmas stand directly before their loop.  Raises Refusal: ORIO-T033."""
    others = [other for other in context.pragmas if belongs_to_loop(other)]
    if others and must_be_last(text):
        refuse(
            "ORIO-T033",
            f"`#pragma {text}` has to stand directly before its loop, where `#pragma {others[-1]}` stands already",
            node,
            help="one pragma for both: `omp parallel for simd`" if is_omp_loop(others[-1]) else None,
        )


def check_texts(texts: tuple[str, ...], node: Node, argument: str) -> None:
    """Each text makes one line.  Raises Refusal: ORIO-T012."""
    for text in texts:
        if "\n" in text or "\r" in text or text.rstrip().endswith("\\"):
            refuse("ORIO-T012", f"a pragma is one line; this text is not: {text!r}", node, argument=argument)


ENTRY = Entry(
    "Pragma",
    "put pragma lines before a statement",
    (
        ArgumentSpec("pragma_str", "string or list of strings", "what follows `#pragma`", texts),
        FORCE,
    ),
    Pragma,
)
