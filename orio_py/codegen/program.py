"""Generated C files, as values."""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.core.digest import digest


@dataclass(frozen=True, slots=True)
class Program:
    """One generated translation unit; `text` holds file bytes as Latin-1, `suffix` ends its file's name."""

    text: str
    suffix: str = ".c"

    @property
    def digest(self) -> str:
        """The content digest, by which equal variants are recognised."""
        return digest(self.text)

    @property
    def data(self) -> bytes:
        """The bytes to write."""
        return self.text.encode("latin-1")
