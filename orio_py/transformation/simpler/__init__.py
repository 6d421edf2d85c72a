"""Forms of the user's code that the transformations see through better; each computes what the code did.

They are tried where a recipe is refused on the code as it stands.
"""

from __future__ import annotations

from collections.abc import Iterator

from orio_py.ctree.nodes import Node
from orio_py.transformation.base import Context
from orio_py.transformation.simpler.aggregates import without_aggregates
from orio_py.transformation.simpler.block_copies import without_block_copies
from orio_py.transformation.simpler.body_counters import with_body_counters
from orio_py.transformation.simpler.clamps import with_clamped_values
from orio_py.transformation.simpler.comparisons import with_comparisons, with_joined_bounds
from orio_py.transformation.simpler.conditions_inside import with_conditions_inside
from orio_py.transformation.simpler.counted_loops import with_counted_loops
from orio_py.transformation.simpler.counted_steps import with_constant_steps
from orio_py.transformation.simpler.counters import with_single_counters
from orio_py.transformation.simpler.direct_bounds import with_direct_bounds
from orio_py.transformation.simpler.extreme_places import with_places_apart
from orio_py.transformation.simpler.gotos import without_gotos
from orio_py.transformation.simpler.inlined_calls import with_inlined_calls
from orio_py.transformation.simpler.local_pointers import without_local_pointers
from orio_py.transformation.simpler.private_scalars import with_private_scalars
from orio_py.transformation.simpler.running_values import with_running_values
from orio_py.transformation.simpler.skipping import without_continue
from orio_py.transformation.simpler.typed_members import TypedMembers
from orio_py.transformation.simpler.typed_pointers import with_typed_pointers
from orio_py.transformation.sites import with_marks_on_loops

__all__ = [
    "TypedMembers",
    "in_simpler_forms",
    "refined_forms",
    "with_constant_steps",
    "with_inlined_calls",
    "with_running_values",
    "without_aggregates",
]


def refined_forms(tree: Node, simpler: Node, context: Context) -> Iterator[Node]:
    """What a tree may be written as that has been made simpler, the nearest first; not the tree itself."""
    private = with_private_scalars(simpler, context)
    perfect = with_conditions_inside(private, context)
    apart = with_places_apart(perfect, context)
    yield from dict.fromkeys(form for form in (simpler, private, perfect, apart) if form is not tree)


def in_simpler_forms(tree: Node, context: Context) -> Node:
    """The tree with loops of one counter that end by `<` or `>`, without pointers that its blocks set, `continue` and forward `goto`.

    The same object where there is none of these.
    """
    plain = without_block_copies(without_gotos(with_marks_on_loops(tree), context), context)
    clamped = with_clamped_values(without_continue(plain), context)
    joined = with_joined_bounds(with_direct_bounds(clamped, context), context)
    single = with_single_counters(with_counted_loops(joined, context), context)
    # Of several counters the one that is left may begin with the value that it has.
    compared = with_comparisons(with_counted_loops(single, context), context)
    typed = with_typed_pointers(with_body_counters(compared, context), context)
    return without_local_pointers(typed, context)
