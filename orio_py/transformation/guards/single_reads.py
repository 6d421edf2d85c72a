"""What a test has shown to keep its value is read once: numbers and pointers in memory that the loops' writes could change.

    for (y = 0; y < im->h; y++)                const int im_h = im->h, im_w = im->w;
      for (x = 0; x < im->w; x++)              unsigned char **im_rows = im->rows;
        im->rows[y][x] ^= 255;                 for (y = 0; y < im_h; y++) {
                                                 unsigned char *im_row = im_w > 0 ? im_rows[y] : 0;
                                                 for (x = 0; x < im_w; x++)
                                                   im_row[x] ^= 255;
                                               }

Compilers do not know what the test says: they would read all of it again behind each byte that is written.

Source: for the idea, J. Lu and K. Cooper, "Register promotion in C programs", PLDI 1997, behind a test at run time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce

from orio_py.core.names import NameSupply
from orio_py.ctree.build import binary, block, const, declare, ident, literal_value, statements, ternary
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import (
    INCREMENTS,
    Comment,
    Compound,
    For,
    GuardedPragma,
    KernelCall,
    Node,
    OwnFunction,
    Transform,
    c_ast,
)
from orio_py.ctree.rewrite import (
    Rewriter,
    assigned_names,
    copy_with,
    declared_names,
    substitute,
    used_names,
    walk,
)
from orio_py.ctree.simplify import simplify
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.certain_conditions import as_stored, is_always_true, runs
from orio_py.transformation.guards.row_ranges import row_subscripts

_PRAGMAS = (c_ast.Pragma, GuardedPragma)
_UNSEEN = (KernelCall, Transform, OwnFunction, c_ast.Goto, c_ast.Label, c_ast.Switch)
_ABOUT_NESTS = ("collapse", "ordered", "tile", "default", "acc ", "target", "unroll")
"""What pragmas say of loops right inside of each other, or of all variables."""
_PLAIN = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp)


@dataclass(frozen=True, slots=True)
class SteadyMemory:
    """A number or a pointer in memory that nothing writes, which an expression reads, and its declaration."""

    node: Node
    declared: CDeclaration

    @property
    def type(self) -> str | None:
        """The words of its type; None for one that cannot be written so."""
        behind_a_star = self.declared.text.partition("*")[2]
        if self.declared.dimensions or "const" in behind_a_star or not isinstance(self.node, c_ast.StructRef):
            return None
        return _pointer_type(self.declared, self.declared.pointers)


def with_single_reads(tree: Node, steady: Sequence[SteadyMemory], context: Context) -> Node:
    """Transformed loops that read once, before them, what keeps its value, and pointers to rows before the loops over these."""
    texts = [str(part.string) for part in walk(tree) if isinstance(part, _PRAGMAS)]
    is_seen = not any(isinstance(part, _UNSEEN) for part in walk(tree))
    if not steady or not is_seen or any(word in text for text in texts for word in _ABOUT_NESTS):
        return tree
    supply = context.names(tree)
    changing = frozenset(assigned_names(tree)) | declared_names(tree)
    names: dict[str, str] = {}
    rows: dict[str, CDeclaration] = {}
    declared: list[Node] = []
    for text, each in {emit_expression(each.node): each for each in steady}.items():
        kind = each.type
        if not used_names([each.node]).isdisjoint(changing) or not _is_read(text, tree):
            continue
        if kind is not None:
            names[text] = supply.fresh(text.replace("->", "_").replace(".", "_"))
            declared.append(declare(kind if "*" in kind else f"const {kind}", names[text], each.node))
        if row_subscripts(each.declared) == 1:
            rows[names.get(text, text)] = each.declared
    new = _Reads(names).rewrite(tree) if names else tree
    if rows:
        new = _Rows(rows, supply, _written(new), context).rewrite(new)
    return block(*declared, *statements(new)) if declared else new


def _pointer_type(declared: CDeclaration, stars: int, *, writes: bool = False) -> str | None:
    """The words of a type with so many stars; `const` stays where nothing is written."""
    if (
        declared.qualifiers & {"volatile", "_Atomic"}
        or not declared.type
        or not set("(){},[]").isdisjoint(declared.type)
    ):
        return None
    before = "const " if "const" in declared.qualifiers and stars and not writes else ""
    return f"{before}{declared.type} {'*' * stars}".strip()


def _is_read(text: str, tree: Node) -> bool:
    """Whether an expression is read by its text."""
    reads = _Reads({text: text})
    reads.rewrite(tree)
    return reads.found


class _Reads(Rewriter):
    """Puts variables where expressions are read, by their texts; `found` says whether there is one."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        self.found = False

    def visit_StructRef(self, node: c_ast.StructRef) -> Node:
        """`im->w`."""
        name = self._names.get(emit_expression(node))
        if name is None:
            return copy_with(node, name=self.rewrite(node.name))
        self.found = True
        return ident(name)

    def visit_ID(self, node: c_ast.ID) -> Node:
        """`rows`."""
        self.found = self.found or node.name in self._names
        return node

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        """`&im->w` is no read."""
        return node if node.op == "&" and isinstance(node.expr, c_ast.StructRef) else self.generic(node)


def _written(tree: Node) -> frozenset[str]:
    """The arrays whose elements are written behind two subscripts."""
    found: set[str] = set()
    for part in walk(tree):
        match part:
            case c_ast.Assignment(lvalue=target) | c_ast.UnaryOp(op="++" | "--" | "p++" | "p--", expr=target):
                while isinstance(target, (c_ast.ArrayRef, c_ast.StructRef)):
                    target = target.name
                found.update([target.name] if isinstance(target, c_ast.ID) else [])
            case _:
                pass
    return frozenset(found)


@dataclass(slots=True)
class _Rows(Rewriter):
    """Reads the pointers to rows before the loops that go through these."""

    arrays: dict[str, CDeclaration]
    supply: NameSupply
    written: frozenset[str]
    context: Context
    names: dict[str, str] = field(default_factory=dict[str, str])

    def visit_Compound(self, node: Compound) -> Node:
        """Declarations stand before the pragmas of a loop."""
        items: list[Node] = []
        start = 0
        for item in node.block_items or []:
            declared, new = self._loop(item) if isinstance(item, For) else ([], self.rewrite(item))
            items[start:start] = declared
            items.append(new)
            if not isinstance(item, (*_PRAGMAS, Comment)):
                start = len(items)
        same = all(a is b for a, b in zip(items, node.block_items or [], strict=False))
        return (
            node if same and len(items) == len(node.block_items or []) else copy_with(node, block_items=items)
        )

    def visit_For(self, node: For) -> Node:
        """A loop that is the body of another statement."""
        declared, new = self._loop(node)
        return block(*declared, new) if declared else new

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        """`rows[y]`."""
        name = self.names.get(emit_expression(node))
        return self.generic(node) if name is None else ident(name)

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        """`&rows[y]` is no read."""
        is_place = node.op == "&" and emit_expression(node.expr) in self.names
        return node if is_place else self.generic(node)

    def _loop(self, node: For) -> tuple[list[Node], Node]:
        """The declarations before a loop, and the loop with them."""
        before, declared = dict(self.names), list[Node]()
        test = self._test(node)
        for text, (array, row) in self._steady_rows(node).items():
            kind = _pointer_type(self.arrays[array], 1, writes=array in self.written)
            if kind is None or test is None:
                continue
            self.names[text] = self.supply.fresh(f"{array}_row")
            value = row if literal_value(test) else ternary(test, row, const(0))
            declared.append(declare(kind, self.names[text], value))
        new = self.generic(node)
        self.names = before
        return declared, new

    def _test(self, node: For) -> Node | None:
        """The condition that a loop runs, 1 where it is certain to; None where nothing may be evaluated for that."""
        view = CanonicalLoop.match(node)
        if view is not None and view.trip_count():
            return const(1)
        if view is not None:
            test: Node | None = runs(as_stored(view, self.context))
        else:
            test = _at_start(node)
        if test is None or not _is_total(test):
            return None
        needed = [part for part in _conditions(test) if not is_always_true(part, self.context)]
        return reduce(lambda a, b: binary("&&", a, b), needed) if needed else const(1)

    def _steady_rows(self, node: For) -> dict[str, tuple[str, c_ast.ArrayRef]]:
        """The pointers to rows, with the arrays of them, that stay the same in a loop and are read in each iteration."""
        changing = frozenset(assigned_names(node)) | declared_names(node)
        found: dict[str, tuple[str, c_ast.ArrayRef]] = {}
        for part in _read_where_it_runs(node.stmt):
            match part:
                case c_ast.ArrayRef(
                    name=c_ast.ArrayRef(name=c_ast.ID(name=array), subscript=place) as row
                ) if array in self.arrays and emit_expression(row) not in self.names:
                    plain = all(isinstance(each, _PLAIN) for each in walk(place)) and _is_total(place)
                    if plain and used_names([row]).isdisjoint(changing):
                        found.setdefault(emit_expression(row), (array, row))
                case _:
                    pass
        return found


def _at_start(node: For) -> Node | None:
    """The condition of a loop for the first value of its index; None where that is not evident."""
    match node.init:
        case None:
            return node.cond
        case (
            c_ast.DeclList(decls=[c_ast.Decl(name=str(name), init=Node() as start)])
            | c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=start)
        ) if node.cond is not None and literal_value(start) is not None:
            return simplify(substitute(node.cond, name, start))
        case _:
            return None


def _conditions(test: Node) -> list[Node]:
    """The conditions that all have to hold."""
    match test:
        case c_ast.BinaryOp(op="&&", left=left, right=right):
            return [*_conditions(left), *_conditions(right)]
        case _:
            return [test]


def _is_total(expression: Node) -> bool:
    """Whether an expression has a value whatever variables hold, and does nothing else."""
    for part in walk(expression):
        match part:
            case c_ast.BinaryOp(op="/" | "%", right=divisor) if not literal_value(divisor):
                return False
            case c_ast.FuncCall() | c_ast.Assignment() | c_ast.ArrayRef():
                return False
            case c_ast.UnaryOp(op=op) if op in INCREMENTS or op == "*":
                return False
            case _:
                pass
    return True


def _read_where_it_runs(body: Node) -> Iterator[Node]:
    """The parts of a loop's body without the loops in it that need not run."""
    stack = [body]
    while stack:
        part = stack.pop()
        if isinstance(part, (c_ast.While, c_ast.DoWhile)):
            continue
        if isinstance(part, For):
            view = CanonicalLoop.match(part)
            if view is None or not view.trip_count():
                continue
        yield part
        stack += reversed(list(part))
