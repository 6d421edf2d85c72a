"""Automatic performance tuning of annotated C kernels.

`tune`, `tensor`, `transform`, `check`, `space`, `predict`, `devices`, `emulate`, `verify`, `compile_tuned` and `apply_results` are the public Python API,
which the command line uses too; `parse_value` reads a parameter value as the specification language writes it,
`parse_setting` as `--set` has it; `orio_py.results` is the API on the results database, `orio_py.analysis` that on
what it tells, `orio_py.models` that on models which are trained from it.  They are loaded on first use, so that `orio --help` does not wait for the polyhedral library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orio_py import analysis as analysis
    from orio_py import models as models
    from orio_py import results as results
    from orio_py.api import (
        CheckReport,
        DeviceReport,
        EmulationOptions,
        EmulationReport,
        PredictOptions,
        PredictReport,
        SpaceReport,
        TensorReport,
        TransformReport,
        TuneOptions,
        TuneReport,
        VerifyReport,
        apply_results,
        check,
        compile_tuned,
        devices,
        emulate,
        plot_emulation,
        predict,
        space,
        tensor,
        transform,
        tune,
        verify,
    )
    from orio_py.frontend.expressions import parse_setting, parse_value

__version__ = "0.1.0"

__all__ = [
    "CheckReport",
    "DeviceReport",
    "EmulationOptions",
    "EmulationReport",
    "PredictOptions",
    "PredictReport",
    "SpaceReport",
    "TensorReport",
    "TransformReport",
    "TuneOptions",
    "TuneReport",
    "VerifyReport",
    "__version__",
    "apply_results",
    "check",
    "compile_tuned",
    "devices",
    "emulate",
    "parse_setting",
    "parse_value",
    "plot_emulation",
    "predict",
    "space",
    "tensor",
    "transform",
    "tune",
    "verify",
]


def __getattr__(name: str) -> object:
    """Load the API on first use."""
    if name in ("results", "analysis", "models"):
        return import_module(f"orio_py.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "orio_py.frontend.expressions" if name.startswith("parse_") else "orio_py.api"
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
