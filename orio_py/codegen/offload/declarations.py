"""Declarations of host functions, broken into lines, and names that C++ has, too.

Source: ISO/IEC 14882:2020 for the words that C++ applications cannot use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from orio_py.codegen.device_names import CPP_WORDS

WIDTH = 110
"""Characters in a line of generated code, where it can be broken."""


def parameter_texts(parameters: Sequence[tuple[str, str]], *, for_cpp: bool = False) -> list[str]:
    """Parameters as C declares them."""
    given = [(kind, "" if for_cpp and name in CPP_WORDS else name) for kind, name in parameters]
    return [f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}".rstrip() for kind, name in given]


def wrapped(head: str, items: Sequence[str], tail: str) -> str:
    """`head`, the items separated by commas, and `tail`; lines that are too long go on below the head."""
    lines = [head]
    margin = " " * len(head)
    for number, item in enumerate(items):
        text = item + (", " if number + 1 < len(items) else tail)
        if len(lines[-1]) + len(text.rstrip()) > WIDTH and lines[-1].strip() and lines[-1] != head:
            lines.append(margin)
        lines[-1] += text
    if not items:
        lines[-1] += tail
    return "\n".join(line.rstrip() for line in lines)


def for_cpp(lines: Sequence[str], names: Sequence[str]) -> list[str]:
    """Lines of C with other names for those parameters that are words of C++."""
    return renamed(lines, {name: cpp_name(name) for name in names if name in CPP_WORDS})


def cpp_name(name: str) -> str:
    """A parameter's name in C++."""
    return f"{name}_" if name in CPP_WORDS else name


def renamed(lines: Sequence[str], names: Mapping[str, str]) -> list[str]:
    """Lines with other names for some identifiers."""
    changed = {name: new for name, new in names.items() if name != new}
    if not changed:
        return list(lines)
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, changed))})\b")
    return [pattern.sub(lambda match: changed[match[0]], line) for line in lines]
