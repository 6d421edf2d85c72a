"""The annotation modules there are: for each with a language of its own one module below this package and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.frontend.annotations.module import MissingModule, Module, PlainModule, TuningModule
from orio_py.frontend.annotations.modules import align, chill, loop

_MISSING = "BTO CUDA Inline Matrix OpenCL Splingo Tilic"
_TILING = "OrTil OrTilDriver Pluto PolySyn"
_TILES = "transform Composite(tile=[('i', T, 'ii'), ('j', T, 'jj')], unrolljam=(['i', 'j'], [2, 2]))"
_SPARSE = (
    "transform Composite(openmp=(True, 'omp parallel for private(i, j, sum)')) for (i = 0; i < total_rows; i++) { sum = 0; "
    "transform Unroll(ufactor=6) for (j = ai[i]; j < ai[i + 1]; j++) sum += aa[j] * x[aj[j]]; y[i] = sum; }"
)

MODULES: Mapping[str, Module] = {
    module.name: module
    for module in (
        TuningModule("PerfTuning"),
        loop.MODULE,
        chill.MODULE,
        align.MODULE,
        PlainModule("Preserve"),
        PlainModule("SimplyRewrite"),
        MissingModule("Loops", instead="Loop"),
        *(MissingModule(name, instead="Loop", recipe=_TILES) for name in _TILING.split()),
        MissingModule("SpMV", instead="Loop", recipe=_SPARSE),
        *map(MissingModule, _MISSING.split()),
    )
}
"""Every name that can stand in a leader."""


def available() -> tuple[str, ...]:
    """The names of the modules that are understood."""
    return tuple(name for name, module in MODULES.items() if not isinstance(module, MissingModule))
