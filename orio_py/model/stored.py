"""Model files: a header in JSON and plain arrays, in one `.npz`; nothing in them is ever executed."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from orio_py.core.diagnostics import fail

Model = TypeVar("Model")

Arrays: TypeAlias = "dict[str, npt.NDArray[Any]]"
Header: TypeAlias = "Mapping[str, Any]"

VERSION = 1


def write_model(path: Path, format_name: str, header: Header, arrays: Arrays) -> None:
    """Write a model file.  Raises DiagnosticError ORIO-U009 when the system refuses."""
    content = json.dumps({"format": format_name, "version": VERSION, **header})
    text = np.frombuffer(content.encode(), dtype=np.uint8)
    written = BytesIO()
    cast("Any", np.savez_compressed)(written, header=text, **arrays)
    try:
        path.write_bytes(written.getvalue())
    except OSError as error:
        fail("ORIO-U009", f"`{path}` cannot be written: {error.strerror or error}")


def read_model(path: Path, what: str, readers: Mapping[str, Callable[[Header, Arrays], Model]]) -> Model:
    """Read a model file of one of some formats; `what` is wanted, in words.

    Raises DiagnosticError ORIO-U006, U008 (no file, or one that cannot be read), D022 (no such model).
    """
    if not path.exists():
        fail("ORIO-U006", f"there is no file `{path}`")
    try:
        content = path.read_bytes()
    except OSError as error:
        fail("ORIO-U008", f"`{path}` cannot be read: {error.strerror or error}")
    try:
        with np.load(BytesIO(content), allow_pickle=False) as stored:
            arrays: Arrays = {name: stored[name] for name in stored.files}
        header = _header(arrays)
        if header.get("format") not in readers:
            raise ValueError("its header is of another format")
        if header["version"] != VERSION:
            raise ValueError(f"it is of version {header['version']}; this program reads version {VERSION}")
        return readers[header["format"]](header, arrays)
    except (ValueError, KeyError, TypeError, IndexError, EOFError, zipfile.BadZipFile) as error:
        reason = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        fail("ORIO-D022", f"`{path}` is not {what}: {reason}")


def _header(arrays: Arrays) -> Header:
    header = json.loads(arrays["header"].astype(np.uint8).tobytes().decode())
    if not isinstance(header, dict):
        raise ValueError("its header is of another format")
    return cast("Header", header)
