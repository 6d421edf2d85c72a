"""What is known of pragmas: who understands them, what they promise, and the clauses of OpenMP's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from orio_py.ctree.nodes import GuardedPragma

_GCC = "defined(__GNUC__) && !defined(__clang__)"
_CLANG = "defined(__clang__)"
_INTEL = "defined(__INTEL_COMPILER)"
_OPENMP = "defined(_OPENMP)"
_INTEL_WORDS = frozenset(
    ["vector", "novector", "simd", "nounroll", "unroll", "loop_count", "distribute_point", "swp"]
)
_LOOP_ONLY = frozenset({("GCC", "ivdep"), ("GCC", "unroll"), ("GCC", "novector"), ("clang", "loop")})
_CLAUSE = re.compile(r"(\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_LOOP_DIRECTIVE = re.compile(r"omp\s+(?:target\s+)?(?:teams\s+distribute\s+)?(?:parallel\s+)?for\b")


def pragma_lines(texts: Iterable[str]) -> list[GuardedPragma]:
    """The `#pragma` lines for the given texts, each seen only by the compilers that understand it."""
    lines = [line for text in texts if text.strip() for line in _lines(_normal(text))]
    if any(must_be_last(line.string) for line in lines):
        return [line if is_omp(line.string) else without_openmp(line) for line in lines]
    return lines


def without_openmp(line: GuardedPragma) -> GuardedPragma:
    """The pragma for compilers without OpenMP only, where another has to stand before the loop."""
    guard = "!defined(_OPENMP)" if line.guard is None else f"{line.guard} && !defined(_OPENMP)"
    return GuardedPragma(line.string, guard)


def must_be_last(text: str) -> bool:
    """Whether the pragma is one of OpenMP's that a `for` has to follow directly."""
    return is_omp_loop(text) or (is_omp(text) and asserts_independence(text))


def belongs_to_loop(text: str) -> bool:
    """Whether gcc or clang refuse the pragma before anything but a loop."""
    words = tuple(_normal(text).replace("(", " ").split()[:2])
    return must_be_last(text) or words[:1] == ("ivdep",) or words in _LOOP_ONLY


def is_omp(text: str) -> bool:
    """Whether the pragma is one of OpenMP's."""
    return _normal(text).split()[:1] == ["omp"]


def is_omp_loop(text: str) -> bool:
    """Whether the pragma shares out the iterations of the loop after it."""
    return _LOOP_DIRECTIVE.match(_normal(text)) is not None


def asserts_independence(text: str) -> bool:
    """Whether a compiler that follows the pragma stops looking for dependences between iterations.

    `omp simd` (OpenMP 5.2, 10.4), `ivdep` (GCC manual, "Loop-Specific Pragmas") and clang's
    `vectorize(assume_safety)` do; `vector always` only overrides the cost model.
    """
    words = _normal(text).replace("(", " ").replace(")", " ").split()
    if words[:1] == ["omp"]:
        return "simd" in words
    return words[:1] in (["ivdep"], ["simd"]) or words[:2] == ["GCC", "ivdep"] or "assume_safety" in words


@dataclass(frozen=True, slots=True)
class Clauses:
    """The data-sharing clauses of an OpenMP pragma, and how many loops it covers."""

    private: frozenset[str] = frozenset()
    reductions: frozenset[str] = frozenset()
    last: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    collapse: str | None = None


def clauses(text: str) -> Clauses:
    """The clauses of an OpenMP pragma that decide whether a loop may run in parallel."""
    private: set[str] = set()
    reductions: set[str] = set()
    last: set[str] = set()
    shared: set[str] = set()
    collapse: str | None = None
    for match in _CLAUSE.finditer(text):
        name, content = match[1], match[2]
        if name in {"private", "firstprivate", "lastprivate", "linear"}:
            names = _names(content.split(":")[-1] if name == "lastprivate" else content.split(":")[0])
            private |= names
            last |= names if name == "lastprivate" else set()
        elif name == "reduction":
            reductions |= _names(content.rpartition(":")[2])
        elif name == "shared":
            shared |= _names(content)
        elif name == "collapse":
            collapse = content.strip()
    return Clauses(frozenset(private), frozenset(reductions), frozenset(last), frozenset(shared), collapse)


def _names(content: str) -> set[str]:
    return {part.split("[")[0].strip() for part in content.split(",") if part.strip()}


def _normal(text: str) -> str:
    words = text.strip()
    if words.startswith("#"):
        words = words[1:].lstrip().removeprefix("pragma")
    return " ".join(words.split())


def _lines(text: str) -> list[GuardedPragma]:
    first = re.split(r"[\s(]", text, maxsplit=1)[0]
    match first:
        case "omp":
            return [GuardedPragma(text, _OPENMP)]
        case "GCC":
            return [GuardedPragma(text, _GCC)]
        case "clang":
            return [GuardedPragma(text, _CLANG)]
        case "ivdep":
            return [GuardedPragma(text, _INTEL), GuardedPragma("GCC ivdep", _GCC)]
        case _ if first in _INTEL_WORDS:
            return [GuardedPragma(text, _INTEL)]
        case _:
            return [GuardedPragma(text, None)]
