"""Prefetch: ask for array elements some iterations before they are used.

    for (i = 0; i < n; i++)             for (i = 0; i < n; i++) {
      s += a[row[i]];                     __builtin_prefetch(&a[row[n - i > 8 ? i + 8 : i]], 0, 3);
                                          s += a[row[i]];
                                        }

Near the end of the loop, where that iteration does not exist, the element of the current iteration is asked
for: each address is one that the loop uses.  `__builtin_prefetch` is known to GCC, Clang and the compilers
made from them.  Source: T. Mowry, M. Lam, A. Gupta, "Design and evaluation of a compiler algorithm for
prefetching", ASPLOS 1992.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import NoReturn

from orio_py.core.expr import Value
from orio_py.ctree.build import add, binary, block, call, const, ident, sub, ternary, unary
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import CanonicalLoop, innermost_loops
from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.ctree.parse import parse_statement
from orio_py.ctree.rewrite import copy_with, substitute, walk
from orio_py.ctree.simplify import simplify
from orio_py.transformation.arguments import boolean, positive_int, text, wrong
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.forms import (
    loop_view,
    require_invariant_bound,
    require_no_jumps,
    require_stable_index,
)
from orio_py.transformation.sites import rewrite_where
from orio_py.transformation.storage.array_uses.items import Loop, Ref, Use
from orio_py.transformation.storage.array_uses.live_ranges import Spans
from orio_py.transformation.storage.array_uses.uses import Uses

_MOST_LOCAL = 3
_CONSTANT = re.compile(r" [+-] \d+")


@dataclass(frozen=True, slots=True)
class Prefetch:
    """Prefetch `aref` (None: each array that moves with the loop) `distance` iterations ahead.

    `locality` goes from 0 (used once) to 3 (used often); `write` says that the element will be written.
    Works on each innermost loop that uses `aref`.  `force` trusts functions called in the loops not to
    change what their bounds read.
    """

    aref: str | None
    distance: int
    locality: int = _MOST_LOCAL
    write: bool = False
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The tree with prefetches at the start of innermost loops; `node` is not modified.

        Raises Refusal: ORIO-T011, T020 to T028, T062, T063, T068, T069.
        """
        if self.distance < 1:
            refuse(
                "ORIO-T011",
                f"the distance is {self.distance}; it must be at least 1",
                node,
                argument="distance",
            )
        if not 0 <= self.locality <= _MOST_LOCAL:
            refuse(
                "ORIO-T011",
                f"`locality` is {self.locality}; it goes from 0 to 3",
                node,
                argument="locality",
            )
        wanted = None if self.aref is None else _reference(self.aref, node)
        loops = {id(loop) for loop in innermost_loops(node) if wanted is None or _uses(loop, wanted)}
        if not loops:
            what = "an innermost loop" if wanted is None else f"an innermost loop that uses `{wanted}`"
            _refuse_missing(what, node)

        def change(loop: Node, inner: Context) -> Node:
            return self._prefetched(loop, wanted, inner)

        return rewrite_where(node, lambda n: id(n) in loops, change, context)

    def _prefetched(self, loop: Node, wanted: str | None, context: Context) -> Node:
        # Nothing is moved away from a pragma before the loop.
        view = loop_view(loop, "Prefetch", replace(context, pragmas=()))
        require_stable_index(view, "Prefetch", context)
        require_no_jumps(view, "Prefetch")
        require_invariant_bound(view, "Prefetch", context, force=self.force)
        ahead = self._ahead(view)
        added = [
            call(
                "__builtin_prefetch",
                unary("&", substitute(ref.node, view.index, ahead)),
                const(int(self.write)),
                const(self.locality),
            )
            for ref in self._chosen(view, wanted, context)
        ]
        body = view.body
        new = (
            copy_with(body, block_items=[*added, *(body.block_items or [])])
            if isinstance(body, Compound)
            else (block(*added, body))
        )
        return copy_with(view.node, stmt=new) if added else loop

    def _ahead(self, view: CanonicalLoop) -> Node:
        """The index `distance` iterations later, or the index itself where there is no such iteration."""
        here, far = ident(view.index), self.distance * abs(view.stride)
        left = sub(view.bound, here) if view.upward else simplify(sub(here, view.bound))
        more = binary(">" if view.relation in {"<", ">"} else ">=", left, far)
        return ternary(more, add(here, far) if view.upward else sub(here, far), here)

    def _chosen(self, view: CanonicalLoop, wanted: str | None, context: Context) -> list[Ref]:
        """The references to prefetch: the wanted one, or the first of each shape that moves with the loop."""
        uses = Uses.of(view.node, context)
        loop = uses.root.items[0].loop
        body = uses.root.items[0].blocks[0]
        assert loop is not None
        inside = frozenset(name for item in body.items for name in uses.writes[item.writes])
        found: dict[object, Ref] = {}
        for use in uses.uses:
            problem = _problem(use, view, loop, inside, uses)
            if wanted is None and problem is None:
                found.setdefault(_shape(use.ref), use.ref)
            elif wanted == use.ref.text:
                if problem is None:
                    return [use.ref]
                refuse(problem[0], f"Prefetch cannot ask early for `{wanted}`: {problem[1]}", use.node)
        if wanted is not None:
            _refuse_missing(f"`{wanted}` among the elements that the loop uses", view.node)
        return list(found.values())


def _refuse_missing(what: str, node: Node) -> NoReturn:
    refuse("ORIO-T063", f"Prefetch does not find {what}", node, argument="aref")


def _problem(
    use: Use, view: CanonicalLoop, loop: Loop, inside: frozenset[str], uses: Uses
) -> tuple[str, str] | None:
    """Why a use cannot be prefetched: a code and the end of a sentence."""
    ref = use.ref
    if loop not in use.frames or not ref.steady or not isinstance(ref.node, c_ast.ArrayRef):
        return "ORIO-T069", "it is not an array element in the body of the loop"
    if view.index not in ref.names:
        return "ORIO-T069", f"it stays the same in the loop over `{view.index}`"
    if changed := sorted(ref.names & inside - {view.index}):
        return "ORIO-T069", f"the body of the loop sets `{changed[0]}`"
    span = Spans(uses).span(uses.root, 0, 0)
    if not ref.names.isdisjoint(uses.volatile) or any(span.changes(inner) for inner in ref.inner):
        return "ORIO-T069", "the loop may change what its subscripts read"
    if use.may_be_skipped:
        return "ORIO-T068", "some iterations may not reach it, so that its address may lie outside the array"
    return None


def _shape(ref: Ref) -> str:
    """What references have in common that differ only by constants."""
    return _CONSTANT.sub("", ref.text)


def _reference(aref: str, node: Node) -> str:
    """The text of a reference as the tree would show it.  Raises Refusal: ORIO-T062."""
    found = parse_statement(aref, "aref")
    if not isinstance(found, c_ast.ArrayRef):
        refuse(
            "ORIO-T062",
            f"`aref` is {aref!r}; it must be an array element of the loop",
            node,
            help="for example 'a[i][k]'",
            argument="aref",
        )
    return emit_expression(simplify(found))


def _uses(loop: Node, wanted: str) -> bool:
    refs = (part for part in walk(loop) if isinstance(part, c_ast.ArrayRef))
    return any(emit_expression(simplify(ref)) == wanted for ref in refs)


def _optional_text(value: Value, name: str) -> str | None:
    """A string or None.  Raises Refusal: ORIO-T010."""
    return None if value is None else text(value, name)


def _locality(value: Value, name: str) -> int:
    """An integer from 0 to 3.  Raises Refusal: ORIO-T010, ORIO-T011."""
    if isinstance(value, bool) or not isinstance(value, int):
        wrong(name, "an integer from 0 to 3", value)
    if not 0 <= value <= _MOST_LOCAL:
        refuse("ORIO-T011", f"`{name}` is {value}; it goes from 0 to 3", None, argument=name)
    return value


ENTRY = Entry(
    "Prefetch",
    "ask for array elements some iterations before they are used",
    (
        ArgumentSpec(
            "aref",
            "text such as 'a[i][k]', or None",
            "the element to prefetch; None: one of each array that moves with the loop",
            _optional_text,
        ),
        ArgumentSpec("distance", "integer, at least 1", "how many iterations ahead", positive_int),
        ArgumentSpec(
            "locality", "integer from 0 to 3", "how long to keep it: 0 not at all, 3 long", _locality, "3"
        ),
        ArgumentSpec("write", "True or False", "it will be written", boolean, "False"),
        FORCE,
    ),
    Prefetch,
)
