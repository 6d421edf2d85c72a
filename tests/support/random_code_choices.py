"""Where random code gets its choices from: a seed, a recorded list, or Hypothesis.

The generators ask for small integers only, and the first of several options is the simplest.  So the
sequence of answers describes a case, and a sequence with smaller numbers describes a simpler one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Choices:
    """Answers questions; a subclass says how an integer is found."""

    def integer(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""
        raise NotImplementedError

    def pick(self, options: Sequence[T]) -> T:
        """One of the options; the first is the simplest."""
        return options[self.integer(0, len(options) - 1)] if len(options) > 1 else options[0]

    def weighted(self, *options: tuple[int, T]) -> T:
        """One of the options, each as often as its weight says; the first is the simplest."""
        number = self.integer(0, sum(weight for weight, _ in options) - 1)
        for weight, option in options:
            number -= weight
            if number < 0:
                return option
        raise AssertionError("the weights add up")

    def chance(self, percent: int) -> bool:
        """True in so many of a hundred cases; False is simpler."""
        return self.integer(0, 99) >= 100 - percent

    def some(self, options: Sequence[T], percent: int) -> tuple[T, ...]:
        """Some of the options, in their order."""
        return tuple(option for option in options if self.chance(percent))

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """The options in another order."""
        left = list(options)
        return [left.pop(self.integer(0, len(left) - 1)) for _ in options]


class Seeded(Choices):
    """Choices of a pseudo-random generator; `taken` records them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.taken: list[int] = []

    def integer(self, low: int, high: int) -> int:
        value = self._random.randint(low, high)
        self.taken.append(value - low)
        return value


class Replayed(Choices):
    """The choices of a list, and the simplest ones once it is used up."""

    def __init__(self, values: Sequence[int]) -> None:
        self._values = iter(values)
        self.taken: list[int] = []

    def integer(self, low: int, high: int) -> int:
        value = min(next(self._values, 0), high - low)
        self.taken.append(value)
        return low + value


class Drawn(Choices):
    """Choices of Hypothesis, which shrinks them."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))


def strategy(make: Callable[[Choices], T]) -> st.SearchStrategy[T]:
    """What `make` makes of choices, as a Hypothesis strategy."""

    @st.composite
    def drawn(draw: st.DrawFn) -> T:
        return make(Drawn(draw))

    return drawn()
