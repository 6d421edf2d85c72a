"""DeviceData: keep arrays on the device while code runs that calls kernels.

    for (t = 0; t < steps; t++) {         orio_opencl_jacobi_0_data_begin(a, …, b, …);      a and b to the device
      orio_opencl_jacobi_0(a, b, …);      for (t = 0; t < steps; t++) {
      orio_opencl_jacobi_1(b, a, …);        orio_opencl_jacobi_0(a, b, …);                  no copies
    }                                       orio_opencl_jacobi_1(b, a, …);
                                          }
                                          orio_opencl_jacobi_0_data_end();                  a and b back

An array can stay where nothing but kernels touches it in the code, nothing else that is touched there may be the same
memory, and the host can say before which of its elements the kernels use.  Others are copied for each kernel as ever.

Source: The OpenACC Application Programming Interface 3.2, section 2.6 (data environment: what is present is not copied).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace

from orio_py.ctree.build import block, literal_value
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.ctree.rewrite import Replacement, Rewriter, walk
from orio_py.ctree.symbols import declaration_of
from orio_py.kernel.call import called_plan, data_calls, kernel_plans, numbered, with_plans
from orio_py.kernel.plan import BufferPlan, DataPlan, Direction, KernelPlan, ResidentArray
from orio_py.transformation.arguments import texts
from orio_py.transformation.base import Context, Refusal, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.offload.host_uses import CertainPart, HostUses, in_order


@dataclass(frozen=True, slots=True)
class DeviceData:
    """Keep `arrays`, by default all that can stay, on the device while a statement runs.

    What arrays in `skipIn` hold before is not copied to the device, what those in `skipOut` hold afterwards is not copied
    back: the user says that nobody needs it.  `force` takes the user's word that nothing else touches `arrays`.
    """

    arrays: tuple[str, ...] = ()
    skipIn: tuple[str, ...] = ()
    skipOut: tuple[str, ...] = ()
    force: bool = False
    only: frozenset[str] | None = None

    def apply(self, node: Node, context: Context) -> Node:
        """A new tree; `node` is not modified.  Raises Refusal: ORIO-T015, T131."""
        node = numbered(node, context.label)  # Steps inside have given names that are only theirs.
        plans = kernel_plans(node)
        if not plans:
            refuse("ORIO-T131", "DeviceData keeps arrays for kernels, and there are none here", node)
        self._require_one_device(plans, node)
        self._require_one_way_out(node)
        found = _Residents(node, plans, context)
        reasons = {name: found.reason(name, asked=self.only is None) for name in found.pieces}
        chosen = self._chosen(found, reasons, node, context)
        if not chosen:
            name, why = next(iter(reasons.items()))
            refuse("ORIO-T131", f"no array can stay on the device: `{name}` cannot, {why}", node)
        data = DataPlan(tuple(self._resident(name, found, context) for name in chosen))
        new = with_plans(node, {id(plans[0]): replace(plans[0], data=data)})
        first = next(plan for plan in kernel_plans(new) if plan.data is data)
        begin, end = data_calls(first)
        return block(CertainPart.of(node).guarded(begin, context), new, end)

    def _require_one_device(self, plans: Sequence[KernelPlan], node: Node) -> None:
        """Raises Refusal: ORIO-T131."""
        kinds = {(plan.language, plan.options.platform, plan.options.device) for plan in plans}
        if len(kinds) > 1:
            refuse(
                "ORIO-T131",
                "DeviceData keeps arrays on one device, and the kernels here are for several",
                node,
            )
        if any(plan.data is not None for plan in plans):
            refuse("ORIO-T131", "arrays of these kernels stay on the device already", node)

    def _require_one_way_out(self, node: Node) -> None:
        """Arrays come back where the code ends.  Raises Refusal: ORIO-T131."""
        for part in walk(node):
            if isinstance(part, (c_ast.Return, c_ast.Goto)):
                refuse("ORIO-T131", "DeviceData needs code that is left at its end alone", part)

    def _chosen(
        self, found: _Residents, reasons: dict[str, str | None], node: Node, context: Context
    ) -> list[str]:
        """The arrays that stay.  Raises Refusal: ORIO-T015, T131."""
        for name in dict.fromkeys((*self.arrays, *self.skipIn, *self.skipOut)):
            if name not in reasons:
                known = ", ".join(f"`{each}`" for each in reasons)
                refuse("ORIO-T015", f"no kernel here uses an array `{name}`; they use {known}", node)
        chosen: list[str] = []
        for name, why in reasons.items():
            if (self.arrays and name not in self.arrays) or (self.only is not None and name not in self.only):
                continue
            if why is not None and self.arrays and not (self.force and found.is_known(name)):
                refuse("ORIO-T131", f"`{name}` cannot stay on the device, {why}", node, argument="arrays")
            if why is not None and not self.arrays:
                continue
            if why is not None:
                context.overruled.add(f"DeviceData: `{name}` cannot stay on the device, {why}")
            chosen.append(name)
        return chosen

    def _resident(self, name: str, found: _Residents, context: Context) -> ResidentArray:
        pieces = found.pieces[name]
        is_written = any(piece.direction is not Direction.IN for piece in pieces)
        declared = context.declarations.get(name)
        dies = (
            declared is not None
            and declared.scope == "local"
            and bool(declared.dimensions)
            and "static" not in declared.storage
            and name not in context.live_after | context.exposed
        )
        looks = {_look(piece): piece for piece in pieces}
        is_filled = len(looks) == 1 and found.is_filled_first(name)
        return ResidentArray(
            name,
            tuple(looks.values()),
            comes_in=name not in self.skipIn and not is_filled,
            goes_out=is_written and not dies and name not in self.skipOut,
        )


def kept_on_device(node: Node, context: Context) -> Node:
    """The code of a region with arrays that several launches use on the device meanwhile, where they can stay.

    Nothing is done where a recipe says itself what stays, or kernels share arrays in another way.
    """
    plans = kernel_plans(node)
    if any(plan.data is not None or plan.options.cuda.scope is not None for plan in plans):
        return node
    shared = _shared(node, plans)
    if not shared:
        return node
    declared = Counter(part.name for part in walk(node) if isinstance(part, c_ast.Decl))
    once = {name for name, number in declared.items() if number == 1}
    arrays = _Hoisting((shared & once) - context.declarations.keys())
    rest = arrays.rewrite(node)
    own = {name: declaration_of(decl) for name, decl in arrays.found.items()}
    inside = replace(context, declarations={**context.declarations, **own})
    with suppress(Refusal):
        kept = DeviceData(only=shared).apply(rest, inside)
        return block(block(*arrays.found.values(), kept)) if arrays.found else kept
    return node


def _shared(node: Node, plans: Sequence[KernelPlan]) -> frozenset[str]:
    """The arrays of several launches: of two kernels, or of one that a loop repeats."""
    repeated = {
        plan.name
        for loop in walk(node)
        if isinstance(loop, (c_ast.For, c_ast.While, c_ast.DoWhile))
        for plan in kernel_plans(loop)
    }
    counts = Counter(buffer.name for plan in plans for buffer in plan.buffers)
    again = {buffer.name for plan in plans if plan.name in repeated for buffer in plan.buffers}
    return frozenset(again | {name for name, number in counts.items() if number > 1})


def _look(piece: BufferPlan) -> tuple[str, str]:
    return emit_expression(piece.address), emit_expression(piece.count)


class _Residents:
    """What kernels use of arrays, and what else the code does."""

    def __init__(self, node: Node, plans: Sequence[KernelPlan], context: Context) -> None:
        self.pieces: dict[str, list[BufferPlan]] = {}
        self._node = node
        self._plans = plans
        values = [
            value
            for plan in plans
            for value in (
                *(scalar.value for scalar in plan.scalars),
                *(part for axis in plan.axes for part in (axis.start, axis.trips)),
                *(buffer.count for buffer in plan.buffers),
            )
        ]
        results = [reduction.name for plan in plans for reduction in plan.reductions]
        self._host = HostUses.of(node, _WithoutKernels().rewrite(node), values, results, context)
        for plan in plans:
            for buffer in plan.buffers:
                self.pieces.setdefault(buffer.name, []).append(buffer)

    def is_known(self, name: str) -> bool:
        """Whether the host can say before which elements the kernels use, and these lie there as here."""
        return self._form_problem(name) is None

    def reason(self, name: str, *, asked: bool) -> str | None:
        """Why an array cannot stay; None where it can.

        Where nobody `asked` for it, it has to have its elements although no kernel may run.
        """
        problem = self._form_problem(name) or self._host.problem(name, self._bounds(name), self.pieces)
        if problem is None and not asked and not self._host.is_there(name) and not self._is_used(name):
            return "as no kernel that certainly runs uses it"
        return problem

    def _is_used(self, name: str) -> bool:
        """Whether kernels that certainly run use all that kernels use of an array."""
        plans = [plan for s in CertainPart.of(self._node).statements if (plan := called_plan(s)) is not None]
        certain = {_look(b) for plan in plans for b in plan.buffers if b.name == name}
        return all(_look(piece) in certain for piece in self.pieces[name])

    def is_filled_first(self, name: str) -> bool:
        """Whether the first that happens to an array is that a kernel, which runs if there are elements, writes all."""
        for statement in in_order(self._node):
            plan = called_plan(statement)
            buffers = [] if plan is None else [b for b in plan.buffers if b.name == name]
            if plan is not None and buffers:
                # Two counts below 0 make a number of elements, and no iteration.
                is_certain = len(plan.axes) == 1 or all(literal_value(a.trips) is not None for a in plan.axes)
                return is_certain and buffers[0].direction is Direction.OUT
            if plan is None and any(b.name == name for p in kernel_plans(statement) for b in p.buffers):
                return False
        return False

    def _form_problem(self, name: str) -> str | None:
        pieces = self.pieces[name]
        if any(plan.options.streams > 1 for plan in self._plans if any(b.name == name for b in plan.buffers)):
            return "as it is copied in slices to several queues"
        if any(piece.rows is not None for piece in pieces):
            return "as the device holds it column by column"
        return self._host.changing(self._bounds(name))

    def _bounds(self, name: str) -> list[Node]:
        return [part for piece in self.pieces[name] for part in (piece.address, piece.count)]


class _Hoisting(Rewriter):
    """Takes out declarations of local arrays that kernels share, which have to stand in front of what copies them."""

    def __init__(self, names: Set[str]) -> None:
        self._names = names
        self.found: dict[str, c_ast.Decl] = {}

    def visit_Decl(self, node: c_ast.Decl) -> Replacement:
        """Arrays of known sizes without initialisers, whose names are declared once."""
        is_array = isinstance(node.type, c_ast.ArrayDecl) and literal_value(node.type.dim) is not None
        plain = node.init is None and not node.storage and isinstance(node.type.type, c_ast.TypeDecl)
        if node.name is None or node.name not in self._names or not (is_array and plain):
            return node
        self.found[node.name] = node
        return []


class _WithoutKernels(Rewriter):
    """Leaves out the calls of kernels."""

    def visit_Compound(self, node: Compound) -> Replacement:
        return c_ast.EmptyStatement() if called_plan(node) is not None else self.generic(node)


ENTRY = Entry(
    "DeviceData",
    "keep arrays on the device while code runs that calls kernels",
    (
        ArgumentSpec(
            "arrays", "name or list of names", "arrays that stay; by default all that can", texts, "[]"
        ),
        ArgumentSpec(
            "skipIn",
            "name or list of names",
            "arrays of which nobody needs on the device what they hold before",
            texts,
            "[]",
        ),
        ArgumentSpec(
            "skipOut",
            "name or list of names",
            "arrays of which nobody needs what they hold afterwards",
            texts,
            "[]",
        ),
        FORCE,
    ),
    DeviceData,
    takes_blocks=True,
)
