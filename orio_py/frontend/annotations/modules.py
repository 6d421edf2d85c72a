"""The module names that can stand in a leader."""

from __future__ import annotations

MODULES = ("PerfTuning", "Loop", "Preserve", "SimplyRewrite")
"""Modules that are understood; the last two keep the enclosed text as it is."""

TRANSPARENT = frozenset({"Preserve", "SimplyRewrite"})

DEAD = (
    "Align",
    "BTO",
    "CHiLL",
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
