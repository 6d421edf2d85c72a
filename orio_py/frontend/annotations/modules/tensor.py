"""Tensor: the leader holds contractions in index notation, which stand for their loops with the recipe `Contract`.

    memory: column
    variables: c: (16, 16)  a: (16, 16)  b: (16, 16)
    operations: c:(i,j) += a:(i,k) * b:(k,j)

The tensors are arrays of the surrounding function.  The choices of each statement are tuning parameters, named after
its output: `ORDER_c`, `ROWS_c`, `COLUMNS_c`, `PACK_c`, `UNROLL_c`, `AHEAD_c`,
`SUMS_c`.  Temporary tensors, of products of several tensors and of common products, are arrays of a block around the loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orio_py.core.diagnostics import DiagnosticError
from orio_py.core.expr import evaluate
from orio_py.core.source import Position
from orio_py.frontend.annotations.module import Annotation, CodeModule, RegionParts
from orio_py.frontend.expressions import parse_expression
from orio_py.frontend.tensor.program import read_program
from orio_py.frontend.tuning.values import parameter_values
from orio_py.spec.parameter import Parameter
from orio_py.spec.recipe import Argument, MarkedRecipe, RecipeStep
from orio_py.tensors.common_products import with_common_products
from orio_py.tensors.contraction import TensorProgram
from orio_py.tensors.contraction_order import pairwise
from orio_py.tensors.nests import nest
from orio_py.tensors.tile_choices import Choices, argument_texts, parameter_texts, tile_choices

_MOST_LOCAL = 32768
"""Elements of temporary tensors on the stack: 256 KiB of `double`, an eighth of what threads commonly have."""


def _read(annotation: Annotation) -> RegionParts:
    """Problems: ORIO-N001 to N015, C…."""
    program = _lowered(read_program(annotation.source, annotation.leader.body, ""))
    choices = [tile_choices(statement, program) for statement in program.contractions]
    names = list(_names(program))
    start = annotation.leader.body.start
    local = [f"{program.type} {t.name}[{t.size}];" for t in program.tensors if t.is_temporary]
    text = " ".join(["{", *local]) if local else ""
    marks: dict[int, int] = {}
    steps: list[RecipeStep] = []
    for statement, chosen, name in zip(program.contractions, choices, names, strict=True):
        made = nest(statement, program)
        text += " ".join(made.before)
        if made.has_loops:
            marks[start + len(text)] = len(steps)
            steps.append(_step(chosen, name, statement.position or annotation.position))
        text += " " + " ".join(line.strip() for line in made.lines)
    text += " }" if local else ""
    parameters = [
        parameter
        for chosen, name in zip(choices, names, strict=True)
        for parameter in _parameters(chosen, name, annotation)
    ]
    try:
        tree, plain = annotation.parsed(text, start, marks), annotation.parsed(text, start)
    except DiagnosticError as error:
        moved = (replace(p, position=annotation.position, notes=()) for p in error.diagnostics)
        raise DiagnosticError(*moved) from None
    return RegionParts(tree, MarkedRecipe(tuple(steps), tuple(parameters)), plain)


def _lowered(program: TensorProgram) -> TensorProgram:
    """The program with products of two, unless the temporary tensors are too large for the stack."""
    found = pairwise(with_common_products(program))
    size = sum(tensor.size for tensor in found.tensors if tensor.is_temporary)
    return found if size <= _MOST_LOCAL else program


def _names(program: TensorProgram) -> Iterator[str]:
    """What the parameters of each statement end with: its output, and a number from the second time on."""
    seen: dict[str, int] = {}
    for statement in program.contractions:
        name = statement.output.tensor.name
        seen[name] = seen.get(name, 0) + 1
        yield f"_{name}" if seen[name] == 1 else f"_{name}_{seen[name]}"


def _step(choices: Choices, suffix: str, place: Position) -> RecipeStep:
    texts = argument_texts(choices, suffix)
    arguments = (Argument(name, parse_expression(text), place) for name, text in texts.items())
    return RecipeStep("Contract", tuple(arguments), place)


def _parameters(choices: Choices, suffix: str, annotation: Annotation) -> Iterator[Parameter]:
    for name, text in parameter_texts(choices, suffix).items():
        values = evaluate(parse_expression(text), {})
        listed = parameter_values(name, values, True, annotation.position, annotation.problems)
        yield Parameter(name, listed, annotation.position)


MODULE = CodeModule("Tensor", _read)
