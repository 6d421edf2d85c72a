"""Contractions on an OpenCL device and with several threads, beside those of one thread.

The rate of an OpenCL variant is that of its kernels, without copies.  What it is compared with is the naive kernel: one
item for each element of the output, in groups of 64.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orio_py
from orio_py.core.expr import Value
from orio_py.tensors.contraction import TensorProgram
from orio_py.tensors.kernel_choices import kernel_choices


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
    plain = orio_py.TuneOptions(target="opencl", trials=1, seed=1, pins=naive_values(report.program))
    other = orio_py.tensor(source, output=folder / f"{name}_naive.c", options=plain)
    recipe = "" if region.best is None else str(region.best.configuration)
    return DeviceRow(_kernel_time(other), _kernel_time(report), recipe, problem)


def naive_values(program: TensorProgram) -> Mapping[str, Value]:
    """One item for each element of the output: no tiles, no vectors."""
    values: dict[str, Value] = {}
    for number, statement in enumerate(program.contractions):
        chosen = kernel_choices(statement, program, has_vectors=True)
        if chosen is None:
            continue
        wishes = {
            "WIDTH": chosen.widths,
            "COLUMNS": chosen.columns,
            "ROWS": chosen.rows,
            "UNROLL": chosen.unrolls,
        }
        values |= {f"{name}{number}": 1 for name, listed in wishes.items() if len(listed) > 1}
        if len(chosen.groups) > 1:
            values[f"GROUP{number}"] = list(chosen.groups[-1])
        if len(chosen.orders) > 1:
            values[f"ORDER{number}"] = list(chosen.orders[0])
    return values


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
