"""The table of migrations, entry k leading from version k to version k + 1, and the steps to the newest version."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, inspect, select, text

from orio_py.core.diagnostics import fail
from orio_py.store.migrations import (
    m0001_trials,
    m0002_generations_and_runs,
    m0003_objectives_and_finals,
    m0004_profiles,
    m0005_features,
)
from orio_py.store.schema import DESCRIPTION, SCHEMA_VERSION

MIGRATIONS: tuple[Callable[[Connection], None], ...] = (
    m0001_trials.upgrade,
    m0002_generations_and_runs.upgrade,
    m0003_objectives_and_finals.upgrade,
    m0004_profiles.upgrade,
    m0005_features.upgrade,
)

NEWEST = len(MIGRATIONS)


def version_of(connection: Connection, place: str) -> int:
    """The schema's version, 0 for an empty database.

    Raises DiagnosticError ORIO-D002 when the tables are somebody else's, ORIO-D003 when they are of a
    newer version than this program knows.
    """
    tables = set(inspect(connection).get_table_names())
    if not tables:
        return 0
    found: int | None = None
    if "schema_version" in tables:
        columns = {column["name"] for column in inspect(connection).get_columns("schema_version")}
        if {"version", "description"} <= columns:
            query = select(SCHEMA_VERSION.c.version).where(SCHEMA_VERSION.c.description == DESCRIPTION)
            found = connection.execute(query).scalar()
    if not isinstance(found, int):
        some = ", ".join(f"`{name}`" for name in sorted(tables)[:3])
        fail(
            "ORIO-D002",
            f"`{place}` is a database of another program: it holds the tables {some}",
            help="give the results database a file of its own with `--db`",
        )
    if found > NEWEST:
        fail(
            "ORIO-D003",
            f"`{place}` has version {found} of the results database; this program knows versions up to {NEWEST}",
            help="update orio_py, or use another file with `--db`",
        )
    return found


def migrate(connection: Connection, place: str, *, to: int = NEWEST) -> int:
    """Take the steps that are missing up to version `to` and return the version that there was.

    `connection` is in a transaction that excludes other writers.  Raises DiagnosticError as `version_of`.
    """
    found = version_of(connection, place)
    for number in range(found, to):
        MIGRATIONS[number](connection)
        if number == 0:
            values = {"version": 1, "description": DESCRIPTION}
            connection.execute(SCHEMA_VERSION.insert().values(values))
    if found < to:
        connection.execute(
            text("UPDATE schema_version SET version = :version WHERE description = :description"),
            {"version": to, "description": DESCRIPTION},
        )
    return found
