"""Kills tuning processes at random moments and looks at what the results database has kept.

    python killed_runs.py DATABASE ROUNDS SEED

Each round a process goes through one list of configurations as a session does: a stored trial is recalled,
another is "measured" (invented samples) and remembered, and each trial that was stored is acknowledged
through a pipe.  SIGKILL ends it after a random time.  Afterwards the database has to be sound, to hold
every acknowledged trial with all its samples, and at most one more per round than was acknowledged; the
next process has to recall exactly what is stored.  A last round runs to its end.  Prints figures as JSON.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sqlite3
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from trials import success

from orio_py.core.digest import digest
from orio_py.core.units import Seconds
from orio_py.space.configuration import Configuration
from orio_py.store.database import ResultsDatabase
from orio_py.tune.memory import Keys, TrialMemory

REPEATS = 5
LONGEST = 0.06
"""Seconds until the kill, at most, from the start or from the first trial dealt with."""

KEYS = Keys(
    digest("task"),
    digest("gcc"),
    digest("host"),
    digest("plan"),
    "mm",
    "mm.c",
    {"N": 10},
    1,
    "host",
    {f"fact {k}": "x" * 20 for k in range(20)},
)


def run(path: Path, configurations: int, pipe: int) -> None:
    """What the process that is killed does."""
    with ResultsDatabase.open(path) as database:
        memory = TrialMemory.open(database, KEYS, lambda: datetime.now(UTC))
        for number in range(configurations):
            configuration = Configuration({"U": number})
            if memory.recall(configuration) is not None:
                os.write(pipe, b"r")
                continue
            measured = success(1e-3 + number * 1e-6, REPEATS)
            memory.remember(
                configuration, measured, code=digest(number), build=Seconds(0.1), run=Seconds(0.1)
            )
            os.write(pipe, b"n")


def start(path: Path, configurations: int) -> tuple[int, int]:
    """Fork a process; its id and the pipe on which it acknowledges."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        status = 1
        try:
            run(path, configurations, writing)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    return child, reading


def acknowledged(pipe: int) -> bytes:
    """Everything that the process told before it ended."""
    parts = []
    while part := os.read(pipe, 65536):
        parts.append(part)
    os.close(pipe)
    return b"".join(parts)


def stored(path: Path) -> tuple[int, int, int, str]:
    """Trials, distinct configurations, trials that lack samples, and what SQLite says of the file."""
    if not path.exists():
        return 0, 0, 0, "ok"
    connection = sqlite3.connect(path)
    try:
        (sound,) = connection.execute("PRAGMA integrity_check").fetchone()
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'tuning_result'").fetchall():
            return 0, 0, 0, sound
        counts = connection.execute("SELECT count(*), count(DISTINCT configuration) FROM trial").fetchone()
        (partial,) = connection.execute(
            "SELECT count(*) FROM trial WHERE id NOT IN "
            "(SELECT trial FROM sample GROUP BY trial HAVING count(*) = ?)",
            (REPEATS,),
        ).fetchone()
        return *counts, partial, sound
    finally:
        connection.close()


def main(path: Path, rounds: int, seed: int) -> dict[str, object]:
    """Kill `rounds` processes, let one finish, and return the figures.  AssertionError says what was lost."""
    rng = random.Random(seed)
    configurations = 10 * rounds
    kept = unacknowledged = acknowledged_trials = early = 0
    began = time.monotonic()
    for number in range(rounds):
        child, pipe = start(path, configurations)
        if number % 4:  # else any moment from the start, the opening of the database included
            select.select([pipe], [], [], 30.0)
        time.sleep(rng.uniform(0.0, LONGEST))
        os.kill(child, signal.SIGKILL)
        told = acknowledged(pipe)
        _, status = os.waitpid(child, 0)
        early += os.WIFSIGNALED(status)
        trials, distinct, partial, sound = stored(path)
        recalled, new = told.count(b"r"), told.count(b"n")
        assert sound == "ok", f"round {number}: {sound}"
        assert trials == distinct, f"round {number}: doubled trials"
        assert partial == 0, f"round {number}: {partial} trials lack samples"
        assert recalled <= kept, f"round {number}: recalled more than was stored"
        assert not new or recalled == kept, f"round {number}: measured again what was stored"
        assert kept + new <= trials <= kept + new + 1, f"round {number}: {trials} stored, {kept} + {new} told"
        unacknowledged += trials - kept - new
        acknowledged_trials += new
        kept = trials
    child, pipe = start(path, configurations)
    told = acknowledged(pipe)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert told.count(b"r") == kept
    assert stored(path) == (configurations, configurations, 0, "ok")
    return {
        "rounds": rounds,
        "killed": early,
        "acknowledged": acknowledged_trials,
        "stored_when_last_killed": kept,
        "stored_but_not_acknowledged": unacknowledged,
        "stored_at_the_end": stored(path)[0],
        "seconds": round(time.monotonic() - began, 1),
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
