"""A model of the trials so far, and what it would try next.

The model is a Gaussian process of the logarithm of the objective.  It looks at a pool of candidates: random
configurations, and all that is near the best ones.  What is tried is what promises the largest improvement,
by the chance that it does not fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from math import inf

import numpy as np
import numpy.typing as npt

from orio_py.model.features import FeatureTable
from orio_py.model.posterior import PoolProcess, log_expected_improvement, log_validity
from orio_py.model.winsorising import selection, standardised, winsorised
from orio_py.search.base import PastSeries
from orio_py.search.memory import Memory
from orio_py.search.warm_start import TransferWeight, WarmStart
from orio_py.search_space.encoding import Point
from orio_py.search_space.sampling import shuffled_ranks

Array = npt.NDArray[np.float64]

LEAST_VALID = 3
"""With fewer valid trials there is nothing to learn from."""
RANDOM_CANDIDATES = 800
STOCK, FRESH_CANDIDATES = 6000, 400
"""The random candidates are drawn from a stock; so many of its points are new each time."""
LIKELY_CANDIDATES = 400
"""So many of the stock are added that the model's mean has among the best."""
WHOLE_SPACE = 2500
"""Up to this size all configurations are candidates."""
BEST_POINTS = 3
"""How many of the best trials have their neighbours in the pool."""
NEAR_CANDIDATES = 20
"""Per best trial: random points one step away in any parameters, and as many with two others changed."""
STEPS = 16
"""Per best trial: from so many points one step away, all that are one step further."""
SINGLE_CHANGES = 150
"""Per best trial, how many points with one parameter changed at most."""
RENEWAL, LATEST_RENEWAL = 16, 100
"""The pool is made anew after so many trials, or a fifth of all if that is more, but at most the second."""
GROWTH, LATE_GROWTH, LATE = 1.1, 1.25, 200
"""The length scales are learned anew when there are so many times more trials; the second after so many."""
ROWS_FOR_SCALES = 100
ROWS_OF_MODEL = 200
"""Of more trials the better half of these counts, and a random selection of all others."""
ROWS_OF_FAILURES = 150
"""So many valid and so many failed trials tell where configurations fail."""
WIDENING = 2.5
"""What the spread is multiplied by where the search looks where it knows little."""
STARTS = 200
"""How many random configurations the first ones are chosen from."""


class AcquisitionPolicy:
    """Chooses points by a model of what a memory holds.

    `past` are trials of the same task under other circumstances.  What they say counts as far as what
    was tried on their account agrees with it.  One in `explore` trials is chosen where little is known, none with 0;
    those and the first ones want each value that is no power of two by `roundness` less (logarithm of the
    weight): what little is known of are above all corners that are full of such values.
    """

    def __init__(
        self,
        memory: Memory,
        past: Sequence[PastSeries] = (),
        *,
        explore: int = 3,
        roundness: float = 0.7,
    ) -> None:
        self._explore, self._roundness = explore, roundness
        self._memory = memory
        self._table = FeatureTable(memory.encoding.axes)
        self._process = PoolProcess(self._table.groups)
        self.past = WarmStart(past, memory.near, self._table)
        self._hedge = TransferWeight()
        self._expected_rows: Array = np.zeros(0)
        self._expected: Array = np.zeros(0)
        self._valid: list[Point] = []
        self._costs: list[float] = []
        self._failed: list[Point] = []
        self._rows: list[Point] = []
        self._levels = _Levels()
        self._row_slots: list[int] = []
        self._valid_slots: list[int] = []
        self._least = 0.0
        self._pool: list[Point] = []
        self._pool_rows: Array = np.zeros((0, self._table.width))
        self._unround: Array = np.zeros(0)
        self._places: dict[Point, int] = {}
        self._open: npt.NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self._ranks = shuffled_ranks(memory.space.size, memory.rng)
        self._stock: list[Point] = []
        self._stock_rows: Array = np.zeros((0, self._table.width))
        self._nearby: dict[Point, list[Point]] = {}
        self._surrounded: set[Point] = set()
        self._failures = PoolProcess(self._table.groups)
        self._is_valid: list[float] = []
        self._next_scales = 0
        self._next_pool = 0
        self._next_failures = 0

    @property
    def follows_the_past(self) -> bool:
        """Whether there is a past that was not dismissed."""
        return bool(self.past) and not self._hedge.is_dismissed

    # --- the first points ---

    def spread_out(self, count: int) -> list[Point]:
        """Up to `count` new points far from each other, most of their values powers of two.

        M. E. Johnson, L. M. Moore and D. Ylvisaker, "Minimax and maximin distance designs", Journal of
        Statistical Planning and Inference 26, 1990; greedily, among random points.
        """
        points = self._memory.draw_many(max(STARTS, count))
        count = min(count, len(points))
        if not count:
            return []
        rows = self._table.rows(points)
        weights = np.exp(-self._roundness * self._table.unround(points))
        (first,) = self._memory.rng.choices(range(len(points)), weights.tolist())
        chosen = [first]
        apart = np.full(len(points), inf)
        while len(chosen) < count:
            apart = np.minimum(apart, np.sqrt(np.square(rows - rows[chosen[-1]]).sum(axis=1)))
            wanted = apart * weights
            wanted[chosen] = -1.0
            chosen.append(int(wanted.argmax()))
        return [points[i] for i in chosen]

    # --- all others ---

    def propose(self, count: int) -> list[Point]:
        """Up to `count` different points that were not tried; fewer only if fewer are left.

        Within a batch each choice counts as tried, with the result that the model expects: T. Desautels,
        A. Krause and J. W. Burdick, "Parallelizing Exploration-Exploitation Tradeoffs in Gaussian Process
        Bandit Optimization", JMLR 15, 2014.
        """
        valid, failed = self._take_notes()
        if len(self._valid) < LEAST_VALID:
            return self._memory.draw_many(count)
        self._level()
        self._hedge.learn(dict(zip(valid, self._levels.of(valid).tolist(), strict=True)), valid)
        self._update(valid, failed)
        chosen: list[Point] = []
        while len(chosen) < count and self._open.any():
            if chosen:
                # The one before counts as tried; the last one is told by its result.
                self._append(chosen[-1])
            turn = len(self._memory) + len(chosen)
            is_wide = self._explore > 0 and turn % self._explore == 0
            chosen.append(self._choose(is_wide=is_wide))
        if len(chosen) < count:
            taken = set(chosen)
            spare = [point for point in self._memory.draw_many(count) if point not in taken]
            chosen += spare[: count - len(chosen)]
        return chosen

    def _choose(self, *, is_wide: bool) -> Point:
        targets = self._levels.at(self._row_slots)
        if self.past:
            prediction = self._hedge.predict(self._process, targets, self._expected_rows, self._expected)
        else:
            prediction = self._process.predict(targets)
        score = log_expected_improvement(prediction, self._least, WIDENING if is_wide else 1.0)
        if self._is_valid:
            score += self._log_validity()
        if is_wide:
            score -= self._roundness * self._unround
        score[~self._open] = -inf
        best = int(score.argmax())
        point = self._pool[best]
        self._open[best] = False
        if self.past:
            self._hedge.bet(point, best)
        self._levels.put(self._levels.slots([point]), prediction.mean[best : best + 1])
        return point

    def _log_validity(self) -> Array:
        share = (len(self._valid) + 1.0) / (len(self._memory) + 1.0)
        return log_validity(self._failures.predict(np.array(self._is_valid) - share), share)

    # --- what is known ---

    def _take_notes(self) -> tuple[list[Point], list[Point]]:
        """The valid and the failed points that are new in the memory."""
        known = self._memory.known
        fresh = list(islice(known.items(), len(self._valid) + len(self._failed), None))
        valid = [point for point, cost in fresh if cost < inf]
        failed = [point for point, cost in fresh if cost == inf]
        self._valid += valid
        self._valid_slots += self._levels.slots(valid)
        self._costs += [cost for _, cost in fresh if cost < inf]
        self._failed += failed
        for point, _ in fresh:
            if (place := self._places.get(point)) is not None:
                self._open[place] = False
        return valid, failed

    def _level(self) -> None:
        """What the model learns of the valid points: the logarithm of their costs, the slowest quarter
        levelled, with mean 0 and spread 1.  Failed points keep what was expected of them.
        """
        values = winsorised(self._costs)
        self._levels.put(self._valid_slots, values)
        self._least = float(values.min())

    def _update(self, valid: Sequence[Point], failed: Sequence[Point]) -> None:
        count = len(self._valid)
        if count >= self._next_scales:
            rows = self._selection(ROWS_FOR_SCALES)
            levels = self._levels.of(rows)
            targets = standardised(levels - self._hedge.trust * self.past.expected(rows))
            self._process.learn_scales(self._table.rows(rows), targets, self._memory.rng)
            self._next_scales, self._next_pool = _later(count), 0
        if count >= self._next_pool or not self._open.any():
            self._renew()
            return
        conditioned = set(self._rows)
        for point in valid:
            if point not in conditioned:
                self._append(point)
        if failed and not self._is_valid:
            self._renew_failures()
        elif self._is_valid:
            self._is_valid += [1.0] * len(valid) + [0.0] * len(failed)
            for point in (*valid, *failed):
                self._failures.append(self._features(point))
        best = self._memory.best
        if best is not None and best not in self._surrounded:
            self._surround(best)

    def _append(self, point: Point) -> None:
        self._process.append(self._features(point))
        self._rows.append(point)
        self._row_slots += self._levels.slots([point])
        self._expected_rows = np.append(self._expected_rows, self.past.expected([point]))

    def _features(self, point: Point) -> Array:
        """The row of features of a point."""
        place = self._places.get(point)
        return self._table.rows([point])[0] if place is None else self._pool_rows[place]

    def _selection(self, limit: int) -> list[Point]:
        """All valid points, or the best of them and a random selection of the others."""
        ordered = sorted(self._valid, key=self._memory.known.__getitem__)
        return [ordered[place] for place in selection(len(ordered), limit, self._memory.rng)]

    # --- the pool ---

    def _renew(self) -> None:
        """A new pool, and a process of what is known."""
        known = self._memory.known
        ordered = sorted(self._valid, key=known.__getitem__)[:BEST_POINTS]
        candidates = dict.fromkeys(self._random_candidates())
        for point in ordered:
            candidates.update(dict.fromkeys(self._around(point)))
        self._pool = [point for point in candidates if point not in known]
        self._places = {point: place for place, point in enumerate(self._pool)}
        self._open = np.ones(len(self._pool), dtype=np.bool_)
        self._surrounded = set(ordered)
        self._rows = self._selection(ROWS_OF_MODEL)
        self._row_slots = self._levels.slots(self._rows)
        self._pool_rows = self._table.rows(self._pool)
        self._unround = self._table.unround(self._pool)
        self._process.condition(self._table.rows(self._rows), self._pool_rows)
        self._expected_rows = self.past.expected(self._rows)
        self._expected = self.past.expected(self._pool)
        self._renew_failures()
        self._add(self._likely())
        self._next_pool = len(self._valid) + min(max(RENEWAL, len(self._valid) // 5), LATEST_RENEWAL)

    def _renew_failures(self) -> None:
        """A process of what failed and what did not, once something did."""
        if not self._failed:
            return
        rng = self._memory.rng
        valid, failed = (
            part if len(part) <= ROWS_OF_FAILURES else rng.sample(part, ROWS_OF_FAILURES)
            for part in (self._valid, self._failed)
        )
        self._is_valid = [1.0] * len(valid) + [0.0] * len(failed)
        rows = self._table.rows([*valid, *failed])
        if len(self._memory) >= self._next_failures:
            self._next_failures = _later(len(self._memory))
            places = rng.sample(range(len(rows)), min(len(rows), ROWS_FOR_SCALES))
            labels = standardised([self._is_valid[place] for place in places])
            self._failures.learn_scales(rows[places], labels, rng)
        self._failures.condition(rows, self._pool_rows)

    def _random_candidates(self) -> list[Point]:
        """The whole space if it is small, else a part of a stock of random points, some of them new."""
        near, rng, size = self._memory.near, self._memory.rng, self._memory.space.size
        if size <= WHOLE_SPACE:
            self._stock = self._stock or [near.at(rank) for rank in range(size)]
            return self._stock
        count = FRESH_CANDIDATES if self._stock else RANDOM_CANDIDATES
        fresh = [near.at(rank) for rank in islice(self._ranks, count)]
        if not fresh and size > STOCK:
            self._ranks = shuffled_ranks(size, rng)
        if fresh:
            self._stock = [*self._stock, *fresh][-STOCK:]
            self._stock_rows = np.concatenate([self._stock_rows, self._table.rows(fresh)])[-STOCK:]
        return rng.sample(self._stock, min(RANDOM_CANDIDATES, len(self._stock)))

    def _around(self, point: Point) -> list[Point]:
        """Points near one, the same each time."""
        if (found := self._nearby.get(point)) is None:
            near, rng = self._memory.near, self._memory.rng
            single = near.hamming(point)
            found = single if len(single) <= SINGLE_CHANGES else rng.sample(single, SINGLE_CHANGES)
            steps = near.adjacent(point)
            for step in steps if len(steps) <= STEPS else rng.sample(steps, STEPS):
                found += near.adjacent(step, repair=False)
            for _ in range(NEAR_CANDIDATES):
                others = (near.random_near(point, rng), near.mutate(point, 2, rng))
                found += [other for other in others if other is not None]
            self._nearby[point] = found = [other for other in dict.fromkeys(found) if other != point]
        return found

    def _surround(self, point: Point) -> None:
        """Add what is near a point to the pool."""
        self._surrounded.add(point)
        self._add(self._around(point))

    def _likely(self) -> list[Point]:
        """Those of the stock that the mean of the model has among the best."""
        if not len(self._stock_rows):
            return []
        levels = self._levels.at(self._row_slots)
        self._process.fix(levels - self._hedge.trust * self._expected_rows)
        mean = self._process.mean_at(self._stock_rows)
        if self.past:
            mean += self._hedge.trust * self.past.expected(self._stock)
        return [self._stock[place] for place in np.argsort(mean, kind="stable")[:LIKELY_CANDIDATES]]

    def _add(self, points: Sequence[Point]) -> None:
        """Add points to the pool that are not known and not in it."""
        known, first = self._memory.known, len(self._pool)
        new = [p for p in dict.fromkeys(points) if p not in self._places and p not in known]
        if not new:
            return
        self._places.update((p, first + place) for place, p in enumerate(new))
        self._pool += new
        self._open = np.append(self._open, np.ones(len(new), dtype=np.bool_))
        rows = self._table.rows(new)
        self._pool_rows = np.concatenate([self._pool_rows, rows])
        self._unround = np.append(self._unround, self._table.unround(new))
        self._process.extend(rows)
        self._expected = np.append(self._expected, self.past.expected(new))
        if self._is_valid:
            self._failures.extend(rows)


class _Levels:
    """What a model learns of each point, or what it expected of it."""

    def __init__(self) -> None:
        self._slots: dict[Point, int] = {}
        self._values: Array = np.zeros(64)

    def slots(self, points: Sequence[Point]) -> list[int]:
        """Where the levels of some points are; they stay there."""
        return [self._slots.setdefault(point, len(self._slots)) for point in points]

    def put(self, slots: Sequence[int], values: Array) -> None:
        """Set the levels in some slots."""
        if len(self._slots) > len(self._values):
            self._values = np.append(self._values, np.zeros(2 * len(self._slots) - len(self._values)))
        self._values[slots] = values

    def at(self, slots: Sequence[int]) -> Array:
        """The levels in some slots."""
        return self._values[slots]

    def of(self, points: Sequence[Point]) -> Array:
        """The levels of some points, all of which have one."""
        return self._values[[self._slots[point] for point in points]]


def _later(count: int) -> int:
    """How many trials there are when the length scales are learned again."""
    return int(count * (GROWTH if count < LATE else LATE_GROWTH)) + 1
