"""The last rounds: the best few measured again, then against the original, and the verdict.

Measurements of different variants are interleaved, in an order shuffled anew each round, so that a slow
phase of the machine hits all of them.  Heats narrow the field; in the finals each measurement is a fresh
process.  The original wins unless the gain is worth the change and beyond chance by the exact sign test
(Dixon and Mood 1946) over the rounds, corrected for the number of finalists (Bonferroni).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import comb
from statistics import median
from time import perf_counter

from orio_py.build.compiler import Artifact
from orio_py.core.units import Seconds
from orio_py.record.finals import FinalEntry
from orio_py.record.measurement import Clock, Failure, Measurement, Sample, Success, Timing
from orio_py.search_space.configuration import Configuration

HEATS = 3
IN_HEATS = 10
HEATS_WITHIN = 1.3
"""At most so many variants, within this factor of the best of the search, take part in the heats."""

FINALISTS = 3
FINALS_WITHIN = 1.05
"""At most so many variants, within this factor of the best of the heats, meet the original."""

ROUNDS = 10
FEWEST_ROUNDS = 6
"""Six rounds won out of six, with three finalists, have a probability of 3/64 between equal variants."""

FEWEST_ALONE = 5
"""Five rounds won out of five, with one finalist, have a probability of 1/32."""

CLEAR_GAIN = 0.1
"""A gain that is larger than this in each of the fewest rounds needs no further ones."""

LEAST_ALLOWANCE = Seconds(10.0)
"""What heats and finals may take at least before rounds are left out."""

LEAST_GAIN = 0.01
"""A gain below one per cent is not worth a change of code."""

LEVEL = 0.05
"""Significance level of the sign test."""


@dataclass(slots=True)
class Finalist:
    """A variant, or the original built as for that configuration, in the heats and finals."""

    artifact: Artifact
    configuration: Configuration | None
    flags: str | None = None
    samples: list[Sample] = field(default_factory=list[Sample])
    rounds: list[float] = field(default_factory=list[float])
    failed: Failure | None = None
    objective: float = 0.0
    taken: list[tuple[Sample, ...]] = field(default_factory=list[tuple[Sample, ...]])

    def entry(self, *, is_original: bool) -> FinalEntry:
        """What is stored of it."""
        values = self.configuration or Configuration()
        rounds, objectives = tuple(self.taken), tuple(self.rounds)
        return FinalEntry(is_original, values, rounds, objectives, self.flags, self.failed)

    def timing(self, clock: Clock) -> Timing:
        """All samples of all rounds."""
        return Timing.of(self.samples, clock)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The original and the best finalist after the finals, and whether the gain exceeds the noise.

    `entries` holds what was measured of all who took part.
    """

    original: Finalist
    best: Finalist | None
    wins: bool
    reason: str
    clock: Clock
    entries: tuple[FinalEntry, ...] = ()

    @property
    def speedup(self) -> float:
        """Original over best, by the medians of all samples."""
        if self.best is None:
            return 1.0
        return self.original.timing(self.clock).median_s / self.best.timing(self.clock).median_s


def hold_finals(
    originals: Sequence[Finalist],
    finalists: Sequence[Finalist],
    measure: Callable[[Finalist], Measurement],
    *,
    rng: random.Random,
    allowance: Seconds,
    clock: Clock,
    better: str = "faster",
) -> Verdict:
    """Measure everybody `ROUNDS` times, judge.

    There are fewer rounds, at least six or with one finalist five, past `allowance` seconds and where more could not
    change the verdict: no finalist can be beyond chance any more, or the best has gained much in all of them.
    Where by the first round six would take longer than that, the first of the finalists goes on alone.
    `better` is the word for a smaller objective.
    """
    everybody, left = [*originals, *finalists], list(finalists)
    start = perf_counter()
    for number in range(ROUNDS):
        spent = perf_counter() - start
        if number == 1 and spent * FEWEST_ROUNDS > allowance:
            left = [f for f in left if f.failed is None][:1]
        fewest = FEWEST_ALONE if len(left) == 1 else FEWEST_ROUNDS
        if number >= fewest and (spent > allowance or _is_decided(originals, left)):
            break
        _play_round([*originals, *left], measure, rng)
    entries = [f.entry(is_original=any(f is other for other in originals)) for f in everybody]
    return replace(_judge(originals, left, clock, better), entries=tuple(entries))


def hold_heats(
    ranked: Sequence[Finalist],
    measure: Callable[[Finalist], Measurement],
    *,
    rng: random.Random,
    allowance: Seconds,
    call: Seconds = Seconds(0.0),
) -> list[Finalist]:
    """The finalists: the best of a few interleaved rounds among those near the best of the search.

    Where one round alone would take longer than `allowance`, the original taking `call` seconds, the search decides.

    `ranked` is in the order of the search's measurements, the best first.  Returned are new finalists,
    without the measurements of the heats, by which they were chosen.
    """
    limit = HEATS_WITHIN * ranked[0].objective
    field_ = [f for f in ranked[:IN_HEATS] if f.objective <= limit]
    start = perf_counter()
    is_worth_it = len(field_) > FINALISTS and call * len(field_) <= allowance
    for _ in range(HEATS if is_worth_it else 0):
        if perf_counter() - start > allowance:
            break
        _play_round(field_, measure, rng)
    standing = sorted((f for f in field_ if f.failed is None), key=lambda f: f.objective)
    if not standing:
        return []
    best = [f for f in standing[:FINALISTS] if f.objective <= FINALS_WITHIN * standing[0].objective]
    return [Finalist(f.artifact, f.configuration, objective=f.objective) for f in best]


def _play_round(
    everybody: Sequence[Finalist], measure: Callable[[Finalist], Measurement], rng: random.Random
) -> None:
    order = [f for f in everybody if f.failed is None]
    rng.shuffle(order)
    for finalist in order:
        match measure(finalist):
            case Success() as success:
                finalist.samples.extend(success.samples)
                finalist.taken.append(success.samples)
                finalist.rounds.append(success.objective)
                finalist.objective = (
                    Success(tuple(finalist.samples), success.clock).time
                    if success.score is None
                    else median(finalist.rounds)
                )
            case Failure() as failure:
                finalist.failed = failure


def _is_decided(originals: Sequence[Finalist], finalists: Sequence[Finalist]) -> bool:
    """Whether the verdict stands before the last round."""
    original = _fastest(originals)
    valid = [f for f in finalists if f.failed is None and f.rounds]
    if not valid or not original.rounds:
        return True
    gains = {id(f): _gains(original, f) for f in valid}
    best = gains[id(min(valid, key=lambda f: f.objective))]
    if min(best) > CLEAR_GAIN:
        return True
    left = [1.0] * (ROUNDS - len(best))
    return all(chance_of([*of_one, *left], among=len(valid)) > LEVEL for of_one in gains.values())


def _fastest(originals: Sequence[Finalist]) -> Finalist:
    """The build of the original that is compared with."""
    standing = [f for f in originals if f.failed is None and f.rounds] or list(originals)
    return min(standing, key=lambda f: f.objective if f.rounds else float("inf"))


def _gains(original: Finalist, other: Finalist) -> list[float]:
    """The relative gain of each round."""
    return [_gain(o, b) for o, b in zip(original.rounds, other.rounds, strict=False)]


def _judge(
    originals: Sequence[Finalist], finalists: Sequence[Finalist], clock: Clock, better: str
) -> Verdict:
    original = _fastest(originals)
    flags = _flags_remark(original, originals)
    valid = [f for f in finalists if f.failed is None and f.rounds]
    if not valid or not original.rounds:
        return Verdict(original, None, False, "no variant held up in the finals", clock)
    best = min(valid, key=lambda f: f.objective)
    gains = _gains(original, best)
    share = median(gains)
    won, chance = sum(gain > 0 for gain in gains), chance_of(gains, among=len(valid))
    score = f"won {won} of {len(gains)} rounds, p = {chance:.2g} by the sign test"
    if share < LEAST_GAIN:
        reason = (
            f"no variant was {better} than the original{flags} by {LEAST_GAIN:.0%} or more "
            f"(best: {share:+.1%})"
        )
        return Verdict(original, best, False, reason, clock)
    if chance > LEVEL:
        reason = f"the gain of {share:.1%} over the original{flags} is within the noise: it {score}"
        return Verdict(original, best, False, reason, clock)
    return Verdict(original, best, True, f"{better} by {share:.1%} in the median: it {score}", clock)


def chance_of(gains: Sequence[float], *, among: int = 1) -> float:
    """The probability of so many gains above zero, or more, if gain and loss were equally likely.

    One-sided exact sign test; ties count as losses.  `among` is the number of variants of which the best
    was chosen: the result is multiplied by it (Bonferroni).

    >>> chance_of([0.1] * 9 + [-0.1])
    0.0107421875
    """
    rounds, won = len(gains), sum(gain > 0 for gain in gains)
    tail = sum(comb(rounds, k) for k in range(won, rounds + 1)) / 2**rounds
    return min(1.0, among * tail)


def _gain(original: float, best: float) -> float:
    """The relative gain; counters, unlike times, may be zero."""
    if original > 0.0:
        return (original - best) / original
    return 0.0 if best <= original else -1.0


def _flags_remark(original: Finalist, originals: Sequence[Finalist]) -> str:
    """Says with whose compiler flags the original was fastest, where they differed."""
    if len(originals) < 2 or original is originals[0] or original.flags is None:
        return ""
    return f" built with `{original.flags}`"
