"""Generated code as compilers of C before 1999 take it: no declarations in the headers of loops, no `restrict`.

    #pragma omp parallel for            {
    for (int i = 0; i < n; i++)           int i;
      a[i] = 0;                   →       #pragma omp parallel for
                                          for (i = 0; i < n; i++)
                                            a[i] = 0;
                                        }

A block of its own keeps the scope that the loop gave (C99 6.8.5.3).  `__restrict` is the word of gcc, clang and others
for what C99 calls `restrict`.
"""

from __future__ import annotations

import re

from orio_py.ctree.build import assign
from orio_py.ctree.nodes import Comment, Compound, For, GuardedPragma, Node, c_ast
from orio_py.ctree.rewrite import Replacement, Rewriter, copy_with

_STANDARD = re.compile(r"(?:^|\s)(?:-ansi|-?-std=(\S+))(?=\s|$)")
_BEFORE_C99 = re.compile(r"(?:c89|c90|gnu89|gnu90|iso9899:(?:1990|199409))$")
_COLLAPSE = re.compile(r"\bcollapse\s*\(\s*(\d+)\s*\)")
_PRAGMAS = (c_ast.Pragma, GuardedPragma)


def is_before_c99(command: str) -> bool:
    """Whether a compiler command chooses a standard from before 1999; the last choice holds.

    >>> is_before_c99("gcc -O3 -std=gnu89"), is_before_c99("gcc -ansi -std=c11"), is_before_c99("gcc -O3")
    (True, False, False)
    """
    chosen = [found[1] or "c90" for found in _STANDARD.finditer(command)]
    return bool(chosen) and _BEFORE_C99.match(chosen[-1]) is not None


def restrict_word(command: str) -> str:
    """The qualifier of pointers that nothing else overlaps, as the compiler of a command knows it."""
    return "__restrict" if is_before_c99(command) else "restrict"


def in_c89(tree: Node) -> Node:
    """The tree with declarations in blocks around the loops that had them in their headers, and with `__restrict`."""
    return _InC89().rewrite(tree)


class _InC89(Rewriter):
    def visit_Compound(self, node: Compound) -> Node:
        before = node.block_items or []
        items: list[Node] = []
        first = 0
        while first < len(before):
            last = _directed(before, first)
            found = (
                self._loop(before[last], before[first:last]) if last > first else self.visit(before[first])
            )
            items += [found] if isinstance(found, Node) else found
            first = last + 1
        same = len(items) == len(before) and all(a is b for a, b in zip(items, before, strict=True))
        return node if same else copy_with(node, block_items=items)

    def visit_For(self, node: For) -> Replacement:
        return self._loop(node, [])

    def visit_PtrDecl(self, node: c_ast.PtrDecl) -> Node:
        new = self.generic(node)
        if "restrict" not in node.quals:
            return new
        return copy_with(new, quals=["__restrict" if word == "restrict" else word for word in node.quals])

    def _loop(self, node: Node, pragmas: list[Node]) -> Replacement:
        """A loop behind its pragmas, in a block with what it and the loops that these collapse declare."""
        assert isinstance(node, For)
        declared: list[Node] = []
        loop = self._without_declarations(node, declared, _collapsed(pragmas))
        if declared:
            return Compound([*declared, *pragmas, loop])
        return [*pragmas, loop] if pragmas else loop

    def _without_declarations(self, node: For, declared: list[Node], depth: int) -> For:
        init = node.init
        if isinstance(init, c_ast.DeclList):
            init = _assignments(init)
            declared += [copy_with(one, init=None) for one in _variables(node.init)]
        body = node.stmt
        inner = body.block_items if isinstance(body, Compound) else [body]
        if depth > 1 and inner is not None and len(inner) == 1 and isinstance(inner[0], For):
            nested: Node = self._without_declarations(inner[0], declared, depth - 1)
            body = copy_with(body, block_items=[nested]) if isinstance(body, Compound) else nested
        else:
            found = self.visit(body)
            body = found if isinstance(found, Node) else Compound(found)
        if init is node.init and body is node.stmt:
            return node
        return copy_with(node, init=init, stmt=body)


def _directed(items: list[Node], first: int) -> int:
    """The place of the loop that pragmas from a place on are for; that place where there is none."""
    last = first
    while last < len(items) and isinstance(items[last], (*_PRAGMAS, Comment)):
        last += 1
    is_loop = last < len(items) and isinstance(items[last], For)
    return last if is_loop and isinstance(items[first], _PRAGMAS) else first


def _variables(init: Node | None) -> list[c_ast.Decl]:
    assert isinstance(init, c_ast.DeclList)
    return [one for one in init.decls if isinstance(one, c_ast.Decl)]


def _assignments(init: c_ast.DeclList) -> Node | None:
    """What gives the variables of a header their values, in the order written."""
    given = [assign(one.name or "", one.init) for one in _variables(init) if one.init is not None]
    if not given:
        return None
    return given[0] if len(given) == 1 else c_ast.ExprList(list(given))


def _collapsed(pragmas: list[Node]) -> int:
    """How many nested loops stand for one, whose indices directives make private themselves."""
    texts = [str(getattr(pragma, "string", "") or "") for pragma in pragmas]
    return max((int(found[1]) for text in texts for found in _COLLAPSE.finditer(text)), default=1)
