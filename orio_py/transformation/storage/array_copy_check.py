"""What `ArrCopy` has to know of a tile, and why some tiles cannot be copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orio_py.ctree.build import add, const, ident
from orio_py.ctree.dependence.reuse import POINTER, storage_of
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import CanonicalLoop, nest
from orio_py.ctree.nodes import Node, c_ast, reference_parts
from orio_py.ctree.parse import parse_statement, position
from orio_py.ctree.rewrite import declared_names, substitute, walk
from orio_py.transformation.base import Context, note, refuse
from orio_py.transformation.forms import (
    is_invariant,
    loop_view,
    require_invariant_bound,
    require_no_jumps,
    require_stable_index,
)
from orio_py.transformation.storage.array_copy_uses import Offsets, Side, TileUses
from orio_py.transformation.storage.array_uses.items import Ref
from orio_py.transformation.storage.array_uses.live_ranges import LiveRange, Spans
from orio_py.transformation.storage.array_uses.uses import Uses

MAXIMUM_BYTES = 2 * 1024 * 1024
"""The largest buffer: it lies on the stack, for which 8 MiB is a usual limit."""

_BYTES = {
    "char": 1,
    "_Bool": 1,
    "bool": 1,
    "short": 2,
    "int": 4,
    "unsigned": 4,
    "float": 4,
    "long double": 16,
}


@dataclass(frozen=True, slots=True)
class CopiedTile:
    """A tile that can be copied.

    `references` are those that go to the buffer, `reads` says whether some read, `written` are the offsets
    of those that write.  `guards` are tests without which the loops use no element.  The buffer has a dimension for each
    side; `fixed` are the subscripts in the others, by dimension: they stay the same while the loops run.
    """

    name: str
    type: str
    sides: tuple[Side, ...]
    fixed: Mapping[int, Node]
    uses: Uses
    references: Mapping[Ref, Offsets]
    reads: bool
    written: tuple[Offsets, ...]
    guards: tuple[Node, ...]

    def of_sides(self, values: Sequence[int]) -> tuple[int, ...]:
        """Those of values for all dimensions that belong to the buffer's."""
        return tuple(value for place, value in enumerate(values) if place not in self.fixed)

    def subscripts(self, of_sides: Sequence[Node]) -> list[Node]:
        """The subscripts of an element of the array, given those of the buffer's dimensions."""
        left = iter(of_sides)
        return [
            self.fixed[place] if place in self.fixed else next(left)
            for place in range(len(self.sides) + len(self.fixed))
        ]


def reference_in(aref: str, node: Node) -> tuple[str, tuple[str, ...]]:
    """The array and the variables of a text such as `a[i][j]`.  Raises Refusal: ORIO-T062."""
    tree = parse_statement(aref, "aref")
    array, subscripts = (None, []) if tree is None else reference_parts(tree)
    variables = tuple(subscript.name for subscript in subscripts if isinstance(subscript, c_ast.ID))
    if not isinstance(array, c_ast.ID) or not variables or len(variables) < len(subscripts):
        refuse(
            "ORIO-T062",
            f"`aref` is {aref!r}; it must be an array with a loop variable for each dimension",
            node,
            help="for example 'a[i][j]'",
            argument="aref",
        )
    if len(set(variables)) < len(variables):
        refuse("ORIO-T062", f"`{aref}` names a loop variable twice", node, argument="aref")
    return array.name, variables


def checked_tile(
    head: Node,
    name: str,
    variables: tuple[str, ...],
    sizes: tuple[int, ...],
    context: Context,
    *,
    dtype: str | None,
    force: bool,
    outer: frozenset[str] = frozenset(),
) -> CopiedTile:
    """The tile that the loops at `head` use; loops over the variables `outer` are around it.

    Raises Refusal: ORIO-T020 to T041, ORIO-T060 to T068.
    """
    loops = _loops(head, tuple(v for v in variables if v not in outer), context, force=force)
    _require_steady(outer, loops[0], context)
    kind = _element_type(head, name, len(variables), context, dtype)
    if hidden := declared_names(loops[-1].body) & {name, *variables}:
        refuse(
            "ORIO-T066", f"ArrCopy needs one meaning of `{min(hidden)}`: it is declared again inside", head
        )
    uses = Uses.of(head, context)
    spans = Spans(uses)
    span = spans.span(uses.root, 0, 0)
    found = TileUses(name, variables, spans, context)
    if name in span.writes:
        refuse("ORIO-T066", f"ArrCopy needs one array: the loops change the pointer `{name}`", head)
    references = found.references(head)
    _require_alone(found, references, head, force=force)
    columns = list(zip(*references.values(), strict=True))
    fixed = {
        place: _fixed_subscript(variable, columns[place], head)
        for place, variable in enumerate(variables)
        if variable in outer
    }
    sides: list[Side] = []
    for place, variable in enumerate(variables):
        if place in fixed:
            continue
        side = Side(
            next(view for view in loops if view.index == variable), min(columns[place]), max(columns[place])
        )
        _require_fit(side, sizes[place], place, span, context)
        sides.append(side)
    _require_small(name, kind, [size for place, size in enumerate(sizes) if place not in fixed], head)
    mine = [use for use in found.mine if use.ref in references]
    written = tuple(dict.fromkeys(references[use.ref] for use in mine if use.writes))
    guards = found.guards(references, written, tuple(sides))
    reads = any(use.reads for use in mine)
    return CopiedTile(name, kind, tuple(sides), fixed, uses, references, reads, written, tuple(guards))


def _require_steady(outer: frozenset[str], view: CanonicalLoop, context: Context) -> None:
    """The loops at a place change no variable of a loop around them.  Raises Refusal: ORIO-T064."""
    for name in sorted(outer):
        if name in declared_names(view.node) or not is_invariant(ident(name), view, context):
            refuse("ORIO-T064", f"ArrCopy needs a tile that is the same for each `{name}`", view.node)


def _fixed_subscript(variable: str, offsets: Sequence[int], head: Node) -> Node:
    if len(set(offsets)) > 1:
        message = f"ArrCopy cannot copy what several offsets reach: the loop over `{variable}` is outside of the tile"
        refuse("ORIO-T064", message, head)
    return add(ident(variable), offsets[0])


def _loops(head: Node, variables: tuple[str, ...], context: Context, *, force: bool) -> list[CanonicalLoop]:
    """The perfect nest of loops from the outermost to the innermost named one."""
    loops = nest(loop_view(head, "ArrCopy", context))
    names = [view.index for view in loops]
    missing = [v for v in variables if v not in names]
    if missing:
        refuse(
            "ORIO-T030",
            f"ArrCopy needs the loops {', '.join(f'`{v}`' for v in variables)} in one perfect nest; "
            f"`{missing[0]}` is not in the nest {', '.join(f'`{n}`' for n in names)}",
            head,
            argument="aref",
        )
    loops = loops[: max(names.index(v) for v in variables) + 1]
    indices = {view.index for view in loops}
    for view in loops:
        require_stable_index(view, "ArrCopy", context)
        require_no_jumps(view, "ArrCopy")
        require_invariant_bound(view, "ArrCopy", context, force=force)
    written = context.effects(head).writes
    for view in loops:
        for part in (view.start, view.bound):
            used = context.effects(part).reads
            if view.index in variables and (changed := sorted(used & (indices | written))):
                refuse(
                    "ORIO-T064",
                    f"ArrCopy needs a rectangular tile: the range of `{view.index}` depends on `{changed[0]}`",
                    part if position(part) is not None else view.node,
                )
    return loops


def _element_type(head: Node, name: str, depth: int, context: Context, dtype: str | None) -> str:
    declared = context.declarations.get(name)
    if declared is None:
        if dtype is None:
            refuse(
                "ORIO-T060",
                f"ArrCopy needs the type of `{name}`: no declaration is visible",
                head,
                help=f"declare `{name}` before the region, or give `dtype`, for example `dtype='double'`",
            )
        return dtype
    element = storage_of(name, depth, declared).element
    if element is None or element == POINTER or element.startswith(("struct", "union", "void")):
        refuse(
            "ORIO-T062",
            f"`{declared.text or name}` has no elements that are numbers with {depth} subscripts",
            head,
            argument="aref",
        )
    if declared.qualifiers & {"volatile", "_Atomic"}:
        refuse("ORIO-T066", f"ArrCopy cannot copy `{name}`, which is volatile", head)
    return element


def _require_alone(found: TileUses, references: Mapping[Ref, Offsets], head: Node, *, force: bool) -> None:
    """Nothing but the references of the tile touches it.  Raises Refusal: ORIO-T041, ORIO-T066."""
    name, written = found.name, any(u.writes and u.ref in references for u in found.mine)
    if found.calls and not force:
        refuse(
            "ORIO-T041",
            f"ArrCopy cannot be shown to keep the result: a call or a pointer in the loops may touch `{name}`",
            head,
            help="add `force=True` if it does not",
        )
    others = sorted({other.name for other in found.others(written=written)})
    if others and not force:
        refuse(
            "ORIO-T041",
            f"ArrCopy cannot be shown to keep the result: `{others[0]}` may overlap `{name}`",
            head,
            help="declare them `restrict`, promise `noalias` in the specification, or add `force=True`",
        )
    for other in others:
        found.context.overruled.add(f"ArrCopy: `{name}` and `{other}` are taken not to overlap")
    for use in found.mine:
        if use.ref in references or not (written or use.writes):
            continue
        for other in found.mine:
            if other.ref in references and found.may_meet(other, use):
                refuse(
                    "ORIO-T066",
                    f"`{use.ref.text}` may be an element of the tile, but is no reference to its buffer: "
                    f"subscripts of the form {', '.join(f'`{v} + constant`' for v in found.variables)} are",
                    use.node,
                    notes=[note(f"the tile is that of `{other.ref.text}`", other.node)],
                )


def _require_fit(side: Side, size: int, number: int, span: LiveRange, context: Context) -> None:
    """The range of a loop, with what offsets add, fits the buffer.  Raises Refusal: ORIO-T064, ORIO-T065."""
    view = side.loop
    if side.spread and abs(view.stride) != 1:
        refuse(
            "ORIO-T064",
            f"ArrCopy cannot copy what several offsets reach in steps of {abs(view.stride)}: `{view.index}`",
            view.node,
        )
    first, last = (view.start, view.bound) if view.upward else (view.bound, view.start)
    first, last = (_without_macros(part, context) for part in (first, last))
    closed = view.relation in {"<=", ">="}
    distance = size - side.spread - closed
    if span.elements.is_at_most_apart(last, first, distance, span.elements.place):
        return
    extent = f"from `{emit_expression(view.start)}` to `{emit_expression(view.bound)}`"
    most = span.elements.distance(last, first, span.elements.place)
    needed = "is not known to fit" if most is None else f"needs {most + closed + side.spread}"
    refuse(
        "ORIO-T065",
        f"dimension {number + 1} of the buffer has {size} elements, but `{view.index}`, {extent}"
        + (f" with offsets from {side.least} to {side.greatest}" if side.spread else "")
        + f", {needed}",
        view.node,
        help="tile the loop first, or give a larger size",
        argument="dimsizes",
    )


def _without_macros(node: Node, context: Context) -> Node:
    for part in walk(node):
        if isinstance(part, c_ast.ID) and (value := context.macros.get(part.name, "").strip(" ()")).isdigit():
            node = substitute(node, part.name, const(int(value)))
    return node


def _require_small(name: str, kind: str, sizes: Sequence[int], head: Node) -> None:
    size = next((count for word, count in _BYTES.items() if word in kind and "long long" not in kind), 8)
    size = 8 * (1 + ("_Complex" in kind)) if "double" in kind and "long" not in kind else size
    for extent in sizes:
        size *= extent
    if size > MAXIMUM_BYTES:
        refuse(
            "ORIO-T067",
            f"the buffer for `{name}` would take {size} bytes; at most {MAXIMUM_BYTES} fit safely on the stack",
            head,
            help="use smaller tiles",
            argument="dimsizes",
        )
