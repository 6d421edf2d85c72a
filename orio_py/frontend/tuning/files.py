"""Files that a specification names: looked for beside the source file and read whole."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from orio_py.core.diagnostics import fail
from orio_py.core.registry import nearest
from orio_py.core.source import Position, SourceFile
from orio_py.spec.inputs import ExternalFile

_LARGEST = 16 * 1024 * 1024
_NEEDS = {
    "init_file": (re.compile(r"\binit_input_vars\s*\("), "define `void init_input_vars(void)`"),
    "validation_file": (re.compile(r"\bisValid\s*\("), "define `int isValid(void)`"),
    "skeleton_code_file": (
        re.compile(r"/\*@\s*tested\s+code\s*@\*/"),
        "contain the tag `/*@ tested code @*/`",
    ),
}


@dataclass(slots=True)
class Files:
    """Reads files below `directory` and remembers them by name for messages."""

    directory: Path
    sources: dict[str, SourceFile] = field(default_factory=dict[str, SourceFile])

    def external(self, argument: str, written: str, position: Position) -> ExternalFile:
        """The file of `arg NAME = 'written'`.  Raises ORIO-S015, S016."""
        source = self.read(written, position, f"`{argument}`")
        pattern, needed = _NEEDS.get(argument, (None, ""))
        if pattern is not None and pattern.search(source.text) is None:
            fail("ORIO-S016", f"file `{written}` of `{argument}` does not {needed}", position)
        return ExternalFile(written, source.name, source.text, position)

    def has(self, written: str) -> bool:
        """Whether anything has that name."""
        return "\0" in written or os.path.lexists(self.directory / written)

    def read(self, written: str, position: Position | None, what: str) -> SourceFile:
        """The file of that name.  Raises ORIO-S015."""
        if "\0" in written:
            fail("ORIO-S015", f"the file name of {what} contains a NUL character", position)
        path = self.directory / written
        try:
            if path.exists() and not path.is_file():
                fail("ORIO-S015", f"{what}: `{written}` is not a regular file", position)
            if path.stat().st_size > _LARGEST:
                fail("ORIO-S015", f"{what}: `{written}` is larger than 16 MiB", position)
            source = SourceFile.read(path)
        except OSError as error:
            reason = error.strerror or str(error)
            hint = self._similar(path)
            fail("ORIO-S015", f"{what}: cannot read `{written}`: {reason}", position, help=hint)
        self.sources[source.name] = source
        return source

    def _similar(self, path: Path) -> str | None:
        try:
            names = [entry.name for entry in path.parent.iterdir() if entry.suffix == path.suffix]
        except OSError:
            return None
        match = nearest(path.name, names[:200])
        return f"did you mean `{match}`?" if match else f"files are looked for in {self.directory}"
