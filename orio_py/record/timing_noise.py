"""How steady the machine was while a session measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TimingNoise:
    """What a loop of fixed length, timed again and again between the batches, tells of the machine.

    `drift` is the relative difference between its slowest and its fastest CPU time: the processor's speed
    changed, or another thread shared the core.  `waiting` is the share of wall time in which the loop
    and the serial kernels did not run because other programs did.  `cpu` is the processor that the kernels were kept on, None
    where they were not.
    """

    readings: int
    drift: float
    waiting: float
    is_steady: bool
    remark: str
    cpu: int | None = None
