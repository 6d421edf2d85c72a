"""The command `cuda` of a recipe by statement number: loops around a statement become a grid and its blocks.

    cuda(0, block={"i"}, thread={"j"})      for (long orio_i = blockIdx.x; …)         here: one for each block
                                              for (long orio_j = threadIdx.x; …) {
    for (k = 0; k < n; k++)                     for (k = 0; k < n; k++)
      for (i = 0; i < n; i++)                     y[i][j] += x[k][i] * z[k][j];
        for (j = 0; j < n; j++)                 }
          y[i][j] += x[k][i] * z[k][j];

At its place in the recipe the command splits off the other statements of the nest, where there are any, and brings
the loops outermost; commands behind it work on what is inside.  The nests become kernels when all commands have been
applied.

Source: A. Rivera, "Using autotuning for accelerating tensor contraction on graphics processing units", thesis,
University of Utah, 2014, table 3.1 and sections 3.1, 4.1; for the dimensions CUDA C++ Programming Guide, section 2.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from orio_py.core.expr import Value
from orio_py.ctree.build import const, literal_value
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node
from orio_py.ctree.rewrite import substitute, used_names
from orio_py.ctree.simplify import simplify
from orio_py.kernel.backends.cuda import BACKEND
from orio_py.machine.catalog import gpu_model
from orio_py.machine.device import GpuModel
from orio_py.transformation.base import Context, Refusal, refuse
from orio_py.transformation.offload.arguments import OffloadArguments
from orio_py.transformation.offload.device_step import with_kernel
from orio_py.transformation.offload.limits import OLDEST
from orio_py.transformation.statements.groups import with_own_nest
from orio_py.transformation.statements.mapped_nests import (
    WHAT,
    brought_out,
    headers,
    mapping_of,
    require_parallel,
    view_of,
)
from orio_py.transformation.statements.numbering import Mapped, NumberedProgram


@dataclass(frozen=True, slots=True)
class Cuda:
    """Map loops around a statement to the blocks and the threads of a launch, x first."""

    stmt: int
    block: tuple[str, ...]
    thread: tuple[str, ...]
    force: bool = False

    @property
    def numbers(self) -> tuple[int, ...]:
        """The statement."""
        return (self.stmt,)

    def check(self, program: NumberedProgram) -> None:
        """Whether there are such loops, each named once.  Raises Refusal: ORIO-T016, T102, T103."""
        for argument, names in (("block", self.block), ("thread", self.thread)):
            for name in names:
                program.loops(self.stmt, name, argument)
        if both := [name for name in self.thread if name in self.block]:
            message = f"the loop `{both[0]}` cannot run over blocks and over threads"
            refuse("ORIO-T016", message, None, argument="thread")

    def apply(self, program: NumberedProgram) -> NumberedProgram:
        """The program with the loops outermost in a nest that will be a kernel.

        Raises Refusal: ORIO-T016, T020 to T031, T040, T041, T090, T102, T103, T105, T106, T120, and those of
        Distribute.
        """
        self.check(program)
        if (other := mapping_of(program, self.stmt)) is not None:
            refuse(
                "ORIO-T105",
                f"statement {self.stmt} is in loops that an earlier `cuda` has mapped: {other.shown}",
                program.places[self.stmt],
                help="one `cuda` stands for all statements that are fused",
                argument="stmt",
            )
        mapped = Mapped(self.stmt, self.block, self.thread, force=self.force)
        program = with_own_nest(program, self.stmt, mapped)
        self._require_each_parallel(program)
        program = brought_out(program, self.stmt, mapped)
        loops = program.nest(self.stmt, WHAT)[: len(mapped.order)]
        mapped = replace(mapped, headers=headers(loops))
        require_parallel(program, loops[0], mapped.order, force=self.force)
        return replace(program, mappings=(*program.mappings, mapped))

    def _require_each_parallel(self, program: NumberedProgram) -> None:
        """None of the loops carries a dependence.  Raises Refusal: ORIO-T040, T041, T090, T120."""
        for argument, names in (("block", self.block), ("thread", self.thread)):
            for name in names:
                try:
                    loop = program.loops(self.stmt, name, argument)[0]
                    require_parallel(program, loop, (name,), force=self.force)
                except Refusal as refusal:
                    raise Refusal(*refusal.diagnostics, argument=argument) from None


def launched(program: NumberedProgram, mapped: Mapped, values: Mapping[str, Value]) -> NumberedProgram:
    """The program with the call of a kernel in place of a mapped nest.

    `values` are what input and tuning parameters are in this variant: the number of threads is the number of
    iterations that they make.

    Raises Refusal: ORIO-T105, T122 to T126, T143, and others of `offload`.
    """
    assert program.simple is not None
    loops = program.copies(mapped.stmt)[0].loops[: len(mapped.order)]
    simple = replace(program, tree=program.simple).copies(mapped.stmt)[0].loops[0]
    views = {name: view_of(loop) for name, loop in zip(mapped.order, loops, strict=True)}
    model = gpu_model(OLDEST)
    assert model is not None
    arguments = OffloadArguments(
        WHAT,
        BACKEND,
        nd=mapped.order,
        items=_threads([views[name] for name in mapped.thread], values, program.context, model),
        model=model,
        placements=mapped.placements,
        force=mapped.force,
        trusted=True,
        same=simple,
    )
    try:
        return program.changed([loops[0]], lambda node, context: with_kernel(node, context, arguments))
    except Refusal as refusal:
        blamed = "thread" if refusal.argument == "threadCount" else refusal.argument
        raise Refusal(*refusal.diagnostics, argument=blamed) from None


def _threads(
    loops: list[CanonicalLoop], values: Mapping[str, Value], context: Context, model: GpuModel
) -> tuple[int, ...]:
    """The threads of a block in each dimension: the loops' iterations, or some where their number is not known."""
    known = [_expected_trips(loop, values, context) for loop in loops]
    left = max(1, model.max_threads_per_block // prod(trips for trips in known if trips is not None))
    given = iter(BACKEND.block_sizes.get(known.count(None), ()))
    sizes: list[int] = []
    for trips in known:
        if trips is None:
            trips = min(next(given), left)
            left //= trips
        sizes.append(trips)
    return tuple(sizes)


def _expected_trips(loop: CanonicalLoop, values: Mapping[str, Value], context: Context) -> int | None:
    """The number of iterations with these values and the file's macros, at least 1; None where that is not known."""
    start, bound = (_number(part, values, context) for part in (loop.start, loop.bound))
    if start is None or bound is None:
        return None
    return max(1, replace(loop, start=const(start), bound=const(bound)).trip_count() or 1)


def _number(expression: Node, values: Mapping[str, Value], context: Context) -> int | None:
    for name in sorted(used_names([expression])):
        value = values.get(name, _of_macro(name, context))
        if isinstance(value, int) and not isinstance(value, bool):
            expression = substitute(expression, name, const(value))
    return literal_value(simplify(expression))


def _of_macro(name: str, context: Context) -> int | None:
    """The number that a macro stands for, if it is one."""
    text = context.macros.get(name, "").strip().strip("()")
    return int(text) if text.isdecimal() else None
