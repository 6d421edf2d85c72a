"""The quick look that tells most files from those with annotations, without reading them properly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_MARKS = re.compile(rb"/\*@|!@|#[ \t]*pragma[ \t]+[Oo][ir]")


def may_be_annotated(data: bytes) -> bool:
    """Whether a file can hold an annotation at all.

    >>> may_be_annotated(b"int x; /* text */"), may_be_annotated(b"/*@ end @*/")
    (False, True)
    """
    return _MARKS.search(data) is not None


def annotated_sources(words: Sequence[str], directory: Path) -> list[str]:
    """The words of a compiler's command line that name C files which may hold annotations."""
    return [word for word in words[1:] if word.endswith(".c") and _is_annotated(directory / word)]


def _is_annotated(path: Path) -> bool:
    try:
        return may_be_annotated(path.read_bytes())
    except OSError:
        return False  # the compiler says it better
