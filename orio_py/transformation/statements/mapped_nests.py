"""The nests that `cuda` has given to blocks and threads, while later commands work inside them and beside them."""

from __future__ import annotations

from dataclasses import replace

from orio_py.core.diagnostics import Diagnostic
from orio_py.ctree.emit import emit
from orio_py.ctree.loops import CanonicalLoop, nest
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import copy_with
from orio_py.transformation.base import Context, Refusal, refuse
from orio_py.transformation.forms import loop_view
from orio_py.transformation.loop_names import LoopName
from orio_py.transformation.offload.arguments import MAXIMUM_AXES, NestQuestion
from orio_py.transformation.offload.device_nest import require_any_order
from orio_py.transformation.simpler.comparisons import with_comparisons
from orio_py.transformation.statements.numbering import Mapped, NumberedProgram, indices
from orio_py.transformation.tiling.permute import Permut

WHAT = "cuda"
"""How messages name the command."""


def mapping_of(program: NumberedProgram, number: int) -> Mapped | None:
    """The mapping of the nest in which a statement stands."""
    mine = program.copies(number)[0].loops
    for mapped in program.mappings:
        others = program.copies(mapped.stmt)[0].loops
        if mine and others and mine[0] is others[0]:
            return mapped
    return None


def brought_out(program: NumberedProgram, number: int, mapped: Mapped) -> NumberedProgram:
    """The program with the mapped loops outermost around a statement, and the others inside in their order.

    Raises Refusal: ORIO-T106, those of Permut, and ORIO-T030 where the loops form no perfect nest.
    """
    loops = program.nest(number, WHAT)
    names = indices(loops)
    depth = 1 + max(names.index(name) for name in mapped.order)
    require_perfect(program, number, depth)
    inner = [name for name in names[:depth] if name not in mapped.order]
    step = Permut(tuple(LoopName((name,)) for name in (*mapped.order, *inner)), force=mapped.force)
    return program.changed([loops[0]], step.apply)


def perfect_depth(loops: tuple[For, ...], context: Context) -> int:
    """How many of the loops around a statement form a perfect nest, from the outermost on.

    Raises Refusal: ORIO-T020 and others where the outermost is none whose iterations can be counted.
    """
    view = loop_view(loops[0], WHAT, context)
    depth = 0
    for loop, found in zip(loops, nest(view), strict=False):
        depth += loop is found.node
    return depth


def require_perfect(program: NumberedProgram, number: int, depth: int) -> None:
    """The outer `depth` loops around a statement form a perfect nest.  Raises Refusal: ORIO-T030."""
    loops = program.nest(number, WHAT)
    found = perfect_depth(loops, program.context)
    if found < depth:
        inside = indices(loops)[found]
        refuse(
            "ORIO-T030",
            f"{WHAT} needs a perfect nest down to the loop `{inside}` around statement {number}: other statements or "
            "declarations stand beside it",
            loops[found],
        )


def require_kept(program: NumberedProgram) -> None:
    """Every mapped nest is as `cuda` left it but for what stands inside its mapped loops.

    Raises Refusal: ORIO-T105.
    """
    for mapped in program.mappings:
        depth = len(mapped.order)
        for copy in program.copies(mapped.stmt):
            loops = copy.loops[:depth]
            texts = headers(loops)
            changed = [
                name for name, text in zip(mapped.order, mapped.headers, strict=True) if text not in texts
            ]
            if changed or perfect_depth(loops, program.context) < depth:
                name = changed[0] if changed else mapped.order[-1]
                refuse(
                    "ORIO-T105",
                    f"the loop `{name}` around statement {mapped.stmt} belongs to `cuda`, and this changes it or "
                    "splits what is in it",
                    copy.node,
                    help="write this command before `cuda`, or leave the loops that `cuda` names alone",
                )


def require_all_parallel(program: NumberedProgram) -> None:
    """The mapped loops of all nests may still run in any order.  Raises Refusal: as `require_parallel`."""
    for mapped in program.mappings:
        outermost = program.copies(mapped.stmt)[0].loops[0]
        require_parallel(program, outermost, mapped.order, force=mapped.force)


def require_parallel(program: NumberedProgram, loop: For, names: tuple[str, ...], *, force: bool) -> None:
    """The iterations of a nest of loops from `loop` on may run in any order.

    Raises Refusal: as `require_any_order` does.
    """
    question = NestQuestion(WHAT, names, max(MAXIMUM_AXES, len(names)), force)

    def look(node: Node, inner: Context) -> Node:
        require_any_order(with_comparisons(node, inner), inner, question)
        return node

    try:
        program.changed([loop], look)
    except Refusal as refusal:
        raise Refusal(*map(_with_advice, refusal.diagnostics), argument=refusal.argument) from None


def _with_advice(problem: Diagnostic) -> Diagnostic:
    if problem.code != "ORIO-T120":
        return problem
    return replace(problem, help="name other loops: those that are not named run inside of the kernel")


def headers(loops: tuple[For, ...]) -> tuple[str, ...]:
    """The loops without their bodies, as text."""
    return tuple(emit(copy_with(loop, stmt=c_ast.EmptyStatement())) for loop in loops)


def view_of(loop: For) -> CanonicalLoop:
    """The loop, which is canonical."""
    view = CanonicalLoop.match(loop)
    assert view is not None
    return view
