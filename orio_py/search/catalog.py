"""The registry of searchers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from orio_py.core.diagnostics import fail
from orio_py.core.expr import Value
from orio_py.core.registry import Registry, did_you_mean
from orio_py.core.source import Position
from orio_py.search.base import Search, SearchContext
from orio_py.search.exhaustive import ExhaustiveOptions, exhaustive
from orio_py.search.options import read_options
from orio_py.search.random_search import RandomOptions, random_search
from orio_py.space.search_space import SearchSpace

Options = TypeVar("Options")


@dataclass(frozen=True, slots=True)
class SearcherEntry(Generic[Options]):
    """A searcher: its name, the names that Orio files use for it, what it does, and its options.

    `read` turns checked option names with their values into the searcher's option dataclass.
    """

    name: str
    other_names: tuple[str, ...]
    summary: str
    option_names: tuple[str, ...]
    read: Callable[[Mapping[str, Value], SearchSpace, Position | None], Options]
    search: Callable[[SearchContext, Options], Search]

    def start(self, context: SearchContext, position: Position | None = None) -> Search:
        """The running searcher.  Raises ORIO-P022 (unknown option), P023 (wrong value)."""
        prefixes = (self.name, *self.other_names)
        options = read_options(self.name, prefixes, self.option_names, context.options, position)
        return self.search(context, self.read(options, context.space, position))


_EXHAUSTIVE = SearcherEntry(
    "exhaustive",
    ("Exhaustive",),
    "every configuration, the last parameter changing fastest",
    ("start_coord",),
    ExhaustiveOptions.read,
    exhaustive,
)
_RANDOM = SearcherEntry(
    "random",
    ("Randomsearch", "Randomsimple", "Randomlocal", "Random"),
    "configurations drawn uniformly, none twice",
    (),
    RandomOptions.read,
    random_search,
)

SEARCHERS: Registry[SearcherEntry[ExhaustiveOptions] | SearcherEntry[RandomOptions]] = Registry(
    "searcher", ((entry.name, entry) for entry in (_EXHAUSTIVE, _RANDOM))
)

NOT_AVAILABLE = (
    "Annealing",
    "ChaosGA",
    "CUDACFG",
    "Direct",
    "Extern",
    "Firefly",
    "Mlsearch",
    "MSimplex",
    "Simplex",
    "ThreadBlock",
)
"""Searchers that Orio files name and that do not exist here."""


def find(
    name: str, position: Position | None = None
) -> SearcherEntry[ExhaustiveOptions] | SearcherEntry[RandomOptions]:
    """The searcher of a name, in any case of letters.  Raises ORIO-P020 (unknown), P021 (not available)."""
    table = {
        other.lower(): entry for entry in SEARCHERS.values() for other in (entry.name, *entry.other_names)
    }
    if (entry := table.get(name.lower())) is not None:
        return entry
    available = ", ".join(f"`{entry}`" for entry in SEARCHERS)
    if name.lower() in {other.lower() for other in NOT_AVAILABLE}:
        fail("ORIO-P021", f"the searcher `{name}` is not available; there are {available}", position)
    written = (other for entry in SEARCHERS.values() for other in (entry.name, *entry.other_names))
    fail(
        "ORIO-P020",
        f"there is no searcher `{name}`; there are {available}",
        position,
        help=did_you_mean(name, written),
    )


def start_search(name: str, context: SearchContext, position: Position | None = None) -> Search:
    """Find a searcher and start it.  Raises ORIO-P020 to P023."""
    return find(name, position).start(context, position)
