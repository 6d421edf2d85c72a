"""What the threads of a launch did: a trace, and that of each warp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orio_py.emulation.lanes import Array, Lanes

REPEAT = -1
"""In place of an instruction's number: the entries before are repeated."""

Entry = tuple[int, int, int, int]
"""An instruction's number, the group of warps that issue it, those of them that have a thread to execute it, and what its
memory access costs (0 without).  Or `REPEAT`, the number of entries before that are repeated, how often, and 0."""


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """What an access of one block costs, over all its warps: of that in the middle, where it takes part.

    `sectors` are pieces of 32 bytes that the warps touch, each counted once for a warp, and `passes` what the unit takes for it:
    lines of 128 bytes, or passes through the banks of shared memory.  `warps` have a thread that takes part.
    `addresses` are those of all threads that are followed, of which `threads` take part; `size` is that of an element.
    """

    sectors: int
    passes: int
    warps: int
    size: int
    addresses: Lanes
    threads: Array


@dataclass(frozen=True, slots=True)
class Trace:
    """The instructions that were executed, in their order, with loops shortened to what differs.

    `groups` are sets of warps (of all blocks that are followed) by number, `accesses` those to memory by place of the entry.
    `branches` are instructions whose way data decided, and how often; `unknown_addresses` accesses whose place is not known.
    """

    entries: Sequence[Entry]
    groups: Sequence[Array]
    accesses: Mapping[int, MemoryAccess]
    branches: Mapping[int, int]
    unknown_addresses: Mapping[int, int]
    executed: int


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part of a warp's trace that is repeated: `body` was executed before it and is `times` more."""

    body: tuple[Item, ...]
    times: int
    header: int


Item = tuple[int, int, bool] | Repeat
"""An instruction's number, the place of its entry, and whether the warp has a thread to execute it; or a part repeated."""


def warp_items(trace: Trace, warp: int) -> tuple[Item, ...]:
    """The trace of one warp."""
    belongs = [bool(group[warp]) for group in trace.groups]

    def items(first: int, after: int) -> tuple[Item, ...]:
        found: list[Item] = []
        for place in range(first, after):
            number, group, active, _ = trace.entries[place]
            if number == REPEAT:
                start = place - group
                body = items(start, place)
                if body:
                    found.append(Repeat(body, active, trace.entries[start][0]))
            elif belongs[group]:
                found.append((number, place, belongs[active]))
        return tuple(found)

    return items(0, len(trace.entries))


def warp_classes(trace: Trace, warps: Sequence[int]) -> Mapping[int, tuple[int, ...]]:
    """Warps with the same trace: the first of each class, and all of it."""
    columns = np.stack([np.asarray(group)[list(warps)] for group in trace.groups])
    found: dict[bytes, list[int]] = {}
    for place, warp in enumerate(warps):
        found.setdefault(columns[:, place].tobytes(), []).append(warp)
    return {members[0]: tuple(members) for members in found.values()}
