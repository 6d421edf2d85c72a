"""Abstract kernel emulation as published: Hong et al. 2018, Algorithm 1.

One scheduler, one instruction a cycle, resources with a latency and a gap.  What predictions are made with is
`orio_py.emulation.core`; this is the algorithm itself, and what the closed forms of section 3.2 hold for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PipelinedResource:
    """A resource: it takes a request every `gap` cycles, and gives a result `latency` cycles later."""

    latency: float
    gap: float


@dataclass(frozen=True, slots=True)
class AbstractInstruction:
    """An instruction of a warp: the resource that it needs, and the numbers of earlier ones whose results it needs."""

    resource: str
    needs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Issue:
    """An instruction of a warp, when it was issued and when its result was there."""

    warp: int
    instruction: int
    time: float
    finish: float


@dataclass(frozen=True, slots=True)
class AbstractEmulation:
    """The outcome: the time of the whole, how long each resource was active, and what was issued in that order."""

    time: float
    active: Mapping[str, float]
    issues: tuple[Issue, ...]


def emulate_abstractly(
    warps: Sequence[Sequence[AbstractInstruction]], resources: Mapping[str, PipelinedResource]
) -> AbstractEmulation:
    """Algorithm 1 for warps with these instructions.

    The published text looks for the least `earl_t` of all warps in line 18, but sets only that of the current one; here it
    is that of all.  A resource's active time grows by `min(t - start, latency)` when it is used again, as in line 24: the last
    use adds nothing.
    """
    finish = [[0.0] * len(warp) for warp in warps]
    current = [0] * len(warps)
    admit = dict.fromkeys(resources, float("-inf"))
    start = dict.fromkeys(resources, 0.0)
    active = dict.fromkeys(resources, 0.0)
    issues: list[Issue] = []

    def earliest(warp: int) -> float:
        if current[warp] == len(warps[warp]):
            return float("inf")
        needs = warps[warp][current[warp]].needs
        return max([time, *(finish[warp][need] for need in needs)])

    time, warp = 0.0, 0
    while any(current[w] < len(warps[w]) for w in range(len(warps))):
        if earliest(warp) > time:
            warp = min(range(len(warps)), key=earliest)
            time = earliest(warp)
            continue
        number = current[warp]
        name = warps[warp][number].resource
        resource = resources[name]
        finish[warp][number] = max(time, admit[name]) + resource.latency
        admit[name] = max(admit[name], time) + resource.gap
        active[name] += min(time - start[name], resource.latency)
        start[name] = time
        issues.append(Issue(warp, number, time, finish[warp][number]))
        current[warp] += 1
        time += 1
    last = [times[-1] for times in finish if times]
    return AbstractEmulation(max(last, default=0.0), active, tuple(issues))


def latency_limited_time(*, latency: float, gap: float, concurrency: int, phases: int) -> float:
    """Section 3.2 for `latency > concurrency * gap`: T = L P + (C - 1) G."""
    return latency * phases + (concurrency - 1) * gap


def throughput_limited_time(*, latency: float, gap: float, concurrency: int, phases: int) -> float:
    """Section 3.2 for `latency <= concurrency * gap`: T = L + (C P - 1) G."""
    return latency + (concurrency * phases - 1) * gap
