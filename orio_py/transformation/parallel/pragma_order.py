"""Which pragmas compilers accept one behind the other before a loop.

    #pragma GCC unroll 2                gcc: `for`, `while` or `do` statement expected before `#pragma`
    #pragma GCC unroll 4
    for (i = 0; i < n; i++)

gcc and clang read the pragmas of a loop as part of the loop.  Before it they take one pragma of each kind
(`GCC ivdep` and `GCC unroll` together, but neither of them twice), and after the first no other pragma that
they understand.  Source: GCC manual, "Loop-Specific Pragmas"; clang, "Extensions for loop hint optimizations".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from orio_py.ctree.nodes import GuardedPragma
from orio_py.transformation.parallel.pragma_text import CLANG, GCC, INTEL, is_omp, must_be_last, normal

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


def clash(before: Iterable[str], lines: Sequence[GuardedPragma]) -> tuple[str, str] | None:
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
