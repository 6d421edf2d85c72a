"""How good predictions are: errors, and the order of the points of a space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import median


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Of pairs of predicted and true times: the errors |predicted - true| / true, and how often they are small.

    `mean` is their geometric mean, as in Hong et al. 2018, table 1; `bias` the geometric mean of predicted / true.
    """

    count: int
    mean: float
    median: float
    within_20: float
    bias: float

    @classmethod
    def of(cls, pairs: Sequence[tuple[float, float]]) -> Accuracy:
        """The accuracy of (predicted, true) pairs.  Raises ValueError without any."""
        if not pairs:
            raise ValueError("nothing to compare")
        errors = [abs(predicted - true) / true for predicted, true in pairs]
        return cls(
            len(pairs),
            exp(sum(log(max(error, 1e-4)) for error in errors) / len(errors)),
            median(errors),
            sum(error <= 0.2 for error in errors) / len(errors),
            exp(sum(log(predicted / true) for predicted, true in pairs) / len(pairs)),
        )


def kendall(predicted: Sequence[float], true: Sequence[float]) -> float:
    """Kendall's rank correlation with ties (tau-b): 1 for the same order, -1 for the opposite one.

    M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33, 1945.  0 where all of one are equal.

    >>> kendall([1, 2, 3], [10, 20, 30]), kendall([1, 2, 3], [3, 2, 1]), round(kendall([1, 1, 2], [1, 2, 3]), 3)
    (1.0, -1.0, 0.816)
    """
    agree = firsts = seconds = 0
    for i in range(len(true)):
        for j in range(i):
            one = (predicted[i] > predicted[j]) - (predicted[i] < predicted[j])
            two = (true[i] > true[j]) - (true[i] < true[j])
            agree += one * two
            firsts += one != 0
            seconds += two != 0
    return agree / sqrt(firsts * seconds) if firsts and seconds else 0.0


def lost(predicted: Sequence[float], true: Sequence[float]) -> float:
    """By which share the point that is predicted to be the fastest is slower than the one that is."""
    chosen = min(range(len(true)), key=predicted.__getitem__)
    return true[chosen] / min(true) - 1
