"""Scalars, and elements of arrays, into which a loop only accumulates, and with which operator of OpenMP.

The statements (`ctree.updates`) may stand anywhere in the body, and nothing else may use the variable, or the array.  Source: OpenMP API 5.2, section 5.5 (reduction clauses).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orio_py.ctree.loops import body_statements
from orio_py.ctree.nodes import INCREMENTS, Node, c_ast, reference_parts
from orio_py.ctree.rewrite import declared_names, walk
from orio_py.ctree.symbols import CDeclaration
from orio_py.ctree.updates import Update, accumulating_steps
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.types import fits_index

_LOGICAL = frozenset({"&&", "||"})
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!=", "&&", "||"})
_INTEGER_ONLY = frozenset({"%", "&", "|", "^", "<<", ">>"})
_TRUTH = frozenset({"_Bool", "bool"})
_MODULAR = frozenset({"+", "*", "&", "|", "^"})
_NARROW = frozenset({"char", "short", "int8_t", "int16_t", "uint8_t", "uint16_t"})


@dataclass(frozen=True, slots=True)
class Accumulation:
    """A scalar, or an array whose elements, that a body combines with values by one operator.

    `exact` says that the order of the combinations makes no difference, `certain` that every iteration
    makes one, `truth` that the variable may hold another value than 0 and 1 and becomes one of them;
    `place` is the first of the statements.
    """

    name: str
    operator: str
    exact: bool
    certain: bool
    truth: bool
    place: Node
    item: str = ""
    """What the clause names where that is not the whole variable: a section of an array."""


def accumulation(body: Node, name: str, context: Context) -> Accumulation | None:
    """What a loop body accumulates into the scalar `name`; None where it does anything else with it."""
    declared = context.declarations.get(name)
    if name in declared_names(body) or (declared is not None and not _may_be_combined(declared)):
        return None
    steps = accumulating_steps(body, lambda target: _is(target, name))
    uses = sum(1 for node in walk(body) if isinstance(node, c_ast.ID) and node.name == name)
    if uses != sum(step.uses for step in steps) or (found := combined(steps, declared, context)) is None:
        return None
    operator, exact = found
    always = {id(statement) for statement in body_statements(body)}
    certain = any(id(step.place) in always for step in steps)
    truth = operator in _LOGICAL and not (declared is not None and declared.type in _TRUTH)
    return Accumulation(name, operator, exact, certain, truth, steps[0].place)


def _may_be_combined(declared: CDeclaration) -> bool:
    """Whether a clause may name a variable; OpenMP 5.2, section 5.5.8, has no atomic ones."""
    return declared.is_scalar and "_Atomic" not in declared.qualifiers


def combined(
    steps: Sequence[Update], declared: CDeclaration | None, context: Context
) -> tuple[str, bool] | None:
    """The operator of all steps, and whether their order makes no difference; None where no order gives the same.

    `declared` has the type of what they change.
    """
    operators = {step.operator for step in steps}
    verdicts = [_is_exact(step, declared, context) for step in steps]
    if len(operators) != 1 or None in verdicts:
        return None
    return operators.pop(), all(verdicts)


def induction_step(body: Node, name: str, context: Context) -> int | None:
    """The constant by which each iteration steps the integer `name`, once and whatever happens, or None."""
    declared = context.declarations.get(name)
    if declared is None or not (declared.is_scalar and declared.is_integer) or name in declared_names(body):
        return None
    if set(declared.type.split()) & (_NARROW | _TRUTH):
        return None
    writes = [node for node in walk(body) if _writes(node, name)]
    if len(writes) != 1 or not any(writes[0] is statement for statement in body_statements(body)):
        return None
    match writes[0]:
        case c_ast.UnaryOp(op=op) if op in INCREMENTS:
            return 1 if "+" in op else -1
        case c_ast.Assignment(op="+=" | "-=" as op, rvalue=c_ast.Constant(type="int", value=text)):
            return _signed(op, text)
        case c_ast.Assignment(op="=", rvalue=c_ast.BinaryOp(op="+" | "-" as op) as total):
            if _is(total.left, name) and isinstance(total.right, c_ast.Constant):
                return _signed(op, total.right.value)
            return None
        case _:
            return None


def _signed(op: str, text: str) -> int | None:
    if not text.isdigit() or int(text) == 0 or text.startswith("0"):
        return None
    return int(text) if "+" in op else -int(text)


def _writes(node: Node, name: str) -> bool:
    match node:
        case c_ast.Assignment(lvalue=target):
            return _is(target, name)
        case c_ast.UnaryOp(op=op, expr=target) if op in INCREMENTS or op == "&":
            return _is(target, name)
        case _:
            return False


def _is_exact(step: Update, declared: CDeclaration | None, context: Context) -> bool | None:
    """Whether the order of such steps makes no difference; None where no order gives the same at all."""
    integers = {"&", "|", "^"} | _LOGICAL
    if declared is None or not declared.is_integer:
        return None if declared is not None and step.operator in integers else False
    whole = step.value is None or is_integer(step.value, context)
    if declared.type in _TRUTH:
        # A sum in a truth value is cut off at 1 by every assignment.
        return True if whole and step.operator in {"&", "|"} | _LOGICAL else None
    if step.operator in _LOGICAL:
        return True
    if not whole:
        return None
    if step.operator in _MODULAR:
        return True
    narrow = set(declared.type.split()) & _NARROW
    fits = step.value is not None and fits_index(step.value, declared.type, context)
    return True if fits and not narrow else None


def is_integer(node: Node, context: Context) -> bool:
    """Whether an expression is evidently an integer."""
    match node:
        case c_ast.Constant(type=kind):
            return "int" in kind or kind == "char"
        case c_ast.ID() | c_ast.ArrayRef() | c_ast.StructRef():
            return _is_integer_variable(node, context)
        case c_ast.UnaryOp(op="!" | "~" | "sizeof"):
            return True
        case c_ast.UnaryOp(op="-" | "+", expr=operand):
            return is_integer(operand, context)
        case c_ast.BinaryOp(op=op) if op in _COMPARISONS | _INTEGER_ONLY:
            return True
        case c_ast.BinaryOp(left=left, right=right):
            return is_integer(left, context) and is_integer(right, context)
        case c_ast.TernaryOp(iftrue=left, iffalse=right):
            return is_integer(left, context) and is_integer(right, context)
        case c_ast.Cast(to_type=c_ast.Typename(type=c_ast.TypeDecl(type=c_ast.IdentifierType(names=names)))):
            return CDeclaration("", " ".join(names)).is_integer
        case c_ast.FuncCall(name=c_ast.ID(name="abs" | "labs" | "llabs")):
            return True
        case _:
            return False


def _is_integer_variable(node: Node, context: Context) -> bool:
    array, subscripts = reference_parts(node)
    if isinstance(array, c_ast.StructRef):
        kind = expression_type(node, context)
        return kind is not None and not kind.is_floating
    declared = context.declarations.get(array.name) if isinstance(array, c_ast.ID) else None
    if declared is None:
        return False
    return declared.is_integer and len(declared.dimensions) + declared.pointers == len(subscripts)


def _is(node: Node, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name
