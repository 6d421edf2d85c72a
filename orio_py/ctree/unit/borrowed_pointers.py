"""Which parameters functions only follow, so that nobody has the address of a variable once a call has come back.

    void force(double q, double *fx, double *fy) { *fx = q; *fy = 2 * q; }

    force(charge[i], &fx, &fy);  /* changes `fx` and `fy`, and keeps the address of neither */

Only pointers to numbers are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set

from orio_py.ctree.effects import effects
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import declared_names, used_names, walk
from orio_py.ctree.symbols import declaration_of
from orio_py.ctree.unit.pointer_uses import Parts, used_otherwise, without_casts
from orio_py.ctree.unit.purity import FunctionDefinition

Borrowed = Mapping[str, frozenset[int]]
"""For functions by their names the places of parameters that they only follow."""


def borrowed_parameters(
    functions: Iterable[FunctionDefinition], is_number: Callable[[str], bool]
) -> Borrowed:
    """The pointers to numbers among the parameters of functions that are followed, compared, or handed on to one that does no more."""
    bodies: dict[str, Node] = {}
    places: dict[str, dict[str, int]] = {}
    for function in functions:
        name, body = function.node.decl.name, function.node.body
        if name is not None and not effects(body).opaque:
            bodies[name] = body
            places[name] = _pointers(function, declared_names(body), is_number)
    # All of them at first: what is kept is kept by some use that is none of these.
    found: dict[str, frozenset[int]] = {}
    left = {name: frozenset(of_name.values()) for name, of_name in places.items() if of_name}
    while left != found:
        found = left
        left = {
            name: frozenset(n for p, n in places[name].items() if n in found[name] and p not in others)
            for name in found
            for others in [set(used_otherwise(bodies[name], places[name].keys(), _lent_on(found)))]
        }
    return {name: numbers for name, numbers in found.items() if numbers}


def _pointers(
    function: FunctionDefinition, hidden: Set[str], is_number: Callable[[str], bool]
) -> dict[str, int]:
    """The parameters that point to a number, with their places."""
    found: dict[str, int] = {}
    for place, parameter in enumerate(function.parameters):
        if not isinstance(parameter, c_ast.Decl) or parameter.name is None or parameter.name in hidden:
            continue
        declared = declaration_of(parameter)
        if declared.pointers == 1 and not declared.dimensions and is_number(declared.type):
            found[parameter.name] = place
    return found


def _lent_on(borrowed: Borrowed) -> Parts:
    """The arguments of a call that are not handed on to a function which only follows them."""

    def parts(node: Node) -> list[Node] | None:
        match node:
            case c_ast.FuncCall(name=c_ast.ID(name=name)):
                lent, given = borrowed.get(name, frozenset()), enumerate(node.args or ())
                return [part for place, part in given if place not in lent or not isinstance(part, c_ast.ID)]
            case _:
                return None

    return parts


def kept_addresses(
    node: Node | None, taken: frozenset[str], borrowed: Borrowed, *, as_pointers: bool = False
) -> frozenset[str]:
    """The variables among those whose address some code has `taken` that something may point to afterwards.

    Where they are taken `as_pointers`, `&p[i]` and `&p->m` are addresses of what `p` points to, and none of its own.
    """
    if not taken or node is None:
        return taken
    parts = list(walk(node))
    lent = [name for part in parts for name in _lent(part, borrowed)]
    operands = [p.expr for p in parts if isinstance(p, c_ast.UnaryOp) and p.op == "&"]
    addresses = [used_names([each]) for each in operands if not (as_pointers and _is_pointed_to(each))]
    return frozenset(name for name in taken if sum(name in names for names in addresses) > lent.count(name))


def _is_pointed_to(node: Node) -> bool:
    """Whether an lvalue lies in what a variable points to, if that is a pointer: in `p[i].m`, `p->m` and `*p`."""
    is_followed = False
    while isinstance(node, (c_ast.ArrayRef, c_ast.StructRef)) or (
        isinstance(node, c_ast.UnaryOp) and node.op == "*"
    ):
        is_followed |= not isinstance(node, c_ast.StructRef) or node.type == "->"
        node = node.expr if isinstance(node, c_ast.UnaryOp) else node.name
    return is_followed and isinstance(node, c_ast.ID)


def _lent(call: Node, borrowed: Borrowed) -> Iterator[str]:
    """The variables whose address a call hands to a function that only follows it."""
    match call:
        case c_ast.FuncCall(name=c_ast.ID(name=name), args=Node() as given) if name in borrowed:
            for place, argument in enumerate(given):
                match without_casts(argument):
                    case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=variable)) if place in borrowed[name]:
                        yield variable
                    case _:
                        pass
        case _:
            pass
