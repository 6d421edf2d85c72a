"""The dependence verdicts against brute force: random nests, whose iterations are all run.

A fixed share of what `benchmarks/dependence_exactness.py` tries.
"""

from __future__ import annotations

import random

import pytest
from brute_force import Reorder
from exactness import CLASSES, KINDS, NOT_AFFINE, draw_question, judge
from random_nests import Expression, Loop, matched

from orio_py.ctree.dependence.legality import DependenceContext, Unknown, may_reorder

CASES = 16


@pytest.mark.share(3)
@pytest.mark.parametrize("kind", KINDS)
def test_no_verdict_is_wrong_and_few_refuse_needlessly(kind: str) -> None:
    needless = 0
    for sort, features in CLASSES.items():
        legal = 0
        for number in range(CASES):
            question = draw_question(kind, features, random.Random(f"{kind} {sort} {number}"))
            outcome = judge(question)
            assert not outcome.is_wrong, f"{question}\n{question.nest.text}"
            legal += outcome.is_legal
            needless += outcome.is_needless_at_any_size and sort not in NOT_AFFINE
        assert legal > 0, f"nothing is legal for {sort}"
    assert needless <= 4


def test_brute_force_sees_what_is_reversed() -> None:
    """A verdict that is always "legal" would be found out."""
    found = [
        draw_question("reorder", CLASSES["affine"], random.Random(number)).clashes({"n": 6, "m": 5})
        for number in range(100)
    ]
    assert 30 < sum(found) < 90


def test_loops_with_something_between_them_are_no_nest() -> None:
    zero, size = Expression("0", lambda env: 0), Expression("n", lambda env: env["n"])
    source = draw_question("reorder", CLASSES["affine"], random.Random(1))
    assert isinstance(source, Reorder)
    statement = source.nest
    while isinstance(statement, Loop):
        statement = statement.body[0]
    inner = Loop("j", zero, "<", size, 1, ())
    outer = Loop("i", zero, "<", size, 1, (statement, inner))
    assert isinstance(may_reorder(matched(outer), (1, 0), DependenceContext({})), Unknown)
