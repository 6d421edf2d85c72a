"""Diagnostic codes ORIO-T…: recipes by statement number."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = ()
