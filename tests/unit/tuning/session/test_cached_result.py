"""Answers of finished runs: what is stored with them, and when stored code is used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orio_py.build.compiler import resolve
from orio_py.build.detect import host
from orio_py.core.source import Position
from orio_py.core.units import Seconds
from orio_py.record.environment import Environment
from orio_py.record.measurement import Clock, Timing
from orio_py.tuning.files.host_functions import HostFunctions
from orio_py.tuning.files.load import load
from orio_py.tuning.options import TuneOptions
from orio_py.tuning.plan import make_plan
from orio_py.tuning.result import Best, RegionReport, SpaceCount, TimeSpent, Winner
from orio_py.tuning.session.cache_keys import make_keys
from orio_py.tuning.session.cached_result import answered, layout_of
from orio_py.tuning.session.report_codec import Remembered, decode, encode
from orio_py.tuning.variants.contents import tuned_contents

SOURCE = """void f(int n, int *x)
{
  /*@ begin PerfTuning (
    def performance_params { param U[] = [1, 2]; }
    def input_params { param n[] = [10]; }
    def input_vars { decl static int x[n] = 0; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (int i = 0; i < n; i++)
    x[i] = 3;
  /*@ end @*/
  /*@ end @*/
}
"""

TIMING = Timing(Seconds(1e-3), Seconds(1e-6), 5, Clock.WALL)


def report(**changes) -> RegionReport:
    content = {
        "file": "k.c",
        "line": 3,
        "name": "f",
        "target": "c",
        "inputs": {"n": 10},
        "space": SpaceCount(2, 2),
        "trials": 2,
        "cached": 0,
        "failures": {},
        "refused": 0,
        "seconds": TimeSpent(Seconds(1.0), Seconds(0.5), Seconds(0.5), Seconds(0.0)),
        "environment": Environment("a CPU", 2, "Linux", "gcc 12", "gcc -O2"),
        "baseline": TIMING,
        "best": Best({"U": 2}, TIMING, 2.0, features=("avx2",)),
        "kept_original": False,
    }
    return RegionReport(**{**content, **changes})


@pytest.fixture
def plan(tmp_path: Path):
    file = tmp_path / "k.c"
    file.write_text(SOURCE)
    loaded = load([file])
    (found,) = loaded.tasks
    return make_plan(found.task, found.points[0], found.spaces[0], TuneOptions())


@pytest.mark.parametrize("fallback", [None, {"U": 1}])
def test_code_and_extensions_are_stored(fallback):
    best = Best({"U": 2}, TIMING, 2.0, features=("avx2",), fallback=fallback)
    assert decode(encode(Remembered(report(best=best), ())), Position("k.c", 3, 1)) == Remembered(
        report(best=best), ()
    )
    known = Remembered(report(), (), ("a();\n",), "layout")
    assert decode(encode(known), Position("k.c", 3, 1)) == known


def test_reports_from_before_are_understood():
    content = encode(Remembered(report(best=Best({"U": 2}, TIMING, 2.0)), ()))
    del content["codes"], content["layout"]
    del content["best"]["features"]  # type: ignore[attr-defined]
    known = decode(content, Position("k.c", 3, 1))
    assert known is not None
    assert (known.codes, known.report.best.features) == (None, ())  # type: ignore[union-attr]


def test_stored_code_is_used_where_the_region_is_written_alike(plan):
    known = Remembered(report(), (), ("stored();\n",), layout_of(plan.task))
    assert answered(plan, known, lambda _: None, Seconds(0.0)).codes == ("stored();\n",)
    for other in (replace(known, layout="other"), replace(known, codes=None)):
        (code,) = answered(plan, other, lambda _: None, Seconds(0.0)).codes or ()
        assert "i += 2" in code
    kept = replace(known, report=report(kept_original=True))
    assert answered(plan, kept, lambda _: None, Seconds(0.0)).codes is None


def test_the_layout_is_what_the_code_looks_like(plan, tmp_path):
    wider = tmp_path / "wider.c"
    wider.write_text(SOURCE.replace("    x[i]", "        x[i]"))
    (other,) = load([wider]).tasks
    assert layout_of(other.task) != layout_of(plan.task)
    compiler = resolve(plan.task.build, tmp_path)
    keys = [
        make_keys(p, compiler, host(), "1")
        for p in (plan, make_plan(other.task, other.points[0], other.spaces[0], TuneOptions()))
    ]
    assert keys[0].task == keys[1].task


def test_a_winner_with_extensions_stands_behind_a_test(plan):
    winner = Winner(plan.point, ("fast();\n",), report())
    (text,) = tuned_contents(plan.task, [winner], "1", HostFunctions()).values()
    assert 'if (ORIO_CPU_HAS("avx2")) {' in text
    assert text.count("for (int i = 0; i < n; i++)") == 2  # the fallback, and the user's code below
    plain = Winner(plan.point, ("fast();\n",), report(best=Best({"U": 2}, TIMING, 2.0)))
    (text,) = tuned_contents(plan.task, [plain], "1", HostFunctions()).values()
    assert "ORIO_CPU_HAS" not in text
