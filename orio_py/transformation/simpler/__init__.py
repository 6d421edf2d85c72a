"""Forms of the user's code that the transformations see through better; each computes what the code did.

They are tried where a recipe is refused on the code as it stands.
"""

from __future__ import annotations

from orio_py.ctree.nodes import Node
from orio_py.transformation.base import Context
from orio_py.transformation.simpler.comparisons import with_comparisons
from orio_py.transformation.simpler.counters import with_single_counters
from orio_py.transformation.simpler.local_pointers import without_local_pointers
from orio_py.transformation.simpler.private_scalars import with_private_scalars
from orio_py.transformation.simpler.skipping import without_continue


def in_simpler_forms(tree: Node, context: Context) -> Node:
    """The tree in the forms of this package; the same object where there is nothing to change."""
    counted = with_comparisons(with_single_counters(without_continue(tree), context), context)
    return with_private_scalars(without_local_pointers(counted, context), context)
