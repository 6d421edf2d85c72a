"""The order in which the structure of a group best reads its parameters.

The structure has a node for every residual problem that can be open after the first parameters are
read, so an order is good if few conditions are open at any time.  Finding the best order is NP-hard;
here candidates are made greedily and then improved by sifting (Rudell, "Dynamic Variable Ordering for
Ordered Binary Decision Diagrams", ICCAD 1993), against an estimate in place of the true size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from orio_py.search_space.algebra import Variable
from orio_py.search_space.groups import ConnectedVariables, members_of

MOST_NODES_WRITTEN = 1e6
"""Expected nodes (the estimate is high, often tenfold) beyond which the written order is given up."""
MOST_ESTIMATES = 400_000
"""Visits to a condition while orders are compared; under a second."""


def orders(cluster: ConnectedVariables) -> Iterator[tuple[Variable, ...]]:
    """One or two orders worth trying: the written one unless it looks bad, and one that looks much
    better.
    """
    written = cluster.variables
    estimate = _Estimate(cluster)
    total = estimate.total(written)
    if total <= MOST_NODES_WRITTEN:
        yield written
    better = _best(list(written), estimate)
    if estimate.total(better) < total / 2:
        yield better
    elif total > MOST_NODES_WRITTEN:
        yield written


def _best(written: list[Variable], estimate: _Estimate) -> tuple[Variable, ...]:
    greedy = (_greedy(start, written, estimate) for start in written if not estimate.is_spent)
    candidates = sorted((written, written[::-1], *greedy), key=estimate.total)
    return tuple(min((_sift(order, estimate) for order in candidates[:3]), key=estimate.total))


def _greedy(start: Variable, variables: Sequence[Variable], estimate: _Estimate) -> list[Variable]:
    """Always the variable next that leaves the fewest residual problems."""
    order = [start]
    read = 1 << start.index
    rest = [variable for variable in variables if variable is not start]
    while rest:
        following = min(rest, key=lambda variable: estimate.states(read | 1 << variable.index))
        rest.remove(following)
        order.append(following)
        read |= 1 << following.index
    return order


def _sift(order: list[Variable], estimate: _Estimate) -> list[Variable]:
    """Each variable in turn moves to its best place, until nothing improves."""
    best, improved = estimate.total(order), True
    while improved and not estimate.is_spent:
        improved = False
        for variable in tuple(order):
            others = [other for other in order if other is not variable]
            places = [[*others[:i], variable, *others[i:]] for i in range(len(order))]
            candidate = min(places, key=estimate.total)
            if (total := estimate.total(candidate)) < best * 0.999:
                order, best, improved = candidate, total, True
            if estimate.is_spent:
                break
    return order


class _Estimate:
    """Expected numbers of residual problems, remembered by the set of variables that were read.

    A condition leaves at most as many residues as its read variables have combinations; the residues
    of a capacity are ordered, so that they are about as many as its unread variables have combinations.
    """

    def __init__(self, cluster: ConnectedVariables) -> None:
        self._masks = sorted({conjunct.term.mask for conjunct in cluster.conjuncts})
        self._bits = {variable.index: math.log2(len(variable.values)) for variable in cluster.variables}
        self._sizes: dict[int, float] = {}
        self._states: dict[int, float] = {}
        self._work = 0

    @property
    def is_spent(self) -> bool:
        """Whether enough was estimated."""
        return self._work > MOST_ESTIMATES

    def total(self, order: Sequence[Variable]) -> float:
        """The expected number of nodes of a structure."""
        read, total = 0, 0.0
        for variable in order:
            read |= 1 << variable.index
            total += self.states(read)
        return total

    def states(self, read: int) -> float:
        """The expected number of residual problems once the variables of a bit mask are read."""
        if (states := self._states.get(read)) is None:
            self._work += len(self._masks)
            residues, live = 0.0, 0
            for mask in self._masks:
                past = mask & read
                if past and past != mask:
                    live |= past
                    residues += min(self._size(past), self._size(mask & ~read))
            states = self._states[read] = 2.0 ** min(residues, self._size(live), 1000.0)
        return states

    def _size(self, mask: int) -> float:
        if (size := self._sizes.get(mask)) is None:
            size = self._sizes[mask] = sum(self._bits[index] for index in members_of(mask))
        return size
