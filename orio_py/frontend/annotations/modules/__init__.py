"""The annotation modules there are: for each with a language of its own one module below this package and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.frontend.annotations.module import MissingModule, Module, PlainModule, TuningModule
from orio_py.frontend.annotations.modules import chill, loop

_MISSING = "Align BTO CUDA Inline Matrix OpenCL OrTil OrTilDriver Pluto PolySyn SpMV Splingo Tilic"

MODULES: Mapping[str, Module] = {
    module.name: module
    for module in (
        TuningModule("PerfTuning"),
        loop.MODULE,
        chill.MODULE,
        PlainModule("Preserve"),
        PlainModule("SimplyRewrite"),
        MissingModule("Loops", instead="Loop"),
        *map(MissingModule, _MISSING.split()),
    )
}
"""Every name that can stand in a leader."""


def available() -> tuple[str, ...]:
    """The names of the modules that are understood."""
    return tuple(name for name, module in MODULES.items() if not isinstance(module, MissingModule))
