"""The scalars of a nest: what each item has for itself, what it is given, and what all combine."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from orio_py.ctree.build import ident
from orio_py.ctree.loops import CanonicalLoop, loops_in
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import declared_names, walk
from orio_py.kernel.plan import ReductionPlan, ScalarPlan
from orio_py.kernel.types import device_type, identity
from orio_py.transformation.base import Context, note, refuse
from orio_py.transformation.offload.names import CONSTANTS, macro_type
from orio_py.transformation.parallel.data_sharing import Sharing, assigned_scalars
from orio_py.transformation.types import declaration, index_type


@dataclass(frozen=True, slots=True)
class Scalars:
    """The scalars of a kernel: given, private with their types, and combined."""

    given: tuple[ScalarPlan, ...]
    private: tuple[tuple[str, str], ...]
    reductions: tuple[ReductionPlan, ...]


def scalars(
    shared: Sharing,
    mapped: Sequence[CanonicalLoop],
    every: Sequence[CanonicalLoop],
    body: Node,
    extents: tuple[ScalarPlan, ...],
    what: str,
    context: Context,
) -> Scalars:
    """What becomes of each scalar in the body, whose subscripts are flat by `extents`.

    Raises Refusal: ORIO-T121, T124, T126.
    """
    inner = {loop.index for loop in every} - {loop.index for loop in mapped}
    lost = [name for name in shared.last if name not in inner]
    if lost:
        place = next(n for n in walk(body) if isinstance(n, c_ast.ID) and n.name == lost[0])
        refuse(
            "ORIO-T121",
            f"{what} loses the value of `{lost[0]}` from the last iteration, which is read after the loop",
            place,
            help=f"assign `{lost[0]}` after the loop, or keep it in an array",
        )
    private = (*shared.private, *shared.last)
    reductions = tuple(
        reduction_plan(found.name, found.operator, found.place, what, context) for found in shared.reductions
    )
    taken = {*private, *(r.name for r in reductions), *(loop.index for loop in mapped)}
    _require_kept(body, taken, what, context)
    given = (*_given(body, taken | {scalar.name for scalar in extents}, what, context), *extents)
    counting = {
        loop.index: index_type(loop, context)
        for loop in (*every, *filter(None, map(CanonicalLoop.match, loops_in(body))))
        if loop.index not in context.declarations
    }
    types = tuple(
        (name, counting.get(name) or _scalar_type(name, _use(name, body), what, context)) for name in private
    )
    return Scalars(given, types, reductions)


def _require_kept(body: Node, taken: Set[str], what: str, context: Context) -> None:
    """Each variable that is assigned has a place for its value.  Raises Refusal: ORIO-T121.

    A loop that runs once, or never, can assign others: no iteration depends on another one.
    """
    for name in assigned_scalars(body, context):
        if name not in taken:
            refuse(
                "ORIO-T121",
                f"{what} has no place for the value that `{name}` gets: it is no sum or the like over all iterations",
                _use(name, body),
                help=f"assign `{name}` outside of the loop, or keep it in an array",
            )


def _use(name: str, body: Node) -> Node:
    return next((n for n in walk(body) if isinstance(n, c_ast.ID) and n.name == name), body)


def reduction_plan(name: str, operator: str, place: Node, what: str, context: Context) -> ReductionPlan:
    """A scalar that items combine.  Raises Refusal: ORIO-T124, T126."""
    kind = _scalar_type(name, place, what, context)
    device = device_type(kind)
    if device is None or device == "bool":
        refuse("ORIO-T124", f"{what} cannot combine values of `{name}`, which is a truth value", place)
    return ReductionPlan(name, kind, operator, identity(operator, device))


def _given(body: Node, taken: Set[str], what: str, context: Context) -> tuple[ScalarPlan, ...]:
    """The scalars that the body only reads, in the order of the source."""
    inside = declared_names(body)
    found: dict[str, ScalarPlan] = {}
    for node in _values(body):
        name = node.name
        known = name in CONSTANTS and name not in context.declarations
        if known or name in taken or name in found:
            continue
        declared = context.declarations.get(name)
        if name in inside:
            _require_not_outside(name, node, body, what, context)
        elif name in context.macros:
            found[name] = _macro(name, node, what, context)
        elif name in context.sizes:
            # A macro in the test program, so that no parameter can have its name.
            found[name] = ScalarPlan(name, context.sizes[name], ident(name), f"orio_{name}")
        elif declared is None or not declared.is_array_like:
            found[name] = ScalarPlan(name, _scalar_type(name, node, what, context), ident(name), name)
    return tuple(found.values())


def _values(body: Node) -> list[c_ast.ID]:
    """The names that stand for values: no functions, no members."""
    found: list[c_ast.ID] = []
    stack: list[Node] = [body]
    while stack:
        node = stack.pop()
        match node:
            case c_ast.ID():
                found.append(node)
            case c_ast.FuncCall(name=c_ast.ID(), args=arguments):
                stack.extend([arguments] if arguments is not None else [])
            case c_ast.StructRef(name=inner):
                stack.append(inner)
            case _:
                stack.extend(reversed(list(node)))
    return found


def _require_not_outside(name: str, node: Node, body: Node, what: str, context: Context) -> None:
    inside = context.effects(body)
    if name in inside.reads | inside.writes:
        refuse(
            "ORIO-T126",
            f"{what} needs one meaning for each name: `{name}` is declared in the loop and outside of it",
            node,
            help="give one of the two another name",
        )


def _macro(name: str, node: Node, what: str, context: Context) -> ScalarPlan:
    kind = macro_type(name, context)
    if kind is None:
        refuse(
            "ORIO-T126",
            f"{what} cannot give the kernel the macro `{name}`, which is no expression of numbers",
            node,
            help="assign it to a variable before the loop",
        )
    return ScalarPlan(name, kind, ident(name), f"orio_{name}")


def _scalar_type(name: str, node: Node, what: str, context: Context) -> str:
    """The C type of a scalar.  Raises Refusal: ORIO-T124, T126."""
    declared = declaration(name, context)
    if declared is None:
        refuse("ORIO-T126", f"{what} has to know the type of `{name}`, and no declaration is in sight", node)
    if "volatile" in declared.qualifiers or not declared.is_scalar or device_type(declared.type) is None:
        text = declared.text or declared.type
        refuse(
            "ORIO-T124",
            f"{what} needs a type that devices have for `{name}`",
            node,
            notes=[note(f"it is declared `{text}`", node)],
        )
    return declared.type
