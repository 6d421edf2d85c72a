"""Splices generated code into the bytes of a file; everything outside a region stays as it is."""

from __future__ import annotations

import os
import stat
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from orio_py.core.source import SourceFile, Span
from orio_py.core.streams import is_stream, write_to_stream
from orio_py.spec.generated import CLOSE, ELSE, GENERATED_MARK, OPEN
from orio_py.spec.region import Region
from orio_py.transformation.recipe import is_one_statement


def generated_content(region: Region, code: str | None, remarks: Sequence[str], newline: str) -> str:
    """What stands between the comments of a region: remarks, the code, and the original under `#else`.

    With `code` None the original stays, below a remark that says so.
    """
    comment = _comment(remarks, region.indent)
    original = region.reference_text.replace("\r\n", "\n").strip("\n").rstrip()
    if code is None:
        lines = ["", comment, original, region.indent]
    else:
        body = code.replace("\r\n", "\n").strip("\n").rstrip()
        if is_one_statement(region):
            inner = textwrap.indent(body, region.step)
            body = f"{region.indent}{{\n{inner}\n{region.indent}}}"
        lines = ["", comment, OPEN, body, ELSE, original, CLOSE, region.indent]
    return newline.join("\n".join(lines).split("\n"))


def _comment(remarks: Sequence[str], indent: str) -> str:
    safe = [_ascii(remark).replace("*/", "* /") for remark in remarks]
    inner = f"\n{indent}   ".join(safe)
    return f"{indent}{GENERATED_MARK} {inner} */"


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode("ascii").replace("\n", " ")


def splice(source: SourceFile, contents: Mapping[Span, str]) -> bytes:
    """The file's bytes with the given spans replaced.  Raises ValueError when spans overlap."""
    pieces: list[bytes] = []
    at = 0
    for span in sorted(contents, key=lambda s: s.start):
        if span.start < at:
            raise ValueError("regions overlap")
        pieces.append(source.data[at : span.start])
        pieces.append(contents[span].encode("latin-1"))
        at = span.end
    pieces.append(source.data[at:])
    return b"".join(pieces)


def write_atomically(path: Path, data: bytes, *, mode_of: Path | None = None) -> None:
    """Write a file so that a reader sees the old content or the new one; to devices and pipes as it is.

    Raises OSError.
    """
    if is_stream(path):
        write_to_stream(path, data)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(_mode(mode_of if mode_of is not None else target))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0o644
