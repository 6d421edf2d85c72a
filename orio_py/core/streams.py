"""Outputs that are no files of their own: standard output, devices, pipes."""

from __future__ import annotations

import os
from pathlib import Path

STANDARD_OUTPUT = Path("/dev/stdout")
"""What `-` stands for as an output."""

_ITS_NAMES = frozenset({"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})


def named_output(text: str) -> Path:
    """The path of an output as a command line names it.

    >>> named_output("-") == named_output("/dev/fd/1") == STANDARD_OUTPUT
    True
    """
    return STANDARD_OUTPUT if text in _ITS_NAMES else Path(text)


def is_stream(path: Path) -> bool:
    """Whether an output is written to as it is: nothing can stand beside it, and no file takes its place."""
    return path == STANDARD_OUTPUT or (path.exists() and not (path.is_file() or path.is_dir()))


def write_to_stream(path: Path, data: bytes) -> None:
    """Write to a device, a pipe or standard output.  Raises OSError."""
    # What standard output goes to may be a file with other things in it, which must not be opened anew.
    with os.fdopen(os.dup(1), "wb") if path == STANDARD_OUTPUT else path.open("wb") as file:
        file.write(data)
