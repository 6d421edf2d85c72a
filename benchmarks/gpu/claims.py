"""Builds, checks and times on a GPU what is claimed of CUDA: one call, under ten minutes on a fast GPU.

    python benchmarks/gpu/claims.py [--json FILE] [--kernels vecaxpy,dot] [--minutes 8] [--trials 24] [--dry-run]

The kernels of Table I of the OrCL paper, its stencils EX14FF and EX14FJ, and a product of matrices in tiles are tuned with
`orio tune --target cuda`: each variant is compiled for the GPU, its results are compared with those of the C code, and it
is timed by events, without transfers.  Beside the best stand the bandwidth that it reaches, its share of what a copy on the
same GPU reaches, GFLOP/s, registers and occupancy, and the time of cuBLAS, where CuPy is installed.

`--dry-run` needs no GPU: small sizes, few variants, compiled for sm_90, and without a GPU checked on the processor.

Exit codes: 0 done; 1 a kernel has a wrong variant or none that is right; 3 the machine lacks something.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from rich.console import Console
from rich.table import Table
from rivals import COPY, Bandwidth, Library, copy_bandwidth
from sources import ALL, MIB, Kernel

from orio_py.build.compiler import BuildFailure
from orio_py.build.cuda import cuda_options
from orio_py.build.cuda_catalog import cuda_compiler
from orio_py.core.diagnostics import EnvironmentProblem, render
from orio_py.core.units import Bytes
from orio_py.measure.cuda.drivers.base import DriverProblem
from orio_py.measure.cuda.drivers.catalog import cuda_driver

COPIED = Bytes(512 * MIB)
DRY_TRIALS = 3
NOTHING = "-"
WIDTH = 150
"""Columns that the table takes."""


@dataclass(frozen=True, slots=True)
class Row:
    """What became of a kernel: how many variants were tried, are wrong, or failed, and the best one.

    `seconds` is the median of `repeats` times by the GPU's events.  Without a GPU `right` variants were checked, and the
    use of the first stands for all.
    """

    name: str
    size: int
    trials: int = 0
    right: int = 0
    wrong: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    configuration: Mapping[str, object] = field(default_factory=dict)
    seconds: float | None = None
    spread: float | None = None
    repeats: int = 0
    original: float | None = None
    counters: Mapping[str, float] = field(default_factory=dict)
    cublas: float | str | None = None
    problem: str = ""

    @property
    def is_right(self) -> bool:
        """Whether some variant is right and none is wrong."""
        return self.right > 0 and not self.wrong


def tuned(name: str, kernel: Kernel, arguments: argparse.Namespace, folder: Path, limit: float) -> Row:
    """Tune a kernel in a process of its own, at most `limit` seconds."""
    size = kernel.dry_size if arguments.dry_run else kernel.size
    source, report = folder / f"{name}.c", folder / f"{name}.json"
    source.write_text(kernel.source(size))
    command = [sys.executable, "-m", "orio_py", "tune", str(source), "-o", str(folder / f"{name}.out.c")]
    command += ["--target", "cuda", "--no-db", "--quiet", "--seed", "1", "--trials", str(arguments.trials)]
    command += ["--time", f"{limit:.0f}s", "--json", str(report)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not report.exists():
        last = done.stderr.strip().splitlines()[:1]
        return Row(name, size, problem=f"orio tune ends with {done.returncode}: {' '.join(last)}")
    document = json.loads(report.read_text())
    if not document["regions"]:
        problems = [told["message"] for told in document["diagnostics"]]
        return Row(name, size, problem="; ".join(problems) or "nothing was tuned")
    return row(name, size, document["regions"][0])


def row(name: str, size: int, region: Mapping[str, Any]) -> Row:
    """From a region of the report of `orio tune`."""
    checked = [
        v for v in (region.get("untimed") or {}).get("variants", []) if v["outcome"] == "checked, not timed"
    ]
    failures = {kind: n for kind, n in region["failures"].items() if n and kind != "checked, not timed"}
    best = region["best"]
    told: Mapping[str, Any] = best or (checked[0] if checked else {})
    return Row(
        name,
        size,
        region["trials"],
        len(checked) if best is None else region["trials"] - sum(failures.values()),
        region["invalid"],
        failures,
        told.get("configuration", {}),
        best and best["median_s"],
        best and best["mad_s"],
        best["repeats"] if best else 0,
        region["baseline"] and region["baseline"]["median_s"],
        {c["name"]: c["value"] for c in told.get("counters", [])},
    )


def table(rows: Sequence[Row], bandwidth: Bandwidth | None) -> Table:
    """One line for each kernel."""
    heads = ("kernel", "size", "right", "best", "of", "GB/s", "of copy", "GFLOP/s", "cuBLAS", "cuBLAS/best", "registers",
             "occupancy")  # fmt: skip
    shown = Table(*heads)
    for each in rows:
        kernel, seconds = ALL[each.name], each.seconds
        rate = kernel.bytes(each.size) / seconds if seconds else None
        flops = kernel.flops(each.size) / seconds if seconds and kernel.flops else None
        cublas = each.cublas if isinstance(each.cublas, float) else None
        shown.add_row(
            each.name,
            str(each.size),
            f"{each.right}/{each.trials}",
            _milliseconds(seconds),
            f"{each.repeats} runs" if each.repeats else NOTHING,
            _number(rate, 1e-9),
            f"{100 * rate / bandwidth.bytes_per_s:.0f} %" if rate and bandwidth else NOTHING,
            _number(flops, 1e-9),
            _milliseconds(cublas),
            f"{cublas / seconds:.2f}" if cublas and seconds else NOTHING,
            _number(each.counters.get("registers")),
            _number(each.counters.get("occupancy"), 100, " %"),
        )
    return shown


def _milliseconds(seconds: float | None) -> str:
    return f"{1e3 * seconds:.4f} ms" if seconds else NOTHING


def _number(value: float | None, factor: float = 1.0, unit: str = "") -> str:
    return f"{factor * value:.0f}{unit}" if value is not None else NOTHING


def reached() -> tuple[dict[str, Any], Bandwidth]:
    """The GPU, and the bandwidth of a copy there.

    Raises EnvironmentProblem ORIO-B020 without a compiler, B023 without a GPU; DriverProblem.
    """
    compiler = cuda_compiler()
    driver = cuda_driver()
    try:
        architecture = driver.device.architecture
        built = compiler.compile(COPY.read_text(), architecture, cuda_options(f"-arch={architecture}"))
        if isinstance(built, BuildFailure):
            raise DriverProblem("copy.cu", built.reason, built.log)
        facts = {
            **driver.device.as_json(),
            **driver.clocks(),
            "compiler": f"{compiler.name} {compiler.version}",
        }
        return facts, copy_bandwidth(driver, built.cubin, COPIED)
    finally:
        driver.close()


def arguments_of(words: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="a file for all that was found")
    parser.add_argument("--kernels", default=",".join(ALL), help="some of them (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=8.0, help="for all searches together (default: 8)")
    parser.add_argument(
        "--trials", type=int, help="variants of each kernel at most (default: 24; dry run: 3)"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="small sizes; without a GPU variants are only checked"
    )
    arguments = parser.parse_args(words)
    arguments.names = [name for name in arguments.kernels.split(",") if name]
    if unknown := [name for name in arguments.names if name not in ALL]:
        parser.error(f"no kernel {', '.join(unknown)}; there are {', '.join(ALL)}")
    if arguments.trials is None:
        arguments.trials = DRY_TRIALS if arguments.dry_run else 24
    return arguments


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print.  Returns the exit code."""
    arguments, console = arguments_of(words), Console(width=max(WIDTH, Console().width))
    gpu: dict[str, Any] = {}
    bandwidth: Bandwidth | None = None
    try:
        if arguments.dry_run:
            cuda_compiler()
        else:
            gpu, bandwidth = reached()
    except EnvironmentProblem as problem:
        for diagnostic in problem.diagnostics:
            sys.stderr.write(render(diagnostic, {}) + "\n")
        return 3
    except DriverProblem as problem:
        sys.stderr.write(f"error: the GPU does not run a copy: {problem}\n")
        return 3
    if bandwidth is not None:
        console.print(
            f"{gpu['name']} ({gpu['architecture']}, driver {gpu['driver']}, by {gpu['library']}), {gpu['compiler']}"
        )
        rate = f"{bandwidth.bytes_per_s / 1e9:.0f} GB/s"
        console.print(f"a copy of {COPIED // MIB} MiB: {rate}, the median of {bandwidth.repeats} runs")
    began = time.perf_counter()
    library = Library(reason="dry run") if arguments.dry_run else Library.find()
    rows: list[Row] = []
    limit = max(5.0, 60 * arguments.minutes / len(arguments.names))
    os.environ.setdefault(
        "PYTHONPATH", str(Path(__file__).resolve().parents[2])
    )  # an orio_py that is not installed
    with TemporaryDirectory(prefix="orio-claims-") as folder:
        for name in arguments.names:
            found = tuned(name, ALL[name], arguments, Path(folder), limit)
            cublas = None if arguments.dry_run else library.seconds(name, found.size)
            rows.append(Row(**{**{key: getattr(found, key) for key in Row.__slots__}, "cublas": cublas}))
            console.print(f"{name}: {found.problem or f'{found.right} of {found.trials} variants are right'}")
    console.print(table(rows, bandwidth))
    for each in rows:
        words = [f"{key}={value}" for key, value in each.configuration.items()]
        console.print(f"{each.name}: {' '.join(words) or each.problem}")
        if isinstance(each.cublas, str) and library.cupy is not None:
            console.print(f"{each.name}: cuBLAS: {each.cublas}")
    if library.cupy is None and not arguments.dry_run:
        console.print(f"cuBLAS: {library.reason}")
    console.print(
        f"{time.perf_counter() - began:.0f} s; times are medians of the GPU's events, without transfers"
    )
    if arguments.json is not None:
        document = {"gpu": gpu, "copy": bandwidth and asdict(bandwidth), "dry_run": arguments.dry_run}
        kernels = [{**asdict(each), "bytes": ALL[each.name].bytes(each.size)} for each in rows]
        arguments.json.write_text(json.dumps({**document, "kernels": kernels}, indent=1) + "\n")
    return 0 if all(each.is_right for each in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
