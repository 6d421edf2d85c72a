"""The annotated C file of a program: a function with plain loops, and how they are tuned.

It goes the way of every annotated file: it is checked, tuned, and written back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from orio_py.tensors.contraction import Contraction, Tensor, TensorProgram
from orio_py.tensors.nests import header, nest
from orio_py.tensors.statement_recipe import group_decompositions, statement_recipe
from orio_py.tensors.tile_choices import Choices, argument_texts, parameter_texts, tile_choices

BUILD_COMMAND = "gcc -O3 -march=native"
_REPETITIONS = 3


def annotated_file(program: TensorProgram, *, threads: bool = False, ranked: bool = True) -> str:
    """The text of the file; with `threads`, outermost loops are shared out by OpenMP.

    Values of parameters that are `ranked` too low are left out.
    """
    lines = [*commented(program), "", header(program), "{", *indented(allocations(program))]
    shared = () if threads else shared_loops(program)
    groups = [program.contractions] if shared else [(statement,) for statement in program.contractions]
    number = 0
    for group in groups:
        if not group[0].extents:
            lines += indented(nest(group[0], program).lines)
            number += 1
            continue
        lines += indented(_region(group, number, program, shared, threads=threads, ranked=ranked))
        number += len(group)
    return "\n".join([*lines, *indented(releases(program)), "}"]) + "\n"


def commented(program: TensorProgram) -> list[str]:
    """The beginning of a file: what it computes, and the header that temporary tensors need."""
    statements = (f" *   {statement}" for statement in program.contractions)
    lines = ["/* Tensor contractions:", *statements, f" * with {program.settings}", " */"]
    return lines + ["#include <stdlib.h>"] * any(tensor.is_temporary for tensor in program.tensors)


def allocations(program: TensorProgram) -> Iterator[str]:
    """Memory for the temporary tensors."""
    for tensor in program.tensors:
        if tensor.is_temporary:
            size = f"{tensor.size} * sizeof({program.type})"
            yield f"{program.type} *restrict {tensor.name} = malloc({size});"
            yield f"if ({tensor.name} == NULL) abort();"


def releases(program: TensorProgram) -> Iterator[str]:
    """The end of their memory."""
    yield from (f"free({tensor.name});" for tensor in program.tensors if tensor.is_temporary)


def device_file(program: TensorProgram) -> str:
    """The text of the file for GPUs: one region with all statements, and the recipe by statement number."""
    lines = commented(program)
    recipe = statement_recipe(program, alternatives=True).splitlines()
    nests = [line for statement in program.contractions for line in nest(statement, program).lines]
    region = [
        "/*@ begin PerfTuning(",
        *indented(input_lines(program.contractions, program)),
        ") @*/",
        "/*@ begin CHiLL(",
        *indented(recipe),
        ") @*/",
        *nests,
        "/*@ end @*/",
        "/*@ end @*/",
    ]
    return "\n".join([*lines, "", header(program), "{", *indented(region), "}"]) + "\n"


def has_device_file(program: TensorProgram) -> bool:
    """Whether every statement can become a kernel: it adds, or has no sum, and its output has two loops to map."""
    adds = all(s.operator != "=" or not s.contracted for s in program.contractions)
    return adds and all(group_decompositions(program)) and not any(t.is_temporary for t in program.tensors)


def shared_loops(program: TensorProgram) -> tuple[str, ...]:
    """The outermost loop that all statements have, where each tensor that one writes has its index in one dimension.

    Then statements work on the same part of the tensors one after the other, while it is in the cache.
    """
    statements = program.contractions
    first = statements[0].loops(program.pattern)[:1]
    if len(statements) < 2 or not first or not all(first[0] in s.free for s in statements):
        return ()
    index, extent = first[0], statements[0].extents[first[0]]
    written = {statement.output.tensor.name for statement in statements}
    places: dict[str, set[tuple[int, ...]]] = {}
    for statement in statements:
        for part in (statement.output, *statement.operands):
            at = tuple(place for place, other in enumerate(part.indices) if other == index)
            places.setdefault(part.tensor.name, set()).add(at)
    same = all(len(places[name]) == 1 and len(next(iter(places[name]))) == 1 for name in written)
    outermost = all(s.loops(program.pattern)[0] == index and s.extents[index] == extent for s in statements)
    return (index,) if same and outermost else ()


def _region(
    group: Sequence[Contraction],
    first: int,
    program: TensorProgram,
    shared: Sequence[str],
    *,
    threads: bool,
    ranked: bool,
) -> Iterator[str]:
    found = [tile_choices(statement, program, shared, ranked=ranked) for statement in group]
    nests = [nest(statement, program, shared) for statement in group]
    if not shared:
        yield from nests[0].before
    yield "/*@ begin PerfTuning("
    yield from indented(_specification(group, found, first, program))
    yield ") @*/"
    recipes = [_recipe(choices, first + k, threads=threads) for k, choices in enumerate(found)]
    if not shared:
        yield from ("/*@ begin Loop(", f"  {recipes[0]}", ") @*/", *nests[0].lines)
    else:
        (index,) = shared
        around = f"for (int {index} = 0; {index} < {group[0].extents[index]}; {index}++) {{"
        marked = [
            line
            for recipe, made in zip(recipes, nests, strict=True)
            for line in (*made.before, *([recipe] if made.has_loops else []), *made.lines)
        ]
        plain = [line for made in nests for line in (*made.before, *made.lines)]
        yield from ("/*@ begin Loop(", *indented([around, *indented(marked), "}"]), ") @*/")
        yield from (around, *indented(plain), "}")
    yield from ("/*@ end @*/", "/*@ end @*/")


def _recipe(choices: Choices, number: int, *, threads: bool) -> str:
    texts = argument_texts(choices, str(number))
    if threads and any(choices.orders[0]):
        texts = {**texts, "parallel": "True"}
    return f"transform Contract({', '.join(f'{name}={text}' for name, text in texts.items())})"


def _specification(
    group: Sequence[Contraction], found: Sequence[Choices], first: int, program: TensorProgram
) -> Iterator[str]:
    yield f"def build {{ arg build_command = '{BUILD_COMMAND}'; }}"
    yield f"def performance_counter {{ arg repetitions = {_REPETITIONS}; }}"
    yield "def performance_params {"
    for number, choices in enumerate(found, start=first):
        for name, text in parameter_texts(choices, str(number)).items():
            yield f"  param {name}[] = {text};"
        if all(choices.rows) and all(choices.columns):
            sums = f"ROWS{number}[1] * COLUMNS{number}[1]"
            yield f"  constraint registers{number} = {sums} <= {choices.most_sums} or ROWS{number}[1] == 1;"
    yield "}"
    yield from input_lines(group, program)


def input_lines(group: Sequence[Contraction], program: TensorProgram) -> Iterator[str]:
    """The section of inputs: every tensor of some statements, with random elements; in the order of the signature."""
    yield "def input_vars {"
    used = {part.tensor.name for statement in group for part in (statement.output, *statement.operands)}
    given = [*program.parameters, *(tensor for tensor in program.tensors if tensor.is_temporary)]
    for tensor in (tensor for tensor in given if tensor.name in used):
        yield f"  decl dynamic {program.type} {tensor.name}{_extents(tensor, program)} = random;"
    yield "}"


def _extents(tensor: Tensor, program: TensorProgram) -> str:
    if program.access.value == "linearized" or tensor.is_temporary or not tensor.extents:
        return f"[{prod(tensor.extents)}]"
    return "".join(f"[{tensor.extents[d]}]" for d in reversed(tensor.fastest_first))


def indented(lines: Sequence[str] | Iterator[str]) -> list[str]:
    """The lines, two blanks further to the right."""
    return [f"  {line}" for line in lines]
