"""What a C lvalue refers to, and which names a tree writes and declares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from orio_py.ctree.build import const
from orio_py.ctree.nodes import INCREMENTS, Node, c_ast
from orio_py.ctree.rewrite import walk_statements
from orio_py.ctree.symbols import CDeclaration

AccessKey = tuple[str, int]
"""A name, with fields as in `p.n`, and the number of subscripts: `a[i][j]` is `("a", 2)`."""

LOCATION = ":"
"""What the name of a memory location with several bit fields ends with: `flags.first:`."""

Overlap = Callable[[AccessKey, AccessKey], bool]
"""Whether accesses under two different names may touch the same memory."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The memory that an lvalue names: a variable, with its fields, and subscripts into it.

    `*p` is `p[0]`, `p->a` is the field `a` of `p[0]` and has the name `p.a`; `s[i].a[j]` has the name
    `s.a` and the subscripts `i` and `j`.
    """

    name: str
    subscripts: tuple[Node, ...]

    @property
    def variable(self) -> str:
        """The declared name, without fields."""
        return self.name.partition(".")[0]

    @property
    def spot(self) -> AccessKey:
        """The name and the number of subscripts."""
        return self.name, len(self.subscripts)

    def at(self, subscript: Node) -> Reference:
        """One subscript more."""
        return Reference(self.name, (*self.subscripts, subscript))


@dataclass(frozen=True, slots=True)
class Names:
    """Facts about the names of one tree.

    `writes` counts the assignments to each reference name, `indices` are the names that a `for` header
    initialises, `local` are those declared inside, `overlapped` those that a write to another name
    may change, and `types` what names of types stand for.
    """

    declarations: Mapping[str, CDeclaration]
    writes: Mapping[str, int]
    indices: frozenset[str]
    local: frozenset[str]
    overlapped: frozenset[str] = frozenset()
    types: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def varying(self) -> frozenset[str]:
        """Every name that does not keep one value throughout the tree."""
        return frozenset(self.writes) | self.indices | self.local | self.overlapped


NO_NAMES = Names({}, {}, frozenset(), frozenset())
"""Nothing known about any name."""


def resolve(node: Any, names: Names) -> Reference | None:
    """What an lvalue refers to; None if that is not known."""
    match type(node).__name__:
        case "ID":
            return Reference(node.name, ())
        case "ArrayRef" if isinstance(node.name, c_ast.BinaryOp):
            # The pointer is in front of the brackets, whatever the subscript is made of.
            inner = _pointed_to(node.name, names)
            if inner is None:
                return None
            place = c_ast.BinaryOp("+", inner.subscripts[-1], node.subscript, node.coord)
            return replace(inner, subscripts=(*inner.subscripts[:-1], place))
        case "ArrayRef":
            base = resolve(node.name, names)
            return None if base is None else base.at(node.subscript)
        case "StructRef" if node.type == "->" and isinstance(node.name, c_ast.BinaryOp):
            inner = _pointed_to(node.name, names)
            return None if inner is None else replace(inner, name=f"{inner.name}.{node.field.name}")
        case "StructRef":
            base = resolve(node.name, names)
            if base is None:
                return None
            inner = base.at(const(0)) if node.type == "->" else base
            return replace(inner, name=f"{base.name}.{node.field.name}")
        case "UnaryOp" if node.op == "*":
            return _pointed_to(node.expr, names)
        case _:
            return None


def _pointed_to(node: Any, names: Names) -> Reference | None:
    """The reference behind a pointer expression: exactly one term of the sum is the pointer."""
    terms = _sum_terms(node, 1)
    ranked = [
        (_pointer_rank(term, names) if sign > 0 else 0, place) for place, (sign, term) in enumerate(terms)
    ]
    best = max(rank for rank, _ in ranked)
    chosen = [place for rank, place in ranked if rank == best]
    if best == 0 or len(chosen) > 1:
        return None
    base = resolve(terms[chosen[0]][1], names)
    offset: Node | None = None
    for place, (sign, term) in enumerate(terms):
        if place == chosen[0]:
            continue
        if offset is None:
            offset = term if sign > 0 else c_ast.UnaryOp("-", term, term.coord)
        else:
            offset = c_ast.BinaryOp("+" if sign > 0 else "-", offset, term, term.coord)
    return None if base is None else base.at(const(0) if offset is None else offset)


def _sum_terms(node: Any, sign: int) -> list[tuple[int, Any]]:
    if isinstance(node, c_ast.BinaryOp):
        whole: Any = node
        if whole.op in {"+", "-"}:
            right = sign if whole.op == "+" else -sign
            return _sum_terms(whole.left, sign) + _sum_terms(whole.right, right)
    return [(sign, node)]


def _pointer_rank(term: Any, names: Names) -> int:
    """2 for a term that is declared as a pointer or array, 1 for one that may be, 0 for others."""
    base = resolve(term, names)
    if base is None or type(term).__name__ == "UnaryOp":
        return 0
    declaration = names.declarations.get(base.name)
    if declaration is not None:
        return 2 if len(declaration.dimensions) + declaration.pointers > len(base.subscripts) else 0
    return 1 if base.name not in names.indices else 0


def names_of(
    node: Node,
    declarations: Mapping[str, CDeclaration],
    may_overlap: Overlap | None = None,
    types: Mapping[str, str] | None = None,
) -> Names:
    """Collect the facts about the names of a tree."""
    indices: set[str] = set()
    local: set[str] = set()
    for part in walk_statements(node):
        statement: Any = part
        if isinstance(part, c_ast.Decl) and part.name is not None:
            local.add(part.name)
        elif type(part).__name__ == "For":
            indices.update(_initialised(statement.init))
            if isinstance(statement.init, c_ast.DeclList):
                local.update(_initialised(statement.init))
    writes: Counter[str] = Counter()
    names = Names(declarations, writes, frozenset(indices), frozenset(local), types=types or {})
    touched: set[AccessKey] = set()
    changed: set[AccessKey] = {(name, 0) for name in indices - local}
    for reference, _, is_written in references(node, names):
        writes.update([reference.name] if is_written else ())
        if reference.variable not in local:
            touched.add(reference.spot)
            changed.update([reference.spot] if is_written else ())
    if may_overlap is None or not changed:
        return names
    overlapped = (spot[0] for spot in touched if any(may_overlap(spot, other) for other in changed))
    return replace(names, overlapped=frozenset(overlapped))


def references(node: Node, names: Names) -> Iterator[tuple[Reference, Node, bool]]:
    """Every access that the text of a tree names, where it stands, and whether it is written."""
    stack: list[tuple[Any, bool]] = [(node, False)]
    while stack:
        current, is_written = stack.pop()
        match type(current).__name__:
            case "Assignment":
                stack.extend(((current.lvalue, True), (current.rvalue, False)))
                continue
            case "UnaryOp" if current.op in INCREMENTS:
                stack.append((current.expr, True))
                continue
            case "ID" | "ArrayRef" | "StructRef" | "UnaryOp":
                reference = resolve(current, names)
            case _:
                reference = None
        if reference is None:
            stack.extend((part, False) for part in current)
        else:
            yield reference, current, is_written
            stack.extend((part, False) for part in reference.subscripts)


def _initialised(init: Any) -> list[str]:
    """The names that the first part of a `for` header sets."""
    match type(init).__name__:
        case "Assignment" if type(init.lvalue).__name__ == "ID":
            return [init.lvalue.name]
        case "ExprList":
            return [name for item in init.exprs for name in _initialised(item)]
        case "DeclList":
            return [item.name for item in init.decls]
        case _:
            return []


def own_subscripts(declaration: Any) -> int:
    """How many subscripts into a declared variable stay in its own storage: the number of its extents."""
    kind, count = declaration.type, 0
    while type(kind).__name__ == "ArrayDecl":
        kind, count = kind.type, count + 1
    return count
