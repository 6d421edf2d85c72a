"""Which variables the iterations of a parallel or vector loop share, and how they are combined."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, fields, replace

from orio_py.ctree.build import literal_value
from orio_py.ctree.dependence.legality import may_parallelise
from orio_py.ctree.dependence.scalars import scalar_flow
from orio_py.ctree.dependence.verdict import Illegal, Legal, Verdict
from orio_py.ctree.loops import CanonicalLoop, first_write
from orio_py.ctree.nodes import For, Node
from orio_py.ctree.rewrite import assigned_names, walk
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.overwriting import other_use
from orio_py.transformation.parallel.kept_values import KeptValues
from orio_py.transformation.parallel.reduction_variables import ReductionVariable
from orio_py.transformation.parallel.reductions import Accumulation, accumulation, induction_step
from orio_py.transformation.types import index_type, same_signedness
from orio_py.transformation.verdicts import dependence_context, require_legal

_THREAD_LOCAL = frozenset({"_Thread_local", "__thread", "thread_local"})


@dataclass(frozen=True, slots=True)
class Sharing:
    """The data-sharing clauses that a loop needs.

    `last` are private variables whose value in the last iteration is read afterwards; `linear` are
    integers that each iteration steps by a constant.  Of private arrays `first` begin with what they hold before the loop,
    so that elements that no iteration writes keep it.  The arrays `atomic` are changed by the statements `updates`, one
    thread at a time; `variables` are those of reductions that the loop itself does not have; all this is right where `tests` hold.
    The threads of a team keep `kept` values apart from each other.
    """

    private: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    reductions: tuple[Accumulation, ...] = ()
    linear: tuple[tuple[str, int], ...] = ()
    atomic: tuple[Accumulation, ...] = ()
    updates: tuple[Node, ...] = ()
    first: tuple[str, ...] = ()
    tests: tuple[Node, ...] = ()
    variables: tuple[ReductionVariable, ...] = ()
    kept: tuple[KeptValues, ...] = ()

    def joined(self, other: Sharing) -> Sharing:
        """What both say."""
        return Sharing(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(self)))

    @property
    def needs_an_iteration(self) -> bool:
        """Whether the clauses are right only where the loop runs at least once."""
        return bool(self.last) or any(r.truth for r in self.reductions)

    @property
    def names(self) -> frozenset[str]:
        """Every variable that a clause or an atomic statement is about."""
        combined = (*(r.name for r in self.accumulated), *(name for name, _ in self.linear))
        return frozenset((*self.private, *self.last, *combined, *self.keeping))

    @property
    def keeping(self) -> tuple[str, ...]:
        """The variables that keep what one iteration assigns them."""
        return tuple(name for one in self.kept for name in one.names)

    @property
    def accumulated(self) -> tuple[Accumulation, ...]:
        """What iterations accumulate into."""
        return self.reductions + self.atomic

    def clauses(self) -> list[str]:
        """The clauses as OpenMP writes them."""
        found = [f"private({', '.join(self.private)})"] if self.private else []
        if self.first:
            found.append(f"firstprivate({', '.join(self.first)})")
        if self.last:
            found.append(f"lastprivate({', '.join(self.last)})")
        found.extend(f"linear({name}: {step})" for name, step in self.linear)
        for operator in dict.fromkeys(r.operator for r in self.reductions):
            names = ", ".join(r.item or r.name for r in self.reductions if r.operator == operator)
            found.append(f"reduction({operator}: {names})")
        return found


def sharing(loops: Sequence[CanonicalLoop], context: Context, *, stepped: bool = False) -> Sharing:
    """The clauses for the iterations of a nest that are shared out, outermost loop first.

    Variables that no clause makes independent are left out.  `stepped` allows `linear`.
    """
    body = loops[-1].body
    flow = scalar_flow([body])
    own = {loop.index for loop in loops}
    private: list[str] = []
    last: list[str] = []
    reductions: list[Accumulation] = []
    linear: list[tuple[str, int]] = []
    for name in assigned_scalars(body, context):
        if name in own or other_use(body, name, context) is not None:
            continue  # A copy is not what pointers lead to.
        if name not in flow.exposed:
            if name not in context.live_after:
                private.append(name)
            elif name in flow.assigned and starts_are_comparable(loops, context):
                last.append(name)
        elif stepped and (step := induction_step(body, name, context)) is not None:
            linear.append((name, step))
        elif (found := accumulation(body, name, context)) is not None and (
            not found.truth or (found.certain and starts_are_comparable(loops, context))
        ):
            reductions.append(found)
    return Sharing(tuple(private), tuple(last), tuple(reductions), tuple(linear))


def assigned_scalars(body: Node, context: Context) -> tuple[str, ...]:
    """The variables declared outside that a body assigns as a whole, in the order of the source."""
    outside = context.effects(body).scalar_writes
    return tuple(name for name in assigned_names(body) if name in outside)


def verdict_of(
    loops: Sequence[CanonicalLoop], shared: Sharing, context: Context
) -> tuple[Verdict, CanonicalLoop]:
    """What the dependence test says of running the loops' iterations at the same time, and of which loop."""
    known = replace(context, live_after=context.live_after - set(shared.last))
    private = frozenset((*shared.private, *shared.last, *(loop.index for loop in loops)))
    arrays = frozenset(r.name for r in shared.accumulated if _is_array(r.name, context))
    arrays |= {found.name for found in shared.variables}
    steps = (name for name, _ in shared.linear)
    combined = frozenset((*(r.name for r in shared.reductions), *steps, *shared.keeping))
    for level, loop in enumerate(loops):
        inside = replace(known, surrounding=(*known.surrounding, *loops[:level]))
        found = may_parallelise(
            loop,
            dependence_context(inside),
            private=private,
            reductions=combined - arrays,
            accumulated=arrays,
        )
        if not isinstance(found, Legal):
            return found, loop
    return Legal(), loops[0]


def _is_array(name: str, context: Context) -> bool:
    declared = context.declarations.get(name)
    return declared is not None and declared.is_array_like


def require_independent(
    loops: Sequence[CanonicalLoop],
    shared: Sharing,
    what: str,
    context: Context,
    *,
    force: bool,
    known: tuple[Verdict, CanonicalLoop] | None = None,
) -> None:
    """No dependence but the ones that the clauses remove; `known` is what `verdict_of` has answered.

    Raises Refusal: ORIO-T040, T041.
    """
    found, loop = known or verdict_of(loops, shared, context)
    require_legal(found, what, loop.node, context, force=force)
    require_own_indices(loops, shared.names, what, context, force=force)


def require_none_shared(loops: Sequence[CanonicalLoop], shared: Sharing, what: str, context: Context) -> None:
    """Of loops that are not tested anew no iterations share a variable that they assign: copies of a body may do more with it.

    Raises Refusal: ORIO-T041.
    """
    body = loops[-1].body
    own = {loop.index for loop in loops}
    for name in assigned_scalars(body, context):
        if name not in shared.names | own:
            place = first_write(name, body) or loops[0].node
            reason = f"its copies of the body share `{name}`, which no clause is about"
            refuse("ORIO-T041", f"{what} cannot be shown to keep the result: {reason}", place)


def require_shared_storage(loop: CanonicalLoop, what: str, context: Context) -> None:
    """No variable is used of which each thread has its own.  Raises Refusal: ORIO-T041."""
    inside = context.effects(loop.node)
    for name in sorted(inside.reads | inside.writes):
        declared = context.declarations.get(name)
        if declared is not None and declared.storage & _THREAD_LOCAL:
            refuse(
                "ORIO-T041",
                f"{what} would give each thread another `{name}`, which is a variable of its thread",
                loop.node,
                help=f"copy `{name}` into a local variable before the loop",
            )


def require_own_storage(loop: CanonicalLoop, shared: Sharing, what: str, context: Context) -> None:
    """No clause, and no loop that a directive stands before, names a variable of which each thread has its own anyway (OpenMP 4.5, 2.15.1.1).  Raises Refusal: ORIO-T041."""
    named = shared.names if loop.declared_type is not None else shared.names | {loop.index}
    for name in sorted(named):
        declared = context.declarations.get(name)
        if declared is not None and declared.storage & _THREAD_LOCAL:
            refuse(
                "ORIO-T041",
                f"{what} would name `{name}` in a clause, which is a variable of its thread",
                loop.node,
                help=f"copy `{name}` into a local variable before the loop",
            )


def require_own_indices(
    loops: Sequence[CanonicalLoop], named: Set[str], what: str, context: Context, *, force: bool
) -> None:
    """No iterations share the index of an inner loop, which the dependence test leaves to the clauses.

    Raises Refusal: ORIO-T040.
    """
    own = {loop.index for loop in loops}
    outside = context.effects(loops[0].body).scalar_writes
    for node in walk(loops[0].body):
        if not isinstance(node, For):
            continue
        for name in assigned_names(*(part for part in (node.init, node.next) if part is not None)):
            if name in outside - named - own:
                reason = f"the iterations share `{name}`, and its last value is read later"
                require_legal(Illegal(reason, name=name), what, node, context, force=force)


def require_order_free(shared: Sharing, what: str, context: Context, *, force: bool) -> None:
    """Floating-point values are combined in another order only where that is promised.

    Raises Refusal: ORIO-T090.
    """
    for found in shared.accumulated:
        if found.exact or context.assumptions.reassociate:
            continue
        other = "give another zero or NaN" if found.operator in {"min", "max"} else "round differently"
        message = f"combines the values of `{found.name}` in another order, which can {other}"
        if force:
            context.overruled.add(f"{what}: it {message}")
            continue
        refuse(
            "ORIO-T090",
            f"{what} {message}",
            found.place,
            help="promise that this is fine: `def assumptions { arg reassociate = True; }` in the "
            "specification, `--assume reassociate`, or `force=True`",
        )


def collapsed(
    loops: Sequence[CanonicalLoop], depth: int, written: str, context: Context
) -> list[CanonicalLoop]:
    """The outer `depth` loops of a perfect nest, which OpenMP makes one.  Raises Refusal: ORIO-T032."""
    if not 1 <= depth <= len(loops):
        refuse(
            "ORIO-T032",
            f"`collapse({written})` needs as many perfectly nested loops; there are {len(loops)}",
            loops[0].node,
        )
    chosen = list(loops[:depth])
    indices = frozenset(loop.index for loop in chosen)
    for loop in chosen:
        used = context.effects(loop.start).reads | context.effects(loop.bound).reads
        if used & indices:
            refuse(
                "ORIO-T032", f"`collapse({depth})` needs bounds that no collapsed index changes", loop.node
            )
    return chosen


def starts_are_comparable(loops: Sequence[CanonicalLoop], context: Context) -> bool:
    """Whether start and bound of each loop compare as its index and its bound do."""
    return all(
        literal_value(loop.start) is not None
        or same_signedness(index_type(loop, context), context, loop.start, loop.bound)
        for loop in loops
    )
