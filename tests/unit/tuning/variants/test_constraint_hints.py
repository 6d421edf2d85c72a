"""Constraints suggested for what is refused: the parameters to blame, and a condition that is right for their values."""

import random
from collections.abc import Callable

import pytest

from orio_py.core.expr import evaluate
from orio_py.frontend.expressions import parse_expression
from orio_py.tuning.variants.constraint_hints import Neighbourhood

POWERS = (1, 2, 4, 8, 16, 32)
VALUES = {
    "T": POWERS,
    "TT": POWERS,
    "U": tuple(range(1, 31)),
    "V": tuple(range(1, 31)),
    "W": (1, 8, 32),
    "OMP": (False, True),
    "SCR": (False, True),
    "FLAGS": ("-O1", "-O2", "-O3"),
}
LEGAL = {name: values[0] for name, values in VALUES.items()}

CASES = [
    (lambda c: c["OMP"], "OMP == False"),
    (lambda c: c["FLAGS"] == "-O3", "FLAGS != '-O3'"),
    (lambda c: c["FLAGS"] != "-O1", "FLAGS == '-O1'"),
    (lambda c: c["T"] > 4, "T <= 4"),
    (lambda c: c["TT"] > 1 and c["TT"] % c["T"], "TT == 1 or TT % T == 0"),
    (lambda c: c["T"] > 1 and c["TT"] > 1, "T == 1 or TT == 1"),
    (lambda c: c["OMP"] and c["SCR"], "not (OMP == True and SCR == True)"),
]


def first_refused(is_refused: Callable[[dict], object]) -> dict:
    rng = random.Random(5)
    while True:
        chosen = {name: rng.choice(values) for name, values in VALUES.items()}
        if is_refused(chosen):
            return chosen


@pytest.mark.parametrize(("is_refused", "text"), CASES)
def test_the_condition_is_found(is_refused: Callable[[dict], object], text: str) -> None:
    near = Neighbourhood(LEGAL, VALUES, lambda c: bool(is_refused(c)))
    hint = near.hint(first_refused(is_refused))
    assert hint is not None
    assert hint.text == text


@pytest.mark.parametrize(("is_refused", "text"), CASES)
def test_the_text_says_what_the_hint_does(is_refused: Callable[[dict], object], text: str) -> None:
    hint = Neighbourhood(LEGAL, VALUES, lambda c: bool(is_refused(c))).hint(first_refused(is_refused))
    assert hint is not None
    expression, rng = parse_expression(hint.text), random.Random(6)
    for _ in range(200):
        chosen = {name: rng.choice(values) for name, values in VALUES.items()}
        assert bool(evaluate(expression, chosen)) == hint.holds(chosen)


def test_a_product_that_is_too_large() -> None:
    near = Neighbourhood(LEGAL, VALUES, lambda c: c["U"] * c["V"] * c["W"] > 500)
    refused = dict(LEGAL, U=20, V=16, W=8, OMP=True)
    assert near.blamed(refused) == ["U", "V", "W"]
    hint = near.hint(refused)
    assert hint is not None
    assert hint.text.startswith("U * V * W <= ")
    assert not hint.holds(refused)
    assert hint.holds(LEGAL)


def test_other_refusals_are_not_counted() -> None:
    """Half of the space is refused for another reason; the constraint is about the one in question."""
    near = Neighbourhood(LEGAL, VALUES, lambda c: None if c["U"] > 4 else c["T"] > 4)
    hint = near.hint(dict(LEGAL, T=16, U=2, SCR=True))
    assert hint is not None
    assert hint.text == "T <= 4"


def test_what_has_no_short_condition_gets_none() -> None:
    near = Neighbourhood(LEGAL, VALUES, lambda c: (c["T"] * 7 + c["U"] * 5 + c["V"]) % 3 == 1 and c["T"] > 1)
    assert near.hint(dict(LEGAL, T=2, U=2, V=1)) is None
