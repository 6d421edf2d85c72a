"""Every diagnostic code with its title and the long text that `orio explain` prints.

The texts are the TOML files of this folder, one for each group, with a table for each code.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from orio_py.core.registry import Registry

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Code:
    """A diagnostic code (`ORIO-T003`), its title in a few words, and a long explanation in plain text."""

    name: str
    title: str
    explanation: str


def read_codes(folder: Path) -> Registry[Code]:
    """The codes of all TOML files in a folder and the folders below.

    Raises ValueError when two files have the same code, and TypeError when one has other fields than `Code`.
    """
    files = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.toml"))]
    codes = [Code(name, **fields) for tables in files for name, fields in tables.items()]
    return Registry("diagnostic code", [(code.name, code) for code in codes])


@cache
def _all() -> Registry[Code]:
    return read_codes(FOLDER)


class _Codes(Mapping[str, Code]):
    """All codes by name.  The files are read when they are first asked for: most commands explain nothing."""

    def __getitem__(self, name: str) -> Code:
        return _all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_all())

    def __len__(self) -> int:
        return len(_all())


CODES: Mapping[str, Code] = _Codes()

__all__ = ["CODES", "FOLDER", "Code", "read_codes"]
