"""Options that several `orio results` commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orio_py.cli import options as shared

File = Annotated[
    str | None,
    typer.Option("--file", metavar="FILE", help="Only trials of this file (its path, or the end of it)."),
]
Region = Annotated[
    str | None, typer.Option("--region", metavar="NAME", help="Only trials of the region with this name.")
]
Task = Annotated[
    str | None,
    typer.Option("--task", metavar="DIGEST", help="Only trials of this task (the beginning will do)."),
]

Objectives = Annotated[
    list[str] | None,
    typer.Option(
        "--objective",
        metavar="EXPRESSION",
        help="An objective over times and counters; give several (default: those of the trials).",
    ),
]


def database_place(db: str | None) -> Path | str:
    """The database named, else the one in the user's data folder."""
    return db if db is not None else shared.default_database()
