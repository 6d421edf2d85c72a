"""The results database on a PostgreSQL server, where one can be started."""

from __future__ import annotations

import multiprocessing
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from sqlalchemy import text
from trials import START, failure, series, success, trial

from orio_py.core.diagnostics import EnvironmentProblem
from orio_py.store.database import ResultsDatabase
from orio_py.store.selection import Selection

pytestmark = [
    pytest.mark.skipif(find_spec("psycopg") is None, reason="the package psycopg is not installed"),
    pytest.mark.skipif(shutil.which("initdb") is None, reason="there is no PostgreSQL server (initdb)"),
]


def server_user() -> str:
    """The server refuses to be root."""
    if os.getuid() != 0:
        return pwd.getpwuid(os.getuid()).pw_name
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        pytest.skip("PostgreSQL does not run as root, and there is no user `postgres`")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server of our own; its socket's path has to be short."""
    user = server_user()
    folder = Path(tempfile.mkdtemp(prefix="orio-pg-"))
    if os.getuid() == 0:
        shutil.chown(folder, user)

    def run(*command: str) -> None:
        subprocess.run(
            command,
            cwd=folder,
            check=True,
            capture_output=True,
            timeout=120,
            user=user,
            env={**os.environ, "LC_ALL": "C"},
        )

    data = str(folder / "data")
    try:
        run("initdb", "-D", data, "-U", "tester", "-A", "trust", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        run("pg_ctl", "-D", data, "-l", str(folder / "log"), "-o", options, "-w", "start")
        yield f"postgresql://tester@/postgres?host={folder}"
        run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def database(server) -> Iterator[ResultsDatabase]:
    with ResultsDatabase.open(server) as opened:
        yield opened
        clear(opened)


def clear(database: ResultsDatabase) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))


def test_trials_generations_and_results(database):
    assert database.append(trial(1)) == trial(1)
    assert database.append(trial(1, success(5.0))) == trial(1)
    database.append_all([trial(2), trial(9, failure())])
    assert database.history() == [trial(1), trial(2), trial(9, failure())]
    assert database.begin(series(), START, fresh=True) == 2
    anew = trial(1, success(5.0))
    assert database.append(anew) == anew
    assert database.best(series()) == anew
    assert list(database.find(series()).values()) == [replace(anew, metadata={})]
    (stored,) = database.overview(Selection(file="mm.c"))
    assert (stored.generation, stored.trials, stored.all_trials, stored.results) == (2, 1, 4, 0)
    runs = [database.start_run("p", series(), 2, host="h", process=1, time=START) for _ in range(2)]
    assert [database.finish_run(run, START, {"run": run}) for run in runs] == [{"run": runs[0]}] * 2
    assert database.delete(Selection(region="mm")) == 4
    assert database.overview() == database.results(series()) == []


def _append_many(address: str, barrier, count: int) -> None:
    barrier.wait(60)
    with ResultsDatabase.open(address) as database:
        for number in range(count):
            database.append(trial(number))


def test_two_processes_never_double_a_trial(server, database):
    clear(database)  # so that both have to make the tables
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    writers = [context.Process(target=_append_many, args=(server, barrier, 60)) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert len(database.history()) == len(database.find(series())) == 60
    assert all(len(found.measurement.samples) == 5 for found in database.history())


def test_a_server_that_is_not_there_is_told_of(tmp_path):
    with pytest.raises(EnvironmentProblem) as caught:
        ResultsDatabase.open(f"postgresql://tester:secret@/postgres?host={tmp_path}")
    (problem,) = caught.value.diagnostics
    assert problem.code == "ORIO-D001"
    assert "secret" not in problem.message
