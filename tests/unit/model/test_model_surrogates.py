"""Surrogates: what they learn, how sure they are, and that a seed decides everything."""

from __future__ import annotations

import random

import numpy as np
import pytest

from orio_py.model.base import Surrogate
from orio_py.model.forest import Forest
from orio_py.model.gaussian_process import GaussianProcess

RNG = random.Random(1)
ROWS = [[RNG.random(), RNG.random(), RNG.random()] for _ in range(60)]
OTHERS = [[RNG.random(), RNG.random(), RNG.random()] for _ in range(40)]


def truth(row: list[float]) -> float:
    return 3 * row[0] + (row[1] - 0.5) ** 2


def surrogates() -> dict[str, Surrogate]:
    return {
        "extra trees": Forest(30, seed=1),
        "random forest": Forest(30, seed=1, is_random_forest=True),
        "process": GaussianProcess(),
    }


@pytest.mark.parametrize("name", list(surrogates()))
def test_learns_better_than_the_mean_and_repeats_itself(name: str) -> None:
    targets = [truth(row) for row in ROWS]
    wanted = np.array([truth(row) for row in OTHERS])
    answers: list[np.ndarray] = []
    for _ in range(2):
        model = surrogates()[name]
        model.fit(ROWS, targets)
        found = model.predict(OTHERS)
        assert found.mean.shape == found.spread.shape == (40,)
        assert (found.spread >= 0).all()
        answers.append(found.mean)
    assert (answers[0] == answers[1]).all()
    assert np.abs(answers[0] - wanted).mean() < 0.4 * np.abs(wanted.mean() - wanted).mean()


@pytest.mark.parametrize("name", list(surrogates()))
def test_is_less_sure_far_away(name: str) -> None:
    model = surrogates()[name]
    near = [row for row in ROWS if row[0] < 0.5]
    model.fit(near, [truth(row) + 0.3 * row[2] for row in near])
    found = model.predict([near[0], near[1], [0.95, 0.95, 0.95]])
    assert found.spread[2] > found.spread[:2].max() or name != "process"
    assert found.spread[2] > 0


def test_the_process_keeps_its_scales_between_learnings() -> None:
    model = GaussianProcess()
    targets = [truth(row) for row in ROWS]
    model.fit(ROWS[:50], targets[:50])
    kernel = model._kernel
    model.fit(ROWS[:51], targets[:51])
    assert model._kernel is kernel
    model.fit(ROWS, targets)
    assert model._kernel is not kernel
    with pytest.raises(ValueError, match="not fitted"):
        GaussianProcess().predict(ROWS)


def test_one_row_and_equal_rows() -> None:
    for model in surrogates().values():
        model.fit([[0.5]], [2.0])
        assert model.predict([[0.1]]).mean == pytest.approx(2.0)
        model.fit([[0.5]] * 5, [1.0, 2.0, 3.0, 2.0, 2.0])
        assert model.predict([[0.5]]).mean == pytest.approx(2.0, abs=0.6)
