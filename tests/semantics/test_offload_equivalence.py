"""Random kernels leave what their loops leave; a share of what `benchmarks/opencl_equivalence.py` compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from offload_equivalence import SIZES, Memory, Variant, compared, difference
from offload_equivalence_opencl import opencl_build
from offload_variants import unread, updates, variants
from opencl_runs import opencl
from random_kernels import random_kernel

from orio_py.transform.offload.plan import KernelPlan

FAST = ("-cl-opt-disable",)


def test_a_seed_gives_the_same_case_each_time() -> None:
    assert [random_kernel(seed) for seed in range(20)] == [random_kernel(seed) for seed in range(20)]


def test_random_kernels_compute_what_their_loops_compute(tmp_path: Path) -> None:
    opencl()
    steps = list(compared(variants(100, 16), tmp_path, opencl_build(FAST)))
    assert [step for step in steps if step.kind == "wrong"] == []
    ended = [step for step in steps if step.kind == "same"]
    assert len(ended) == 16
    assert sum(step.launches for step in ended) > 32


def other_identity(plan: KernelPlan) -> KernelPlan:
    """With reductions that start at another value."""
    return replace(plan, reductions=tuple(replace(r, identity="3") for r in plan.reductions))


def adds(variant: Variant) -> bool:
    """Whether there is a sum, which shows each wrong start; a product of integers may end at 0."""
    return any(r.operator == "+" for plan in variant.plans for r in plan.reductions)


@pytest.mark.parametrize(("change", "concerned"), [(unread, updates), (other_identity, adds)])
def test_wrong_plans_are_noticed(
    tmp_path: Path, change: Callable[[KernelPlan], KernelPlan], concerned: Callable[[Variant], bool]
) -> None:
    opencl()
    chosen = [variant for variant in variants(700, 12) if concerned(variant)][:3]
    steps = list(compared(chosen, tmp_path, opencl_build(FAST, change)))
    assert [step.kind for step in steps if step.kind != "at"] == ["wrong"] * len(chosen)
    assert chosen


def test_a_difference_is_said_with_its_place() -> None:
    variant = next(variant for variant in variants(100, 8) if variant.kernel.exact)
    one, two = Memory(variant, SIZES[3]), Memory(variant, SIZES[3])
    assert difference(variant, one, two) is None
    name = next(iter(two.parts))
    two.parts[name][2] += 1
    assert (difference(variant, one, two) or "").startswith(f"{name}[2] is ")
