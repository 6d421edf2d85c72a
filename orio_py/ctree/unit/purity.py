"""Which functions of a file do nothing but compute a value from those of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from orio_py.ctree.effects import effects
from orio_py.ctree.file_structure import Item
from orio_py.ctree.lexer import names_in
from orio_py.ctree.macros import mentioned_names
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import declared_names, walk
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.ctree.unit.copied_variables import with_assigned_copies
from orio_py.ctree.unit.external_declarations import ASM, Preprocessed

_LARGEST_CALLEE = 500
"""Tokens of a function whose effects are looked for in its body."""


class FunctionDefinition(Protocol):
    """A function with its body."""

    @property
    def node(self) -> c_ast.FuncDef:
        """The definition."""
        ...

    @property
    def parameters(self) -> Sequence[Node]:
        """The declarations of the parameters."""
        ...


def with_callees(unit: Preprocessed) -> Callable[[Item], bool]:
    """Whether an item is annotated, or a short function of the project that those which are may call, macros included."""
    functions = {
        item.name: item
        for item in unit.items
        if item.kind == "function" and not unit.marker_at(item.start).is_system
    }
    macros = {c.name: c.macro for c in unit.changes if c.macro is not None}
    kept = {item.start for item in unit.items if unit.is_annotated(item)}
    waiting = [item for item in functions.values() if item.start in kept]
    while waiting:
        for name in mentioned_names(names_in(waiting.pop().tokens), macros) & functions.keys():
            callee = functions[name]
            is_seen = len(callee.tokens) <= _LARGEST_CALLEE and not any(
                t.is_name(*ASM) for t in callee.tokens
            )
            if callee.start not in kept and is_seen:
                kept.add(callee.start)
                waiting.append(callee)
    return lambda item: item.start in kept


def pure_functions(
    functions: Iterable[FunctionDefinition],
    constants: frozenset[str],
    own: frozenset[str],
    holds_numbers: Callable[[str], bool],
) -> frozenset[str]:
    """The names of those functions that are pure.

    They may read `constants`, write their own variables, and call functions of the C library and each other;
    `own` are functions of the project, which count by their bodies whatever the library has by their names;
    `holds_numbers` tells the types of which a copy leads to no other memory: a structure may hold pointers.
    A function that calls itself is left out.
    """
    waiting: dict[str, frozenset[str]] = {}
    for function in functions:
        name, calls = function.node.decl.name, _calls(function, constants, own, holds_numbers)
        if name is not None and calls is not None:
            waiting[name] = calls
    found = set[str]()
    while ready := {name for name, calls in waiting.items() if calls <= found}:
        found |= ready
        waiting = {name: calls for name, calls in waiting.items() if name not in ready}
    return frozenset(found)


def _calls(
    function: FunctionDefinition,
    constants: frozenset[str],
    own: frozenset[str],
    holds_numbers: Callable[[str], bool],
) -> frozenset[str] | None:
    """What a function calls, besides pure functions of the library; None if it does more than compute a value."""
    parameters = [declaration_of(p) for p in function.parameters if isinstance(p, c_ast.Decl) and p.name]
    values = frozenset(
        p.name for p in parameters if p.is_scalar and holds_numbers(p.type) and "volatile" not in p.qualifiers
    )
    copied = declared_names(function.node.body)
    body = with_assigned_copies(function.node.body, lambda to, source, size: {to, source} <= copied | values)
    inside = effects(body)
    if inside.opaque or inside.address_taken or inside.array_writes or inside.escaping - values:
        return None
    if inside.scalar_writes - values or inside.reads - values - constants - own:
        return None
    if not all(_is_plain(declaration_of(d)) for d in walk(body) if isinstance(d, c_ast.Decl) and d.name):
        return None
    called = {
        c.name.name for c in walk(body) if isinstance(c, c_ast.FuncCall) and isinstance(c.name, c_ast.ID)
    }
    if called & (copied | {p.name for p in parameters}):
        return None  # What a variable leads to may do anything, whatever the variable is called.
    return inside.calls | (called & own)


def _is_plain(declared: CDeclaration) -> bool:
    """Whether a local variable is new in each call, and read as it was written."""
    return not declared.storage & {"static", "extern"} and "volatile" not in declared.qualifiers
