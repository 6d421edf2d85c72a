"""Finished runs, read without SQLAlchemy."""

from __future__ import annotations

import sqlite3
from datetime import timedelta

import pytest
from trials import START, series

from orio_py.store import result_lookup
from orio_py.store.database import ResultsDatabase
from orio_py.store.migrations.catalog import NEWEST
from orio_py.store.result_lookup import ResultLookup
from orio_py.store.schema import DESCRIPTION


def finish(database: ResultsDatabase, generation: int, report: dict, plan: str = "plan") -> None:
    run = database.start_run(plan, series(), generation, host="h", process=1, time=START)
    database.finish_run(run, START, report)


def test_it_knows_the_newest_schema():
    assert result_lookup.VERSION == NEWEST
    assert f"'{DESCRIPTION}'" in result_lookup._VERSION


def test_the_report_of_the_newest_generation(tmp_path):
    file = tmp_path / "results.db"
    with ResultsDatabase.open(file) as database:
        first = database.begin(series(), START)
        found = ResultLookup.at(file)
        assert found is not None
        assert found.report("plan", series()) is None
        finish(database, first, {"a": 1})
        assert found.report("plan", series()) == {"a": 1} == database.result("plan", first)
        assert found.report("other", series()) is None
        assert found.report("plan", series("lu")) is None
        second = database.begin(series(), START + timedelta(seconds=1), fresh=True)
        assert second > first
        assert found.report("plan", series()) is None
        finish(database, second, {"a": 2})
        assert found.report("plan", series()) == {"a": 2}


def test_what_is_not_in_order_is_left_to_others(tmp_path):
    assert ResultLookup.at(tmp_path / "missing.db") is None
    assert ResultLookup.at("postgresql://somebody@somewhere/results") is None
    text = tmp_path / "text.db"
    text.write_text("no database")
    assert ResultLookup.at(text) is None
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE schema_version (version, description)")
        connection.execute("INSERT INTO schema_version VALUES (2, 'another program')")
    connection.close()
    assert ResultLookup.at(other) is None


@pytest.mark.parametrize("version", [NEWEST - 1, NEWEST + 1])
def test_other_versions_are_left_to_others(tmp_path, version):
    file = tmp_path / "results.db"
    ResultsDatabase.open(file).close()
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE schema_version SET version = ?", [version])
    connection.close()
    assert ResultLookup.at(file) is None
