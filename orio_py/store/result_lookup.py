"""Answers of finished runs, read from a SQLite file without the library that writes it.

To load SQLAlchemy takes longer than everything else that a finished task needs.  This reads and nothing
else; whatever is not as expected is left to `store.database`, which explains it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from orio_py.store.series import Series

VERSION = 5
"""The schema that the query below knows; a test compares it with the newest one."""

_VERSION = "SELECT max(version) FROM schema_version WHERE description = 'orio_py results'"

_REPORT = """
SELECT report FROM tuning_result WHERE plan = ? AND generation =
    (SELECT max(number) FROM generation WHERE task = ? AND toolchain = ? AND environment = ?)
"""


@dataclass(frozen=True, slots=True)
class ResultLookup:
    """A SQLite file that holds a results database of the newest version."""

    file: Path

    @classmethod
    def at(cls, place: str | Path) -> ResultLookup | None:
        """The file at `place`; None where there is none, or none that can be read here."""
        if not isinstance(place, Path) and "://" in place:
            return None
        glance = cls(Path(place))
        if not glance.file.is_file():
            return None
        row = glance._first(_VERSION, ())
        return glance if row == VERSION else None

    def report(self, plan: str, series: Series) -> Mapping[str, object] | None:
        """The report of the finished run of a plan in its series' newest generation."""
        text = self._first(_REPORT, (plan, series.task, series.toolchain, series.environment))
        try:
            found: object = json.loads(text) if isinstance(text, str) else None
        except ValueError:
            return None
        return cast("Mapping[str, object]", found) if isinstance(found, dict) else None

    def _first(self, query: str, values: tuple[str, ...]) -> object:
        """The first column of the first row; None where there is none, or the file cannot be read."""
        try:
            address = f"{self.file.resolve().as_uri()}?mode=rw"
            with closing(sqlite3.connect(address, uri=True)) as connection:
                row = connection.execute(query, values).fetchone()
        except sqlite3.Error:
            return None
        return row[0] if row is not None else None
