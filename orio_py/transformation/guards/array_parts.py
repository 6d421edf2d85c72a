"""Parts of one array between which only unknown numbers stand are told apart by tests at run time.

    for (j = 0; j < n; j++)                   double *a_at = a + (long)k * n, *a_at_1 = a + (long)p * n;
      a[k * n + j] -= f * a[p * n + j];       if (the ranges of a_at and a_at_1 do not overlap)
                                                for (j = 0; j < n; j++)
                                                  a_at[j] -= f * a_at_1[j];
                                              else
                                                the loop as it was

Rows of a matrix, halves of a transform, columns that a rotation mixes: each part has a pointer of its own, and whether
two of them are the same memory is asked as of any other pointers.

Unsigned sums may wrap around.  Where a part begins is then computed as the program computes it.  In `unsigned` a test asks
that it is no more than `INT_MAX`, as it is not where the sum of the rest has to wrap around, too; the rest is then what
never counts down.  Wider ones are taken for signed, which leads to the same addresses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from orio_py.core.names import NameSupply
from orio_py.ctree.build import add, as_long, binary, const, declare, ident, index, literal_value, sub, unary
from orio_py.ctree.ctype import CType, Rank
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Node, Transform, c_ast
from orio_py.ctree.rewrite import Rewriter, assigned_names, declared_names, walk
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.guards.guard import Guard
from orio_py.transformation.guards.guarded_tree import GuardedTree
from orio_py.transformation.guards.runtime_guards import may_stand_twice, without_marks
from orio_py.transformation.parallel.pragma_text import is_about_loop
from orio_py.transformation.sites import outermost_marks, rewrite_where

_MOST = 4
"""Parts of an array: each is compared with all others."""

_INT_MAX = 2**31 - 1

_Term = tuple[int, Node]
"""A part of a sum, with its sign."""


def with_array_parts(form: GuardedTree) -> GuardedTree:
    """The tree with pointers to the parts of arrays at its marks; the same object where no array has several.

    All references to such an array count by the same variables, beside what keeps its value, and one is written.
    """
    marks = {id(mark) for mark in outermost_marks(form.tree)}
    needed, originals = dict(form.guards), dict(form.originals)
    context = form.context
    supply = context.names(form.tree)
    pointers: dict[str, CDeclaration] = {}

    def change(mark: Node, inner: Context) -> Node:
        assert isinstance(mark, Transform)
        if not may_stand_twice(mark) or any(map(is_about_loop, inner.pragmas)):
            return mark
        found = _Parts(mark, inner, supply)
        new = found.rewritten()
        if new is not mark:
            pointers.update(found.pointers)
            guard = Guard(preparation=tuple(found.before), headers=tuple(found.tests))
            needed[mark.step] = needed.get(mark.step, Guard()).and_(guard)
            originals.setdefault(mark.step, without_marks(mark))
        return new

    new = rewrite_where(form.tree, lambda node: id(node) in marks, change, context)
    if new is form.tree:
        return form
    given = context.assumptions
    if given.noalias is True:
        # What is promised of the user's own names does not hold for two pointers into one array.
        given = replace(given, noalias=frozenset(context.declarations))
    context = replace(context, declarations={**context.declarations, **pointers}, assumptions=given)
    return replace(form, tree=new, context=context, guards=needed, originals=originals)


@dataclass(slots=True)
class _Parts:
    """A marked statement by its parts of arrays: the pointers to these, what declares them before, and tests of places."""

    mark: Node
    context: Context
    supply: NameSupply
    before: list[Node] = field(default_factory=list[Node])
    tests: list[Node] = field(default_factory=list[Node])
    pointers: dict[str, CDeclaration] = field(default_factory=dict[str, CDeclaration])

    def rewritten(self) -> Node:
        """The statement; the same object where no array has several parts."""
        places: dict[int, Node] = {}
        for name, found in _in_parts(self.mark, self.context):
            declared = self.context.declarations[name]
            words = f"{'const ' if 'const' in declared.qualifiers else ''}{declared.type} *"
            own = {key: self.supply.fresh(f"{name}_at") for key in dict.fromkeys(each.key for each in found)}
            for each in found:
                pointer = own[each.key]
                places[id(each.node)] = index(pointer, each.rest)
                if pointer not in self.pointers:
                    self.before.append(declare(words, pointer, self._begin(each)))
                    self.pointers[pointer] = _declaration(declared, pointer, words)
        return _Replacing(places).rewrite(self.mark) if places else self.mark

    def _begin(self, part: _Reference) -> Node:
        """The address of a part."""
        if not part.kind.unsigned or not part.offset or part.kind.rank > Rank.INT:
            return _total([(1, part.array), *part.offset])
        place = self.supply.fresh("place")
        self.before.append(declare("const unsigned", place, _total(part.offset)))
        self.tests.append(binary("<=", ident(place), _INT_MAX))
        return add(part.array, ident(place))


def _declaration(declared: CDeclaration, name: str, words: str) -> CDeclaration:
    """Of a local pointer into an array: neither is the array's memory its own, nor does `restrict` say more than for that."""
    return CDeclaration(
        name, declared.type, (), 1, declared.qualifiers - {"restrict"}, text=f"{words}{name}", scope="local"
    )


@dataclass(frozen=True, slots=True)
class _Reference:
    """An element of an array: what is added to the array for all iterations, and the place from there."""

    node: c_ast.ArrayRef
    array: Node
    kind: CType
    offset: tuple[_Term, ...]
    varying: tuple[_Term, ...]
    constant: int

    @property
    def key(self) -> tuple[str, ...]:
        """The same for references to one part."""
        return (f"{self.kind.rank} {self.kind.unsigned}", *_shown(self.offset)) if self.offset else ()

    @property
    def rest(self) -> Node:
        """The place in the part."""
        terms = self.varying
        if len(terms) > 1 and not self.kind.unsigned:
            # Without the offset a partial sum may be larger than the whole.
            terms = ((terms[0][0], as_long(terms[0][1])), *terms[1:])
        return _total(terms, self.constant)


def _shown(terms: Sequence[_Term]) -> tuple[str, ...]:
    return tuple(sorted(f"{sign:+d} {emit_expression(term)}" for sign, term in terms))


def _total(terms: Sequence[_Term], constant: int = 0) -> Node:
    """The sum of terms, which begins with a positive one if there is any."""
    if not terms:
        return const(constant)
    (sign, first), *others = sorted(
        terms, key=lambda term: -term[0]
    )  # keeps the order of those with one sign
    value = first if sign > 0 else unary("-", first)
    for sign, term in others:
        value = (add if sign > 0 else sub)(value, term)
    return add(value, constant)


def _in_parts(mark: Node, context: Context) -> Iterator[tuple[str, list[_Reference]]]:
    """The arrays with several parts of which one is written, with all their references."""
    changing = frozenset(assigned_names(mark)) | declared_names(mark)
    by_name: dict[str, list[c_ast.ArrayRef]] = {}
    uses: dict[str, int] = {}
    for part in walk(mark):
        match part:
            case c_ast.ArrayRef(name=c_ast.ID(name=name)):
                by_name.setdefault(name, []).append(part)
            case c_ast.ID(name=name):
                uses[name] = uses.get(name, 0) + 1
            case _:
                pass
    written = context.effects(mark).array_writes
    for name, nodes in by_name.items():
        is_whole = uses.get(name) != len(nodes) or name not in written or name in changing
        if is_whole or not _is_row(name, context):
            continue
        found = [_reference(node, changing, context) for node in nodes]
        plain = [each for each in found if each is not None]
        if len(plain) == len(nodes) and _is_shifted(plain):
            yield name, plain


def _is_row(name: str, context: Context) -> bool:
    """Whether a name is that of an array of numbers, or of a pointer to some that nothing but its name changes."""
    declared = context.declarations.get(name)
    if declared is None or declared.pointers + len(declared.dimensions) != 1 or "(" in declared.type:
        return False
    if declared.qualifiers & {"volatile", "_Atomic"} or not declared.text:
        return False
    return bool(declared.dimensions) or name not in context.exposed


def _is_shifted(references: Sequence[_Reference]) -> bool:
    """Whether there are several parts, which differ by what keeps its value alone; single elements may be among them."""
    if any(not (each.offset or each.varying) for each in references):
        return False  # Loops mostly come by the elements that a program names by number.
    shapes = {_shown(each.varying) for each in references} - {()}
    return 1 < len({each.key for each in references}) <= _MOST and len(shapes) == 1


def _reference(node: c_ast.ArrayRef, changing: frozenset[str], context: Context) -> _Reference | None:
    found = expression_type(node.subscript, context)
    if found is None or found.is_floating:
        return None
    kind = found.promoted
    offset: list[_Term] = []
    varying: list[_Term] = []
    constant = 0
    for sign, term in _terms(node.subscript, kind, context):
        value = literal_value(term)
        if value is not None:
            constant += sign * value
        elif _keeps_its_value(term, changing, context, unsigned=kind.unsigned):
            whole = term if _is_unsigned(term, context) else _wide(term)
            offset.append((sign, _as_wide_as(kind, whole, context)))
        else:
            varying.append((sign, _as_wide_as(kind, term, context)))
    if kind.unsigned and kind.rank <= Rank.INT and not _counts_up(varying, constant, context):
        return None
    return _Reference(node, node.name, kind, tuple(offset), tuple(varying), constant)


def _counts_up(terms: Sequence[_Term], constant: int, context: Context) -> bool:
    """Whether a sum in `unsigned` is what it is without wrapping around, unless it is too large: a single signed number may be below 0."""
    if constant < 0 or any(sign < 0 for sign, _ in terms):
        return False
    alone = len(terms) == 1 and constant == 0 and not _is_unsigned(terms[0][1], context)
    return alone or all(_is_natural(term, context) for _, term in terms)


def _is_natural(term: Node, context: Context) -> bool:
    """Whether a number is made of unsigned variables and numbers by operators that lead to none below 0."""
    match term:
        case c_ast.Constant():
            return literal_value(term) is not None
        case c_ast.ID():
            return _is_unsigned(term, context)
        case c_ast.BinaryOp(op="+" | "*" | "/" | "%" | "&" | ">>", left=left, right=right):
            return _is_natural(left, context) and _is_natural(right, context)
        case _:
            return False


def _terms(node: Node, kind: CType, context: Context, sign: int = 1) -> Iterator[_Term]:
    """The terms of a sum in one type, of which unsigned parts in a shorter one wrap around on their own."""
    match node:
        case c_ast.BinaryOp(op="+" | "-" as op, left=left, right=right) if (
            not _is_unsigned(node, context) or expression_type(node, context) == kind
        ):
            yield from _terms(left, kind, context, sign)
            yield from _terms(right, kind, context, sign if op == "+" else -sign)
        case _:
            yield sign, node


def _as_wide_as(kind: CType, term: Node, context: Context) -> Node:
    """A term of a sum in a type wider than `int`, with the others of which it is added as `long`; others as they are."""
    own = expression_type(term, context)
    is_long = own is not None and own.rank > Rank.INT and not own.unsigned
    return term if kind.rank <= Rank.INT or is_long else as_long(term)


def _is_unsigned(term: Node, context: Context) -> bool:
    kind = expression_type(term, context)
    return kind is not None and kind.promoted.unsigned


def _keeps_its_value(term: Node, changing: frozenset[str], context: Context, *, unsigned: bool) -> bool:
    """Whether a term is a product of numbers that only the function's own variables hold, and that nothing changes."""
    match term:
        case c_ast.BinaryOp(op="*", left=left, right=right):
            parts = (left, right)
            return all(_keeps_its_value(part, changing, context, unsigned=unsigned) for part in parts)
        case c_ast.ID(name=name):
            declared = context.declarations.get(name)
            is_number = declared is not None and declared.is_scalar and declared.is_integer
            is_known = expression_type(term, context) is not None
            is_signed = unsigned or not _is_unsigned(term, context)
            return is_number and is_known and is_signed and name not in changing | context.exposed
        case c_ast.Constant():
            return literal_value(term) is not None
        case _:
            return False


def _wide(term: Node) -> Node:
    """A product as `long`, in which it cannot overflow where the loops do not run."""
    match term:
        case c_ast.BinaryOp(op="*", left=c_ast.BinaryOp() as left, right=right):
            return binary("*", _wide(left), right)
        case c_ast.BinaryOp(op="*", left=left, right=right):
            return binary("*", as_long(left), right)
        case _:
            return term


class _Replacing(Rewriter):
    """Puts other elements in the place of some, by identity."""

    def __init__(self, places: Mapping[int, Node]) -> None:
        self._places = places

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        new = self._places.get(id(node))
        return self.generic(node if new is None else new)
