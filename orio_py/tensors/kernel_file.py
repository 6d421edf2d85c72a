"""The annotated C file whose loops become kernels of a device: one region with all statements.

    { transform OpenCL(nd=3, workItemsPerGroup=GROUP0, registerTile=[COLUMNS0, ROWS0, 1], vectorWidth=WIDTH0)
      transform Contract(order=ORDER0, flatten=[['h3', 'h2']])
      for (int p4 …) … }

`Contract` orders and joins the loops and keeps a sum in a scalar; what it leaves is a perfect nest over the output, whose
outermost loops are mapped.  A statement with one element in its output is a kernel of one item.  Arrays that several
statements use stay on the device between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from orio_py.core.names import NameSupply
from orio_py.tensors.annotated import allocations, commented, indented, input_lines, releases
from orio_py.tensors.contraction import Contraction, TensorProgram
from orio_py.tensors.kernel_choices import KernelChoices, kernel_choices
from orio_py.tensors.nests import header, nest

BUILD_COMMAND = "gcc -O3"
_REPETITIONS = 3


@dataclass(frozen=True, slots=True)
class KernelStep:
    """The transformation of a target, and its words for the items of a group and for what only some have."""

    name: str
    items: str
    has_vectors: bool
    options: str = ""


STEPS: Mapping[str, KernelStep] = {
    "opencl": KernelStep("OpenCL", "workItemsPerGroup", has_vectors=True, options=", dataOnDevice=True"),
    "cuda": KernelStep("CUDA", "threadCount", has_vectors=False, options=", dataOnDevice=True"),
    "hip": KernelStep("HIP", "threadCount", has_vectors=False, options=", dataOnDevice=True"),
}
"""For each target, by its name, how its kernels are made."""


def kernel_file(program: TensorProgram, target: str) -> str:
    """The text of the file."""
    step = STEPS[target]
    lines = [*commented(program), "", header(program), "{", *indented(allocations(program))]
    choices = [kernel_choices(s, program, has_vectors=step.has_vectors) for s in program.contractions]
    nests = [nest(statement, program) for statement in program.contractions]
    marked: list[str] = []
    for number, (made, chosen) in enumerate(zip(nests, choices, strict=True)):
        if chosen is None:
            marked += _alone(program.contractions[number], program, step)
            continue
        marked += [*_steps(program.contractions[number], chosen, number, step), *made.lines]
    region = [
        "/*@ begin PerfTuning(",
        *indented(_specification(program, choices)),
        ") @*/",
        "/*@ begin Loop(",
        *indented(["{", *indented(marked), "}"]),
        ") @*/",
        *(line for made in nests for line in (*made.before, *made.lines)),
        "/*@ end @*/",
        "/*@ end @*/",
    ]
    return "\n".join([*lines, *indented([*region, *releases(program)]), "}"]) + "\n"


def _alone(statement: Contraction, program: TensorProgram, step: KernelStep) -> Iterator[str]:
    """A statement with one element, which one item computes: other kernels find it on the device."""
    made, target = nest(statement, program), statement.output.tensor.name
    taken = {index for part in program.contractions for index in part.extents}
    name = NameSupply(taken | {tensor.name for tensor in program.tensors}).fresh("item")
    yield f"transform {step.name}({step.items}=1{step.options})"
    yield f"for (int {name} = 0; {name} < 1; {name}++) {{"
    lines = [*made.before, *made.lines]
    yield from indented([line.replace(f"{target}[0]", f"{target}[{name}]") for line in lines])
    yield "}"


def _steps(statement: Contraction, chosen: KernelChoices, number: int, step: KernelStep) -> Iterator[str]:
    value = {
        name: chosen.value(name, number)
        for name in ("ORDER", "GROUP", "ROWS", "COLUMNS", "WIDTH", "UNROLL", "STAGE")
    }
    tile = ", ".join([value["COLUMNS"], value["ROWS"], "1"][: chosen.depth])
    own = f", vectorWidth={value['WIDTH']}" if step.has_vectors else f", cacheBlocks={value['STAGE']}"
    yield (
        f"transform {step.name}(nd={chosen.depth}, {step.items}={value['GROUP']}, registerTile=[{tile}]{own}{step.options})"
    )
    if statement.contracted or len(chosen.orders[0]) > 1 or chosen.flatten:
        joined = str([list(group) for group in chosen.flatten])
        yield f"transform Contract(order={value['ORDER']}, flatten={joined}, unroll={value['UNROLL']})"


def _specification(program: TensorProgram, choices: list[KernelChoices | None]) -> Iterator[str]:
    yield f"def build {{ arg build_command = '{BUILD_COMMAND}'; }}"
    yield f"def performance_counter {{ arg repetitions = {_REPETITIONS}; arg time = 'kernel'; }}"
    yield "def performance_params {"
    for number, chosen in enumerate(choices):
        if chosen is not None:
            yield from (f"  param {name}[] = {text};" for name, text in chosen.parameters(number).items())
            yield from (f"  constraint {text};" for text in chosen.constraints(number))
    yield "}"
    yield from input_lines(program.contractions, program)
