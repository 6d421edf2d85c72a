"""The commands of a recipe by statement number that work on the loops around one statement.

    permute(0, ("k", "i", "j"))      the loops around statement 0 in this order, outermost first
    registers(0, "k")                what statement 0 assigns is kept in a scalar while `k` runs
    unroll(0, "k", 4)                `k` unrolled; copies of loops inside it are fused

Source: the recipes of CHiLL as used in A. Rivera, "Using autotuning for accelerating tensor contraction on
graphics processing units", thesis, University of Utah, 2014, table 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from orio_py.core.diagnostics import Diagnostic
from orio_py.ctree.nodes import For
from orio_py.transformation.base import Refusal, refuse
from orio_py.transformation.loop_names import LoopName
from orio_py.transformation.statements.numbering import LoopPlace, NumberedProgram, indices
from orio_py.transformation.tiling.permute import Permut
from orio_py.transformation.unrolling.unroll_and_jam import UnrollAndJam


class Command(Protocol):
    """One command with its arguments; a frozen dataclass."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The statements that it names."""
        ...

    def check(self, program: NumberedProgram) -> object:
        """Whether the statements and loops that it names exist in `program`.  Raises Refusal."""
        ...

    def apply(self, program: NumberedProgram) -> NumberedProgram:
        """The program after the command.  Raises Refusal."""
        ...


@dataclass(frozen=True, slots=True)
class Permute:
    """Bring all loops around a statement into the order of `order`, outermost first."""

    stmt: int
    order: tuple[str, ...]
    force: bool = False

    @property
    def numbers(self) -> tuple[int, ...]:
        """The statement."""
        return (self.stmt,)

    def check(self, program: NumberedProgram) -> tuple[For, ...]:
        """The nest, if `order` names each of its loops once.  Raises Refusal: ORIO-T102, T104, T106."""
        loops = program.nest(self.stmt, "permute")
        present = indices(loops)
        twice = next((name for name in self.order if self.order.count(name) > 1), None)
        if twice is not None:
            problem = f"`{twice}` is named twice"
        elif unknown := [name for name in self.order if name not in present]:
            problem = f"there is no `{unknown[0]}` among them"
        elif missing := [name for name in present if name not in self.order]:
            problem = f"`{missing[0]}` is missing"
        elif len(self.order) != len(present):
            problem = "two of them have the same index"
        else:
            return loops
        shown = ", ".join(f"`{name}`" for name in present) or "none"
        message = f"permute names each loop around the statement once; {problem}"
        refuse(
            "ORIO-T104", message, program.places[self.stmt], help=f"the loops are {shown}", argument="order"
        )

    def apply(self, program: NumberedProgram) -> NumberedProgram:
        """The loops in the new order.  Raises Refusal: ORIO-T102, T104, T106, and those of Permut."""
        loops = self.check(program)
        moved = [k for k, name in enumerate(indices(loops)) if name != self.order[k]]
        if not moved:
            return program
        # Loops outside and inside of those that move need not be part of a perfect nest.
        order = self.order[moved[0] : moved[-1] + 1]
        step = Permut(tuple(LoopName((name,)) for name in order), force=self.force)
        try:
            return program.changed([loops[moved[0]]], step.apply)
        except Refusal as refusal:
            raise Refusal(
                *(_with_advice(problem, program, loops[moved[0]]) for problem in refusal.diagnostics),
                argument="order" if refusal.argument == "seq" else refusal.argument,
            ) from None


def _with_advice(problem: Diagnostic, program: NumberedProgram, outermost: For) -> Diagnostic:
    if problem.code != "ORIO-T030":
        return problem
    inside = [found for found in program.occurrences() if any(loop is outermost for loop in found.loops)]
    numbers = ", ".join(map(str, dict.fromkeys(found.number for found in inside)))
    level = 1 + inside[0].loops.index(outermost)
    advice = f"`distribute({{{numbers}}}, {level})` before it gives each statement loops of its own"
    return replace(problem, help=advice) if "," in numbers else problem


@dataclass(frozen=True, slots=True)
class UnrollStatements:
    """Unroll a loop around a statement; where it holds loops, their copies are fused (1 = unchanged)."""

    stmt: int
    loop: LoopPlace
    factor: int
    force: bool = False

    @property
    def numbers(self) -> tuple[int, ...]:
        """The statement."""
        return (self.stmt,)

    def check(self, program: NumberedProgram) -> None:
        """Whether there is such a loop.  Raises Refusal: ORIO-T102, ORIO-T103."""
        program.loops(self.stmt, self.loop, "loop")

    def apply(self, program: NumberedProgram) -> NumberedProgram:
        """The loop unrolled, once for each nest that holds a copy of the statement."""
        loops = program.loops(self.stmt, self.loop, "loop")
        try:
            return program.changed(loops, UnrollAndJam(self.factor, force=self.force).apply)
        except Refusal as refusal:
            advice = "unroll the outer loops first"
            problems = (replace(d, help=advice) if d.code == "ORIO-T021" else d for d in refusal.diagnostics)
            renamed = "factor" if refusal.argument == "ufactor" else refusal.argument
            raise Refusal(*problems, argument=renamed) from None
