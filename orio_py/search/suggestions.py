"""What a past suggests, beside a search that goes on as it would without one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from math import inf

from orio_py.search.base import PastSeries, Search, SearchContext
from orio_py.search.memory import Asking, Memory

OWN_PER_SUGGESTION = 5
"""After so many trials of its own a search tries one that the past suggests: a past costs a fifth more at most."""


def apart(context: SearchContext) -> SearchContext:
    """The same context with random numbers of its own, so that a search with the first one draws what it would."""
    copied = random.Random()
    copied.setstate(context.rng.getstate())
    return replace(context, rng=random.Random(copied.getrandbits(64)))


def with_suggestions(own: Search, memory: Memory, past: Sequence[PastSeries]) -> Asking[None]:
    """A search that hears of its own trials only, and between them what the past suggests after all trials.

    The search tries what it would without a past, in the same order, but for what was suggested before.  So
    wherever the past leads, nothing takes more than 1 + 1/`OWN_PER_SUGGESTION` times as many trials.
    The fastest of the past comes first, later what a model expects most of, until that dismisses the past.
    """
    # The numerical libraries take time to load, more than all else that is loaded to tune.
    from orio_py.search.acquisition_policy import LEAST_VALID, AcquisitionPolicy

    guide = AcquisitionPolicy(memory, past, explore=0)
    batch = next(own, None)
    tried = suggested = 0
    while batch is not None:
        costs = yield from memory.ask([memory.encoding.point(configuration) for configuration in batch])
        tried += len(batch)
        due = tried // OWN_PER_SUGGESTION - suggested
        if due > 0 and guide.follows_the_past:
            if not suggested or sum(cost < inf for cost in memory.known.values()) < LEAST_VALID:
                fastest = (point for point in guide.past.fastest() if point not in memory.known)
                points = list(islice(fastest, due))
            else:
                points = guide.propose(due)
            suggested += due
            yield from memory.ask(points)
        batch = own.send([None if cost == inf else cost for cost in costs])
