"""Generated C files, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from orio_py.core.digest import digest


@dataclass(frozen=True, slots=True)
class Program:
    """One generated translation unit; `text` holds file bytes as Latin-1, `suffix` ends its file's name.

    `companions` are the texts of the files that stand beside it, by name, and `options` those of the compiler that it
    needs besides the task's.
    """

    text: str
    suffix: str = ".c"
    companions: Mapping[str, str] = field(default_factory=dict[str, str])
    options: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The content digest, by which equal variants are recognised."""
        return digest([*self.texts, *self.options] if self.companions or self.options else self.text)

    @property
    def texts(self) -> tuple[str, ...]:
        """Its text, then those of its companions."""
        return (self.text, *self.companions.values())

    @property
    def data(self) -> bytes:
        """The bytes to write."""
        return self.text.encode("latin-1")
