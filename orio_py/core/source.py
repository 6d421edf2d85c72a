"""Source files as bytes with positions, independent of their encoding.

A C file may be in any encoding that extends ASCII.  Its bytes are viewed through Latin-1, which maps
every byte to one character and back, so offsets in the text are offsets in the file and nothing that
the tool leaves alone can change.  Lines shown to people are decoded as UTF-8 where that is possible.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a file that a person can go to; `line` and `column` count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Span:
    """The half-open byte range `start … end` of a source file."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def contains(self, other: Span) -> bool:
        """Whether `other` lies wholly inside this span."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True, eq=False)
class SourceFile:
    """A file's display name and its bytes; equality is identity."""

    name: str
    data: bytes
    _line_starts: list[int] = field(init=False, repr=False)
    text: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", self.data.decode("latin-1"))
        starts = [0]
        starts.extend(i + 1 for i, byte in enumerate(self.data) if byte == 0x0A)
        object.__setattr__(self, "_line_starts", starts)

    @classmethod
    def read(cls, path: Path, name: str | None = None) -> SourceFile:
        """Read a file.  Raises OSError."""
        return cls(name if name is not None else str(path), path.read_bytes())

    def position(self, offset: int) -> Position:
        """The line and column of a byte offset; columns count characters where the line is UTF-8."""
        index = bisect_right(self._line_starts, offset) - 1
        prefix = self.data[self._line_starts[index] : offset]
        return Position(self.name, index + 1, len(_decode(prefix)) + 1)

    def offset(self, line: int, column: int) -> int:
        """The byte offset of a byte column on a line, both counted from 1 and clipped to the file."""
        index = min(max(line - 1, 0), len(self._line_starts) - 1)
        return min(self._line_starts[index] + max(column - 1, 0), len(self.data))

    def line_text(self, line: int) -> str:
        """The text of a line without its line end, for showing."""
        if not 1 <= line <= len(self._line_starts):
            return ""
        start = self._line_starts[line - 1]
        end = self._line_starts[line] if line < len(self._line_starts) else len(self.data)
        return _decode(self.data[start:end].rstrip(b"\r\n"))

    @property
    def newline(self) -> str:
        """The line end that the file uses: that of its first line."""
        first = self.data.find(b"\n")
        return "\r\n" if first > 0 and self.data[first - 1 : first] == b"\r" else "\n"


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
