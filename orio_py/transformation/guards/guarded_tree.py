"""Trees that compute what the user's code does where conditions hold that are tested at run time.

`loop_headers` makes them of loops with headers of run time; here they come to hold conditions inside inner loops that arrays
which overlap would change, and indices of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from orio_py.ctree.build import binary, const, flat_block, ident, statements
from orio_py.ctree.nodes import Node, Transform, c_ast
from orio_py.ctree.rewrite import substitute, walk, walk_statements
from orio_py.transformation.base import Context
from orio_py.transformation.guards.disjointness import disjointness
from orio_py.transformation.guards.guard import Guard
from orio_py.transformation.guards.number_facts import steady_numbers
from orio_py.transformation.guards.runtime_guards import guards, may_stand_twice, without_marks
from orio_py.transformation.own_indices import own_indices
from orio_py.transformation.parallel.pragma_text import is_about_loop
from orio_py.transformation.simpler.conditions_inside import with_conditions_inside
from orio_py.transformation.simpler.local_pointers import without_threatened_pointers
from orio_py.transformation.simpler.typed_members import TypedMembers
from orio_py.transformation.sites import outermost_marks, rewrite_where


@dataclass(frozen=True, slots=True)
class GuardedTree:
    """A tree that computes what the user's code does where conditions hold.

    `guards` are the conditions for what stands at the outermost marks, by their steps, and `originals` what stands there
    else.  `typed` are the members that have the types here that the code uses them as.
    """

    tree: Node
    context: Context
    guards: Mapping[int, Guard] = field(default_factory=dict[int, Guard])
    originals: Mapping[int, Node] = field(default_factory=dict[int, Node])
    typed: TypedMembers | None = None

    def over(self, tree: Node) -> GuardedTree:
        """Another tree, at whose marks stands else what it has there itself, where nothing else is said."""
        marked = {mark.step: without_marks(mark) for mark in outermost_marks(tree)}
        return replace(self, tree=tree, originals={**marked, **self.originals})

    def restored(self, tree: Node) -> Node:
        """What comes of the tree, as the user's code has it."""
        return tree if self.typed is None else self.typed.restored(tree)


def with_own_indices(form: GuardedTree) -> GuardedTree:
    """The tree with the indices of marked loops declared in their headers, and their last values behind.

    The same object where there is none, or nothing is read later.
    """
    marks = {id(mark) for mark in outermost_marks(form.tree)}
    needed = dict(form.guards)

    def change(mark: Node, inner: Context) -> Node:
        assert isinstance(mark, Transform)
        new, values = own_indices(mark, inner)
        if mark.step in needed:
            needed[mark.step] = needed[mark.step].and_(Guard(after=tuple(values)))
            return new
        return flat_block(new, *values) if values else new

    new = rewrite_where(form.tree, lambda node: id(node) in marks, change, form.context)
    return form if new is form.tree else replace(form, tree=new, guards=needed)


def with_own_indices_inside(form: GuardedTree) -> GuardedTree:
    """The tree with the indices of loops at marks inside others declared as well, and their last values behind these.

    The same object where there is none, or nothing is read later.
    """

    def change(mark: Node, inner: Context) -> Node:
        new, values = own_indices(mark, inner)
        return flat_block(new, *values) if values else new

    tree, depth = form.tree, 1
    while marks := {id(mark) for mark in _marks_at(tree, depth)}:
        tree = rewrite_where(tree, lambda node, marks=marks: id(node) in marks, change, form.context)
        depth += 1
    return form if tree is form.tree else replace(form, tree=tree)


def _marks_at(tree: Node, depth: int) -> list[Transform]:
    """The marks that stand in `depth` others."""
    marks = list(outermost_marks(tree))
    for _ in range(depth):
        marks = [inner for mark in marks for inner in outermost_marks(mark.stmt)]
    return marks


def with_conditions_of_apart_arrays(form: GuardedTree) -> GuardedTree:
    """The tree with conditions inside inner loops that change nothing that they read, unless arrays overlap.

    The same object where there is none.
    """
    marks = {id(mark) for mark in outermost_marks(form.tree)}
    needed, originals = dict(form.guards), dict(form.originals)

    def change(mark: Node, inner: Context) -> Node:
        assert isinstance(mark, Transform)
        known = needed.get(mark.step, Guard())
        further = (
            []
            if any(map(is_about_loop, inner.pragmas))
            else guards(without_marks(mark), known.assumed(inner))
        )
        apart = next((guard for guard in further if guard.names), None)
        if apart is None:
            return mark
        whole = known.and_(apart)
        new = with_conditions_inside(mark, whole.assumed(inner))
        if new is not mark:
            needed[mark.step] = whole
            originals.setdefault(mark.step, without_marks(mark))
        return new

    new = rewrite_where(form.tree, lambda node: id(node) in marks, change, form.context)
    return form if new is form.tree else replace(form, tree=new, guards=needed, originals=originals)


def with_pointers_of_apart_arrays(form: GuardedTree) -> GuardedTree:
    """The tree without pointers that blocks set once to what nothing changes, unless arrays overlap.

    The same object where there is none:

    for (y = 0; y < h; y++) {               if (no byte of the rows lies in `rows` itself)
      unsigned char *p = rows[y];             for (y = 0; y < h; y++)
      for (x = 0; x < w; x++)                   for (x = 0; x < w; x++)
        p[x] = 255 - p[x];                        rows[y][x] = 255 - rows[y][x];
    }
    """
    marks = {id(mark) for mark in outermost_marks(form.tree)}
    needed, originals = dict(form.guards), dict(form.originals)

    def change(mark: Node, inner: Context) -> Node:
        assert isinstance(mark, Transform)
        known = needed.get(mark.step, Guard())
        new, threatened = without_threatened_pointers(mark, known.assumed(inner))
        if not threatened or any(map(is_about_loop, inner.pragmas)):
            return mark
        assert isinstance(new, Transform)
        statement = without_marks(new)
        apart = (
            disjointness(statement, known.assumed(inner), threatened) if may_stand_twice(statement) else None
        )
        if apart is None:
            return mark
        needed[mark.step] = known.and_(apart)
        originals.setdefault(mark.step, without_marks(mark))
        return new

    new = rewrite_where(form.tree, lambda node: id(node) in marks, change, form.context)
    return form if new is form.tree else replace(form, tree=new, guards=needed, originals=originals)


_SCALING = frozenset({"*", "/", "%", "<<", ">>"})


def with_known_numbers(form: GuardedTree) -> GuardedTree:
    """The tree with numbers for the names that scale others at its marks, behind tests; the same object where there are none.

    #define BLOCK 32

    for (i = 0; i < n; i++)                       if (BLOCK == 32)
      for (j = 0; j < BLOCK / 2; j++) {             for (i = 0; i < n; i++)
        y[i * BLOCK + j] = x[j];                      for (j = 0; j < 32 / 2; j++) {
        y[i * BLOCK + j + BLOCK / 2] = x[j];            y[i * 32 + j] = x[j];
      }                                                 y[i * 32 + j + 32 / 2] = x[j];
                                                      }

    A subscript with a product or quotient of such a name is affine then.
    """
    marks = {id(mark) for mark in outermost_marks(form.tree)}
    needed, originals = dict(form.guards), dict(form.originals)

    def change(mark: Node, inner: Context) -> Node:
        assert isinstance(mark, Transform)
        if not may_stand_twice(mark) or any(map(is_about_loop, inner.pragmas)):
            return mark
        scaling = [part for part in walk(mark) if isinstance(part, c_ast.BinaryOp) and part.op in _SCALING]
        numbers = steady_numbers(scaling, mark, inner)
        if not numbers:
            return mark
        tests = tuple(binary("==", ident(name), const(value)) for name, value in numbers.items())
        needed[mark.step] = needed.get(mark.step, Guard()).and_(Guard(headers=tests))
        originals.setdefault(mark.step, without_marks(mark))
        new: Node = mark
        for name, value in numbers.items():
            new = substitute(new, name, const(value))
        return new

    new = rewrite_where(form.tree, lambda node: id(node) in marks, change, form.context)
    return form if new is form.tree else replace(form, tree=new, guards=needed, originals=originals)


def around_mark(node: Node, step: int) -> tuple[list[Node], Node, list[Node]]:
    """The mark of a step, and the statements before and behind it in the blocks around it."""
    if isinstance(node, Transform) and node.step == step:
        return [], node, []
    items = statements(node)
    place = next(number for number, item in enumerate(items) if _holds_mark(item, step))
    before, mark, after = around_mark(items[place], step)
    return [*items[:place], *before], mark, [*after, *items[place + 1 :]]


def _holds_mark(node: Node, step: int) -> bool:
    return any(isinstance(part, Transform) and part.step == step for part in walk_statements(node))
