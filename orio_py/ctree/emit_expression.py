"""Expression and declaration trees → C text with few parentheses and no compiler warning about them."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, cast

from orio_py.ctree.nodes import KernelCall, Node, OwnFunction, c_ast

_BINARY = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
_BITWISE = frozenset({"&", "|", "^"})
_SHIFTS = frozenset({"<<", ">>"})

_COMMA, _ASSIGNMENT, _CONDITIONAL, _UNARY, _POSTFIX, _PRIMARY = -2, -1, 0, 11, 12, 13


def emit_expression(node: Node) -> str:
    """The text of an expression, initialiser or type name."""
    return _text(node, _COMMA)


def emit_condition(node: Node) -> str:
    """The text of the condition of a statement: an assignment there is put in parentheses."""
    return _text(node, _CONDITIONAL) if isinstance(node, c_ast.Assignment) else _text(node, _COMMA)


def emit_argument(node: Node) -> str:
    """The text of an argument or initialiser: a comma expression there is put in parentheses."""
    return _text(node, _ASSIGNMENT)


def emit_declaration(node: c_ast.Decl | c_ast.Typedef | c_ast.DeclList) -> str:
    """The text of a declaration without its semicolon."""
    decls = cast("list[Any]", node.decls) if isinstance(node, c_ast.DeclList) else [node]
    first, *others = decls
    specifiers, declarator = _specifiers(first), _init_declarator(first)
    pieces = [_join(specifiers, declarator)]
    pieces.extend(_init_declarator(decl) for decl in others)
    return ", ".join(pieces)


def emit_type(node: Node) -> str:
    """The text of a type name such as `double (*)[4]`."""
    kind = cast("Any", node).type if isinstance(node, c_ast.Typename) else node
    return _join(_base(kind), _declarator(kind))


def _level(node: Node) -> int:
    """How tightly the outermost operator of an expression binds."""
    if isinstance(node, c_ast.BinaryOp):
        return _BINARY[node.op]
    if isinstance(node, c_ast.UnaryOp):
        return _POSTFIX if node.op in {"p++", "p--"} else _UNARY
    return _LEVELS.get(type(node), _PRIMARY)


_TIGHT = frozenset({c_ast.ID, c_ast.Constant, c_ast.ArrayRef})
"""Expressions that need no parentheses anywhere, and are most of them."""

_LEVELS: dict[type[Node], int] = {
    c_ast.ExprList: _COMMA,
    c_ast.Assignment: _ASSIGNMENT,
    c_ast.TernaryOp: _CONDITIONAL,
    c_ast.Cast: _UNARY,
    c_ast.ArrayRef: _POSTFIX,
    c_ast.FuncCall: _POSTFIX,
    KernelCall: _POSTFIX,
    c_ast.StructRef: _POSTFIX,
    c_ast.CompoundLiteral: _POSTFIX,
}


def _text(node: Node, least: int) -> str:
    """The text of `node`, in parentheses if it binds less than `least`."""
    text = _WRITERS[type(node)](node)
    if least <= _COMMA or type(node) in _TIGHT or _level(node) >= least:
        return text
    return f"({text})"


def _bare(node: Node) -> str:
    return _WRITERS[type(node)](node)


def _array_reference(node: c_ast.ArrayRef) -> str:
    return f"{_text(node.name, _POSTFIX)}[{_bare(node.subscript)}]"


def _assignment(node: c_ast.Assignment) -> str:
    return f"{_text(node.lvalue, _UNARY)} {node.op} {_text(node.rvalue, _ASSIGNMENT)}"


def _call(node: c_ast.FuncCall) -> str:
    return f"{_text(node.name, _POSTFIX)}({_arguments(node.args)})"


def _member(node: c_ast.StructRef) -> str:
    return f"{_text(node.name, _POSTFIX)}{node.type}{_bare(node.field)}"


def _cast(node: c_ast.Cast) -> str:
    return f"({emit_type(node.to_type)}){_cast_space(node.expr)}{_text(node.expr, _UNARY)}"


def _list(node: c_ast.ExprList) -> str:
    return ", ".join(_text(item, _ASSIGNMENT) for item in node.exprs)


def _rare(node: Node) -> str:
    match node:
        case c_ast.InitList():
            return "{" + ", ".join(_text(item, _ASSIGNMENT) for item in node.exprs) + "}"
        case c_ast.NamedInitializer():
            return "".join(_designator(d) for d in node.name) + f" = {_text(node.expr, _ASSIGNMENT)}"
        case c_ast.CompoundLiteral():
            return f"({emit_type(node.type)}){_bare(node.init)}"
        case c_ast.Typename() | c_ast.TypeDecl() | c_ast.PtrDecl() | c_ast.ArrayDecl() | c_ast.FuncDecl():
            return emit_type(node)
        case c_ast.Decl() | c_ast.Typedef() | c_ast.DeclList():
            return emit_declaration(node)
        case c_ast.GenericSelection():
            parts = [_text(node.expr, _ASSIGNMENT), *(_bare(a) for a in node.associations)]
            return f"_Generic({', '.join(parts)})"
        case c_ast.GenericAssociation():
            kind = "default" if node.type is None else emit_type(node.type)
            return f"{kind}: {_text(node.expr, _ASSIGNMENT)}"
        case c_ast.Struct() | c_ast.Union() | c_ast.Enum() | c_ast.IdentifierType():
            return _type_specifier(node)
        case c_ast.EllipsisParam():
            return "..."
        case _:
            raise TypeError(f"{type(node).__name__} is not part of an expression")


def _designator(node: Node) -> str:
    return f"[{_text(node.expr, _COMMA)}]" if isinstance(node, c_ast.ArrayDesignator) else f".{_bare(node)}"


def _arguments(arguments: Node | None) -> str:
    if arguments is None:
        return ""
    items = arguments.exprs if isinstance(arguments, c_ast.ExprList) else [arguments]
    return ", ".join(_text(item, _ASSIGNMENT) for item in items)


def _binary(node: c_ast.BinaryOp) -> str:
    operator, left = node.op, node.left
    if not isinstance(left, c_ast.BinaryOp):
        return (
            f"{_operand(operator, left, right=False)} {operator} {_operand(operator, node.right, right=True)}"
        )
    # Chains like `a + b + c …` lean to the left and can be long: walk down them without recursion.
    spine = [node]
    while isinstance(spine[-1].left, c_ast.BinaryOp) and not _wants_parentheses(
        spine[-1].op, spine[-1].left, right=False
    ):
        spine.append(spine[-1].left)
    innermost = spine[-1]
    pieces = [_operand(innermost.op, innermost.left, right=False)]
    pieces.extend(f" {item.op} {_operand(item.op, item.right, right=True)}" for item in reversed(spine))
    return "".join(pieces)


def _operand(operator: str, child: Node, *, right: bool) -> str:
    text = _WRITERS[type(child)](child)
    if type(child) in _TIGHT or not _wants_parentheses(operator, child, right=right):
        return text
    return f"({text})"


def _wants_parentheses(operator: str, child: Node, *, right: bool) -> bool:
    """Whether C or a compiler's -Wparentheses asks for parentheses around an operand."""
    level, own = _level(child), _BINARY[operator]
    if level < own or (level == own and right):
        return True
    if isinstance(child, c_ast.UnaryOp) and child.op == "!" and not right:
        return operator in _COMPARISONS | _BITWISE
    if not isinstance(child, c_ast.BinaryOp):
        return False
    if operator == "||":
        return child.op == "&&"
    if operator in _BITWISE:
        return child.op != operator
    if operator in _COMPARISONS:
        return child.op in _COMPARISONS
    return operator in _SHIFTS and child.op in {"+", "-"}


def _unary(node: c_ast.UnaryOp) -> str:
    operator = node.op
    if operator in {"p++", "p--"}:
        return _text(node.expr, _POSTFIX) + operator[1:]
    if operator[0].isalpha() or operator.startswith("_"):
        inner = emit_type(node.expr) if isinstance(node.expr, c_ast.Typename) else _text(node.expr, _COMMA)
        return f"{operator}({inner})"
    operand = _text(node.expr, _UNARY)
    space = " " if operator[-1] in "+-&" and operand.startswith(operator[-1]) else ""
    return operator + space + operand


def _cast_space(operand: Node) -> str:
    # `(T)x` for plain operands, `(T) -x` where the operand has an operator of its own.
    return " " if _level(operand) == _UNARY and not isinstance(operand, c_ast.Cast) else ""


def _ternary(node: c_ast.TernaryOp) -> str:
    condition = _text(node.cond, _CONDITIONAL + 1)
    if isinstance(node.cond, c_ast.BinaryOp) and node.cond.op not in _COMPARISONS | {"&&", "||"}:
        condition = f"({condition})"
    middle = _text(node.iftrue, _CONDITIONAL + 1)
    return f"{condition} ? {middle} : {_text(node.iffalse, _CONDITIONAL)}"


class _Writers(dict[type[Node], Callable[[Any], str]]):
    """What prints an expression, by its type: expressions are most of what is printed."""

    def __missing__(self, kind: type[Node]) -> Callable[[Any], str]:
        return _rare


_WRITERS = _Writers(
    {
        c_ast.ID: attrgetter("name"),
        OwnFunction: attrgetter("function"),
        c_ast.Constant: attrgetter("value"),
        c_ast.BinaryOp: _binary,
        c_ast.ArrayRef: _array_reference,
        c_ast.Assignment: _assignment,
        c_ast.UnaryOp: _unary,
        c_ast.FuncCall: _call,
        KernelCall: _call,
        c_ast.StructRef: _member,
        c_ast.TernaryOp: _ternary,
        c_ast.Cast: _cast,
        c_ast.ExprList: _list,
    }
)


def _specifiers(node: Any) -> str:
    """Everything before the first declarator."""
    words: list[str] = list(node.storage)
    if isinstance(node, c_ast.Decl):
        words.extend(node.funcspec)
        words.extend(f"_Alignas({_bare(a.alignment)})" for a in node.align or ())
    if isinstance(node.type, (c_ast.Struct, c_ast.Union, c_ast.Enum)):
        words.extend(node.quals)
    words.append(_base(node.type))
    return " ".join(words)


def _init_declarator(node: Any) -> str:
    text = _declarator(node.type)
    if getattr(node, "bitsize", None) is not None:
        text += (
            f" : {_text(node.bitsize, _CONDITIONAL)}" if text else f": {_text(node.bitsize, _CONDITIONAL)}"
        )
    if getattr(node, "init", None) is not None:
        text += f" = {_text(node.init, _ASSIGNMENT)}"
    return text


def _base(kind: Any) -> str:
    """The qualifiers and type words at the bottom of a declarator chain."""
    while isinstance(kind, (c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.FuncDecl)):
        kind = kind.type
    if isinstance(kind, c_ast.TypeDecl):
        return " ".join([*(kind.quals or []), _type_specifier(kind.type)])
    return _type_specifier(kind)


def _type_specifier(kind: Any) -> str:
    match kind:
        case c_ast.IdentifierType():
            return " ".join(kind.names)
        case c_ast.Struct() | c_ast.Union():
            word = "struct" if isinstance(kind, c_ast.Struct) else "union"
            head = f"{word} {kind.name}" if kind.name else word
            if kind.decls is None:
                return head
            members = "".join(f" {_bare(member)};" for member in kind.decls)
            return f"{head} {{{members} }}"
        case c_ast.Enum():
            head = f"enum {kind.name}" if kind.name else "enum"
            if kind.values is None:
                return head
            values = cast("list[Any]", cast("c_ast.EnumeratorList", kind.values).enumerators)
            return f"{head} {{ {', '.join(_enumerator(v) for v in values)} }}"
        case _:
            raise TypeError(f"{type(kind).__name__} is not a type")


def _enumerator(node: c_ast.Enumerator) -> str:
    return node.name if node.value is None else f"{node.name} = {_text(node.value, _CONDITIONAL)}"


def _declarator(kind: Any) -> str:
    """The declarator of a chain of pointer, array and function types: `(*name)[4]`."""
    parts: list[Any] = []
    while isinstance(kind, (c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.FuncDecl)):
        parts.append(kind)
        kind = kind.type
    text: str = (kind.declname or "") if isinstance(kind, c_ast.TypeDecl) else ""
    # The outermost node says what the name is, so it stands next to the name.
    after_pointer = False
    for part in parts:
        if isinstance(part, c_ast.PtrDecl):
            quals = " ".join(part.quals or [])
            text = f"*{quals} {text}" if quals and text else f"*{quals}{text}"
            after_pointer = True
            continue
        text = f"({text})" if after_pointer else text
        after_pointer = False
        text += _extent(part) if isinstance(part, c_ast.ArrayDecl) else f"({_parameters(part.args)})"
    return text


def _extent(part: c_ast.ArrayDecl) -> str:
    words = list(part.dim_quals or [])
    if part.dim is not None:
        words.append(_text(part.dim, _ASSIGNMENT))
    return f"[{' '.join(words)}]"


def _parameters(arguments: Node | None) -> str:
    if arguments is None:
        return ""
    return ", ".join(_bare(parameter) for parameter in arguments)


def _join(base: str, declarator: str) -> str:
    return f"{base} {declarator}" if declarator else base
