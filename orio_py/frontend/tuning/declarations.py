"""The variables that a specification declares: `decl dynamic double a[n] = random;` as data."""

from __future__ import annotations

import re

from orio_py.core.diagnostics import fail
from orio_py.core.expr import Value
from orio_py.core.names import C_TYPES
from orio_py.core.registry import did_you_mean
from orio_py.frontend.expressions import parse_value
from orio_py.frontend.tuning.statements import Decl
from orio_py.spec.inputs import Declaration, Storage

_NAMED = re.compile(r"(?:struct|union) [A-Za-z_]\w*|(?!(?:struct|union)\b)[A-Za-z_]\w*")
_STORAGE = {"static": Storage.STATIC, "dynamic": Storage.DYNAMIC, "managed": Storage.MANAGED}


def is_macro(decl: Decl) -> bool:
    """Whether this is `decl macro NAME = 'text'`."""
    return decl.words[0] == "macro"


def macro_text(decl: Decl) -> str:
    """The text behind `#define` of a `decl macro`.  Raises ORIO-S013."""
    value: Value = parse_value(decl.text) if decl.text else None
    if len(decl.words) != 2 or decl.extents or not isinstance(value, str) or not value.strip():
        fail("ORIO-S013", "expected `decl macro NAME = 'text';`", decl.position)
    return value


def declared_input(decl: Decl) -> Declaration:
    """The declared variable.  Raises ORIO-S013, S014."""
    words = list(decl.words)
    # C allows the storage class behind the type, too.
    stored = next((word for word in words[:-1] if word in _STORAGE), None)
    if stored is not None:
        words.remove(stored)
    storage = Storage.SCALAR if stored is None else _STORAGE[stored]
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
            f"scalar `{name}` cannot be `{stored}`; extents are missing, or the word is too much",
            decl.name_position,
        )
    if decl.text is not None and decl.text.startswith("{") and storage is not Storage.STATIC:
        fail(
            "ORIO-S013", f"only a static array can have the initialiser list of `{name}`", decl.name_position
        )
    place = None if is_own else decl.position
    return Declaration(name, c_type, storage, decl.extents, decl.text, decl.name_position, place)


def declared_member(decl: Decl) -> Declaration:
    """A member of a structure; where it is a pointer the test program allocates what it points to.

    Raises ORIO-S013, S014.
    """
    words = [word for word in decl.words if word not in {"dynamic", "managed"}]
    if len(words) < 2 or "static" in words:
        fail("ORIO-S013", "expected a type and a member: `decl TYPE NAME.MEMBER[extent]…`", decl.position)
    *type_words, variable = words
    name = ".".join((variable, *decl.members))
    if decl.text is not None and decl.text.startswith("{"):
        fail("ORIO-S013", f"member `{name}` cannot have an initialiser list", decl.name_position)
    c_type, is_own = _type(type_words, name, decl)
    storage = Storage.DYNAMIC if decl.extents else Storage.SCALAR
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
