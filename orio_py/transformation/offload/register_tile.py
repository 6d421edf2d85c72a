"""`registerTile`: items that do several iterations side by side, and what of arrays they keep in registers.

    for (k = 0; k < n; k++)             double scv_1 = c[i * n + j];
      c[i * n + j] += …;                for (k = 0; k < n; k++)
                                          scv_1 += …;
                                        c[i * n + j] = scv_1;

A value that is read and written again and again would go to memory each time, as compilers of devices cannot know
that no other name is the same memory.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from math import prod

from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.kernel.plan import Distribution
from orio_py.transformation.base import Context, Refusal, refuse
from orio_py.transformation.offload.arguments import OffloadArguments
from orio_py.transformation.offload.axis_mapping import mapped_loops
from orio_py.transformation.offload.offload import Offloaded, offloaded
from orio_py.transformation.sites import rewrite_where
from orio_py.transformation.storage.scalar_replace import ScalarReplace
from orio_py.transformation.unrolling.unroll_rewrite import count_statements, require_size

_MOST = 256
"""Iterations of one item: more values than a thread has registers."""


def offloaded_in_registers(loop: Node, context: Context, arguments: OffloadArguments) -> Offloaded:
    """The kernel of a nest; with a register tile, or items that do an iteration together, elements that are used repeatedly
    are in scalars if they can be.

    Raises Refusal as `offload` does.
    """
    nest = _in_scalars(loop, context, arguments)
    if nest is loop:
        return offloaded(loop, context, arguments)
    ways = [arguments]
    if not arguments.stage:  # Tiles are made of what the nest itself refers to.
        ways.append(replace(arguments, same=arguments.same or loop))
    for way in ways:
        with suppress(Refusal):
            return offloaded(nest, context, way)
    return offloaded(loop, context, arguments)


def _in_scalars(loop: Node, context: Context, arguments: OffloadArguments) -> Node:
    """The nest with elements that are used repeatedly in scalars, where that is wanted.

    Raises Refusal: ORIO-T050, ORIO-T124.
    """
    if arguments.registers is None and arguments.row is None:
        return loop
    require_size(
        prod(arguments.registers or ()) * count_statements(loop), arguments.what, loop, "registerTile"
    )
    jump = next((part for part in walk(loop) if isinstance(part, (c_ast.Goto, c_ast.Label))), None)
    if jump is not None:
        refuse("ORIO-T124", f"{arguments.what} cannot do iterations with a `goto` side by side", jump)
    what, force, most = arguments.what, arguments.force, arguments.question.most
    try:
        mapped, every = mapped_loops(loop, arguments.nd, what, context, force=force, most=most)
        body = every[len(mapped) - 1].body
        return rewrite_where(loop, lambda node: node is body, ScalarReplace(force=force).apply, context)
    except Refusal:
        return loop  # What is wrong with the nest is told where it becomes a kernel.


def require_register_tile(arguments: OffloadArguments, node: Node) -> None:
    """`registerTile` is a number of iterations, and goes with the other arguments.  Raises Refusal: ORIO-T011, T127."""
    registers = arguments.registers
    if registers is None:
        return
    count = prod(registers) * arguments.vector
    if count > _MOST:
        message = f"`registerTile` makes {count} iterations for each item; it can be {_MOST} at most"
        refuse("ORIO-T011", message, node, argument="registerTile")
    others = (
        ("coarsen", arguments.coarsen > 1, "leave it out: the first number of `registerTile` says the same"),
        ("spread", arguments.spread is Distribution.BLOCKED, "leave it 'strided'"),
    )
    for name, given, advice in others:
        if given:
            message = f"`registerTile` and `{name}` both say which iterations an item does"
            refuse("ORIO-T127", message, node, help=advice, argument=name)
