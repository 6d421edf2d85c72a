"""Contractions on an OpenCL device and with several threads, beside those of one thread.

The rate of an OpenCL variant is that of its kernels, without copies.  What it is compared with is the naive kernel: one
item for each element of the output, in groups of 64.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import orio_py
from orio_py.tensors.annotated import input_lines
from orio_py.tensors.contraction import TensorProgram
from orio_py.tensors.nests import element, header, nest


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """Seconds that kernels take: the naive ones, and those of the best variant found; and how that was made."""

    naive: float | None
    tuned: float | None
    recipe: str
    problem: str = ""


def opencl_row(name: str, text: str, trials: int, folder: Path) -> DeviceRow:
    """Tune a program on the first OpenCL device."""
    source = folder / f"{name}.tensor"
    source.write_text(text)
    options = orio_py.TuneOptions(target="opencl", trials=trials, seed=1)
    report = orio_py.tensor(source, output=folder / f"{name}_opencl.c", options=options)
    assert report.program is not None, report.diagnostics
    (region,) = report.regions
    wrong = region.invalid + region.failed
    problem = f"{wrong} of {region.trials} variants: {dict(region.failures)}" if wrong else ""
    naive = folder / f"{name}_naive.c"
    naive.write_text(naive_file(report.program))
    other = orio_py.tune([naive], output=folder / f"{name}_tuned_naive.c", options=options)
    recipe = "" if region.best is None else str(region.best.configuration)
    return DeviceRow(_kernel_time(other), _kernel_time(report), recipe, problem)


def naive_file(program: TensorProgram) -> str:
    """The annotated C file with an item for each element of the output, in groups of 64."""
    lines: list[str] = []
    for statement in program.contractions:
        places = {
            index: f"(cell / {step} % {statement.extents[index]})"
            for index, step in statement.output.strides().items()
        }
        factors = [element(operand, program.access) for operand in statement.operands]
        product = " * ".join([*([statement.factor] if statement.factor else []), *factors])
        words = re.split(r"([A-Za-z_]\w*)", product)
        product = "".join(places.get(word, word) for word in words)
        lines += [
            "transform OpenCL(workItemsPerGroup=64)",
            f"for (int cell = 0; cell < {statement.output.tensor.size}; cell++)",
            *(f"for (int {i} = 0; {i} < {statement.extents[i]}; {i}++)" for i in statement.contracted),
            f"{statement.output.tensor.name}[cell] {statement.operator} {product};",
        ]
    plain = [line for statement in program.contractions for line in nest(statement, program).lines]
    return "\n".join(
        [
            header(program),
            "{",
            "/*@ begin PerfTuning(",
            "def performance_counter { arg repetitions = 3; arg time = 'kernel'; }",
            *input_lines(program.contractions, program),
            ") @*/",
            "/*@ begin Loop(",
            "{",
            *lines,
            "}",
            ") @*/",
            *plain,
            "/*@ end @*/",
            "/*@ end @*/",
            "}\n",
        ]
    )


def _kernel_time(report: orio_py.TuneReport) -> float | None:
    """The seconds that the kernels of the best variant took, None where there is none."""
    (region,) = report.regions
    counters = () if region.best is None else region.best.counters
    return next((counter.value for counter in counters if counter.name == "kernel_time"), None)


def threads_code(name: str, text: str, trials: int, folder: Path) -> str:
    """The C file with the best variant for two threads."""
    source, output = folder / f"{name}.tensor", folder / f"{name}_threads.c"
    source.write_text(text)
    os.environ["OMP_NUM_THREADS"] = "2"
    report = orio_py.tensor(
        source, output=output, options=orio_py.TuneOptions(target="openmp", trials=trials, seed=1)
    )
    assert report.exit_code == 0, report.diagnostics
    return output.read_text()
