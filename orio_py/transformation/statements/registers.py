"""The command `registers` of a recipe by statement number: an output element in a scalar across a loop.

    registers(0, "k")                   for (i = 0; i < n; i++)
                                          for (j = 0; j < n; j++) {
    for (i = 0; i < n; i++)                 double s0_1 = c[i][j];
      for (j = 0; j < n; j++)               for (k = 0; k < n; k++)
        for (k = 0; k < n; k++)               s0_1 += a[i][k] * b[k][j];
          c[i][j] += a[i][k] * b[k][j];     c[i][j] = s0_1;
                                          }

It is ScalarReplace for one element and one loop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import INCREMENTS, For, Node, array_of, c_ast, reference_parts
from orio_py.ctree.rewrite import declared_names, used_names, walk
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.statements.numbering import LoopPlace, NumberedProgram, Occurrence, indices
from orio_py.transformation.storage.array_uses.uses import Uses
from orio_py.transformation.storage.scalar_replace_plan import Planner
from orio_py.transformation.storage.scalar_replace_write import Writer


@dataclass(frozen=True, slots=True)
class Registers:
    """Keep the array element that a statement assigns in a scalar while a loop around it runs."""

    stmt: int
    loop: LoopPlace
    array: str | None = None
    force: bool = False

    @property
    def numbers(self) -> tuple[int, ...]:
        """The statement."""
        return (self.stmt,)

    def check(self, program: NumberedProgram) -> list[For]:
        """The loops, one for each nest with a copy.  Raises Refusal: ORIO-T102, T103, T106, T108."""
        loops = program.loops(self.stmt, self.loop, "loop")
        for copy in program.copies(self.stmt):
            array = _array(_element(copy))
            if self.array is not None and array != self.array:
                message = f"statement {self.stmt} assigns an element of `{array}`, not of `{self.array}`"
                refuse("ORIO-T108", message, copy.node, argument="array")
        return loops

    def apply(self, program: NumberedProgram) -> NumberedProgram:
        """The elements in scalars.  Raises Refusal: as `check`, and ORIO-T060."""
        loops = self.check(program)
        # Each scalar of the region has a name of its own: loops that hold them can be fused later on.
        taken = used_names([program.tree])
        copies = program.copies(self.stmt)

        def change(loop: Node, context: Context) -> Node:
            assert isinstance(loop, For)
            inside = [copy for copy in copies if any(copy.node is node for node in walk(loop))]
            elements = {emit_expression(_element(copy)): copy for copy in inside}
            return self._replaced(loop, elements, replace(context, reserved=context.reserved | taken))

        return program.changed(loops, change)

    def _replaced(self, loop: For, elements: dict[str, Occurrence], context: Context) -> Node:
        changed = context.effects(loop.stmt).writes | declared_names(loop.stmt) | {*indices([loop])}
        for text, copy in elements.items():
            if names := sorted(changed & _subscript_names(_element(copy))):
                message = (
                    f"`{text}` changes with `{names[0]}` while the loop runs, so it is no single element"
                )
                refuse("ORIO-T108", message, copy.node, argument="loop")
        uses = Uses.of(loop, context)
        plans = Planner(loop, uses, context, None, force=self.force).plans
        chosen = {
            block: [scalar for scalar in scalars if scalar.ref.text in elements]
            for block, scalars in plans.items()
        }
        found = {scalar.ref.text for scalars in chosen.values() for scalar in scalars}
        for text, copy in elements.items():
            if text not in found:
                self._refuse(loop, text, copy)
        return Writer(loop, uses, chosen, context, f"s{self.stmt}_").write()

    def _refuse(self, loop: For, text: str, copy: Occurrence) -> None:
        (index,) = indices([loop])
        refuse(
            "ORIO-T108",
            f"`{text}` cannot be kept in a register while the loop `{index}` runs: something else there may "
            "touch it, or it is not certain that the loop writes it",
            copy.node,
            help="declare pointers and array parameters `restrict` if they do not overlap, or promise "
            "`arg noalias = True` in the section `assumptions`",
        )


def _element(copy: Occurrence) -> Node:
    """The array element that a statement assigns.  Raises Refusal: ORIO-T108."""
    match copy.node:
        case c_ast.Assignment(lvalue=c_ast.ArrayRef() as element):
            return element
        case c_ast.UnaryOp(op=op, expr=c_ast.ArrayRef() as element) if op in INCREMENTS:
            return element
        case _:
            message = f"statement {copy.number} does not assign an element of an array"
            refuse("ORIO-T108", message, copy.node, argument="stmt")


def _subscript_names(element: Node) -> frozenset[str]:
    return used_names(reference_parts(element)[1])


def _array(element: Node) -> str:
    return emit_expression(array_of(element))
