"""Small constructors of C trees; where a node is wanted, an `int` stands for its literal."""

from __future__ import annotations

from collections.abc import Sequence

from orio_py.ctree.ctype import Rank, ctype, integer_value
from orio_py.ctree.nodes import Compound, For, Node, c_ast

_STORAGE = frozenset({"static", "extern", "register", "auto"})
_QUALIFIERS = frozenset({"const", "volatile", "restrict"})


def ident(name: str) -> c_ast.ID:
    """A use of the identifier `name`."""
    return c_ast.ID(name)


def const(value: int) -> Node:
    """An integer literal; a negative value becomes a negated literal."""
    if value < 0:
        return c_ast.UnaryOp("-", c_ast.Constant("int", str(-value)))
    return c_ast.Constant("int", str(value))


def expression(value: Node | int) -> Node:
    """`value` itself, or the literal of an `int`."""
    return const(value) if isinstance(value, int) else value


def binary(op: str, left: Node | int, right: Node | int) -> c_ast.BinaryOp:
    """`left op right`, exactly as asked for."""
    return c_ast.BinaryOp(op, expression(left), expression(right))


def add(left: Node | int, right: Node | int) -> Node:
    """`left + right`; a negative `int` on the right is subtracted, a zero `int` left out."""
    if isinstance(right, int):
        return expression(left) if right == 0 else binary("+" if right > 0 else "-", left, abs(right))
    return expression(right) if left == 0 else binary("+", left, right)


def sub(left: Node | int, right: Node | int) -> Node:
    """`left - right`; a negative `int` on the right is added, a zero `int` left out."""
    if isinstance(right, int):
        return add(left, -right)
    return binary("-", left, right)


def mul(left: Node | int, right: Node | int) -> Node:
    """`left * right`; a factor that is the `int` 1 is left out."""
    if isinstance(left, int) and left == 1:
        return expression(right)
    if isinstance(right, int) and right == 1:
        return expression(left)
    return binary("*", left, right)


def unary(op: str, operand: Node | int) -> c_ast.UnaryOp:
    """`op operand`; the operators `p++` and `p--` stand behind the operand."""
    return c_ast.UnaryOp(op, expression(operand))


def assign(target: Node | str, value: Node | int, op: str = "=") -> c_ast.Assignment:
    """The assignment `target op value`."""
    return c_ast.Assignment(op, ident(target) if isinstance(target, str) else target, expression(value))


def ternary(condition: Node, if_true: Node | int, if_false: Node | int) -> c_ast.TernaryOp:
    """`condition ? if_true : if_false`."""
    return c_ast.TernaryOp(condition, expression(if_true), expression(if_false))


def cast_to(kind: str, value: Node) -> c_ast.Cast:
    """`(kind)value`; the type is one of numbers, such as `unsigned long`."""
    words = c_ast.IdentifierType(kind.split())
    return c_ast.Cast(c_ast.Typename(None, [], None, c_ast.TypeDecl(None, [], None, words)), value)


def call(name: str, *arguments: Node | int) -> c_ast.FuncCall:
    """The call `name(arguments)`."""
    given = c_ast.ExprList([expression(a) for a in arguments]) if arguments else None
    return c_ast.FuncCall(ident(name), given)


def index(array: Node | str, *subscripts: Node | int) -> Node:
    """`array[s1][s2]…`."""
    result: Node = ident(array) if isinstance(array, str) else array
    for subscript in subscripts:
        result = c_ast.ArrayRef(result, expression(subscript))
    return result


def for_(init: Node | None, cond: Node | None, step: Node | None, body: Node) -> For:
    """`for (init; cond; step) body`; a declaration as `init` declares the index in the header."""
    if isinstance(init, c_ast.Decl):
        init = c_ast.DeclList([init])
    return For(init, cond, step, body)


def if_(condition: Node, then: Node, otherwise: Node | None = None) -> c_ast.If:
    """`if (condition) then else otherwise`."""
    return c_ast.If(condition, then, otherwise)


def block(*statements: Node) -> Compound:
    """`{ statements }`."""
    return Compound(list(statements))


def flat_block(*statements: Node) -> Compound:
    """Like `block`, with the statements of argument blocks that declare nothing put in directly."""
    items: list[Node] = []
    for statement in statements:
        if isinstance(statement, Compound) and not _declares(statement):
            items.extend(statement.block_items or [])
        else:
            items.append(statement)
    return Compound(items)


def _declares(statement: Compound) -> bool:
    kinds = (c_ast.Decl, c_ast.DeclList, c_ast.Typedef)
    return any(isinstance(item, kinds) for item in statement.block_items or [])


def declare(
    type_text: str, name: str, init: Node | int | None = None, *, dimensions: Sequence[Node | int] = ()
) -> c_ast.Decl:
    """`type_text name[dimensions] = init;`.

    `type_text` holds words and trailing stars: `double`, `register int`, `const double *restrict`.
    Raises ValueError for text without a type word.
    """
    words, *pointers = type_text.replace("*", " * ").split("*")
    base = words.split()
    quals = [w for w in base if w in _QUALIFIERS]
    storage = [w for w in base if w in _STORAGE]
    type_node = _base_type([w for w in base if w not in _QUALIFIERS | _STORAGE], type_text)
    declarator: Node = c_ast.TypeDecl(name, list(quals), None, type_node)
    for qualifiers in pointers:
        declarator = c_ast.PtrDecl(qualifiers.split(), declarator)
    declarator = _with_dimensions(declarator, dimensions)
    value = None if init is None else expression(init)
    return c_ast.Decl(name, quals, [], storage, [], declarator, value, None)


def _base_type(words: list[str], type_text: str) -> Node:
    if not words:
        raise ValueError(f"no type in {type_text!r}")
    if words[0] == "struct" and len(words) == 2:
        return c_ast.Struct(words[1], None)
    if words[0] == "union" and len(words) == 2:
        return c_ast.Union(words[1], None)
    return c_ast.IdentifierType(words)


def _with_dimensions(declarator: Node, dimensions: Sequence[Node | int]) -> Node:
    # An array of pointers is `ArrayDecl(PtrDecl(…))`: the outermost extent is the outermost node.
    for extent in reversed(dimensions):
        declarator = c_ast.ArrayDecl(declarator, expression(extent), [])
    return declarator


def is_number(node: Node) -> bool:
    """Whether an expression is an integer that `literal_value` knows, or a floating-point literal with or without a sign."""
    match node:
        case c_ast.UnaryOp(op="-" | "+", expr=operand):
            return is_number(operand)
        case c_ast.Constant(type="float" | "double" | "long double"):
            return True
        case _:
            return literal_value(node) is not None


def literal_value(node: Node | None) -> int | None:
    """The value of an integer literal without suffix, or of `-`, `+`, `*` over such; else None.

    A cast to a type shorter than `int` gives an `int` again, with the value that the type keeps of it.
    """
    match node:
        case c_ast.Cast(to_type=c_ast.Typename(type=c_ast.TypeDecl(type=c_ast.IdentifierType(names=words)))):
            value, kind = literal_value(node.expr), ctype(" ".join(words))
            if value is None or kind is None or not kind.is_narrow or kind.rank is Rank.BOOL or kind.alias:
                return None
            low, high = kind.limits or (0, 0)
            return (value - low) % (high - low + 1) + low
        case c_ast.Constant(type="int", value=text) if text[-1] not in "uUlL":
            return integer_value(text)
        case c_ast.UnaryOp(op="-" | "+" as op, expr=operand):
            value = literal_value(operand)
            return None if value is None else -value if op == "-" else value
        case c_ast.BinaryOp(op="+" | "-" | "*" as op, left=first, right=second):
            left, right = literal_value(first), literal_value(second)
            if left is None or right is None:
                return None
            return left + right if op == "+" else left - right if op == "-" else left * right
        case _:
            return None


def advance(name: str, step: int) -> Node:
    """`name += step`, or `name -= -step`."""
    return assign(name, abs(step), "+=" if step > 0 else "-=")


def statements(body: Node) -> list[Node]:
    """The statements of a block, or the one statement that is not a block."""
    if isinstance(body, Compound):
        return list(body.block_items or [])
    return [] if isinstance(body, c_ast.EmptyStatement) else [body]


def as_long(node: Node, kind: str = "long") -> Node:
    """`(long)node`, or a cast to another type; a literal stays as it is."""
    if literal_value(node) is not None and kind == "long":
        return node
    words = c_ast.IdentifierType(kind.split())
    return c_ast.Cast(c_ast.Typename(None, [], None, c_ast.TypeDecl(None, [], None, words)), node)
