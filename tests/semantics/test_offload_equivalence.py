"""Random kernels leave what their loops leave; a share of what `benchmarks/opencl_equivalence.py` compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from device_process import each_on_device, on_device
from offload_equivalence import SIZES, Memory, Variant, difference
from offload_equivalence_opencl import compared_seeds
from offload_variants import unread, updates, variants
from random_kernels import random_kernel

from orio_py.kernel.plan import KernelPlan

FAST = ("-cl-opt-disable",)


def test_a_seed_gives_the_same_case_each_time() -> None:
    assert [random_kernel(seed) for seed in range(20)] == [random_kernel(seed) for seed in range(20)]


def test_random_kernels_compute_what_their_loops_compute() -> None:
    seeds = [variant.seed for variant in variants(100, 16)]
    steps = [step for found in each_on_device(compared_seeds, seeds, FAST) for step in found]
    assert [step.kind for step in steps] == ["same"] * 16
    assert sum(step.launches for step in steps) > 32


def other_identity(plan: KernelPlan) -> KernelPlan:
    """With reductions that start at another value."""
    return replace(plan, reductions=tuple(replace(r, identity="3") for r in plan.reductions))


def adds(variant: Variant) -> bool:
    """Whether there is a sum, which shows each wrong start; a product of integers may end at 0."""
    return any(r.operator == "+" for plan in variant.plans for r in plan.reductions)


@pytest.mark.parametrize(("change", "concerned"), [(unread, updates), (other_identity, adds)])
def test_wrong_plans_are_noticed(
    change: Callable[[KernelPlan], KernelPlan], concerned: Callable[[Variant], bool]
) -> None:
    seeds = [variant.seed for variant in variants(700, 12) if concerned(variant)][:3]
    steps = on_device(compared_seeds, seeds, FAST, change)
    assert [step.kind for step in steps] == ["wrong"] * len(seeds)
    assert seeds


def test_a_difference_is_said_with_its_place() -> None:
    variant = next(variant for variant in variants(100, 8) if variant.kernel.exact)
    one, two = Memory(variant, SIZES[3]), Memory(variant, SIZES[3])
    assert difference(variant, one, two) is None
    name = next(iter(two.parts))
    two.parts[name][2] += 1
    assert (difference(variant, one, two) or "").startswith(f"{name}[2] is ")
