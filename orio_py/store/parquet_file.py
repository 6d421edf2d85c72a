"""Parquet: the columns of `store.flat`, samples as lists of doubles.  Needs the package `pyarrow`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem, fail
from orio_py.core.source import Position
from orio_py.record.trial import Trial
from orio_py.store.flat import COLUMNS, LISTS, NUMBERS, WHOLES, from_flat, to_flat


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
