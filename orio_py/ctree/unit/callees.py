"""The functions of a file whose bodies can stand where they are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from orio_py.ctree.build import statements
from orio_py.ctree.ctype import ctype
from orio_py.ctree.effects import effects
from orio_py.ctree.macros import Macro
from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.ctree.rewrite import declared_names, targets, used_names, walk
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.ctree.unit.copied_variables import with_assigned_copies
from orio_py.ctree.unit.function import Function
from orio_py.ctree.unit.translation_unit import TranslationUnit

_UNFIT = (c_ast.Label, c_ast.Goto, c_ast.Typedef, c_ast.Struct, c_ast.Union, c_ast.Enum, c_ast.Pragma)
_WORDS = {"Label": "label", "Goto": "`goto`", "Pragma": "pragma"}


@dataclass(frozen=True, slots=True)
class Callee:
    """A function that calls can be replaced by.

    `result` is the type of its value, None where it has none; `stores` tells whether it, or what it calls, may
    change anything but its own variables.  `place` is the expression for the address of an element that a function gives back
    which does nothing else; its calls are replaced by that alone.  Of one that `is_internal`, `static` and not `inline`, compilers say
    where nothing calls it.
    """

    name: str
    parameters: tuple[CDeclaration, ...]
    result: str | None
    body: Compound
    stores: bool
    calls: frozenset[str]
    place: Node | None = None
    is_internal: bool = False


def callees(
    unit: TranslationUnit,
    called: Iterable[str],
    visible: Iterable[str],
    hidden: frozenset[str],
    macros: Mapping[str, Macro],
) -> Mapping[str, Callee]:
    """The functions among those `called`, and those that they call, whose bodies mean there what they mean where they stand.

    `visible` are the variables outside functions that the place sees, `hidden` the names that are declared
    there inside the function, `macros` those that are defined there.
    """
    found: dict[str, Callee] = {}
    known: set[str] = set()
    waiting, tried = sorted(unit.functions.keys() & set(called)), set(hidden)
    while waiting:
        name = waiting.pop()
        callee = _callee(name, unit.functions[name], unit) if name not in tried else None
        tried.add(name)
        if callee is None or isinstance(callee, str):
            continue
        known = known or {*visible, *unit.typedefs, *unit.enumerators, *unit.functions}
        waiting += sorted(unit.functions.keys() & callee.calls)
        if _means_the_same(
            callee, known, hidden, unit.macros_at(unit.functions[name].declared.start), macros
        ):
            found[name] = callee
    return _with_what_calls_store(found)


def _means_the_same(
    callee: Callee,
    known: Set[str],
    hidden: frozenset[str],
    there: Mapping[str, Macro],
    here: Mapping[str, Macro],
) -> bool:
    """Whether the names of a body stand for the same things at another place."""
    own = declared_names(callee.body) | {p.name for p in callee.parameters}
    outer = used_names([callee.body], members=False) - own
    called = {
        part.name.name
        for part in walk(callee.body)
        if isinstance(part, c_ast.FuncCall) and isinstance(part.name, c_ast.ID)
    }
    unknown = {name for name in outer - called - known if ctype(name) is None and name not in there}
    return not (outer & hidden or unknown or any(there.get(name) != here.get(name) for name in outer))


def _with_what_calls_store(found: Mapping[str, Callee]) -> Mapping[str, Callee]:
    """The functions; those store as well that call one that does, or whose body is not known."""
    storing = {name for name, callee in found.items() if callee.stores}
    while more := {
        name for name, c in found.items() if name not in storing and c.calls - (found.keys() - storing)
    }:
        storing |= more
    return {name: replace(callee, stores=name in storing) for name, callee in found.items()}


def obstacles(unit: TranslationUnit, called: Iterable[str], found: Mapping[str, Callee]) -> Mapping[str, str]:
    """Why the bodies of functions that are called cannot stand in place of their calls, as far as the functions say so."""
    known: dict[str, str | None] = {}
    reasons = {name: _obstacle(name, unit, found, known) for name in sorted(called)}
    stores = {name: f"`{name}` changes memory" for name in reasons if name in found and found[name].stores}
    return {**stores, **{name: why for name, why in reasons.items() if why is not None}}


def _obstacle(
    name: str, unit: TranslationUnit, found: Mapping[str, Callee], known: dict[str, str | None]
) -> str | None:
    if name not in known:
        known[name] = f"`{name}` calls itself"
        known[name] = _new_obstacle(name, unit, found, known)
    return known[name]


def _new_obstacle(
    name: str, unit: TranslationUnit, found: Mapping[str, Callee], known: dict[str, str | None]
) -> str | None:
    if name not in unit.functions:
        return f"the body of `{name}` is not known"
    callee = _callee(name, unit.functions[name], unit)
    if isinstance(callee, str):
        return f"`{name}` {callee}"
    inner = (_obstacle(each, unit, found, known) for each in sorted(callee.calls))
    deeper = next((why for why in inner if why is not None), None)
    if deeper is not None:
        return deeper if name in callee.calls else f"in `{name}`, {deeper}"
    return None if name in found else f"`{name}` uses names that mean something else at the call"


def _callee(name: str, function: Function, unit: TranslationUnit) -> Callee | str:
    """The function as something to put in place of its calls; what is in the way where that is more than a list of statements."""
    node = function.node
    named = [declaration_of(p) for p in function.parameters if isinstance(p, c_ast.Decl) and p.name]
    types = unit.named_types
    parameters = [types.of(p) if p.type in {*types.pointers, *types.arrays} else p for p in named]
    kind = node.decl.type.type
    is_void = len(function.parameters) == 1 and not parameters and _is_void(function.parameters[0])
    if len(parameters) != len(function.parameters) and not is_void:
        return "has parameters without a name, or any number of them"
    declared = [declaration_of(d) for d in walk(node.body) if isinstance(d, c_ast.Decl) and d.name]
    for each in (*parameters, *declared):
        if each.storage or "volatile" in each.qualifiers:
            return f"has the variable `{' '.join(sorted({*each.storage, *each.qualifiers}))} {each.name}`"
    for part in walk(node.body):
        if isinstance(part, _UNFIT):
            return f"holds a {_WORDS.get(type(part).__name__, 'type of its own')}"
    body = with_assigned_copies(node.body, _SameTypes((*parameters, *declared), unit))
    assert isinstance(body, Compound)
    inside = effects(body)
    if inside.opaque:
        return "holds code that is not understood"
    words = _words(kind)
    known = words if ctype(words) or unit.structures.get(words) else unit.number_types.get(words)
    result = None if words == "void" else known
    place = _place(node.body, parameters, unit) if isinstance(kind, c_ast.PtrDecl) else None
    if words != "void" and result is None and (place is None or inside.calls or any(targets(place))):
        return "gives back what is no number and no structure"
    taken = inside.address_taken & {p.name for p in parameters if not p.is_array_like}
    if taken and place is None:
        return f"takes the address of its parameter `{min(taken)}`"
    own = {d.name for d in (*parameters, *declared)}
    arrays = {d.name for d in declared if d.dimensions and not d.points_to_array}
    stores = any(not _is_in(target, own, arrays) for target in targets(body))
    is_internal = "static" in node.decl.storage and "inline" not in node.decl.funcspec
    return Callee(name, tuple(parameters), result, body, stores, inside.calls, place, is_internal)


def _place(body: Node, parameters: Sequence[CDeclaration], unit: TranslationUnit) -> Node | None:
    """The address of an element that a body gives back and nothing else."""
    items = [item for item in statements(body) if not isinstance(item, c_ast.EmptyStatement)]
    match items:
        case [c_ast.Return(expr=c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef()) as address)]:
            return address
        case [c_ast.Return(expr=c_ast.BinaryOp(op="+", left=base, right=place, coord=coord))]:
            return c_ast.UnaryOp("&", c_ast.ArrayRef(base, place, coord), coord)
        case [c_ast.Return(expr=c_ast.Cast(to_type=to, expr=c_ast.BinaryOp(op="+", left=base, right=place)))]:
            same = _is_of_type(base, to, parameters, unit)
            return c_ast.UnaryOp("&", c_ast.ArrayRef(base, place, to.coord), to.coord) if same else None
        case _:
            return None


def _is_of_type(pointer: Node, kind: Node, parameters: Sequence[CDeclaration], unit: TranslationUnit) -> bool:
    """Whether a pointer to numbers, a member of a structure that a parameter points to, is of a type that it is cast to."""
    match pointer, kind:
        case (
            c_ast.StructRef(name=c_ast.ID(name=outer), type="->", field=c_ast.ID(name=field)),
            c_ast.Typename(
                type=c_ast.PtrDecl(type=c_ast.TypeDecl(type=c_ast.IdentifierType(names=words), quals=own))
            ),
        ):
            structure = next((p.type for p in parameters if p.name == outer), "")
            found = [m for m in unit.structures.get(structure, ()) if m.name == field]
            return any(
                member.pointers == 1
                and not member.dimensions
                and member.type == " ".join(words)
                and member.qualifiers <= set(own)
                for member in found
            )
        case _:
            return False


class _SameTypes:
    """Whether variables, and the bytes that are copied, are of one type of numbers."""

    def __init__(self, variables: Iterable[CDeclaration], unit: TranslationUnit) -> None:
        found = list(variables)
        names = [each.name for each in found]
        self._unit = unit
        self._types = {
            v.name: unit.named_types.number(v.type) for v in found if v.is_scalar and names.count(v.name) == 1
        }

    def __call__(self, to: str, source: str, size: Node) -> bool:
        kind = self._types.get(to)
        return kind is not None and self._types.get(source) == kind == self._measured(size)

    def _measured(self, size: Node) -> str | None:
        match size:
            case c_ast.UnaryOp(op="sizeof", expr=c_ast.ID(name=name)):
                return self._types.get(name)
            case c_ast.UnaryOp(
                op="sizeof",
                expr=c_ast.Typename(type=c_ast.TypeDecl(type=c_ast.IdentifierType(names=words))),
            ):
                return self._unit.named_types.number(" ".join(words))
            case _:
                return None


def _words(kind: Node) -> str:
    """The name of a type that is no pointer: `double`, `complex` or `struct point`."""
    match kind:
        case c_ast.TypeDecl(type=c_ast.IdentifierType(names=names)):
            return " ".join(names)
        case c_ast.TypeDecl(type=c_ast.Struct(name=str(name), decls=None)):
            return f"struct {name}"
        case _:
            return ""


def _is_in(target: Node, own: Set[str], arrays: Set[str]) -> bool:
    """Whether what is assigned is a part of a function's own variables, and not of what these point to."""
    match target:
        case c_ast.ID(name=name):
            return name in own
        case c_ast.ArrayRef(name=c_ast.ID(name=name)):
            return name in arrays
        case c_ast.ArrayRef(name=c_ast.ArrayRef() as outer):
            return _is_in(outer, own, arrays)
        case c_ast.StructRef(name=inner, type="."):
            return _is_in(inner, own, arrays)
        case _:
            return False


def _is_void(parameter: Node) -> bool:
    return (
        isinstance(parameter, c_ast.Typename)
        and declaration_of(c_ast.Decl("", [], [], [], [], parameter.type, None, None)).type == "void"
    )
