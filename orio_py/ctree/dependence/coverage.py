"""Whether each iteration of a loop writes every element of an array that it reads, before it reads it, and always the same.

    for (i = 0; i < n; i++) {
      for (m = 0; m < 5; m++) t[m] = a[5*i + m];         the elements 0 to 4 of `t` in each iteration
      for (m = 0; m < 5; m++) b[5*i + m] = t[4 - m];     are all that is read
    }

Such an array holds nothing that one iteration leaves for another.  Source: P. Feautrier, "Dataflow analysis of array and
scalar references", Int. J. of Parallel Programming 20(1), 1991; Z. Li, "Array privatization for parallel execution of
loops", ICS 1992.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from orio_py.ctree.dependence.access import Instance
from orio_py.ctree.dependence.affine import Linear, is_fixed
from orio_py.ctree.dependence.scope import Constraint, Scope
from orio_py.ctree.dependence.sets import Solver, System

_SUBSCRIPT = "@subscript"
_OWN = "'"
"""What the iterations of a write end with that it does not share with a read."""


def writes_before_reads(
    instances: Sequence[Instance], name: str, solver: Solver, outer: Sequence[Constraint]
) -> bool:
    """Whether what is read of an array was written before in the same iteration of the outermost loop.

    `instances` are all accesses of a nest in the order of execution in one iteration, `outer` is what is known of the
    loops around it.  Raises Undecided.
    """
    own = [instance for instance in instances if instance.name == name]
    for place, read in enumerate(own):
        if read.is_write:
            continue
        earlier = [w for w in own[:place] if w.is_write and _is_certain(w, read)]
        if not earlier:
            return False
        symbols = [level.symbol for level in read.levels]
        symbols += [f"{_SUBSCRIPT}{number}" for number in range(len(read.subscripts))]
        reads = list(_systems(read, (), outer))
        writes = [part for write in earlier for part in _systems(write, _unlike(write, read), outer)]
        if not solver.covers(symbols, reads, writes):
            return False
    return True


def writes_always_the_same(
    instances: Sequence[Instance], name: str, body: Scope, solver: Solver, outer: Sequence[Constraint]
) -> bool:
    """Whether each iteration of a nest writes all elements of an array that any iteration writes.

    `body` is the scope of the innermost loop of the nest.  Raises Undecided.
    """
    writes = [instance for instance in instances if instance.name == name and instance.is_write]
    if body.why is not None or not all(_is_affine(write) for write in writes):
        return False
    band = [level.symbol for level in body.levels]
    symbols = [*band, *(f"{_SUBSCRIPT}{number}" for number in range(len(writes[0].subscripts)))]
    around = [row for c in body.domain if (row := c.linear()) is not None]
    cases = [[row for part in choice for c in part if (row := c.linear())] for choice in product(*body.cases)]
    any_iteration = [
        (equal, [*positive, *around, *case])
        for write in writes
        for equal, positive in _systems(write, [level.symbol for level in write.levels], outer)
        for case in cases
    ]
    certain = [write for write in writes if write.why is None]
    own = [[level.symbol for level in write.levels if level.symbol not in band] for write in certain]
    same = [part for write, names in zip(certain, own, strict=True) for part in _systems(write, names, outer)]
    return bool(same) and solver.covers(symbols, any_iteration, same)


def _is_affine(access: Instance) -> bool:
    return all(subscript is not None and subscript.linear() is not None for subscript in access.subscripts)


def _is_certain(write: Instance, read: Instance) -> bool:
    """Whether it is known in which iterations a write is made, and to which elements of as many subscripts."""
    return _is_affine(write) and write.why is None and len(write.subscripts) == len(read.subscripts)


def _unlike(write: Instance, read: Instance) -> tuple[str, ...]:
    """The loops around a write that are not around a read."""
    around = {level.symbol for level in read.levels}
    return tuple(level.symbol for level in write.levels if level.symbol not in around)


def _systems(access: Instance, own: Sequence[str], outer: Sequence[Constraint]) -> Iterator[System]:
    """The iterations and subscripts of an access, in each case of the conditions around it.

    Iterations of the loops `own`, and auxiliary integers, have names that no other access has.
    """
    shared = {level.symbol for level in access.levels} - {*own}

    def row(linear: Linear) -> Linear:
        return {
            name if not name or is_fixed(name) or name in shared else name + _OWN: factor
            for name, factor in linear.items()
        }

    equal = [
        {**row(linear), f"{_SUBSCRIPT}{number}": -1}
        for number, subscript in enumerate(access.subscripts)
        if subscript is not None and (linear := subscript.linear()) is not None
    ]
    for choice in product(*access.cases):
        domain = [*outer, *access.domain, *(c for part in choice for c in part)]
        yield equal, [row(linear) for c in domain if (linear := c.linear()) is not None]
