"""Where a loop stands in a C file, by its function and its number: the text is scanned, nothing is parsed.

Loops are numbered from 1 in the order of the text, inner ones too.  A region holds the loops and the pragmas that stand
directly before the first of them, also in `#ifdef _OPENMP`.
"""

from __future__ import annotations

import re

_HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_PRAGMA = r"[ \t]*#[ \t]*pragma\b(?:[^\n]*\\\n)*[^\n]*\n\s*"
_PRAGMAS = re.compile(
    rf"(?:^(?:{_PRAGMA}|[ \t]*#[ \t]*if[^\n]*\n\s*(?:{_PRAGMA})+#[ \t]*endif[^\n]*\n\s*))+\Z", re.MULTILINE
)
_ELSE = re.compile(r"^[ \t]*#[ \t]*(?:else|elif)\b.*?^(?=[ \t]*#[ \t]*endif\b)", re.MULTILINE | re.DOTALL)
_LOOP = re.compile(r"\b(?:for|while|do)\b")
_KEYWORD = re.compile(r"\b(for|while|do|if|else)\b")


def loops_at(text: str, function: str, first: int, last: int) -> tuple[int, int]:
    """Start and end of the text from loop `first` to loop `last` of a function.

    Raises `LookupError` where the file has no such function or loop.
    """
    shown = _blanked(_blanked(text, _HIDDEN), _DIRECTIVE)
    start, end = _body(shown, function)
    loops = [found.start() for found in re.finditer(r"\bfor\s*\(", shown[start:end])]
    if len(loops) < last:
        raise LookupError(f"`{function}` has {len(loops)} loops, not {last}")
    opening, closing = start + loops[first - 1], _statement_end(shown, start + loops[last - 1])
    pragmas = _PRAGMAS.search(text, start, opening)
    return (pragmas.start() if pragmas else opening), closing


def outermost_loops(text: str, *, uncounted: bool = False) -> list[tuple[int, int]]:
    """Start and end of each `for` loop that no other one is around, with the pragmas before it.

    With `uncounted` those of `while` are among them, without empty ones and those behind `do`.  Of alternatives of the
    preprocessor the first ones are read.  Raises `LookupError` where brackets do not match then.
    """
    shown = _without_alternatives(text)
    found: list[tuple[int, int]] = []
    for loop in re.finditer(r"\b(?:for|while)\s*\(" if uncounted else r"\bfor\s*\(", shown):
        if found and loop.start() < found[-1][1]:
            continue
        if loop.group()[0] == "w" and shown[_closed(shown, loop.end() - 1) :].lstrip()[:1] == ";":
            continue
        pragmas = _PRAGMAS.search(text, found[-1][1] if found else 0, loop.start())
        found.append((pragmas.start() if pragmas else loop.start(), _statement_end(shown, loop.start())))
    return found


def innermost_loops(text: str) -> list[tuple[int, int]]:
    """As `outermost_loops` for the `for` loops in which there is no other loop of any kind."""
    shown = _without_alternatives(text)
    found: list[tuple[int, int]] = []
    for loop in re.finditer(r"\bfor\s*\(", shown):
        end = _statement_end(shown, loop.start())
        if not _LOOP.search(shown, loop.end(), end):
            pragmas = _PRAGMAS.search(text, found[-1][1] if found else 0, loop.start())
            found.append((pragmas.start() if pragmas else loop.start(), end))
    return found


def _without_alternatives(text: str) -> str:
    return _blanked(_blanked(_blanked(text, _HIDDEN), _ELSE), _DIRECTIVE)


def _blanked(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def _body(shown: str, function: str) -> tuple[int, int]:
    """Start and end of a function's body; parameters may be declared behind the parentheses."""
    for found in re.finditer(rf"\b{function}\s*\(", shown):
        behind = _closed(shown, found.end() - 1)
        declared = re.match(r"(?:\s*[\w*\s,\[\]]+;)*\s*\{", shown[behind:])
        if declared:
            opening = behind + declared.end() - 1
            return opening, _closed(shown, opening)
    raise LookupError(f"no function `{function}`")


def _closed(shown: str, opening: int) -> int:
    """The place behind the bracket that closes the one at `opening`."""
    depth = 0
    for place in range(opening, len(shown)):
        depth += (shown[place] in "({") - (shown[place] in ")}")
        if depth == 0:
            return place + 1
    raise LookupError("a bracket is not closed")


def _statement_end(shown: str, place: int) -> int:
    """The place behind the statement that starts at `place`."""
    place += len(shown[place:]) - len(shown[place:].lstrip())
    if shown[place] == "{":
        return _closed(shown, place)
    keyword = _KEYWORD.match(shown, place)
    if keyword is None:
        return shown.index(";", place) + 1
    if keyword[1] in {"else", "do"}:
        end = _statement_end(shown, keyword.end())
        return end if keyword[1] == "else" else shown.index(";", end) + 1
    end = _statement_end(shown, _closed(shown, shown.index("(", place)))
    alternative = re.compile(r"\s*(?=else\b)").match(shown, end)
    return _statement_end(shown, alternative.end()) if keyword[1] == "if" and alternative else end
