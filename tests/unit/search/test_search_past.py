"""What earlier trials let expect, and how far that is believed."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from random_spaces import space_of

from orio_py.model.features import FeatureTable
from orio_py.model.posterior import PoolProcess
from orio_py.model.winsorising import standardised
from orio_py.search.base import LEAST_OF_A_SERIES, PastSeries
from orio_py.search.warm_start import LASTS, TRUST, TransferWeight, WarmStart
from orio_py.search_space.configuration import Configuration
from orio_py.search_space.encoding import Encoding
from orio_py.search_space.neighbours import Neighbours

SPACE = space_of([tuple(range(1, 13)), tuple(range(1, 13))], [])
ENCODING = Encoding(SPACE)
NEAR = Neighbours(SPACE, ENCODING)
ALL = list(SPACE)
POINTS = [ENCODING.point(configuration) for configuration in ALL]
TABLE = FeatureTable(ENCODING.axes)


def slope(configuration: Configuration) -> float:
    return 1.0 + int(configuration["A"]) + 0.1 * int(configuration["B"])


def series(objective: Callable[[Configuration], float | None], count: int = 60) -> PastSeries:
    return [(c, objective(c)) for c in SPACE.sample(count, random.Random(1))]


def correlation(past: WarmStart) -> float:
    return float(np.corrcoef(past.expected(POINTS), np.log([slope(c) for c in ALL]))[0, 1])


@pytest.mark.parametrize(
    "pasts",
    [
        [series(slope)],
        [series(slope), series(lambda c: 1e6 * slope(c), 30)],
        [series(lambda c: -1.0 / slope(c))],
        [[*series(slope), *series(lambda c: None, 144)[60:]]],
        [series(slope), series(lambda c: -slope(c), LEAST_OF_A_SERIES - 1)],
    ],
    ids=["one", "on other scales", "negative", "with failures", "with a short one"],
)
def test_the_past_is_expected_whatever_its_scale(pasts):
    past = WarmStart(pasts, NEAR, TABLE)
    assert past
    assert correlation(past) > 0.9
    assert past.fastest()[0][0] == 0
    assert len(past.fastest()) >= LEAST_OF_A_SERIES


def test_without_enough_trials_there_is_no_past():
    past = WarmStart([series(slope, LEAST_OF_A_SERIES - 1)] * 3, NEAR, TABLE)
    assert not past
    assert past.fastest() == []
    assert not past.expected(POINTS).any()


def bets(now: Callable[[Configuration], float], rounds: int = 12) -> TransferWeight:
    """A hedge after some rounds in which random points were tried."""
    past, hedge = WarmStart([series(slope)], NEAR, TABLE), TransferWeight()
    levels = dict(zip(POINTS, standardised([now(c) for c in ALL]).tolist(), strict=True))
    process = PoolProcess(TABLE.groups)
    tried = random.Random(3).sample(range(len(POINTS)), 4 + rounds)
    for count in range(4, 4 + rounds):
        rows = [POINTS[place] for place in tried[:count]]
        process.condition(TABLE.rows(rows), TABLE.rows(POINTS))
        targets = np.array([levels[point] for point in rows])
        hedge.predict(process, targets, past.expected(rows), past.expected(POINTS))
        hedge.bet(POINTS[tried[count]], tried[count])
        hedge.learn(levels, [POINTS[tried[count]]])
    return hedge


def test_a_past_that_predicts_is_believed_and_one_that_does_not_is_not():
    noise = random.Random(5)
    agrees, strange = bets(slope), bets(lambda c: noise.random())
    reverse = bets(lambda c: -slope(c))
    assert agrees.weight > 0.5
    assert agrees.trust > strange.trust
    assert agrees.trust > 0.4
    assert reverse.trust < 0.05
    assert TransferWeight().trust == pytest.approx(0.5 * TRUST)


def test_a_search_goes_on_without_the_past_however_well_that_predicts():
    before, after = bets(slope, LASTS - 1), bets(slope, LASTS)
    assert (before.is_dismissed, after.is_dismissed) == (False, True)
    assert before.trust > 0.0
    assert after.trust == 0.0


def test_a_mixture_lies_between_its_models_and_knows_that_they_disagree():
    past, hedge = WarmStart([series(slope)], NEAR, TABLE), TransferWeight()
    process = PoolProcess(TABLE.groups)
    rows = POINTS[:3]
    process.condition(TABLE.rows(rows), TABLE.rows(POINTS))
    targets = np.array([-1.0, 0.0, 1.0])
    found = hedge.predict(process, targets, past.expected(rows), past.expected(POINTS))
    without = process.predict(targets)
    share = hedge.share
    with_past = process.predict(targets - share * past.expected(rows)).mean + share * past.expected(POINTS)
    assert found.mean == pytest.approx(0.5 * (with_past + without.mean))
    apart = np.abs(with_past - without.mean)
    assert apart.max() > 0.1
    assert (found.spread >= 0.5 * apart).all()
