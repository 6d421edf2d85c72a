"""A nest whose iterations may run on a device: what there is to know before it gets a form there.

Kernels and directives are made of the same nests, so that one analysis says no for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node, array_of, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.transformation.base import Context, Refusal, note, refuse
from orio_py.transformation.offload.arguments import NestQuestion
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.atomics import with_atomics
from orio_py.transformation.offload.axis_mapping import mapped_loops
from orio_py.transformation.offload.body import plain_body, require_device_code, subscripted
from orio_py.transformation.offload.element_accesses import ElementAccess, collect_accesses
from orio_py.transformation.offload.index_ranges import IndexRange
from orio_py.transformation.offload.pointer_tests import PointerTests
from orio_py.transformation.offload.structures import Flattened, flattened_structures
from orio_py.transformation.parallel.data_sharing import (
    Sharing,
    require_independent,
    require_order_free,
    sharing,
)
from orio_py.transformation.simpler.comparisons import with_comparisons
from orio_py.transformation.verdicts import aliases_in


@dataclass(frozen=True, slots=True)
class DeviceNest:
    """A nest without structures (`plain`), all of its loops (`every`) and those that a device shares out (`mapped`).

    `body` is one iteration with `p[0]` for `*p`; `axes` are the ranges of the mapped loops' indices and `uses` the
    accesses to each array in the order of the source, both in `arithmetic`.  `tests` are those of pointers.
    """

    plain: Flattened
    mapped: tuple[CanonicalLoop, ...]
    every: tuple[CanonicalLoop, ...]
    shared: Sharing
    body: Node
    axes: tuple[IndexRange, ...]
    uses: dict[str, list[ElementAccess]]
    arithmetic: Arithmetic
    tests: PointerTests

    @property
    def outer(self) -> tuple[CanonicalLoop, ...]:
        """The mapped loops from the outermost to the innermost one."""
        return self.every[: len(self.mapped)]


def require_any_order(
    node: Node, context: Context, question: NestQuestion, *, with_updates: bool = False
) -> bool:
    """The iterations of the loops that would be shared out may run in any order, perhaps `with_updates` in single steps.

    The answer is whether there are such.  Raises Refusal: ORIO-T020 to T028, T040, T041, T090, T120, T124.
    """
    plain = flattened_structures(node, question.what, context)
    mapped, every = _mapped(plain.node, plain.context, question)
    outer = every[: len(mapped)]
    shared = sharing(outer, plain.context)
    if with_updates:
        return bool(_in_any_order(outer, shared, plain, question).atomic)
    require_independent(outer, shared, question.what, plain.context, force=question.force)
    require_order_free(shared, question.what, plain.context, force=question.force)
    return False


def device_nest(node: Node, context: Context, question: NestQuestion) -> DeviceNest:
    """The nest, if its iterations may run on a device.

    Raises Refusal: ORIO-T020 to T028 (form of the nest), T040, T041 (dependences), T090 (rounding), T120, T123 to T126.
    """
    what, around = question.what, context
    plain = flattened_structures(node, what, context)
    context = plain.context
    mapped, every = _mapped(plain.node, context, question)
    outer = every[: len(mapped)]
    shared = sharing(outer, context)
    tests = PointerTests.of(subscripted(plain_body(outer[-1].body, context)), context)
    body, plain = tests.body, tests.known(plain)
    context = plain.context
    require_device_code(body, what, context)
    if question.keeps_statements:
        _require_no_static(body, what)
    inner = _same_nest([*outer[:-1], replace(outer[-1], body=body)], around, question)
    written = context.effects(body).writes | context.effects(inner[-1].body).writes
    arithmetic = Arithmetic(context, written | {loop.index for loop in outer})
    axes, uses = _uses(inner, arithmetic, what, context)
    _require_apart(uses, shared, body, context, question)
    if not question.trusted:
        shared = _in_any_order(outer, shared, plain, question)
    return DeviceNest(plain, tuple(mapped), tuple(every), shared, body, axes, uses, arithmetic, tests)


def _require_no_static(body: Node, what: str) -> None:
    """Nothing lives longer than the loops, which directives would have to have declared for devices.  Raises Refusal: ORIO-T125."""
    for node in walk(body):
        if isinstance(node, c_ast.Decl) and "static" in node.storage:
            refuse(
                "ORIO-T125",
                f"{what} needs code that devices can run: `{node.name}` is declared `static`",
                node,
            )


def _mapped(
    node: Node, context: Context, question: NestQuestion
) -> tuple[list[CanonicalLoop], list[CanonicalLoop]]:
    """The loops that are shared out, and all loops of the nest.  Raises Refusal as `mapped_loops` does."""
    return mapped_loops(node, question.nd, question.what, context, force=question.force, most=question.most)


def _in_any_order(
    outer: Sequence[CanonicalLoop], shared: Sharing, plain: Flattened, question: NestQuestion
) -> Sharing:
    """What iterations share, with atomic updates of arrays.  Raises Refusal: ORIO-T040, T041, T090."""
    what, force, context = question.what, question.force, plain.context
    found = with_atomics(
        shared, outer, context, pragmas=question.keeps_statements, without=plain.mixed.keys()
    )
    known = found.verdict, found.loop
    try:
        require_independent(outer, found.shared, what, context, force=force, known=known)
    except Refusal as refusal:
        if found.remark is None:
            raise
        first, *others = refusal.diagnostics
        remarked = replace(first, notes=(*first.notes, note(found.remark, None)))
        raise Refusal(remarked, *others, argument=refusal.argument) from None
    require_order_free(found.shared, what, context, force=force)
    return found.shared


def _same_nest(loops: list[CanonicalLoop], context: Context, question: NestQuestion) -> list[CanonicalLoop]:
    """The nest that says which elements are touched: the given one, if there is no better one."""
    if question.same is None:
        return loops
    plain = flattened_structures(with_comparisons(question.same, context), question.what, context)
    _, every = _mapped(plain.node, plain.context, question)
    outer = every[: len(loops)]
    body = PointerTests.of(subscripted(plain_body(outer[-1].body, plain.context)), plain.context).body
    return [*outer[:-1], replace(outer[-1], body=body)]


def _uses(
    loops: Sequence[CanonicalLoop], arithmetic: Arithmetic, what: str, context: Context
) -> tuple[tuple[IndexRange, ...], dict[str, list[ElementAccess]]]:
    """The axes as levels, and the references to each array.  Raises Refusal: ORIO-T124, T126."""
    body = loops[-1].body
    uses: dict[str, list[ElementAccess]] = {}
    local = {n.name for n in walk(body) if isinstance(n, c_ast.Decl) and n.name is not None}
    axes, found = collect_accesses(loops, arithmetic)
    for use in found:
        if use.name not in local:
            uses.setdefault(use.name, []).append(use)
    _require_known(uses, body, local, what, context)
    return axes, uses


def _require_known(
    uses: dict[str, list[ElementAccess]], body: Node, local: set[str], what: str, context: Context
) -> None:
    """Each array is declared, and used by its elements alone.  Raises Refusal: ORIO-T124, T126."""
    for name, found in uses.items():
        declared = context.declarations.get(name)
        if declared is None or not declared.is_array_like:
            refuse(
                "ORIO-T126",
                f"{what} has to know the type of `{name}`, and no declaration is in sight",
                found[0].node,
            )
        if declared.pointers > (0 if declared.dimensions else 1):
            message = f"{what} needs arrays in one piece; the rows of `{name}` are reached through pointers"
            advice = f"copy the rows of `{name}` into one array, `rows[i * m + j]` or `rows[start[i] + j]`, before the loops"
            refuse("ORIO-T124", message, found[0].node, help=advice)
    bases = {id(base) for base in _subscripted_names(body)}
    for node in walk(body):
        if not isinstance(node, c_ast.ID) or id(node) in bases or node.name in local:
            continue
        declared = context.declarations.get(node.name)
        if declared is not None and declared.is_array_like:
            refuse("ORIO-T124", f"{what} needs single elements of `{node.name}`, not its address", node)


def _subscripted_names(body: Node) -> list[Node]:
    """The names that have subscripts, as nodes."""
    return [array_of(node) for node in walk(body) if isinstance(node, c_ast.ArrayRef)]


def _require_apart(
    uses: dict[str, list[ElementAccess]],
    shared: Sharing,
    body: Node,
    context: Context,
    question: NestQuestion,
) -> None:
    """What is written has no other name: it would get a buffer of its own.  Raises Refusal: ORIO-T123."""
    aliases = aliases_in(context)
    places = {(name, len(found[0].subscripts)): found[0].node for name, found in uses.items()}
    written = {name for name, found in uses.items() if any(use.writes for use in found)}
    combined = {found.name for found in shared.reductions}
    for node in walk(body):
        if isinstance(node, c_ast.ID) and node.name not in uses:
            places.setdefault((node.name, 0), node)
    for (first, one), (second, two) in combinations(places.items(), 2):
        if not {first[0], second[0]} & (written | combined) or not aliases.may_overlap(first, second):
            continue
        if question.force:
            context.overruled.add(f"{question.what}: `{first[0]}` and `{second[0]}` may overlap")
            continue
        refuse(
            "ORIO-T123",
            f"{question.what} gives `{first[0]}` and `{second[0]}` memory of their own, and they may overlap",
            two,
            notes=[note(f"`{first[0]}` is used here", one)],
            help=aliases.advice(first, second),
        )
