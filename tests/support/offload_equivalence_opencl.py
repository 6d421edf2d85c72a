"""Random kernels in OpenCL beside the loops that they stand for; run in processes of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from offload_equivalence import (
    Build,
    Memory,
    Reach,
    Step,
    Variant,
    c_function,
    compared,
    definitions,
    offloaded,
)
from opencl_runs import PROBLEMS, Device, library
from random_kernels import random_kernel

from orio_py.ctree.emit import emit
from orio_py.kernel.plan import KernelPlan


def opencl_build(
    options: Sequence[str] = (), change: Callable[[KernelPlan], KernelPlan] | None = None
) -> Build:
    """What builds kernels with options of the device's compiler.

    `change` alters the plans of the kernels, to see that it is noticed.
    """
    return lambda variants, folder: _OpenclRunner(variants, folder, options, change)


def compared_seeds(
    seeds: Sequence[int], options: Sequence[str], change: Callable[[KernelPlan], KernelPlan] | None = None
) -> list[Step]:
    """In a worker process: the outcome of each case.  Raises AssertionError where one is wrong and none was changed."""
    chosen = [offloaded(seed, random_kernel(seed)) for seed in seeds]
    with TemporaryDirectory(prefix="orio-random-") as folder:
        steps = [
            step
            for step in compared(chosen, Path(folder), opencl_build(options, change))
            if step.kind != "at"
        ]
    wrong = [step for step in steps if step.kind == "wrong"]
    assert change is not None or wrong == [], wrong
    return steps


class _OpenclRunner:
    def __init__(
        self,
        variants: Sequence[Variant],
        folder: Path,
        options: Sequence[str],
        change: Callable[[KernelPlan], KernelPlan] | None,
    ) -> None:
        plans = [plan for variant in variants for plan in variant.plans]
        built = [replace(change(plan), name=plan.name) for plan in plans] if change else plans
        self._device = Device(built, options)
        functions = (c_function(v.kernel, f"variant_{v.seed}", emit(v.tree, braces=True)) for v in variants)
        text = "\n".join([*definitions([v.kernel for v in variants]), *functions])
        self._library = library(text, built, self._device, folder, ["-w", "-O0"])

    @property
    def launches(self) -> int:
        """Of kernels so far."""
        return self._device.launches

    def ways(self, variant: Variant) -> Sequence[str]:
        """One function for each case."""
        return (f"variant_{variant.seed}",)

    def call(self, name: str, memory: Memory, reach: Reach) -> str | None:
        """Run a function, which may copy what lies in `reach`; what went wrong."""
        places = ((memory.parts[part].ctypes.data, bounds) for part, bounds in reach.items())
        self._device.arrays = [(place + low, place + high) for place, (low, high) in places]
        PROBLEMS.clear()
        memory.call(self._library[name])
        return f"{PROBLEMS[0]!r}" if PROBLEMS else None
