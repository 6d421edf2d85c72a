"""Several neighbouring iterations as the lanes of vectors: whether the body of a kernel allows it.

    y[i] = a * x[i] + x[i + 1];         i, i + 1, i + 2, i + 3 at once: each reference is 4 neighbouring elements
    c[i][j] += a[i][k] * b[k][j];       over j: neighbours of c and b, one element of a for all lanes

Lanes do every statement together.  That is the order of the original within an iteration, and iterations of a
mapped loop do not depend on each other.  Under a condition that differs between lanes all of them compute, and
those for which it does not hold keep their values, so that nothing may be computed there that could fail.

Source: R. Allen and K. Kennedy, "Automatic translation of FORTRAN programs to vector form", ACM TOPLAS 9(4), 1987;
for the conditions J. R. Allen et al., "Conversion of control dependence to data dependence", POPL 1983.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NoReturn

from orio_py.ctree.build import literal_value
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.emit_expression import emit_expression, emit_type
from orio_py.ctree.nodes import INCREMENTS, Comment, Compound, For, Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.kernel.functions import device_function
from orio_py.kernel.plan import Axis, LanePlan
from orio_py.kernel.types import device_type
from orio_py.transformation.base import Context, note, refuse
from orio_py.transformation.offload.buffers import Array
from orio_py.transformation.offload.element_accesses import ElementAccess
from orio_py.transformation.types import declaration

_LOGICAL = frozenset({"&&", "||"})


@dataclass(frozen=True, slots=True)
class _Use:
    """One array reference in one case of the conditions around it, with its flat subscript."""

    element: ElementAccess
    flat: Polynomial | None
    array: Array


def lanes(
    body: Node,
    axis: Axis,
    uses: Mapping[str, Sequence[ElementAccess]],
    arrays: Mapping[str, Array],
    combined: Set[str],
    what: str,
    context: Context,
) -> LanePlan:
    """How neighbouring iterations of `axis`, the fastest one, become lanes.

    `combined` are the scalars that are reductions.  Raises Refusal: ORIO-T140 (accesses), T141 (statements).
    """
    found = {
        name: [_Use(use, flat, arrays[name]) for use, flat in zip(each, arrays[name].flats, strict=True)]
        for name, each in uses.items()
    }
    varying = _varying(body, {axis.index, *combined})
    checked = _Check(axis, found, varying, what, context, _declared_types(body))
    checked.statement(body, masked=False)
    return LanePlan(tuple(sorted(varying)), checked.way < 0)


def differs(node: Node, varying: Set[str]) -> bool:
    """Whether an expression may have another value in another lane."""
    return any(isinstance(part, c_ast.ID) and part.name in varying for part in walk(node))


def _varying(body: Node, first: Set[str]) -> frozenset[str]:
    """The scalars with a value for each lane: what is computed from such, or under such a condition."""
    found = set(first)
    while True:
        before = len(found)
        _spread(body, found, under=False)
        if len(found) == before:
            return frozenset(found)


def _spread(node: Node, found: set[str], *, under: bool) -> None:
    match node:
        case c_ast.If():
            under = under or differs(node.cond, found)
        case c_ast.Decl(name=str(name), init=Node() as value) if differs(value, found):
            found.add(name)
        case c_ast.Assignment(lvalue=c_ast.ID(name=name), rvalue=value) if under or differs(value, found):
            found.add(name)
        case c_ast.UnaryOp(op=op, expr=c_ast.ID(name=name)) if under and op in INCREMENTS:
            found.add(name)
        case _:
            pass
    for child in node:
        _spread(child, found, under=under)


def _declared_types(body: Node) -> dict[str, str]:
    """The device types of the variables that the body declares."""
    return {
        node.name: device_type(emit_type(node.type.type)) or ""
        for node in walk(body)
        if isinstance(node, c_ast.Decl) and node.name is not None and isinstance(node.type, c_ast.TypeDecl)
    }


class _Check:
    """Goes through a body; `masked` and `eager`: lanes take part in what the original would not do."""

    def __init__(
        self,
        axis: Axis,
        uses: Mapping[str, Sequence[_Use]],
        varying: frozenset[str],
        what: str,
        context: Context,
        types: Mapping[str, str],
    ) -> None:
        self.way = 0
        self._axis = axis
        self._uses = {id(use.element.node): name for name, each in uses.items() for use in each}
        self._arrays = uses
        self._varying = varying
        self._what = what
        self._context = context
        self._types = types
        self._masked: set[str] = set()

    def statement(self, node: Node, *, masked: bool) -> None:
        """Raises Refusal: ORIO-T140, T141."""
        match node:
            case Compound():
                for item in node.block_items or []:
                    self.statement(item, masked=masked)
            case c_ast.Decl():
                self._declaration(node, masked=masked)
            case c_ast.If():
                self._if(node, masked=masked)
            case For() | c_ast.While() | c_ast.DoWhile():
                self._loop(node, masked=masked)
            case c_ast.Assignment(lvalue=target, rvalue=value):
                self._expression(value, eager=masked)
                self._target(target, node, masked=masked)
            case c_ast.UnaryOp(op=op, expr=target) if op in INCREMENTS:
                self._target(target, node, masked=masked)
            case c_ast.Break() | c_ast.Continue():
                if masked:
                    self._refuse("it jumps in some lanes alone", node)
            case c_ast.EmptyStatement() | Comment():
                pass
            case _:
                self._refuse("vectors have assignments, declarations, branches and loops", node)

    def _declaration(self, node: c_ast.Decl, *, masked: bool) -> None:
        if not isinstance(node.type, c_ast.TypeDecl):
            self._refuse(f"`{node.name}` is an array of the iteration's own", node)
        self._require_vector_type(node.name or "", node)
        if node.init is not None:
            self._expression(node.init, eager=masked)

    def _if(self, node: c_ast.If, *, masked: bool) -> None:
        self._expression(node.cond, eager=masked)
        inner = masked or differs(node.cond, self._varying)
        for branch in (node.iftrue, node.iffalse):
            if branch is not None:
                self.statement(branch, masked=inner)

    def _loop(self, node: Node, *, masked: bool) -> None:
        if masked:
            self._refuse("a loop runs in some lanes alone", node)
        match node:
            case For(init=first, cond=condition, next=step):
                head = [part for part in (first, condition, step) if part is not None]
            case c_ast.While(cond=condition) | c_ast.DoWhile(cond=condition):
                head = [condition]
            case _:
                head = []
        for part in head:
            if differs(part, self._varying):
                self._refuse("the number of a loop's iterations is not the same for neighbouring ones", node)
        assert isinstance(node, (For, c_ast.While, c_ast.DoWhile))
        self.statement(node.stmt, masked=False)

    def _target(self, target: Node, node: Node, *, masked: bool) -> None:
        match target:
            case c_ast.ID(name=name):
                self._require_vector_type(name, node)
                if masked:
                    self._masked.add(name)
            case c_ast.ArrayRef():
                self._reference(target, eager=masked, stored=True)
            case _:
                self._refuse("vectors are stored in scalars and elements of arrays", node)

    def _require_vector_type(self, name: str, node: Node) -> None:
        if name in self._varying and self._type(name) == "bool":
            self._refuse(f"there are no vectors of truth values, such as `{name}`", node)

    def _type(self, name: str) -> str:
        if name in self._types:
            return self._types[name]
        declared = declaration(name, self._context)
        return "" if declared is None else device_type(declared.type) or ""

    def _expression(self, node: Node, *, eager: bool) -> None:
        """Check an expression; `eager`: its value may be computed where the original does not."""
        differing = differs(node, self._varying)
        match node:
            case c_ast.ArrayRef():
                self._reference(node, eager=eager, stored=False)
                return
            case c_ast.Assignment() | c_ast.CompoundLiteral() | c_ast.ExprList() | c_ast.InitList():
                self._refuse("an expression does more than one thing", node)
            case c_ast.UnaryOp(op=op) if op in INCREMENTS or (op == "sizeof" and differing):
                self._refuse("an expression does more than one thing", node)
            case c_ast.TernaryOp(cond=condition, iftrue=first, iffalse=second):
                self._expression(condition, eager=eager)
                eager = eager or differs(condition, self._varying)
                for part in (first, second):
                    self._expression(part, eager=eager)
                return
            case c_ast.BinaryOp(op=op, left=left, right=right) if op in _LOGICAL:
                self._expression(left, eager=eager)
                self._expression(right, eager=eager or differing)
                return
            case c_ast.BinaryOp(op="/" | "%", left=left, right=right) if eager:
                if not self._is_floating(node) and (literal_value(right) or 0) <= 0:
                    text = "lanes for which a condition does not hold would divide too, perhaps by zero"
                    self._refuse(text, node)
            case c_ast.FuncCall(args=arguments):
                for part in () if arguments is None else tuple(arguments):
                    self._expression(part, eager=eager)
                return
            case _:
                pass
        for child in node:
            if not isinstance(child, c_ast.Typename):
                self._expression(child, eager=eager)

    def _is_floating(self, node: Node) -> bool:
        """Whether an expression is known to be a floating-point number."""
        match node:
            case c_ast.Constant(type=kind):
                return "int" not in kind and kind != "char"
            case c_ast.ID(name=name):
                return self._type(name) in {"float", "double"}
            case c_ast.ArrayRef(name=base):
                return self._is_floating(base)
            case c_ast.Cast(to_type=kind):
                return device_type(emit_type(kind)) in {"float", "double"}
            case c_ast.UnaryOp(op="-" | "+", expr=operand):
                return self._is_floating(operand)
            case c_ast.BinaryOp(op="+" | "-" | "*" | "/", left=left, right=right):
                return self._is_floating(left) or self._is_floating(right)
            case c_ast.TernaryOp(iftrue=first, iffalse=second):
                return self._is_floating(first) or self._is_floating(second)
            case c_ast.FuncCall(name=c_ast.ID(name=name)):
                function = device_function(name)
                return function is not None and function.result in {"float", "double"}
            case _:
                return False

    def _reference(self, node: c_ast.ArrayRef, *, eager: bool, stored: bool) -> None:
        """Check one reference to an array.  Raises Refusal: ORIO-T140, T141."""
        name = self._uses.get(id(node))
        if name is None:
            self._refuse("it is an array of the iteration's own", node)
        uses = [use for use in self._arrays[name] if use.element.node is node]
        if differs(node, self._varying):
            for use in uses:
                self._require_neighbours(use)
        elif stored:
            self._refuse_access("all lanes would write one element", node)
        if eager and not all(self._may_be_touched(use, name) for use in uses):
            text = (
                "lanes for which a condition does not hold would touch it too, perhaps outside of the array"
            )
            self._refuse_access(text, node)
        if eager and stored and len({use.flat.key for use in self._arrays[name] if use.flat is not None}) > 1:
            text = (
                "lanes for which a condition does not hold would write back elements that are used otherwise"
            )
            self._refuse_access(text, node)

    def _require_neighbours(self, use: _Use) -> None:
        """Neighbouring iterations use neighbouring elements.  Raises Refusal: ORIO-T140."""
        node, axis = use.element.node, self._axis
        names = {part.name for part in walk(node) if isinstance(part, c_ast.ID)}
        if use.flat is None or names & self._masked:
            self._refuse_access(
                "it is not known how far apart the elements of neighbouring iterations are", node
            )
        factor = Polynomial.total(
            (tuple(symbol for symbol in monomial if symbol != axis.index), coefficient)
            for monomial, coefficient in use.flat.terms.items()
            if axis.index in monomial
        )
        squares = any(monomial.count(axis.index) > 1 for monomial in use.flat.terms)
        distance = None if squares or factor.value is None else factor.value * axis.stride
        if distance not in {1, -1}:
            text = "elements of neighbouring iterations are not neighbours" if distance is None else (
                f"elements of neighbouring iterations are {abs(distance)} apart"
            )  # fmt: skip
            self._refuse_access(text, node)
        if self.way and distance != self.way:
            self._refuse_access("its elements run the other way than those of references before it", node)
        self.way = distance

    def _may_be_touched(self, use: _Use, name: str) -> bool:
        """Whether an element is there in all iterations, whatever the conditions say.

        It is where the original touches it in each, or where a buffer was sized without the conditions.
        """
        if use.flat is None:
            return False
        element = use.element
        for other in self._arrays[name]:
            same = other.flat is not None and other.flat.key == use.flat.key
            if same and other.element.always and other.element.levels == element.whole:
                return True
        return not use.array.declared and element.levels == element.whole and not element.guards

    def _refuse(self, reason: str, node: Node) -> NoReturn:
        refuse(
            "ORIO-T141",
            f"{self._what} cannot do neighbouring iterations of `{self._axis.index}` as vectors: {reason}",
            node,
            help="leave `vectorWidth` at 1",
            argument="vectorWidth",
        )

    def _refuse_access(self, reason: str, node: Node) -> NoReturn:
        refuse(
            "ORIO-T140",
            f"{self._what} cannot make vectors of neighbouring iterations of `{self._axis.index}`: {reason}",
            node,
            notes=[note(f"the access is `{emit_expression(node)}`", node)],
            help="map another loop to the fastest dimension with `nd`, or leave `vectorWidth` at 1",
            argument="vectorWidth",
        )
