"""Updates of elements that are too short for a device to update in one step, by way of wider ones.

    for (i = 0; i < n; i++)             unsigned count_wide[256];
      count[c[i]]++;                    for (int count_at = 0; count_at < 256; count_at++)
                                          count_wide[count_at] = count[count_at];
                                        for (i = 0; i < n; i++)
                                          count_wide[c[i]]++;
                                        for (int count_at = 0; count_at < 256; count_at++)
                                          count[count_at] = count_wide[count_at];

Sums, products and bit operations modulo 2^32 are those modulo 2^8 and 2^16 when they are cut off, so that it makes no difference
that they are cut off once, not at each step.  Counts that stop at a number, as in `if (count[k] < 255) count[k]++`, are counted from
0, and added to what there was up to that number.

Source: ISO C99, 6.3.1.3 (conversions to unsigned types; those to signed ones are reduced in the same way by GCC and Clang).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from orio_py.ctree.build import (
    as_long,
    assign,
    binary,
    block,
    cast_to,
    const,
    declare,
    for_,
    ident,
    if_,
    index,
    literal_value,
    ternary,
    unary,
)
from orio_py.ctree.ctype import Rank, ctype
from orio_py.ctree.equal import equal
from orio_py.ctree.expression_effects import is_repeatable
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import For, Node, array_of, c_ast, substatements
from orio_py.ctree.rewrite import Rewriter, substitute, walk
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.kernel.types import UPDATED, device_type
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.expression_types import constant_value, parsed_extent
from orio_py.transformation.forms import sole_statement
from orio_py.transformation.offload.arguments import OffloadArguments
from orio_py.transformation.offload.axis_mapping import mapped_loops
from orio_py.transformation.parallel.array_sharing import MOST_ELEMENTS, accumulated
from orio_py.transformation.types import index_type

_LARGEST = {
    (Rank.CHAR, False): 2**7 - 1,
    (Rank.CHAR, True): 2**8 - 1,
    (Rank.SHORT, False): 2**15 - 1,
    (Rank.SHORT, True): 2**16 - 1,
    (Rank.INT, False): 2**31 - 1,
    (Rank.INT, True): 2**31 - 1,
}
"""Numbers that types hold, and `int`, in which C compares."""


@dataclass(frozen=True, slots=True)
class WideUpdates:
    """A loop that accumulates into wide elements, `context` with these, and the statements around it.

    `test` says that they fit on the stack, where that is not known.
    """

    loop: Node
    context: Context
    before: tuple[Node, ...] = ()
    behind: tuple[Node, ...] = ()
    test: Node | None = None

    def around(self, call: Node, original: Node) -> Node:
        """What stands in place of the `original` loop, with the call of its kernel."""
        whole = block(*self.before, call, *self.behind)
        return whole if self.test is None else if_(self.test, whole, block(original))


def wide_updates(loop: Node, context: Context, arguments: OffloadArguments) -> WideUpdates | None:
    """The loop with wide elements in place of all that are too short and only accumulated into; None where there are none."""
    try:
        mapped, every = mapped_loops(loop, arguments.nd, arguments.what, context, force=arguments.force)
    except Refusal:
        return None
    outer = every[: len(mapped)]
    found = WideUpdates(loop, context)
    for name in sorted(context.effects(loop).array_writes):
        declared = context.declarations.get(name)
        extents = None if declared is None else _extents(declared, context)
        if declared is None or extents is None:
            continue
        if (stopping := _stopping(declared, outer, context)) is not None:
            found = _with_wide(found, declared, extents, stopping)
        elif _is_short(declared) and accumulated(declared, outer, context) is not None:
            found = _with_wide(found, declared, extents)
    return None if found.loop is loop else found


@dataclass(frozen=True, slots=True)
class _Stopping:
    """The conditions under which an array's elements are counted, and the number at which they stop."""

    counted: Mapping[int, c_ast.UnaryOp]
    most: int


def _stopping(declared: CDeclaration, outer: Sequence[CanonicalLoop], context: Context) -> _Stopping | None:
    """How a loop counts elements up to a number that their type has; None where it uses the array in another way, or may count
    more often than `unsigned` does.
    """
    kind = ctype(declared.type)
    index_kind = ctype(index_type(outer[-1], context))
    if len(outer) > 1 or kind is None or index_kind is None or kind.is_floating or index_kind.rank > Rank.INT:
        return None
    most = _LARGEST.get((kind.rank, kind.unsigned))
    counted: dict[int, c_ast.UnaryOp] = {}
    limits: set[int] = set()
    for item in _outside_of_loops(outer[-1].body):
        match item:
            case c_ast.If(
                cond=c_ast.BinaryOp(op="<", left=c_ast.ArrayRef() as tested, right=limit),
                iftrue=then,
                iffalse=None,
            ) if isinstance(step := sole_statement(then), c_ast.UnaryOp) and step.op in {"p++", "++"}:
                number = constant_value(limit, context)
                if not equal(step.expr, tested) or number is None:
                    continue
                if (
                    is_repeatable(tested)
                    and isinstance(base := array_of(tested), c_ast.ID)
                    and base.name == declared.name
                ):
                    counted[id(item)] = step
                    limits.add(number)
            case _:
                pass
    often = 1 if index_kind.unsigned else 2  # 2^32 - 1 times in all
    if len(limits) != 1 or most is None or max(limits) > most or len(counted) > often:
        return None
    names = [part.name for part in walk(outer[-1].body) if isinstance(part, c_ast.ID)]
    is_alone = names.count(declared.name) == 2 * len(counted)
    return _Stopping(counted, limits.pop()) if is_alone else None


def _outside_of_loops(node: Node) -> Iterator[Node]:
    """The statements that an iteration runs once at most."""
    yield node
    if not isinstance(node, (For, c_ast.While, c_ast.DoWhile)):
        for part in substatements(node):
            yield from _outside_of_loops(part)


class _Counting(Rewriter):
    """Leaves the condition out around a step."""

    def __init__(self, counted: Mapping[int, Node]) -> None:
        self._counted = counted

    def visit_If(self, node: c_ast.If) -> Node:
        return self._counted.get(id(node)) or self.generic(node)


def _is_short(declared: CDeclaration) -> bool:
    """Whether an array has whole numbers that devices do not update in one step."""
    kind = ctype(declared.type)
    is_updated = device_type(declared.type) in UPDATED
    plain = declared.is_array_like and not declared.qualifiers & {"volatile", "_Atomic", "const"}
    return plain and kind is not None and kind.is_narrow and not is_updated and "_Bool" not in kind.words


def _extents(declared: CDeclaration, context: Context) -> list[Node] | None:
    """How many elements an array has in each dimension; None for pointers without a promise, and for too many."""
    name = declared.name
    is_object = bool(declared.dimensions) and not declared.is_parameter and "(*" not in declared.text
    if declared.pointers or not declared.dimensions or not (is_object or declared.promised):
        return None
    if not all(declared.dimensions):
        return None
    numbers = [constant_value(parsed_extent(text), context) for text in declared.dimensions]
    known = [number for number in numbers if number is not None]
    if len(known) == len(numbers):
        return [const(number) for number in known] if 0 < prod(known) <= MOST_ELEMENTS else None
    if len(numbers) > 1:
        return None
    if is_object:
        return [as_long(binary("/", unary("sizeof", ident(name)), unary("sizeof", index(name, 0))))]
    return [parsed_extent(declared.dimensions[0])]


def _with_wide(
    found: WideUpdates, declared: CDeclaration, extents: list[Node], stopping: _Stopping | None = None
) -> WideUpdates:
    """The loop with wide elements in place of those of one more array."""
    name, context = declared.name, found.context
    supply = context.names(found.loop)
    wide = supply.fresh(f"{name}_wide")
    places = [ident(supply.fresh(f"{name}_at")) for _ in extents]
    own, given = index(wide, *places), index(name, *places)
    made = declare("unsigned", wide, dimensions=extents)

    def each(copy: Node) -> Node:
        for place, extent in reversed(list(zip(places, extents, strict=True))):
            kind = "int" if literal_value(extent) is not None else "long"
            header = declare(kind, place.name, 0), binary("<", place, extent), unary("p++", place)
            copy = for_(*header, block(copy))
        return copy

    (size,) = extents if len(extents) == 1 else (const(1),)
    test = found.test
    if literal_value(size) is None:
        fits = binary("&&", binary(">", size, 0), binary("<=", size, MOST_ELEMENTS))
        test = fits if test is None else binary("&&", test, fits)
    new = replace(
        context,
        declarations={**context.declarations, wide: declaration_of(made)},
        live_after=context.live_after | {wide},
    )
    loop, before, behind = found.loop, assign(own, given), assign(given, own)
    if stopping is not None:
        loop, before = _Counting(stopping.counted).rewrite(loop), assign(own, 0)
        room = binary("-", cast_to("unsigned", const(stopping.most)), cast_to("unsigned", given))
        sum_ = ternary(binary("<", own, room), binary("+", given, own), stopping.most)
        behind = if_(binary("<", given, stopping.most), block(assign(given, sum_)))
    return WideUpdates(
        substitute(loop, name, ident(wide)),
        new,
        (*found.before, made, each(before)),
        (*found.behind, each(behind)),
        test,
    )
