"""Diagnostic codes ORIO-T…: fusing, splitting and reordering loops."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = ()
