"""Finds a simple failing case from a failing one, by leaving out and lowering its choices."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from proof import Apply, Tried, apply, make_case, run_batch
from random_code_choices import Replayed, Seeded

TOGETHER = 24
"""How many attempts are compiled into one program."""


def shrunk(
    seed: int,
    folder: Path,
    only: Sequence[str] = (),
    forms: Sequence[str] = (),
    *,
    how: Apply | None = None,
    seconds: float = 60,
) -> Tried:
    """A simple case that fails like that of the seed, as far as the time reaches."""
    source = Seeded(seed)
    first = apply(make_case(source, seed, only, forms), how)
    run_batch([first], folder)
    if first.outcome is None or first.outcome.kind != "wrong":
        return first
    search = _Search(folder, tuple(only), tuple(forms), how, _sort_of(first), time.monotonic() + seconds)
    found = search.minimise(source.taken)
    return found or first


def _sort_of(tried: Tried) -> str:
    """What kind of failure it is, so that shrinking does not slip to another one."""
    assert tried.outcome is not None
    text = tried.outcome.text
    for sort in ("Traceback", "warning", "does not compile", "ended with status", "does not end"):
        if sort in text:
            return sort
    return ""


@dataclass(slots=True)
class _Search:
    folder: Path
    only: tuple[str, ...]
    forms: tuple[str, ...]
    how: Apply | None
    sort: str
    deadline: float

    def minimise(self, values: list[int]) -> Tried | None:
        found: Tried | None = None
        size = 64
        while size and time.monotonic() < self.deadline:
            values, better = self._pass(values, size)
            found = better or found
            if size > 1 or better is None:
                size //= 2
        return found

    def _pass(self, values: list[int], size: int) -> tuple[list[int], Tried | None]:
        """Try to simplify each stretch of this length, one after the other."""
        found: Tried | None = None
        start = 0
        while start < len(values) and time.monotonic() < self.deadline:
            options: list[tuple[int, list[int]]] = []
            while start < len(values) and len(options) < TOGETHER:
                options.extend((start, option) for option in _simpler(values, start, size))
                start += max(size // 2, 1)
            success = self._first_failing(options)
            if success is not None:
                start, values, found = success
        return values, found

    def _first_failing(self, options: Sequence[tuple[int, list[int]]]) -> tuple[int, list[int], Tried] | None:
        sources = [Replayed(values) for _, values in options]
        tried = [apply(make_case(source, None, self.only, self.forms), self.how) for source in sources]
        run_batch(tried, self.folder)
        for (start, values), source, each in zip(options, sources, tried, strict=True):
            if each.outcome is not None and each.outcome.kind == "wrong" and _sort_of(each) == self.sort:
                taken = source.taken
                while taken and taken[-1] == 0:
                    taken.pop()
                return start, min(taken, values, key=lambda v: (len(v), sum(v))), each
        return None


def _simpler(values: list[int], start: int, size: int) -> Iterator[list[int]]:
    piece = values[start : start + size]
    yield [*values[:start], *values[start + size :]]
    if any(piece):
        yield [*values[:start], *([0] * len(piece)), *values[start + size :]]
    if size == 1 and piece[0] > 1:
        yield [*values[:start], piece[0] // 2, *values[start + 1 :]]
        yield [*values[:start], piece[0] - 1, *values[start + 1 :]]
