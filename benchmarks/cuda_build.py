"""Compiles some CUDA kernels for several architectures, without a GPU, and prints what they use there.

    python benchmarks/cuda_build.py [--compiler nvrtc|nvcc] [--architectures sm_75,sm_90] [--repeats 5] [--options TEXT]
    python benchmarks/cuda_build.py --annotated [FILE...]

The kernels are those of `benchmarks/kernels/cuda_text`; the first line of each says how many threads a block has.  With
`--annotated` they are generated from annotated files, by default those of `benchmarks/kernels/cuda`, at the first
configuration of each, which has the arguments that `CUDA()` has by default.
Times are medians over `--repeats` compilations after one that is not counted: wall time from the text to the cubin, and
processor time for that and for reading the cubin, which says more on a busy machine.
"""

from __future__ import annotations

import argparse
import re
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from statistics import median

import orio_py
from orio_py.api.report import given_paths
from orio_py.build.cuda import CudaBuildOptions, CudaCompiler, cuda_options
from orio_py.build.cuda_catalog import COMPILERS, cuda_compiler
from orio_py.build.cuda_report import ArchitectureReport, KernelReport, build_report
from orio_py.codegen.cuda.device import cuda_program
from orio_py.core.diagnostics import DiagnosticError, EnvironmentProblem, has_errors, render
from orio_py.core.units import Seconds
from orio_py.tuning.files.load import load
from orio_py.tuning.project import transform_file

FOLDER = Path(__file__).resolve().parent / "kernels"
KERNELS = FOLDER / "cuda_text"
ANNOTATED = FOLDER / "cuda"
ARCHITECTURES = "sm_75,sm_80,sm_90,sm_120"
HEADING = (
    "kernel", "architecture", "wall ms", "CPU ms", "registers", "spilled B", "stack B", "shared B", "blocks", "occupancy",
    "limit",
)  # fmt: skip

_THREADS = re.compile(r"// threads per block: (\d+)")


@dataclass(frozen=True, slots=True)
class Text:
    """CUDA text: the name of what it is from, its content, and the threads of a block."""

    name: str
    source: str
    threads: int

    @classmethod
    def read(cls, path: Path) -> Text:
        """Raises ValueError when the first line does not say how many threads a block has."""
        source = path.read_text(encoding="utf-8")
        if (found := _THREADS.match(source)) is None:
            raise ValueError(f"{path}: the first line must be `// threads per block: N`")
        return cls(path.stem, source, int(found[1]))


def generated(paths: Sequence[Path]) -> list[Text]:
    """A text for each kernel that annotated files have at their first configuration.

    Raises DiagnosticError for what cannot be read or is refused.
    """
    loaded = load(given_paths(paths))
    if has_errors(loaded.diagnostics):
        raise DiagnosticError(*loaded.diagnostics)
    plans = [
        kernel.plan for file in loaded.files for kernel in transform_file(file, {}, orio_py.__version__)[1]
    ]
    return [
        Text(plan.name, cuda_program([plan]), prod(plan.launch.block_size))
        for plan in plans
        if plan.language == "cuda"
    ]


def measured(
    text: Text, architecture: str, compiler: CudaCompiler, options: CudaBuildOptions, repeats: int
) -> tuple[ArchitectureReport, Seconds]:
    """The report for one architecture with the median of the times, and the median of processor times."""

    def once() -> tuple[ArchitectureReport, float]:
        before = _processor_time()
        (report,) = build_report(
            text.source, (architecture,), compiler=compiler, threads_per_block=text.threads, options=options
        )
        return report, _processor_time() - before

    once()
    reports = [once() for _ in range(repeats)]
    wall = Seconds(median(report.seconds for report, _ in reports))
    return replace(reports[0][0], seconds=wall), Seconds(median(cpu for _, cpu in reports))


def _processor_time() -> float:
    """Seconds of this process and of the programs that it ran."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def row(report: ArchitectureReport, cpu: Seconds, kernel: KernelReport) -> tuple[str, ...]:
    """A line of the table."""
    usage, found = kernel.usage, kernel.occupancy
    spilled = (
        "?" if usage.spill_store_bytes is None else f"{usage.spill_store_bytes}+{usage.spill_load_bytes}"
    )
    return (
        usage.name,
        report.architecture,
        f"{1000.0 * report.seconds:.0f}",
        f"{1000.0 * cpu:.0f}",
        str(usage.registers),
        spilled,
        "?" if usage.stack_bytes is None else str(usage.stack_bytes),
        str(usage.shared_bytes),
        str(found.blocks) if found else "?",
        f"{100.0 * found.share:.0f} %" if found else "?",
        found.problem or ", ".join(found.limits) if found else "unknown architecture",
    )


def texts(annotated: Sequence[Path] | None) -> list[Text]:
    """The texts to compile: of these annotated files, of the usual ones for none; without such files the CUDA texts."""
    if annotated is None:
        return [Text.read(path) for path in sorted(KERNELS.glob("*.cu"))]
    return generated(annotated or sorted(ANNOTATED.glob("*.c")))


def main(arguments: Sequence[str]) -> int:
    """Print the table; 3 when there is no compiler, 2 for an architecture that it does not know."""
    parser = argparse.ArgumentParser(description="compile CUDA kernels without a GPU and print what they use")
    parser.add_argument("--compiler", choices=list(COMPILERS))
    parser.add_argument("--architectures", default=ARCHITECTURES)
    parser.add_argument("--options", default="", help="for the compiler, as one text")
    parser.add_argument("--annotated", nargs="*", type=Path, metavar="FILE", help="annotated C files")
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args(arguments)
    try:
        compiler = cuda_compiler(chosen.compiler)
        options = cuda_options(chosen.options)
        rows: list[tuple[str, ...]] = [HEADING]
        for text in texts(chosen.annotated):
            for architecture in chosen.architectures.split(","):
                report, cpu = measured(text, architecture, compiler, options, chosen.repeats)
                if report.failure is not None:
                    rows.append((text.name, architecture, report.failure.reason))
                rows.extend(row(report, cpu, kernel) for kernel in report.kernels)
    except DiagnosticError as problem:
        for diagnostic in problem.diagnostics:
            print(render(diagnostic, {}), file=sys.stderr)
        return 3 if isinstance(problem, EnvironmentProblem) else 2
    print(f"{compiler.name} {compiler.version} ({compiler.path})")
    widths = [max(len(line[place]) for line in rows if place < len(line)) for place in range(len(HEADING))]
    for line in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)).rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
