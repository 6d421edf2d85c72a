"""The width of one level of indentation in a C file, as its author writes it."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

DEFAULT_STEP = "  "

_OPENS = re.compile(r"(\{|\)|\belse|\bdo)\s*$")
_MARGIN = re.compile(r"[ \t]*")


@lru_cache(maxsize=4)
def indent_step(text: str) -> str:
    """What the lines after an opening brace or a loop header have more than that line.

    The most frequent difference counts; a tab is a step of its own.  Two blanks where nothing is nested.
    """
    found: Counter[str] = Counter()
    opening: str | None = None
    for line in text.splitlines():
        code = line.partition("//")[0].rstrip()
        if not code.strip() or code.lstrip().startswith(("#", "*")):
            continue
        margin = _margin(line)
        if opening is not None and margin.startswith(opening) and len(margin) > len(opening):
            step = margin[len(opening) :]
            if step == "\t" or (not step.strip(" ") and len(step) <= 8):
                found[step] += 1
        opening = margin if _OPENS.search(code) else None
    return found.most_common(1)[0][0] if found else DEFAULT_STEP


def _margin(line: str) -> str:
    match = _MARGIN.match(line)
    return match.group() if match else ""
