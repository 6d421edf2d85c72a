"""Scalars in loop bodies: which carry a value from one iteration to the next, and which only add up."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from orio_py.ctree.emit import emit_expression
from orio_py.ctree.known_functions import is_pure
from orio_py.ctree.nodes import INCREMENTS, Node
from orio_py.ctree.rewrite import walk, walk_statements

_JUMPS = frozenset({"Break", "Continue"})
_TYPES = frozenset({"TypeDecl", "IdentifierType"})
_COMMUTATIVE = frozenset({"+", "*", "&", "|", "^"})


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
    nodes = list(statements)
    walker = _Flow(dead)
    done: frozenset[str] = frozenset()
    for node in nodes:
        done = walker.statement(node, done, frozenset())
    parts = (type(part).__name__ for node in nodes for part in walk_statements(node))
    jumps = not _JUMPS.isdisjoint(parts)
    return ScalarFlow(frozenset(walker.exposed), frozenset() if jumps else done)


class _Flow:
    """Follows the statements with the set of variables that are certainly written.

    `hidden` are names declared further in, which mean other variables than outside.
    """

    def __init__(self, dead: Collection[tuple[int, bool]]) -> None:
        self.exposed: set[str] = set()
        self.dead = dead

    def statement(self, node: Any, done: frozenset[str], hidden: frozenset[str]) -> frozenset[str]:
        """The variables written after a statement, given those written before it."""
        match type(node).__name__:
            case "Compound":
                return self._block(node.block_items or [], done, hidden)
            case "Transform":
                return self.statement(node.stmt, done, hidden)
            case "For" | "While":
                return self._loop(node, done, hidden)
            case "DoWhile":
                self.statement(node.stmt, done, hidden)
                self.statement(node.cond, done, hidden)
                return done
            case "If" | "TernaryOp":
                done = self.statement(node.cond, done, hidden)
                ways = [(True, node.iftrue), (False, node.iffalse)]
                taken = [way for truth, way in ways if (id(node), truth) not in self.dead]
                found = [self.statement(way, done, hidden) for way in taken]
                return found[0].intersection(*found[1:]) if found else done
            case "Switch":
                done = self.statement(node.cond, done, hidden)
                self.statement(node.stmt, done, hidden)
                return done
            case "Case" | "Default":
                self._block(node.stmts or [], done, hidden)
                return done
            case _:
                return self._expression(node, done, hidden)

    def _block(self, items: list[Any], done: frozenset[str], hidden: frozenset[str]) -> frozenset[str]:
        for item in items:
            if type(item).__name__ == "Decl" and item.name is not None:
                done = self._declaration(item, done, hidden)
                hidden |= {item.name}
            else:
                done = self.statement(item, done, hidden)
        return done

    def _declaration(self, node: Any, done: frozenset[str], hidden: frozenset[str]) -> frozenset[str]:
        for child in (node.type, node.init):
            if child is not None:
                done = self.statement(child, done, hidden)
        return done

    def _loop(self, node: Any, done: frozenset[str], hidden: frozenset[str]) -> frozenset[str]:
        init: Any = getattr(node, "init", None)
        if type(init).__name__ == "DeclList":
            for declaration in init.decls:
                done = self._declaration(declaration, done, hidden)
                hidden |= {declaration.name}
        elif init is not None:
            done = self.statement(init, done, hidden)
        if node.cond is not None:
            done = self.statement(node.cond, done, hidden)
        self.statement(node.stmt, done, hidden)
        step: Any = getattr(node, "next", None)
        if step is not None:
            self.statement(step, done, hidden)
        return done

    def _expression(self, node: Any, done: frozenset[str], hidden: frozenset[str]) -> frozenset[str]:
        match type(node).__name__:
            case "ID":
                if node.name not in done and node.name not in hidden:
                    self.exposed.add(node.name)
                return done
            case "Assignment":
                done = self.statement(node.rvalue, done, hidden)
                if type(node.lvalue).__name__ != "ID" or node.op != "=":
                    done = self.statement(node.lvalue, done, hidden)
                return self._written(node.lvalue, done, hidden)
            case "UnaryOp" if node.op in INCREMENTS:
                done = self.statement(node.expr, done, hidden)
                return self._written(node.expr, done, hidden)
            case "BinaryOp" if node.op in {"&&", "||"}:
                done = self.statement(node.left, done, hidden)
                self.statement(node.right, done, hidden)
                return done
            case "StructRef":
                return self.statement(node.name, done, hidden)
            case "NoneType":
                return done
            case _:
                for child in node:
                    done = self.statement(child, done, hidden)
                return done

    def _written(self, target: Any, done: frozenset[str], hidden: frozenset[str]) -> frozenset[str]:
        if type(target).__name__ == "ID" and target.name not in hidden:
            return done | {target.name}
        return done


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
