"""How many consecutive iterations of a loop may run at the same time, where some later one may not.

`a[i + 4] = a[i]` carries a dependence over 4 iterations: any 4 that follow each other are independent.
The distance holds for every size; it is the least one of any two accesses that conflict (U. Banerjee,
"Dependence Analysis", 1997, on dependence distances).
"""

from __future__ import annotations

from orio_py.ctree.dependence.access import Unanalysable
from orio_py.ctree.dependence.nest import Nest
from orio_py.ctree.dependence.pairs import IterationRelation
from orio_py.ctree.dependence.sets import Undecided
from orio_py.ctree.dependence.verdict import DependenceContext, nest_of
from orio_py.ctree.loops import CanonicalLoop

LONGEST = 64
"""The longest distance that is looked for: no vector unit runs more iterations at the same time."""


def independent_iterations(
    loop: CanonicalLoop, context: DependenceContext, excused: frozenset[str] = frozenset()
) -> int:
    """The most consecutive iterations, up to `LONGEST`, that are independent of each other; at least 1.

    `excused` are variables that each iteration has for itself, or that the caller combines.
    """
    try:
        nest = nest_of([loop], context, concurrent=True)
        if nest.changed_bound(loop) is not None:
            return 1
        return _most(nest, {i.name for i in nest.instances if i.name.partition(".")[0] in excused})
    except (Unanalysable, Undecided):
        return 1


def _most(nest: Nest, ignored: set[str]) -> int:
    symbol = nest.symbols[0]
    scales = (level.scale for i in nest.instances for level in i.levels if level.symbol == symbol)
    scale = next(scales, 1)
    least, most = 1, LONGEST
    while least < most:
        middle = (least + most + 1) // 2
        near = [IterationRelation(less=((symbol, (middle - 1) * scale),))]
        if nest.clash(lambda source, sink, near=near: near, ignored) is None:
            least = middle
        else:
            most = middle - 1
    return least
