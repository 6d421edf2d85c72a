"""What a search will cost, told as soon as the original has been timed."""

from __future__ import annotations

from orio_py.core.units import Seconds
from orio_py.measure.base import Baseline
from orio_py.measure.evaluator import FINAL_SAMPLES
from orio_py.record.measurement import Clock
from orio_py.tuning.events import CostExpected
from orio_py.tuning.plan import Plan
from orio_py.tuning.session.confirmation import FEWEST_ALONE, LEAST_ALLOWANCE, ROUNDS

WORTH_TELLING = Seconds(60.0)
"""A single search that is expected to take less is not announced."""

CHECKED_CALLS = 2
"""Calls of a run beside the timed ones: one is checked, one is a look."""


def expected_cost(plan: Plan, baseline: Baseline) -> CostExpected:
    """The time of search and finals if all variants were as fast as the original, builds not counted."""
    call = baseline.measurement.time_by(Clock.WALL)
    is_long = len(baseline.measurement.samples) == 1
    run = call if is_long else call * (CHECKED_CALLS + plan.repeats)
    trials = plan.budget.trials
    trials = plan.space.size if trials is None else min(trials, plan.space.size)
    search = Seconds(trials * run)
    if plan.budget.time is not None:
        search = min(search, plan.budget.time)
    round_of_two = 2 * (call if is_long else call * (CHECKED_CALLS + FINAL_SAMPLES[0]))
    finals = max(FEWEST_ALONE * round_of_two, min(ROUNDS * round_of_two, LEAST_ALLOWANCE))
    return CostExpected(dict(plan.point.values), call, trials, Seconds(search + finals))
