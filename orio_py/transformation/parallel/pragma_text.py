"""What is known of pragmas: who understands them, what they promise, and the clauses of OpenMP's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from orio_py.ctree.nodes import GuardedPragma

GCC = "defined(__GNUC__) && !defined(__clang__)"
CLANG = "defined(__clang__)"
INTEL = "defined(__INTEL_COMPILER)"
_OPENMP = "defined(_OPENMP)"
_OPENACC = "defined(_OPENACC)"
_INTEL_WORDS = frozenset(
    ["vector", "novector", "simd", "nounroll", "unroll", "loop_count", "distribute_point", "swp"]
)
_LOOP_ONLY = frozenset({("GCC", "ivdep"), ("GCC", "unroll"), ("GCC", "novector"), ("clang", "loop")})
_CLAUSE = re.compile(r"(\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_LOOP_DIRECTIVE = re.compile(r"omp\s+(?:target\s+)?(?:teams\s+distribute\s+)?(?:parallel\s+)?for\b")


def pragma_lines(texts: Iterable[str]) -> list[GuardedPragma]:
    """The `#pragma` lines for the given texts, each seen only by the compilers that understand it."""
    lines = [line for text in texts if text.strip() for line in _lines(normal(text))]
    if any(must_be_last(line.string) for line in lines):
        return [line if is_omp(line.string) else without_openmp(line) for line in lines]
    return lines


def lines_behind(before: Iterable[str], texts: Iterable[str]) -> list[GuardedPragma]:
    """The lines for the given texts between pragmas that stand before a loop already and the loop.

    Behind one of OpenMP's that has to stand directly before the loop they are left to compilers without it.
    """
    lines = pragma_lines(texts)
    if any(must_be_last(text) for text in before):
        return [without_openmp(line) for line in lines]
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
    words = tuple(normal(text).replace("(", " ").split()[:2])
    return must_be_last(text) or words[:1] == ("ivdep",) or words in _LOOP_ONLY


_STANDALONE = frozenset(
    [
        "assumes",
        "barrier",
        "cache",
        "cancel",
        "cancellation",
        "declare",
        "end",
        "enter",
        "exit",
        "flush",
        "init",
        "requires",
        "routine",
        "set",
        "shutdown",
        "taskwait",
        "taskyield",
        "threadprivate",
        "update",
        "wait",
    ]
)
"""Words of directives of OpenMP and OpenACC that stand by themselves."""
_SHARING = frozenset({"loop", "taskloop", "distribute", "simd", "for", "tile", "unroll"})
_HINTS = frozenset({"ivdep", "unroll", "nounroll", "novector", "vector", "simd", "loop_count", "swp"})
_HINTS_OF = frozenset(
    {("GCC", "ivdep"), ("GCC", "unroll"), ("GCC", "novector"), ("clang", "loop"), ("omp", "simd")}
)


def takes_statement(text: str) -> bool:
    """Whether a directive of OpenMP or OpenACC is about the statement behind it."""
    words = normal(text).replace("(", " ").split()
    return words[:1] in (["omp"], ["acc"]) and _STANDALONE.isdisjoint(words[1:3])


def is_about_loop(text: str) -> bool:
    """Whether a pragma is about the iterations of the loop behind it."""
    words = normal(text).replace("(", " ").split()
    shared = words[:1] in (["omp"], ["acc"]) and not _SHARING.isdisjoint(words)
    return shared or belongs_to_loop(text) or is_hint(text)


def is_hint(text: str) -> bool:
    """Whether a pragma only says how a loop may be compiled, so that the code means the same without it."""
    words = normal(text).replace("(", " ").split()
    return words[0] in _HINTS or tuple(words[:2]) in _HINTS_OF if words else False


def is_omp(text: str) -> bool:
    """Whether the pragma is one of OpenMP's."""
    return normal(text).split()[:1] == ["omp"]


def is_omp_loop(text: str) -> bool:
    """Whether the pragma shares out the iterations of the loop after it."""
    return _LOOP_DIRECTIVE.match(normal(text)) is not None


def asserts_independence(text: str) -> bool:
    """Whether a compiler that follows the pragma stops looking for dependences between iterations.

    `omp simd` (OpenMP 5.2, 10.4), `ivdep` (GCC manual, "Loop-Specific Pragmas") and clang's
    `vectorize(assume_safety)` do; `vector always` only overrides the cost model.
    """
    words = normal(text).replace("(", " ").replace(")", " ").split()
    if words[:1] == ["omp"]:
        return "simd" in words
    return words[:1] in (["ivdep"], ["simd"]) or words[:2] == ["GCC", "ivdep"] or "assume_safety" in words


@dataclass(frozen=True, slots=True)
class Clauses:
    """The data-sharing clauses of an OpenMP pragma, and how many loops it covers.

    `private` holds the variables that each iteration has for itself; of them `first` begin with the value
    from outside and `last` hand theirs on.  `operators` are pairs of a reduction's operator and a variable,
    `linear` pairs of a variable and its step.
    """

    private: frozenset[str] = frozenset()
    first: frozenset[str] = frozenset()
    reductions: frozenset[str] = frozenset()
    last: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    collapse: str | None = None
    operators: tuple[tuple[str, str], ...] = ()
    linear: tuple[tuple[str, str], ...] = ()
    safelen: int | None = None
    schedule: str = ""


def clauses(text: str) -> Clauses:
    """The clauses of an OpenMP pragma that decide whether a loop may run in parallel."""
    found: dict[str, list[str]] = {}
    for match in _CLAUSE.finditer(text):
        found.setdefault(match[1], []).append(match[2])
    last = _all_names(found, "lastprivate", lambda content: content.split(":")[-1])
    first = _all_names(found, "firstprivate")
    private = _all_names(found, "private") | first | last
    operators = [_reduction(content) for content in found.get("reduction", [])]
    safelen = found.get("safelen", [""])[-1].strip()
    return Clauses(
        private=private,
        first=first,
        reductions=frozenset(name for _, names in operators for name in names),
        last=last,
        shared=_all_names(found, "shared"),
        collapse=found["collapse"][-1].strip() if "collapse" in found else None,
        operators=tuple((operator, name) for operator, names in operators for name in names),
        linear=tuple(pair for content in found.get("linear", ()) for pair in _linear(content)),
        safelen=int(safelen) if safelen.isdigit() else None,
        schedule=found.get("schedule", [""])[-1].rpartition(":")[2].partition(",")[0].strip(),
    )


def _all_names(
    found: Mapping[str, Sequence[str]], clause: str, part: Callable[[str], str] = str
) -> frozenset[str]:
    return frozenset(name for content in found.get(clause, ()) for name in _names(part(content)))


def _linear(content: str) -> list[tuple[str, str]]:
    """The variables and the step of `linear(a, b: 2)` or `linear(val(a): 2)`."""
    names, _, step = re.sub(r"\b(?:val|ref|uval)\s*\(([^()]*)\)", r"\1", content).partition(":")
    return [(name, step.strip() or "1") for name in sorted(_names(names))]


def _reduction(content: str) -> tuple[str, list[str]]:
    """The operator and the variables of `reduction(task, +: a, b[0:n])`."""
    head, _, names = content.partition(":")
    operator = head.rpartition(",")[2].strip()
    return operator, sorted(_names(names))


def _names(content: str) -> frozenset[str]:
    whole = re.sub(r"\[[^\]]*\]", "", content)
    return frozenset(part.strip() for part in whole.split(",") if part.strip())


def normal(text: str) -> str:
    """The words behind `#pragma`, one blank between them."""
    words = text.strip()
    if words.startswith("#"):
        words = words[1:].lstrip().removeprefix("pragma")
    return " ".join(words.split())


def _lines(text: str) -> list[GuardedPragma]:
    first = re.split(r"[\s(]", text)[0]
    match first:
        case "omp":
            return [GuardedPragma(text, _OPENMP)]
        case "acc":
            return [GuardedPragma(text, _OPENACC)]
        case "GCC":
            return [GuardedPragma(text, GCC)]
        case "clang":
            return [GuardedPragma(text, CLANG)]
        case "ivdep":
            return [GuardedPragma(text, INTEL), GuardedPragma("GCC ivdep", GCC)]
        case _ if first in _INTEL_WORDS:
            return [GuardedPragma(text, INTEL)]
        case _:
            return [GuardedPragma(text, None)]
