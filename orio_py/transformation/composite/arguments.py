"""Turns the values of Composite's keys into steps of its schedule.

Most keys hold entries that list a transformation's arguments in order; they are checked by the converters
of that transformation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from orio_py.core.expr import Value
from orio_py.kernel.backend import Backend
from orio_py.transformation.arguments import (
    boolean,
    loop_name,
    new_index,
    positive_int,
    sequences,
    text,
    texts,
    unroll_factors,
    wrong,
)
from orio_py.transformation.base import Refusal, Transformation
from orio_py.transformation.composite.steps import Loops, Named, Over, ScheduleStep
from orio_py.transformation.entry import Entry
from orio_py.transformation.parallel import parallelize, vectorize
from orio_py.transformation.parallel.openmp import OpenMP
from orio_py.transformation.parallel.pragma import Pragma
from orio_py.transformation.parallel.pragma_text import pragma_lines
from orio_py.transformation.parallel.vector import Vector
from orio_py.transformation.restructuring import distribute, fuse, interchange, reverse
from orio_py.transformation.restructuring.strip_mine import StripMine
from orio_py.transformation.storage import array_copy, bound_replace, prefetch, scalar_replace
from orio_py.transformation.tiling import skew, tile
from orio_py.transformation.tiling.permute import Permut
from orio_py.transformation.tiling.tile import Tile
from orio_py.transformation.unrolling import peel
from orio_py.transformation.unrolling.reg_tile import RegTile
from orio_py.transformation.unrolling.unroll_and_jam import UnrollAndJam
from orio_py.transformation.unrolling.unroll_reduction import UnrollReduction
from orio_py.transformation.versions import restrict, specialize

Steps = tuple[ScheduleStep, ...]


def tiles(value: Value, name: str) -> Steps:
    """`[(loopid, tsize, newindex), …]`; with lists, a band of loops.  Raises Refusal: ORIO-T010, T011, T013."""
    return _tiles(Tile, value, name)


def strips(value: Value, name: str) -> Steps:
    """`[(loopid, tsize, newindex), …]`.  Raises Refusal: ORIO-T010, T011, T013."""
    steps = _tiles(StripMine, value, name)
    if not all(isinstance(step.loops, Named) for step in steps):
        wrong(name, "a list of (loopid, tsize, newindex)", value)
    return steps


def _tiles(transformation: type[Tile], value: Value, name: str) -> Steps:
    kind = "a list of (loopid, tsize, newindex)"
    steps: list[ScheduleStep] = []
    skipped: tuple[str, ...] = ()
    for item in _list(value, name, kind):
        if not isinstance(item, (list, tuple)) or len(item) != 3:
            wrong(name, kind, item)
        loop, size, index = item
        if isinstance(size, (list, tuple)):
            steps.append(_made(tile.ENTRY, ("loops", "tsize", "tindex"), item, name))
            continue
        wanted, size, index = loop_name(loop, name), positive_int(size, name), new_index(index, name)
        if size == 1:
            # A tile of one iteration is none: only the loop has to be there, or to be such a one.
            steps.append(ScheduleStep(None, Named(wanted, skipped)))
            skipped = (*skipped, index)
        else:
            steps.append(ScheduleStep(transformation(size, index), Named(wanted)))
    return tuple(steps)


def orders(value: Value, name: str) -> Steps:
    """`[[loops], …]`.  Raises Refusal: ORIO-T010."""
    return tuple(ScheduleStep(Permut(order)) for order in sequences(value, name))


def register_tiles(value: Value, name: str) -> Steps:
    """`([loops], [factors])`, unrolled as one nest.  Raises Refusal: ORIO-T010, T011, T016."""
    factors = [(loop, factor) for loop, factor in unroll_factors(value, name) if factor > 1]
    if not factors:
        return ()
    loops, numbers = zip(*factors, strict=True)
    return (ScheduleStep(RegTile(loops, numbers, optional=True)),)


def unrolled(transformation: Callable[[int], Transformation], value: Value, name: str) -> Steps:
    """`([loops], [factors])`, a step for each.  Raises Refusal: ORIO-T010, T011, T016."""
    factors = unroll_factors(value, name)
    return tuple(ScheduleStep(transformation(factor), Over(loop)) for loop, factor in factors if factor > 1)


def pragmas(value: Value, name: str) -> Steps:
    """`[(loopid, text or list of texts), …]`.  Raises Refusal: ORIO-T010."""
    steps: list[ScheduleStep] = []
    for item in _list(value, name, "a list of (loopid, text)"):
        if not isinstance(item, (list, tuple)) or len(item) != 2:
            wrong(name, "a list of (loopid, text)", item)
        loop, lines = loop_name(item[0], name), texts(item[1], name)
        steps.append(ScheduleStep(Pragma(lines) if pragma_lines(lines) else None, Named(loop)))
    return tuple(steps)


def flagged_texts(transformation: type[OpenMP | Vector], loops: Loops, value: Value, name: str) -> Steps:
    """`(bool, text or list of texts)`; nothing has to follow a False.  Raises Refusal: ORIO-T010."""
    if value is False:
        return ()
    if not isinstance(value, (list, tuple)) or not value:
        wrong(name, "(True or False, text)", value)
    if not boolean(value[0], name):
        return ()
    if len(value) != 2:
        wrong(name, "(True or False, text)", value)
    return (ScheduleStep(transformation(True, texts(value[1], name)), loops),)


def _on_loops(entry: Entry, names: Sequence[str], value: Value, name: str) -> Steps:
    """`[loopid, (loopid, …), …]`: a loop, and the other arguments of the transformation."""
    found: list[ScheduleStep] = []
    for item in _list(value, name, f"a list of loops, or of (loopid, {', '.join(names)})"):
        parts = item if isinstance(item, tuple) and len(item) > 1 and not _is_choice(item, names) else (item,)
        step = _made(entry, names, parts[1:], name)
        found.append(replace(step, loops=Named(loop_name(parts[0], name))))
    return tuple(found)


def _is_choice(item: tuple[Value, ...], names: Sequence[str]) -> bool:
    """Whether a tuple names alternatives of a loop, which it does where no argument is a text."""
    del names
    return all(isinstance(part, str) for part in item)


def _steps(entry: Entry, names: Sequence[str], value: Value, name: str) -> Steps:
    """`[(argument, …), …]`: a transformation for each."""
    kind = f"a list of ({', '.join(names)})"
    return tuple(
        _made(entry, names, item if isinstance(item, (list, tuple)) else (item,), name)
        for item in _list(value, name, kind)
    )


def _flagged_steps(entry: Entry, names: Sequence[str], value: Value, name: str) -> Steps:
    """`[(bool, argument, …), …]`: a transformation for each that is switched on."""
    found: list[ScheduleStep] = []
    for item in _list(value, name, f"a list of (True or False, {', '.join(names)})"):
        if not isinstance(item, (list, tuple)) or not item:
            wrong(name, f"a list of (True or False, {', '.join(names)})", value)
        if boolean(item[0], name):
            found.append(_made(entry, names, item[1:], name))
    return tuple(found)


def _switch(
    entry: Entry, names: Sequence[str], value: Value, name: str, *, loops: Loops = Loops.ITS_OWN
) -> Steps:
    """`bool` or `(bool, argument, …)`: the transformation, or nothing."""
    parts = value if isinstance(value, (list, tuple)) and value else (value,)
    if not boolean(parts[0], name):
        return ()
    return (replace(_made(entry, names, parts[1:], name), loops=loops),)


def fusions(value: Value, name: str) -> Steps:
    """`[[loops], ([loops], depth), …]`.  Raises Refusal: ORIO-T010."""
    found: list[ScheduleStep] = []
    for item in _list(value, name, "a list of lists of loops, or of ([loops], depth)"):
        parts = item if isinstance(item, tuple) and item and isinstance(item[0], (list, tuple)) else (item,)
        found.append(_made(fuse.ENTRY, ("loops", "depth"), parts, name))
    return tuple(found)


peels = partial(_on_loops, peel.ENTRY, ("first", "last"))
distributions = partial(_on_loops, distribute.ENTRY, ("groups",))
reversals = partial(_on_loops, reverse.ENTRY, ())
skews = partial(_steps, skew.ENTRY, ("loop", "by", "factor"))
interchanges = partial(_steps, interchange.ENTRY, ("first", "second"))
array_copies = partial(_flagged_steps, array_copy.ENTRY, ("aref", "dimsizes", "suffix", "dtype"))
prefetches = partial(_flagged_steps, prefetch.ENTRY, ("aref", "distance", "locality", "write"))
scalars = partial(_switch, scalar_replace.ENTRY, ("dtype", "prefix"))
bounds = partial(_switch, bound_replace.ENTRY, ("lprefix", "uprefix"))
threads = partial(_switch, parallelize.ENTRY, ("schedule", "collapse", "num_threads"), loops=Loops.HEADS)
vectors = partial(_switch, vectorize.ENTRY, ("aligned", "alignment", "simdlen"))
promises = partial(_switch, restrict.ENTRY, ("arrays",))
jams = partial(unrolled, UnrollAndJam)
reductions = partial(unrolled, UnrollReduction)
openmp = partial(flagged_texts, OpenMP, Loops.HEADS)
vector = partial(flagged_texts, Vector, Loops.ITS_OWN)
versions = partial(_steps, specialize.ENTRY, ("on", "values", "aligned", "alignment"))


def kernels(backend: Backend, value: Value, name: str) -> Steps:
    """`bool`, `(bool, (argument, value), …)` or a value for each of the backend's `positions`.

    The transformation with these arguments, or nothing.  Raises Refusal: ORIO-T010, and what the arguments raise.
    """
    entry, example = backend.load(backend.transformation), backend.words.items
    is_list = isinstance(value, (list, tuple)) and bool(value) and not isinstance(value[0], bool)
    if not is_list or not backend.positions:
        return _kernels(entry, example, value, name)
    values = cast("Sequence[Value]", value)
    if len(values) != len(backend.positions):
        wrong(name, f"({', '.join(backend.positions)}), or (True, ('{example}', 64), …)", value)
    pairs = tuple(zip(backend.positions, values, strict=True))
    return _kernels(entry, example, (True, *pairs), name)


def _kernels(entry: Entry, example: str, value: Value, name: str) -> Steps:
    first, *pairs = value if isinstance(value, (list, tuple)) and value else (value,)
    if not boolean(first, name):
        return ()
    given: dict[str, Value] = {}
    for pair in pairs:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            wrong(name, f"True, or (True, ('{example}', 64), …)", value)
        argument, chosen = text(pair[0], name), pair[1]
        if entry.argument(argument) is None or argument == "force":
            wrong(name, f"made up of arguments of {entry.name}; `{argument}` is none", value)
        given[argument] = chosen
    try:
        return (ScheduleStep(entry.make(given), Loops.KERNELS),)
    except Refusal as refusal:
        raise Refusal(*refusal.diagnostics, argument=name) from None


def _made(entry: Entry, names: Sequence[str], parts: Sequence[Value], name: str) -> ScheduleStep:
    """The transformation with these arguments; what is wrong with one is wrong with the key."""
    if len(parts) > len(names):
        wrong(name, f"at most {len(names)} values ({', '.join(names)})", list(parts))
    missing = [a.name for a in entry.arguments if a.default is None and a.name not in names[: len(parts)]]
    if missing:
        wrong(name, f"({', '.join(names)}) with at least `{missing[-1]}`", list(parts))
    try:
        return ScheduleStep(entry.make(dict(zip(names, parts, strict=False))))
    except Refusal as refusal:
        raise Refusal(*refusal.diagnostics, argument=name) from None


def _list(value: Value, name: str, kind: str) -> Sequence[Value]:
    if not isinstance(value, (list, tuple)):
        wrong(name, kind, value)
    return value
