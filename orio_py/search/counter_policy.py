"""Chooses configurations by the counters that a model predicts and what a profiled run says operations cost.

Each candidate's time is estimated from its predicted counters (`orio_py.model.counters.busy_time`).  A Gaussian process
learns how far times are from these estimates, by parameters and by counters: what the search measures corrects what
the model does not know of this device.  What is tried is what promises the largest improvement by both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from math import inf, log

import numpy as np
import numpy.typing as npt

from orio_py.core.units import Seconds
from orio_py.model.base import Prediction
from orio_py.model.counters.busy_time import (
    OperationCosts,
    counter_features,
    distances,
    operation_costs,
    typical_costs,
)
from orio_py.model.counters.model import Array, CounterModel, counted_work
from orio_py.model.features import FeatureTable
from orio_py.model.posterior import PoolProcess, log_expected_improvement, log_validity
from orio_py.model.winsorising import standardised
from orio_py.search.acquisition_policy import AcquisitionPolicy
from orio_py.search.base import TrustListener, unheard
from orio_py.search.memory import Asking, Memory
from orio_py.search.trust import EarnedTrust
from orio_py.search_space.encoding import Point
from orio_py.search_space.sampling import shuffled_ranks

MOST_CANDIDATES = 10_000
"""Of larger spaces so many configurations are candidates,"""
DRAWN = 40_000
"""those with the least estimates among so many random ones."""
USUAL_ERROR, ERROR_WEIGHT = 0.2, 4
"""How far times are expected to be from their estimates (logarithm), and how many trials that counts as."""
COUNTER_SCALE = 0.3
"""The spread of counters beside that of parameters, which lie between 0 and 1."""
LEAST_FOR_SCALES, GROWTH = 10, 1.15
"""Length scales are learned from so many trials on, and again when there are so many times more."""
ROWS_FOR_SCALES = 100
STALE = 10
"""After so many trials without a new best the estimates have told what they know."""
LIKE_OTHERS = 0.25
"""The share of candidates whose predictions may be nearer to what was counted of another one."""
LEAST_TRIALS, LAST_TRIALS = 3, 8
"""With so many valid trials the estimates by typical costs are compared; the first three have to be in order, all of them."""
PROFILES_TRIED = 3
"""So many configurations are profiled until one has counters: those that a race gave up have none."""
PROMISED_FIRST = 3
"""None of so many that promised most in the faster half of what was tried before: the estimates mislead."""


class CounterAdvice:
    """A model of counters, asked beside the default search.

    Whether it is followed is told by the trials first, at no cost, with times estimated by what operations typically cost; then by
    a profile of the fastest of them, whose counters are compared with those predicted, and which tells what operations cost here.
    """

    trials = range(LEAST_TRIALS, LAST_TRIALS + 1)

    def __init__(self, memory: Memory, model: CounterModel, listener: TrustListener = unheard) -> None:
        self._memory, self._model = memory, model
        self._trust = EarnedTrust(memory, self, listener)

    def scores(self, points: Sequence[Point]) -> dict[Point, float]:
        """Estimated times by typical costs, the least first."""
        if (costs := typical_costs(self._model.domain.counters)) is None:
            return {}
        rows = self._model.domain.rows([self._memory.encoding.configuration(point) for point in points])
        times = costs.times(self._model.domain.counters, self._model.predict(rows)).sum(axis=1)
        return dict(zip(points, (-times).tolist(), strict=True))

    def is_earned(self) -> bool:
        """Whether the trials agree with the estimates for the first time."""
        return self._trust.is_earned()

    def follow(self, guide: AcquisitionPolicy) -> Asking[AcquisitionPolicy]:
        """Try what estimates promise until they have told what they know, or are found to mislead."""
        policy = yield from self._profiled()
        if policy is None:
            self._trust.drop()
            return guide
        first: list[Point] = []
        while not policy.is_stale:
            batch = policy.propose(self._memory.batch_size)
            yield from self._memory.ask(batch)
            if len(first) < PROMISED_FIRST:
                first += batch
                if len(first) >= PROMISED_FIRST and self._trust.misleads(first):
                    break
        return guide

    def look_at(self, guide: AcquisitionPolicy) -> None:
        """Nothing: the estimates are followed in one go."""

    def _profiled(self) -> Asking[CounterPolicy | None]:
        """Candidates with estimates by a profile; None where none can be had or its counters are not those predicted."""
        known = self._memory.known
        valid = sorted((point for point, cost in known.items() if cost < inf), key=known.__getitem__)
        for point in valid[:PROFILES_TRIED]:
            if not (counted := (yield from self._memory.profile(point))):
                continue
            policy = CounterPolicy(self._memory, self._model)
            is_usable = policy.agrees(point, counted) and policy.learn_costs(Seconds(known[point]), counted)
            return policy if is_usable else None
        return None


class CounterPolicy:
    """Candidates of a space with their predicted counters, and what was learned of their times."""

    def __init__(self, memory: Memory, model: CounterModel) -> None:
        self._memory, self._model = memory, model
        self._table = FeatureTable(memory.encoding.axes)
        self._points = self._drawn()
        self._predicted = self._predict(self._points)
        self._places: dict[Point, int] = {}
        self._estimates: Array = np.zeros(0)
        self._rows: Array = np.zeros((0, 0))
        self._parameters: Array = np.zeros((0, 0))
        self._is_open: npt.NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self._process = PoolProcess(self._table.groups)
        self._failures = PoolProcess(self._table.groups)
        self._valid: list[int] = []
        self._failed: list[int] = []
        self._labels: list[float] = []
        self._noted = self._begun = 0
        self._next_scales = LEAST_FOR_SCALES
        self._is_current = False

    def agrees(self, profiled: Point, counted: Mapping[str, float]) -> bool:
        """Whether what was counted of a point is nearer to what was predicted of it than to what was predicted of most others.

        A model whose predictions belong to others passes in one of four cases.
        """
        work = counted_work(counted)
        names = self._model.domain.counters
        columns = [place for place, name in enumerate(names) if name in work]
        far = distances([names[place] for place in columns], work, self._predicted[:, columns])
        own = self._points.index(profiled)
        return bool(far.any()) and float((far < far[own]).mean()) <= LIKE_OTHERS

    def learn_costs(self, seconds: Seconds, counted: Mapping[str, float]) -> bool:
        """Estimate all candidates by a profiled run; whether its counters allow that."""
        costs = operation_costs(seconds, counted, self._model.domain.counters)
        if costs is None:
            return False
        self._estimate(costs)
        self._begun = len(self._memory)
        return True

    @property
    def is_stale(self) -> bool:
        """Whether many trials have not found anything better, or all candidates were tried."""
        costs = list(self._memory.known.values())
        since = len(costs) - max(self._begun, 1 + costs.index(min(costs, default=inf)))
        return since >= STALE or not self._is_open.any()

    def propose(self, count: int) -> list[Point]:
        """Up to `count` different points that were not tried.  Only after `learn_costs`.

        Within a batch each choice counts as tried, with the result that is expected of it.
        """
        self._take_notes()
        targets = [
            log(self._memory.known[self._points[place]]) - self._estimates[place] for place in self._valid
        ]
        centre = sum(targets) / len(targets)
        errors = [target - centre for target in targets]
        least = log(self._memory.best_cost)
        chosen: list[int] = []
        while len(chosen) < count and self._is_open.any():
            if chosen:
                self._process.append(self._rows[chosen[-1]])
                self._is_current = False
            found = self._process.predict(np.array(errors), USUAL_ERROR, ERROR_WEIGHT)
            expected = Prediction(found.mean + centre + self._estimates, found.spread)
            promise = log_expected_improvement(expected, least) + self._log_validity()
            promise[~self._is_open] = -inf
            place = int(promise.argmax())
            self._is_open[place] = False
            errors.append(float(found.mean[place]))
            chosen.append(place)
        return [self._points[place] for place in chosen]

    # --- candidates ---

    def _drawn(self) -> list[Point]:
        near, size = self._memory.near, self._memory.space.size
        if size <= MOST_CANDIDATES:
            return [near.at(rank) for rank in range(size)]
        drawn = (near.at(rank) for rank in islice(shuffled_ranks(size, self._memory.rng), DRAWN))
        return list(dict.fromkeys([*self._memory.known, *drawn]))

    def _predict(self, points: Sequence[Point]) -> Array:
        configurations = [self._memory.encoding.configuration(point) for point in points]
        return self._model.predict(self._model.domain.rows(configurations))

    def _estimate(self, costs: OperationCosts) -> None:
        names = self._model.domain.counters
        times = costs.times(names, self._predicted)
        if len(self._points) > MOST_CANDIDATES:
            order = np.argsort(times.sum(axis=1), kind="stable")[:MOST_CANDIDATES].tolist()
            tried = [place for place, point in enumerate(self._points) if point in self._memory.known]
            kept = list(dict.fromkeys([*tried, *order]))
            self._points = [self._points[place] for place in kept]
            self._predicted, times = self._predicted[kept], times[kept]
        times = np.maximum(times, np.finfo(np.float64).tiny)
        self._places = {point: place for place, point in enumerate(self._points)}
        self._is_open = np.ones(len(self._points), dtype=np.bool_)
        self._estimates = np.log(times.sum(axis=1))
        self._parameters = self._table.rows(self._points)
        counters = COUNTER_SCALE * counter_features(times, names, self._predicted)
        self._rows = np.concatenate([self._parameters, counters], axis=1)
        first = int(self._table.groups.max()) + 1
        own = np.arange(first, first + counters.shape[1], dtype=np.intp)
        self._process = PoolProcess(np.concatenate([self._table.groups, own]))

    # --- what is known ---

    def _take_notes(self) -> None:
        """Learn of new trials."""
        known = list(islice(self._memory.known.items(), self._noted, None))
        self._noted += len(known)
        places = [(self._places[point], cost) for point, cost in known if point in self._places]
        valid = [place for place, cost in places if cost < inf]
        failed = [place for place, cost in places if cost == inf]
        self._is_open[[place for place, _ in places]] = False
        self._valid += valid
        self._take_failures(valid, failed)
        if len(self._valid) >= self._next_scales:
            self._next_scales = int(len(self._valid) * GROWTH) + 1
            self._learn_scales()
            self._is_current = False
        if self._is_current:
            for place in valid:
                self._process.append(self._rows[place])
        else:
            self._process.condition(self._rows[self._valid], self._rows)
            self._is_current = True

    def _take_failures(self, valid: list[int], failed: list[int]) -> None:
        """A process of what failed and what did not, once something did."""
        is_first = not self._failed
        self._failed += failed
        if not self._failed:
            return
        if is_first:
            self._labels = [1.0] * len(self._valid) + [0.0] * len(self._failed)
            rows = self._parameters[[*self._valid, *self._failed]]
            self._failures.condition(rows, self._parameters)
            return
        self._labels += [1.0] * len(valid) + [0.0] * len(failed)
        for place in (*valid, *failed):
            self._failures.append(self._parameters[place])

    def _log_validity(self) -> Array:
        if not self._failed:
            return np.zeros(len(self._points))
        share = (len(self._valid) + 1.0) / (len(self._valid) + len(self._failed) + 1.0)
        return log_validity(self._failures.predict(np.array(self._labels) - share), share)

    def _learn_scales(self) -> None:
        rng = self._memory.rng
        rows = self._valid
        if len(rows) > ROWS_FOR_SCALES:
            rows = rng.sample(rows, ROWS_FOR_SCALES)
        targets = [log(self._memory.known[self._points[place]]) - self._estimates[place] for place in rows]
        self._process.learn_scales(self._rows[rows], standardised(targets), rng)
