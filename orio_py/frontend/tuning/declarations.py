"""`decl` statements: variables and macros of a test program."""

from __future__ import annotations

import re

from orio_py.core.diagnostics import fail
from orio_py.core.expr import Value
from orio_py.core.names import C_TYPES
from orio_py.core.registry import did_you_mean
from orio_py.frontend.expressions import parse_value
from orio_py.frontend.tuning.statements import Decl
from orio_py.spec.inputs import Declaration, Storage

_NAMED = re.compile(r"struct [A-Za-z_]\w*|(?!struct\b)[A-Za-z_]\w*")
_STORAGE = {"static": Storage.STATIC, "dynamic": Storage.DYNAMIC, "managed": Storage.MANAGED}


def is_macro(decl: Decl) -> bool:
    """Whether this is `decl macro NAME = 'text'`."""
    return decl.words[0] == "macro"


def macro(decl: Decl) -> str:
    """The text behind `#define` of a `decl macro`.  Raises ORIO-S013."""
    value: Value = parse_value(decl.text) if decl.text else None
    if len(decl.words) != 2 or decl.extents or not isinstance(value, str) or not value.strip():
        fail("ORIO-S013", "expected `decl macro NAME = 'text';`", decl.position)
    return value


def declaration(decl: Decl) -> Declaration:
    """The declared variable.  Raises ORIO-S013, S014."""
    words = list(decl.words)
    storage = _STORAGE[words.pop(0)] if words[0] in _STORAGE else Storage.SCALAR
    if words and words[0] == "__device__":
        words.pop(0)
    if len(words) < 2:
        fail("ORIO-S013", "expected a type and a name: `decl TYPE NAME`", decl.position)
    *type_words, name = words
    c_type, is_own = _type(type_words, name, decl)
    if storage is Storage.SCALAR and decl.extents:
        fail(
            "ORIO-S013",
            f"array `{name}` needs `static` or `dynamic`",
            decl.name_position,
            help=f"write `decl dynamic {c_type} {name}[…]`",
        )
    if storage is not Storage.SCALAR and not decl.extents:
        fail(
            "ORIO-S013",
            f"scalar `{name}` cannot be `{decl.words[0]}`; extents are missing, or the word is too much",
            decl.name_position,
        )
    if decl.text is not None and decl.text.startswith("{") and storage is not Storage.STATIC:
        fail(
            "ORIO-S013", f"only a static array can have the initialiser list of `{name}`", decl.name_position
        )
    place = None if is_own else decl.position
    return Declaration(name, c_type, storage, decl.extents, decl.text, decl.name_position, place)


def _type(words: list[str], name: str, decl: Decl) -> tuple[str, bool]:
    """The type, and whether it is C's own; others are looked for when all of the file is known."""
    text = " ".join(words)
    if _NAMED.fullmatch(text) and text not in C_TYPES:
        return text, False
    if text not in C_TYPES:
        hint = did_you_mean(text, C_TYPES)
        fail("ORIO-S014", f"unknown type `{text}` in the declaration of `{name}`", decl.position, help=hint)
    if text == "void":
        fail("ORIO-S014", f"`{name}` cannot be of type `void`", decl.position)
    return text, True
