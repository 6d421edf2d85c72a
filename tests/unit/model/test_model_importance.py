"""Parameters that decide the objective are told from those that do not."""

from __future__ import annotations

import itertools
import random

import pytest

from orio_py.model.importance import LEAST_TRIALS, MOST_TRIALS, importances

SPACE = [
    {"tile": tile, "flag": flag, "noise": noise, "fixed": 7}
    for tile, flag, noise in itertools.product((1, 2, 4, 8, 16), ("-O1", "-O3"), range(8))
]


def objective(configuration):
    return (1 + configuration["tile"]) * (1.2 if configuration["flag"] == "-O1" else 1.0)


def test_what_decides_comes_first_and_what_does_not_has_nothing():
    found = importances(SPACE, [objective(c) for c in SPACE])
    assert [p.parameter for p in found.parameters[:2]] == ["tile", "flag"]
    by_name = {p.parameter: p for p in found.parameters}
    assert by_name["tile"].share > 0.8
    assert by_name["flag"].loss > 10 * by_name["noise"].loss
    assert (by_name["fixed"].loss, by_name["fixed"].share, by_name["fixed"].values) == (0, 0, 1)
    assert sum(p.share for p in found.parameters) == pytest.approx(1)
    assert found.explained > 0.9
    assert found.trials == len(SPACE)
    assert importances(SPACE, [objective(c) for c in SPACE]) == found


def test_noise_alone_is_not_explained():
    rng = random.Random(1)
    found = importances(SPACE, [rng.random() for _ in SPACE])
    assert found.explained < 0.3


def test_of_many_trials_some_are_drawn():
    space = [{"a": k % 3, "b": k} for k in range(MOST_TRIALS + 10)]
    assert importances(space, [-1.0 * c["a"] for c in space]).trials == MOST_TRIALS


@pytest.mark.parametrize(
    ("count", "value", "hint"),
    [(LEAST_TRIALS - 1, None, "at least"), (LEAST_TRIALS, 2.0, "the same objective")],
)
def test_too_little_to_learn_from(count, value, hint):
    with pytest.raises(ValueError, match=hint):
        importances(SPACE[:count], [value or float(k) for k in range(count)])
