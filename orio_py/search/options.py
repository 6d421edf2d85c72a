"""Reading a searcher's options: names are checked against those it has, values by kind and range.

A searcher's options are a frozen dataclass whose fields are made by `setting`, which names the kind of
each value; names, defaults and checks all come from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NoReturn, Protocol, TypeVar, cast

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, fail
from orio_py.core.expr import Value, show
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position
from orio_py.search_space.search_space import SearchSpace

Options = TypeVar("Options")

_KIND = "kind"


class OptionKind(Protocol):
    """What values an option takes."""

    def read(self, name: str, value: Value, space: SearchSpace, position: Position | None) -> object:
        """The value as the searcher wants it.  Raises ORIO-P023."""
        ...


def setting(default: Any, kind: OptionKind) -> Any:
    """A field of an option dataclass: its default, and the kind of its values."""
    return field(default=default, metadata={_KIND: kind})


def option_names(options: type[object]) -> tuple[str, ...]:
    """The names of the options of an option dataclass."""
    return tuple(f.name for f in fields(cast("Any", options)))


def read_settings(
    options: type[Options], given: Mapping[str, Value], space: SearchSpace, position: Position | None
) -> Options:
    """An option dataclass with the given values, which have names that it has.  Raises ORIO-P023."""
    kinds: dict[str, OptionKind] = {f.name: f.metadata[_KIND] for f in fields(cast("Any", options))}
    read = {
        name: kinds[name].read(name, value, space, position)
        for name, value in given.items()
        if value is not None
    }
    return options(**read)


@dataclass(frozen=True, slots=True)
class RealOption:
    """A number from `low` to `high`."""

    low: float
    high: float

    def read(self, name: str, value: Value, space: SearchSpace, position: Position | None) -> float:
        """The number.  Raises ORIO-P023."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            _refuse(name, value, f"a number from {self.low:g} to {self.high:g}", position)
        if not self.low <= value <= self.high:
            _refuse(name, value, f"a number from {self.low:g} to {self.high:g}", position)
        return float(value)


@dataclass(frozen=True, slots=True)
class Numbers:
    """A number from `low` to `high`, or a list of such numbers that are tried in turn."""

    low: float
    high: float

    def read(
        self, name: str, value: Value, space: SearchSpace, position: Position | None
    ) -> tuple[float, ...]:
        """The numbers.  Raises ORIO-P023."""
        values = value if isinstance(value, (list, tuple)) else [value]
        if not values:
            _refuse(name, value, "at least one number", position)
        one = RealOption(self.low, self.high)
        return tuple(one.read(name, item, space, position) for item in values)


@dataclass(frozen=True, slots=True)
class IntegerOption:
    """An integer from `low` to `high`."""

    low: int
    high: int

    def read(self, name: str, value: Value, space: SearchSpace, position: Position | None) -> int:
        """The integer.  Raises ORIO-P023."""
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            _refuse(name, value, f"an integer from {self.low} to {self.high}", position)
        return value


@dataclass(frozen=True, slots=True)
class Word:
    """One of a few words."""

    words: tuple[str, ...]

    def read(self, name: str, value: Value, space: SearchSpace, position: Position | None) -> str:
        """The word in small letters.  Raises ORIO-P023."""
        if not isinstance(value, str) or value.strip().lower() not in self.words:
            _refuse(name, value, f"one of {', '.join(f'`{word}`' for word in self.words)}", position)
        return value.strip().lower()


@dataclass(frozen=True, slots=True)
class WordsOption:
    """A list of different words out of a few, or a text with commas between them."""

    words: tuple[str, ...]

    def read(self, name: str, value: Value, space: SearchSpace, position: Position | None) -> tuple[str, ...]:
        """The words in small letters.  Raises ORIO-P023."""
        items = value.replace("+", ",").split(",") if isinstance(value, str) else value
        if not isinstance(items, (list, tuple)) or not items:
            _refuse(name, value, f"a list of {', '.join(f'`{word}`' for word in self.words)}", position)
        one = Word(self.words)
        return tuple(dict.fromkeys(one.read(name, item, space, position) for item in items))


@dataclass(frozen=True, slots=True)
class FileName:
    """The name of a file."""

    def read(self, name: str, value: Value, space: SearchSpace, position: Position | None) -> str:
        """The name.  Raises ORIO-P023."""
        if not isinstance(value, str) or not value:
            fail("ORIO-P023", f"`{name}` is {show(value)}; it needs the name of a file", position)
        return value


@dataclass(frozen=True, slots=True)
class Coordinate:
    """One place of each parameter's list."""

    def read(self, name: str, value: Value, space: SearchSpace, position: Position | None) -> tuple[int, ...]:
        """The places.  Raises ORIO-P023."""
        sizes = {parameter.name: len(parameter.values) for parameter in space.parameters}
        return read_coordinate(name, value, sizes, position)


def _refuse(name: str, value: Value, needed: str, position: Position | None) -> NoReturn:
    fail("ORIO-P023", f"`{name}` is {show(value)}; it needs {needed}", position)


def read_options(
    searcher: str,
    prefixes: Sequence[str],
    known: Sequence[str],
    options: Mapping[str, Value],
    position: Position | None,
) -> dict[str, Value]:
    """The options by their short names: `exhaustive_start_coord` is `start_coord` of `exhaustive`.

    Raises ORIO-P022 for every option that the searcher does not have.
    """
    found: dict[str, Value] = {}
    problems: list[Diagnostic] = []
    for written, value in options.items():
        name = _short(written, prefixes)
        if name in known:
            found[name] = value
        else:
            message = f"the searcher `{searcher}` has no option `{written}`"
            hint = did_you_mean(name, known) or f"`{searcher}` has no options"
            problems.append(Diagnostic("ORIO-P022", message, position, help=hint))
    if problems:
        raise DiagnosticError(*problems)
    return found


def _short(written: str, prefixes: Sequence[str]) -> str:
    name = written.strip().lower()
    for prefix in prefixes:
        if name.startswith(f"{prefix.lower()}_"):
            return name[len(prefix) + 1 :]
    return name


def read_coordinate(
    name: str, value: Value, sizes: Mapping[str, int], position: Position | None
) -> tuple[int, ...]:
    """A list with one place per parameter, each a valid place in that parameter's list.

    Raises ORIO-P023.
    """
    if not isinstance(value, (list, tuple)) or len(value) != len(sizes):
        fail(
            "ORIO-P023",
            f"`{name}` is {show(value)}; it needs a list of {len(sizes)} integers, one per parameter",
            position,
            help=f"the parameters are {', '.join(sizes)}" if sizes else None,
        )
    places: list[int] = []
    for item, (parameter, size) in zip(value, sizes.items(), strict=True):
        if not isinstance(item, int) or isinstance(item, bool) or not 0 <= item < size:
            fail(
                "ORIO-P023",
                f"`{name}` has {show(item)} for `{parameter}`; it needs an integer from 0 to {size - 1}",
                position,
            )
        places.append(item)
    return tuple(places)
