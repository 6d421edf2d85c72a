"""The last round: the best few and the original measured again, in turn, and the verdict.

Measurements of different variants are interleaved, in fresh processes, in an order shuffled anew each
round, so that a slow phase of the machine hits all of them.  The original wins unless the gain exceeds
the noise.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter

from orio_py.build.compiler import Artifact
from orio_py.core.units import Seconds
from orio_py.record.measurement import Clock, Failure, Measurement, Sample, Success, Timing
from orio_py.space.configuration import Configuration

ROUNDS = 7
FEWEST_ROUNDS = 3
LEAST_GAIN = 0.01
"""A gain below one per cent is not worth a change of code."""

SURE_ROUNDS = 5
"""Winning every one of this many rounds is beyond chance: 1 in 32 for equal variants (sign test)."""

MAD_TO_SIGMA = 1.4826
"""Scales a median absolute deviation to a standard deviation for normal noise (Rousseeuw, Croux 1993)."""


@dataclass(slots=True)
class Finalist:
    """A variant, or the original built as for that configuration, in the finals."""

    artifact: Artifact
    configuration: Configuration | None
    flags: str | None = None
    samples: list[Sample] = field(default_factory=list[Sample])
    rounds: list[Seconds] = field(default_factory=list[Seconds])
    failed: Failure | None = None

    def timing(self, clock: Clock) -> Timing:
        """All samples of all rounds."""
        return Timing.of(self.samples, clock)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The original and the best finalist after the finals, and whether the gain exceeds the noise."""

    original: Finalist
    best: Finalist | None
    wins: bool
    reason: str
    clock: Clock

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
) -> Verdict:
    """Measure everybody `ROUNDS` times (fewer, at least three, past `allowance` seconds) and judge."""
    everybody = [*originals, *finalists]
    start = perf_counter()
    for number in range(ROUNDS):
        if number >= FEWEST_ROUNDS and perf_counter() - start > allowance:
            break
        order = [f for f in everybody if f.failed is None]
        rng.shuffle(order)
        for finalist in order:
            _measure_once(finalist, measure, clock)
    return _judge(originals, finalists, clock)


def _measure_once(finalist: Finalist, measure: Callable[[Finalist], Measurement], clock: Clock) -> None:
    match measure(finalist):
        case Success(samples=samples):
            finalist.samples.extend(samples)
            finalist.rounds.append(Seconds(median(s.by(clock) for s in samples)))
        case Failure() as failure:
            finalist.failed = failure


def _judge(originals: Sequence[Finalist], finalists: Sequence[Finalist], clock: Clock) -> Verdict:
    standing = [f for f in originals if f.failed is None and f.rounds] or list(originals)
    original = min(standing, key=lambda f: median(f.rounds) if f.rounds else float("inf"))
    flags = _flags_remark(original, originals)
    valid = [f for f in finalists if f.failed is None and f.rounds]
    if not valid or not original.rounds:
        return Verdict(original, None, False, "no variant held up in the finals", clock)
    best = min(valid, key=lambda f: median(f.rounds))
    gains = [o - b for o, b in zip(original.rounds, best.rounds, strict=False)]
    gain = median(gains)
    noise = noise_of(gains)
    share = gain / median(original.rounds)
    if share < LEAST_GAIN:
        reason = (
            f"no variant was faster than the original{flags} by {LEAST_GAIN:.0%} or more (best: {share:+.1%})"
        )
        return Verdict(original, best, False, reason, clock)
    if not is_beyond_noise(gains):
        reason = f"the gain of {share:.1%} over the original{flags} is within the noise of {noise / median(original.rounds):.1%}"
        return Verdict(original, best, False, reason, clock)
    reason = f"faster by {share:.1%} in the median of {len(gains)} rounds, noise {noise / median(original.rounds):.1%}"
    return Verdict(original, best, True, reason, clock)


def noise_of(gains: Sequence[float]) -> float:
    """The spread of the gains over the rounds, as a standard deviation estimated robustly."""
    middle = median(gains)
    return MAD_TO_SIGMA * median(abs(gain - middle) for gain in gains)


def is_beyond_noise(gains: Sequence[float]) -> bool:
    """Whether the median gain exceeds the spread, or every one of enough rounds was won."""
    return median(gains) > noise_of(gains) or (len(gains) >= SURE_ROUNDS and min(gains) > 0)


def _flags_remark(original: Finalist, originals: Sequence[Finalist]) -> str:
    """Says with whose compiler flags the original was fastest, where they differed."""
    if len(originals) < 2 or original is originals[0] or original.flags is None:
        return ""
    return f" built with `{original.flags}`"
