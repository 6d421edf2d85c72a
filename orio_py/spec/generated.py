"""The marks that surround generated code in a tuned file, so that the file can be tuned again."""

from __future__ import annotations

GENERATED_MARK = "/* orio_py:"
OPEN = "#ifndef ORIO_ORIGINAL"
ELSE = "#else /* ORIO_ORIGINAL */"
CLOSE = "#endif /* ORIO_ORIGINAL */"

COMPANION_MARK = "/* orio_py: OpenCL host code,"
"""How a generated file beside a tuned one begins; a file that does not is never overwritten or removed."""
