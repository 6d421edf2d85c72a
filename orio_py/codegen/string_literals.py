"""Text (bytes as Latin-1) as C string literals that every C99 compiler takes."""

from __future__ import annotations

LONGEST_LITERAL = 4095
"""Characters in a string literal after concatenation that C99 promises (ISO/IEC 9899:1999, 5.2.4.1)."""

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "?": "\\?"}


def string_pieces(text: str, *, longest: int = LONGEST_LITERAL) -> list[list[str]]:
    r"""The text as pieces of at most `longest` characters, each a list of adjacent literals, one per line.

    The pieces are for an array of strings; a text that has nothing to say is one empty literal.

    >>> for piece in string_pieces('a "b"\nc', longest=6):
    ...     print(*piece)
    "a \"b\"\n"
    "c"
    """
    pieces: list[list[str]] = []
    used = longest
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), longest):
            part = line[start : start + longest]
            if used + len(part) > longest:
                pieces.append([])
                used = 0
            pieces[-1].append(f'"{escape(part)}"')
            used += len(part)
    return pieces or [['""']]


def escape(part: str) -> str:
    """The text as it stands in a literal; a question mark is escaped only where it could begin a trigraph."""
    found: list[str] = []
    for before, character in zip(" " + part, part, strict=False):
        if character == "?" and before != "?":
            found.append(character)
        elif character in _ESCAPES:
            found.append(_ESCAPES[character])
        elif " " <= character <= "~":
            found.append(character)
        else:
            found.extend(f"\\{byte:03o}" for byte in character.encode("latin-1", "replace"))
    return "".join(found)
