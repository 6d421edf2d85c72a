"""`--cluster`: workers of a Dask cluster build and measure; they may die and join at any time."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import dask
import distributed
import pytest

import orio_py
from orio_py.cli.main import main
from orio_py.store.database import ResultsDatabase
from orio_py.tuning import events
from orio_py.tuning.cluster import connection as connections
from orio_py.tuning.cluster.connection import Connection
from orio_py.tuning.cluster.errors import WorkerLostError

SOURCE = """void scale(int n, double factor, double *restrict x, const double *restrict y)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1'; }
    def performance_counter { arg repetitions = 2; %s }
    def performance_params { param U[] = range(1, 9); }
    def input_params { param n[] = [500]; }
    def input_vars { decl double factor = 1.5; decl dynamic double x[n] = random; decl dynamic double y[n] = random; }
    def search { arg algorithm = 'Exhaustive'; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    x[i] = factor * x[i] + y[i];
  /*@ end @*/
  /*@ end @*/
}
"""


def written(tmp_path: Path, more: str = "") -> Path:
    path = tmp_path / "scale.c"
    path.write_text(SOURCE % more)
    return path


@pytest.fixture(scope="module")
def workers() -> Iterator[distributed.LocalCluster]:
    unchanged = dask.config.set(
        {"distributed.nanny.pre-spawn-environ": {}}
    )  # Dask sets it in this process, too
    with (
        unchanged,
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as found,
    ):
        yield found


def address(cluster: distributed.LocalCluster) -> str:
    return cluster.scheduler_address.replace("tcp://", "dask://")


def stored(db: Path) -> Counter[int]:
    with ResultsDatabase.open(db, create=False) as database:
        return Counter(trial.configuration["U"] for trial in database.history())


@pytest.mark.proof
def test_workers_that_die_and_join_lose_no_result_and_double_none(tmp_path, workers) -> None:
    pids: list[int] = []
    deaths = {2, 5}

    def at_each_trial(event: events.Event) -> None:
        if not isinstance(event, events.TrialDone) or event.number not in deaths:
            return
        with distributed.Client(workers.scheduler_address) as client:
            alive = client.run(os.getpid, on_error="ignore")
        if event.number == 5:
            workers.scale(3)
        for pid in list(alive.values())[:1]:
            os.kill(pid, signal.SIGKILL)
            pids.append(pid)

    options = orio_py.TuneOptions(cluster=address(workers), db=tmp_path / "r.db")
    report = orio_py.tune(written(tmp_path), options=options, listener=at_each_trial)
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    assert len(set(pids)) == len(deaths)
    (region,) = report.regions
    assert (region.trials, region.failures) == (8, {})
    assert stored(tmp_path / "r.db") == dict.fromkeys(range(1, 9), 1)
    assert region.baseline is not None
    assert region.best is not None


@pytest.mark.proof
def test_stored_trials_counters_and_refusals_as_without_a_cluster(tmp_path, workers) -> None:
    source = written(tmp_path, "arg method = 'rusage'; arg objective = 'time + user_time';")
    db = tmp_path / "r.db"
    report = orio_py.tune(source, options=orio_py.TuneOptions(cluster=address(workers), db=db, trials=3))
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    (region,) = report.regions
    assert region.best is not None
    assert "user_time" in {c.name for c in region.best.counters}
    # What workers of this machine found is known to a session without them: the machine is the same.
    again = orio_py.tune(source, options=orio_py.TuneOptions(db=db, trials=4))
    assert again.regions[0].cached == 3


def test_an_original_that_does_not_compile_is_told_with_its_place(tmp_path, workers, capsys) -> None:
    source = written(tmp_path)
    source.write_text(source.read_text().replace("factor * x[i] + y[i]", "factor * x[i] + undeclared"))
    assert main(["tune", str(source), "--cluster", address(workers), "--no-db"]) == 2
    assert "undeclared" in capsys.readouterr().err
    assert not (tmp_path / "_scale.c").exists()


@pytest.mark.proof
def test_a_cluster_without_workers_keeps_what_was_measured(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(connections, "NO_WORKERS", 2.0)
    monkeypatch.setattr(connections, "POLL", 0.2)
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:

        def leave(event: events.Event) -> None:
            if isinstance(event, events.TrialDone) and event.number == 3:
                cluster.scale(0)
                with distributed.Client(cluster.scheduler_address) as client:
                    client.retire_workers(close_workers=True)

        options = orio_py.TuneOptions(cluster=address(cluster), db=tmp_path / "r.db")
        report = orio_py.tune(written(tmp_path), options=options, listener=leave)
    assert report.exit_code == 3
    assert [d.code for d in report.diagnostics] == ["ORIO-B051"]
    assert 3 <= len(stored(tmp_path / "r.db")) < 8
    assert not (tmp_path / "_scale.c").exists()


@pytest.mark.parametrize("text", ["local:0", "local:x", "dask:8786", "tcp://h:1", "dask://h", "slurm"])
def test_other_addresses_are_refused(tmp_path, capsys, text: str) -> None:
    assert main(["tune", str(written(tmp_path)), "--cluster", text]) == 2
    assert "error[ORIO-U036]" in capsys.readouterr().err


def test_a_scheduler_that_is_not_there(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(connections, "CONNECT_TIMEOUT", 1.0)
    assert main(["tune", str(written(tmp_path)), "--cluster", "dask://127.0.0.1:9"]) == 3
    assert "error[ORIO-B050]: no Dask scheduler answers at dask://127.0.0.1:9" in capsys.readouterr().err


def test_a_call_on_a_worker_that_is_gone(workers) -> None:
    connection = Connection.open(address(workers))
    try:
        with pytest.raises(WorkerLostError):
            connection.call("tcp://127.0.0.1:9", os.getpid)
    finally:
        connection.close()
