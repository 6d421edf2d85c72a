"""Index expressions as polynomials over indices and steady scalars, and back into C."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import reduce
from operator import mul

from orio_py.ctree.build import as_long, binary, const, ident, literal_value, ternary
from orio_py.ctree.ctype import Rank, ctype
from orio_py.ctree.dependence.affine import Monomial, Polynomial, least_values
from orio_py.ctree.dependence.names import Names
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.known_functions import MAXIMUM_NAMES, MINIMUM_NAMES
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.offload.bounded_values import Quotient, is_computed
from orio_py.transformation.types import (
    is_floating,
    may_be_unsigned,
    signedness,
    signedness_of_type,
    words_of,
)

_MAXIMUM_FACTORS = 64
"""Of a polynomial whose sign is looked for: the work grows with their number."""

_SHORT = frozenset({"char", "short", "_Bool", "bool", "int8_t", "uint8_t", "int16_t", "uint16_t"})
"""Words in the names of types that most indices do not fit in."""

ValueEnvironment = Mapping[str, Polynomial | None]
"""What is known of the variables that change in a nest: a polynomial, None for anything."""


def _natural_scalars(context: Context) -> Iterator[str]:
    """The scalars of unsigned types whose values are also those of `long`."""
    for name, declared in context.declarations.items():
        kind = ctype(context.types.get(declared.type, declared.type)) if declared.is_scalar else None
        if kind is not None and kind.unsigned and kind.rank < Rank.LONG:
            yield name


class Arithmetic:
    """Turns expressions into polynomials; what is no polynomial but steady becomes a symbol of its own."""

    def __init__(self, context: Context, changing: frozenset[str]) -> None:
        self._context = context
        self._changing = changing
        self._nodes: dict[str, Node] = {}
        self._choices: dict[str, tuple[bool, tuple[Polynomial, ...]]] = {}
        known = {**dict.fromkeys(_natural_scalars(context), 0), **least_values(context.facts)}
        self.minimums = {n: value for n, value in known.items() if n not in changing}
        self.followed: frozenset[str] = frozenset()
        """Pointers of which `*p` has one value throughout."""
        self.names: Names | None = None
        """Where `*(p + i)` is taken for `p[i]`: what is a pointer there."""
        self.takes_quotients = False
        """Whether quotients, remainders and masks of indices are symbols, which `quotients` explains."""
        self.quotients: dict[str, Quotient] = {}
        self._bounded: list[Node] = []
        self.types: dict[str, str] = {}
        """On the device, of the variables that the nest declares itself."""

    def declared_types(self) -> dict[str, str]:
        """The types of the variables around the nest."""
        return {name: declared.type for name, declared in self._context.declarations.items()}

    def polynomial(self, node: Node, known: ValueEnvironment) -> Polynomial | None:
        """The value of an integer expression; None for others, and where it is no polynomial and changes in the nest."""
        match node:
            case c_ast.Constant(type=kind, value=text) if "int" in kind:
                value = literal_value(c_ast.Constant("int", text.rstrip("uUlL")))
                return None if value is None else Polynomial.constant(value)
            case c_ast.ID(name=name) if name in known:
                return known[name]
            case c_ast.ID(name=name):
                is_steady = name not in self._changing and not is_floating(node, self._context)
                return self._symbol(name, node) if is_steady else None
            case c_ast.UnaryOp(op="-" | "+" as op, expr=operand):
                inner = self.polynomial(operand, known)
                return None if inner is None else inner.scaled(-1 if op == "-" else 1)
            case c_ast.UnaryOp(op="*", expr=c_ast.ID(name=name)) if name in self.followed:
                return self._symbol(emit_expression(node), node)
            case c_ast.BinaryOp(op="+" | "-" | "*" as op, left=left, right=right):
                first, second = self.polynomial(left, known), self.polynomial(right, known)
                if first is None or second is None:
                    return None
                return first + second if op == "+" else first - second if op == "-" else first * second
            case c_ast.BinaryOp(op="/" | "%" | "&" | ">>") if self.takes_quotients:
                return self._steady(node, known) or self._quotient(node, known)
            case c_ast.Cast() if (value := literal_value(node)) is not None:
                return Polynomial.constant(value)
            case c_ast.Cast(expr=inner) if is_floating(inner, self._context):
                return self._steady(node, known)
            case c_ast.Cast(to_type=kind, expr=inner):
                return self._converted(node, words_of(kind, self._context), inner, known)
            case _:
                return self._steady(node, known) or self._byte(node)

    def _byte(self, node: Node) -> Polynomial | None:
        """The symbol of a value that its type keeps between 0 and 255."""
        kind = expression_type(node, self._context) if self.takes_quotients else None
        is_byte = kind is not None and kind.rank is Rank.CHAR and kind.unsigned
        return self._up_to(255, node) if is_byte else None

    def _up_to(self, most: int, node: Node) -> Polynomial:
        """The symbol of a value between 0 and a number, which the same node alone stands for."""
        if not any(each is node for each in self._bounded):
            self._bounded.append(node)
        place = next(number for number, each in enumerate(self._bounded) if each is node)
        return self._explained(Quotient.up_to(most, place))

    def _explained(self, found: Quotient) -> Polynomial:
        self.quotients.setdefault(found.symbol, found)
        return Polynomial.symbol(found.symbol)

    def _converted(self, node: Node, kind: str, inner: Node, known: ValueEnvironment) -> Polynomial | None:
        """The value of a conversion to a type, which is that of the operand but for short types."""
        steady = self._steady(node, known)
        if signedness_of_type(kind) == "unknown":
            return steady
        narrows = self._narrows(kind, inner) or not self._holds(kind, inner)
        if steady is not None and narrows:
            return steady
        return self._byte(node) if narrows and set(kind.split()) & _SHORT else self.polynomial(inner, known)

    def _quotient(self, node: c_ast.BinaryOp, known: ValueEnvironment) -> Polynomial | None:
        """The symbol of a quotient by a number or a steady scalar; a shift is one by a power of 2."""
        number = literal_value(node.right)
        if node.op == ">>":
            number = 1 << number if number is not None and 0 <= number < 31 else 0
            node = binary(node.op, node.left, number)
        if number is None and self._steady(node.right, known) is None:
            return None
        value, by = self.polynomial(node.left, known), self.polynomial(node.right, known)
        if value is None and node.op == "&" and number is not None and number >= 0:
            return self._up_to(number, node)
        if value is None or by is None or (number is not None and number <= 0):
            return None
        if any(is_computed(symbol) and symbol not in self.quotients for symbol in value.symbols):
            return None
        unsigned = self.computes_unsigned(node)
        divisor = as_long(node.right) if unsigned else node.right
        return self._explained(Quotient(node.op, value, by, divisor, unsigned))

    def keeps(self, kind: str, value: Node) -> bool:
        """Whether a variable has the value that it is set to: one of a type shorter than `int` may have another."""
        target = ctype(self._context.types.get(kind, kind))
        if target is None or target.rank >= Rank.INT:
            return True
        return (
            self._holds(kind, value) if literal_value(value) is not None else not self._narrows(kind, value)
        )

    def _holds(self, kind: str, value: Node) -> bool:
        """Whether a type has a number; what is no number is taken to fit."""
        number, target = literal_value(value), ctype(self._context.types.get(kind, kind))
        if number is None or target is None or target.limits is None or target.rank >= Rank.LONG:
            return True
        return target.limits[0] <= number <= target.limits[1]

    def _narrows(self, kind: str, inner: Node) -> bool:
        """Whether a conversion may make another number of a value, by their types (C99 6.3.1.3)."""
        target, source = ctype(self._context.types.get(kind, kind)), expression_type(inner, self._context)
        if target is None or target.rank >= Rank.LONG:
            return target is None
        if source is None or source == target:
            return source is None
        given, kept = source.reach if source.is_narrow else source.limits, target.limits
        if given is None or kept is None:
            return True
        if source.rank == target.rank:
            return source.unsigned != target.unsigned or bool(source.alias or target.alias)
        (low, high), (least, most) = given, kept
        return low < least or high > most

    def _steady(self, node: Node, known: ValueEnvironment) -> Polynomial | None:
        names = {part.name for part in walk(node) if isinstance(part, c_ast.ID)}
        pure = not any(isinstance(part, (c_ast.FuncCall, c_ast.Assignment)) for part in walk(node))
        found = self._context.effects(node)
        if not pure or found.writes or names & (self._changing | known.keys()) or found.array_reads:
            return None
        if is_floating(node, self._context):
            return None
        return self._symbol(emit_expression(node), node)

    def extent(self, name: str, node: Node) -> Polynomial:
        """The symbol `name` for the extent of an array, at least 1, which the host computes by `node`."""
        self._nodes[name] = node
        self.minimums[name] = 1
        return Polynomial.symbol(name)

    def opaque(self, node: Node) -> Polynomial:
        """The value of a steady expression as a symbol."""
        return self._symbol(emit_expression(node), node)

    def _symbol(self, text: str, node: Node) -> Polynomial:
        self._nodes[text] = node
        return Polynomial.symbol(text)

    def is_unsigned(self, symbol: str) -> bool:
        """Whether a symbol is a variable of an unsigned type."""
        if symbol in self.types:
            return self.types[symbol].startswith("u")
        declared = self._context.declarations.get(symbol)
        return declared is not None and declared.is_unsigned

    def is_never_negative(self, symbol: str) -> bool:
        """Whether a symbol is a variable or an expression of an unsigned type."""
        node = self._nodes.get(symbol)
        if node is None or isinstance(node, c_ast.ID):
            return self.is_unsigned(symbol)
        return signedness(node, self._context) == "unsigned"

    def computes_unsigned(self, node: Node) -> bool:
        """Whether C may compute an expression in an unsigned type, where nothing is below 0."""
        match node:
            case c_ast.ID(name=name) if name in self.types:
                return self.types[name] in {"uint", "ulong"}
            case c_ast.UnaryOp(op="-" | "+" | "~", expr=inner) | c_ast.BinaryOp(op=">>", left=inner):
                return self.computes_unsigned(inner)
            case c_ast.BinaryOp(op="+" | "-" | "*" | "/" | "%" | "&" | "|" | "^", left=left, right=right):
                return self.computes_unsigned(left) or self.computes_unsigned(right)
            case c_ast.TernaryOp(iftrue=left, iffalse=right):
                return self.computes_unsigned(left) or self.computes_unsigned(right)
            case _:
                return may_be_unsigned(node, self._context)

    def expression(self, value: Polynomial, *, wide: bool = False, kept: Set[str] = frozenset()) -> Node:
        """The polynomial in C, computed in `long` where it could be large, or everywhere if `wide`.

        Symbols in `kept` are names of the kernel and stand as they are.
        """
        factor, common = value.multiple()
        rest = value - common.scaled(factor) if factor > 1 else value
        terms = rest.summands()
        several = wide or sum(1 for monomial, _ in terms if monomial) > 1
        result: Node | None = None
        if factor > 1:
            result = binary("*", self.expression(common, wide=True, kept=kept), factor)
        for monomial, coefficient in terms:
            first = several and result is None
            part = self._product(
                monomial, abs(coefficient), kept, wide=first or self._is_mixed(value, monomial)
            )
            if result is None:
                result = part if coefficient > 0 else c_ast.UnaryOp("-", part)
            else:
                result = binary("+" if coefficient > 0 else "-", result, part)
        return const(0) if result is None else result

    def _is_mixed(self, value: Polynomial, monomial: Monomial) -> bool:
        """Whether an unsigned operand would make a sum unsigned, in which nothing is below 0 (C99 6.3.1.8)."""
        nodes = [self._nodes[symbol] for symbol in monomial[:1] if symbol in self._nodes]
        return len(value.terms) > 1 and any(
            not isinstance(node, c_ast.ID) and self.computes_unsigned(node) for node in nodes
        )

    def _product(self, monomial: Monomial, coefficient: int, kept: Set[str], *, wide: bool) -> Node:
        if not monomial:
            return const(coefficient)
        factors = [ident(s) if s in kept else self._nodes.get(s, ident(s)) for s in monomial]
        if wide or len(factors) > 1 or coefficient > 1 or self.is_unsigned(monomial[0]):
            factors[0] = as_long(factors[0])
        factors[1:] = [as_long(f) if self._is_unsigned_long(f) else f for f in factors[1:]]
        product = reduce(lambda a, b: binary("*", a, b), factors)
        return product if coefficient == 1 else binary("*", product, coefficient)

    def _is_unsigned_long(self, node: Node) -> bool:
        """Whether a factor would make a product of `long` unsigned, in which nothing is below 0 (C99 6.3.1.8)."""
        if isinstance(node, c_ast.ID) and node.name in self.types:
            return self.types[node.name] == "ulong"
        kind = expression_type(node, self._context)
        return kind is not None and kind.unsigned and Rank.LONG <= kind.rank < Rank.FLOAT

    def _is_narrow(self, value: Polynomial) -> bool:
        """Whether C would add to a variable in the variable's own type, which the sum may not fit into."""
        match sorted(value.terms.items()):
            case [((_,), -1)]:
                return True
            case [((), constant), ((symbol,), 1)] if constant > 0 or self.minimums.get(symbol, -1) < 0:
                kind = expression_type(self._nodes.get(symbol, ident(symbol)), self._context)
                return kind is None or kind.rank < Rank.LONG
            case [((), _), ((_,), -1)]:
                return True
            case _:
                return False

    def exact(self, value: Polynomial) -> Node:
        """The polynomial in C, in which nothing overflows that fits into `long`."""
        return self.expression(value, wide=self._is_narrow(value))

    def moved(self, pointer: Node, by: Polynomial) -> Node:
        """The address so many elements behind a pointer; one variable and a number are added one by one."""
        if not self._is_narrow(by):
            return pointer if by.value == 0 else binary("+", pointer, self.expression(by))
        steps = sorted(by.terms.items(), key=lambda item: (item[1] < 0, not item[0]))
        parts = ((self._product(monomial, abs(c), frozenset(), wide=False), c) for monomial, c in steps)
        return reduce(lambda at, part: binary("+" if part[1] > 0 else "-", at, part[0]), parts, pointer)

    def extreme(self, values: Iterable[Polynomial], *, largest: bool) -> Node:
        """The smallest or largest of some values, in C."""
        found = [*values]
        nodes = [self.exact(value) for value in found]
        if any(self.computes_unsigned(node) for node in nodes):
            nodes = [self.expression(value, wide=True) for value in found]
        operator = ">" if largest else "<"
        return reduce(lambda a, b: ternary(binary(operator, a, b), a, b), nodes)

    def chosen(self, values: Sequence[Polynomial], *, largest: bool) -> Polynomial:
        """The smallest or largest of some values, as a symbol that is known to be."""
        node = self.extreme(values, largest=largest)
        text = emit_expression(node)
        self._choices[text] = largest, tuple(values)
        return self._symbol(text, node)

    def tightest(
        self, values: Iterable[Polynomial], *, smallest: bool, minimums: Mapping[str, int]
    ) -> list[Polynomial]:
        """The values of which no other one is known to be as small, or as large.

        `minimums` are the smallest values, at least 0, that scalars are known to have.
        """

        def beats(one: Polynomial, two: Polynomial) -> bool:
            return self.is_natural(two - one if smallest else one - two, minimums)

        kept: list[Polynomial] = []
        for value in values:
            if not any(beats(other, value) for other in kept):
                kept = [*(other for other in kept if not beats(value, other)), value]
        return kept

    def is_natural(self, value: Polynomial, minimums: Mapping[str, int]) -> bool:
        """Whether a value is known to be at least 0.

        It is where no coefficient is negative once each symbol is written as its minimum and what is beyond.
        """
        for monomial in value.terms:
            for symbol in monomial:
                if symbol in self._choices:
                    return any(self.is_natural(v, minimums) for v in self._below(value, symbol, minimums))
        if any(symbol not in minimums for monomial in value.terms for symbol in monomial):
            return False
        if sum(map(len, value.terms)) > _MAXIMUM_FACTORS:
            return False
        beyond = Polynomial.constant(0)
        for monomial, coefficient in value.terms.items():
            factors = (Polynomial.symbol(symbol).shifted(minimums[symbol]) for symbol in monomial)
            beyond = beyond + reduce(mul, factors, Polynomial.constant(coefficient))
        return all(coefficient >= 0 for coefficient in beyond.terms.values())

    def _below(self, value: Polynomial, symbol: str, minimums: Mapping[str, int]) -> list[Polynomial]:
        """Values that are at most a value, each with an operand in place of a smallest or largest one."""
        largest, operands = self._choices[symbol]
        factor = Polynomial.total(
            (_without(monomial, symbol), coefficient)
            for monomial, coefficient in value.terms.items()
            if symbol in monomial
        )
        # A largest value is at least each operand, a smallest one at most: so is it times a natural number.
        known = self.is_natural(factor if largest else factor.scaled(-1), minimums)
        if not known or any(monomial.count(symbol) > 1 for monomial in value.terms):
            return []
        rest = value - factor * Polynomial.symbol(symbol)
        return [rest + factor * operand for operand in operands]


def _without(monomial: Monomial, symbol: str) -> Monomial:
    place = monomial.index(symbol)
    return (*monomial[:place], *monomial[place + 1 :])


def operands(node: Node, *, smallest: bool) -> list[Node]:
    """The expressions of which a bound is the smallest or largest; the bound itself where it is neither."""
    match node:
        case c_ast.TernaryOp(cond=c_ast.BinaryOp(op=op, left=left, right=right)) if op in {
            "<",
            "<=",
            ">",
            ">=",
        }:
            if op.startswith(">"):
                left, right = right, left
            texts = [emit_expression(part) for part in (left, right)]
            chosen = [emit_expression(part) for part in (node.iftrue, node.iffalse)]
            if chosen == (texts if smallest else texts[::-1]):
                parts = (node.iftrue, node.iffalse)
                return [found for part in parts for found in operands(part, smallest=smallest)]
            return [node]
        case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=[first, second])):
            if name in (MINIMUM_NAMES if smallest else MAXIMUM_NAMES):
                return [found for part in (first, second) for found in operands(part, smallest=smallest)]
            return [node]
        case _:
            return [node]
