"""The Pareto front against its definition."""

from hypothesis import given
from hypothesis import strategies as st

from orio_py.record.front import not_dominated

POINTS = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.tuples(*[st.integers(0, 4).map(float)] * n), max_size=30)
)


def dominates(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True)) and one != other


@given(POINTS)
def test_the_front_is_what_nothing_dominates(points: list[tuple[float, ...]]) -> None:
    front = not_dominated(points)
    wanted = {p for p in points if not any(dominates(other, p) for other in points)}
    assert [points[place] for place in front] == sorted(wanted)
    assert all(points.index(points[place]) == place for place in front)
