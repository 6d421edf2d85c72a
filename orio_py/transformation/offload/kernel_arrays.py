"""The arrays of a kernel, each in the layout that is asked for; of some the host has to find out which elements are used."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from orio_py.ctree.build import ident
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node
from orio_py.kernel.plan import Layout, Layouts
from orio_py.transformation.base import KnownRange, Refusal, note, refuse
from orio_py.transformation.offload.access_slice import AccessSlice, Uninspectable
from orio_py.transformation.offload.arguments import OffloadArguments
from orio_py.transformation.offload.buffers import Array, array, structures_array
from orio_py.transformation.offload.device_nest import DeviceNest
from orio_py.transformation.offload.element_accesses import ElementAccess
from orio_py.transformation.offload.inspected_array import InspectedArray
from orio_py.transformation.offload.inspection import Inspection, inspected_array
from orio_py.transformation.offload.ranges import Range
from orio_py.transformation.types import declaration


@dataclass(frozen=True, slots=True)
class KernelArrays:
    """The arrays by name, and the statements `before` the kernel that find out which elements of the `inspected` ones are
    used.
    """

    found: dict[str, Array]
    inspected: frozenset[str] = frozenset()
    before: tuple[Node, ...] = ()

    @classmethod
    def of(cls, nest: DeviceNest, arguments: OffloadArguments) -> KernelArrays:
        """What becomes of each array.  Raises Refusal: ORIO-T122, T124, T142."""
        outer = nest.mapped[0] if arguments.options.streams > 1 else None
        found: dict[str, Array] = {}
        refused: dict[str, Refusal] = {}
        spans: dict[str, Range] = {}
        before: list[Node] = []
        for name in nest.uses:
            try:
                found[name] = _array(name, nest, arguments, outer, None)
            except Refusal as refusal:
                known = refusal.diagnostics[0].code == "ORIO-T122" and nest.plain.context.inspects
                if not known or arguments.vector > 1:
                    raise
                refused[name] = refusal
        if refused:
            spans, before = _inspected(nest, refused)
        for name, span in spans.items():
            found[name] = _array(name, nest, arguments, outer, span)
        found = {name: found[name] for name in nest.uses}
        _require_layouts(nest.plain.node, arguments, found)
        return cls(found, frozenset(spans), tuple(before))

    def evenly_used(self, nest: DeviceNest) -> dict[str, list[ElementAccess]]:
        """The accesses to arrays of numbers of which it is known before where they are made."""
        apart = nest.plain.mixed.keys() | self.inspected
        return {name: found for name, found in nest.uses.items() if name not in apart}


def _array(
    name: str, nest: DeviceNest, arguments: OffloadArguments, outer: CanonicalLoop | None, span: Range | None
) -> Array:
    plain, what, uses = nest.plain, arguments.what, nest.uses[name]
    context, arithmetic = plain.context, nest.arithmetic
    if (mixed := plain.mixed.get(name)) is not None:
        return structures_array(
            mixed.declared, mixed.record, uses, nest.axes, arithmetic, what, context, outer=outer, span=span
        )
    layout = Layouts.given(arguments.layout).of(name)
    return array(
        name,
        uses,
        nest.axes,
        arithmetic,
        what,
        context,
        by_columns=layout is (Layout.SOA if name in plain.records else Layout.COLUMN),
        in_vectors=arguments.vector > 1,
        in_structures=name in plain.records,
        outer=None if name in plain.records else outer,
        span=span,
    )


def _inspected(nest: DeviceNest, refused: Mapping[str, Refusal]) -> tuple[dict[str, Range], list[Node]]:
    """The ranges of arrays in terms of variables, and the statements that set these.  Raises Refusal: the first given one."""
    plain, arithmetic = nest.plain, nest.arithmetic
    supply = plain.context.names(plain.node, nest.body)
    arrays: dict[str, InspectedArray] = {}
    spans: dict[str, Range] = {}
    for name in refused:
        declared = declaration(name, plain.context)
        assert declared is not None
        places = 1
        if name in plain.records:
            places = int(declared.dimensions[-1])
            declared = replace(declared, dimensions=declared.dimensions[:-1])
        elif name in plain.mixed:
            declared = plain.mixed[name].declared
        found = inspected_array(declared, plain.context, supply)
        known = plain.context.ranges.get(name)
        if known is not None and _is_known(nest, name, found, known):
            found = replace(found, first=known.first, last=known.last)
        else:
            arrays[name] = found
        ends = (arithmetic.opaque(ident(end)) for end in (found.first, found.last))
        low, high = ends
        spans[name] = Range((low,), (high,)).of_places(places)
    try:
        before = _found_out(nest, arrays).statements(supply) if arrays else []
    except Uninspectable as problem:
        raise _with_reason(next(iter(refused.values())), problem) from None
    return spans, [plain.restored(statement) for statement in before]


def _found_out(nest: DeviceNest, arrays: Mapping[str, InspectedArray]) -> Inspection:
    """The loops that find out which elements of arrays a nest uses.  Raises Uninspectable."""
    plain = nest.plain
    combined = {one.name for one in nest.shared.reductions}
    unreadable = plain.records | plain.mixed.keys()
    wraps = nest.arithmetic.computes_unsigned
    return Inspection.of(
        AccessSlice(nest.outer, nest.body, arrays, combined, unreadable, plain.context, wraps)
    )


def _is_known(nest: DeviceNest, name: str, array: InspectedArray, known: KnownRange) -> bool:
    """Whether the loops that have found out what is known of an array are those that would find it out of the nest."""
    with suppress(Uninspectable):
        same = replace(array, first=known.first, last=known.last, at=known.at)
        return _found_out(nest, {name: same}).text == known.text
    return False


def _with_reason(refusal: Refusal, problem: Uninspectable) -> Refusal:
    """The refusal, with why the host cannot find out in time."""
    first, *others = refusal.diagnostics
    remark = note(f"the host cannot find out before the kernel runs: {problem.reason}", problem.node)
    return Refusal(replace(first, notes=(*first.notes, remark)), *others, argument=refusal.argument)


_LAYOUTS = {
    Layout.SOA: ("member by member", "an array of structures with one dimension and members of one type"),
    Layout.COLUMN: ("column by column", "declared with two dimensions"),
}


def _require_layouts(node: Node, arguments: OffloadArguments, arrays: Mapping[str, Array]) -> None:
    """Each layout makes a difference.  Raises Refusal: ORIO-T142."""
    problem, layouts = None, Layouts.given(arguments.layout)
    if layouts.rest is not Layout.ROW and not any(found.plan.rows for found in arrays.values()):
        how, needed = _LAYOUTS[layouts.rest]
        problem = f"finds no array to hold {how}: none in the loops is {needed}"
    for name, layout in layouts.named:
        if name not in arrays:
            near = ", ".join(f"`{array}`" for array in sorted(arrays))
            problem = f"finds no array `{name}` in the loops, which use {near or 'none'}"
        elif layout is not Layout.ROW and not arrays[name].plan.rows:
            how, needed = _LAYOUTS[layout]
            problem = f"cannot hold `{name}` {how}: it is not {needed}"
    if problem is not None:
        message = f"{arguments.what} {problem}"
        refuse("ORIO-T142", message, node, help="leave `layout` 'row'", argument="layout")
