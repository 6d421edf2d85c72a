"""Partly evaluated constraints: what is left of an expression once some parameters have values.

Two residues that compare equal accept the same values of the remaining parameters, which is what lets
the space's structure share them.  Integer arithmetic is kept as polynomials, so that `2 * J * 6` and
`3 * J * 4` are the same residue, and comparisons are decided early from the range of the polynomial.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from orio_py.core.expr import Value
from orio_py.search_space.configuration import value_key
from orio_py.search_space.polynomial import Polynomial


@dataclass(frozen=True, slots=True)
class ConstantTerm:
    """A value; compared together with its type."""

    key: Hashable
    value: Value = field(compare=False)
    mask: ClassVar[int] = 0


@dataclass(frozen=True, slots=True)
class Failed:
    """The expression cannot be evaluated: a division by zero, a type error."""

    mask: ClassVar[int] = 0


@dataclass(frozen=True, slots=True)
class Free:
    """A parameter whose values are not all plain integers; `is_whole` if they are integers or booleans,
    which count as 0 and 1 in arithmetic.
    """

    index: int
    is_whole: bool
    mask: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Whole:
    """A polynomial over integer parameters that is not constant."""

    polynomial: Polynomial
    mask: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class PolynomialRelation:
    """`polynomial < 0`, `== 0` or `!= 0`."""

    operator: str
    polynomial: Polynomial
    mask: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Operation:
    """A piece of the written expression as a function of named arguments; equal only to itself."""

    serial: int
    names: tuple[str, ...] = field(compare=False)
    run: Callable[[Mapping[str, Value]], Value] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Applied:
    """An operation whose arguments are not all known yet."""

    operation: Operation
    arguments: tuple[Term, ...]
    mask: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Junction:
    """A chain of `and` or `or`, of which only the truth matters."""

    operator: str
    operands: tuple[Term, ...]
    mask: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Negation:
    """`not operand`."""

    operand: Term
    mask: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class ConditionalTerm:
    """`then if condition else otherwise` with an open condition."""

    condition: Term
    then: Term
    otherwise: Term
    mask: int = field(compare=False)


Term: TypeAlias = (
    ConstantTerm
    | Failed
    | Free
    | Whole
    | PolynomialRelation
    | Applied
    | Junction
    | Negation
    | ConditionalTerm
)
"""What is left of an expression; `mask` is the bit set of the parameters that are still open."""

FAILED = Failed()


def known(value: Value) -> ConstantTerm:
    """A value as a term."""
    return ConstantTerm(value_key(value), value)


TRUE = known(True)
FALSE = known(False)


def is_total(term: Term) -> bool:
    """Whether no values of the open parameters can make the term fail."""
    match term:
        case ConstantTerm() | Free() | Whole() | PolynomialRelation():
            return True
        case Failed() | Applied():
            return False
        case Junction(operands=operands):
            return all(is_total(operand) for operand in operands)
        case Negation(operand):
            return is_total(operand)
        case ConditionalTerm(condition, then, otherwise):
            return is_total(condition) and is_total(then) and is_total(otherwise)


def work(term: Term) -> int:
    """What giving a value to a parameter of the term costs, in edges of a structure."""
    match term:
        case ConstantTerm() | Failed() | Free() | Whole():
            return 1
        case PolynomialRelation(polynomial=polynomial):
            return 5 + len(polynomial) // 2
        case Applied(arguments=terms) | Junction(operands=terms):
            return 10 + sum(work(part) for part in terms)
        case Negation(operand):
            return 2 + work(operand)
        case ConditionalTerm(condition, then, otherwise):
            return 3 + work(condition) + work(then) + work(otherwise)
