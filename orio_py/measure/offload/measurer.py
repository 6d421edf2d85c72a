"""What measures kernels of a device language on this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orio_py.kernel.backends import BACKENDS

if TYPE_CHECKING:
    from orio_py.measure.base import VariantEvaluator
    from orio_py.measure.evaluator import Evaluator
    from orio_py.spec.target import DeviceTime


@dataclass(frozen=True, slots=True)
class EmulationWish:
    """What is to be emulated of variants: their times on a GPU ('': on none, they are measured), and what limits them."""

    gpu: str = ""
    bottlenecks: bool = False


MEASURED = EmulationWish()
"""Nothing is emulated."""


@dataclass(frozen=True, slots=True)
class DeviceMeasurer:
    """How variants of a device language are measured.

    `evaluator` makes what measures them, given that of the original code, what ranks variants, a folder, and what is to
    be emulated; it raises EnvironmentProblem where nothing here can.  `devices` tells the
    devices apart, given the emulated GPU or '', `toolchain` what builds kernels besides the C compiler.  At most `most_jobs` variants
    are built at a time, if that is a number.  `emulates` gives the full name of a GPU that can be emulated, and raises
    DiagnosticError for others; None where no device of the language is emulated.  `missing` tells whether this machine has
    no device that times variants, and why, '' where it has one.
    """

    evaluator: Callable[[Evaluator, DeviceTime, Path, EmulationWish], VariantEvaluator]
    devices: Callable[[str], list[object]]
    toolchain: Callable[[], list[str]]
    most_jobs: int | None = None
    emulates: Callable[[str], str] | None = None
    missing: Callable[[], str] | None = None


def device_measurer(target: str) -> DeviceMeasurer | None:
    """The measurer of a target; None if its variants do not run on a device."""
    backend = BACKENDS.get(target)
    if backend is None:
        return None
    measurer = backend.load(backend.measurer)
    assert isinstance(measurer, DeviceMeasurer)
    return measurer
