"""What the project's own headers say: the typedefs of numbers that a file sees."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from orio_py.codegen.ctypes import is_arithmetic, typedefs
from orio_py.core.source import SourceFile
from orio_py.ctree.structures import Members, structures

LARGEST_HEADER = 4 * 1024 * 1024
MOST_HEADERS = 500
"""Bounds of the search for typedefs; what lies beyond them stays unknown, which is always safe."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_CONTINUED = re.compile(r"\\\r?\n")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)\b(?!\()([^\n]*)", re.MULTILINE)


def number_types(source: SourceFile, path: Path, folders: Sequence[Path]) -> Mapping[str, str]:
    """The typedef names for numbers that `source` and the headers it includes define.

    Headers are looked for beside the file that includes them and in `folders`; those that are not found
    there (the system's) are left out.  Conditions are not evaluated, so a name that two typedefs explain
    differently stays unknown.
    """
    found: dict[str, set[str]] = {}
    for text in project_texts(source, path, folders):
        for name, target in typedefs(text):
            found.setdefault(name, set()).add(target)
    sure = {name: next(iter(targets)) for name, targets in found.items() if len(targets) == 1}
    resolved = {name: _resolved(name, sure) for name in sure}
    return {name: kind for name, kind in resolved.items() if kind is not None}


def header_macros(source: SourceFile, path: Path, folders: Sequence[Path]) -> Mapping[str, str]:
    """The object-like macros that the project's headers define, with what they stand for.

    Of several definitions of one name the last counts.
    """
    headers = project_texts(source, path, folders)[1:]
    texts = (_COMMENT.sub(" ", _CONTINUED.sub(" ", text)) for text in headers)
    return {name: " ".join(body.split()) for text in texts for name, body in _DEFINE.findall(text)}


def structure_texts(source: SourceFile, path: Path, folders: Sequence[Path]) -> tuple[str, ...]:
    """The texts of the project's headers that may define structures."""
    return tuple(text for text in project_texts(source, path, folders)[1:] if "struct" in text)


def structure_types(texts: Sequence[str], types: Mapping[str, str]) -> Mapping[str, Members]:
    """The members of the structures in `texts`, with the types that typedefs of numbers stand for."""
    return {
        name: tuple(replace(m, type=types.get(m.type, m.type)) for m in members)
        for name, members in structures(texts).items()
    }


def project_texts(source: SourceFile, path: Path, folders: Sequence[Path]) -> list[str]:
    """The file's text and those of the project's headers that it includes, each once."""
    texts = [source.text]
    waiting = [(name, path.resolve().parent) for name in _included(source.text)]
    seen: set[Path] = set()
    while waiting and len(seen) < MOST_HEADERS:
        name, beside = waiting.pop(0)
        header = next((p for p in ((f / name).resolve() for f in (beside, *folders)) if _readable(p)), None)
        if header is None or header in seen:
            continue
        seen.add(header)
        content = header.read_bytes().decode("latin-1")
        texts.append(content)
        waiting.extend((inner, header.parent) for inner in _included(content))
    return texts


def _included(text: str) -> list[str]:
    return [quoted or angled for quoted, angled in _INCLUDE.findall(text)]


def _readable(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size <= LARGEST_HEADER
    except (OSError, ValueError):
        return False


def _resolved(name: str, known: Mapping[str, str]) -> str | None:
    seen: set[str] = set()
    while not is_arithmetic(name):
        if name in seen or name not in known:
            return None
        seen.add(name)
        name = known[name]
    return " ".join(name.split())
