"""One point of a search space."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import cast

from orio_py.core.digest import digest
from orio_py.core.expr import Value, show


def value_key(value: Value) -> Hashable:
    """A hashable stand-in for a value that keeps types apart: `1`, `1.0` and `True` all differ.

    >>> value_key(1) == value_key(True)
    False
    """
    if isinstance(value, (list, tuple)):
        return (type(value), *(value_key(item) for item in value))
    return (type(value), repr(value) if isinstance(value, float) else value)


class Configuration(Mapping[str, Value]):
    """Parameter names with one value each, in order; immutable, hashable, compared by content.

    Two configurations are equal when they give the same values, of the same types, to the same names.

    >>> print(Configuration({"U_I": 4, "CFLAGS": "-O2"}).show())
    U_I=4, CFLAGS='-O2'
    """

    __slots__ = ("_hash", "_values")

    def __init__(self, values: Mapping[str, Value] | Iterable[tuple[str, Value]] = ()) -> None:
        self._values: dict[str, Value] = dict(values)
        self._hash: int | None = None

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Configuration):
            return self._keys() == other._keys()
        return isinstance(other, Mapping) and self._values == other

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._keys().items()))
        return self._hash

    def __reduce__(self) -> tuple[type[Configuration], tuple[dict[str, Value]]]:
        # Without the hash: another process has another one for the same text.
        return Configuration, (self._values,)

    def __repr__(self) -> str:
        return f"Configuration({self.show()})"

    def _keys(self) -> dict[str, Hashable]:
        return {name: value_key(value) for name, value in self._values.items()}

    @property
    def digest(self) -> str:
        """The content digest; it does not depend on the order of the names."""
        return digest(self.as_json())

    def as_json(self) -> dict[str, object]:
        """The values as JSON content that keeps their types; `from_json` reads it."""
        return {name: value_as_json(value) for name, value in self._values.items()}

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Configuration:
        """The configuration that `as_json` wrote.  Raises ValueError for what is not a value.

        >>> Configuration.from_json(Configuration({"T": (1, 2.5), "F": "-O2"}).as_json()).show()
        "T=(1, 2.5), F='-O2'"
        """
        return cls({name: value_from_json(value) for name, value in content.items()})

    def show(self) -> str:
        """`NAME=VALUE, …` as a person would write it."""
        return ", ".join(f"{name}={show(value)}" for name, value in self._values.items())


def value_as_json(value: Value) -> object:
    """A value as JSON content: tuples and floats that JSON lacks are wrapped in an object."""
    if isinstance(value, list):
        return [value_as_json(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [value_as_json(item) for item in value]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    return value


def value_from_json(content: object) -> Value:
    """The value that `value_as_json` wrote.  Raises ValueError."""
    if isinstance(content, bool | int | float | str):
        return content
    if isinstance(content, list):
        return [value_from_json(item) for item in cast("list[object]", content)]
    wrapped = cast("dict[str, object]", content) if isinstance(content, dict) else {}
    if isinstance(items := wrapped.get("tuple"), list):
        return tuple(value_from_json(item) for item in cast("list[object]", items))
    if isinstance(text := wrapped.get("float"), str):
        return float(text)
    raise ValueError(f"{content!r} is not the value of a parameter")
