"""The shape of a family of features."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from orio_py.features.profile import MachineTraits, WorkProfile

FeatureValues = Mapping[str, float]
"""Features by name, each in its own unit."""


@dataclass(frozen=True, slots=True)
class StaticVariant:
    """A variant as its features see it: what the host does, what its kernels do, and the compiler's words."""

    host: WorkProfile
    kernels: Sequence[WorkProfile]
    machine: MachineTraits
    command: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Feature:
    """A number that is known of a variant; `unit` is '' for pure numbers, `is_published` for those of the paper."""

    name: str
    unit: str
    meaning: str
    is_published: bool = False


@dataclass(frozen=True, slots=True)
class FeatureFamily:
    """Features that are computed together; `of_kernels` says whether of kernels or of C code."""

    name: str
    of_kernels: bool
    features: tuple[Feature, ...]
    compute: Callable[[StaticVariant], FeatureValues]
