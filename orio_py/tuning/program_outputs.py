"""What two programs write, compared line by line: numbers by their values, without what changes from run to run.

Times, dates and the sums of threads differ between two runs of one program.  A line that the original does not repeat
says nothing of the other program.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

_NUMBER = re.compile(
    r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf(?:inity)?\b|nan\b)", re.I
)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NOTHING = "(nothing)"
_WIDEST = 160
"""Characters of a line that are shown."""

_Lines = list[tuple[int, str]]
"""Lines with their numbers, which count from 1."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two outputs differ: the output's name, the line, and what stands there."""

    output: str
    line: int
    original: str
    tuned: str


@dataclass(frozen=True, slots=True)
class Unsteady:
    """How many of the `total` lines of an output differ between runs of the original; the first is line `line`."""

    output: str
    count: int
    total: int
    line: int
    text: str

    @property
    def is_whole(self) -> bool:
        """Whether no line is left to compare."""
        return self.count == self.total


@dataclass(frozen=True, slots=True)
class LineRules:
    """Which lines are the same: numbers may differ by `tolerance`, relative to the larger; `ignored` ones do not count."""

    tolerance: float = 0.0
    ignored: Sequence[re.Pattern[str]] = ()

    def lines(self, data: bytes) -> _Lines:
        """The lines that count."""
        every = enumerate(_LINE.findall(data.decode("latin-1")), start=1)
        return [(n, line) for n, line in every if not any(each.search(line) for each in self.ignored)]

    def are_same(self, one: str, two: str) -> bool:
        """Whether two lines are the same."""
        if one == two:
            return True
        if self.tolerance <= 0 or _NUMBER.sub("#", one) != _NUMBER.sub("#", two):
            return False
        pairs = zip(_NUMBER.findall(one), _NUMBER.findall(two), strict=True)
        return all(self._are_close(float(a), float(b)) for a, b in pairs)

    def _are_close(self, a: float, b: float) -> bool:
        return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=self.tolerance)


EXACTLY = LineRules()


def compare_runs(
    name: str, originals: Sequence[bytes], tuned: Sequence[bytes], rules: LineRules
) -> tuple[Difference | None, Unsteady | None]:
    """The first difference between what runs of the two programs wrote, and what the original does not repeat."""
    first, *further = map(rules.lines, originals)
    skipped = {
        place
        for lines in further
        if len(lines) == len(first)
        for place, ((_, one), (_, two)) in enumerate(zip(first, lines, strict=True))
        if not rules.are_same(one, two)
    }
    unsteady = None
    if skipped:
        number, text = first[min(skipped)]
        unsteady = Unsteady(name, len(skipped), len(first), number, _shown(text))
    for text in dict.fromkeys(tuned):
        found = _difference(name, first, rules.lines(text), skipped, rules)
        if found is not None:
            return found, unsteady
    return None, unsteady


def _difference(
    name: str, original: _Lines, tuned: _Lines, skipped: set[int], rules: LineRules
) -> Difference | None:
    for place, (one, two) in enumerate(zip_longest(original, tuned, fillvalue=None)):
        match one, two:
            case (number, text), (_, other):
                if place not in skipped and not rules.are_same(text, other):
                    return Difference(name, number, _shown(text), _shown(other))
            case (number, text), _:
                return Difference(name, number, _shown(text), _NOTHING)
            case _, (number, other):
                return Difference(name, number, _NOTHING, _shown(other))
            case _:
                pass
    return None


def _shown(line: str) -> str:
    return line.rstrip("\n")[:_WIDEST]
