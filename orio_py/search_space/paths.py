"""Paths through the counting structure of a group: one choice per level from the root to a leaf.

No node of a structure is a dead end, so that a path which is free to choose always arrives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import count
from math import inf, isfinite
from typing import TypeAlias

from orio_py.search_space.counting import CountNode

Choices: TypeAlias = "tuple[int, ...]"
"""The choices of a path, in the structure's order."""

MOST_VISITS = 1500
"""Nodes that a search for the cheapest path visits before it takes the next best; some ten milliseconds."""
MOST_STEPS = 4000
"""Steps that a search for any path may take; a few milliseconds."""

_Link: TypeAlias = "tuple[int, _Link] | None"


def has_path(root: CountNode, choices: Sequence[int]) -> bool:
    """Whether the choices lead from the root to a leaf."""
    node: CountNode | None = root
    for choice in choices:
        if node is None:
            return False
        node = node.child(choice)
    return node is not None


def single_changes(root: CountNode, choices: Choices) -> list[list[int]]:
    """For each level the other choices that, alone, give a path again; ascending.

    All changes are followed down the structure together, and those that meet at a node go on as one:
    the work grows with the nodes they touch, not with their number times the depth.
    """
    found: list[list[int]] = [[] for _ in choices]
    strays: dict[CountNode, list[tuple[int, Sequence[int]]]] = {}
    node = root
    for level, choice in enumerate(choices):
        following = _child(node, choice)
        below: dict[CountNode, list[tuple[int, Sequence[int]]]] = {}
        for stray, origins in strays.items():
            if (child := stray.child(choice)) is following:
                _settle(found, origins)
            elif child is not None:
                below.setdefault(child, []).extend(origins)
        for others, child in zip(node.classes, node.children, strict=True):
            if child is following:
                found[level].extend(other for other in others if other != choice)
            else:
                below.setdefault(child, []).append((level, others))
        strays, node = below, following
    for origins in strays.values():
        _settle(found, origins)
    for changes in found:
        changes.sort()
    return found


def _settle(found: list[list[int]], origins: Iterable[tuple[int, Sequence[int]]]) -> None:
    for level, others in origins:
        found[level].extend(others)


def changes_at(root: CountNode, choices: Choices, level: int) -> list[int]:
    """The other choices of one level that, alone, give a path again; ascending."""
    node = root
    for choice in choices[:level]:
        node = _child(node, choice)
    rest = choices[level + 1 :]
    found = [
        other
        for others, child in zip(node.classes, node.children, strict=True)
        if has_path(child, rest)
        for other in others
        if other != choices[level]
    ]
    found.sort()
    return found


def _child(node: CountNode, choice: int) -> CountNode:
    child = node.child(choice)
    if child is None:
        raise ValueError("the choices are not a path of the structure")
    return child


def first_path(
    root: CountNode, depth: int, prefer: Callable[[int, CountNode], Iterable[int]]
) -> Choices | None:
    """The first path when each node's choices are tried in the order that `prefer(level, node)` gives.

    Choices that it does not give are not made.  None if there is no path, or after MOST_STEPS steps.
    """
    dead: set[CountNode] = set()
    path: list[int] = []
    open_nodes: list[tuple[CountNode, Iterator[int]]] = [(root, iter(prefer(0, root)))]
    steps = 0
    while open_nodes:
        node, rest = open_nodes[-1]
        for choice in rest:
            child = node.child(choice)
            if child is None or child in dead:
                continue
            path.append(choice)
            if len(path) == depth:
                return tuple(path)
            open_nodes.append((child, iter(prefer(len(path), child))))
            break
        else:
            dead.add(node)
            open_nodes.pop()
            if path:
                path.pop()
        steps += 1
        if steps > MOST_STEPS:
            return None
    return None


def cheapest_path(root: CountNode, costs: Sequence[Sequence[float]]) -> Choices | None:
    """The path with the least sum of `costs[level][choice]`; an infinite cost forbids a choice.

    Uniform-cost search over the nodes (Dijkstra), each level's costs taken from its least; the deeper of
    equally cheap nodes goes first.  After MOST_VISITS nodes the cheapest choices from there on are made
    without looking back, which still arrives unless choices are forbidden.  None if no path is found.
    """
    rows = [_above_least(row) for row in costs]
    depth = len(rows)
    serial = count()
    done: set[CountNode] = set()
    reached: dict[CountNode, float] = {}
    heap: list[tuple[float, int, int, CountNode, _Link]] = [(0.0, 0, next(serial), root, None)]
    while heap:
        cost, level, _, node, link = heappop(heap)
        level = -level
        if level == depth:
            return _unlinked(link)
        if node in done:
            continue
        done.add(node)
        if len(done) > MOST_VISITS:
            return _greedy(node, rows[level:], _unlinked(link))
        row = rows[level]
        for choices, child in zip(node.classes, node.children, strict=True):
            best = choices[0] if len(choices) == 1 else min(choices, key=row.__getitem__)
            total = cost + row[best]
            if total < reached.get(child, inf):
                reached[child] = total
                heappush(heap, (total, -level - 1, next(serial), child, (best, link)))
    return None


def _above_least(row: Sequence[float]) -> list[float]:
    least = min(row)
    return [cost - least for cost in row] if isfinite(least) else list(row)


def _greedy(node: CountNode, rows: Sequence[Sequence[float]], path: Choices) -> Choices | None:
    made = list(path)
    for row in rows:
        choice = min((min(choices, key=row.__getitem__) for choices in node.classes), key=row.__getitem__)
        if row[choice] == inf:
            return None
        made.append(choice)
        node = _child(node, choice)
    return tuple(made)


def _unlinked(link: _Link) -> Choices:
    found: list[int] = []
    while link is not None:
        choice, link = link
        found.append(choice)
    return tuple(reversed(found))
