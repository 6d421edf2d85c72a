"""The formats in which trials leave the database and come into it.

Parquet: the columns of `store.flat`, samples as lists of doubles.  Needs the package `pyarrow`.

CSV: one line per trial; behind the fixed columns one column per parameter, for people and spreadsheets.
"""

from __future__ import annotations

import csv
import io
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from gzip import BadGzipFile, decompress
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, cast

from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem, fail
from orio_py.core.source import Position
from orio_py.record.trial import Trial
from orio_py.store.flat import COLUMNS, LISTS, NUMBERS, OPTIONAL, WHOLES, from_flat, to_flat
from orio_py.store.imported import ImportedMeasurement
from orio_py.store.kernel_tuner import cache_trials, is_cache, load_document
from orio_py.store.ktt import is_ktt, ktt_trials
from orio_py.store.t4 import t4_trials, write_t4
from orio_py.store.tau import write_tau

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


def write_parquet(trials: Sequence[Trial], path: Path) -> None:
    """Write the trials.  Raises EnvironmentProblem ORIO-D008 without pyarrow; OSError."""
    arrow, parquet = _pyarrow()
    kinds = {name: arrow.string() for name in COLUMNS}
    kinds.update({name: arrow.float64() for name in NUMBERS})
    kinds.update({name: arrow.int64() for name in WHOLES})
    kinds.update({name: arrow.list_(arrow.float64()) for name in LISTS})
    rows = [to_flat(trial) for trial in trials]
    schema = arrow.schema([(name, kinds[name]) for name in COLUMNS])
    parquet.write_table(arrow.Table.from_pylist(rows, schema=schema), str(path))


def read_parquet(path: Path) -> list[Trial]:
    """The trials of a file.  Raises DiagnosticError ORIO-D007, EnvironmentProblem ORIO-D008; OSError."""
    arrow, parquet = _pyarrow()
    try:
        rows: Sequence[Mapping[str, object]] = parquet.read_table(str(path)).to_pylist()
    except arrow.ArrowException as error:
        fail("ORIO-D007", f"this is not a Parquet file: {error}", Position(str(path), 1, 1))
    trials: list[Trial] = []
    for number, row in enumerate(rows, start=1):
        try:
            trials.append(from_flat(row))
        except ValueError as error:
            fail("ORIO-D007", f"row {number}: {error}", Position(str(path), 1, 1))
    return trials


def _pyarrow() -> tuple[Any, Any]:
    # An optional dependency of 55 MB, loaded only when a Parquet file is asked for.
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        message = f"Parquet files need the Python package `pyarrow`, which cannot be loaded: {error}"
        raise EnvironmentProblem(
            Diagnostic("ORIO-D008", message, help="`pip install 'orio-py[parquet]'`, or use the format csv")
        ) from error


class Format(StrEnum):
    """A format; TAU profiles are written, not read."""

    T4 = "t4"
    CSV = "csv"
    PARQUET = "parquet"
    TAU = "tau"


_GZIP = b"\x1f\x8b"
_UNTOLD = ImportedMeasurement()

ENDINGS = {".json": Format.T4, ".csv": Format.CSV, ".parquet": Format.PARQUET}


COMPRESSED = ".gz"


def format_of(path: Path) -> Format:
    """The format that a file's ending (before `.gz`) tells.  Raises DiagnosticError ORIO-D010."""
    found = ENDINGS.get(PurePath(path.name.lower().removesuffix(COMPRESSED)).suffix)
    if found is None:
        fail("ORIO-D010", f"the ending of `{path}` tells no format", help="say it with `--format`")
    return found


def as_text(trials: Sequence[Trial], form: Format) -> str | None:
    """The trials as text; None for the formats that are not text."""
    match form:
        case Format.T4:
            return write_t4(trials)
        case Format.CSV:
            return write_csv(trials)
        case Format.PARQUET | Format.TAU:
            return None


def write(trials: Sequence[Trial], form: Format, path: Path) -> None:
    """Write the trials to a file, or for TAU to a folder.

    Raises DiagnosticError ORIO-U009 when the system refuses, EnvironmentProblem ORIO-D008.
    """
    try:
        text = as_text(trials, form)
        if text is not None:
            path.write_text(text, encoding="utf-8", newline="")
        elif form is Format.PARQUET:
            write_parquet(trials, path)
        else:
            write_tau(trials, path)
    except OSError as error:
        fail("ORIO-U009", f"`{path}` cannot be written: {error.strerror or error}")


def read(path: Path, form: Format, now: datetime, told: ImportedMeasurement = _UNTOLD) -> list[Trial]:
    """The trials of a file; JSON is T4, a cache file of Kernel Tuner or a result of KTT, as its members say.

    `told` names kernel and device of a file that does not say them itself.  Text may be compressed by gzip.
    Raises DiagnosticError ORIO-U006, U008 (no file, or one that cannot be read), D007 (malformed), D010
    (TAU profiles are not read); EnvironmentProblem ORIO-D008.
    """
    if form is Format.TAU:
        fail("ORIO-D010", "TAU profiles can be exported, not imported", help="import T4, CSV or Parquet")
    if not path.exists():
        fail("ORIO-U006", f"there is no file `{path}`")
    try:
        if form is Format.PARQUET:
            return read_parquet(path)
        content = path.read_bytes()
        text = (decompress(content) if content.startswith(_GZIP) else content).decode("utf-8-sig")
    except (BadGzipFile, EOFError, zlib.error) as error:
        fail("ORIO-D007", f"the file is not what gzip writes: {error}", Position(str(path), 1, 1))
    except OSError as error:
        fail("ORIO-U008", f"`{path}` cannot be read: {error.strerror or error}")
    except UnicodeDecodeError as error:
        fail("ORIO-D007", f"the file is not UTF-8 text: {error.reason}", Position(str(path), 1, 1))
    if form is Format.CSV:
        return read_csv(text, str(path))
    document = load_document(text, str(path))
    reader = ktt_trials if is_ktt(document) else cache_trials if is_cache(document) else t4_trials
    return reader(document, str(path), now, told)
