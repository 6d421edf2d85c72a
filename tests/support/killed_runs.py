"""Kills tuning processes at random moments and looks at what the results database has kept.

    python killed_runs.py DATABASE ROUNDS SEED serial|openmp

Each round a process goes through one list of configurations as a session does, in batches: a stored trial is
recalled, another is "measured" (invented samples) and stored, and each trial that was stored is acknowledged
through a pipe.  OpenMP kernels are measured a second time at the end of their batch, and the samples that
this adds are acknowledged, too.  SIGKILL ends the process after a random time.  Afterwards the database has
to be sound, to hold every acknowledged trial with all its samples, and at most one more per round than was
acknowledged; the next process has to recall exactly what is stored.  A last round runs to its end.  Prints
figures as JSON.
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
import traceback
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trials import success

from orio_py.build.compiler import Artifact
from orio_py.core.digest import digest
from orio_py.core.units import Seconds
from orio_py.measure.calibration import Calibrations
from orio_py.record.measurement import Clock, Measurement, Sample
from orio_py.record.outcome import VariantFacts
from orio_py.search_space.configuration import Configuration
from orio_py.store.database import ResultsDatabase
from orio_py.tuning.session.trial_cache import Keys, TrialCache
from orio_py.tuning.session.trial_log import TrialLog
from orio_py.tuning.variants.batch import BatchMeasurer
from orio_py.tuning.variants.pipeline import BuildRequest, BuildResult, MeasuredVariant, MeasurementOrigin
from orio_py.tuning.variants.scoring import Scorer

REPEATS = 5
BATCH = 8
CLOCKS = {"serial": Clock.THREAD_CPU, "openmp": Clock.WALL}
LONGEST = 0.06
"""Seconds until the kill, at most, from the start or from the first trial stored."""

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


@dataclass(frozen=True)
class Invented:
    """Stands in for what runs the variants."""

    clock: Clock

    def calibrate(self) -> tuple[Sample, ...]:
        return (Sample(Seconds(1e-3), Seconds(1e-3)),)

    def measure(self, artifact: Artifact, arguments: Any, **_: object) -> Measurement:
        return replace(success(1e-3 + int(artifact.path.name) * 1e-6, REPEATS), clock=self.clock)

    def run_facts(self, artifact: Artifact) -> VariantFacts:
        return VariantFacts()


def run(path: Path, configurations: int, pipe: int, clock: Clock) -> None:
    """What the process that is killed does."""
    evaluator: Any = Invented(clock)
    with ResultsDatabase.open(path) as database:
        memory = TrialCache.open(database, KEYS, lambda: datetime.now(UTC))
        memory.clock = clock
        book = TrialLog(None, lambda event: None, Scorer(), memory)
        measurer = BatchMeasurer(evaluator, lambda values: (), 1.0, True, True, Calibrations())

        for first in range(0, configurations, BATCH):
            batch = [ready(book, k) for k in range(first, min(first + BATCH, configurations))]
            for variant in measurer.measure(batch):
                book.record(variant)
                is_recalled = variant.origin is MeasurementOrigin.RECALLED
                os.write(pipe, b"r" if is_recalled else b"a" if variant.amends else b"n")


def ready(book: TrialLog, number: int) -> BuildResult | MeasuredVariant:
    """A configuration as it comes from the builder: recalled, or built."""
    configuration = Configuration({"U": number})
    built = Artifact(Path(str(number)), Seconds(0.1))
    request = BuildRequest(number, configuration)
    return book.recall(configuration) or BuildResult(request, digest(number), built=built)


def start(path: Path, configurations: int, clock: Clock) -> tuple[int, int]:
    """Fork a process; its id and the pipe on which it acknowledges."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        status = 1
        try:
            run(path, configurations, writing, clock)
            status = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writing)
    return child, reading


def told_until_new(pipe: int) -> bytes:
    """What the process tells up to the first trial that it has stored, or for half a minute."""
    parts = b""
    while b"n" not in parts and select.select([pipe], [], [], 30.0)[0]:
        part = os.read(pipe, 65536)
        if not part:
            break
        parts += part
    return parts


def acknowledged(pipe: int) -> bytes:
    """Everything that the process told before it ended."""
    parts = []
    while part := os.read(pipe, 65536):
        parts.append(part)
    os.close(pipe)
    return b"".join(parts)


@dataclass(frozen=True)
class Stored:
    """Trials, distinct configurations, trials with a second round, trials with another number of samples."""

    trials: int = 0
    distinct: int = 0
    amended: int = 0
    partial: int = 0
    sound: str = "ok"


def stored(path: Path) -> Stored:
    """What the database holds, and what SQLite says of the file."""
    if not path.exists():
        return Stored()
    connection = sqlite3.connect(path)
    try:
        (sound,) = connection.execute("PRAGMA integrity_check").fetchone()
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'final_sample'").fetchall():
            return Stored(sound=sound)
        counts = connection.execute("SELECT count(*), count(DISTINCT configuration) FROM trial").fetchone()
        samples = "SELECT (SELECT count(*) FROM sample WHERE trial = trial.id) FROM trial"
        found = Counter(count for (count,) in connection.execute(samples))
        whole, twice = found[REPEATS], found[2 * REPEATS]
        return Stored(*counts, twice, counts[0] - whole - twice, sound)
    finally:
        connection.close()


def main(path: Path, rounds: int, seed: int, kind: str) -> dict[str, object]:
    """Kill `rounds` processes, let one finish, and return the figures.  AssertionError says what was lost."""
    rng, clock = random.Random(seed), CLOCKS[kind]
    configurations = 10 * rounds
    kept, unacknowledged, acknowledged_trials, early, second = Stored(), 0, 0, 0, 0
    began = time.monotonic()
    for number in range(rounds):
        child, pipe = start(path, configurations, clock)
        # Else any moment from the start, the opening of the database included.
        told = told_until_new(pipe) if number % 4 else b""
        time.sleep(rng.uniform(0.0, LONGEST))
        os.kill(child, signal.SIGKILL)
        told += acknowledged(pipe)
        _, status = os.waitpid(child, 0)
        early += os.WIFSIGNALED(status)
        found = stored(path)
        check(kept, found, told, f"round {number}")
        unacknowledged += found.trials - kept.trials - told.count(b"n")
        acknowledged_trials += told.count(b"n")
        second += told.count(b"a")
        kept = found
    child, pipe = start(path, configurations, clock)
    told = acknowledged(pipe)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert told.count(b"r") == kept.trials
    last = stored(path)
    assert (last.trials, last.distinct, last.partial, last.sound) == (configurations, configurations, 0, "ok")
    return {
        "rounds": rounds,
        "killed": early,
        "acknowledged": acknowledged_trials,
        "acknowledged_second_rounds": second,
        "stored_when_last_killed": kept.trials,
        "stored_but_not_acknowledged": unacknowledged,
        "stored_at_the_end": last.trials,
        "seconds": round(time.monotonic() - began, 1),
    }


def check(kept: Stored, found: Stored, told: bytes, where: str) -> None:
    """What a killed process has left, after `kept` and with what it told."""
    recalled, new, again = (told.count(letter) for letter in (b"r", b"n", b"a"))
    assert found.sound == "ok", f"{where}: {found.sound}"
    assert found.trials == found.distinct, f"{where}: doubled trials"
    assert found.partial == 0, f"{where}: {found.partial} trials lack samples"
    assert recalled <= kept.trials, f"{where}: recalled more than was stored"
    assert not new or recalled == kept.trials, f"{where}: measured again what was stored"
    more = found.trials - kept.trials
    assert new <= more <= new + 1, f"{where}: {more} more are stored, {new} were told"
    more = found.amended - kept.amended
    assert again <= more <= again + 1, f"{where}: {more} more second rounds are stored, {again} were told"


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])))
