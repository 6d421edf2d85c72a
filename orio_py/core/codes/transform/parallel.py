"""Diagnostic codes ORIO-T…: threads, vectors and versions."""

from __future__ import annotations

from orio_py.core.codes.code import Code

CODES: tuple[Code, ...] = ()
