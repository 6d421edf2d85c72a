"""Puts pragma lines before statements, where and how compilers accept them."""

from __future__ import annotations

from collections.abc import Sequence, Set

from orio_py.ctree.build import binary, block, literal_value
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import MIRRORED, For, GuardedPragma, Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.certain_conditions import if_all
from orio_py.transformation.hoisting import hoisted
from orio_py.transformation.loop_names import LoopName, first_present, index_name, show_loops
from orio_py.transformation.parallel.pragma_order import clash
from orio_py.transformation.parallel.pragma_text import belongs_to_loop, is_omp, is_omp_loop, must_be_last
from orio_py.transformation.sites import Choice


def annotated(lines: Sequence[GuardedPragma], node: Node, context: Context) -> Node:
    """The statement after pragma lines.

    gcc ignores a pragma, with a warning, on a loop whose test has branches (`?:`), so that a bound with
    branches gets a variable before the pragmas.  Raises Refusal: ORIO-T033 where the lines cannot stand
    behind each other, or behind those before the statement.
    """
    if (found := clash(context.pragmas, lines)) is not None:
        first, second = found
        refuse(
            "ORIO-T033",
            f"`#pragma {second}` cannot stand behind `#pragma {first}` before one statement: compilers refuse it",
            node,
            help="leave one of them out",
        )
    view = CanonicalLoop.match(node)
    if view is None or context.pragmas:
        return block(*lines, node)
    before, view = hoisted(view, context)
    return block(*before, *lines, view.node)


def at_least_once(result: Node, loops: Sequence[CanonicalLoop], context: Context) -> Node:
    """`result` behind the condition that every loop of a nest with fixed bounds runs.

    gcc 12 copies a `lastprivate` variable back after a loop without iterations, from a private copy that
    nothing has written; OpenMP 5.2, section 5.4.5, leaves the original alone.
    """
    if any(loop.relation in {"<", ">"} and equal(loop.start, loop.bound) for loop in loops):
        return loops[0].node
    return if_all((_runs(loop) for loop in loops if not loop.trip_count()), result, context)


def _runs(loop: CanonicalLoop) -> Node:
    """The condition that a loop runs, with a literal on the right-hand side."""
    if literal_value(loop.start) is not None:
        return binary(MIRRORED[loop.relation], loop.bound, loop.start)
    return binary(loop.relation, loop.start, loop.bound)


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


def chosen_loops(node: Node, name: str | None, default: Sequence[For], what: str) -> Choice:
    """Chooses the loops over the index `name`, or the default ones.  Raises Refusal: ORIO-T015, T020."""
    if name is not None:
        first_present(LoopName((name,)), show_loops(node), node, "loop")
        return lambda statement: index_name(statement) == name
    if not default:
        refuse("ORIO-T020", f"{what} needs a `for` loop; there is none here", node)
    numbers = {id(loop) for loop in default}
    return lambda statement: id(statement) in numbers


def require_no_constructs(view: CanonicalLoop, what: str, *, allowed: Set[str]) -> None:
    """No OpenMP construct stands in the body but those that may.  Raises Refusal: ORIO-T023."""
    for part in walk(view.body):
        if not isinstance(part, (c_ast.Pragma, GuardedPragma)) or not isinstance(part.string, str):
            continue
        if is_omp(part.string) and not set(part.string.replace("(", " ").split()[1:2]) <= allowed:
            refuse(
                "ORIO-T023",
                f"{what} would put the loop around another construct of OpenMP: `#pragma {part.string}`",
                part if part.coord is not None else view.node,
                help="remove the pragma inside the loop",
            )
