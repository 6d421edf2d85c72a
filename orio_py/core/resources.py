"""Finds `grammars/` and `templates/`, in an installed wheel or in a checkout, and keeps what is made of them."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path
from typing import Literal

_SEAL_BYTES = sha256().digest_size

PACKAGE = Path(__file__).resolve().parent.parent

CACHE_FOLDER: ContextVar[Path | None] = ContextVar("cache_folder", default=None)
"""Where parsers and templates are kept between processes; None: nowhere.

A command sets it once when it starts.  It is no argument because it changes how long a start takes and
nothing else, and would have to be handed down to each function that parses a word.
"""


def directory(kind: Literal["grammars", "templates"]) -> Path:
    """The folder of grammars or templates: the wheel's copy first, the checkout's second."""
    installed = PACKAGE / f"_{kind}"
    return installed if installed.is_dir() else PACKAGE.parent / kind


def kept(name: str) -> bytes | None:
    """What an earlier process kept under this name, which says all that the content depends on.

    Content that was damaged meanwhile is not returned: each file begins with the content's digest.
    """
    folder = CACHE_FOLDER.get()
    if folder is None:
        return None
    try:
        found = (folder / name).read_bytes()
    except OSError:
        return None
    seal, content = found[:_SEAL_BYTES], found[_SEAL_BYTES:]
    return content if seal == sha256(content).digest() else None


def keep(name: str, content: bytes) -> None:
    """Keep content for later processes; where that cannot be, they take longer.

    The file appears by a rename, so that processes that start at once read whole ones.
    """
    folder = CACHE_FOLDER.get()
    if folder is None:
        return
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(sha256(content).digest() + content)
            Path(temporary).replace(folder / name)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
