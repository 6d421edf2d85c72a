"""Traces as trees of loops: steps and counts are those of the trace written out."""

from __future__ import annotations

from collections import Counter

import pytest

from orio_py.emulation.loop_tree import LoopTree
from orio_py.emulation.trace import Repeat

ENTRIES = 20
INNER = Repeat(((3, 3, True), (4, 4, False)), 5, header=3)
OUTER = Repeat(((2, 2, True), INNER, (5, 5, True)), 4, header=2)
ITEMS = ((0, 0, True), OUTER, (6, 6, True), Repeat(((7, 7, True),), 30, header=7), (3, 3, True))


def written_out(items, times):
    for item in items:
        if isinstance(item, Repeat):
            for _ in range(min(item.times, times.get(item.header, item.times))):
                yield from written_out(item.body, times)
        else:
            yield item


@pytest.mark.parametrize("times", [{}, {2: 1}, {3: 2, 7: 8}, {2: 2, 3: 1, 7: 1}, {2: 100}])
def test_steps_and_counts(times):
    tree = LoopTree.of(ITEMS, ENTRIES)
    items = list(written_out(ITEMS, times))
    assert tree.steps(times).tolist() == [place if runs else place + ENTRIES for _, place, runs in items]
    assert tree.counts(times) == Counter(place for _, place, _ in items)
    assert tree.counts(times, executed=True) == Counter(place for _, place, runs in items if runs)


def test_repetitions_of_loops():
    tree = LoopTree.of(ITEMS, ENTRIES)
    assert tree.repetitions({}) == {2: 4, 3: 20, 7: 30}
    assert tree.repetitions({2: 2, 3: 1}) == {2: 2, 3: 2, 7: 30}
    assert [(loop.header, loop.times, loop.size) for loop in tree.loops()] == [
        (2, 4, 3),
        (3, 5, 2),
        (7, 30, 1),
    ]


def test_a_trace_without_steps():
    assert LoopTree.of((), ENTRIES).steps({}).tolist() == []
