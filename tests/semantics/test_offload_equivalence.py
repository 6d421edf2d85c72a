"""Random kernels leave what their loops leave; a share of what `benchmarks/opencl_equivalence.py` compares."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from offload_equivalence import SIZES, Memory, Refusal, Variant, compared, difference, offloaded
from opencl_runs import opencl
from random_kernels import random_kernel

from orio_py.transform.offload.plan import Direction, KernelPlan

FAST = ("-cl-opt-disable",)


def variants(first: int, count: int) -> list[Variant]:
    """The first cases from a seed on that are not refused."""
    found: list[Variant] = []
    seed = first
    while len(found) < count:
        with suppress(Refusal):
            found.append(offloaded(seed, random_kernel(seed)))
        seed += 1
    return found


def test_a_seed_gives_the_same_case_each_time() -> None:
    assert [random_kernel(seed) for seed in range(20)] == [random_kernel(seed) for seed in range(20)]


def test_random_kernels_compute_what_their_loops_compute(tmp_path: Path) -> None:
    opencl()
    steps = list(compared(variants(100, 16), tmp_path, FAST))
    assert [step for step in steps if step.kind == "wrong"] == []
    ended = [step for step in steps if step.kind == "same"]
    assert len(ended) == 16
    assert sum(step.launches for step in ended) > 32


def unread(plan: KernelPlan) -> KernelPlan:
    """Without copying to the device what is read and written there."""
    buffers = tuple(
        replace(buffer, direction=Direction.OUT) if buffer.direction is Direction.INOUT else buffer
        for buffer in plan.buffers
    )
    return replace(plan, buffers=buffers)


def other_identity(plan: KernelPlan) -> KernelPlan:
    """With reductions that start at another value."""
    return replace(plan, reductions=tuple(replace(r, identity="3") for r in plan.reductions))


def adds(variant: Variant) -> bool:
    """Whether there is a sum, which shows each wrong start; a product of integers may end at 0."""
    return any(r.operator == "+" for plan in variant.plans for r in plan.reductions)


def updates(variant: Variant) -> bool:
    """Whether a kernel reads elements that it writes."""
    inout = any(b.direction is Direction.INOUT for plan in variant.plans for b in plan.buffers)
    return inout and any(step in variant.kernel.code for step in ("] += ", "] -= "))


@pytest.mark.parametrize(("change", "concerned"), [(unread, updates), (other_identity, adds)])
def test_wrong_plans_are_noticed(
    tmp_path: Path, change: Callable[[KernelPlan], KernelPlan], concerned: Callable[[Variant], bool]
) -> None:
    opencl()
    chosen = [variant for variant in variants(700, 12) if concerned(variant)][:3]
    steps = list(compared(chosen, tmp_path, FAST, change=change))
    assert [step.kind for step in steps if step.kind != "at"] == ["wrong"] * len(chosen)
    assert chosen


def test_a_difference_is_said_with_its_place() -> None:
    variant = next(variant for variant in variants(100, 8) if variant.kernel.exact)
    one, two = Memory(variant, SIZES[3]), Memory(variant, SIZES[3])
    assert difference(variant, one, two) is None
    name = next(iter(two.parts))
    two.parts[name][2] += 1
    assert (difference(variant, one, two) or "").startswith(f"{name}[2] is ")
