"""Diagnostic codes ORIO-T…: register tiling and unrolling."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = ()
