"""The formats in which trials leave the database and come into it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from gzip import BadGzipFile, decompress
from pathlib import Path, PurePath

from orio_py.core.diagnostics import fail
from orio_py.core.source import Position
from orio_py.record.trial import Trial
from orio_py.store.csv_file import read_csv, write_csv
from orio_py.store.imported import ImportedMeasurement
from orio_py.store.kernel_tuner import cache_trials, is_cache, load_document
from orio_py.store.parquet_file import read_parquet, write_parquet
from orio_py.store.t4 import t4_trials, write_t4
from orio_py.store.tau import write_tau


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
    """The trials of a file; JSON is T4 or a cache file of Kernel Tuner, as its members say.

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
    found = cache_trials if is_cache(document) else t4_trials
    return found(document, str(path), now, told)
