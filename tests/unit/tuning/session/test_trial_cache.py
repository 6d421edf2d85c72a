"""What a session's memory is keyed by, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from trials import failure, success

from orio_py.build.compiler import resolve
from orio_py.core.diagnostics import Diagnostic, Severity
from orio_py.core.resources import PACKAGE
from orio_py.core.source import Position
from orio_py.core.units import Bytes, Seconds
from orio_py.record.environment import Environment, Host
from orio_py.record.front import FrontPoint
from orio_py.record.measurement import Clock, Timing
from orio_py.record.trial import CounterSource, CounterValue
from orio_py.search.base import PredictionTrust
from orio_py.search_space.configuration import Configuration
from orio_py.store.database import ResultsDatabase
from orio_py.tuning.files.load import load
from orio_py.tuning.options import TuneOptions
from orio_py.tuning.plan import make_plan
from orio_py.tuning.result import Best, Goal, PastUse, PredictionUse, RegionReport, SpaceCount, TimeSpent
from orio_py.tuning.session import cache_keys
from orio_py.tuning.session.cache_keys import make_keys
from orio_py.tuning.session.report_codec import Remembered, decode, encode
from orio_py.tuning.session.trial_cache import Keys, TrialCache

HOST = Host("here", "A CPU", 4, "x86_64", "Linux", "6.1", Bytes(2**30), (("L1d", Bytes(32768)),))
SOURCE = """#include "scale.h"
static double unused(void) { return 2.0; }
void scale(int n, double *x)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1'; }
    def performance_params { param U[] = [1, 2]; }
    def input_params { param n[] = [100]; }
    def input_vars { decl dynamic double x[n] = random; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    x[i] = FACTOR * x[i];
  /*@ end @*/
  /*@ end @*/
}
"""


def keys(folder: Path, source: str = SOURCE, *, host: Host = HOST, version: str = "1", **options) -> Keys:
    folder.mkdir(exist_ok=True)
    (folder / "scale.c").write_text(source)
    header = folder / "scale.h"
    if not header.exists():
        header.write_text('#include "factor.h"\n')
        (folder / "factor.h").write_text("#define FACTOR 1.5\n")
    loaded = load([folder / "scale.c"])
    assert not loaded.is_bad, loaded.diagnostics
    (task,) = loaded.tasks
    plan = make_plan(task.task, task.points[0], task.spaces[0], TuneOptions(**options))
    return make_keys(plan, resolve(plan.task.build, folder), host, version)


def digests(found: Keys) -> tuple[str, str, str, str]:
    return found.task, found.toolchain, found.environment, found.plan


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: "\n\n/* a new\ncomment */\n" + text,
        lambda text: text.replace("static double unused", "/* why */ static double  unused"),
        lambda text: text.replace("return 2.0;", "return 3.0;"),
        lambda text: text + "\nint later(void) { return 1; }\n",
        lambda text: text.replace("x[i] = FACTOR * x[i];", "x[i]=FACTOR*x[i]; // faster?"),
    ],
    ids=["moved", "comment elsewhere", "unused function", "function behind", "layout"],
)
def test_what_a_measurement_does_not_depend_on_keeps_the_keys(tmp_path, edit):
    assert digests(keys(tmp_path, edit(SOURCE))) == digests(keys(tmp_path))


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("FACTOR *", "2.0 * FACTOR *"),
        lambda text: text.replace("ufactor=U", "ufactor=2*U"),
        lambda text: text.replace("[100]", "[200]"),
        lambda text: text.replace("double x[n] = random", "double x[n] = 1.0"),
    ],
    ids=["code", "recipe", "size", "inputs"],
)
def test_what_a_measurement_depends_on_makes_another_task(tmp_path, edit):
    before, after = keys(tmp_path), keys(tmp_path, edit(SOURCE))
    assert after.task != before.task
    assert after.plan != before.plan
    assert (after.toolchain, after.environment) == (before.toolchain, before.environment)


def test_a_header_included_by_a_header_counts(tmp_path):
    before = keys(tmp_path)
    (tmp_path / "factor.h").write_text("#define FACTOR 1.25\n")
    assert keys(tmp_path).task != before.task


@pytest.mark.parametrize(
    ("options", "task", "plan"),
    [
        ({"repeats": 9}, True, True),
        ({"timeout": Seconds(3.0)}, True, True),
        ({"seed": 7}, True, True),
        ({"trials": 1}, False, True),
        ({"search": "random", "trials": 1}, False, True),
        ({"jobs": 7}, False, False),
        ({"objective": "wall_time"}, False, True),
        ({"objective": "time * (1 + page_faults)"}, True, True),
        ({"objective": ("time", "wall_time")}, False, True),
    ],
    ids=str,
)
def test_options_that_change_trials_and_options_that_change_the_search(tmp_path, options, task, plan):
    before, after = keys(tmp_path), keys(tmp_path, **options)
    assert (after.task != before.task, after.plan != before.plan) == (task, plan)


def test_what_is_counted_is_part_of_the_task_and_the_objective_of_the_plan(tmp_path):
    counted = SOURCE.replace(
        "def build", "def performance_counter { arg method = 'rusage'; }\n    def build", 1
    )
    plain, found = keys(tmp_path), keys(tmp_path, counted)
    assert found.task != plain.task
    first, second = (keys(tmp_path, counted, objective=text) for text in ("user_time", "page_faults + 1"))
    assert first.task == second.task != found.task
    assert first.plan != second.plan


def test_a_grown_space_keeps_its_trials(tmp_path):
    before, after = keys(tmp_path), keys(tmp_path, SOURCE.replace("[1, 2]", "[1, 2, 4]"))
    assert after.task == before.task
    assert after.plan != before.plan


@pytest.mark.parametrize("package", cache_keys.GENERATORS)
def test_in_a_checkout_the_code_that_generates_counts(tmp_path, monkeypatch, package):
    copy = tmp_path / "orio_py"
    for name in cache_keys.GENERATORS:
        (copy / name).mkdir(parents=True)
        some = next((PACKAGE / name).glob("[a-z]*.py"))
        (copy / name / some.name).write_text(some.read_text())
    monkeypatch.setattr(cache_keys, "PACKAGE", copy)
    cache_keys._program.cache_clear()
    before = keys(tmp_path / "k")
    (copy / package / "more.py").write_text("# more\n")
    cache_keys._program.cache_clear()
    after = keys(tmp_path / "k")
    cache_keys._program.cache_clear()
    assert after.task != before.task


def test_compiler_machine_and_version_count(tmp_path):
    before = keys(tmp_path)
    assert keys(tmp_path, SOURCE.replace("-O1", "-O2")).toolchain != before.toolchain
    assert keys(tmp_path, version="2").task != before.task
    for other in (
        replace(HOST, cpu="B"),
        replace(HOST, cores=2),
        replace(HOST, threading={"OMP_NUM_THREADS": "2"}),
    ):
        assert keys(tmp_path, host=other).environment != before.environment
    for same in (replace(HOST, name="there"), replace(HOST, release="6.2"), replace(HOST, memory=Bytes(1))):
        assert keys(tmp_path, host=same).environment == before.environment


def test_the_devices_count_for_what_runs_on_them(tmp_path, monkeypatch):
    opencl = SOURCE.replace("Unroll(ufactor=U)", "OpenCL(workItemsPerGroup=U)")
    module = import_module("orio_py.measure.opencl.evaluator")
    found = {}
    for name in ("", "A device", "Another"):
        devices = SimpleNamespace(devices=[SimpleNamespace(identity=(name,))] if name else [], setting=None)
        monkeypatch.setattr(module, "survey", lambda devices=devices: devices)
        found[name] = keys(tmp_path, opencl), keys(tmp_path)
    on_device = {keys.environment for keys, _ in found.values()}
    on_processor = {keys.environment for _, keys in found.values()}
    assert len(on_device) == 3
    assert len(on_processor) == 1
    counted = "def performance_counter { arg time = 'kernel+transfer'; }\n    def build"
    with_transfers = keys(tmp_path, opencl.replace("def build", counted, 1))
    assert with_transfers.task != found["Another"][0].task


def test_metadata_describe_machine_compiler_and_task(tmp_path):
    found = keys(tmp_path).metadata
    assert found["CPU Type"] == "A CPU"
    assert found["Cache L1d"] == "32768"
    assert found["Memory Size"] == str(2**30)
    assert found["orio:command"] == "gcc -O1"
    assert found["orio:input:n"] == "100"
    assert found["orio:region"] == "scale"


# --- the memory itself ---


@pytest.fixture
def opened(tmp_path):
    with ResultsDatabase.open(tmp_path / "results.db") as database:
        found = keys(tmp_path / "source")
        yield lambda **options: TrialCache.open(database, found, lambda: datetime.now(UTC), **options)


Open = Callable[..., TrialCache]
ONE = Configuration({"U": 1})


def remember(memory: TrialCache, measurement=None):
    outcome = measurement if measurement is not None else success()
    return memory.remember(ONE, outcome, code="c", build=Seconds(0.1), run=Seconds(0.2))


def test_a_later_session_recalls_trials(opened: Open):
    assert opened().recall(ONE) is None
    remember(opened())
    known = opened().recall(ONE)
    assert known is not None
    assert (known.code, known.measurement) == ("c", success())
    assert opened().recall(Configuration({"U": 2})) is None


def test_a_failure_is_recalled_with_its_reason(opened: Open):
    remember(opened(), failure())
    known = opened().recall(ONE)
    assert known is not None
    assert known.measurement == failure()


def test_sessions_at_the_same_time_share_trials(opened: Open):
    first, second = opened(), opened()
    remember(first)
    known = second.recall(ONE)
    assert known is not None
    assert known.measurement == success()
    third = opened()
    assert remember(third, success(9.0)) == success()


def test_samples_are_read_on_the_sessions_clock(opened: Open):
    remember(opened())
    memory = opened()
    memory.clock = Clock.WALL
    known = memory.recall(ONE)
    assert known is not None
    assert known.measurement == replace(success(), clock=Clock.WALL)


def test_counters_are_recalled_with_their_trial(opened: Open):
    opened().remember(ONE, success(), code="c", build=None, run=Seconds(0.2), counters=COUNTERS)
    known = opened().recall(ONE)
    assert known is not None
    assert sorted(known.counters, key=str) == sorted(COUNTERS, key=str)


def test_fresh_measures_anew_and_later_sessions_use_that(opened: Open):
    remember(opened())
    fresh = opened(fresh=True)
    assert fresh.recall(ONE) is None
    assert remember(fresh, success(2.0)) == success(2.0)
    known = opened().recall(ONE)
    assert known is not None
    assert known.measurement == success(2.0)


def report(**changes) -> RegionReport:
    timing = Timing(Seconds(1e-3), Seconds(1e-5), 20, Clock.WALL)
    content = {
        "file": "a.c",
        "line": 3,
        "name": "scale",
        "target": "c",
        "inputs": {"n": 100},
        "space": SpaceCount(2, 2),
        "trials": 2,
        "cached": 0,
        "failures": {"crash": 1},
        "refused": 0,
        "seconds": TimeSpent(Seconds(1.0), Seconds(0.5), Seconds(0.4), Seconds(0.0)),
        "environment": Environment("A CPU", 4, "Linux", "gcc 12", "gcc -O1"),
        "baseline": timing,
        "best": Best({"U": 2, "A": (1, 2.5)}, timing, 1.25, (CounterValue("page_faults", 3.0),)),
        "kept_original": False,
        "reason": "faster",
    }
    return RegionReport(**{**content, **changes})


COUNTERS = (CounterValue("instructions", 9.0, "", CounterSource.SIMULATED), CounterValue("energy", 0.5, "J"))
WARNING = Diagnostic("ORIO-M012", "not finite", Position("a.c", 3, 1), Severity.WARNING, help="other inputs")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"goal": Goal("instructions", 9.0, None), "counters": COUNTERS},
        {"past": PastUse(9, ("n = 300", "gcc -O1"))},
        {"prediction": PredictionUse(150, 2, Seconds(1.5))},
        {"prediction": PredictionUse(trust=PredictionTrust(8, 0.25, is_followed=True, dropped_after=19))},
        {"goal": Goal("time", 2.0, 1.0, ("energy",), (FrontPoint({"U": 2, "A": (1, 2.5)}, (1.0, 7.0)),))},
    ],
    ids=str,
)
def test_reports_come_back_as_they_were(changes):
    known = Remembered(report(**changes), (WARNING,))
    decoded = decode(encode(known), Position("a.c", 3, 1))
    assert decoded == known
    assert list(decoded.report.best.configuration) == ["U", "A"]
    assert decode({**encode(known), "version": 0}, Position("a.c", 3, 1)) is None


def test_a_finished_run_is_remembered_where_the_region_stands_now(opened: Open):
    memory = opened()
    assert memory.finished(Position("a.c", 3, 1)) is None
    assert memory.finish(report(), [WARNING]) == report()
    known = opened().finished(Position("b.c", 7, 2))
    assert known is not None
    assert known.report == report(file="b.c", line=7)
    assert known.diagnostics[0].position == Position("b.c", 7, 2)
    assert opened(fresh=True).finished(Position("a.c", 3, 1)) is None


@pytest.mark.parametrize("changes", [{"interrupted": True}, {"best": None}], ids=str)
def test_a_run_without_an_answer_is_not_remembered(opened: Open, changes):
    memory = opened()
    memory.finished(Position("a.c", 3, 1))
    assert memory.finish(report(**changes), []) == report(**changes)
    assert opened().finished(Position("a.c", 3, 1)) is None


def test_of_two_runs_at_the_same_time_the_first_to_finish_answers_for_both(opened: Open):
    first, second = opened(), opened()
    for memory in (first, second):
        assert memory.finished(Position("a.c", 3, 1)) is None
    first.finish(report(), [])
    slower = report(best=Best({"U": 1}, report().baseline, 1.2), trials=5, cached=1)
    answer = second.finish(slower, [])
    assert answer.best == report().best
    assert (answer.trials, answer.cached) == (5, 1)
