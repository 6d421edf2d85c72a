"""Scalars and arrays in loop bodies: which carry a value from one iteration to the next, and which only add up."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from orio_py.ctree.effects import EffectsMemory
from orio_py.ctree.emit import emit_expression
from orio_py.ctree.expression_effects import is_repeatable
from orio_py.ctree.known_functions import is_pure
from orio_py.ctree.nodes import INCREMENTS, Compound, Node, reference_parts
from orio_py.ctree.rewrite import walk, walk_statements
from orio_py.ctree.updates import Update, accumulating_steps

_TYPES = frozenset({"TypeDecl", "IdentifierType"})
_COMMUTATIVE = frozenset({"+", "*", "&", "|", "^"})
_COMBINING = _COMMUTATIVE | {"min", "max"}


@dataclass(frozen=True, slots=True)
class ScalarFlow:
    """What one execution of some statements does to variables.

    `exposed` may be read before they are written; `assigned` are certainly written at the end.
    """

    exposed: frozenset[str]
    assigned: frozenset[str]


def scalar_flow(statements: Iterable[Node], dead: Collection[tuple[int, bool]] = ()) -> ScalarFlow:
    """The flow of values through statements executed one after the other.

    `dead` are branches that are never taken: `if` statements by identity, and which way.
    """
    found = EffectsMemory(dead).summary(Compound(list(statements)))
    return ScalarFlow(found.effects.exposed, frozenset() if found.leaves_early else found.written)


def reduction_operator(body: Node, name: str) -> str | None:
    """The operator by which a body accumulates into the scalar `name` and does nothing else with it.

    `s += e`, `s -= e`, `s++` and `s = s + e` are all `+`; None if `name` is used in any other way, such as
    for its value in `y[i] = (s += e)` and `a[k++] = e`.
    """
    operators: set[str | None] = set()
    uses, counted = 0, 0
    alone = _without_value(body)
    parts: list[Any] = list(walk(body))
    for part in parts:
        match type(part).__name__:
            case "ID" if part.name == name:
                uses += 1
            case "UnaryOp" if id(part) in alone and part.op in INCREMENTS and _is(part.expr, name):
                operators.add("+")
                counted += 1
            case "Assignment" if id(part) in alone and _is(part.lvalue, name):
                operators.add(_accumulation(part, name))
                counted += 2 if part.op == "=" else 1
            case _:
                pass
    return operators.pop() if len(operators) == 1 and uses == counted else None


def extreme_steps(body: Node, name: str) -> list[Update]:
    """The statements by which a body keeps the smallest, or the largest, of values in the scalar `name`.

    As in `if (x[i] > m) m = x[i];`; none where it does anything else with it.
    """
    steps = accumulating_steps(body, lambda target: _is(target, name))
    uses = sum(_is(part, name) for part in walk(body))
    alike = len({step.operator for step in steps}) == 1 and steps[0].operator in {"min", "max"}
    return steps if alike and uses == sum(step.uses for step in steps) else []


def combining_steps(nest: Node, name: str, depth: int) -> list[Update]:
    """The statements by which loops combine the elements of the array `name` with values, all by one operator.

    As in `y[i + j] += a[i]*b[j];`; none where they do anything else with it.  An element has `depth` subscripts.
    """

    def is_element(target: Node) -> bool:
        array, subscripts = reference_parts(target)
        return _is(array, name) and len(subscripts) == depth

    steps = accumulating_steps(nest, is_element)
    uses = sum(_is(part, name) for part in walk(nest))
    alike = len({step.operator for step in steps}) == 1 and steps[0].operator in _COMBINING
    whole = alike and uses == sum(step.uses for step in steps)
    return steps if whole and all(is_repeatable(step.target) for step in steps) else []


def same_steps(steps: Sequence[Update], varying: Collection[str]) -> bool:
    """Whether all steps change what they change in the same way, as `count[x[i]]++` does, so that their order is nothing.

    `varying` are the names that do not keep one value in the body.
    """
    changes: set[str] = set()
    for step in steps:
        place: Any = step.place
        match type(place).__name__:
            case "UnaryOp":
                changes.add(place.op.strip("p"))
            case "Assignment" if step.uses == 1 and step.value is not None:
                if any(_varies(part, varying) for part in walk(step.value)):
                    return False
                changes.add(f"{place.op} {emit_expression(step.value)}")
            case _:
                return False
    return len(changes) == 1


def same_change(body: Node, name: str, varying: Collection[str]) -> bool:
    """Whether all statements that use a scalar change it in the same way, so that their order is nothing.

    As in `count++` or `t = 2*t + c`: the result depends on how often they run alone.  `varying` are the
    names that do not keep one value in the body.  In `y[i] = count++` the value in between is used.
    """
    changes: dict[str, int] = {}
    uses = 0
    alone = _without_value(body)
    parts: list[Any] = list(walk(body))
    for part in parts:
        match type(part).__name__:
            case "ID" if part.name == name:
                uses += 1
            case "UnaryOp" if id(part) in alone and part.op in INCREMENTS and _is(part.expr, name):
                changes[part.op.strip("p")] = changes.get(part.op.strip("p"), 0) + 1
            case "Assignment" if id(part) in alone and _is(part.lvalue, name):
                found = [p for p in walk(part.rvalue) if not _is(p, name)]
                if any(_varies(p, varying) for p in found):
                    return False
                text = f"{part.op} {emit_expression(part.rvalue)}"
                count = 1 + sum(_is(p, name) for p in walk(part.rvalue))
                changes[text] = changes.get(text, 0) + count
            case _:
                pass
    return len(changes) == 1 and uses == sum(changes.values())


def _without_value(body: Node) -> frozenset[int]:
    """The expressions, by identity, whose value nothing uses: statements and parts of loop headers."""
    found: list[Any] = []
    statements: list[Any] = list(walk_statements(body))
    for node in statements:
        found.append(node)
        if type(node).__name__ == "For":
            found.extend((node.init, node.next))
    for node in tuple(found):
        if type(node).__name__ == "ExprList":
            found.extend(node.exprs)
    return frozenset(id(node) for node in found if node is not None)


def _varies(part: Any, varying: Collection[str]) -> bool:
    """Whether a part of an expression may have another value, or an effect, in another iteration."""
    match type(part).__name__:
        case "ID":
            return part.name in varying
        case "UnaryOp":
            return part.op not in {"+", "-", "~", "!"}
        case "FuncCall":
            return not is_pure(part)
        case kind:
            return (
                kind
                not in {"BinaryOp", "Constant", "TernaryOp", "Cast", "ExprList", "OwnFunction", "Typename"}
                | _TYPES
            )


def _accumulation(node: Any, name: str) -> str | None:
    """The operator by which one assignment accumulates."""
    if node.op != "=":
        operator = "+" if node.op == "-=" else node.op[:-1]
        return operator if operator in _COMMUTATIVE else None
    value: Any = node.rvalue
    operator = value.op if type(value).__name__ == "BinaryOp" else ""
    if operator in {"+", "-"}:
        return "+" if _is_term(value, name, {"+", "-"}) else None
    return operator if operator in _COMMUTATIVE and _is_term(value, name, {operator}) else None


def _is_term(node: Any, name: str, operators: set[str]) -> bool:
    """Whether the scalar is one operand of a chain of operators, not on the right of a minus."""
    if type(node).__name__ == "BinaryOp" and node.op in operators:
        right = node.op != "-" and _is_term(node.right, name, operators)
        return _is_term(node.left, name, operators) or right
    return _is(node, name)


def _is(node: Any, name: str) -> bool:
    return type(node).__name__ == "ID" and node.name == name
