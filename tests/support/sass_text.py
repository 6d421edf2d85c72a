"""Small functions of machine code, written as text."""

from __future__ import annotations

from orio_py.sass.instruction import SassFunction
from orio_py.sass.listing import parse_listing


def listing(*lines: str) -> SassFunction:
    """A function `k` with these instructions, one a line; a line that ends with a colon is a label."""
    text, address = ["\t.section\t.text.k"], 0
    for line in lines:
        if line.endswith(":"):
            text.append(line)
        else:
            text.append(f"        /*{address:04x}*/  {line} ;")
            address += 16
    (function,) = parse_listing("\n".join(text))
    return function
