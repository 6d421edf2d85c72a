"""Options that several commands share, and the reading of their values."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer

import orio_py
from orio_py.cli.console import Color
from orio_py.core.diagnostics import fail
from orio_py.core.expr import Value
from orio_py.core.registry import did_you_mean
from orio_py.core.streams import named_output
from orio_py.core.units import Seconds
from orio_py.spec.assumptions import Promise

Choice = TypeVar("Choice", bound=StrEnum)

_DURATION = re.compile(r"(?P<number>\d+(\.\d*)?|\.\d+)\s*(?P<unit>ms|s|sec|m|min|h)?", re.ASCII)
_UNITS = {"ms": 1e-3, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_LARGEST = 10**9


def parse_duration(text: str) -> Seconds:
    """`90s`, `10m`, `1.5h`, `250ms` or plain seconds.  Raises DiagnosticError: ORIO-U004.

    >>> parse_duration("1.5h")
    5400.0
    """
    match = _DURATION.fullmatch(text.strip())
    seconds = float(match["number"]) * _UNITS[match["unit"] or "s"] if match else 0.0
    if not 0.0 < seconds <= _LARGEST:
        found = f"`{text}` is not a duration; a positive number with an optional unit is needed"
        fail("ORIO-U004", found, help="for example `90s`, `10m`, `1.5h`, or plain seconds")
    return Seconds(seconds)


def whole_number(option: str, *, least: int) -> Callable[[str], int]:
    """A reader of whole numbers from `least` up.  The reader raises DiagnosticError: ORIO-U004."""

    def read(text: str) -> int:
        value = int(text) if re.fullmatch(r"[+-]?\d{1,18}", text.strip(), re.ASCII) else None
        if value is None or not least <= value <= _LARGEST:
            fail("ORIO-U004", f"`{option} {text}`: a whole number from {least} to {_LARGEST} is needed")
        return value

    return read


def one_of(option: str, choices: type[Choice]) -> Callable[[str], Choice]:
    """A reader of one of a few words.  The reader raises DiagnosticError: ORIO-U004."""

    def read(text: str) -> Choice:
        known = [choice.value for choice in choices]
        if text not in known:
            fail(
                "ORIO-U004",
                f"`{option} {text}`: one of {', '.join(known)} is needed",
                help=did_you_mean(text, known),
            )
        return choices(text)

    return read


def file_name(option: str) -> Callable[[str], str]:
    """A reader of the name of a file to write, which an option that follows is not.

    The reader raises DiagnosticError: ORIO-U004.
    """

    def read(text: str) -> str:
        if text.startswith("-") and text != "-":
            fail(
                "ORIO-U004",
                f"`{option} {text}`: the name of a file is needed, and this reads like an option",
                help=f"`{option} -` writes to stdout, `{option} ./{text}` to a file of that name",
            )
        return text

    return read


def parse_pins(settings: Sequence[str]) -> Mapping[str, Value]:
    """The parameters that `--set NAME=VALUE` pins.  Raises DiagnosticError: ORIO-U005 and ORIO-E…."""
    pins: dict[str, Value] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        name = name.strip()
        if not equals or not value.strip() or not _NAME.fullmatch(name):
            fail(
                "ORIO-U005",
                f"`--set {setting}`: it must read `--set NAME=VALUE`",
                help="for example `--set U_I=4`",
            )
        if name in pins:
            fail("ORIO-U005", f"`--set {setting}`: `{name}` is already set to `{pins[name]}`")
        pins[name] = orio_py.parse_setting(value.strip())
    return pins


def destination(option: str) -> Callable[[str], Path]:
    """A reader of the name of a file to write, with `-` for stdout.  The reader raises DiagnosticError: ORIO-U004."""

    def read(text: str) -> Path:
        return named_output(file_name(option)(text))

    return read


Paths = Annotated[
    list[Path],
    typer.Argument(metavar="PATH", help="Annotated C files, or folders that are searched for them."),
]
OutputPath = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        parser=destination("--output"),
        help="Where the result goes: a file for one input, a folder that mirrors the inputs for several, `-` for "
        "stdout. Without it, `name.c` gives `_name.c` beside it.",
    ),
]
InPlace = Annotated[
    bool, typer.Option("--in-place", help="Replace the code inside the regions of the input files.")
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        "--include",
        metavar="GLOB",
        help="Of folders, take only files whose path, name or folder matches; may be repeated.",
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="GLOB", help="Of folders, leave such files out; may be repeated."),
]
CompileCommandsPath = Annotated[
    Path | None,
    typer.Option(
        "--compile-commands",
        metavar="FILE",
        help="A compile_commands.json with the include paths and defines of each file; by default the one "
        "in the folder or in its `build`.",
    ),
]
Spec = Annotated[
    Path | None,
    typer.Option(
        "--spec", metavar="FILE", help="A tuning specification for regions that have none of their own."
    ),
]
Assume = Annotated[
    list[Promise] | None,
    typer.Option(
        "--assume",
        metavar="noalias|reassociate|calls|longer",
        parser=one_of("--assume", Promise),
        help="Promise of all regions that no arrays overlap, that sums may be formed in another order, that statements "
        "which call unknown functions may be executed in any order, or that arrays are longer than declared, as in the "
        "section `assumptions` of a specification; may be repeated.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Pin a parameter to a value; may be repeated."),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON on stdout instead of text.")]
JsonTarget = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE|-",
        parser=file_name("--json"),
        help="Write the results as JSON to a file, or to stdout for `-`.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print problems only.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print details, and the explanation of each problem.")
]
ColorOption = Annotated[
    Color,
    typer.Option(
        "--color",
        metavar="WHEN",
        parser=one_of("--color", Color),
        help="Colour the output: auto (on a terminal), always, never.",
    ),
]
Database = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="FILE|URL",
        help="The results database: a file, or postgresql://...; default: a file in the user's data folder.",
    ),
]


def default_database() -> Path:
    """The results database in the user's data folder, as the system at hand names that folder."""
    if sys.platform == "darwin":
        folder = Path.home() / "Library" / "Application Support"
    else:
        # An empty or relative value is to be ignored (XDG Base Directory Specification 0.8).
        named = os.environ.get("XDG_DATA_HOME", "")
        folder = Path(named) if os.path.isabs(named) else Path.home() / ".local" / "share"
    return folder / "orio" / "results.db"


def cache_folder() -> Path:
    """Our folder among the user's files that may be lost, as the XDG Base Directory Specification names it.

    Raises RuntimeError where nobody can say what the user's home folder is.
    """
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if os.path.isabs(named) else Path.home() / ".cache") / "orio_py"
