"""The ways to write a tree in which steps are marked, from as it stands to those that need conditions at run time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orio_py.ctree.nodes import Node
from orio_py.transformation.base import Context
from orio_py.transformation.guards.array_parts import with_array_parts
from orio_py.transformation.guards.entered_loops import with_entered_loops
from orio_py.transformation.guards.guarded_tree import (
    GuardedTree,
    with_conditions_of_apart_arrays,
    with_known_numbers,
    with_pointers_of_apart_arrays,
)
from orio_py.transformation.guards.loop_headers import with_tested_headers
from orio_py.transformation.simpler import (
    TypedMembers,
    in_simpler_forms,
    refined_forms,
    with_constant_steps,
    with_inlined_calls,
    with_running_values,
    without_aggregates,
)
from orio_py.transformation.sites import repeated_steps


def forms(tree: Node, context: Context, *, typed: bool) -> Iterator[GuardedTree]:
    """The tree as it stands and the other ways to write it, then with functions' bodies in place of calls.

    With `typed` also those where members have the types that they are used as.
    """
    yield from filter(_tells_apart, _typed_ways(tree, context, typed=typed))
    inlined = with_inlined_calls(tree, context)
    if inlined is not tree:
        yield from filter(_tells_apart, _typed_ways(inlined, context, typed=typed))


def _tells_apart(form: GuardedTree) -> bool:
    """Whether each guard belongs to one statement: of copies, each would have to run its own original."""
    return form.guards.keys().isdisjoint(repeated_steps(form.tree))


def _typed_ways(tree: Node, context: Context, *, typed: bool) -> Iterator[GuardedTree]:
    yield from _ways(tree, context)
    members = TypedMembers.of(tree, context) if typed else None
    if members is not None:
        yield from (replace(form, typed=members) for form in _ways(members.tree, members.context))


def _ways(tree: Node, context: Context) -> Iterator[GuardedTree]:
    """A tree as it stands, and the other ways to write it, those last that need conditions at run time."""
    plain = GuardedTree(tree, context)
    yield plain
    simpler = in_simpler_forms(tree, context)
    yield from _refined(plain, simpler)
    apart = without_aggregates(tree, context)
    if apart is not tree:
        simpler = in_simpler_forms(apart, context)
        yield from _refined(plain, simpler)
    entered = with_entered_loops(tree, context)
    if entered.guards:
        yield entered
        yield from _refined(entered, entered.tree)
    if repeated_steps(simpler):
        simpler = tree
    tested = with_tested_headers(simpler, context)
    if tested.guards:
        yield tested
        yield from _refined(tested, tested.tree)
    numbered = with_known_numbers(plain.over(simpler))
    if numbered.guards:
        yield numbered
        yield from _refined(numbered, numbered.tree)
    constant = with_constant_steps(simpler, context)
    if constant is not simpler:
        yield from _refined(plain, constant)


def _refined(form: GuardedTree, simpler: Node) -> Iterator[GuardedTree]:
    """The further ways to write a tree that has been made simpler.

    Where a guard fails the loops run before they were refined, so that the function's variables stay in use.
    """
    last = form.over(simpler)
    for tree in refined_forms(form.tree, simpler, form.context):
        last = replace(last, tree=tree)
        yield last
    followed = with_pointers_of_apart_arrays(last)
    if followed is not last:
        yield followed
    apart = with_conditions_of_apart_arrays(followed)
    if apart is not followed:
        yield apart


def in_parts(form: GuardedTree) -> GuardedTree | None:
    """The tree with pointers to the parts of arrays that a test tells apart; None where there are none."""
    new = with_array_parts(form.over(form.tree))
    return None if new.tree is form.tree or not _tells_apart(new) else new


def running(form: GuardedTree) -> GuardedTree | None:
    """The tree with variables for elements of the iteration before, which kernels can scan; None where there are none."""
    tree = with_running_values(form.tree, form.context)
    return None if tree is form.tree else replace(form.over(form.tree), tree=tree)
