"""Which kernels of a recipe share arrays on the device: those whose calls follow each other.

    orio_cuda_f_0(x, y, …);         one host function for both: x and y are allocated and copied once
    orio_cuda_f_1(y, z, …);

A kernel belongs to the scope of the ones before it where each array that it has in common with one of them begins at
the same address, and nothing that one of them writes goes by another name in another.

Source: A. Rivera, "Using autotuning for accelerating tensor contraction on graphics processing units", thesis,
University of Utah, 2014, section 4.3 (reuse of data on the device).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from orio_py.ctree.dependence.alias import Aliases
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.ctree.rewrite import used_names, walk, walk_statements
from orio_py.kernel.call import call_parameters, called_plan, kernel_plans, with_plans
from orio_py.kernel.plan import Direction, KernelPlan
from orio_py.transformation.statements.numbering import NumberedProgram
from orio_py.transformation.verdicts import aliases_in


def in_scopes(program: NumberedProgram) -> Compound:
    """The program's code with the kernels that share arrays in scopes; all have functions for arrays on the device."""
    aliases = aliases_in(program.context)
    changed = {id(plan): _in_scope(plan, None) for plan in kernel_plans(program.tree)}
    scope = 0
    for node in walk_statements(program.tree):
        for run in _runs(node, aliases, program) if isinstance(node, Compound) else ():
            changed.update((id(plan), _in_scope(plan, scope)) for plan in run)
            scope += 1
    tree = with_plans(program.tree, changed)
    assert isinstance(tree, Compound)
    return tree


def _in_scope(plan: KernelPlan, scope: int | None) -> KernelPlan:
    cuda = replace(plan.options.cuda, scope=scope)
    return replace(plan, options=replace(plan.options, cuda=cuda, on_device=True))


def _runs(holder: Compound, aliases: Aliases, program: NumberedProgram) -> list[list[KernelPlan]]:
    """The kernels of a block that follow each other and can share arrays, two at least."""
    runs: list[list[KernelPlan]] = [[]]
    for item in holder.block_items or []:
        plan = called_plan(item)
        if plan is None:
            runs.append([])
        elif all(
            _can_share(_Kernel(before, program), _Kernel(plan, program), aliases) for before in runs[-1]
        ):
            runs[-1].append(plan)
        else:
            runs.append([plan])
    return [run for run in runs if len(run) > 1]


@dataclass(frozen=True, slots=True)
class _Kernel:
    plan: KernelPlan
    program: NumberedProgram

    @property
    def places(self) -> dict[str, str]:
        """The arrays, each with the text of its address."""
        return {buffer.name: emit_expression(buffer.address) for buffer in self.plan.buffers}

    @property
    def written(self) -> frozenset[str]:
        """The arrays that the kernel writes."""
        return frozenset(b.name for b in self.plan.buffers if b.direction is not Direction.IN)

    @property
    def values(self) -> Sequence[Node]:
        """The arguments that are no arrays."""
        return [parameter.argument for parameter in call_parameters(self.plan)[len(self.plan.buffers) :]]

    @property
    def spots(self) -> frozenset[tuple[str, int]]:
        """The arrays and scalars that a call uses, with the number of their subscripts."""
        declared = self.program.context.declarations
        arrays = {(name, max(len(declared[name].dimensions), 1)) for name in self.places if name in declared}
        scalars = {name for name in used_names(self.values) if name not in self.places}
        return frozenset({*arrays, *((name, 0) for name in scalars)})


def _can_share(one: _Kernel, two: _Kernel, aliases: Aliases) -> bool:
    first, second = one.places, two.places
    if any(first[name] != second[name] for name in first.keys() & second.keys()):
        return False
    if any(
        isinstance(part, (c_ast.ArrayRef, c_ast.StructRef)) for value in two.values for part in walk(value)
    ):
        return False  # The first kernel could change what the second one is given.
    written = one.written | two.written
    return not any(
        aliases.may_overlap(here, there)
        for here, there in product(one.spots, two.spots)
        if here[0] != there[0] and {here[0], there[0]} & written
    )
