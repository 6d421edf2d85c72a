"""Options of `orio tune` from a file: `.oriorc`, or the table `[tool.orio]` of `pyproject.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from orio_py.core.diagnostics import fail
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position

OWN_NAME = ".oriorc"
SHARED_NAME = "pyproject.toml"

_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")


@dataclass(frozen=True, slots=True)
class FileOption:
    """A value of the file, and where its key stands."""

    value: object
    position: Position


@dataclass(frozen=True, slots=True)
class ConfigurationFile:
    """The options that a file holds, by their long names on the command line without dashes.

    Paths in it are relative to `folder`, where the file lies.
    """

    path: Path | None = None
    options: Mapping[str, FileOption] = field(default_factory=dict[str, FileOption])

    @property
    def folder(self) -> Path:
        """The folder of the file."""
        return self.path.parent if self.path is not None else Path()


def find_configuration_file(start: Path) -> Path | None:
    """The nearest `.oriorc`, or `pyproject.toml` with a table `[tool.orio]`, in `start` or above it.

    The search ends at the root of a working copy (a folder with `.git`).
    """
    folder = start.resolve() if start.is_dir() else start.resolve().parent
    for here in (folder, *folder.parents):
        if (here / OWN_NAME).is_file():
            return here / OWN_NAME
        shared = here / SHARED_NAME
        if shared.is_file() and re.search(rb"^\s*\[tool\.orio[\].]", _bytes(shared), re.MULTILINE):
            return shared
        if (here / ".git").exists():
            return None
    return None


def read_configuration_file(path: Path, known: Collection[str]) -> ConfigurationFile:
    """Read the options of a file; `known` are the keys that exist.

    Raises DiagnosticError ORIO-U031 (not TOML, or not readable), U032 (unknown key).
    """
    text = _bytes(path).decode("utf-8", "replace")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        position = Position(str(path), int(place[1]), int(place[2])) if place else None
        fail("ORIO-U031", f"this is not TOML: {_PLACE.sub('', str(error)).strip()}", position)
    shared = path.name == SHARED_NAME
    section = table.get("tool", {}).get("orio", {}) if shared else table
    if not isinstance(section, dict):
        fail("ORIO-U031", "`tool.orio` must be a table", Position(str(path), 1, 1))
    options: dict[str, FileOption] = {}
    for written, value in cast("dict[str, object]", section).items():
        position = _position(path, text, written, shared=shared)
        key = written.replace("_", "-")
        if key not in known:
            fail("ORIO-U032", f"there is no option `{written}`", position, help=did_you_mean(key, known))
        options[key] = FileOption(value, position)
    return ConfigurationFile(path, options)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        fail("ORIO-U031", f"`{path}` cannot be read: {error.strerror or error}")


def _position(path: Path, text: str, key: str, *, shared: bool) -> Position:
    """Where a key stands; TOML's reader does not tell, so its lines are looked through."""
    inside = not shared
    assigned = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]")
    heading = re.compile(rf"\s*\[\s*(?:tool\.orio\.)?{re.escape(key)}\s*\]")
    for number, line in enumerate(text.splitlines(), 1):
        if heading.match(line) or (inside and assigned.match(line)):
            return Position(str(path), number, len(line) - len(line.lstrip()) + 1)
        if line.lstrip().startswith("["):
            inside = shared and re.match(r"\s*\[\s*tool\.orio\s*\]", line) is not None
    return Position(str(path), 1, 1)
