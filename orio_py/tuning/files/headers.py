"""The project's own headers: what a file's meaning depends on besides itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from orio_py.core.source import SourceFile

LARGEST_HEADER = 4 * 1024 * 1024
MOST_HEADERS = 500
"""Bounds of the search."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)


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
