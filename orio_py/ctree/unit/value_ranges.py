"""What the values of variables are known to be where some code of a function begins.

    if (n <= 0 || m < n) return;
    /* n - 1 and m - n are at least 0 here */

The conditions are those that every way to the code goes through, in `if`, loops and assignments of numbers, with
variables that nothing changes afterwards.  Source: available expressions, A. V. Aho, M. S. Lam, R. Sethi, J. D. Ullman,
"Compilers", 2nd edition, 9.2.6, with conditions for expressions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orio_py.ctree.build import is_number, literal_value
from orio_py.ctree.ctype import INT, CType, ctype, type_of
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.dependence.scope import Constraint, relation
from orio_py.ctree.nodes import MIRRORED, NEGATED, Node, c_ast
from orio_py.ctree.rewrite import used_names
from orio_py.ctree.symbols import CDeclaration
from orio_py.ctree.unit.control_flow import ControlFlow, declared_in

_Known = tuple[Node, bool]


def facts_before(
    flow: ControlFlow, inside: range, variables: Mapping[str, CDeclaration]
) -> tuple[Constraint, ...]:
    """Polynomials over variables that are at least 0 whenever the code begins.

    `variables` are those of the function that the code sees; pointers to them are taken care of.
    """
    found = {
        fact.key: fact
        for condition, truth in _conditions_before(flow, inside)
        if _is_about(condition, flow, inside, variables)
        for fact in facts_of(condition, truth, variables)
        if any(fact.terms)
    }
    return tuple(found.values())


def number_before(flow: ControlFlow, inside: range, name: str) -> Node | None:
    """The number that a variable of the function holds whenever the code begins; None where that is not known."""
    for condition, truth in _conditions_before(flow, inside):
        match condition:
            case c_ast.BinaryOp(op="==", left=c_ast.ID(name=known), right=value) if known == name and truth:
                return value if is_number(value) and not flow.is_addressed(name, inside) else None
            case _:
                pass
    return None


def _is_about(
    condition: Node, flow: ControlFlow, inside: range, variables: Mapping[str, CDeclaration]
) -> bool:
    """Whether all names of a condition are integer variables that only the function's own code can change."""
    names = used_names([condition])
    return all(
        (known := variables.get(name)) is not None
        and known.is_scalar
        and known.is_integer
        and known.scope != "global"
        and not known.storage & {"static", "extern"}
        and "volatile" not in known.qualifiers
        and not flow.is_addressed(name, inside)
        for name in names
    )


def _conditions_before(flow: ControlFlow, inside: range) -> Iterator[_Known]:
    """The conditions on every way to the code whose variables have kept their values, and whether they hold."""
    own = flow.own(inside)
    for step in flow.certain_before(inside):
        assert step.known is not None
        names = used_names([step.known[0]])
        if all(step.declared.get(name) == declared_in(name, own) for name in names):
            yield step.known


def facts_of(condition: Node, truth: bool, variables: Mapping[str, CDeclaration]) -> Iterator[Constraint]:
    """Polynomials over variables that are at least 0 where a condition holds, or does not; not all that it says."""
    match condition:
        case c_ast.UnaryOp(op="!", expr=inner):
            yield from facts_of(inner, not truth, variables)
        case c_ast.BinaryOp(op="&&" | "||" as op, left=left, right=right):
            if (op == "&&") == truth:
                yield from facts_of(left, truth, variables)
                yield from facts_of(right, truth, variables)
        case c_ast.BinaryOp(op=op, left=left, right=right) if op in MIRRORED:
            yield from _compared(left, op if truth else NEGATED[op], right, variables)
        case c_ast.ID():
            zero = c_ast.Constant("int", "0")
            yield from _compared(condition, "!=" if truth else "==", zero, variables)
        case _:
            pass


def _compared(
    left: Node, op: str, right: Node, variables: Mapping[str, CDeclaration]
) -> Iterator[Constraint]:
    """What is at least 0 where a comparison of whole numbers holds; nothing where C may convert a side."""
    if not (_keeps_sign(left, right, variables) and _keeps_sign(right, left, variables)):
        return
    one, two = _polynomial(left), _polynomial(right)
    if one is None or two is None or not (_holds(left, two, variables) and _holds(right, one, variables)):
        return
    if op != "!=":
        yield from relation(one, op, two)
    elif two.value == 0 and _is_unsigned(left, variables):
        yield one.shifted(-1)
    elif one.value == 0 and _is_unsigned(right, variables):
        yield two.shifted(-1)


def _keeps_sign(side: Node, other: Node, variables: Mapping[str, CDeclaration]) -> bool:
    """Whether a side has the same value in the type of the comparison: signed ones, unsigned variables and literals."""
    value = literal_value(side)
    if value is not None and value >= 0:
        return True
    if isinstance(side, c_ast.ID) and _is_unsigned(side, variables):
        return literal_value(other) is not None or _is_unsigned(other, variables)
    kinds = (_type(part, variables) for part in (side, other) if literal_value(part) is None)
    return all(kind is not None and not kind.promoted.unsigned for kind in kinds)


def _holds(side: Node, other: Polynomial, variables: Mapping[str, CDeclaration]) -> bool:
    """Whether a variable holds a number: not that of `char c = 300`."""
    kind = _type(side, variables)
    if not isinstance(side, c_ast.ID) or other.value is None or kind is None or kind.limits is None:
        return True
    return kind.limits[0] <= other.value <= kind.limits[1]


def _is_unsigned(node: Node, variables: Mapping[str, CDeclaration]) -> bool:
    kind = _type(node, variables)
    return kind is not None and kind.unsigned


def _type(node: Node, variables: Mapping[str, CDeclaration]) -> CType | None:
    def lookup(part: Node) -> CType | None:
        known = variables.get(part.name) if isinstance(part, c_ast.ID) else None
        return ctype(known.type) if known is not None and known.is_scalar else None

    return INT if literal_value(node) is not None else type_of(node, lookup)


def _polynomial(node: Node) -> Polynomial | None:
    if (value := literal_value(node)) is not None:
        return Polynomial.constant(value)
    match node:
        case c_ast.ID(name=name):
            return Polynomial.symbol(name)
        case c_ast.BinaryOp(op="+" | "-" | "*" as op, left=left, right=right):
            one, two = _polynomial(left), _polynomial(right)
            if one is None or two is None:
                return None
            return one + two if op == "+" else one - two if op == "-" else one * two
        case _:
            return None
