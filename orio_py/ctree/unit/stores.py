"""What calls of a file's functions may change: variables outside functions, and what arguments point to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from orio_py.ctree.effects import copied_pointers, effects
from orio_py.ctree.expression_effects import handed_names
from orio_py.ctree.known_functions import STORING_FUNCTIONS, called_name
from orio_py.ctree.macros import Macro, mentioned_names
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.ctree.unit.function import Function
from orio_py.ctree.unit.translation_unit import TranslationUnit


@dataclass(frozen=True, slots=True)
class Stores:
    """What a call may change: variables outside functions, and memory that the arguments at some places point to.

    `functions` are those of the file that may run.
    """

    variables: frozenset[str] = frozenset()
    places: frozenset[int] = frozenset()
    functions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Calls:
    """What the calls in some code may change: variables outside functions, and what names `handed` to them point to."""

    variables: frozenset[str]
    handed: frozenset[str]
    functions: frozenset[str]


_ALL_PLACES = frozenset(range(128))
_OF_LIBRARY = {name: Stores(places=frozenset({0})) for name in STORING_FUNCTIONS}


@lru_cache(maxsize=4)
def stores_of(unit: TranslationUnit) -> Mapping[str, Stores]:
    """What calls of functions may change, as far as their bodies are known; other functions are left out."""
    bodies = {name: _Body.of(name, function) for name, function in unit.functions.items()}
    known = {name: Stores() for name in bodies}
    while True:
        everything = {**_OF_LIBRARY, **known}
        more = {name: body.stores(everything) for name, body in bodies.items()}
        if more == known:
            return everything
        known = more


def with_macros(
    known: Mapping[str, Stores], macros: Mapping[str, Macro], names: Iterable[str]
) -> Mapping[str, Stores]:
    """What calls may change, those of the macros among `names`, too: all that the functions may which these mention."""
    found = dict(known)
    for name in macros.keys() & set(names):
        mentioned = mentioned_names([name], macros) & known.keys()
        if mentioned:
            found[name] = _any_of(known[each] for each in sorted(mentioned))
    return found


def _any_of(stores: Iterable[Stores]) -> Stores:
    """What one of several calls may change, with the arguments at any places."""
    found = Stores()
    for each in stores:
        places = _ALL_PLACES if each.places else found.places
        found = Stores(found.variables | each.variables, places, found.functions | each.functions)
    return found


def calls_in(trees: Iterable[Node], known: Mapping[str, Stores]) -> Calls:
    """What the calls in trees may change; functions that are named alone may be called elsewhere."""
    variables, handed, functions = set[str](), set[str](), set[str]()
    for part in (part for tree in trees for part in walk(tree)):
        match part:
            case c_ast.FuncCall():
                name = called_name(part)
            case c_ast.ID():
                name = part.name
            case _:
                continue
        stores = known.get(name or "")
        if stores is not None:
            variables |= stores.variables
            functions |= stores.functions
            handed.update(_names_at(part, stores.places) if isinstance(part, c_ast.FuncCall) else ())
    return Calls(frozenset(variables), frozenset(handed), frozenset(functions))


def _names_at(call: c_ast.FuncCall, places: frozenset[int]) -> Iterator[str]:
    for place, argument in enumerate(call.args or ()):
        if place in places:
            yield from handed_names(argument)


@dataclass(frozen=True, slots=True)
class _Body:
    """A function's body with the variables outside it that it writes, and the `pointers` among its parameters.

    `own` are the names that mean something inside alone.
    """

    name: str
    node: Node
    parameters: tuple[str, ...]
    pointers: frozenset[str]
    own: frozenset[str]
    writes: frozenset[str]

    @classmethod
    def of(cls, name: str, function: Function) -> _Body:
        body = function.node.body
        parameters = [
            declaration_of(p, scope="parameter") if _is_named(p) else None for p in function.parameters
        ]
        locals_ = [declaration_of(d) for d in walk(body) if _is_named(d)]
        names = tuple(d.name if d else "" for d in parameters)
        pointers = frozenset(d.name for d in parameters if d and d.is_array_like)
        own = frozenset(names).union(d.name for d in locals_ if "extern" not in d.storage)
        inside = effects(body)
        writes = inside.array_writes | (inside.scalar_writes - own)
        moved = {d.name for d in parameters if d and _leads_elsewhere(d)} & inside.scalar_writes
        if moved or any(_leads_elsewhere(d) for d in locals_):
            # What they point to may be anything whose address the body copies.
            writes |= copied_pointers(body)
        return cls(name, body, names, pointers, own, writes)

    def stores(self, known: Mapping[str, Stores]) -> Stores:
        """What a call may change, where `known` tells of the functions that it calls."""
        calls = calls_in([self.node], known)
        written = self.writes | calls.handed
        places = (at for at, name in enumerate(self.parameters) if name in written & self.pointers)
        variables = calls.variables | (written - self.own)
        return Stores(variables, frozenset(places), calls.functions | {self.name})


def _is_named(node: Node) -> bool:
    return isinstance(node, c_ast.Decl) and node.name is not None


def _leads_elsewhere(declared: CDeclaration) -> bool:
    """Whether a variable points to memory that may be written through it."""
    leads = declared.pointers > 0 or declared.points_to_array or declared.is_parameter
    return leads and declared.is_array_like and "const" not in declared.qualifiers
