"""Pragma: put pragma lines before a statement.

    for (i = 0; i < n; i++)             #if defined(__GNUC__) && !defined(__clang__)
      y[i] = a * x[i];                  #pragma GCC unroll 4
                                        #endif
                                        for (i = 0; i < n; i++)
                                          y[i] = a * x[i];

A pragma of OpenMP's that shares out iterations (`omp parallel for`, `omp for`) or vectorises (`omp simd`) is
examined as the keys `openmp` and `vector` of Composite examine theirs; other texts are the user's promise to
the compiler.  Pragmas of a family (`omp`, `GCC`, `clang`, Intel's) are seen only by the compilers of that
family, so that others do not warn.
"""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.transformation.arguments import texts
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.parallel.annotate import annotated, check_texts, require_direct
from orio_py.transformation.parallel.openmp import OpenMP
from orio_py.transformation.parallel.pragma_text import (
    asserts_independence,
    belongs_to_loop,
    is_omp,
    is_omp_loop,
    lines_behind,
)
from orio_py.transformation.parallel.vector import Vector

__all__ = ["ENTRY", "Pragma", "annotated", "check_texts", "require_direct"]


@dataclass(frozen=True, slots=True)
class Pragma:
    """Put `#pragma` lines before a statement; empty texts are ignored.

    `trusted` leaves the dependence test out, for loops that passed it before they were unrolled.
    """

    pragma_str: tuple[str, ...]
    force: bool = False
    trusted: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The statement after its pragmas; `node` is not modified.

        Raises Refusal: ORIO-T012, T020 to T029, T032 to T034, T040, T041, T091.
        """
        check_texts(self.pragma_str, node, "pragma_str")
        for text in self.pragma_str:
            require_direct(text, node, context)
            if belongs_to_loop(text) and not isinstance(node, (For, c_ast.While, c_ast.DoWhile)):
                refuse("ORIO-T020", f"`#pragma {text}` needs a loop directly behind it", node)
        lines = lines_behind(context.pragmas, self.pragma_str)
        if not lines:
            return node
        if any(is_omp_loop(text) for text in self.pragma_str):
            step = OpenMP(True, self.pragma_str, force=self.force, trusted=self.trusted)
            return step.apply_where(node, context, lambda n: n is node)
        if any(is_omp(text) and asserts_independence(text) for text in self.pragma_str):
            # Only OpenMP's texts are examined; `ivdep` and its like stay the user's promise.
            promises = tuple(t for t in self.pragma_str if is_omp(t))
            Vector(True, promises, force=self.force, trusted=self.trusted).apply_where(
                node, context, lambda n: n is node
            )
            step = Vector(True, self.pragma_str, force=self.force, trusted=True)
            return step.apply_where(node, context, lambda n: n is node)
        return annotated(lines, node, context)


ENTRY = Entry(
    "Pragma",
    "put pragma lines before a statement",
    (
        ArgumentSpec("pragma_str", "string or list of strings", "what follows `#pragma`", texts),
        FORCE,
    ),
    Pragma,
)
