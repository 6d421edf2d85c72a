"""Which searches are guided by what is stored, and what is told of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from trials import START, failure, success, trial

from orio_py.core.digest import digest
from orio_py.search_space.configuration import Configuration
from orio_py.store.database import ResultsDatabase
from orio_py.tuning.files.load import load
from orio_py.tuning.options import TuneOptions
from orio_py.tuning.plan import Plan, make_plan
from orio_py.tuning.session.past import guided_by_past
from orio_py.tuning.session.trial_cache import Keys, TrialCache

SOURCE = """void scale(int n, double *x)
{
  int i;
  /*@ begin PerfTuning (
    def performance_params { param U[] = range(1, %d); param F[] = ['-O1', '-O2']; }
    def input_params { param n[] = [100]; }
    def input_vars { decl dynamic double x[n] = random; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    x[i] = 2.0 * x[i];
  /*@ end @*/
  /*@ end @*/
}
"""
METADATA = {"orio:command": "gcc", "Compiler": "gcc 12", "CPU Type": "A CPU"}
NAMES = {"task": "scale", "name": "scale", "file": "scale.c"}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[ResultsDatabase]:
    with ResultsDatabase.open(tmp_path / "results.db") as opened:
        yield opened


def plan_of(folder: Path, values: int = 41, search: str = "auto", **options) -> Plan:
    (folder / "scale.c").write_text(SOURCE % values)
    (task,) = load([folder / "scale.c"]).tasks
    return make_plan(task.task, task.points[0], task.spaces[0], TuneOptions(search=search, **options))


def guided(database: ResultsDatabase, plan: Plan) -> Plan:
    digests = [digest(word) for word in ("scale at 100", "gcc", "laptop", "plan")]
    keys = Keys(*digests, "scale", "src/scale.c", {"n": 100}, 1, "host", METADATA)
    return guided_by_past(plan, TrialCache.open(database, keys, lambda: START + timedelta(days=1)))


def fill(database: ResultsDatabase, count: int = 8, first: int = 1, outcome=None, **changes) -> None:
    content = {"inputs": {"n": 100}, "metadata": METADATA, **NAMES, **changes}
    for number in range(first, first + count):
        configuration = Configuration({"U": number, "F": "-O2"})
        database.append(trial(number, outcome or success(), configuration=configuration, **content))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"inputs": {"n": 300}}, "n = 300"),
        ({"toolchain": digest("clang"), "metadata": {**METADATA, "orio:command": "clang"}}, "clang"),
        ({"toolchain": digest("gcc 13"), "metadata": {**METADATA, "Compiler": "gcc 13"}}, "gcc 13"),
        ({"environment": digest("b"), "metadata": {**METADATA, "OpenCL Device": "a GPU"}}, "a GPU"),
        ({"environment": digest("b"), "toolchain": digest("c")}, "another compiler, another machine"),
        ({}, "other code or options"),
    ],
    ids=str,
)
def test_what_is_different_about_a_series_is_told(database, tmp_path, changes, told):
    fill(database, **changes)
    plan = guided(database, plan_of(tmp_path))
    assert plan.past is not None
    assert (plan.past.trials, plan.past.circumstances) == (8, (told,))
    assert len(plan.context.past) == 1
    assert next(plan.search)


def test_series_stay_apart(database, tmp_path):
    fill(database, inputs={"n": 300})
    fill(database, toolchain=digest("clang"))
    plan = guided(database, plan_of(tmp_path))
    assert plan.past is not None
    assert (plan.past.trials, set(plan.past.circumstances)) == (16, {"n = 300", "another compiler"})
    assert [len(series) for series in plan.context.past] == [8, 8]


def test_only_configurations_of_the_space_count_and_enough_of_them_must_be_valid(database, tmp_path):
    fill(database, count=8, first=36)
    plan = plan_of(tmp_path)
    assert guided(database, plan) is plan
    fill(database, count=3, first=20, outcome=failure())
    fill(database, count=3, first=10)
    past = guided(database, plan).past
    assert past is not None
    assert past.trials == 8


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        ({"name": "stretch", "task": "stretch"}, {}),
        ({"file": "other.c"}, {}),
        ({}, {"search": "random"}),
        ({}, {"values": 9}),
        ({"objectives": {"energy": 1.0}}, {"objective": "2 * time"}),
    ],
    ids=["another region", "another file", "another searcher", "a tiny space", "another objective"],
)
def test_what_has_no_past(database, tmp_path, changes, options):
    fill(database, **changes)
    plan = plan_of(tmp_path, **options)
    assert guided(database, plan) is plan
