"""How fast a GPU's resources are: a latency and a gap for each, every number with its source.

A resource takes one request every `gap` cycles, and an instruction that needs a result waits `latency` cycles after the
one that makes it was admitted (Hong et al. 2018, section 3.1).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from orio_py.core.registry import Registry
from orio_py.machine.catalog import DATA, gpu_model
from orio_py.machine.device import GpuModel

TIMINGS = DATA / "timing"
"""One file for each product."""

SECTOR_BYTES = 32
"""What second-level cache and memory move at a time, on all GPUs that are listed."""


class Resource(StrEnum):
    """What an instruction occupies.

    `is_shared_by_partitions` tells those that a multiprocessor has once; the others are in each of its partitions.  The gaps of
    `SHARED` and `L1` are for 128 bytes or less in one pass, those of `L2` and `DRAM` for a sector of 32 bytes at the
    multiprocessor's port: its share of the chip's bandwidth may be smaller.
    """

    FP32 = "fp32"
    ALU = "alu"
    IMAD = "imad"
    FP16 = "fp16"
    FP64 = "fp64"
    SFU = "sfu"
    TENSOR = "tensor"
    UNIFORM = "uniform"
    BRANCH = "branch"
    CONSTANT = "constant"
    SPECIAL = "special"
    BARRIER = "barrier"
    ATOMIC = "atomic"
    SHARED = "shared"
    L1 = "l1"
    L2 = "l2"
    DRAM = "dram"

    @property
    def is_shared_by_partitions(self) -> bool:
        """Whether the whole multiprocessor has it once."""
        return self in _ONCE

    @property
    def label(self) -> str:
        """The resource in reports."""
        return _LABELS[self]


_ONCE = frozenset(
    {
        Resource.BARRIER, Resource.ATOMIC, Resource.SHARED, Resource.L1, Resource.L2, Resource.DRAM,
    }
)  # fmt: skip

_LABELS = {
    Resource.FP32: "single precision",
    Resource.ALU: "integer and logic",
    Resource.IMAD: "integer multiply-add",
    Resource.FP16: "half precision",
    Resource.FP64: "double precision",
    Resource.SFU: "special functions and conversions",
    Resource.TENSOR: "tensor cores",
    Resource.UNIFORM: "uniform datapath",
    Resource.BRANCH: "branches",
    Resource.CONSTANT: "constant cache",
    Resource.SPECIAL: "special registers",
    Resource.BARRIER: "barriers",
    Resource.ATOMIC: "atomic operations",
    Resource.SHARED: "shared memory",
    Resource.L1: "first-level cache",
    Resource.L2: "second-level cache",
    Resource.DRAM: "device memory",
}


class Confidence(StrEnum):
    """How sure a number is."""

    CERTAIN = "certain"
    PUBLISHED = "published"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, how sure it is, and where it comes from."""

    value: float
    confidence: Confidence
    source: str


@dataclass(frozen=True, slots=True)
class ResourceTiming:
    """Latency and gap of a resource, in cycles."""

    latency: Figure
    gap: Figure


@dataclass(frozen=True, slots=True)
class GpuTiming:
    """A product that kernels can be emulated for.

    `schedulers` are those of a multiprocessor, each of which issues up to `issue_width` instructions in a cycle.
    `load_lanes` are the threads whose accesses to memory a multiprocessor takes in a cycle.  `l1_kib` is the memory that first-level cache and shared memory of a multiprocessor have together (on `sm_35` to `sm_61`
    the cache alone), `l2_kib` the cache that all multiprocessors share.  Bandwidths are those that were reached, not
    peaks, in 10^9 bytes per second.
    """

    name: str
    architecture: str
    multiprocessors: Figure
    clock_mhz: Figure
    schedulers: Figure
    issue_width: Figure
    load_lanes: Figure
    l1_kib: Figure
    l2_kib: Figure
    l2_gb_per_s: Figure
    dram_gb_per_s: Figure
    resources: Mapping[Resource, ResourceTiming]

    @property
    def model(self) -> GpuModel:
        """The limits of its architecture."""
        found = gpu_model(self.architecture)
        assert found is not None, f"no architecture {self.architecture}"
        return found

    @property
    def has_one_memory(self) -> bool:
        """Whether one unit moves the data of a multiprocessor's first-level cache and of its shared memory."""
        return int(self.architecture[3:]) >= 70

    @property
    def uncertain(self) -> tuple[str, ...]:
        """What is uncertain of it, such as `latency of sfu`."""
        chip = [name for name in _CHIP if getattr(self, name).confidence is Confidence.UNCERTAIN]
        parts = [
            f"{what} of {resource}"
            for resource, timing in self.resources.items()
            for what, figure in (("latency", timing.latency), ("gap", timing.gap))
            if figure.confidence is Confidence.UNCERTAIN
        ]
        return (*chip, *parts)


_CHIP = (
    "multiprocessors", "clock_mhz", "schedulers", "issue_width", "load_lanes", "l1_kib", "l2_kib", "l2_gb_per_s", "dram_gb_per_s",
)  # fmt: skip


@cache
def gpu_timings() -> Registry[GpuTiming]:
    """All products by name, those of older architectures first."""
    found = [read_timing(path) for path in TIMINGS.glob("*.toml")]
    found.sort(key=lambda timing: (int(timing.architecture.removeprefix("sm_")), timing.name))
    return Registry("GPU", [(timing.name, timing) for timing in found])


def gpu_timing(name: str) -> GpuTiming | None:
    """The product of this name, in any case, or the last one of an architecture (`sm_90`: the H200); None for others."""
    for timing in gpu_timings().values():
        if timing.name.lower() == name.lower():
            return timing
    model = gpu_model(name)
    of = [t for t in gpu_timings().values() if model is not None and t.architecture == model.architecture]
    return of[-1] if of else None


def read_timing(path: Path) -> GpuTiming:
    """The product that a file describes.

    Raises ValueError for a number without confidence or source, and for missing or unknown ones.
    """
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    sources: dict[str, str] = content["sources"]
    chip, resources = content["chip"], content["resources"]
    if set(chip) != set(_CHIP) or set(resources) != set(Resource):
        wrong = sorted((set(chip) ^ set(_CHIP)) | (set(resources) ^ set(Resource)))
        raise ValueError(f"{path.name}: missing or unknown: {', '.join(wrong)}")
    return GpuTiming(
        content["name"],
        content["architecture"],
        **{name: _figure(chip[name], sources, f"{path.name}: {name}") for name in _CHIP},
        resources={
            resource: ResourceTiming(
                _figure(resources[resource]["latency"], sources, f"{path.name}: {resource}"),
                _figure(resources[resource]["gap"], sources, f"{path.name}: {resource}"),
            )
            for resource in Resource
        },
    )


def _figure(table: Mapping[str, Any], sources: Mapping[str, str], where: str) -> Figure:
    source = sources.get(table.get("source", ""), "")
    if not source:
        raise ValueError(f"{where}: a number names no source")
    if table.get("confidence") not in tuple(Confidence):
        raise ValueError(f"{where}: a number tells no confidence")
    return Figure(float(table["value"]), Confidence(table["confidence"]), source)
