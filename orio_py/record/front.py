"""The Pareto front of variants that are judged by several objectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orio_py.core.expr import Value


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """A variant that no other one beats in every objective, with its values in the order of the objectives."""

    configuration: Mapping[str, Value]
    values: tuple[float, ...]

    def as_json(self) -> dict[str, object]:
        """Configuration and values."""
        return {"configuration": dict(self.configuration), "values": list(self.values)}


def not_dominated(values: Sequence[Sequence[float]]) -> list[int]:
    """The places of the points that no other point dominates, the least first value first.

    Less is better.  A point dominates another one that is nowhere less and somewhere greater.  Of equal points
    the first counts.

    >>> not_dominated([(2.0, 1.0), (1.0, 3.0), (2.0, 2.0), (1.0, 3.0), (3.0, 0.5)])
    [1, 0, 4]
    """
    front: list[int] = []
    for place in sorted(range(len(values)), key=lambda k: (tuple(values[k]), k)):
        # In this order a point can only be dominated by one that is already there.
        if not any(_is_nowhere_greater(values[other], values[place]) for other in front):
            front.append(place)
    return front


def _is_nowhere_greater(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))
