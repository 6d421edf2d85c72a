"""From bottlenecks to the changes of counters that relieve them, and from those to scores of configurations.

Sections 3.5.2 and 3.6 of the paper (see `orio_py.model.counters.table`), whose equations are named at each function.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from orio_py.model.counters.bottlenecks import INSTRUCTIONS, Bottleneck
from orio_py.model.counters.table import GpuCounter

Array = npt.NDArray[np.float64]

REACTION = 0.7
"""inst_reaction: bottlenecks of instructions below it are ignored (paper, section 3.5.2)."""
COMPUTE_BOUND_REACTION = 0.5
"""The same where the user says that the problem is bound by instructions (same place)."""
CUTOFF = -0.25
"""γ of equation 17."""
LEAST_WEIGHT, POWER = 0.0001, 8
"""The least weight and the exponent of equation 17; the largest weight is 2 to that power."""

_C = GpuCounter

_MEMORY: tuple[tuple[Bottleneck, GpuCounter], ...] = (
    (Bottleneck.DRAM_READ, _C.DRAM_RT),
    (Bottleneck.DRAM_WRITE, _C.DRAM_WT),
    (Bottleneck.L2_READ, _C.L2_RT),
    (Bottleneck.L2_WRITE, _C.L2_WT),
    (Bottleneck.SHARED_READ, _C.SHR_LT),
    (Bottleneck.SHARED_WRITE, _C.SHR_WT),
    (Bottleneck.TEXTURE, _C.TEX_RWT),
    (Bottleneck.LOCAL, _C.LOC_O),
)
_INSTRUCTIONS = (*INSTRUCTIONS, (Bottleneck.ISSUE, _C.INST_ISSUE_U))
_PARALLELISM = ((Bottleneck.IDLE_PROCESSORS, _C.SM_E), (Bottleneck.FEW_THREADS, _C.THREADS))


def instruction_change(bottleneck: float, reaction: float = REACTION) -> float:
    """Equation 15: nothing up to the threshold, from there on down to -1."""
    return 0.0 if bottleneck <= reaction else -(bottleneck - reaction) / (1 - reaction)


def required_changes(
    found: Mapping[Bottleneck, float], reaction: float = REACTION
) -> dict[GpuCounter, float]:
    """ΔPC: by how much each counter should change, from -1 to 1; changes of 0 are left out.

    Memory is relieved as far as it is a bottleneck, instructions by equation 15, and parallelism is raised.
    """
    changes = {name: -found.get(bottleneck, 0.0) for bottleneck, name in _MEMORY}
    changes |= {
        name: instruction_change(found.get(bottleneck, 0.0), reaction) for bottleneck, name in _INSTRUCTIONS
    }
    changes |= {name: found.get(bottleneck, 0.0) for bottleneck, name in _PARALLELISM}
    return {name: change for name, change in changes.items() if change != 0.0}


def scores(
    changes: Mapping[GpuCounter, float],
    profiled: Mapping[GpuCounter, float],
    candidates: Mapping[GpuCounter, Array],
) -> Array:
    """Equation 16: how far each candidate's counters differ from the profiled one's in the direction of ΔPC.

    Both sides are what a model predicts.  A counter that is 0 on either side, or that the model does not have,
    says nothing.  The difference is the candidate less the profiled one: printed the other way round, it would
    give high scores to what changes against ΔPC.
    """
    count = len(next(iter(candidates.values()))) if candidates else 0
    total = np.zeros(count)
    for name, change in changes.items():
        own, others = profiled.get(name, 0.0), candidates.get(name)
        if others is None or own == 0:
            continue
        used = others != 0
        total[used] += change * (others[used] - own) / (others[used] + own)
    return total


def weights(found: Array) -> Array:
    """Equation 17: scores as weights of a random choice, from 0.0001 to 256; a score of 0 has weight 1."""
    if not len(found):
        return np.zeros(0)
    least, most = min(float(found.min()), 0.0), max(float(found.max()), 0.0)
    raised = np.power(1.0 + np.maximum(found, 0.0) / most, POWER) if most > 0 else np.ones(len(found))
    # `1 - s / s_min` is 0 for the worst score; without negative scores there is none to lower.
    lowered = np.power(1.0 - np.minimum(found, 0.0) / least, POWER) if least < 0 else np.ones(len(found))
    chosen = np.where(found > 0, raised, np.maximum(LEAST_WEIGHT, lowered))
    return np.where(found <= CUTOFF, LEAST_WEIGHT, chosen)
