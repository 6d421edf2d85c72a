"""Slices of the outermost axis: who runs which iterations, and who copies which bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orio_py.codegen.device import Reach, slices_of

SMALL = st.integers(-20, 60)


@given(st.integers(1, 9), st.integers(1, 50))
def test_each_iteration_is_in_one_slice(streams: int, trips: int) -> None:
    found = slices_of(streams, trips)
    assert [k for begin, end in found for k in range(begin, end)] == list(range(trips))
    assert len(found) == min(streams, trips)
    sizes = [end - begin for begin, end in found]
    assert max(sizes) - min(sizes) <= streams


@given(st.integers(0, 90), SMALL, SMALL, st.integers(0, 30), st.integers(1, 5), st.integers(1, 20))
def test_shares_hold_each_byte_once_and_slices_all_that_they_touch(
    size: int, step: int, low: int, reach: int, streams: int, trips: int
) -> None:
    found = Reach(size, step, low, reach)
    slices = slices_of(streams, trips)
    shares = found.shares(slices)
    assert len(shares) == len(slices)
    assert sorted(byte for begin, end in shares for byte in range(begin, end)) == list(range(size))
    for begin, end in slices:
        first, last = found.touched(begin, end)
        assert 0 <= first <= size
        assert 0 <= last <= size
        for iteration in range(begin, end):
            start = low + step * iteration
            bytes_touched = range(start, start + reach) if reach else range(size)
            assert all(first <= byte < last for byte in bytes_touched if 0 <= byte < size)


@pytest.mark.parametrize(
    ("reach", "shares"),
    [
        (Reach(8, 1, 0, 1), [(0, 4), (4, 8)]),
        (Reach(10, 1, 0, 3), [(0, 4), (4, 10)]),
        (Reach(8, -1, 7, 1), [(4, 8), (0, 4)]),
        (Reach(8), [(0, 8), (8, 8)]),
    ],
)
def test_a_queue_copies_what_its_own_slice_touches_first(reach: Reach, shares: list[tuple[int, int]]) -> None:
    assert reach.shares([(0, 4), (4, 8)]) == shares
