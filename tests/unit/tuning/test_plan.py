"""How many variants are built before they are timed."""

from __future__ import annotations

from pathlib import Path

import pytest

from orio_py.core.units import Seconds
from orio_py.tuning.files.load import load
from orio_py.tuning.options import TuneOptions
from orio_py.tuning.plan import make_plan

SOURCE = """void k(int n, double *x)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc'; }
    def performance_params { param U[] = range(1, 501); }
    def search { arg algorithm = 'Random'; arg total_runs = 500; }
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


@pytest.mark.parametrize(
    ("options", "size"),
    [
        (TuneOptions(jobs=2), 64),
        (TuneOptions(jobs=40), 160),
        (TuneOptions(jobs=2, time=Seconds(60.0)), 32),
    ],
    ids=["plain", "many cores", "time limit"],
)
def test_how_many_variants_a_batch_holds(tmp_path: Path, options: TuneOptions, size: int) -> None:
    file = tmp_path / "k.c"
    file.write_text(SOURCE)
    loaded = load([file])
    assert not loaded.is_bad, loaded.diagnostics
    (task,) = loaded.tasks
    plan = make_plan(task.task, task.points[0], task.spaces[0], options)
    assert len(next(plan.search)) == size


@pytest.mark.parametrize(
    ("values", "options", "searcher", "trials"),
    [
        (200, TuneOptions(jobs=1), "exhaustive", None),
        (200, TuneOptions(jobs=1, trials=199), "auto", 199),
        (200, TuneOptions(jobs=1, trials=200), "exhaustive", 200),
        (201, TuneOptions(jobs=1), "auto", 200),
        (201, TuneOptions(jobs=1, search="random"), "random", 200),
        (201, TuneOptions(jobs=1, time=Seconds(9.0)), "auto", None),
    ],
)
def test_what_searches_where_nothing_is_said(
    tmp_path: Path, values: int, options: TuneOptions, searcher: str, trials: int | None
) -> None:
    file = tmp_path / "k.c"
    line = "    def search { arg algorithm = 'Random'; arg total_runs = 500; }\n"
    assert line in SOURCE
    file.write_text(SOURCE.replace(line, "").replace("range(1, 501)", f"range(1, {values + 1})"))
    (task,) = load([file]).tasks
    plan = make_plan(task.task, task.points[0], task.spaces[0], options)
    assert (plan.spec.algorithm, plan.budget.trials) == (searcher, trials)
