"""The names that a generated source has for itself, made its own: several of them can stand in one translation unit.

    static int orio_wait(…)        becomes in `axpy_opencl.c`        static int orio_wait_of_axpy(…)

Functions that applications call have the file's name in theirs already.

Source: ISO/IEC 9899:1999, 6.2.1 (scopes) and 6.2.2 (linkage).
"""

from __future__ import annotations

import re

_DEFINED = re.compile(
    r"^static [^;={(\[\n]*?\b(orio_\w+)(?=\s*[\[=;(])|^(?:struct|enum) (orio_\w+) \{|^typedef [^\n]*?\b(orio_\w+)\[",
    re.MULTILINE,
)
_CONSTANTS = re.compile(r"^enum[^{;\n]*\{([^}]*)\}", re.MULTILINE)
_CONSTANT = re.compile(r"\bORIO_[A-Z_]+\b")


def with_own_names(text: str, name: str) -> str:
    r"""The text with `_of_NAME` behind each name of file scope that no other file uses.

    >>> with_own_names("static int orio_a;\nint orio_b(void) { return orio_a + orio_c; }", "axpy")
    'static int orio_a_of_axpy;\nint orio_b(void) { return orio_a_of_axpy + orio_c; }'
    """
    names = {found for match in _DEFINED.finditer(text) for found in match.groups() if found is not None}
    for listed in _CONSTANTS.finditer(text):
        names.update(_CONSTANT.findall(listed[1]))
    if not names:
        return text
    longest_first = sorted(names, key=lambda word: (-len(word), word))
    pattern = re.compile(rf"\b(?:{'|'.join(longest_first)})\b")
    return pattern.sub(lambda match: f"{match[0]}_of_{name}", text)
