"""What random recipes are made of: the place where one works, factors, sizes and references."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from random_code import Code, Loop, plain, render
from random_code_choices import Choices


@dataclass(frozen=True, slots=True)
class Place:
    """Where a recipe works: the loops of the statement, outermost first, and the whole region.

    `loop` is None where the statement is the whole region and that is more than one loop.
    """

    code: Code
    loop: Loop | None
    nest: tuple[Loop, ...]

    @property
    def indices(self) -> list[str]:
        """The indices of the perfect nest."""
        return [loop.index for loop in self.nest]

    @property
    def below(self) -> list[str]:
        """The indices of all loops of the statement, without repetition."""
        found = [loop.index for loop in self.code.loops] if self.loop is None else _indices(self.loop)
        return list(dict.fromkeys(found))


def _indices(loop: Loop) -> list[str]:
    found = [loop.index]
    for item in loop.body:
        if isinstance(item, Loop):
            found.extend(_indices(item))
    return found


Maker = Callable[[Choices, Place], str]


def factor(choices: Choices) -> int:
    """An unroll factor."""
    return choices.weighted((40, 2), (25, 3), (20, 4), (5, 1), (5, 5), (5, 8))


def size(choices: Choices, loop: Loop | None) -> int:
    """A tile size, most often a multiple of the stride."""
    stride = loop.stride if loop is not None else 1
    drawn = choices.weighted((30, 4), (20, 2), (15, 8), (10, 3), (10, 16), (5, 1), (5, 6), (5, 32))
    return drawn if drawn == 1 or choices.chance(5) else -(-drawn // stride) * stride


def loop_over(place: Place, index: str) -> Loop | None:
    """The first loop with an index."""
    return next((loop for loop in place.code.loops if loop.index == index), None)


def used_in(place: Place, names: Sequence[str]) -> list[str]:
    """Those of the names that the statement mentions."""
    text = plain(render(place.code.items if place.loop is None else (place.loop,)))
    return [name for name in names if re.search(rf"\b{name}\b", text)]


def references(place: Place) -> list[str]:
    """The array elements that the loop names, as a recipe writes them: without character literals."""
    text = plain(render(place.code.items if place.loop is None else (place.loop,)))
    arrays = "|".join(array.name for array in place.code.arrays)
    found = re.findall(rf"\b(?:{arrays})(?:\[[^][']*\])+(?!\[)", text)
    return list(dict.fromkeys(found)) or ["a[i]"]
