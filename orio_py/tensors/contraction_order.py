"""Products of several tensors as a chain of products of two, with temporary tensors between them.

    v(i,j,k) += a(l,k) * b(m,j) * c(n,i) * u(l,m,n)          O(n^6)
    t0(m,n,k) = u(l,m,n) * a(l,k)                            O(n^4)
    t1(n,j,k) = t0(m,n,k) * b(m,j)                           O(n^4)
    v(i,j,k) += t1(n,j,k) * c(n,i)                           O(n^4)

The order with the fewest operations is found by opt_einsum (D. Smith, J. Gray, "opt_einsum – a Python package for
optimizing contraction order for einsum-like expressions", JOSS 3(26), 2018).  Sums are formed in another order than
in the product as written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from orio_py.core.names import NameSupply
from orio_py.tensors.contraction import Contraction, Tensor, TensorProgram, TensorReference

_MOST_OPTIMAL = 7
"""Operands up to which every order is looked at; beyond, opt_einsum chooses how to look for a good one."""


def pairwise(program: TensorProgram) -> TensorProgram:
    """The program with products of more than two tensors in the cheapest order, where that saves operations."""
    indices = {index for statement in program.contractions for index in statement.extents}
    supply = NameSupply({tensor.name for tensor in program.tensors} | indices | {program.name})
    statements: list[Contraction] = []
    temporaries: list[Tensor] = []
    for statement in program.contractions:
        chain = _chain(statement, supply) if len(statement.operands) > 2 else [statement]
        if sum(part.operations for part in chain) >= statement.operations:
            chain = [statement]
        statements += chain
        temporaries += [part.output.tensor for part in chain[:-1]]
    if not temporaries:
        return program
    return replace(program, tensors=(*program.tensors, *temporaries), contractions=tuple(statements))


def derivation(before: TensorProgram, after: TensorProgram) -> str:
    """What became of products that were taken apart or are computed once, for people; empty where nothing did."""
    if before == after:
        return ""
    parts = [
        *(f"{statement}    {order(statement)}" for statement in before.contractions),
        "becomes",
        *(f"{statement}    {order(statement)}{_uses(statement, after)}" for statement in after.contractions),
        f"with {after.operations} operations instead of {before.operations}",
    ]
    return "\n".join(parts)


def _uses(statement: Contraction, program: TensorProgram) -> str:
    """For how many products a temporary tensor stands, where these are several."""
    name = statement.output.tensor.name
    uses = sum(o.tensor.name == name for other in program.contractions for o in other.operands)
    return f", once for {uses} products" if statement.output.tensor.is_temporary and uses > 1 else ""


def order(statement: Contraction) -> str:
    """How the work grows with the size of each index: `O(n^4)`."""
    return f"O(n^{len(statement.extents)})"


def _chain(statement: Contraction, supply: NameSupply) -> list[Contraction]:
    """The statement in the order that opt_einsum finds."""
    operands = list(statement.operands)
    chain: list[Contraction] = []
    path = _path(statement)
    for number, step in enumerate(path):
        taken = [operands[place] for place in step]
        operands = [operand for place, operand in enumerate(operands) if place not in step]
        if number == len(path) - 1:
            chain.append(replace(statement, operands=tuple(taken)))
            break
        kept = _kept(statement, taken, operands)
        extents = tuple(statement.extents[index] for index in kept)
        made = Tensor(supply.fresh("part"), extents, statement.output.tensor.layout, is_temporary=True)
        chain.append(Contraction(TensorReference(made, kept), "=", tuple(taken), position=statement.position))
        operands.append(chain[-1].output)
    return chain


def _kept(
    statement: Contraction, taken: Sequence[TensorReference], left: Sequence[TensorReference]
) -> tuple[str, ...]:
    """The indices of a partial product that something needs later, in the order of the output."""
    needed = {index for part in (statement.output, *left) for index in part.indices}
    found = [index for part in taken for index in part.indices if index in needed]
    wish = [index for index in statement.output.indices if index in found]
    return tuple(dict.fromkeys([*wish, *found]))


def _path(statement: Contraction) -> list[tuple[int, ...]]:
    """The places of the operands that each step multiplies; results go to the end."""
    import opt_einsum  # takes time to load, and most files have no contraction

    letters = {index: opt_einsum.get_symbol(number) for number, index in enumerate(statement.extents)}
    parts = ["".join(letters[index] for index in operand.indices) for operand in statement.operands]
    target = "".join(letters[index] for index in statement.output.indices)
    shapes = [operand.tensor.extents for operand in statement.operands]
    how = "optimal" if len(parts) <= _MOST_OPTIMAL else "auto"
    limit = max(prod(shape) for shape in (*shapes, statement.output.tensor.extents))
    text = f"{','.join(parts)}->{target}"
    path, _ = opt_einsum.contract_path(text, *shapes, shapes=True, optimize=how, memory_limit=limit)
    return path
