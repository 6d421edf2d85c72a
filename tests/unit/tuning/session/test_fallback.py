"""What is chosen for processors without the extensions of a winner, by what the trials tell."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from orio_py.build.compiler import Compiler
from orio_py.core.units import Seconds
from orio_py.record.measurement import Clock, Success, Timing
from orio_py.search_space.configuration import Configuration
from orio_py.spec.target import BuildSpec
from orio_py.tuning.result import CheckedVariant
from orio_py.tuning.session.confirmation import Verdict
from orio_py.tuning.session.session_report import SessionReporter

WIDE = {"U": 2, "F": "-O2 -mavx2"}
TIMING = Timing(Seconds(1e-3), Seconds(1e-6), 5, Clock.WALL)
BASELINE = 2.0
"""The objective of the original."""


def plain(factor: int) -> dict:
    return {"U": factor, "F": "-O2"}


def fallback(tmp_path, trials: list[tuple[dict, float]], failed: list[dict], first: dict) -> dict | None:
    measured = [
        SimpleNamespace(
            configuration=Configuration(values), measurement=Success((), Clock.WALL, score=objective)
        )
        for values, objective in [(WIDE, 1.0), *trials]
    ]
    book = SimpleNamespace(
        valid=measured,
        ranked=lambda: sorted(measured, key=lambda v: v.measurement.objective),
        checked=lambda: tuple(CheckedVariant(values, "wrong result", "") for values in failed),
        counters_of=lambda _: (),
    )
    compiler = Compiler(("gcc", "@F@"), (), tmp_path, BuildSpec(), "")
    plan = SimpleNamespace(space=SimpleNamespace(first=lambda: Configuration(first)))
    reporter = SessionReporter(plan, compiler, book, ())  # type: ignore[arg-type]
    finalist = SimpleNamespace(configuration=Configuration(WIDE), timing=lambda _: TIMING)
    verdict = Verdict(finalist, finalist, True, "", Clock.WALL)  # type: ignore[arg-type]
    baseline = SimpleNamespace(measurement=SimpleNamespace(objective=BASELINE))
    best = reporter._best(verdict, baseline)  # type: ignore[arg-type]
    assert best is not None
    assert best.features == ("avx2",)
    return dict(best.fallback) if best.fallback is not None else None


@pytest.mark.parametrize(
    ("trials", "failed", "expected"),
    [
        pytest.param([(plain(4), 1.5), (plain(2), 1.7)], [], plain(4), id="the best that beats the original"),
        pytest.param([(plain(4), 2.5)], [], WIDE, id="nothing is known of the winner's code without them"),
        pytest.param([(plain(2), 2.5), (plain(4), 3.0)], [], None, id="its own code is slower"),
        pytest.param([(plain(4), 2.5)], [plain(2)], None, id="its own code is wrong"),
        pytest.param([(plain(4), 1.5)], [plain(2)], plain(4), id="its own code is wrong and another right"),
        pytest.param([], [], WIDE, id="nothing was measured without them"),
    ],
)
def test_what_was_measured_counts(tmp_path, trials, failed, expected):
    assert fallback(tmp_path, trials, failed, plain(1)) == expected


def test_an_original_built_with_extensions_is_no_measure(tmp_path):
    assert fallback(tmp_path, [(plain(2), 2.5)], [], WIDE) == plain(2)
