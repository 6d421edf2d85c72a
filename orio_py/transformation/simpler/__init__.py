"""Forms of the user's code that the transformations see through better; each computes what the code did.

They are tried where a recipe is refused on the code as it stands.
"""

from __future__ import annotations

from orio_py.ctree.nodes import Node
from orio_py.transformation.base import Context
from orio_py.transformation.simpler.counters import with_single_counters
from orio_py.transformation.simpler.gotos import without_gotos
from orio_py.transformation.simpler.local_pointers import without_local_pointers
from orio_py.transformation.simpler.skipping import without_continue


def in_simpler_forms(tree: Node, context: Context) -> Node:
    """The tree with loops of one counter, without pointers that its blocks set, without `continue` and forward `goto`.

    The same object where there is none of these.
    """
    counted = with_single_counters(without_continue(without_gotos(tree, context)), context)
    return without_local_pointers(counted, context)
