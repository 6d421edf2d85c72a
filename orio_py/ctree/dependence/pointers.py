"""The pointers on the way to an element: which of them a nest may set, and what is not told apart behind them.

    for (i = 0; i < n; i++) {
      a[i] = row;                 the rows of `a` are one from here on, and may be those of `b`
      a[i][0] = x[i];             writes `row[0]` in each iteration
      y[i] = b[i][0];             reads the pointer `b[i]`, which may be `a[i]`
    }

Subscripts do not tell elements behind such pointers apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orio_py.ctree.dependence.access import Instance
from orio_py.ctree.dependence.alias import Aliases
from orio_py.ctree.dependence.names import Names, references
from orio_py.ctree.nodes import Node


def followed_names(node: Node, names: Names, aliases: Aliases) -> frozenset[str]:
    """The names with pointers on the way to their elements that a tree may set under other names, and those of the pointers."""
    used = [(found, is_written) for found, _, is_written in references(node, names)]
    written = {found.spot for found, is_written in used if is_written and aliases.may_be_pointer(found.spot)}
    if not written:
        return frozenset()
    found: set[str] = set()
    for reference, _ in used:
        if reference.variable in names.local:
            continue
        for pointer in aliases.followed(reference):
            if any(aliases.may_overlap(pointer.spot, spot) for spot in written):
                found |= {reference.name, pointer.name}
    return frozenset(found)


def told_apart(instances: Sequence[Instance], aliases: Aliases) -> tuple[Instance, ...]:
    """The accesses, without the subscripts that do not tell them apart.

    Those are behind pointers of several structures, and behind pointers that the nest sets.
    """
    chosen: dict[str, list[tuple[object, ...]]] = {}
    deepest: dict[str, int] = {}
    for instance in instances:
        count = aliases.pointers_before((instance.name, len(instance.subscripts)))
        keys = tuple(
            s.key if s is not None and s.is_parametric else None for s in instance.subscripts[:count]
        )
        chosen.setdefault(instance.name, []).append(keys)
        deepest[instance.name] = max(deepest.get(instance.name, 0), instance.depth)
    doubtful = {
        name: f"the pointers `{name}` of several structures may be the same"
        for name, found in chosen.items()
        if None in found[0] or any(keys != found[0] for keys in found)
    }
    set_anew = {
        i.name: i.depth
        for i in instances
        if i.is_write and _extents(i.name, aliases) <= i.depth < deepest[i.name]
    }
    found: list[Instance] = []
    for instance in instances:
        why = doubtful.get(instance.name)
        if instance.depth > set_anew.get(instance.name, instance.depth):
            why = f"the pointers `{instance.name}` are set, and may be the same"
        unknown = (None,) * len(instance.subscripts)
        found.append(replace(instance, subscripts=unknown, why=instance.why or why) if why else instance)
    return tuple(found)


def _extents(name: str, aliases: Aliases) -> int:
    """How many subscripts lead to the first pointer that is followed, or number, of a variable."""
    declared = aliases.declarations.get(name)
    return 1 if declared is None else max(len(declared.dimensions), 1)
