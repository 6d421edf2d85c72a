"""Interrupted, repeated and simultaneous tunings on one results database."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from c_programs import links

import orio_py
from orio_py.tuning.events import TaskFinished, TrialDone

SUPPORT = Path(__file__).resolve().parents[1] / "support"
KILLS = 50

SOURCE = """void scale(int n, double factor, double *x)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = './cc.sh -O1'; }
    def performance_params { param U[] = [1, 2, 3, 4, 5, 6, 7, 8]; }
    def input_params { param n[] = [2000]; }
    def input_vars { decl double factor = 1.5; decl dynamic double x[n] = random; }
    def search { arg algorithm = 'Exhaustive'; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    x[i] = factor * x[i];
  /*@ end @*/
  /*@ end @*/
}
"""

COMPILER = """#!/bin/sh
case "$*" in *-shared*) echo built >> builds.log;; esac
exec %s "$@"
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A small kernel whose compiler writes a line for each variant that it builds."""
    compiler = tmp_path / "cc.sh"
    compiler.write_text(COMPILER % shutil.which("gcc"))
    compiler.chmod(0o755)
    path = tmp_path / "scale.c"
    path.write_text(SOURCE)
    return path


def tune(source: Path, listener=None, **options) -> orio_py.TuneReport:
    chosen = orio_py.TuneOptions(**{"db": source.parent / "results.db", "repeats": 3, **options})
    report = orio_py.tune(source, options=chosen, listener=listener)
    assert [d.headline() for d in report.diagnostics] == []
    return report


def builds(source: Path) -> int:
    log = source.parent / "builds.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def start(source: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "orio_py", "tune", source.name, "--db", "results.db", "--verbose"]
    return subprocess.Popen(
        [*command, "--repeats", "3", *arguments],
        cwd=source.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def count(source: Path, query: str) -> tuple[int, ...]:
    connection = sqlite3.connect(source.parent / "results.db")
    try:
        return connection.execute(query).fetchone()
    finally:
        connection.close()


def test_a_second_run_builds_nothing_and_gives_the_same_answer(source):
    first = tune(source)
    written = source.with_name("_scale.c").read_bytes()
    after_first = builds(source)
    assert after_first > 8
    events = []
    second = tune(source, events.append)
    assert builds(source) == after_first
    assert source.with_name("_scale.c").read_bytes() == written
    (before,), (after,) = first.regions, second.regions
    assert (after.best, after.baseline, after.reason) == (before.best, before.baseline, before.reason)
    assert (after.trials, after.cached) == (8, 8)
    assert after.seconds.build == after.seconds.run == 0
    assert [type(e) for e in events if isinstance(e, TrialDone | TaskFinished)] == [TaskFinished]


@pytest.mark.proof
def test_a_larger_search_builds_only_what_is_new(source):
    tune(source, trials=3)
    outcomes = []
    report = tune(source, outcomes.append)
    assert (report.regions[0].trials, report.regions[0].cached) == (8, 3)
    assert sum(isinstance(e, TrialDone) for e in outcomes) == 8
    assert count(source, "SELECT count(*), count(DISTINCT configuration) FROM trial") == (8, 8)


@pytest.mark.proof
def test_fresh_measures_everything_again(source):
    tune(source)
    built = builds(source)
    report = tune(source, fresh=True)
    assert report.regions[0].cached == 0
    assert builds(source) >= built + 9
    assert count(source, "SELECT count(*), count(DISTINCT generation) FROM trial") == (16, 2)


@pytest.mark.proof
def test_failures_are_remembered_too(source):
    flags = "param F[] = ['-DBY=1.5', '-DBY=(', '-DBY=2.5']; param U[] = [1, 2];"
    text = SOURCE.replace("factor * x[i]", "BY * x[i]").replace("cc.sh -O1", "cc.sh -O1 @F@")
    source.write_text(text.replace("param U[] = [1, 2, 3, 4, 5, 6, 7, 8];", flags))
    first = tune(source).regions[0]
    built = builds(source)
    again = tune(source, trials=6).regions[0]
    assert first.failures == again.failures == {"compile error": 2, "wrong result": 2}
    assert (first.trials, again.trials, again.cached) == (6, 6, 6)
    # For the finals: the original, it again with other flags (two that build), and the two valid variants.
    assert builds(source) - built <= 5


@pytest.mark.share(2)
@pytest.mark.parametrize("pragma", [False, True], ids=["serial", "OpenMP"])
def test_an_interrupted_task_resumes(source, pragma):
    """Trials of OpenMP kernels, too, are stored one by one, though a batch is measured twice."""
    if pragma:
        if not links("-fopenmp"):
            pytest.skip("the compiler's OpenMP library is not installed")
        text = SOURCE.replace("-O1'", "-O1 -fopenmp'").replace(
            "int i;", "#pragma omp parallel\n  {}\n  int i;"
        )
        source.write_text(text)
    running = start(source)
    seen = 0
    assert running.stderr is not None
    for line in running.stderr:
        seen += line.startswith("  trial ")
        if seen == 3:
            # The next trials of the batch are under way, and none of it is complete.
            running.send_signal(signal.SIGKILL)
            break
    running.communicate(timeout=60)
    assert running.returncode == -signal.SIGKILL
    (stored,) = count(source, "SELECT count(*) FROM trial")
    assert 3 <= stored <= 8
    report = tune(source)
    assert (report.regions[0].trials, report.regions[0].cached) == (8, stored)
    assert count(source, "SELECT count(*), count(DISTINCT configuration) FROM trial") == (8, 8)


@pytest.mark.proof
def test_two_processes_at_once_share_trials_and_answer_the_same(source):
    both = [start(source, "--json", f"{k}.json", "-o", f"out{k}.c") for k in range(2)]
    errors = [process.communicate(timeout=240)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], errors
    first, second = (json.loads((source.parent / f"{k}.json").read_text())["regions"][0] for k in range(2))
    assert first["best"] == second["best"]
    assert (first["kept_original"], first["reason"]) == (second["kept_original"], second["reason"])
    assert (source.parent / "out0.c").read_bytes() == (source.parent / "out1.c").read_bytes()
    assert count(
        source, "SELECT count(*), count(DISTINCT configuration), count(DISTINCT generation) FROM trial"
    ) == (
        8,
        8,
        1,
    )
    assert count(source, "SELECT count(*) FROM tuning_result") == (1,)
    assert count(source, "SELECT count(*) FROM tuning_run WHERE finished IS NOT NULL") == (2,)


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["serial", "openmp"])
def test_killed_at_random_moments_no_acknowledged_trial_is_lost(tmp_path, kind):
    done = subprocess.run(
        [sys.executable, SUPPORT / "killed_runs.py", tmp_path / "results.db", str(KILLS), "7", kind],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["killed"] > KILLS // 2
    assert figures["acknowledged"] > KILLS // 4
    assert figures["stored_at_the_end"] == 10 * KILLS
    assert (figures["acknowledged_second_rounds"] > 0) == (kind == "openmp")


def test_a_database_that_cannot_be_used_is_an_error_only_where_it_was_asked_for(source):
    other = source.parent / "other.db"
    other.write_text("something else, and that is long enough\n" * 100)
    options = {"db": other, "repeats": 1, "trials": 1}
    report = orio_py.tune(source, options=orio_py.TuneOptions(**options))
    assert (report.exit_code, [d.code for d in report.diagnostics]) == (2, ["ORIO-D002"])
    report = orio_py.tune(source, options=orio_py.TuneOptions(**options, db_required=False))
    assert (report.exit_code, [d.code for d in report.diagnostics]) == (0, ["ORIO-D002"])
    assert str(report.diagnostics[0].severity) == "warning"
    assert other.read_text().startswith("something else")
