"""The marks that surround generated code in a tuned file, so that the file can be tuned again."""

from __future__ import annotations

GENERATED_MARK = "/* orio_py:"
OPEN = "#ifndef ORIO_ORIGINAL"
ELSE = "#else /* ORIO_ORIGINAL */"
CLOSE = "#endif /* ORIO_ORIGINAL */"


def companion_mark(title: str) -> str:
    """How a generated file beside a tuned one begins; a file that does not is never overwritten or removed.

    >>> companion_mark("OpenCL")
    '/* orio_py: OpenCL host code,'
    """
    return f"/* orio_py: {title} host code,"
