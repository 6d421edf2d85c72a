"""Pointers to memory of their own: what sets them allocates it, by the C library or by a function of the file.

    static double *vector(int n)
    {
      double *v = malloc(n * sizeof *v);
      if (v == NULL) exit(1);
      return v;
    }

What such functions give back nothing else points to, as long as they do no more with it than test and fill it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from orio_py.ctree.effects import effects
from orio_py.ctree.known_functions import ALLOCATES_BY_ADDRESS, ALLOCATORS, STORING_FUNCTIONS, called_name
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import walk, walk_statements
from orio_py.ctree.symbols import declaration_of
from orio_py.ctree.unit.pointer_uses import Parts, used_otherwise, without_casts
from orio_py.ctree.unit.purity import FunctionDefinition

_LEAVES_IT = STORING_FUNCTIONS | {"free"}
LIBRARY = ALLOCATORS | _LEAVES_IT | {ALLOCATES_BY_ADDRESS}
"""The functions that are taken for those of the C library by their names."""


def allocated_pointer(node: Node, own: Set[str] = frozenset()) -> str | None:
    """The variable that a declaration, an assignment or a test of one sets to memory of its own, or to a null pointer.

    `own` are functions that allocate beside those of the C library.
    """
    match node:
        case c_ast.UnaryOp(op="!", expr=tested) | c_ast.BinaryOp(op="==" | "!=", left=tested):
            by_address = _allocated_by_address(tested)
            return by_address or allocated_pointer(tested, own) if not isinstance(tested, c_ast.ID) else None
        case (
            c_ast.Decl(name=str(name), init=Node() as value)
            | c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value)
        ):
            return name if _is_fresh(value, own) else _allocated_by_address(value)
        case _:
            return _allocated_by_address(node)


def _allocated_by_address(call: Node) -> str | None:
    match call:
        case c_ast.FuncCall(args=c_ast.ExprList(exprs=[first, *_])) if (
            called_name(call) == ALLOCATES_BY_ADDRESS
        ):
            match without_casts(first):
                case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)):
                    return name
                case _:
                    return None
        case _:
            return None


def _is_fresh(value: Node, own: Set[str]) -> bool:
    """Whether an expression is a null pointer, or one to memory that is allocated by it."""
    match without_casts(value):
        case c_ast.FuncCall() as call:
            return called_name(call) in ALLOCATORS | own
        case c_ast.Constant(value="0") | c_ast.ID(name="NULL"):
            return True
        case _:
            return False


def allocating_functions(
    functions: Iterable[FunctionDefinition], is_number: Callable[[str], bool]
) -> frozenset[str]:
    """The functions that give back memory which they have allocated, or a null pointer, and keep no pointer to it."""
    waiting = {
        function.node.decl.name: function
        for function in functions
        if function.node.decl.name and isinstance(function.node.decl.type.type, c_ast.PtrDecl)
    }
    found = frozenset[str]()
    while ready := {name for name, function in waiting.items() if _allocates(function, found, is_number)}:
        found |= ready
        waiting = {name: function for name, function in waiting.items() if name not in ready}
    return found


def _allocates(function: FunctionDefinition, own: Set[str], is_number: Callable[[str], bool]) -> bool:
    body = function.node.body
    returns = [part for part in walk(body) if isinstance(part, c_ast.Return)]
    results = [part.expr for part in returns if part.expr is not None]
    if effects(body).opaque or not results or len(results) < len(returns):
        return False
    if any(isinstance(part, (c_ast.Goto, c_ast.Label)) for part in walk(body)):
        return False
    kept = [without_casts(result) for result in results if not _is_fresh(result, own)]
    names = {result.name for result in kept if isinstance(result, c_ast.ID)}
    if any(not isinstance(result, c_ast.ID) for result in kept):
        return False
    declared = [d for d in walk(body) if isinstance(d, c_ast.Decl) and d.name in names]
    is_own = len(declared) == len(names) and all(_is_pointer_to_own(d, own) for d in declared)
    alone = {id(statement) for statement in walk_statements(body)}
    pointers = [declaration_of(d) for d in declared]
    followed = {pointer.name for pointer in pointers if pointer.pointers > 1 or is_number(pointer.type)}
    return is_own and names.isdisjoint(used_otherwise(body, followed, _harmless(own, alone)))


def _is_pointer_to_own(node: c_ast.Decl, own: Set[str]) -> bool:
    """Whether a variable is a pointer that begins without a value, or with memory of its own."""
    declared = declaration_of(node)
    is_pointer = declared.pointers > 0 and not (
        declared.dimensions or declared.storage or declared.points_to_array
    )
    return is_pointer and (node.init is None or _is_fresh(node.init, own))


def _harmless(own: Set[str], alone: Set[int]) -> Parts:
    """What is left of code that allocates, fills, frees or gives back what a pointer points to.

    `alone` are the statements: elsewhere `memset(p, 0, n)` is another pointer to the same.
    """

    def parts(node: Node) -> list[Node] | None:
        match node:
            case c_ast.Return(expr=Node() as value) if isinstance(without_casts(value), c_ast.ID):
                return []
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(), rvalue=value) if _is_fresh(value, own):
                return [value]
            case c_ast.FuncCall(args=c_ast.ExprList(exprs=given)) if _allocated_by_address(node) is not None:
                return given[1:]
            case c_ast.FuncCall(args=c_ast.ExprList(exprs=given)) if (
                called_name(node) in _LEAVES_IT and id(node) in alone
            ):
                return [part for part in given if not isinstance(without_casts(part), c_ast.ID)]
            case _:
                return None

    return parts
