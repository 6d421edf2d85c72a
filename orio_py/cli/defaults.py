"""Options of `orio tune` and its relatives that a configuration file sets; the command line wins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import orio_py
from orio_py.cli.options import parse_duration, whole_number
from orio_py.core.diagnostics import DiagnosticError, fail
from orio_py.core.expr import Value
from orio_py.core.source import Position
from orio_py.tuning.files.configuration_file import (
    ConfigurationFile,
    FileOption,
    find_configuration_file,
    read_configuration_file,
)

_TEXTS = ("target", "search", "cc", "cluster")
_PATHS = ("spec", "keep", "compile-commands")
_LISTS = ("include", "exclude", "objective")
_DURATIONS = ("time", "timeout")
_NUMBERS = {"trials": 1, "seed": 0, "jobs": 1, "repeats": 1}

KEYS = (*_TEXTS, *_PATHS, *_LISTS, *_DURATIONS, *_NUMBERS, "set", "output", "in-place")
"""The keys of the file: the long options of `orio tune` that decide what it does."""


def configuration_for(paths: Sequence[Path]) -> ConfigurationFile:
    """The configuration file that applies to the first of the paths.  Raises ORIO-U031, U032."""
    found = find_configuration_file(paths[0]) if paths and paths[0].exists() else None
    return read_configuration_file(found, KEYS) if found is not None else ConfigurationFile()


def with_defaults(chosen: orio_py.TuneOptions, file: ConfigurationFile) -> orio_py.TuneOptions:
    """The options with what the file says where the command line says nothing.

    Raises DiagnosticError ORIO-U004, U005, at the key of the file.
    """
    readers: dict[str, Callable[[FileOption, str], object]] = {
        **dict.fromkeys(_TEXTS, _text),
        **dict.fromkeys(_PATHS, lambda option, key: file.folder / _text(option, key)),
        **dict.fromkeys(_LISTS, _texts),
        **dict.fromkeys(_DURATIONS, lambda option, key: _at(option, parse_duration)),
    }
    for name, least in _NUMBERS.items():
        readers[name] = _number_reader(name, least)
    changes: dict[str, object] = {}
    for key, option in file.options.items():
        name = key.replace("-", "_")
        if key in readers and getattr(chosen, name) in (None, ()):
            changes[name] = readers[key](option, key)
    if "set" in file.options:
        changes["pins"] = {**_pins(file.options["set"]), **chosen.pins}
    return replace(chosen, **changes)  # pyright: ignore[reportArgumentType] - read by key


def chosen_output(
    output: Path | None, file: ConfigurationFile, *, in_place: bool
) -> tuple[Path | None, bool]:
    """Output and `--in-place` of the command line; the file's where it has neither.  Raises ORIO-U004."""
    configured = _output_of(file)
    return (output, in_place) if output is not None or in_place else configured


def _output_of(file: ConfigurationFile) -> tuple[Path | None, bool]:
    """The keys `output` and `in-place` of the file.  Raises ORIO-U004."""
    output = file.options.get("output")
    in_place = file.options.get("in-place")
    if in_place is not None and not isinstance(in_place.value, bool):
        fail("ORIO-U004", "`in-place` must be true or false", in_place.position)
    path = file.folder / _text(output, "output") if output is not None else None
    return path, bool(in_place is not None and in_place.value)


def _text(option: FileOption, key: str) -> str:
    if not isinstance(option.value, str) or not option.value:
        fail("ORIO-U004", f"`{key}` must be a text in quotes", option.position)
    return option.value


def _texts(option: FileOption, key: str) -> tuple[str, ...]:
    value = option.value
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    texts = tuple(value for value in values if isinstance(value, str))
    if len(texts) < len(values):
        fail("ORIO-U004", f"`{key}` must be a list of texts", option.position)
    return texts


def _number_reader(name: str, least: int) -> Callable[[FileOption, str], object]:
    read = whole_number(f"--{name}", least=least)
    return lambda option, _: _at(option, read)


def _pins(option: FileOption) -> Mapping[str, Value]:
    table = option.value
    if not isinstance(table, dict):
        fail("ORIO-U005", "`set` must be a table, such as `set = { U_I = 4 }`", option.position)
    values = cast("dict[str, object]", table)
    return {name: _value(value, option.position) for name, value in values.items()}


def _value(value: object, position: Position) -> Value:
    if isinstance(value, bool | int | float | str):
        return value
    fail("ORIO-U005", "`set` takes numbers, texts, true and false", position)


def _at(option: FileOption, read: Callable[[str], object]) -> object:
    """The value read as the command line reads it, with problems at the key of the file."""
    try:
        return read(str(option.value))
    except DiagnosticError as problem:
        raise DiagnosticError(*(replace(d, position=option.position) for d in problem.diagnostics)) from None
