"""What `ArrCopy` has to know of a tile, and why some tiles cannot be copied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.source import SourceFile
from orio_py.ctree.build import const, literal_value
from orio_py.ctree.dependence.reuse import POINTER, Elements, MemoryObject, Place, storage_of
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import CanonicalLoop, nest
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.parse import parse_statements, position
from orio_py.ctree.rewrite import declared_names, substitute, walk
from orio_py.transformation.base import Context, note, refuse
from orio_py.transformation.certain_conditions import never_holds
from orio_py.transformation.forms import (
    loop_view,
    require_invariant_bound,
    require_no_jumps,
    require_stable_index,
)
from orio_py.transformation.storage.loop_headers import is_trusted, test_at_start
from orio_py.transformation.storage.scalar_live_ranges import Chain, LiveRange, Spans
from orio_py.transformation.storage.scalar_replace_items import CONDITIONAL, REPEATED, Loop, Ref, Use
from orio_py.transformation.storage.scalar_replace_uses import Uses

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

Offsets = tuple[int, ...]
"""What the subscripts of a reference add to the variables of the tile."""


@dataclass(frozen=True, slots=True)
class Side:
    """One dimension of a tile: its loop, and the least and greatest offset."""

    loop: CanonicalLoop
    least: int
    greatest: int

    @property
    def spread(self) -> int:
        """How many elements more than the loop's range are used."""
        return self.greatest - self.least


@dataclass(frozen=True, slots=True)
class CopiedTile:
    """A tile that can be copied.

    `references` are those that go to the buffer, `reads` says whether some read, `written` are the offsets
    of those that write.  `guards` are tests without which the loops use no element.
    """

    name: str
    type: str
    sides: tuple[Side, ...]
    uses: Uses
    references: Mapping[Ref, Offsets]
    reads: bool
    written: tuple[Offsets, ...]
    guards: tuple[Node, ...]


def placed(node: Node) -> Node:
    """The first part of a tree with a place in the source: generated loops have none."""
    return next((part for part in walk(node) if position(part) is not None), node)


def reference_in(aref: str, node: Node) -> tuple[str, tuple[str, ...]]:
    """The array and the variables of a text such as `a[i][j]`.  Raises Refusal: ORIO-T062."""
    variables: list[str] = []
    try:
        tree = parse_statements(
            aref + ";", source=SourceFile("aref", f"{aref};".encode("latin-1", "replace")), start=0
        )
    except DiagnosticError:
        tree = None
    items = [] if tree is None else tree.block_items or []
    found: Node | None = items[0] if len(items) == 1 else None
    while isinstance(found, c_ast.ArrayRef) and isinstance(found.subscript, c_ast.ID):
        variables.insert(0, found.subscript.name)
        found = found.name
    if not isinstance(found, c_ast.ID) or not variables:
        refuse(
            "ORIO-T062",
            f"`aref` is {aref!r}; it must be an array with a loop variable for each dimension",
            placed(node),
            help="for example 'a[i][j]'",
            argument="aref",
        )
    if len(set(variables)) < len(variables):
        refuse("ORIO-T062", f"`{aref}` names a loop variable twice", placed(node), argument="aref")
    return found.name, tuple(variables)


def checked_tile(
    head: Node,
    name: str,
    variables: tuple[str, ...],
    sizes: tuple[int, ...],
    context: Context,
    *,
    dtype: str | None,
    force: bool,
) -> CopiedTile:
    """The tile that the loops at `head` use.  Raises Refusal: ORIO-T020 to T041, ORIO-T060 to T068."""
    loops = _loops(head, variables, context, force=force)
    kind = _element_type(head, name, len(variables), context, dtype)
    if hidden := declared_names(head) & {name, *variables} - {v.index for v in loops if v.declared_type}:
        refuse(
            "ORIO-T066", f"ArrCopy needs one meaning of `{min(hidden)}`: it is declared again inside", head
        )
    uses = Uses.of(head, context)
    spans = Spans(uses)
    span = spans.span(uses.root, 0, 0)
    finder = _Finder(name, variables, uses, spans, context)
    if name in span.writes:
        refuse("ORIO-T066", f"ArrCopy needs one array: the loops change the pointer `{name}`", placed(head))
    references = finder.references(head)
    _require_alone(finder, references, head, force=force)
    sides = tuple(
        Side(loops_by, min(column), max(column))
        for loops_by, column in zip(
            (next(view for view in loops if view.index == v) for v in variables),
            zip(*references.values(), strict=True),
            strict=True,
        )
    )
    for number, (side, size) in enumerate(zip(sides, sizes, strict=True)):
        _require_fit(side, size, number, span, context)
    _require_small(name, kind, sizes, head)
    mine = [use for use in finder.mine if use.ref in references]
    written = tuple(dict.fromkeys(references[use.ref] for use in mine if use.writes))
    guards = finder.guards(references, written, sides)
    reads = any(use.reads for use in mine)
    return CopiedTile(name, kind, sides, uses, references, reads, written, tuple(guards))


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
            placed(head),
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
            used = context.expanded(context.effects(part).reads)
            if view.index in variables and (changed := sorted(used & (indices | written))):
                refuse(
                    "ORIO-T064",
                    f"ArrCopy needs a rectangular tile: the range of `{view.index}` depends on `{changed[0]}`",
                    part if position(part) is not None else placed(view.node),
                )
    return loops


def _element_type(head: Node, name: str, depth: int, context: Context, dtype: str | None) -> str:
    declared = context.declarations.get(name)
    if declared is None:
        if dtype is None:
            refuse(
                "ORIO-T060",
                f"ArrCopy needs the type of `{name}`: no declaration is visible",
                placed(head),
                help=f"declare `{name}` before the region, or give `dtype`, for example `dtype='double'`",
            )
        return dtype
    element = storage_of(name, depth, declared).element
    if element is None or element == POINTER or element.startswith(("struct", "union", "void")):
        refuse(
            "ORIO-T062",
            f"`{declared.text or name}` has no elements that are numbers with {depth} subscripts",
            placed(head),
            argument="aref",
        )
    if declared.qualifiers & {"volatile", "_Atomic"}:
        refuse("ORIO-T066", f"ArrCopy cannot copy `{name}`, which is volatile", placed(head))
    return element


def _require_alone(finder: _Finder, references: Mapping[Ref, Offsets], head: Node, *, force: bool) -> None:
    """Nothing but the references of the tile touches it.  Raises Refusal: ORIO-T041, ORIO-T066."""
    name, written = finder.name, any(u.writes and u.ref in references for u in finder.mine)
    if finder.calls and not force:
        refuse(
            "ORIO-T041",
            f"ArrCopy cannot be shown to keep the result: a call or a pointer in the loops may touch `{name}`",
            placed(head),
            help="add `force=True` if it does not",
        )
    others = sorted({other.name for other in finder.others(written=written)})
    if others and not force:
        refuse(
            "ORIO-T041",
            f"ArrCopy cannot be shown to keep the result: `{others[0]}` may overlap `{name}`",
            placed(head),
            help="declare them `restrict`, promise `noalias` in the specification, or add `force=True`",
        )
    for other in others:
        finder.context.overruled.add(f"ArrCopy: `{name}` and `{other}` are taken not to overlap")
    for use in finder.mine:
        if use.ref in references or not (written or use.writes):
            continue
        for other in finder.mine:
            if other.ref in references and finder.may_meet(other, use):
                refuse(
                    "ORIO-T066",
                    f"`{use.ref.text}` may be an element of the tile, but is no reference to its buffer: "
                    f"subscripts of the form {', '.join(f'`{v} + constant`' for v in finder.variables)} are",
                    placed(use.node),
                    notes=[note(f"the tile is that of `{other.ref.text}`", other.node)],
                )


def _require_fit(side: Side, size: int, number: int, span: LiveRange, context: Context) -> None:
    """The range of a loop, with what offsets add, fits the buffer.  Raises Refusal: ORIO-T064, ORIO-T065."""
    view = side.loop
    if side.spread and abs(view.stride) != 1:
        refuse(
            "ORIO-T064",
            f"ArrCopy cannot copy what several offsets reach in steps of {abs(view.stride)}: `{view.index}`",
            placed(view.node),
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
        placed(view.node),
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
            placed(head),
            help="use smaller tiles",
            argument="dimsizes",
        )


class _Finder:
    """The uses of one array inside the loops of a tile."""

    def __init__(
        self, name: str, variables: tuple[str, ...], uses: Uses, spans: Spans, context: Context
    ) -> None:
        self.name, self.variables, self.context = name, variables, context
        self._spans, self._span = spans, spans.span(uses.root, 0, 0)
        self.mine = [use for use in self._span.uses if use.ref.name == name]
        self.calls = any(barrier.kind == "call" for barrier in uses.barriers)

    def references(self, head: Node) -> dict[Ref, Offsets]:
        """The references of the tile, with what they add to its variables.  Raises Refusal: ORIO-T063."""
        found: dict[Ref, Offsets] = {}
        for use in self.mine:
            offsets = _offsets(use.ref, self.variables)
            if offsets is not None:
                found[use.ref] = offsets
        if not found:
            wanted = self.name + "".join(f"[{v}]" for v in self.variables)
            refuse(
                "ORIO-T063",
                f"ArrCopy finds no reference such as `{wanted}` in the loop",
                placed(head),
                argument="aref",
            )
        return found

    def others(self, *, written: bool) -> Iterator[MemoryObject]:
        """What may overlap the array through another name."""
        return self._span.others(self.mine[0].storage, written=written)

    def may_meet(self, first: Use, second: Use) -> bool:
        """Whether two uses can be of one element, in any iterations."""
        one, other = self._span.elements, self._span.new_elements("@other")
        left, right = self._inside(one, _chain(first)), self._inside(other, _chain(second))
        a = one.subscripts(first.ref.subscripts, left)
        b = other.subscripts(second.ref.subscripts, right)
        return one.may_coincide(a, b, (*left.scope.domain, *right.scope.domain))

    def _inside(self, elements: Elements, chain: Chain) -> Place:
        place = elements.place
        for loop in chain:
            place = elements.inside(self._spans.header(loop), place)
        return place

    def guards(
        self, references: Mapping[Ref, Offsets], written: tuple[Offsets, ...], sides: tuple[Side, ...]
    ) -> list[Node]:
        """Tests after which every element that is copied is used.  Raises Refusal: ORIO-T068."""
        found: dict[str, Node] = {}
        for offsets in dict.fromkeys(references.values()):
            uses = [use for use in self.mine if references.get(use.ref) == offsets]
            for wanted in (uses, [use for use in uses if use.writes]) if offsets in written else (uses,):
                tests = self._tests(wanted, sides)
                found.update({emit_expression(test): test for test in tests})
        return list(found.values())

    def _tests(self, uses: Sequence[Use], sides: tuple[Side, ...]) -> list[Node]:
        best: list[Node] | None = None
        for use in uses:
            tests = self._tests_of(use, sides)
            if tests is not None and (best is None or len(tests) < len(best)):
                best = tests
        if best is None:
            use = uses[0]
            refuse(
                "ORIO-T068",
                f"ArrCopy would {'write' if use.writes else 'read'} elements that the loops may leave alone: "
                f"`{use.ref.text}` is not reached in every iteration",
                placed(use.node),
            )
        return best

    def _tests_of(self, use: Use, sides: tuple[Side, ...]) -> list[Node] | None:
        """The tests that decide whether the loops around a use run; None if it may be left out anyway."""
        if any(frame is CONDITIONAL or frame is REPEATED for frame in use.frames):
            return None
        chain = _chain(use)
        tests: list[Node] = []
        for depth, loop in enumerate(chain):
            side = next((s for s in sides if s.loop.node is loop.node), None)
            if side is not None and not side.spread:
                continue  # The copying loop has the same header.
            test = test_at_start(loop, loop.node.cond, self.context)
            if test is None or never_holds(test, self.context):
                return None
            elements, place = self._span.elements, self._span.inside(chain[:depth])
            if is_trusted((test,), loop.declared, self.context) and elements.holds(test, place):
                continue
            effects = self.context.effects(test)
            if effects.writes or effects.opaque or effects.calls or effects.array_reads:
                return None
            if not self.context.expanded(effects.reads).isdisjoint(self._span.writes):
                return None
            tests.append(test)
        return tests


def _chain(use: Use) -> Chain:
    return tuple(frame for frame in use.frames if isinstance(frame, Loop))


def _offsets(ref: Ref, variables: tuple[str, ...]) -> Offsets | None:
    """What subscripts add to the variables; None if they are not of the form `variable + constant`."""
    if len(ref.subscripts) != len(variables):
        return None
    found = [_offset(s, v) for s, v in zip(ref.subscripts, variables, strict=True)]
    known = tuple(offset for offset in found if offset is not None)
    return known if len(known) == len(found) else None


def _offset(subscript: Node, variable: str) -> int | None:
    match subscript:
        case c_ast.ID(name=name):
            return 0 if name == variable else None
        case c_ast.BinaryOp(op="+" | "-" as op, left=c_ast.ID(name=name), right=amount) if name == variable:
            value = literal_value(amount)
            return value if value is None or op == "+" else -value
        case c_ast.BinaryOp(op="+", left=amount, right=c_ast.ID(name=name)) if name == variable:
            return literal_value(amount)
        case _:
            return None
