"""`orio emulate`: what limits a CUDA kernel on a GPU that need not be there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

import orio_py
from orio_py.cli import options as shared
from orio_py.cli.console import Color, Output, print_json
from orio_py.cli.emulation_tables import emulated_regions, emulation_results
from orio_py.core.diagnostics import fail
from orio_py.core.units import Bytes

EPILOG = "Example: orio emulate mm.cu --arch sm_90 --grid 128,128 --block 16,16 --arg n=2048"

_MOST = 2**31 - 1


File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A CUDA text (`.cu`), a cubin, or an annotated C file.")
]
Grid = Annotated[str | None, typer.Option("--grid", metavar="X[,Y[,Z]]", help="Blocks of the grid.")]
Block = Annotated[str | None, typer.Option("--block", metavar="X[,Y[,Z]]", help="Threads of a block.")]
Gpu = Annotated[
    str | None,
    typer.Option(
        "--arch",
        metavar="GPU",
        help="A GPU (`H200 SXM`), or an architecture: the last GPU of it (default: that of the recipe, or sm_90).",
    ),
]
Pins = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Pin a parameter or size of an annotated file; may be repeated."
    ),
]
Arguments = Annotated[
    list[str] | None,
    typer.Option(
        "--arg", metavar="NAME=VALUE", help="An argument of the kernel, by name or number; may be repeated."
    ),
]
Kernel = Annotated[str | None, typer.Option("--kernel", metavar="NAME", help="Which kernel, of several.")]
SharedBytes = Annotated[
    str, typer.Option("--shared-bytes", metavar="N", help="Dynamic shared memory of a block.")
]
CompilerOptions = Annotated[
    str, typer.Option("--options", metavar="OPTIONS", help="Options of the CUDA compiler, as nvcc has them.")
]
CompilerName = Annotated[
    str | None, typer.Option("--compiler", metavar="NAME", help="The CUDA compiler: nvrtc or nvcc.")
]
Nvdisasm = Annotated[
    str | None,
    typer.Option("--nvdisasm", metavar="PROGRAM", help="Another disassembler than that of the wheel."),
]
Iterations = Annotated[
    str, typer.Option("--iterations", metavar="N", help="Iterations of loops whose end data decide.")
]
TakeBranches = Annotated[
    bool,
    typer.Option(
        "--take-branches", help="Take forward branches that data decide; without, all code is executed."
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot", metavar="OUT", help="Write a picture of issue and units: .svg, .png, .pdf or .html."
    ),
]
NoSensitivity = Annotated[
    bool, typer.Option("--no-sensitivity", help="Do not look for what limits the kernel.")
]


def emulate(
    path: File,
    grid: Grid = None,
    block: Block = None,
    arch: Gpu = None,
    arguments: Arguments = None,
    settings: Pins = None,
    kernel: Kernel = None,
    shared_bytes: SharedBytes = "0",
    options: CompilerOptions = "",
    compiler: CompilerName = None,
    nvdisasm: Nvdisasm = None,
    iterations: Iterations = "8",
    take_branches: TakeBranches = False,
    no_sensitivity: NoSensitivity = False,
    plot: Plot = None,
    json: shared.JsonFlag = False,
    quiet: shared.Quiet = False,
    verbose: shared.Verbose = False,
    color: shared.ColorOption = Color.AUTO,
) -> int:
    """Predict the time of a CUDA kernel from its machine code, and what limits it; no GPU is needed."""
    out = Output.create(color=color, quiet=quiet, verbose=verbose)
    report = orio_py.emulate(
        path,
        gpu=arch,
        grid=None if grid is None else parse_shape("--grid", grid),
        block=None if block is None else parse_shape("--block", block),
        arguments=parse_arguments(arguments or ()),
        pins=shared.parse_pins(settings or ()),
        options=orio_py.EmulationOptions(
            kernel,
            options,
            compiler,
            nvdisasm,
            Bytes(shared.whole_number("--shared-bytes", least=0)(shared_bytes)),
            shared.whole_number("--iterations", least=1)(iterations),
            take_branches,
            not no_sensitivity,
            plot is not None,
        ),
    )
    out.diagnostics(report.diagnostics, report.sources)
    if plot is not None and report.exit_code == 0:
        orio_py.plot_emulation(report.only_kernel(), plot)
    if json:
        print_json(report.as_json())
    elif report.emulation is not None:
        out.result(emulation_results(report.emulation, verbose=out.is_verbose))
    elif report.regions:
        out.result(emulated_regions(report.regions, verbose=out.is_verbose))
    return report.exit_code


def parse_shape(option: str, text: str) -> tuple[int, int, int]:
    """One to three whole numbers.  Raises DiagnosticError: ORIO-U052.

    >>> parse_shape("--block", "32x8")
    (32, 8, 1)
    """
    parts = [part.strip() for part in re.split(r"[,x]", text)]
    numbers = [int(part) for part in parts if re.fullmatch(r"\d{1,10}", part, re.ASCII)]
    if len(numbers) != len(parts) or len(parts) > 3 or any(not 1 <= n <= _MOST for n in numbers):
        fail(
            "ORIO-U052",
            f"`{option} {text}`: one to three whole numbers from 1 up are needed",
            help=f"for example `{option} 16,16`",
        )
    x, y, z = [*numbers, 1, 1][:3]
    return x, y, z


def parse_arguments(settings: Sequence[str]) -> dict[str, str]:
    """The arguments of `--arg NAME=VALUE`.  Raises DiagnosticError: ORIO-U051."""
    found: dict[str, str] = {}
    for setting in settings:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not equals or not name or not value:
            fail(
                "ORIO-U051",
                f"`--arg {setting}`: it must read `--arg NAME=VALUE`",
                help="for example `--arg n=2048`",
            )
        if name in found:
            fail("ORIO-U051", f"`--arg {setting}`: `{name}` is already {found[name]}")
        found[name] = value
    return found
