"""What the progress displays and the tables print, fed with made-up events and reports."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from orio_py.cli.console import Detail, Output
from orio_py.cli.options import parse_duration
from orio_py.cli.progress import BarProgress, Narrator, PlainProgress, progress_for
from orio_py.cli.show import show_configuration, show_count, show_seconds
from orio_py.cli.tables import tuning_results
from orio_py.core.units import Seconds
from orio_py.record.environment import Environment
from orio_py.record.measurement import Clock, Timing
from orio_py.tuning.events import (
    BaselineMeasured,
    PastFound,
    StageName,
    StageStarted,
    TaskFinished,
    TaskStarted,
    TrialDone,
)
from orio_py.tuning.result import Best, PastUse, RegionReport, SpaceCount, TimeSpent


def timing(seconds: float) -> Timing:
    return Timing(Seconds(seconds), Seconds(seconds / 100), 20, Clock.WALL)


def region(**changes) -> RegionReport:
    fields = {
        "file": "mm.c",
        "line": 12,
        "name": "mm",
        "target": "c",
        "inputs": {"N": 500},
        "space": SpaceCount(12345, 678),
        "trials": 100,
        "cached": 0,
        "failures": {"crash": 2, "wrong result": 1},
        "refused": 5,
        "seconds": TimeSpent(Seconds(12.3), Seconds(6.0), Seconds(4.1), Seconds(0.1)),
        "environment": Environment("a processor", 2, "Linux", "gcc 12.2.0", "gcc -O3"),
        "baseline": timing(0.0102),
        "best": Best({"U_I": 4, "CFLAGS": "-O3"}, timing(0.0034), 3.0),
        "kept_original": False,
        "output": Path("_mm.c"),
    }
    return RegionReport(**{**fields, **changes})


def trial(number: int, outcome: str = "ok", planned: int | None = 100) -> TrialDone:
    seconds = Seconds(0.005) if outcome == "ok" else None
    return TrialDone(number, planned, {"U_I": number}, outcome, "", seconds, Seconds(0.005))


def session(trials: int, planned: int | None = 100) -> list[object]:
    """The events of one whole task, every tenth trial a crash."""
    return [
        TaskStarted("mm.c", 12, "mm", {"N": 500}, 12345, 678, planned),
        StageStarted(StageName.BASELINE),
        BaselineMeasured(timing(0.0102)),
        StageStarted(StageName.SEARCH),
        *(trial(n, "crash" if n % 10 == 0 else "ok", planned) for n in range(1, trials + 1)),
        StageStarted(StageName.FINALS),
        TaskFinished(region()),
    ]


def console(*, terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), width=250, force_terminal=terminal, markup=False, highlight=False)


def plain(events: list[object], *, clock=lambda: 0.0, verbose: bool = False) -> list[str]:
    target = console()
    with PlainProgress(target, Narrator(clock), verbose=verbose) as listener:
        for event in events:
            listener(event)
    return target.file.getvalue().splitlines()


def test_plain_progress_prints_a_line_per_stage_and_per_tenth_of_the_trials():
    lines = plain(session(100))
    assert lines[0] == "mm.c:12: mm (N = 500): 678 of 12 345 configurations valid, 100 trials planned"
    assert [line.strip() for line in lines if line.strip() in ("baseline", "search", "finals")] == [
        "baseline",
        "search",
        "finals",
    ]
    assert "  original: 10.2 ms ± 102 us" in lines
    assert sum(line.startswith("  trial ") for line in lines) == 10
    assert "  trial 20/100: best 5.00 ms (2.04x), 2 crash" in lines
    assert lines[-1] == "  done: 100 trials, best 5.00 ms (2.04x), 10 crash"


@pytest.mark.parametrize(
    ("circumstances", "told"),
    [(("n = 300",), "n = 300"), (tuple("abcde"), "a; b; c; 2 others")],
    ids=["one", "many"],
)
def test_a_line_tells_which_earlier_trials_guide_the_search(circumstances, told):
    events = [session(1)[0], PastFound(PastUse(42, circumstances))]
    assert plain(events)[1] == f"  past: 42 trials guide the search ({told})"
    target = console(terminal=True)
    with BarProgress(target, Narrator(lambda: 0.0), verbose=False) as listener:
        for event in events:
            listener(event)
    assert f"past: 42 trials guide the search ({told})" in target.file.getvalue()


def test_plain_progress_of_a_long_search_stays_short():
    assert len(plain(session(5000, planned=5000))) < 20


def test_plain_progress_shows_slow_trials_by_time():
    seconds = iter(range(0, 10000, 2))
    lines = [line for line in plain(session(9), clock=lambda: next(seconds)) if line.startswith("  trial ")]
    assert len(lines) == 3


def test_verbose_progress_shows_every_trial_with_its_configuration():
    lines = plain(session(10), verbose=True)
    assert "  trial 3: 5.00 ms: U_I = 3" in lines
    assert "  trial 10: crash: U_I = 10" in lines


def test_a_search_without_a_planned_number_says_only_how_far_it_is():
    lines = plain(session(20, planned=None))
    assert "  trial 10: best 5.00 ms (2.04x), 1 crash" in lines


def test_verbose_progress_says_why_a_trial_failed():
    wrong = TrialDone(1, 1, {"U_I": 1}, "wrong result", "`y` element 3: 5 instead of 4", None, None)
    lines = plain([TaskStarted("a.c", 1, "a", {}, 1, 1, 1), wrong, TaskFinished(region())], verbose=True)
    assert "  trial 1: wrong result (`y` element 3: 5 instead of 4): U_I = 1" in lines


def test_nothing_valid_yet_is_said():
    failed = TrialDone(1, 1, {}, "timeout", "", None, None)
    lines = plain([TaskStarted("a.c", 1, "a", {}, 1, 1, 1), failed, TaskFinished(region())])
    assert lines[-1] == "  done: 1 trials, nothing valid yet, 1 timeout"


def test_the_bar_is_removed_and_leaves_the_lines():
    target = console(terminal=True)
    with BarProgress(target, Narrator(lambda: 0.0), verbose=False) as listener:
        for event in session(30):
            listener(event)
    text = target.file.getvalue()
    assert "678 of 12 345 configurations valid" in text
    assert "done: 30 trials" in text


def test_a_file_gets_lines_and_quiet_gets_nothing():
    normal = Output(console(), console(), Detail.NORMAL)
    coloured = Output(console(terminal=True), console(terminal=True), Detail.NORMAL)
    quiet = Output(console(), console(), Detail.QUIET)
    assert isinstance(progress_for(normal, lambda: 0.0), PlainProgress)
    assert isinstance(progress_for(coloured, lambda: 0.0), PlainProgress)
    assert progress_for(quiet, lambda: 0.0) is None


def table(*regions: RegionReport) -> str:
    target = console()
    target.print(tuning_results(regions))
    return target.file.getvalue()


def test_the_table_has_everything_per_region():
    text = table(region())
    row = next(line for line in text.splitlines() if line.startswith("mm.c:12 mm N=500"))
    for cell in ("100", "2 crash, 1 wrong result, 5 refused", "10.2 ms ± ", "3.40 ms ± ", "3.00x", "_mm.c"):
        assert cell in row
    assert "mm.c:12 mm N=500: U_I = 4, CFLAGS = '-O3'" in text


def test_the_table_says_why_the_original_was_kept():
    text = table(region(kept_original=True, reason="the gain is within the noise", output=None))
    assert "mm.c:12 mm N=500: original kept: the gain is within the noise" in text


def test_the_table_of_a_task_that_never_ran():
    text = table(region(baseline=None, best=None, trials=0, failures={}, refused=0, reason="interrupted"))
    assert "original kept: interrupted" in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (3.2e-10, "0.32 ns"),
        (0.00312, "3.12 ms"),
        (0.9999e-3, "1000 us"),
        (12.34, "12.3 s"),
        (150, "2 min 30 s"),
    ],
)
def test_seconds(seconds, text):
    assert show_seconds(seconds) == text


def test_counts():
    counts = [0, 678, 1234567, 3 * 10**20, 10**5000]
    assert [show_count(n) for n in counts] == ["0", "678", "1 234 567", "3.00e+20", "1.00e+5000"]


def test_configurations():
    assert show_configuration({"U": 4, "F": "-O3", "T": (1, 2)}) == "U = 4, F = '-O3', T = (1, 2)"
    assert show_configuration({}) == "no parameters"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("1.5h", 5400), ("250ms", 0.25), ("2", 2), (".5", 0.5), (" 3 min ", 180)],
)
def test_durations(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)
