"""The macros of a translation unit, and their expansion where a parser could not read the code otherwise."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from pycparser.c_parser import CParser, ParseError

from orio_py.core.names import C_KEYWORDS
from orio_py.ctree.lexer import Token, directive_body, directive_name, names_in, scan
from orio_py.ctree.typenames import STANDARD_TYPES

_DEFINITION = re.compile(r"([A-Za-z_]\w*)(\(([^)]*)\))?(.*)", re.DOTALL)
_SIMPLE = re.compile(r"#\s*(define|undef)\s+(?=[A-Za-z_])((?:[^\\/\n]|/(?![/*]))*)")


@dataclass(frozen=True)
class Macro:
    """A macro: what stands for it, and the names of its arguments (None for one that takes none).

    `is_system` says that a header of the system defines it.
    """

    name: str
    body: str
    arguments: str | None
    is_system: bool = False

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that its text mentions."""
        return names_in(scan(self.body))

    @property
    def definition(self) -> str:
        """The text behind `#define`."""
        arguments = "" if self.arguments is None else f"({self.arguments})"
        return f"{self.name}{arguments} {self.body}"


@dataclass(frozen=True, slots=True)
class MacroChange:
    """A `#define` at an offset, or the `#undef` of a name."""

    start: int
    name: str
    macro: Macro | None

    @classmethod
    def of(cls, token: Token, *, is_system: bool = False) -> MacroChange | None:
        """The change that a preprocessor line makes, if it makes one."""
        simple = _SIMPLE.fullmatch(token.text)
        word, text = simple.groups() if simple is not None else (directive_name(token), directive_body(token))
        match = _DEFINITION.match(text) if word in {"define", "undef"} else None
        if match is None:
            return None
        name, _, arguments, rest = match.groups()
        return cls(
            token.start, name, Macro(name, rest.strip(), arguments, is_system) if word == "define" else None
        )


def macros_at(changes: Sequence[MacroChange], offset: int) -> dict[str, Macro]:
    """The macros that are defined at an offset, in the order of their definitions."""
    found: dict[str, Macro] = {}
    add_changes(found, changes[: bisect_left(changes, offset, key=lambda change: change.start)])
    return found


def add_changes(macros: dict[str, Macro], changes: Iterable[MacroChange]) -> None:
    """Make changes in a dictionary of macros."""
    for change in changes:
        macros.pop(change.name, None)
        if change.macro is not None:
            macros[change.name] = change.macro


def hidden_names(names: Iterable[str], macros: Mapping[str, Macro]) -> frozenset[str]:
    """The names in the macros that are among `names`, and in the macros that those mention; arguments are left out."""
    waiting = [macros[name] for name in names if name in macros]
    seen: set[str] = set()
    found: set[str] = set()
    while waiting:
        macro = waiting.pop()
        if macro.name not in seen:
            seen.add(macro.name)
            found |= macro.names - names_in(scan(macro.arguments or ""))
            waiting.extend(macros[name] for name in macro.names if name in macros)
    return frozenset(found - macros.keys())


def expanded(text: str, macros: Mapping[str, Macro]) -> str:
    """The text with macros expanded, but for constants and for functions of the system's headers."""
    tokens = scan(text)
    called = {t.text for t, after in pairwise(tokens) if after.is_operator("(")}
    needed = {n for n in names_in(tokens) & macros.keys() if _is_expanded(macros[n], macros, n in called)}
    if not needed:
        return text
    waiting, known = list(needed), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in known:
            known.add(name)
            inner = macros[name].names & macros.keys()
            waiting.extend(n for n in inner if _is_expanded(macros[n], macros, is_called=True))
    return _expand(text, tuple(sorted(macros[name].definition for name in known)))


def _is_expanded(macro: Macro, macros: Mapping[str, Macro], is_called: bool) -> bool:
    if macro.arguments is not None:
        return is_called and not macro.is_system
    if macro.is_system:
        return not _is_expression(macro.body)
    return not (_is_expression(macro.body) and not hidden_names([macro.name], macros) - C_KEYWORDS)


@lru_cache(maxsize=4096)
def _is_expression(body: str) -> bool:
    """Whether a text is an expression by itself, whatever its names stand for."""
    if body in STANDARD_TYPES:
        return False
    try:
        CParser().parse(f"int x = {body};")
    except (ParseError, RecursionError):
        return False
    return True


def _expand(text: str, definitions: tuple[str, ...]) -> str:
    # Few files need this, which takes time to load.
    from pcpp import Preprocessor

    preprocessor = Preprocessor()
    for definition in definitions:
        preprocessor.define(definition)
    return "".join(token.value for token in preprocessor.expand_macros(preprocessor.tokenize(text)))
