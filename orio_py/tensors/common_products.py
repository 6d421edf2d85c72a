"""Products of two tensors that several places of a program have are computed once.

    v(i,j) += a(i,k) * b(k,l) * c(l,j)          common(i,l) = a(i,k) * b(k,l)
    w(m,n) -= b(k,n) * a(m,k)                   v(i,j) += common(i,l) * c(l,j)
                                                w(m,n) -= common(m,n)

Two products are the same where they have the same tensors with the same indices up to names, sum over the same ones, and
nothing in between writes to their tensors: value numbering (J. Cocke, J. Schwartz, "Programming languages and their
compilers", 1970) with a number for each content of a tensor.  Larger common products are found step by step.  Each step
is taken only where it saves work: operations, and elements that are moved.  As when products of several tensors are taken
apart, a sum is formed before it goes to the output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations

from orio_py.core.names import NameSupply
from orio_py.tensors.contraction import Contraction, Tensor, TensorProgram, TensorReference
from orio_py.tensors.contraction_order import pairwise

_MOVED = 8
"""Operations that take as long as moving an element of 8 bytes, where a core does one for each byte that it moves."""


def with_common_products(program: TensorProgram) -> TensorProgram:
    """The program with products of two tensors that it has several times in temporary tensors, where that saves work."""
    work = _work(program)
    while True:
        steps = [(_work(step), number, step) for number, step in enumerate(_steps(program))]
        if not steps or min(steps)[0] >= work:
            return program
        work, _, program = min(steps)


@dataclass(frozen=True, slots=True)
class _Product:
    """Two operands of a statement by their places, and the product's indices in an order that equal ones share."""

    statement: int
    places: tuple[int, int]
    indices: tuple[str, ...]


def _work(program: TensorProgram) -> int:
    """Operations, and elements that are moved, of a program whose products are taken apart; in operations."""
    statements = pairwise(program).contractions
    moved = sum(part.tensor.size for s in statements for part in (s.output, s.output, *s.operands))
    return sum(statement.operations for statement in statements) + _MOVED * moved


def _steps(program: TensorProgram) -> Iterator[TensorProgram]:
    """The programs in which one common product is computed once."""
    largest = max(tensor.size for tensor in program.tensors)
    for products in _common(program):
        first, *later = products
        statements = list(program.contractions)
        made, before = statements[first.statement].output, list[Contraction]()
        if not _is_kept(first, later, program):
            before = [_by_itself(statements[first.statement], first, program)]
            made, later = before[0].output, products
        if made.tensor.size > largest:
            continue
        for number in {product.statement for product in later}:
            inside = [product for product in later if product.statement == number]
            statements[number] = _with_reference(statements[number], inside, first, made)
        statements[first.statement : first.statement] = before
        tensors = (*program.tensors, *(statement.output.tensor for statement in before))
        yield replace(program, tensors=tensors, contractions=tuple(statements))


def _common(program: TensorProgram) -> Iterator[Sequence[_Product]]:
    """Products that stand in several places, each with its places in the order of the text."""
    contents: Counter[str] = Counter()
    found: dict[tuple[object, ...], list[_Product]] = {}
    for number, statement in enumerate(program.contractions):
        for places in combinations(range(len(statement.operands)), 2):
            key, indices = _key(statement, places, contents)
            taken = {p for other in found.get(key, ()) if other.statement == number for p in other.places}
            if not taken & set(places):
                found.setdefault(key, []).append(_Product(number, places, indices))
        contents[statement.output.tensor.name] += 1
    yield from (products for products in found.values() if len(products) > 1)


def _key(
    statement: Contraction, places: tuple[int, int], contents: Mapping[str, int]
) -> tuple[tuple[object, ...], tuple[str, ...]]:
    """What equal products share, whatever the names of their indices and their order, and the indices that are left.

    `contents` has a number for what a tensor holds at the statement.
    """
    others = [operand for place, operand in enumerate(statement.operands) if place not in places]
    needed = {index for part in (statement.output, *others) for index in part.indices}
    forms: list[tuple[tuple[object, ...], tuple[str, ...]]] = []
    for order in permutations(statement.operands[place] for place in places):
        numbers: dict[str, int] = {}
        for operand in order:
            for index in operand.indices:
                numbers.setdefault(index, len(numbers))
        tensors = [
            (o.tensor.name, contents.get(o.tensor.name, 0), tuple(numbers[i] for i in o.indices))
            for o in order
        ]
        left = tuple(index for index in numbers if index in needed)
        forms.append(((*tensors, tuple(numbers[index] for index in left)), left))
    return min(forms)


def _is_kept(first: _Product, later: Sequence[_Product], program: TensorProgram) -> bool:
    """Whether the first statement is nothing but the product, and its output still holds it at all others."""
    statement = program.contractions[first.statement]
    if statement.operator != "=" or statement.factor or len(statement.operands) > 2:
        return False
    last = max(product.statement for product in later)
    written = [other.output.tensor.name for other in program.contractions[first.statement + 1 : last + 1]]
    return statement.output.tensor.name not in written


def _by_itself(statement: Contraction, product: _Product, program: TensorProgram) -> Contraction:
    """The product as a statement with a temporary tensor for output."""
    indices = {index for other in program.contractions for index in other.extents}
    name = NameSupply({t.name for t in program.tensors} | indices | {program.name}).fresh("common")
    left = tuple(sorted(product.indices, key=[*statement.output.indices, *product.indices].index))
    extents = tuple(statement.extents[index] for index in left)
    made = Tensor(name, extents, statement.output.tensor.layout, is_temporary=True)
    operands = tuple(statement.operands[place] for place in product.places)
    return Contraction(TensorReference(made, left), "=", operands, position=statement.position)


def _with_reference(
    statement: Contraction, products: Sequence[_Product], first: _Product, made: TensorReference
) -> Contraction:
    """The statement with the tensor that holds a product in place of it."""
    operands: dict[int, TensorReference] = dict(enumerate(statement.operands))
    for product in products:
        names = dict(zip(first.indices, product.indices, strict=True))
        one, two = product.places
        operands[one] = TensorReference(made.tensor, tuple(names[index] for index in made.indices))
        del operands[two]
    return replace(statement, operands=tuple(operands.values()))
