"""Arrays that the iterations of a parallel loop only accumulate into, or use for themselves.

    if (n > 0 && m > 0 && m <= 16384) {
      #pragma omp parallel for reduction(+: sum[0:m]) private(t)
      for (i = 0; i < n; i++) {
        for (k = 0; k < 3; k++) t[k] = a[3*i + k];          t: written before it is read, in each iteration
        for (j = 0; j < m; j++) sum[j] += t[0]*b[i*m + j];  sum: nothing but sums
      }
    } else …

Where it is not known how much of an array is accumulated into, as in `count[x[i]]++`, each addition is atomic.  A clause
gives each thread elements of its own, on its stack: no more than `MOST_ELEMENTS`.

Source: OpenMP API 4.5, sections 2.4 (array sections), 2.13.6 (atomic) and 2.15.3.6 (reduction); for arrays of one
iteration P. Feautrier, "Array expansion", ICS 1988, and Z. Li, "Array privatization for parallel execution of loops",
ICS 1992.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from orio_py.ctree.build import add, binary, const, sub
from orio_py.ctree.dependence.legality import is_temporary
from orio_py.ctree.dependence.names import names_of, references
from orio_py.ctree.dependence.verdict import Illegal, Unknown, Verdict
from orio_py.ctree.effects import copied_pointers
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.equal import equal
from orio_py.ctree.expression_effects import is_repeatable
from orio_py.ctree.loops import CanonicalLoop, ends_iterations
from orio_py.ctree.nodes import Compound, For, Node, c_ast
from orio_py.ctree.rewrite import assigned_names, declared_names, substitute, walk
from orio_py.ctree.simplify import simplify
from orio_py.ctree.symbols import CDeclaration
from orio_py.ctree.updates import Update, accumulating_steps
from orio_py.transformation.base import Context
from orio_py.transformation.certain_conditions import as_stored, runs
from orio_py.transformation.expression_types import constant_value, parsed_extent
from orio_py.transformation.overwriting import overwritten
from orio_py.transformation.parallel.data_sharing import Sharing, starts_are_comparable, verdict_of
from orio_py.transformation.parallel.reduction_variables import reduction_variables
from orio_py.transformation.parallel.reductions import Accumulation, combined
from orio_py.transformation.types import declaration
from orio_py.transformation.verdicts import dependence_context

MOST_ELEMENTS = 16384
"""Of an array of which each thread has its own: 128 KiB of `double`, where stacks have some MiB."""

_COMBINABLE = frozenset({"+", "*", "&", "|", "^", "min", "max"})
_ATOMIC = frozenset({"+", "*", "&", "|", "^"})


def with_arrays(shared: Sharing, loops: Sequence[CanonicalLoop], context: Context) -> Sharing:
    """The clauses, atomic statements and tests with which a nest's iterations do not depend on each other through arrays.

    Arrays for which there are none are left as they are, and so are those whose address the nest copies, which would be
    that of a thread's own array.
    """
    copied = copied_pointers(loops[0].node)

    def found(name: str) -> Sharing | None:
        if (variables := _variables(name, loops, context)) is not None:
            return variables
        declared = declaration(name, context)
        if declared is None or not declared.is_array_like or declared.qualifiers & {"volatile"}:
            return None
        if name in copied:
            return None
        return _own(declared, loops, context) or _accumulated(declared, loops, context)

    return _without_obstacles(shared, loops, context, found)


def with_variables(shared: Sharing, loops: Sequence[CanonicalLoop], context: Context) -> Sharing:
    """As `with_arrays`, by variables in place of single numbers in memory alone."""
    return _without_obstacles(shared, loops, context, lambda name: _variables(name, loops, context))


def _without_obstacles(
    shared: Sharing,
    loops: Sequence[CanonicalLoop],
    context: Context,
    found: Callable[[str], Sharing | None],
) -> Sharing:
    """The clauses and what is `found` for each array on which iterations depend, as far as there is anything."""
    while True:
        name = array_in_the_way(verdict_of(loops, shared, context)[0])
        if name is None or name in shared.names or (more := found(name)) is None:
            return shared
        shared = shared.joined(more)


def _variables(name: str, loops: Sequence[CanonicalLoop], context: Context) -> Sharing | None:
    """The variables in place of a number in memory; None where there are none."""
    places = reduction_variables(name, loops, context)
    return None if places is None else Sharing(reductions=places[0], variables=places[1])


def array_in_the_way(found: Verdict) -> str | None:
    """The array on which iterations depend; None where it is not one alone."""
    match found:
        case Illegal(name=name):
            return name or None
        case Unknown(source=source, sink=sink) if source is not None and sink is not None:
            return source.name if source.name == sink.name else None
        case _:
            return None


def _own(declared: CDeclaration, loops: Sequence[CanonicalLoop], context: Context) -> Sharing | None:
    """The clause for an array that holds nothing that iterations hand on; None for others."""
    name, count = declared.name, _count(declared, context)
    if count is None or count > MOST_ELEMENTS:
        return None
    # What has the array's address may read it, too.
    kept = (
        name in context.live_after or declared.copied or declared.scope != "local" or bool(declared.storage)
    )
    if kept and not starts_are_comparable(loops, context):
        return None
    if not is_temporary(loops, name, dependence_context(context), read_later=kept):
        return None
    return Sharing(first=(name,), last=(name,)) if kept else Sharing(private=(name,))


def _count(declared: CDeclaration, context: Context) -> int | None:
    """How many elements an array has, if that is a constant."""
    if declared.pointers or not declared.dimensions or declared.scope == "parameter":
        return None
    extents = [constant_value(parsed_extent(text), context) if text else None for text in declared.dimensions]
    return None if None in extents else prod(extent or 0 for extent in extents)


@dataclass(frozen=True, slots=True)
class _Place:
    """A statement, the loops around it, and whether all their iterations come to it."""

    loops: tuple[CanonicalLoop, ...]
    certain: bool


def _accumulated(declared: CDeclaration, loops: Sequence[CanonicalLoop], context: Context) -> Sharing | None:
    """What combines the values of an array into which a nest only accumulates; None where it does anything else."""
    found = accumulated(declared, loops, context)
    if found is None:
        return None
    sums, steps = found
    count = _count(declared, context)
    if count is not None and count <= MOST_ELEMENTS:
        return Sharing(reductions=(sums,))
    section = _section(steps, depth_of(declared), loops, context)
    if section is not None:
        item, tests = section
        return Sharing(reductions=(replace(sums, item=f"{declared.name}{item}"),), tests=tests)
    if sums.operator in _ATOMIC and not declared.is_complex and all(map(may_be_atomic, steps)):
        return Sharing(atomic=(sums,), updates=tuple(step.place for step in steps))
    return None


def accumulated(
    declared: CDeclaration, loops: Sequence[CanonicalLoop], context: Context
) -> tuple[Accumulation, list[Update]] | None:
    """How a nest accumulates into elements of an array, and by which statements; None where it does anything else."""
    body, name = loops[-1].body, declared.name
    names = names_of(body, context.declarations)
    # Copies of an unrolled body may share what they do not change.
    uses = [(id(node), found) for found, node, _ in references(body, names) if found.variable == name]
    places = {place for place, _ in uses}
    steps = accumulating_steps(body, lambda target: id(target) in places)
    whole = all(len(use.subscripts) == depth_of(declared) for _, use in uses)
    if not whole or sum(step.uses for step in steps) != len(uses):
        return None
    if not all(is_repeatable(step.target) for step in steps):
        return None
    element = replace(declared, dimensions=(), pointers=0)
    found = combined(steps, element, context)
    if found is None or found[0] not in _COMBINABLE:
        return None
    operator, exact = found
    return Accumulation(name, operator, exact, certain=False, truth=False, place=steps[0].place), steps


def depth_of(declared: CDeclaration) -> int:
    """How many subscripts an element of an array has."""
    return declared.pointers + len(declared.dimensions)


def may_be_atomic(step: Update) -> bool:
    """Whether OpenMP, or OpenACC, takes the statement as an atomic update."""
    match step.place:
        case c_ast.UnaryOp():
            return True
        case c_ast.Assignment(op="=", rvalue=c_ast.BinaryOp(left=left, right=right)):
            return equal(left, step.target) != equal(right, step.target)
        case c_ast.Assignment(op=op):
            return op != "="
        case _:
            return False


def _section(
    steps: Sequence[Update], depth: int, loops: Sequence[CanonicalLoop], context: Context
) -> tuple[str, tuple[Node, ...]] | None:
    """The elements that all steps come to, each of them, as an array section, and when it is one.

    None where that is not certain.
    """
    places = dict(_places(loops[0].node, (), True))
    changing = frozenset(assigned_names(loops[0].node)) | declared_names(loops[0].node)
    found: dict[str, tuple[Node, ...]] = {}
    for step in steps:
        place = places.get(id(step.place))
        if depth != 1 or place is None or not place.certain or not isinstance(step.target, c_ast.ArrayRef):
            return None
        if not all(_is_steady(loop, loops[0], changing, context) for loop in place.loops):
            return None
        if any(as_stored(loop, context) is not loop for loop in place.loops):
            return None
        counted = [loop for loop in place.loops if _counts(step.target.subscript, loop, changing)]
        if len(counted) != 1:
            return None
        (loop,) = counted
        first = simplify(substitute(step.target.subscript, loop.index, loop.start))
        length = simplify(add(sub(loop.bound, loop.start), int(loop.relation == "<=")))
        tests = [runs(one) for one in place.loops if not one.trip_count()]
        tests += [] if loop.trip_count() else [binary("<=", length, const(MOST_ELEMENTS))]
        if (loop.trip_count() or 0) > MOST_ELEMENTS:
            return None
        found[f"[{emit_expression(first)}:{emit_expression(length)}]"] = tuple(tests)
    return found.popitem() if len(found) == 1 else None


def _places(node: Node, loops: tuple[CanonicalLoop, ...], certain: bool) -> Iterator[tuple[int, _Place]]:
    """Where each statement stands, by identity."""
    yield id(node), _Place(loops, certain)
    match node:
        case Compound():
            for item in node.block_items or []:
                yield from _places(item, loops, certain)
        case For() if (loop := CanonicalLoop.match(node)) is not None:
            yield from _places(loop.body, (*loops, loop), certain and not ends_iterations(loop.body))
        case c_ast.If():
            for part in (node.iftrue, node.iffalse):
                if part is not None:
                    yield from _places(part, loops, False)
        case _:
            pass


def _is_steady(loop: CanonicalLoop, nest: CanonicalLoop, changing: frozenset[str], context: Context) -> bool:
    """Whether a loop has one range throughout a nest, which may be asked for before it."""
    for part in (loop.start, loop.bound):
        used = context.effects(part)
        if used.writes or used.calls or used.opaque or used.reads & changing:
            return False
        if overwritten(part, nest, context) is not None:
            return False
    return True


def _counts(subscript: Node, loop: CanonicalLoop, changing: frozenset[str]) -> bool:
    """Whether a subscript is the index of a loop with step 1 upward, or that and what stays the same."""
    if loop.stride != 1 or loop.relation not in {"<", "<="}:
        return False
    match subscript:
        case c_ast.ID(name=name):
            return name == loop.index
        case c_ast.BinaryOp(op="+", left=c_ast.ID(name=name), right=rest) if name == loop.index:
            return _stays(rest, changing)
        case c_ast.BinaryOp(op="+", left=rest, right=c_ast.ID(name=name)) if name == loop.index:
            return _stays(rest, changing)
        case _:
            return False


def _stays(node: Node, changing: frozenset[str]) -> bool:
    """Whether an expression is made of constants and variables that nothing in the nest changes."""
    plain = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp)
    return all(
        isinstance(part, plain) and not (isinstance(part, c_ast.ID) and part.name in changing)
        for part in walk(node)
    )
