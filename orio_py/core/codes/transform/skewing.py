"""Diagnostic codes ORIO-T…: skewing, bands of tiles, bounds."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = ()
