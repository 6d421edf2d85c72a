"""The annotated C file whose loops directives take to a device.

    sd_t_d1_1, Figures 5.6 and 5.7 of the thesis:      gangs share p4, p5, p6 and h1, the lanes of a vector h2 and h3,
                                                       and t3[…] is in a register while h7 runs

Which loops are gangs and lanes is what blocks and threads of kernels are: `decomposition`.  Source: A. Rivera, thesis,
University of Utah, 2014, section 5.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from orio_py.tensors.annotated import allocations, commented, indented, input_lines, releases
from orio_py.tensors.contraction import Contraction, TensorProgram
from orio_py.tensors.decomposition import MOST_THREADS, decompositions
from orio_py.tensors.nests import header, nest

STEPS: Mapping[str, tuple[str, str, str]] = {
    "openacc": ("OpenACC", "vectorLoops", "vectorLength"),
    "openmp-target": ("OpenMPTarget", "", "threadCount"),
}
"""For each target, by its name, its transformation, and the arguments for the loops of lanes and for their number.

Compilers make kernels without a master thread of OpenMP's combined construct, in which teams and threads share all loops.
"""

BUILD_COMMAND = "gcc -O3"
_WARP = 32
_REPETITIONS = 3


def directive_file(program: TensorProgram, target: str) -> str:
    """The text of the file: one region for each statement with an index in its output."""
    lines = [*commented(program), "", header(program), "{", *indented(allocations(program))]
    number = 0
    for statement in program.contractions:
        if statement.free:
            lines += indented(_region(statement, number, program, target))
            number += 1
        else:
            made = nest(statement, program)
            lines += indented([*made.before, *made.lines])
    return "\n".join([*lines, *indented(releases(program)), "}"]) + "\n"


def _region(statement: Contraction, number: int, program: TensorProgram, target: str) -> Iterator[str]:
    orders, lanes = _orders(statement, program)
    made = nest(statement, program)
    yield "/*@ begin PerfTuning("
    yield f"  def build {{ arg build_command = '{BUILD_COMMAND}'; }}"
    yield f"  def performance_counter {{ arg repetitions = {_REPETITIONS}; }}"
    yield "  def performance_params {"
    if len(statement.free) > 1:
        yield f"    param ORDER{number}[] = [{', '.join(str(list(order)) for order in orders)}];"
    yield f"    param LANES{number}[] = {_lengths(statement, orders[0][len(orders[0]) - lanes :])};"
    yield "  }"
    yield from indented(input_lines((statement,), program))
    yield ") @*/"
    title, loops, length = STEPS[target]
    yield "/*@ begin Loop("
    inner = f"{loops}={lanes}, " if loops and lanes else ""
    yield f"  transform {title}(nd={len(statement.free)}, {inner}{length}=LANES{number})"
    if statement.contracted:
        yield "  transform ScalarReplace()"
    if len(statement.free) > 1:
        yield f"  transform Permut(seq=ORDER{number})"
    yield ") @*/"
    yield from made.lines
    yield from ("/*@ end @*/", "/*@ end @*/")


def _orders(statement: Contraction, program: TensorProgram) -> tuple[list[tuple[str, ...]], int]:
    """The free loops, outermost first, in the orders to try, and how many of the last ones are those of lanes.

    The loops of blocks and threads along x come behind the others of their kind: neighbours are neighbours in memory.
    """
    found = decompositions(statement, program.pattern)
    loops = [index for index in statement.loops(program.pattern) if index in statement.free]
    if not found:
        first = statement.output.fastest_first[0]
        return [(*(index for index in loops if index != first), first)], 0
    orders = [
        (*(i for i in loops if i not in made.loops), *reversed(made.block), *reversed(made.thread))
        for made in found
    ]
    return list(dict.fromkeys(orders)), len(found[0].thread)


def _lengths(statement: Contraction, lanes: tuple[str, ...]) -> list[int]:
    """Whole warps for all iterations of the loops of lanes first, then smaller numbers, then the compiler's choice."""
    threads = prod(statement.extents[index] for index in lanes)
    whole = min(-(-threads // _WARP) * _WARP, MOST_THREADS)
    smaller = [size for size in (256, 128, 64, 32) if size < whole]
    return [whole, *smaller, 0] if lanes else [128, 64, 256, 0]
