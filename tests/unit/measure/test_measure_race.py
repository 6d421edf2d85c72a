"""The race's rules, and what ranks a variant."""

from pathlib import Path

from orio_py.build.process import Completed
from orio_py.core.units import Seconds
from orio_py.measure.job import EarlyStopping, Job, ResultLines, judge
from orio_py.record.measurement import Clock, Failure, Sample, Stage, Success


def success(*seconds: float, clock: Clock = Clock.WALL) -> Success:
    return Success(tuple(Sample(Seconds(s), Seconds(2 * s)) for s in seconds), clock)


def test_wall_time_ranks_by_its_minimum_and_cpu_time_by_its_median() -> None:
    assert success(3.0, 1.0, 2.0).objective == 1.0
    assert success(3.0, 1.0, 2.0, clock=Clock.THREAD_CPU).objective == 4.0


def test_joined_measurements_keep_all_samples() -> None:
    cut = Success(success(5.0).samples, Clock.WALL, is_full=False)
    both = success(3.0, 1.0).joined(cut)
    assert [s.wall for s in both.samples] == [3.0, 1.0, 5.0]
    assert not both.is_full


def test_who_may_still_win() -> None:
    race = EarlyStopping(Seconds(1.0))
    assert race.may_still_win(success(1.29))
    assert not race.may_still_win(success(1.31))
    assert not race.may_still_win(Failure(Stage.CRASH, "ended by SIGSEGV"))


def test_the_job_tells_the_race_and_the_clock() -> None:
    job = Job(
        Path("v.so"), Path("r"), False, 3, 50, Seconds(0.005), None, {},
        clock=Clock.THREAD_CPU, inner=7, check=False, race=EarlyStopping(Seconds(0.25)), cpu=2,
    )  # fmt: skip
    lines = job.text(Path("out")).splitlines()
    assert {"cpu 1", "inner 7", "check 0", "pin 2", "race 2.500000000e-01 2 1.3"} <= set(lines)
    assert lines[-1] == "go"


def test_a_stopped_variant_is_not_full(tmp_path: Path) -> None:
    path = tmp_path / "results.txt"
    path.write_text("valid\nsample 1 1\nstopped\nend\n")
    done = Completed(0, "", "", False, Seconds(1.0))
    found = judge(done, ResultLines.read(path), Clock.WALL)
    assert isinstance(found, Success)
    assert not found.is_full
