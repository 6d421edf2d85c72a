"""Parser errors in a person's words: what was found, where, and what was expected."""

from __future__ import annotations

import re
from collections.abc import Callable

from lark.exceptions import UnexpectedInput

from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.source import Position
from orio_py.frontend.grammars import error_offset, expected_terminals

_WORDS = {
    "RPAR": "`)`",
    "RSQB": "`]`",
    "COMMA": "`,`",
    "EQUAL": "`=`",
    "LSQB": "`[`",
    "LPAR": "`(`",
    "STRING": "a string",
    "NAME": "a name",
    "WORD": "a name",
    "ELSE": "`else`",
    "IN": "`in`",
    "C_TEXT": "a value",
    "C_EXTENT": "an array extent",
}
_OPERATORS = frozenset({"SIGN", "TIMES", "POWER", "COMPARE"})
_OUTSIDE = {
    ".": "attributes and methods",
    "`": "backticks",
    "{": "sets and dictionaries",
    "}": "sets and dictionaries",
    ":": "slices, lambda and dictionaries",
    "@": "decorators",
    "?": "`?:` and other C operators",
    "^": "bit operations",
    "&": "bit operations",
    "|": "bit operations",
    "~": "bit operations",
}
_NOT_ALLOWED = {"lambda", "import", "yield", "await", "def", "class", "del", "assert", "exec", "is"}


def found(text: str, offset: int) -> str:
    """What stands at `offset`, for a message."""
    if offset >= len(text.rstrip()):
        return "end of the text"
    match = re.compile(r"[A-Za-z_]\w*|[\d.]+\w*|'[^'\n]{0,20}'?|\"[^\"\n]{0,20}\"?|\S").match(text, offset)
    word = match.group() if match else text[offset]
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in word[:30])
    return f"`{shown}`"


def expected(terminals: frozenset[str]) -> str:
    """The expected things in words, the most telling first."""
    names = set(terminals)
    words: list[str] = []
    if {"NAME", "NUMBER"} <= names:
        words.append("a value")
        names -= {"NAME", "NUMBER", "STRING", "LPAR", "LSQB"}
    words.extend(word for name, word in _WORDS.items() if name in names)
    if names & _OPERATORS and "a value" not in words:
        words = [word for word in words if word not in ("`[`", "`(`", "a string")]
        words.append("an operator")
    if not words and "$END" in names:
        return "the end of the expression"
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words) or "something else"


def expression_error(
    error: UnexpectedInput, text: str, locate: Callable[[int], Position | None]
) -> DiagnosticError:
    """The diagnostic for text that is not an expression: ORIO-E001, or E010 for what Python alone has."""
    at = error_offset(error, text)
    what = found(text, at)
    character = text[at : at + 1]
    before = re.search(r"[A-Za-z_]\w*(?=\s*$)", text[:at])
    for word in (before.group() if before else "", what.strip("`")):
        if word in _NOT_ALLOWED:
            message = f"`{word}` is not part of the expression language"
            return DiagnosticError(Diagnostic("ORIO-E010", message, locate(at)))
    if character in _OUTSIDE and character:
        message = f"{_OUTSIDE[character]} are not part of the expression language (found {what})"
        return DiagnosticError(Diagnostic("ORIO-E010", message, locate(at), help=_help(character)))
    if character in ("'", '"') and text[at - 1 : at].isalpha() and before is not None:
        message = f"string prefixes such as `{before.group()[:20]}` are not part of the expression language"
        return DiagnosticError(Diagnostic("ORIO-E010", message, locate(at)))
    if character in ("'", '"') and "STRING" in expected_terminals(error):
        message = f"the string that starts here is never closed; expected {character}"
        return DiagnosticError(Diagnostic("ORIO-E001", message, locate(at)))
    message = f"unexpected {what}; expected {expected(expected_terminals(error))}"
    return DiagnosticError(Diagnostic("ORIO-E001", message, locate(at), help=_help(character)))


def _help(character: str) -> str | None:
    match character:
        case "=":
            return "values are compared with `==`"
        case "?":
            return "write `a if condition else b`"
        case _:
            return None
