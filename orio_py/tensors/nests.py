"""Contractions as loops in C.

    t3(h3,h2) -= t2(h7,h2) * v2(h3,h7)      for (int h2 = 0; h2 < 16; h2++)
                                              for (int h3 = 0; h3 < 16; h3++)
                                                for (int h7 = 0; h7 < 16; h7++)
                                                  t3[h3 + 16 * h2] -= t2[h7 + 16 * h2] * v2[h3 + 16 * h7];

Sizes are numbers, so that compilers and transformations know them.  An `=` with a sum begins with 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orio_py.tensors.contraction import (
    Contraction,
    SubscriptForm,
    Tensor,
    TensorProgram,
    TensorReference,
)


def element(reference: TensorReference, form: SubscriptForm) -> str:
    """The element that a reference means, as C text; a tensor of order 0 is an array of one element."""
    inner = reference.fastest_first
    if not inner:
        return f"{reference.tensor.name}[0]"
    if form is SubscriptForm.MULTIDIMENSIONAL and not reference.tensor.is_temporary:
        return reference.tensor.name + "".join(f"[{index}]" for index in reversed(inner))
    extents = [reference.tensor.extents[d] for d in reference.tensor.fastest_first]
    text = inner[-1]
    for number in reversed(range(len(inner) - 1)):
        held = text if text.isidentifier() else f"({text})"
        text = f"{inner[number]} + {extents[number]} * {held}"
    return f"{reference.tensor.name}[{text}]"


def parameter(tensor: Tensor, program: TensorProgram) -> str:
    """The declaration of a tensor as a parameter.

    It promises that tensors do not overlap, which changes nothing for callers: qualifiers of a parameter itself are
    no part of a function's type (C99 6.7.5.3, paragraph 15).
    """
    if program.access is SubscriptForm.LINEARIZED or not tensor.extents:
        return f"{program.type} *restrict {tensor.name}"
    first, *others = [tensor.extents[d] for d in reversed(tensor.fastest_first)]
    return f"{program.type} {tensor.name}[restrict {first}]" + "".join(f"[{extent}]" for extent in others)


def header(program: TensorProgram) -> str:
    """The function's header."""
    parameters = ", ".join(parameter(tensor, program) for tensor in program.parameters)
    return f"void {program.name}({parameters or 'void'})"


@dataclass(frozen=True, slots=True)
class NestText:
    """A statement's loops as lines, and what stands before them: the 0 of a sum that no loop is around."""

    lines: tuple[str, ...]
    before: tuple[str, ...] = ()

    @property
    def has_loops(self) -> bool:
        """Whether there is any loop."""
        return self.lines[0].startswith("for")


def nest(statement: Contraction, program: TensorProgram, without: Sequence[str] = ()) -> NestText:
    """The loops of a statement, but those over the indices `without`."""
    target = element(statement.output, program.access)
    factors = [*([statement.factor] if statement.factor else [])]
    factors += [element(operand, program.access) for operand in statement.operands]
    product = " * ".join(factors)
    loops = [index for index in statement.loops(program.pattern) if index not in without]
    free = [_loop(index, statement) for index in loops if index in statement.free]
    summed = [_loop(index, statement) for index in loops if index not in statement.free]
    if statement.operator != "=" or not summed:
        return NestText(_nested([*free, *summed, f"{target} {statement.operator} {product};"]))
    zero, sums = f"{target} = 0;", _nested([*summed, f"{target} += {product};"])
    if not free:
        return NestText(sums, (zero,))
    last = "  " * (len(free) - 1)
    inner = (f"{last}  {line}" for line in (zero, *sums))
    return NestText((*_nested(free)[:-1], f"{last}{free[-1]} {{", *inner, f"{last}}}"))


def _loop(index: str, statement: Contraction) -> str:
    return f"for (int {index} = 0; {index} < {statement.extents[index]}; {index}++)"


def _nested(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{'  ' * depth}{line}" for depth, line in enumerate(lines))
