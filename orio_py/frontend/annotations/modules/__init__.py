"""The annotation modules there are: for each with a language of its own one module below this package and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.frontend.annotations.module import MissingModule, Module, PlainModule, TuningModule
from orio_py.frontend.annotations.modules import align, chill, loop, spmv, tensor

_MISSING = "BTO CUDA Inline Matrix OpenCL Splingo Tilic"
_TILING = "OrTil OrTilDriver Pluto PolySyn"
_TILES = "transform Composite(tile=[('i', T, 'ii'), ('j', T, 'jj')], unrolljam=(['i', 'j'], [2, 2]))"

MODULES: Mapping[str, Module] = {
    module.name: module
    for module in (
        TuningModule("PerfTuning"),
        loop.MODULE,
        chill.MODULE,
        align.MODULE,
        spmv.MODULE,
        tensor.MODULE,
        PlainModule("Preserve"),
        PlainModule("SimplyRewrite"),
        MissingModule("Loops", instead="Loop"),
        *(MissingModule(name, instead="Loop", recipe=_TILES) for name in _TILING.split()),
        *map(MissingModule, _MISSING.split()),
    )
}
"""Every name that can stand in a leader."""


def available() -> tuple[str, ...]:
    """The names of the modules that are understood."""
    return tuple(name for name, module in MODULES.items() if not isinstance(module, MissingModule))
