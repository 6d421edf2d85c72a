"""Random kernels that are not refused, and wrong ones among them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from offload_equivalence import Refusal, Variant, offloaded
from random_kernels import RandomKernel, random_kernel

from orio_py.kernel.plan import Direction, KernelPlan


def variants(first: int, count: int, draw: Callable[[int], RandomKernel] = random_kernel) -> list[Variant]:
    """The first cases from a seed on that are not refused."""
    found: list[Variant] = []
    seed = first
    while len(found) < count:
        with suppress(Refusal):
            found.append(offloaded(seed, draw(seed)))
        seed += 1
    return found


def unread(plan: KernelPlan) -> KernelPlan:
    """Without copying to the device what is read and written there."""
    buffers = tuple(
        replace(buffer, direction=Direction.OUT) if buffer.direction is Direction.INOUT else buffer
        for buffer in plan.buffers
    )
    return replace(plan, buffers=buffers)


def updates(variant: Variant) -> bool:
    """Whether a kernel reads elements that it writes."""
    inout = any(b.direction is Direction.INOUT for plan in variant.plans for b in plan.buffers)
    return inout and any(step in variant.kernel.code for step in ("] += ", "] -= "))
