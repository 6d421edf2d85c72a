"""Which loops of a contraction become blocks and threads of a GPU.

Source of the rules: A. Rivera, thesis, University of Utah, 2014, sections 3.1.1 and 3.1.2: threads along x follow the
index with unit stride, so that neighbours touch neighbouring elements; the loops of the *contiguous tensor* come
before those of the others; what is left stays inside the kernel.  Where the thesis leaves a choice, its variants are
alternatives, the rule's own one first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations

from orio_py.tensors.contraction import Contraction, Pattern, TensorReference

MOST_THREADS = 1024
"""Threads of a block, from compute capability 2.0 on (CUDA C++ Programming Guide, technical specifications)."""
_MOST_ROWS = 65535
"""Blocks of a grid along y (ibidem)."""
_WARP = 32
_SLOTS = 3


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The loops whose iterations are blocks and threads, each along x first."""

    block: tuple[str, ...]
    thread: tuple[str, ...]

    @property
    def loops(self) -> tuple[str, ...]:
        """All loops that are mapped."""
        return (*self.block, *self.thread)


def contiguous_tensor(contraction: Contraction, pattern: Pattern) -> TensorReference:
    """The operand whose indices follow the loops from the innermost one outwards.

    The one with the output's index of unit stride comes before the others, then the one with more indices in the
    order of the loops, then the larger one.
    """
    depth = {index: place for place, index in enumerate(reversed(contraction.loops(pattern)))}
    free = frozenset(contraction.free)
    first = contraction.output.fastest_first[:1]

    def score(operand: TensorReference) -> tuple[bool, int, int]:
        inner = operand.fastest_first
        places = [depth[index] for index in inner if index in free]
        in_order = sum(one < two for one, two in pairwise(places))
        return inner[:1] == first, in_order, operand.tensor.size

    return max(contraction.operands, key=score)


def mapped_loops(contraction: Contraction, pattern: Pattern) -> tuple[str, ...]:
    """The loop along x of a block's threads, then at most three more: those that become blocks and threads."""
    if not contraction.free:
        return ()
    first = contraction.output.fastest_first[0]
    contiguous = contiguous_tensor(contraction, pattern)
    others = [operand for operand in contraction.operands if operand is not contiguous]
    inner_first = [index for index in reversed(contraction.loops(pattern)) if index in contraction.free]
    listed = [i for part in (contiguous, *others) for i in inner_first if i in part.indices and i != first]
    return (first, *list(dict.fromkeys(listed))[:_SLOTS])


def decompositions(
    contraction: Contraction, pattern: Pattern, before: Sequence[Decomposition] = ()
) -> tuple[Decomposition, ...]:
    """The ways to map a contraction, the best one by the rules first; none where the output has no two indices.

    The loops take the places block x, block y and thread y in their order.  One that is too long for a block takes
    block x, which has no limit, and the others move on.  A decomposition of the kernels `before` is preferred, so
    that kernels on the same arrays work on the same parts of them.
    """
    first, *rest = mapped_loops(contraction, pattern) or ("",)
    if not rest or contraction.extents[first] > MOST_THREADS:
        return ()
    extents = contraction.extents

    def fits(given: Decomposition) -> bool:
        threads = _threads(given, contraction)
        return threads <= MOST_THREADS and all(extents[index] <= _MOST_ROWS for index in given.block[1:])

    long = [index for index in rest if extents[first] * extents[index] > MOST_THREADS][:1]
    ruled = [*long, *(index for index in rest if index not in long)]
    orders = dict.fromkeys([tuple(ruled), *permutations(rest)])
    found = [made for order in orders if fits(made := _placed(first, order))]
    return tuple(sorted(found, key=lambda made: (made not in before, _threads(made, contraction) < _WARP)))


def _placed(first: str, order: Sequence[str]) -> Decomposition:
    return Decomposition(tuple(order[:2]), (first, *order[2:]))


def _threads(made: Decomposition, contraction: Contraction) -> int:
    threads = 1
    for index in made.thread:
        threads *= contraction.extents[index]
    return threads
