"""C integer expressions as linear forms, and linear forms as the C that a person would write.

A form is a mapping from names to coefficients, the constant under the empty name.  The names are the
indices of loops, other variables, and the texts of expressions that are not linear, such as `n * m`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

from orio_py.ctree.build import add, binary, const, ident, literal_value, mul, sub, ternary, unary
from orio_py.ctree.dependence.affine import Linear
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.known_functions import MAXIMUM_NAMES, MINIMUM_NAMES
from orio_py.ctree.nodes import MIRRORED, Node, c_ast
from orio_py.ctree.rewrite import walk


def total(parts: Iterable[tuple[Linear, int]]) -> Linear:
    """The sum of forms, each times an integer."""
    result: dict[str, int] = {}
    for row, factor in parts:
        for name, coefficient in row.items():
            result[name] = result.get(name, 0) + factor * coefficient
    return {name: coefficient for name, coefficient in result.items() if coefficient}


def shifted(row: Linear, amount: int) -> Linear:
    """The form plus a constant."""
    return total([(row, 1), ({"": amount}, 1)])


def tightened(row: Linear) -> Linear:
    """A form that is at least 0, divided by what its coefficients have in common."""
    divisor = gcd(*(coefficient for name, coefficient in row.items() if name))
    if divisor <= 1:
        return row
    return {name: c // divisor for name, c in row.items() if c // divisor}


def key_of(row: Linear) -> frozenset[tuple[str, int]]:
    """Equal for equal forms."""
    return frozenset(row.items())


class LinearExpressions:
    """Reads and writes the expressions of one nest whose loops have the indices `indices`.

    With `unsigned`, a difference without an index stays one name, as `n - 1` may wrap around, and
    comparisons are written without differences.
    """

    def __init__(self, indices: Sequence[str], *, unsigned: bool = False) -> None:
        self._indices = tuple(indices)
        self._unsigned = unsigned
        self._nodes: dict[str, Node] = {name: ident(name) for name in indices}

    @property
    def others(self) -> tuple[str, ...]:
        """The names that are no indices, in the order in which they were read."""
        return tuple(name for name in self._nodes if name not in self._indices)

    def read(self, node: Node) -> Linear:
        """The linear form of an integer expression; what is not linear in it becomes a name."""
        value = literal_value(node)
        if value is not None:
            return {"": value} if value else {}
        match node:
            case c_ast.UnaryOp(op="-" | "+" as op, expr=operand) if not self._is_whole(node):
                return total([(self.read(operand), -1 if op == "-" else 1)])
            case c_ast.BinaryOp(op="+" | "-" as op, left=left, right=right) if not self._is_whole(node):
                return total([(self.read(left), 1), (self.read(right), 1 if op == "+" else -1)])
            case c_ast.BinaryOp(op="*", left=left, right=right):
                for factor, other in ((left, right), (right, left)):
                    if (value := literal_value(factor)) is not None:
                        return total([(self.read(other), value)])
            case _:
                pass
        return {self.named(node): 1}

    def named(self, node: Node) -> str:
        """The name under which an expression stands in forms."""
        text = emit_expression(node)
        self._nodes.setdefault(text, node)
        return text

    def hidden(self, row: Linear) -> frozenset[str]:
        """The indices inside the names of a form that are no variables."""
        names = (n for n in row if n and n not in self._indices)
        return frozenset(i for n in names for i in self._indices if _mentions(self._nodes[n], i))

    def indices(self, row: Linear) -> frozenset[str]:
        """The indices that the value of a form depends on."""
        return self.hidden(row) | {name for name in row if name in self._indices}

    def operands(self, node: Node, *, smallest: bool) -> list[Linear]:
        """The forms of which an expression is the smallest (or largest): itself, or those of `?:`, `min`, `max`."""
        match node:
            case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=parts)) if name in (
                MINIMUM_NAMES if smallest else MAXIMUM_NAMES
            ):
                return [form for part in parts for form in self.operands(part, smallest=smallest)]
            case c_ast.TernaryOp() if self._chooses(node, smallest):
                parts = (node.iftrue, node.iffalse)
                return [form for part in parts for form in self.operands(part, smallest=smallest)]
            case _:
                return [self.read(node)]

    def write(self, row: Linear) -> Node:
        """The expression of a form, what is added first."""
        names = [name for name in self._nodes if name in row]
        names.sort(key=lambda name: row[name] < 0)
        constant = row.get("", 0)
        result: Node | None = None
        for name in names:
            term, negative = mul(abs(row[name]), self._nodes[name]), row[name] < 0
            if result is None and negative and constant > 0:
                result, constant = const(constant), 0
            if result is None:
                result = unary("-", term) if negative else term
            else:
                result = sub(result, term) if negative else add(result, term)
        return const(constant) if result is None else add(result, constant)

    def extreme(self, rows: Sequence[Linear], *, smallest: bool) -> Node:
        """The smallest (or largest) of some forms."""
        distinct = {key_of(row): row for row in rows}
        first, *others = sorted(distinct.values(), key=lambda row: not any(row))
        if not others:
            return self.write(first)
        return self._choice([first], others, smallest)

    def _choice(self, best: list[Linear], rest: Sequence[Linear], smallest: bool) -> Node:
        if not rest:
            return self.write(best[0])
        (here,), (other, *more) = best, rest
        test = self._compared(here, "<" if smallest else ">", other)
        return ternary(test, self._choice([here], more, smallest), self._choice([other], more, smallest))

    def _compared(self, left: Linear, operator: str, right: Linear) -> Node:
        """`left operator right` without an overflow that the operands do not have."""
        difference = total([(left, 1), (right, -1)])
        if self._unsigned:
            above = {name: c for name, c in difference.items() if c > 0}
            below = {name: -c for name, c in difference.items() if c < 0}
            return binary(operator, self.write(above), self.write(below))
        far = max((right, left), key=lambda row: row.get("", 0))
        limit = far.get("", 0)
        if limit <= 2 or len(far) == 1:
            return binary(operator, self.write(left), self.write(right))
        # `n - ii < 32` stays in the type where `ii + 32` may not.
        if far is left:
            difference, operator = total([(difference, -1)]), MIRRORED[operator]
        return binary(operator, self.write(shifted(difference, limit)), limit)

    def _is_whole(self, node: Node) -> bool:
        return self._unsigned and not any(_mentions(node, index) for index in self._indices)

    def _chooses(self, node: c_ast.TernaryOp, smallest: bool) -> bool:
        """Whether `a < b ? c : d` is the smallest (or largest) of c and d, as `a - b` is about `c - d`."""
        test = node.cond
        if not isinstance(test, c_ast.BinaryOp) or test.op not in {"<", "<=", ">", ">="}:
            return False
        condition = total([(self.read(test.left), 1), (self.read(test.right), -1)])
        chosen = total([(self.read(node.iftrue), 1), (self.read(node.iffalse), -1)])
        if test.op.startswith(">"):
            condition, chosen = total([(condition, -1)]), total([(chosen, -1)])
            smallest = not smallest
        # The first is taken where chosen + gap < 0, or <= 0; at equality either operand will do.
        for sign in (1, -1):
            gap = total([(condition, 1), (chosen, -sign)])
            if set(gap) <= {""} and gap.get("", 0) in ({0, -1} if test.op in {"<", ">"} else {0, 1}):
                return smallest == (sign > 0)
        return False


def leaves(node: Node) -> list[Node]:
    """An expression, or the operands of the nested calls of `min` and `max` that it is."""
    match node:
        case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=parts)) if name in (
            MINIMUM_NAMES | MAXIMUM_NAMES
        ):
            return [leaf for part in parts for leaf in leaves(part)]
        case _:
            return [node]


def _mentions(node: Node, name: str) -> bool:
    return any(isinstance(part, c_ast.ID) and part.name == name for part in walk(node))
