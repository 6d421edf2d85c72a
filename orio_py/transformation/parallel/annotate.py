"""Puts pragma lines before statements, where and how compilers accept them.

    #pragma GCC unroll 2                gcc: `for`, `while` or `do` statement expected before `#pragma`
    #pragma GCC unroll 4
    for (i = 0; i < n; i++)

gcc and clang read the pragmas of a loop as part of the loop.  Before it they take one pragma of each kind
(`GCC ivdep` and `GCC unroll` together, but neither of them twice), and after the first no other pragma that
they understand.  Source: GCC manual, "Loop-Specific Pragmas"; clang, "Extensions for loop hint optimizations".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set

from orio_py.ctree.build import block
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import For, GuardedPragma, Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.certain_conditions import as_stored, if_all, runs
from orio_py.transformation.hoisting import hoisted
from orio_py.transformation.loop_names import LoopName, first_present, index_name, show_loops
from orio_py.transformation.parallel.pragma_text import (
    CLANG,
    GCC,
    INTEL,
    belongs_to_loop,
    is_omp,
    is_omp_loop,
    must_be_last,
    normal,
    pragma_lines,
)
from orio_py.transformation.sites import Choice, rewrite_where

_ACTED_ON = frozenset(
    [
        "GCC",
        "STDC",
        "acc",
        "clang",
        "message",
        "omp",
        "pack",
        "redefine_extname",
        "scalar_storage_order",
        "weak",
    ]
)
"""First words of pragmas that a compiler reads as a statement of their own: not even gcc's own may stand there."""

_OPTION = re.compile(r"(\w+)\s*\(")
_SAME_OPTION = {"unroll_count": "unroll", "vectorize_predicate": "vectorize"}


def with_directives(node: Node, statements: Sequence[Node], text: str, context: Context) -> Node:
    """A tree in which a directive stands before some of its statements."""
    chosen = {id(statement) for statement in statements}

    def change(statement: Node, inner: Context) -> Node:
        del inner
        return block(*pragma_lines([text]), statement)

    return rewrite_where(node, lambda part: id(part) in chosen, change, context) if chosen else node


def annotated(lines: Sequence[GuardedPragma], node: Node, context: Context) -> Node:
    """The statement after pragma lines.

    gcc ignores a pragma, with a warning, on a loop whose test has branches (`?:`), so that a bound with
    branches gets a variable before the pragmas.  Raises Refusal: ORIO-T033 where the lines cannot stand
    behind each other, or behind those before the statement.
    """
    if (found := _clash(context.pragmas, lines)) is not None:
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
    nothing has written; OpenMP 5.2, section 5.4.5, leaves the original alone.  Nor does it always see that there are none.
    """
    if any(loop.relation in {"<", ">"} and equal(loop.start, loop.bound) for loop in loops):
        return loops[0].node
    return if_all(
        (runs(as_stored(loop, context)) for loop in loops if not loop.trip_count()), result, context
    )


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


def _clash(before: Iterable[str], lines: Sequence[GuardedPragma]) -> tuple[str, str] | None:
    """Two pragmas of which gcc or clang refuse the second behind the first; None where there are none.

    `before` are the texts that stand before the loop already, `lines` those to come between them and it.
    """
    seen = [GuardedPragma(text) for text in before]
    for line in lines:
        for other in seen:
            if _readers(other) & _readers(line) and _excludes(other.string, line.string):
                return other.string, line.string
        seen.append(line)
    return None


def _excludes(first: str, second: str) -> bool:
    """Whether a compiler that understands both refuses the second pragma behind the first."""
    kinds, others = _kinds(first), _kinds(second)
    if kinds and others:
        return bool(kinds & others)
    acted_on = bool(others) or _family(second) in _ACTED_ON
    return acted_on and (bool(kinds) or must_be_last(first))


def _family(text: str) -> str:
    """The first word of a pragma."""
    return (normal(text).replace("(", " ").split() or [""])[0]


def _kinds(text: str) -> frozenset[str]:
    """What a pragma settles for the loop behind it, each of which can be settled once."""
    match normal(text).replace("(", " ").split()[:2]:
        case ["GCC", "ivdep" | "unroll" | "novector" as kind]:
            return frozenset([kind])
        case ["clang", "loop"]:
            found: list[str] = _OPTION.findall(text)
            return frozenset(_SAME_OPTION.get(option, option) for option in found)
        case _:
            return frozenset()


def _readers(line: GuardedPragma) -> frozenset[tuple[str, bool]]:
    """The compilers that act on a pragma line, each with and without OpenMP switched on."""
    first = _family(line.string)
    guard = line.guard or ""
    compilers = {"gcc", "clang"}
    if guard.startswith(INTEL):
        compilers = set[str]()
    elif guard.startswith(GCC) or first == "GCC":
        compilers = {"gcc"}
    elif guard.startswith(CLANG) or first == "clang":
        compilers = {"clang"}
    modes = {False, True}
    if is_omp(line.string):
        modes = {True}
    elif "!defined(_OPENMP)" in guard:
        modes = {False}
    return frozenset((compiler, mode) for compiler in compilers for mode in modes)
