"""The module names that can stand in a leader."""

from __future__ import annotations

MODULES = ("PerfTuning", "Loop", "CHiLL", "Preserve", "SimplyRewrite")
"""Modules that are understood; the last two keep the enclosed text as it is."""

WITH_CODE = frozenset({"Loop", "CHiLL"})
"""Modules whose regions hold code to transform."""

TRANSPARENT = frozenset({"Preserve", "SimplyRewrite"})

DEAD = (
    "Align",
    "BTO",
    "CUDA",
    "Inline",
    "Loops",
    "Matrix",
    "OpenCL",
    "OrTil",
    "OrTilDriver",
    "Pluto",
    "PolySyn",
    "SpMV",
    "Splingo",
    "Tilic",
)
"""Modules that Orio once had and that are not available here."""
