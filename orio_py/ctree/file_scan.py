"""What a file says at its top level, found once for all the regions of the file."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from orio_py.ctree.file_structure import Item, Outline, outline
from orio_py.ctree.lexer import Token, names_in, scan

_FILES_REMEMBERED = 4
"""The tokens of a file take about a hundred times its size, and files are worked on one after the other."""


@dataclass(frozen=True, slots=True, eq=False)
class FileScan:
    """A text, its outline, and what regions ask of them.

    `names` are the names that each function mentions, `initialised` those in declarations with an initial
    value.
    """

    text: str
    outline: Outline
    starts: tuple[int, ...]
    functions: tuple[Item, ...]
    names: Mapping[str, frozenset[str]]
    initialised: frozenset[str]

    def tokens(self, start: int, end: int) -> tuple[Token, ...]:
        """The active tokens that start in `text[start:end]`."""
        return self.outline.tokens[bisect_left(self.starts, start) : bisect_left(self.starts, end)]

    def function_around(self, offset: int) -> Item | None:
        """The function whose body an offset is in."""
        return next((item for item in self.functions if item.body < offset <= item.close), None)


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
        names=names,
        initialised=frozenset[str]().union(*(names_in(item.tokens) for item in with_value)),
    )
