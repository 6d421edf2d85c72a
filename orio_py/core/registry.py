"""Tables from names to objects that answer an unknown name with the nearest known one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import TypeVar

T = TypeVar("T")

MOST_LISTED = 16
"""A table with more names than this is not listed in a message."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, or None when none is close."""
    table = {candidate.lower(): candidate for candidate in known}
    found = get_close_matches(name.lower(), table, n=1, cutoff=0.6)
    return table[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A help text that names the nearest known name, or lists a short table; None for a long one."""
    names = sorted(set(known))
    if (match := nearest(name, names)) is not None:
        return f"did you mean `{match}`?"
    return f"known names: {', '.join(names)}" if 0 < len(names) <= MOST_LISTED else None


class Registry(Mapping[str, T]):
    """An immutable table of named things of one kind."""

    def __init__(self, kind: str, entries: Iterable[tuple[str, T]]) -> None:
        """`kind` is the word used in messages.  Raises ValueError on a duplicate name."""
        self.kind = kind
        self._entries: dict[str, T] = {}
        for name, value in entries:
            if name in self._entries:
                raise ValueError(f"duplicate {kind} {name!r}")
            self._entries[name] = value

    def __getitem__(self, name: str) -> T:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
