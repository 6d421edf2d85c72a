"""Random programs of tensor contractions, and what they compute by `numpy.einsum`."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from c_trees import transformed_file

from orio_py.core.expr import Value
from orio_py.core.source import SourceFile, Span
from orio_py.frontend.tensor.program import read_program
from orio_py.tensors.annotated import annotated_file, shared_loops
from orio_py.tensors.common_products import with_common_products
from orio_py.tensors.contraction import Contraction, TensorLayout, TensorProgram, TensorReference
from orio_py.tensors.contraction_order import pairwise
from orio_py.tensors.tile_choices import tile_choices

EXTENTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 15, 17)
INDICES = "abcdefghijklmnop"
MOST_ITERATIONS = 20000


@dataclass(frozen=True, slots=True)
class Example:
    """A program as text, its variant in C for some values of its parameters, and both as values."""

    text: str
    program: TensorProgram
    code: str


def random_example(draw: random.Random, name: str) -> Example:
    """One statement, or several that may pass temporary tensors on, and one of its variants."""
    text = random_program(draw, name)
    program = read_program(SourceFile("p.tensor", text.encode()), Span(0, len(text)))
    lowered = pairwise(with_common_products(program)) if draw.random() < 0.7 else program
    threads = draw.random() < 0.2
    code = transformed_file(annotated_file(lowered, threads=threads), _values(draw, lowered, threads=threads))
    return Example(text, program, code)


def random_program(draw: random.Random, name: str) -> str:
    """A program as text."""
    sizes: dict[str, int] = {}
    for index in INDICES:
        sizes[index] = draw.choice(EXTENTS)
    tensors: dict[str, tuple[int, ...]] = {}
    count = draw.choice((1, 1, 1, 2, 3))
    statements = [_statement(draw, number, sizes, tensors) for number in range(count)]
    if draw.random() < 0.3:
        statements += _again(draw, statements[0], tensors)
    layouts = {tensor: draw.choice(("", " row", " column")) for tensor in tensors}
    declared = "\n".join(
        f"  {tensor}: ({', '.join(map(str, shape))}){layouts[tensor]}" if shape else f"  {tensor}: 0"
        for tensor, shape in tensors.items()
    )
    options = [
        f"memory: {draw.choice(('row', 'column'))}",
        f"pattern: {draw.choice(('contiguous', 'strided'))}",
    ]
    options += ["access: multidimensional"] * (draw.random() < 0.25) + ["diagonal: allowed"]
    body = "\n  ".join(statements)
    return f"{name}\n" + "\n".join(options) + f"\nvariables:\n{declared}\noperations:\n  {body}\n"


def _statement(
    draw: random.Random, number: int, sizes: Mapping[str, int], tensors: dict[str, tuple[int, ...]]
) -> str:
    """A statement; its tensors are added to those that there are."""
    while True:
        used = draw.sample(INDICES, draw.randint(0, 7))
        if prod(sizes[index] for index in used) <= MOST_ITERATIONS:
            break
    count = draw.choice((1, 2, 2, 2, 3, 4))
    parts: list[list[str]] = [[] for _ in range(count)]
    for index in used:
        for place in draw.sample(range(count), draw.randint(1, min(2, count))):
            parts[place].append(index)
    for part in parts:
        draw.shuffle(part)
        if part and len(part) < 5 and draw.random() < 0.1:
            part.append(draw.choice(part))
    free = [index for index in used if draw.random() < 0.6][:6]
    draw.shuffle(free)
    target = f"x{number}"
    tensors[target] = tuple(sizes[index] for index in free)
    factors: list[str] = []
    for place, part in enumerate(parts):
        earlier = [n for n, s in tensors.items() if n != target and s == tuple(sizes[i] for i in part)]
        tensor = draw.choice(earlier) if earlier and draw.random() < 0.5 else f"y{number}_{place}"
        tensors[tensor] = tuple(sizes[index] for index in part)
        factors.append(f"{tensor}:({','.join(part)})" if part else tensor)
    if draw.random() < 0.3:
        factors.insert(draw.randint(0, len(factors)), draw.choice(("2", "0.5", "1.25e1")))
    sign = draw.choice(("", "", "-"))
    return f"{target}:({','.join(free)}) {draw.choice(('+=', '-=', '='))} {sign}{' * '.join(factors)}"


def _again(draw: random.Random, statement: str, tensors: dict[str, tuple[int, ...]]) -> Iterator[str]:
    """The products of a statement once more, with other names and orders, and perhaps behind a write to an operand."""
    target, operator, product = re.split(r" ([+-]?=) ", statement)
    factors = product.removeprefix("-").split(" * ")
    names = sorted(set(re.findall(r"\b[a-p]\b", statement)))
    others = dict(zip(names, draw.sample(names, len(names)), strict=True))
    read = [factor for factor in factors if "(" in factor]
    if read and draw.random() < 0.3:
        again = read[0].partition(":")[0]
        indices = ",".join(INDICES[: len(tensors[again])])
        tensors["z"] = tensors[again]
        yield f"{again}:({indices}) {draw.choice(('+=', '='))} 0.5 * z:({indices})"
    draw.shuffle(factors)
    free: list[str] = re.findall(r"\b[a-p]\b", target)
    order = draw.sample(range(len(free)), len(free))
    extents = tensors[target.partition(":")[0]]
    tensors["x9"] = tuple(extents[place] for place in order)
    indices = ",".join(others[free[place]] for place in order)
    renamed = re.sub(r"\b[a-p]\b", lambda found: others[found[0]], " * ".join(factors))
    yield f"x9:({indices}) {draw.choice((operator, '+=', '-='))} {renamed}"


def _values(draw: random.Random, program: TensorProgram, *, threads: bool) -> Mapping[str, Value]:
    """Values of all parameters."""
    shared = () if threads else shared_loops(program)
    values: dict[str, Value] = {}
    for number, statement in enumerate(program.contractions):
        choices = tile_choices(statement, program, shared)
        for name, listed in (
            ("ORDER", choices.orders),
            ("ROWS", choices.rows),
            ("COLUMNS", choices.columns),
            ("PACK", choices.packs),
            ("UNROLL", choices.unrolls),
            ("AHEAD", choices.ahead),
            ("SUMS", choices.sums),
        ):
            value = draw.choice(list(listed))
            values[f"{name}{number}"] = value if isinstance(value, (int, str)) else list(value)
    return values


def arrays_for(program: TensorProgram, seed: int) -> dict[str, np.ndarray]:
    """Contents of the tensors, in the order of the index lists."""
    numbers = np.random.default_rng(seed)
    return {
        tensor.name: np.asarray(
            numbers.random(tensor.extents), order="F" if tensor.layout is TensorLayout.COLUMN else "C"
        )
        for tensor in program.tensors
    }


def expected(program: TensorProgram, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the tensors hold after the statements, by `numpy.einsum`."""
    arrays = {name: array.copy() for name, array in given.items()}
    for statement in program.contractions:
        arrays[statement.output.tensor.name] = _computed(statement, arrays)
    return arrays


def _computed(statement: Contraction, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    letters = {index: place for place, index in enumerate(statement.extents)}

    def places(reference: TensorReference) -> list[int]:
        return [letters[index] for index in reference.indices]

    operands: Sequence[object] = [
        part for operand in statement.operands for part in (arrays[operand.tensor.name], places(operand))
    ]
    product = np.einsum(*operands, places(statement.output))  # type: ignore[call-overload]
    scaled = product * prod(map(float, statement.factor.split(" * "))) if statement.factor else product
    old = arrays[statement.output.tensor.name]
    match statement.operator:
        case "+=":
            return old + scaled
        case "-=":
            return old - scaled
        case _:
            return np.broadcast_to(scaled, old.shape).copy()
