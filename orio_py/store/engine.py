"""Connections to the results database: addresses, drivers, settings, and errors as diagnostics."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, EnvironmentProblem, fail

BUSY_SECONDS = 60.0
"""How long a writer waits for another one; a transaction here takes milliseconds."""

WRITES = "orio_writes"
"""The execution option of connections whose transactions write."""

DRIVERS = {"postgresql": "psycopg", "mysql": "pymysql", "mariadb": "pymysql"}
"""The driver chosen where an address names only the kind of database."""


def address(place: str | Path) -> URL:
    """The URL of a file path or of a `KIND://…` address.

    Raises DiagnosticError ORIO-D005 for what is neither, EnvironmentProblem ORIO-D004 when the address
    needs a driver that is not installed.
    """
    if isinstance(place, Path) or "://" not in place:
        if not str(place):
            fail("ORIO-D005", "the address of the results database is empty")
        return URL.create("sqlite", database=str(place))
    try:
        url = make_url(place)
    except (ArgumentError, ValueError):
        fail("ORIO-D005", f"`{place}` is neither a file nor an address", help=_FORMS)
    kind, _, driver = url.drivername.partition("+")
    driver = driver or DRIVERS.get(kind, "")
    if kind not in ("sqlite", *DRIVERS):
        fail("ORIO-D005", f"there is no kind of database `{kind}`", help=_FORMS)
    if driver and kind != "sqlite" and find_spec(driver) is None:
        message = (
            f"a database of the kind `{kind}` needs the Python package `{driver}`, which is not installed"
        )
        extra = "orio-py[postgresql]" if kind == "postgresql" else driver
        raise EnvironmentProblem(Diagnostic("ORIO-D004", message, help=f"`pip install '{extra}'`"))
    return url.set(drivername=f"{kind}+{driver}") if driver else url


_FORMS = "a file such as `results.db`, or `postgresql://user@host/name`"


def make_engine(url: URL) -> Engine:
    """An engine whose SQLite connections wait for each other and keep what they have committed."""
    if url.get_backend_name() != "sqlite":
        # A server set up in the C locale would send bytes instead of text.
        asked = {"client_encoding": "utf8"} if url.get_backend_name() == "postgresql" else {}
        return create_engine(url, pool_pre_ping=True, connect_args=asked)
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _set_up(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
    # SQLAlchemy begins transactions itself (`_begin`); the driver would do so too late, after the first read.
    connection.isolation_level = None
    # A killed process loses nothing that it committed.  NORMAL: a power cut may lose the last few trials
    # but damages nothing, and a trial is stored without waiting for the disk.
    for setting in ("synchronous = NORMAL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {setting}").close()


def use_write_ahead_log(engine: Engine) -> None:
    """Let readers and a writer work at the same time; the file keeps the setting.

    Apart from connecting, so that a file which turns out to be somebody else's is not written to.
    """
    if engine.dialect.name != "sqlite":
        return
    deadline = monotonic() + BUSY_SECONDS
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        while True:
            try:
                driver.execute("PRAGMA journal_mode = WAL").close()
                return
            except sqlite3.OperationalError:
                # SQLite does not wait here when another process changes the mode at the same time.
                if monotonic() > deadline:
                    raise
                sleep(0.01)


def _begin(connection: Connection) -> None:
    # A reader that turns writer can find that it read the past and has to give up; a writer that says so
    # at once only waits for its turn.
    mode = "IMMEDIATE" if connection.get_execution_options().get(WRITES) else "DEFERRED"
    connection.exec_driver_sql(f"BEGIN {mode}")


@contextmanager
def explained(place: str) -> Generator[None]:
    """Turn the database's errors into diagnostics: ORIO-D001 (environment) and ORIO-D002 (damaged)."""
    try:
        yield
    except DBAPIError as error:
        raise _explanation(place, error.orig or error) from error
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise _explanation(place, error) from error


def _explanation(place: str, error: BaseException) -> DiagnosticError:
    reason = " ".join(str(error).split())[:300]
    # sqlite3 raises exactly `DatabaseError` for a file that is none and for a damaged one.
    if type(error) is sqlite3.DatabaseError:
        message = f"`{place}` is not a results database, or is damaged: {reason}"
        advice = "it was left as it is; name another file with `--db`, or move this one away"
        return DiagnosticError(Diagnostic("ORIO-D002", message, help=advice))
    message = f"the results database `{place}` cannot be used: {reason}"
    return EnvironmentProblem(Diagnostic("ORIO-D001", message))
