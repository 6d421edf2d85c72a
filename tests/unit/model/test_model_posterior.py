"""The Gaussian process over a pool: the same as a general one, row by row."""

from __future__ import annotations

import random

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern, WhiteKernel

from orio_py.model import posterior
from orio_py.model.base import Prediction
from orio_py.model.posterior import PoolProcess, log_expected_improvement, log_validity
from orio_py.model.winsorising import selection, standardised, winsorised

Array = np.ndarray


def rows_of(count: int, width: int = 3, seed: int = 0) -> Array:
    return np.random.default_rng(seed).random((count, width))


def targets_of(rows: Array) -> Array:
    return standardised(np.sin(5 * rows[:, 0]) + rows[:, 1] ** 2)


def process_of(rows: Array, pool: Array, groups: tuple[int, ...] = (0, 1, 2)) -> PoolProcess:
    process = PoolProcess(np.array(groups))
    process.condition(rows, pool)
    return process


def test_predicts_what_a_general_process_predicts() -> None:
    rows, pool = rows_of(20), rows_of(50, seed=1)
    targets = targets_of(rows)
    kernel = Matern([posterior.USUAL_SCALE] * 3, nu=1.5) + WhiteKernel(posterior.USUAL_NOISE)
    general = GaussianProcessRegressor(kernel, optimizer=None, alpha=0).fit(rows, targets)
    mean, spread = general.predict(pool, return_std=True)
    found = process_of(rows, pool).predict(targets)
    assert found.mean == pytest.approx(mean, abs=1e-8)
    # The general one adds the noise, and knows no variance but 1.
    ratio = found.spread**2 / np.maximum(spread**2 - posterior.USUAL_NOISE, 1e-12)
    assert ratio == pytest.approx(np.full(50, ratio[0]), rel=1e-5)


def test_rows_and_candidates_that_come_later_count_as_the_first() -> None:
    rows, pool = rows_of(90), rows_of(40, seed=1)
    process = process_of(rows[:5], pool[:25])
    for row in rows[5:]:
        process.append(row)
    process.extend(pool[25:])
    at_once = process_of(rows, pool)
    targets = targets_of(rows)
    one, other = process.predict(targets), at_once.predict(targets)
    assert one.mean == pytest.approx(other.mean, abs=1e-6)
    assert one.spread == pytest.approx(other.spread, abs=1e-6)
    assert process.candidates == 40
    assert process.observations == 90


def test_learns_which_features_matter() -> None:
    rows, pool = rows_of(60), rows_of(100, seed=1)
    usual, learned = process_of(rows, pool), PoolProcess(np.array([0, 1, 2]))
    learned.learn_scales(rows, targets_of(rows), random.Random(1))
    learned.condition(rows, pool)
    truth = targets_of(np.concatenate([rows, pool]))[60:]
    errors = [np.abs(p.predict(targets_of(rows)).mean - truth).mean() for p in (usual, learned)]
    assert errors[1] < errors[0]
    # The third feature has no influence: what differs in it alone is near.
    alike = learned.nearness(pool[:1] + np.array([0.0, 0.0, 0.5]))[0]
    apart = learned.nearness(pool[:1] + np.array([0.5, 0.0, 0.0]))[0]
    assert alike > apart


def test_the_gradient_is_that_of_the_loss() -> None:
    rows = rows_of(12)
    left, right = np.tril_indices(12, -1)
    apart = np.square(rows[left] - rows[right]).T
    loss = posterior._Loss(apart, targets_of(rows), -0.3)
    chosen = np.array([-0.5, 0.2, 0.9, -4.0])
    _, gradient = loss(chosen)
    for i in range(4):
        step = np.eye(4)[i] * 1e-5
        slope = (loss(chosen + step)[0] - loss(chosen - step)[0]) / 2e-5
        assert gradient[i] == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_equal_targets_and_no_rows_are_no_problem() -> None:
    assert standardised([3.0, 3.0]).tolist() == [0.0, 0.0]
    process = process_of(rows_of(4), rows_of(5, seed=1))
    found = process.predict(np.zeros(4))
    assert found.mean == pytest.approx(np.zeros(5))
    assert (found.spread > 0).all()
    assert process.nearness(np.zeros((0, 3))).tolist() == [0.0] * 5


def test_improvement_is_right_near_and_ordered_far_below() -> None:
    spread = np.ones(4)
    draws = np.random.default_rng(0).standard_normal(400_000)
    means = np.array([-1.0, 0.0, 1.0, 2.0])
    found = log_expected_improvement(Prediction(means, spread), 0.0)
    measured = [np.maximum(-(mean + draws), 0).mean() for mean in means]
    assert np.exp(found) == pytest.approx(measured, rel=0.05)
    far = log_expected_improvement(Prediction(np.arange(5.0, 60.0, 0.25), np.ones(220)), 0.0)
    assert (np.diff(far) < 0).all()
    assert np.isfinite(far).all()
    wide = log_expected_improvement(Prediction(means, spread), 0.0, widen=2.0)
    assert (wide > found).all()


def test_validity_falls_towards_failures() -> None:
    means, spreads = np.array([0.2, 0.0, -0.5, -0.8]), np.array([0.1, 0.4, 0.3, 0.1])
    beside_valid, nowhere, near_failed, on_failure = np.exp(
        log_validity(Prediction(means, spreads), share=0.8)
    )
    assert beside_valid > 0.99
    assert 0.7 < nowhere < 0.9
    assert 0.1 < near_failed < 0.5
    assert 0 <= on_failure < 0.01


def test_the_mean_anywhere_is_that_of_the_pool() -> None:
    rows, pool = rows_of(30), rows_of(10, seed=1)
    process = process_of(rows, pool)
    process.fix(targets_of(rows))
    assert process.mean_at(pool) == pytest.approx(process.predict(targets_of(rows)).mean, abs=1e-8)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_finds_how_much_of_a_trend_there_is(share: float) -> None:
    rows = rows_of(40)
    trend = np.random.default_rng(5).standard_normal(40)
    found = process_of(rows, rows[:1]).share_of(trend, share * trend + 0.1 * rows[:, 0], 0.8, 0.4)
    assert found == pytest.approx(share, abs=0.1)


def test_few_observations_leave_the_expected_share() -> None:
    rows = rows_of(1)
    found = process_of(rows, rows).share_of(np.array([0.01]), np.array([0.3]), 0.8, 0.4)
    assert found == pytest.approx(0.8, abs=0.05)


def test_levels_are_ordered_as_costs_and_know_no_very_slow() -> None:
    found = winsorised([1.0, 2.0, 4.0, 8.0, 1e9])
    assert found[0] < found[1] < found[2] < found[3] == found[4]
    assert found.mean() == pytest.approx(0)
    assert (np.diff(winsorised([-3.0, 0.0, 1.0])) >= 0).all()


def test_selections_keep_the_first_half_of_the_limit() -> None:
    assert selection(5, 10, random.Random(1)) == [0, 1, 2, 3, 4]
    found = selection(1000, 10, random.Random(1))
    assert found[:5] == [0, 1, 2, 3, 4]
    assert len(set(found)) == 10
