"""Diagnostic codes ORIO-T…: scalars and buffers for array elements."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = ()
