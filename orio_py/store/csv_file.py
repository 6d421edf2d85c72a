"""CSV: one line per trial; behind the fixed columns one column per parameter, for people and spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from orio_py.core.diagnostics import fail
from orio_py.core.source import Position
from orio_py.record.trial import Trial
from orio_py.store.flat import COLUMNS, LISTS, NUMBERS, OPTIONAL, WHOLES, from_flat, to_flat

PARAMETER = "param:"

_LONGEST_FIELD = 2**31 - 1


def write_csv(trials: Sequence[Trial]) -> str:
    """The trials as CSV (RFC 4180); samples stand in one field each, separated by spaces."""
    names = list(dict.fromkeys(name for trial in trials for name in trial.configuration))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [*COLUMNS, *(f"{PARAMETER}{name}" for name in names)])
    writer.writeheader()
    for trial in trials:
        row = to_flat(trial)
        for name in LISTS:
            row[name] = " ".join(repr(float(value)) for value in cast("Sequence[float]", row[name]))
        row.update({f"{PARAMETER}{name}": value for name, value in trial.configuration.items()})
        writer.writerow(row)
    return text.getvalue()


def read_csv(text: str, name: str) -> list[Trial]:
    """The trials of a CSV file.  Raises DiagnosticError ORIO-D007 with the line."""
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.DictReader(io.StringIO(text, newline=""))
    trials: list[Trial] = []
    try:
        _check_columns(reader.fieldnames or (), name)
        for row in reader:
            line = reader.line_num
            try:
                trials.append(from_flat(_typed(row)))
            except ValueError as error:
                fail("ORIO-D007", str(error), Position(name, line, 1))
    except csv.Error as error:
        fail("ORIO-D007", f"this is not CSV: {error}", Position(name, reader.line_num + 1, 1))
    return trials


def _check_columns(found: Iterable[str], name: str) -> None:
    known = set(found)
    missing = [column for column in COLUMNS if column not in known | OPTIONAL]
    if missing:
        message = f"the columns {', '.join(f'`{c}`' for c in missing[:5])} are missing"
        fail("ORIO-D007", message, Position(name, 1, 1))


def _typed(row: Mapping[str, str | None]) -> dict[str, object]:
    typed: dict[str, object] = {}
    for name in COLUMNS:
        if name in OPTIONAL and name not in row:
            typed[name] = None
            continue
        text = row[name]
        if text is None:
            raise ValueError("the line is too short")
        if name in LISTS:
            typed[name] = [float(word) for word in text.split()]
        elif not text:
            typed[name] = None
        elif name in NUMBERS:
            typed[name] = float(text)
        else:
            typed[name] = int(text) if name in WHOLES else text
    return typed
