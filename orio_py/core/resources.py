"""Finds `grammars/` and `templates/`, in an installed wheel or in a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

PACKAGE = Path(__file__).resolve().parent.parent


def directory(kind: Literal["grammars", "templates"]) -> Path:
    """The folder of grammars or templates: the wheel's copy first, the checkout's second."""
    installed = PACKAGE / f"_{kind}"
    return installed if installed.is_dir() else PACKAGE.parent / kind
