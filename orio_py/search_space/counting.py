"""The counting structure of one group: all its valid combinations as a shared, counted tree.

The tree reads one parameter per level, as in the chain of trees of ATF (Rasch, Schulze, Steuwer and
Gorlatch, "Efficient Auto-Tuning of Parallel Programs with Interdependent Tuning Parameters via
Auto-Tuning Framework (ATF)", ACM TACO 18(1), 2021).  Here subtrees that hold the same combinations are
one node, so that the structure is usually smaller than the number of combinations by many orders of
magnitude; every node knows how many combinations lie below it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import TypeAlias

from orio_py.search_space.diagram import ACCEPT, FAIL, REJECT, Diagrams, Effort


class CountNode:
    """The choices that are left at one parameter.

    `classes` are disjoint sets of choices (positions in the parameter's list, ascending), and
    `children` the nodes that all choices of a class lead to.  No child has a count of 0.
    """

    __slots__ = ("_flat", "_table", "children", "classes", "count")

    def __init__(self, classes: tuple[Sequence[int], ...], children: tuple[CountNode, ...]) -> None:
        self.classes = classes
        self.children = children
        self.count: int = sum(
            len(choices) * child.count for choices, child in zip(classes, children, strict=True)
        )
        self._flat: tuple[list[int], list[CountNode], list[int]] | None = None
        self._table: dict[int, CountNode] | None = None

    def _flattened(self) -> tuple[list[int], list[CountNode], list[int]]:
        """All choices ascending, the child of each, and the combinations before each; made once."""
        if self._flat is None:
            pairs = [(c, child) for cs, child in zip(self.classes, self.children, strict=True) for c in cs]
            pairs.sort(key=itemgetter(0))
            before = list(accumulate((child.count for _, child in pairs), initial=0))
            self._flat = [choice for choice, _ in pairs], [child for _, child in pairs], before
        return self._flat

    def steps(self) -> Iterator[tuple[int, CountNode]]:
        """Every choice, ascending, with its child."""
        choices, children, _ = self._flattened()
        return zip(choices, children, strict=True)

    def descend(self, rank: int) -> tuple[int, CountNode, int]:
        """The choice at whose combinations `rank` lies, its child, and the combinations before it."""
        if len(self.children) == 1:
            child = self.children[0]
            position = rank // child.count
            return self.classes[0][position], child, position * child.count
        choices, children, before = self._flattened()
        position = bisect_right(before, rank) - 1
        return choices[position], children[position], before[position]

    def child(self, choice: int) -> CountNode | None:
        """The child of a choice, None where there is none."""
        if self._table is None:
            pairs = zip(self.classes, self.children, strict=True)
            self._table = {choice: child for choices, child in pairs for choice in choices}
        return self._table.get(choice)

    def step(self, choice: int) -> tuple[CountNode | None, int]:
        """The child of a choice (None where there is none) and the combinations before that choice."""
        choices, children, before = self._flattened()
        position = bisect_left(choices, choice)
        found = position < len(choices) and choices[position] == choice
        return (children[position] if found else None), before[position]


class _Leaf(CountNode):
    """The end of a combination."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__((), ())
        self.count = 1


LEAF: CountNode = _Leaf()
NOTHING = CountNode((), ())
"""The end of every combination, and a node without any."""


class FailingCombinationError(Exception):
    """A combination that no constraint rejects and some constraint cannot be evaluated for."""

    def __init__(self, choices: tuple[int, ...]) -> None:
        super().__init__(choices)
        self.choices = choices


State: TypeAlias = "tuple[int, ...]"
"""The open diagram nodes of all constraints of the group, sorted; FAIL stays in it."""
Classes: TypeAlias = "tuple[Sequence[int], ...]"
Edges: TypeAlias = "tuple[Classes, tuple[int, ...]]"
"""Classes of choices, and the number of the next level's state that each class leads to."""


def count_combinations(
    roots: Sequence[int], sizes: Sequence[int], diagrams: Diagrams, effort: Effort
) -> CountNode:
    """The structure of the combinations that all diagrams accept; its count may be 0.

    `sizes` are the numbers of values, in the diagrams' order.  Raises StructureTooLargeError,
    FailingCombinationError.
    """
    if REJECT in roots:
        return NOTHING
    start: State = tuple(sorted({root for root in roots if root != ACCEPT}))
    levels, last = _levels(start, sizes, diagrams, effort)
    if (FAIL,) in last:
        raise FailingCombinationError(_path_to(last[(FAIL,)], levels))
    nodes: list[CountNode] = [LEAF] * len(last)
    for level in reversed(levels):
        nodes = _counted(level, nodes)
    return nodes[0]


def _levels(
    start: State, sizes: Sequence[int], diagrams: Diagrams, effort: Effort
) -> tuple[list[list[Edges]], dict[State, int]]:
    """The edges of every level, and the states after the last."""
    levels: list[list[Edges]] = []
    states: dict[State, int] = {start: 0}
    for position, size in enumerate(sizes):
        below: dict[State, int] = {}
        level: list[Edges] = []
        everything: Classes = (range(size),)
        end = diagrams.end_of_level(position)
        merged: dict[State, tuple[Classes, tuple[State, ...]]] = {}
        for state in states:
            split = bisect_left(state, end)
            acting, rest = state[:split], state[split:]
            if not acting:
                effort.spend(1)
                level.append((everything, (below.setdefault(state, len(below)),)))
                continue
            if (step := merged.get(acting)) is None:
                effort.spend(2 * size)
                step = merged[acting] = _conjunction([diagrams.children(node) for node in acting])
            classes, results = step
            effort.spend((len(results) + 1) * (1 + len(rest) // 8))
            if rest:
                results = [tuple(sorted({*rest, *result})) if result else rest for result in results]
            level.append((classes, tuple([below.setdefault(result, len(below)) for result in results])))
        levels.append(level)
        states = below
    return levels, states


def _conjunction(rows: Sequence[tuple[int, ...]]) -> tuple[Classes, tuple[State, ...]]:
    """The classes of choices that no row rejects, with the diagrams that are open after each."""
    columns: dict[State, list[int]] = {}
    for choice, column in enumerate(zip(*rows, strict=True)):
        columns.setdefault(column, []).append(choice)
    classes: dict[State, list[int]] = {}
    for column, choices in columns.items():
        if REJECT not in column:
            result = tuple(sorted({node for node in column if node != ACCEPT}))
            earlier = classes.setdefault(result, choices)
            if earlier is not choices:
                classes[result] = sorted((*earlier, *choices))
    return tuple([tuple(choices) for choices in classes.values()]), tuple(classes)


def _counted(level: Sequence[Edges], below: Sequence[CountNode]) -> list[CountNode]:
    """The nodes of a level from those of the next; equal ones become one object."""
    shared: dict[tuple[Classes, tuple[CountNode, ...]], CountNode] = {}
    nodes: list[CountNode] = []
    for classes, edges in level:
        children = tuple([below[edge] for edge in edges])
        key = (classes, children)
        if (node := shared.get(key)) is None:
            node = shared[key] = _node(classes, children)
        nodes.append(node)
    return nodes


def _node(classes: Classes, children: tuple[CountNode, ...]) -> CountNode:
    """A node without dead ends, and with one class per child."""
    united: dict[CountNode, Sequence[int]] = {}
    for choices, child in zip(classes, children, strict=True):
        if child.count:
            earlier = united.get(child)
            united[child] = choices if earlier is None else sorted((*earlier, *choices))
    return CountNode(tuple(united.values()), tuple(united))


def _path_to(state: int, levels: Sequence[Sequence[Edges]]) -> tuple[int, ...]:
    """Choices that lead from the start to a state after the last level."""
    path: list[int] = []
    for level in reversed(levels):
        number, choice = next(
            (number, classes[edges.index(state)][0])
            for number, (classes, edges) in enumerate(level)
            if state in edges
        )
        path.append(choice)
        state = number
    return tuple(reversed(path))


def least_choice(root: CountNode, target: int, depth: int, pinned: Mapping[int, int]) -> int:
    """The least choice at level `target` among the combinations that make the pinned choices.

    At least one combination has to make them.
    """
    levels: list[dict[CountNode, list[tuple[int, CountNode]]]] = []
    reached: dict[CountNode, None] = {root: None}
    for level in range(depth):
        table = {node: _choices(node, pinned.get(level)) for node in reached}
        levels.append(table)
        reached = {child: None for steps in table.values() for _, child in steps}
    least = dict.fromkeys(reached, 0)
    for level in reversed(range(depth)):
        found: dict[CountNode, int] = {}
        for node, steps in levels[level].items():
            options = [c if level == target else least[child] for c, child in steps if child in least]
            if options:
                found[node] = min(options)
        least = found
    return least[root]


def _choices(node: CountNode, pinned: int | None) -> list[tuple[int, CountNode]]:
    if pinned is not None:
        child = node.step(pinned)[0]
        return [] if child is None else [(pinned, child)]
    return list(node.steps())


def nodes_below(root: CountNode) -> int:
    """How many nodes a structure has."""
    seen: set[CountNode] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(node.children)
    return len(seen)
