"""What a file says at its top level, found once for all the regions of the file."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from orio_py.ctree.declarations_in_scope import declaration_text
from orio_py.ctree.file_structure import Item, Outline, outline
from orio_py.ctree.lexer import Token, TokenKind, directive_body, directive_name, scan

_FILES_REMEMBERED = 4
"""The tokens of a file take about a hundred times its size, and files are worked on one after the other."""

_MACRO = re.compile(r"([A-Za-z_]\w*)(\(?)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class MacroChange:
    """A `#define` (or, without a `body`, an `#undef`) at an offset; `names` are those in the body."""

    start: int
    name: str
    body: str | None
    takes_arguments: bool
    names: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class FileScan:
    """A text, its outline, and what regions ask of them.

    `declarations` are the top-level declarations, each with the offset of its end and its text for the parser.
    `names` are the names that each function mentions, `initialised` those in declarations with an initial
    value.
    """

    text: str
    outline: Outline
    starts: tuple[int, ...]
    functions: tuple[Item, ...]
    declarations: tuple[tuple[int, str], ...]
    macro_changes: tuple[MacroChange, ...]
    names: Mapping[str, frozenset[str]]
    initialised: frozenset[str]

    def tokens(self, start: int, end: int) -> tuple[Token, ...]:
        """The active tokens that start in `text[start:end]`."""
        return self.outline.tokens[bisect_left(self.starts, start) : bisect_left(self.starts, end)]

    def function_around(self, offset: int) -> Item | None:
        """The function whose body an offset is in."""
        return next((item for item in self.functions if item.body < offset <= item.close), None)

    def declarations_before(self, offset: int) -> tuple[str, ...]:
        """The texts of the top-level declarations that end before an offset."""
        return tuple(text for end, text in self.declarations if end <= offset and text)

    def macros_before(self, offset: int) -> dict[str, MacroChange]:
        """The macros that are defined at an offset."""
        found: dict[str, MacroChange] = {}
        for change in self.macro_changes:
            if change.start >= offset:
                break
            found.pop(change.name, None)
            if change.body is not None:
                found[change.name] = change
        return found


@lru_cache(maxsize=_FILES_REMEMBERED)
def scan_file(text: str) -> FileScan:
    """The scan of a file's text.

    >>> [item.name for item in scan_file("int n; void f(void) { }").functions]
    ['f']
    """
    found = outline(scan(text), len(text))
    functions = tuple(item for item in found.items if item.kind == "function")
    declarations = [item for item in found.items if item.kind == "declaration"]
    names: dict[str, frozenset[str]] = {}
    for item in functions:
        names[item.name] = names.get(item.name, frozenset()) | names_in(item.tokens)
    with_value = [item for item in declarations if any(t.is_operator("=") for t in item.tokens)]
    return FileScan(
        text=text,
        outline=found,
        starts=tuple(token.start for token in found.tokens),
        functions=functions,
        declarations=tuple((item.end, declaration_text(item.tokens)) for item in declarations),
        macro_changes=tuple(_macro_changes(found.tokens)),
        names=names,
        initialised=frozenset[str]().union(*(names_in(item.tokens) for item in with_value)),
    )


def names_in(tokens: Iterable[Token]) -> frozenset[str]:
    """The names among tokens."""
    return frozenset(token.text for token in tokens if token.kind is TokenKind.NAME)


def _macro_changes(tokens: Iterable[Token]) -> Iterable[MacroChange]:
    for token in tokens:
        if token.kind is not TokenKind.DIRECTIVE or (word := directive_name(token)) not in {
            "define",
            "undef",
        }:
            continue
        match = _MACRO.match(directive_body(token))
        if match is None:
            continue
        name, bracket, rest = match.groups()
        body = rest.strip() if word == "define" else None
        names = names_in(scan(body)) if body else frozenset[str]()
        yield MacroChange(token.start, name, body, bool(bracket), names)
