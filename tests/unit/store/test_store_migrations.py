"""The schema's versions: old files are brought up to date, newer ones refused."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect
from trials import series, trial

from orio_py.core.diagnostics import DiagnosticError
from orio_py.store.database import ResultsDatabase
from orio_py.store.migrations.catalog import MIGRATIONS, NEWEST, migrate
from orio_py.store.rows import trial_row
from orio_py.store.schema import TABLES


def columns(path: Path) -> dict[str, dict[str, tuple[str, bool]]]:
    """Per table, the columns with type and whether they may be empty."""
    engine = create_engine(f"sqlite:///{path}")
    try:
        found = inspect(engine)
        return {
            table: {c["name"]: (str(c["type"]), c["nullable"]) for c in found.get_columns(table)}
            for table in found.get_table_names()
        }
    finally:
        engine.dispose()


def old_file(path: Path, version: int) -> None:
    """A database of an older version, made by the steps up to it."""
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        assert migrate(connection, str(path), to=version) == 0
    engine.dispose()


def insert_version_1(path: Path, *stored) -> None:
    """Trials as version 1 had them: without a generation."""
    connection = sqlite3.connect(path)
    for one in stored:
        row = trial_row(one, 1)
        del row["generation"], row["is_full"]
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        number = connection.execute(
            f"INSERT INTO trial ({names}) VALUES ({marks})", tuple(row.values())
        ).lastrowid
        for k, sample in enumerate(one.measurement.samples):
            connection.execute("INSERT INTO sample VALUES (?, ?, ?, ?)", (number, k, sample.wall, sample.cpu))
    connection.commit()
    connection.close()


def test_the_tables_that_queries_are_written_against_are_those_that_migrations_make(tmp_path):
    path = tmp_path / "new.db"
    ResultsDatabase.open(path).close()
    declared = {
        table.name: {c.name: (str(c.type), bool(c.nullable)) for c in table.columns}
        for table in TABLES.tables.values()
    }
    assert columns(path) == declared


@pytest.mark.parametrize("version", range(1, NEWEST))
def test_an_old_file_becomes_like_a_new_one(tmp_path, version):
    old_file(tmp_path / "old.db", version)
    ResultsDatabase.open(tmp_path / "new.db").close()
    assert columns(tmp_path / "old.db") != columns(tmp_path / "new.db")
    ResultsDatabase.open(tmp_path / "old.db").close()
    assert columns(tmp_path / "old.db") == columns(tmp_path / "new.db")


def test_trials_of_version_1_are_found_and_added_to(tmp_path):
    path = tmp_path / "old.db"
    old_file(path, 1)
    before = [trial(n, counters=(), metadata={}) for n in (1, 2)]
    insert_version_1(path, *before)
    with ResultsDatabase.open(path) as database:
        assert database.history() == before
        assert database.begin(series(), before[0].time) == 1
        assert database.append(trial(2)) == before[1]
        assert database.append(trial(3)) == trial(3)
        assert len(database.find(series())) == 3


def test_trials_and_runs_of_version_2_are_found_and_count_as_time(tmp_path):
    path = tmp_path / "old.db"
    old_file(path, 2)
    row = trial_row(trial(1), 1)
    del row["is_full"]
    connection = sqlite3.connect(path)
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO trial ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    for k, sample in enumerate(trial(1).measurement.samples):
        connection.execute("INSERT INTO sample VALUES (1, ?, ?, ?)", (k, sample.wall, sample.cpu))
    connection.execute(
        "INSERT INTO tuning_run (plan, task, toolchain, environment, generation, host, process, started,"
        " finished) VALUES ('plan', ?, ?, ?, 1, 'h', 1, 'then', 'later')",
        (series().task, series().toolchain, series().environment),
    )
    connection.commit()
    connection.close()
    with ResultsDatabase.open(path) as database:
        assert database.history() == [trial(1, counters=(), metadata={})]
        (stored,) = database.overview()
        assert (stored.objective, stored.best_value) == (None, None)
        assert stored.best_seconds == trial(1).measurement.timing.median_s
        assert database.finals() == []


def test_opening_twice_migrates_once(tmp_path):
    path = tmp_path / "results.db"
    for _ in range(2):
        ResultsDatabase.open(path).close()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT version, description FROM schema_version").fetchall() == [
        (NEWEST, "orio_py results")
    ]
    connection.close()
    assert len(MIGRATIONS) == NEWEST >= 3


def test_a_newer_version_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "results.db"
    ResultsDatabase.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE schema_version SET version = 99")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DiagnosticError) as caught:
        ResultsDatabase.open(path)
    (problem,) = caught.value.diagnostics
    assert problem.code == "ORIO-D003"
    assert "version 99" in problem.message
    assert f"up to {NEWEST}" in problem.message
    assert path.read_bytes() == before


def test_a_step_that_fails_leaves_the_old_version(tmp_path, monkeypatch):
    path = tmp_path / "old.db"
    old_file(path, 1)
    before = columns(path)

    def broken(connection):
        MIGRATIONS[1](connection)
        raise KeyError("power cut")

    monkeypatch.setattr("orio_py.store.migrations.catalog.MIGRATIONS", (MIGRATIONS[0], broken))
    with pytest.raises(KeyError):
        ResultsDatabase.open(path)
    assert columns(path) == before
