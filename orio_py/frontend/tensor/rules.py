"""What the indices of a statement have to keep, however it is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orio_py.core.diagnostics import Diagnostic, Note
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position
from orio_py.tensors.contraction import Contraction

WORDS = {
    "access": ("linearized", "linearize", "multidimensional"),
    "memory": ("row", "column"),
    "pattern": ("contiguous", "strided"),
    "type": ("double", "float"),
    "diagonal": ("refused", "allowed"),
}
"""The options with their words; the first one is the default."""

MOST_ELEMENTS = 2**31 - 1
"""What subscripts of type `int` can count."""


def word_problems(option: str, word: str, place: Position | None = None) -> Iterator[Diagnostic]:
    """Problems: ORIO-N002, where an option has no such word."""
    if word not in WORDS[option]:
        known = ", ".join(f"`{w}`" for w in WORDS[option])
        message = f"`{option}` is `{word}`; it must be one of {known}"
        yield Diagnostic("ORIO-N002", message, place, help=did_you_mean(word, WORDS[option]))


def statement_problems(
    statement: Contraction, places: Sequence[Sequence[Position]], *, diagonals: bool
) -> Iterator[Diagnostic]:
    """Problems: ORIO-N007 to N010.

    `places` has for the output and each operand where it stands and where its indices stand; `diagonals` says that
    an index may stand twice in an operand.
    """
    yield from _two_extents(statement, places)
    yield from _aliases(statement, places)
    yield from _repeated(statement, places, diagonals=diagonals)
    yield from _not_on_the_right(statement, places[0])


def _two_extents(statement: Contraction, places: Sequence[Sequence[Position]]) -> Iterator[Diagnostic]:
    seen: dict[str, tuple[int, Position]] = {}
    for part, where in zip((statement.output, *statement.operands), places, strict=True):
        for (index, extent), place in zip(part.pairs(), where[1:], strict=True):
            first, at = seen.setdefault(index, (extent, place))
            if first != extent:
                message = f"the index `{index}` runs over {extent} elements of `{part.tensor.name}`, and over {first} elsewhere"
                yield Diagnostic("ORIO-N007", message, place, notes=(Note(f"{first} elements are here", at),))


def _aliases(statement: Contraction, places: Sequence[Sequence[Position]]) -> Iterator[Diagnostic]:
    name = statement.output.tensor.name
    for operand, where in zip(statement.operands, places[1:], strict=True):
        if operand.tensor.name == name:
            message = f"`{name}` is the output and an operand of one statement"
            yield Diagnostic(
                "ORIO-N008",
                message,
                where[0],
                help="write the result to a tensor of its own; sums are taken into the output with `+=`",
            )


def _repeated(
    statement: Contraction, places: Sequence[Sequence[Position]], *, diagonals: bool
) -> Iterator[Diagnostic]:
    for part, where in zip((statement.output, *statement.operands), places, strict=True):
        if diagonals and part is not statement.output:
            continue
        for number, index in enumerate(part.indices):
            if index in part.indices[:number]:
                advice = None if part is statement.output else "`diagonal: allowed` takes it for the diagonal"
                message = f"the index `{index}` stands twice in `{part.tensor.name}`"
                yield Diagnostic("ORIO-N009", message, where[number + 1], help=advice)


def _not_on_the_right(statement: Contraction, where: Sequence[Position]) -> Iterator[Diagnostic]:
    right = {index for operand in statement.operands for index in operand.indices}
    for index, place in zip(statement.output.indices, where[1:], strict=True):
        if index not in right:
            lost = sorted(right - set(statement.output.indices))
            advice = f"is `{lost[0]}` meant? It stands on the right only" if lost else None
            message = f"the index `{index}` of the output stands nowhere on the right-hand side"
            yield Diagnostic("ORIO-N010", message, place, help=advice)
