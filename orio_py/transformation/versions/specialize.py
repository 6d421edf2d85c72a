"""Specialize: versions of a statement for chosen values of a variable, or for aligned arrays.

    for (i = 0; i < n; i++)             if (n == 64) {
      y[i] += a * x[i];                   for (i = 0; i < 64; i++)
                                            y[i] += a * x[i];
                                        } else {
                                          for (i = 0; i < n; i++)
                                            y[i] += a * x[i];
                                        }

Which version runs is decided at run time, so that nothing is promised.  Source: M. Byler, J. Davies,
C. Huson, B. Leasure, M. Wolfe, "Multiple version loops", ICPP 1987.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import cast

from orio_py.core.expr import Value
from orio_py.ctree.build import binary, block, const, ident, if_
from orio_py.ctree.ctype import INT, ctype
from orio_py.ctree.loops import first_write, innermost_loops, stray_case
from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.ctree.rewrite import declared_names, walk
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.arguments import optional_text, texts, wrong
from orio_py.transformation.base import Context, Refusal, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.forms import LOOP_PRAGMAS, has_size_taken
from orio_py.transformation.parallel.vectorize import (
    Vectorize,
    alignment_value,
    require_alignment,
    require_arrays,
)
from orio_py.transformation.types import is_narrow
from orio_py.transformation.versions.numbers import clash_with, typed_literal, version_with

DECLARATIONS = (c_ast.Decl, c_ast.DeclList, c_ast.Typedef)
"""Statements that the code behind them needs."""


@dataclass(frozen=True, slots=True)
class Specialize:
    """Put copies of a statement before it: one for each of `values` of the variable `on`.

    With `aligned`, the copies are for arrays whose addresses are multiples of `alignment` bytes, and their
    innermost loops say so in an `omp simd` pragma; a copy is then taken where both conditions hold.
    """

    on: str | None = None
    values: tuple[int, ...] = ()
    aligned: tuple[str, ...] = ()
    alignment: int = 64
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The versions in an `if`, the original last; `node` is not modified.

        Raises Refusal: ORIO-T023, T026, T093, T094, T095, T099, and those of Vectorize where no loop takes the pragma.
        """
        values = tuple(dict.fromkeys(self.values)) if self.on is not None else ()
        if not values and not self.aligned:
            return node
        _require_copyable(node, context)
        fast = self._vectorised(node, context) if self.aligned else node
        result = node
        for value in reversed(values):
            test, number = self._number(node, value, context)
            version = version_with(number, self.on or "", fast, context)
            result = if_(self._and_aligned(test), _braced(version), _braced(result))
        return result if values else if_(self._and_aligned(None), _braced(fast), _braced(node))

    def _number(self, node: Node, value: int, context: Context) -> tuple[Node, Node]:
        """The condition that the variable has the value, and the value in the variable's type."""
        name = self.on or ""
        declared = _variable(name, node, context, force=self.force)
        number = typed_literal(declared.type, value)
        if number is None:
            message = f"`{name}` is of type `{declared.type}`, which does not hold {value} for certain"
            refuse("ORIO-T099", message, node, argument="values")
        is_int = is_narrow(declared) or ctype(declared.type) == INT
        if (place := clash_with(node, name, value, is_int=is_int)) is not None:
            message = f"with {value} for `{name}` this would be a division by 0, or out of range"
            refuse("ORIO-T099", message, place if place.coord is not None else node, argument="values")
        plain = const(value) if isinstance(number, c_ast.Cast) else number
        return binary("==", ident(name), plain), number

    def _and_aligned(self, test: Node | None) -> Node:
        # `unsigned long` is as wide as an address on every POSIX system, and needs no header.
        words = c_ast.IdentifierType(["unsigned", "long"])
        kind = c_ast.Typename(None, [], None, c_ast.TypeDecl(None, [], None, words))
        tests = [
            binary("==", binary("%", c_ast.Cast(kind, ident(a)), self.alignment), 0) for a in self.aligned
        ]
        return reduce(lambda left, right: binary("&&", left, right), [*([test] if test else []), *tests])

    def _vectorised(self, node: Node, context: Context) -> Node:
        """The copy for aligned arrays.  Raises Refusal where no loop takes the pragma."""
        require_alignment(self.alignment, node)
        require_arrays(self.aligned, node, context, argument="aligned")
        step = Vectorize(aligned=self.aligned, alignment=self.alignment, force=self.force)
        refusals: list[Refusal] = []
        taken: set[int] = set()
        for loop in innermost_loops(node):
            inside = context.effects(loop)
            if not (inside.array_reads | inside.array_writes) & set(self.aligned):
                continue
            try:
                step.apply_where(node, context, lambda n, loop=loop: n is loop)
                taken.add(id(loop))
            except Refusal as refusal:
                refusals.append(refusal)
        if not taken:
            if refusals:
                raise refusals[0]
            refuse(
                "ORIO-T094", "no innermost loop uses the arrays named in `aligned`", node, argument="aligned"
            )
        return step.apply_where(node, context, lambda n: id(n) in taken)


def _variable(name: str, node: Node, context: Context, *, force: bool) -> CDeclaration:
    """The variable that a version has a number for.  Raises Refusal: ORIO-T095."""
    declared = context.declarations.get(name)
    inside = context.effects(node)
    place: Node = node
    if name in context.macros:
        problem = "is a macro, whose value the compiler knows already"
    elif declared is None:
        problem = "is not declared in this file"
    elif not (declared.is_integer and declared.is_scalar):
        problem = "is not an integer variable"
    elif "volatile" in declared.qualifiers:
        problem = "is volatile"
    elif name in inside.writes | inside.address_taken:
        problem, place = "is changed here", first_write(name, node) or node
    elif name in declared_names(node):
        problem = "is also the name of another variable here"
    elif name not in inside.reads:
        problem = "is not used here"
    elif is_narrow(declared) and has_size_taken(node, name):
        problem = "has its size taken here"
    elif not force and name in context.exposed and (called := sorted(inside.calls)):
        problem = f"could be changed by `{called[0]}`, which is called here"
    else:
        return declared
    refuse("ORIO-T095", f"Specialize cannot take `{name}` for a number: it {problem}", place, argument="on")


def _require_copyable(node: Node, context: Context) -> None:
    """The statement may stand in the program several times.  Raises Refusal: ORIO-T023, T026."""
    require_no_loop_pragma("Specialize", node, context)
    if isinstance(node, DECLARATIONS):
        refuse("ORIO-T026", "Specialize cannot copy a declaration, which the code behind it needs", node)
    for part in walk(node):
        if isinstance(part, c_ast.Decl) and "static" in (part.storage or []):
            refuse("ORIO-T026", f"Specialize cannot copy the `static` variable `{part.name}`", part)
        if isinstance(part, c_ast.Label):
            refuse("ORIO-T026", f"Specialize cannot copy the label `{part.name}`", part)
    if (case := stray_case(node)) is not None:
        refuse("ORIO-T026", "Specialize cannot copy a `case` label of a `switch` outside the statement", case)


def require_no_loop_pragma(what: str, node: Node, context: Context) -> None:
    """No pragma directly before the statement belongs to it.  Raises Refusal: ORIO-T023."""
    for pragma in context.pragmas:
        if set(pragma.replace("(", " ").split()[:1]) & LOOP_PRAGMAS:
            message = f"{what} would separate the loop from the pragma before it: `#pragma {pragma}`"
            refuse("ORIO-T023", message, node, help="remove the pragma and let the recipe insert it")


def _braced(node: Node) -> Node:
    return node if isinstance(node, (Compound, c_ast.If)) else block(node)


def integers(value: Value, name: str) -> tuple[int, ...]:
    """An integer, or a list or tuple of integers.  Raises Refusal: ORIO-T010."""
    items = value if isinstance(value, (list, tuple)) else [value]
    if any(isinstance(item, bool) or not isinstance(item, int) for item in items):
        wrong(name, "an integer or a list of integers", value)
    return tuple(cast("list[int]", items))


ENTRY = Entry(
    "Specialize",
    "make versions of a statement for chosen values of a variable, or for aligned arrays",
    (
        ArgumentSpec("on", "name of an integer variable", "the variable", optional_text, default="''"),
        ArgumentSpec(
            "values", "integer or list of integers", "a copy is made for each", integers, default="[]"
        ),
        ArgumentSpec(
            "aligned",
            "array or list of arrays",
            "the copies are for arrays that begin at multiples of `alignment`",
            texts,
            default="[]",
        ),
        ArgumentSpec(
            "alignment", "power of two", "alignment in bytes of those arrays", alignment_value, default="64"
        ),
        FORCE,
    ),
    Specialize,
)
