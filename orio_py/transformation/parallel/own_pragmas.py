"""Loops that the user's own code shares out among threads: the pragma is put before what the loop becomes.

    #pragma omp for private(j)                 int i_last = …;
    for (i = 0; i < n; i++)                    #pragma omp for private(j)
      for (j = 0; j < n; j++)                  for (i = 0; i < i_last; i += 2) …
        a[i][j] = b[j][i];                     #pragma omp for private(j)
                                               for (i = i_last; i < n; i++) …

What remains of an `omp for` is shared out, too, as each thread would run it otherwise.  Nests that a `collapse` clause is
about stay nests of as many loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from orio_py.ctree.build import block
from orio_py.ctree.loops import CanonicalLoop, nest, outermost_loops, remainder_loops
from orio_py.ctree.nodes import Comment, Compound, For, GuardedPragma, Node, Transform, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, walk_statements
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.parallel.data_sharing import sharing
from orio_py.transformation.parallel.openmp import OpenMP
from orio_py.transformation.parallel.pragma_text import clauses, is_omp, is_omp_loop, normal, pragma_lines

_UNUSABLE = frozenset({"target", "teams", "distribute", "ordered", "simd"})


@dataclass
class OwnPragmas(Rewriter):
    """Takes the pragmas away that share out the iterations of marked loops; `texts` has them by step."""

    texts: dict[int, str] = field(default_factory=dict[int, str])

    def visit_Compound(self, node: Compound) -> Node:
        """The block without the pragmas, which are remembered."""
        items: list[Node] = []
        for item in node.block_items or []:
            last = items[-1] if items else None
            if (
                isinstance(item, Transform)
                and isinstance(last, c_ast.Pragma)
                and _is_usable(item, last.string)
            ):
                self.texts[item.step] = normal(last.string)
                items.pop()
            items.append(self.rewrite(item))
        return copy_with(node, block_items=items)

    def before(self, step: int, original: Node, context: Context) -> Node:
        """The loop as the user wrote it, behind its pragma if a step on it has one and the user's build acts on it."""
        text = self.texts.get(step)
        return original if text is None or not context.has_openmp else block(*pragma_lines([text]), original)


def shared_out(
    result: Node, text: str, context: Context, *, heads: bool = True, trusted: bool = False
) -> Node:
    """What a transformation made of a loop, behind the pragma that stood before the loop.

    `heads` says whether the main loops need it still, `trusted` that the loop passed the dependence test before it was
    unrolled.  Raises Refusal as OpenMP.
    """
    outermost = {id(loop) for loop in outermost_loops(result)}
    rest = outermost & {id(loop) for loop in remainder_loops(result)}
    chosen = outermost - rest if heads else set[int]()
    if "parallel" not in text.split():
        chosen |= rest
    return OpenMP(True, (text,), trusted=trusted).apply_where(result, context, lambda s: id(s) in chosen)


def with_private_scalars(text: str, loop: Node, context: Context) -> str:
    """The pragma with a clause for scalars that each iteration sets first, which another pragma may make private."""
    view = CanonicalLoop.match(loop)
    if view is None:
        return text
    given = clauses(text)
    named = given.private | given.reductions | {name for name, _ in given.linear}
    found = sharing([view], context)
    kinds = (("private", found.private), ("lastprivate", found.last))
    missing = ((kind, [name for name in names if name not in named]) for kind, names in kinds)
    return " ".join([text, *(f"{kind}({', '.join(names)})" for kind, names in missing if names)])


def _is_usable(mark: Transform, text: str) -> bool:
    inner: Node = mark
    while isinstance(inner, Transform):
        inner = inner.stmt
    words = normal(text).replace("(", " ").split()
    return (
        isinstance(inner, For)
        and is_omp_loop(text)
        and _UNUSABLE.isdisjoint(words)
        and "default(none)" not in normal(text).replace(" ", "")
    )


def require_valid_pragmas(tree: Node) -> None:
    """Refuse what no compiler takes: fewer loops behind a pragma than it collapses, other constructs in a `simd` one.

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
                if "simd" in _words(text):
                    _require_alone(text, item)
            texts = []


def _words(text: str) -> list[str]:
    return text.replace("(", " ").split()


def _require_alone(text: str, statement: Node) -> None:
    """No construct stands in a `simd` one that may not (OpenMP 4.5, 2.8.1)."""
    for part in walk_statements(statement):
        if not isinstance(part, (c_ast.Pragma, GuardedPragma)) or not is_omp(part.string):
            continue
        if {"parallel", "for", "sections", "single", "critical", "target", "teams", "task"} & {
            *_words(part.string)
        }:
            refuse(
                "ORIO-T023",
                f"`#pragma {part.string}` may not stand in the loop of `#pragma {text}`",
                statement,
            )


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
