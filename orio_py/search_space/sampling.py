"""Distinct random ranks of spaces of any size."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice


def shuffled_ranks(size: int, rng: random.Random) -> Iterator[int]:
    """The ranks `0 … size - 1` in random order, every order equally likely.

    The shuffle of Fisher and Yates, with a table of only the places that differ from their start, so
    that memory grows with the ranks drawn and not with the size.
    """
    moved: dict[int, int] = {}
    for place in range(size):
        other = rng.randrange(place, size)
        drawn = moved.get(other, other)
        if other != place:
            moved[other] = moved.get(place, place)
        moved.pop(place, None)
        yield drawn


def sample_ranks(size: int, n: int, rng: random.Random) -> list[int]:
    """`min(n, size)` distinct ranks, each set and each order equally likely."""
    return list(islice(shuffled_ranks(size, rng), max(min(n, size), 0)))
