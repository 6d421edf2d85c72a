"""What a test program's end amounts to."""

from pathlib import Path

import pytest

from orio_py.build.process import Completed
from orio_py.core.units import Seconds
from orio_py.measure.job import SANITIZER_EXIT, ResultLines, judge
from orio_py.record.measurement import Clock, Failure, Stage, Success, Timing


def ended(code: int | None = 0, *, timed_out: bool = False, stderr: str = "") -> Completed:
    return Completed(code, "", stderr, timed_out, Seconds(1.5))


def report(tmp_path: Path, text: str) -> ResultLines:
    path = tmp_path / "results.txt"
    path.write_text(text)
    return ResultLines.read(path)


def test_samples_and_their_summary(tmp_path: Path) -> None:
    told = report(tmp_path, "valid\nsample 3e-3 1e-3\nsample 9e-3 2e-3\nsample 4e-3 6e-3\nend\n")
    found = judge(ended(), told, Clock.THREAD_CPU)
    assert isinstance(found, Success)
    assert found.timing == Timing(Seconds(2e-3), Seconds(1e-3), 3, Clock.THREAD_CPU)
    assert Timing.of(found.samples, Clock.WALL).median_s == 4e-3


@pytest.mark.parametrize(
    ("text", "done", "stage", "word"),
    [
        ("wrong C 17 1.5 2.5\n", ended(), Stage.WRONG_RESULT, "element 17: 2.5 instead of 1.5"),
        ("wrong k 3 ? ?\n", ended(), Stage.WRONG_RESULT, "`k` element 3"),
        ("bounds `A`: element 9 of 9\n", ended(), Stage.OUT_OF_BOUNDS, "wrote outside `A`: element 9 of 9"),
        ("invalid \n", ended(), Stage.VALIDATION, "isValid"),
        ("load no such symbol\n", ended(), Stage.LOAD, "no such symbol"),
        (
            "",
            ended(127, stderr="./harness: symbol lookup error: /k/v.so: undefined symbol: min"),
            Stage.LOAD,
            "`min`",
        ),
        ("memory allocation failed\n", ended(), Stage.MEMORY, "allocation"),
        ("valid\nsample 1 1\n", ended(-11), Stage.CRASH, "SIGSEGV"),
        ("valid\nsample 1 1\n", ended(0), Stage.PROTOCOL, "without a result"),
        ("valid\n", ended(-9, timed_out=True), Stage.TIMEOUT, "1.5 s"),
        (
            "",
            ended(SANITIZER_EXIT, stderr="==1==ERROR: AddressSanitizer: heap"),
            Stage.SANITIZER,
            "AddressSanitizer",
        ),
        ("", ended(None, stderr="gone"), Stage.PROTOCOL, "gone"),
        ("valid\nsample -1 1\nend\n", ended(0), Stage.PROTOCOL, "backwards"),
        ("valid\nsample 1 nan\nend\n", ended(0), Stage.PROTOCOL, "backwards"),
        ("processes \n", ended(0), Stage.PROTOCOL, "leaves processes behind"),
    ],
)
def test_failures_by_kind(tmp_path: Path, text: str, done: Completed, stage: Stage, word: str) -> None:
    found = judge(done, report(tmp_path, text), Clock.WALL)
    assert isinstance(found, Failure)
    assert found.stage is stage
    assert word in found.reason


def test_a_missing_results_file_is_no_result(tmp_path: Path) -> None:
    found = judge(ended(0), ResultLines.read(tmp_path / "none"), Clock.WALL)
    assert isinstance(found, Failure)
    assert found.stage is Stage.PROTOCOL
