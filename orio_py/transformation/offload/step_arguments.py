"""The arguments that transformations which make kernels have in common: how they are given, and what each is for.

nd=2, workItemsPerGroup=[16, 4], registerTile=4, layout=['p:soa', 'A:column']
"""

from __future__ import annotations

from typing import NoReturn

from orio_py.core.expr import Value, show
from orio_py.ctree.nodes import Node
from orio_py.kernel.plan import Distribution, Layout, Layouts
from orio_py.transformation.arguments import boolean, optional_text, positive_int, text, wrong
from orio_py.transformation.base import refuse
from orio_py.transformation.entry import ArgumentSpec

Counts = tuple[int, ...] | None
"""One number per dimension, fastest first; None for the default."""

_LAYOUTS = "'row', 'column', 'aos' or 'soa', or a list such as ['p:soa', 'A:column']"
_WIDTHS = (1, 2, 4, 8, 16)


def counts(value: Value, name: str) -> Counts:
    """A number, or one per dimension.  Raises Refusal: ORIO-T010, T011."""
    return _listed(value, name, 3, "an integer, or a list of one for each of up to 3 dimensions")


def as_needed(value: Value, name: str) -> Counts:
    """As `counts`; 0 stands for as many as are needed, so that a tuning parameter can.  Raises as it does."""
    return None if value == 0 and not isinstance(value, bool) else counts(value, name)


def optional_factor(value: Value, name: str) -> int | None:
    """A number from 1 on, or none.  Raises Refusal: ORIO-T010, T011."""
    return None if value is None else positive_int(value, name)


def one_of(value: Value, name: str, allowed: tuple[int, ...], wanted: str) -> int:
    """One of some numbers.  Raises Refusal: ORIO-T010."""
    if isinstance(value, bool) or not isinstance(value, int) or value not in allowed:
        refuse("ORIO-T010", f"`{name}` is {show(value)}; it must be {wanted}", None, argument=name)
    return value


def _tile_counts(value: Value, name: str) -> Counts:
    """A number, or one per dimension and one for a block.  Raises Refusal: ORIO-T010, T011."""
    wanted = "an integer, or a list of one for each of up to 3 dimensions and one for a loop inside"
    return _listed(value, name, 4, wanted)


def _listed(value: Value, name: str, most: int, wanted: str) -> Counts:
    if isinstance(value, (list, tuple)) and 1 <= len(value) <= most:
        return tuple(positive_int(item, name) for item in value)
    if isinstance(value, (list, tuple)):
        wrong(name, wanted, value)
    return (positive_int(value, name),)


def _dimensions(value: Value, name: str) -> int | tuple[str, ...]:
    """A number of loops, or their indices.  Raises Refusal: ORIO-T010, T011."""
    if isinstance(value, (list, tuple)) and value:
        return tuple(text(item, name) for item in value)
    return positive_int(value, name)


def _spread(value: Value, name: str) -> Distribution:
    """Raises Refusal: ORIO-T010."""
    words = text(value, name)
    if words not in tuple(Distribution):
        wrong(name, "'strided' or 'blocked'", value)
    return Distribution(words)


def _march(value: Value, name: str) -> int:
    """A number from 0 on.  Raises Refusal: ORIO-T010, T011."""
    return 0 if value == 0 and not isinstance(value, bool) else positive_int(value, name)


def _vector_width(value: Value, name: str) -> int:
    """Raises Refusal: ORIO-T010."""
    if isinstance(value, bool) or not isinstance(value, int) or value not in _WIDTHS:
        wrong(name, "1, 2, 4, 8 or 16", value)
    return value


def _layout(value: Value, name: str) -> Layout | Layouts:
    """One layout for all arrays, or a list of `'array:layout'`.  Raises Refusal: ORIO-T010."""
    if isinstance(value, str) and ":" not in value:
        return _one_layout(value, value, name)
    entries = value if isinstance(value, (list, tuple)) else (value,)
    rest: list[Layout] = []
    named: dict[str, Layout] = {}
    for entry in entries:
        array, colon, words = entry.rpartition(":") if isinstance(entry, str) else ("", "", "")
        array = array.strip()
        if array in named or (colon and not array.isidentifier()) or (rest and not colon):
            wrong(name, _LAYOUTS, value)
        layout = _one_layout(words.strip(), value, name)
        if colon:
            named[array] = layout
        else:
            rest.append(layout)
    return Layouts(rest[0] if rest else Layout.ROW, tuple(named.items()))


def _one_layout(words: str, value: Value, name: str) -> Layout:
    if words == "aos":  # arrays of structures as C holds them
        return Layout.ROW
    if words not in tuple(Layout):
        wrong(name, _LAYOUTS, value)
    return Layout(words)


def excluded(one: str, two: str, why: str, node: Node) -> NoReturn:
    """Raises Refusal: ORIO-T144."""
    refuse("ORIO-T144", f"`{one}` and `{two}` are both given, and {why}", node, argument=two)


SHAPE = "integer, or list of one per dimension, fastest first"

LOOP = ArgumentSpec("loop", "index of a loop", "the loop; by default the outermost ones", optional_text, "''")
ND = ArgumentSpec(
    "nd",
    "1, 2 or 3, or a list of loop indices, slowest first",
    "which perfectly nested loops become dimensions of the index space",
    _dimensions,
    "1",
)
SPREAD = ArgumentSpec(
    "spread",
    "'strided' or 'blocked'",
    "how an item's iterations lie: far apart, or next to each other",
    _spread,
    "'strided'",
)
UNROLL = ArgumentSpec(
    "unrollInner",
    "integer, at least 1",
    "`#pragma unroll` before the kernel's innermost loops",
    optional_factor,
    "off",
)
STREAMS = ArgumentSpec(
    "streamCount",
    "integer from 1 to 32",
    "number of queues, each with a slice of the outermost loop",
    positive_int,
    "1",
)
TILE = ArgumentSpec(
    "localTile",
    "integer, or list of one per dimension, fastest first, and one for a loop inside",
    "iterations for which a group fills its tiles at once, multiples of its items",
    _tile_counts,
    "one per item",
)
REGISTERS = ArgumentSpec(
    "registerTile",
    SHAPE,
    "iterations that an item does side by side, with their values in registers",
    as_needed,
    "0, for one",
)
ROW = ArgumentSpec(
    "rowThreads",
    "integer, at least 1",
    "items of a group that do an iteration together, with the loops in it shared out",
    positive_int,
    "1",
)
MARCH = ArgumentSpec(
    "march",
    "integer, at least 0",
    "iterations of the slowest mapped loop that a group does one after the other, keeping what it has read; 0: none",
    _march,
    "0",
)
COPIES = ArgumentSpec(
    "cacheUpdates",
    "True or False",
    "each group updates a copy of its own of small arrays that several iterations update",
    boolean,
    "False",
)
VECTOR = ArgumentSpec(
    "vectorWidth",
    "1, 2, 4, 8 or 16",
    "iterations of the fastest dimension that an item does at once, in vectors",
    _vector_width,
    "1",
)
LAYOUT = ArgumentSpec(
    "layout",
    _LAYOUTS,
    "how the device holds matrices and arrays of structures; the host transposes them",
    _layout,
    "'row'",
)


def coarsen_spec(item: str) -> ArgumentSpec:
    """`coarsen`, in the language's word for an item."""
    what = f"iterations of the fastest dimension for each {item}"
    return ArgumentSpec("coarsen", "integer, at least 1", what, positive_int, "1")


def stage_spec(items: str, group: str, memory: str) -> ArgumentSpec:
    """`cacheBlocks`, in the language's words."""
    what = f"keep what several {items} of a {group} read, or lies apart, in {memory}"
    return ArgumentSpec("cacheBlocks", "True or False", what, boolean, "False")
