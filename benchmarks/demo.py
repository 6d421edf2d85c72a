"""Tunes three of the kernels and prints what was found; `make demo` runs this.

Written files go to `demo-output/`.  Each is compiled with all warnings as errors at the end.

Exit codes: 0 done; 3 no C compiler; 4 a kernel had no valid variant.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from orio_py import TuneOptions, TuneReport, tune
from orio_py.core.diagnostics import DiagnosticError, EnvironmentProblem, render

KERNELS = Path(__file__).resolve().parent / "kernels"
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror")
SEED = 1


@dataclass(frozen=True, slots=True)
class Case:
    """One kernel of the demo: its file, the problem sizes that the demo pins, and the trials."""

    file: str
    trials: int
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])


CASES = (
    Case("matmul.c", trials=60, sizes={"n": 256}),
    Case("syrk.c", trials=50),
    Case("adi.c", trials=40),
)


def find_compiler() -> str | None:
    """The C compiler to check the outputs with."""
    return next((name for name in ("gcc", "clang", "cc") if shutil.which(name)), None)


def milliseconds(seconds: float | None) -> str:
    """A time for the table."""
    return "-" if seconds is None else f"{1e3 * seconds:.3f} ms"


def run_case(case: Case, compiler: str, outputs: Path) -> TuneReport:
    """Tune one kernel into `outputs`; the files ask for gcc, so another compiler takes its place."""
    command = None if compiler == "gcc" else compiler
    options = TuneOptions(trials=case.trials, seed=SEED, pins=case.sizes, cc=command)
    return tune([KERNELS / case.file], output=outputs / case.file, options=options)


def add_rows(table: Table, report: TuneReport) -> None:
    """One row per region and problem size."""
    for region in report.regions:
        kinds = [f"{count} {kind}" for kind, count in sorted(region.failures.items())]
        if region.refused:
            kinds.append(f"{region.refused} refused")
        best, baseline = region.best, region.baseline
        table.add_row(
            Path(region.file).name,
            ", ".join(f"{name}={value}" for name, value in region.inputs.items()),
            f"{region.space.valid:,}",
            str(region.trials),
            ", ".join(kinds) or "none",
            milliseconds(baseline.median_s if baseline else None),
            milliseconds(best.timing.median_s if best else None),
            "original kept" if region.kept_original else f"{best.speedup:.2f}x" if best else "-",
            str(region.output) if region.output else "-",
        )


def show_winners(console: Console, reports: Sequence[TuneReport]) -> None:
    """Which configuration won where, or why the original was kept."""
    for region in (r for report in reports for r in report.regions):
        if region.best is None:
            continue
        values = " ".join(f"{name}={value!r}" for name, value in region.best.configuration.items())
        said = f"original kept: {region.reason}" if region.kept_original else values
        console.print(f"{Path(region.file).name}: {said}", markup=False, highlight=False)


def verify(console: Console, compiler: str, outputs: Sequence[Path]) -> bool:
    """Compile the written files with all warnings as errors and say how it went."""
    good = True
    for path in outputs:
        command = [compiler, *STRICT, "-c", str(path), "-o", "/dev/null"]
        done = subprocess.run(command, capture_output=True, text=True)
        good = good and done.returncode == 0
        verdict = "compiles" if done.returncode == 0 else f"does not compile:\n{done.stderr}"
        console.print(f"{path} {verdict} with {' '.join(STRICT)}", markup=False, highlight=False)
    return good


def demo(console: Console, compiler: str, outputs: Path) -> int:
    """Tune, print the table, verify; exit code."""
    outputs.mkdir(exist_ok=True)
    table = Table(
        "kernel", "inputs", "valid space", "tried", "failures", "baseline", "best", "speed-up", "output"
    )
    reports: list[TuneReport] = []
    began = time.monotonic()
    for case in CASES:
        console.print(f"tuning {case.file}: {case.trials} trials, seed {SEED}", highlight=False)
        report = run_case(case, compiler, outputs)
        for diagnostic in report.diagnostics:
            console.print(render(diagnostic, report.sources), markup=False, highlight=False)
        if report.exit_code != 0:
            return report.exit_code
        reports.append(report)
        add_rows(table, report)
    console.print(table)
    show_winners(console, reports)
    written = sorted({path for report in reports for path in report.outputs})
    good = verify(console, compiler, written)
    console.print(f"{time.monotonic() - began:.0f} s in all")
    return 0 if good else 1


def main() -> int:
    """Run the demo in the current folder; exit code."""
    console = Console()
    if not console.is_terminal:
        console.width = 140
    compiler = find_compiler()
    if compiler is None:
        console.print("no C compiler found; install gcc or clang, for example with: apt install gcc")
        return 3
    try:
        return demo(console, compiler, Path("demo-output"))
    except DiagnosticError as problem:
        for diagnostic in problem.diagnostics:
            console.print(render(diagnostic, {}), markup=False, highlight=False)
        return 3 if isinstance(problem, EnvironmentProblem) else 2


if __name__ == "__main__":
    sys.exit(main())
