"""The public Python API: tune, transform, check and count, on files.

Problems that a user can cause are in the reports' `diagnostics`, never raised; `exit_code` says what a
command would return: 0 success, 2 bad input, 3 environment, 4 no valid variant, 130 interrupted.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orio_py.api.checking import CheckReport, check
    from orio_py.api.contractions import TensorReport, tensor
    from orio_py.api.counting import SpaceGroup, SpaceParameter, SpaceRegion, SpaceReport, space
    from orio_py.api.emulation import EmulationOptions, EmulationReport, emulate, plot_emulation
    from orio_py.api.machine import DeviceReport, devices
    from orio_py.api.prediction import PredictOptions, PredictReport, RankedRegion, RankedVariant, predict
    from orio_py.api.report import BAD_INPUT, ENVIRONMENT, INTERRUPTED, NO_VARIANT, OK, Paths, Report
    from orio_py.api.tuning import TuneReport, compile_tuned, tune
    from orio_py.api.verification import VerifyReport, verify
    from orio_py.api.writing import TransformReport, apply_results, transform
    from orio_py.tuning.options import TuneOptions

__all__ = [
    "BAD_INPUT",
    "ENVIRONMENT",
    "INTERRUPTED",
    "NO_VARIANT",
    "OK",
    "CheckReport",
    "DeviceReport",
    "EmulationOptions",
    "EmulationReport",
    "Paths",
    "PredictOptions",
    "PredictReport",
    "RankedRegion",
    "RankedVariant",
    "Report",
    "SpaceGroup",
    "SpaceParameter",
    "SpaceRegion",
    "SpaceReport",
    "TensorReport",
    "TransformReport",
    "TuneOptions",
    "TuneReport",
    "VerifyReport",
    "apply_results",
    "check",
    "compile_tuned",
    "devices",
    "emulate",
    "plot_emulation",
    "predict",
    "space",
    "tensor",
    "transform",
    "tune",
    "verify",
]

_HOMES = {
    "checking": ("CheckReport", "check"),
    "contractions": ("TensorReport", "tensor"),
    "counting": ("SpaceGroup", "SpaceParameter", "SpaceRegion", "SpaceReport", "space"),
    "emulation": ("EmulationOptions", "EmulationReport", "emulate", "plot_emulation"),
    "machine": ("DeviceReport", "devices"),
    "prediction": ("PredictOptions", "PredictReport", "RankedRegion", "RankedVariant", "predict"),
    "report": ("BAD_INPUT", "ENVIRONMENT", "INTERRUPTED", "NO_VARIANT", "OK", "Paths", "Report"),
    "tuning": ("TuneReport", "compile_tuned", "tune"),
    "verification": ("VerifyReport", "verify"),
    "writing": ("TransformReport", "apply_results", "transform"),
}


def __getattr__(name: str) -> object:
    """Load the module of a function on first use: no command waits for what it does not need."""
    if name == "TuneOptions":
        return import_module("orio_py.tuning.options").TuneOptions
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
