"""Names that stand for numbers are read as these numbers where they have them, which is tested.

    #define BLOCK 32

    for (i = 0; i < n; i++)                       if (BLOCK == 32)
      for (j = 0; j < BLOCK / 2; j++) {             for (i = 0; i < n; i++)
        y[i * BLOCK + j] = x[j];                      for (j = 0; j < 32 / 2; j++) {
        y[i * BLOCK + j + BLOCK / 2] = x[j];            y[i * 32 + j] = x[j];
      }                                                 y[i * 32 + j + 32 / 2] = x[j];
                                                      }

A subscript with a product or quotient of such a name is affine then.  The loops as they were stand behind `else`: a macro
may have another value where the file is compiled with other options.  Compilers decide the test.
"""

from __future__ import annotations

from dataclasses import replace

from orio_py.ctree.build import binary, const, ident
from orio_py.ctree.nodes import Node, Transform, c_ast
from orio_py.ctree.rewrite import substitute, walk
from orio_py.transformation.base import Context
from orio_py.transformation.guards.guarded_tree import GuardedTree
from orio_py.transformation.guards.number_facts import steady_numbers
from orio_py.transformation.guards.runtime_guards import Guard, may_stand_twice, without_marks
from orio_py.transformation.parallel.pragma_text import is_about_loop
from orio_py.transformation.sites import outermost_marks, rewrite_where

_SCALING = frozenset({"*", "/", "%", "<<", ">>"})


def with_known_numbers(form: GuardedTree) -> GuardedTree:
    """The tree with numbers for the names that scale others at its marks, behind tests; the same object where there are none."""
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
