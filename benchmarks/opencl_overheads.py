"""What a kernel costs beside its work: finding the device, building, the first launch, each further one.

Kernels of `kernels/orcl`, each with one fixed configuration, are built and launched in processes of their own:
first with an empty cache of compiled kernels (PoCL's; other drivers have caches of their own, which this does not
empty), then with the cache that the first left.  Further launches are over one element, so that nothing but the
launch is timed: from the call until the queue has finished, by the host's clock, and the kernel's own event.

    python benchmarks/opencl_overheads.py --rounds 5 --launches 1000

Printed are medians over the rounds, with the least and the greatest, in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import pyopencl as cl
from orcl_operations import HERE, OPERATIONS, Bench, Inputs, Kernel, variant
from rich.console import Console
from rich.table import Table

from orio_py.measure.opencl.limits import choose_device
from orio_py.measure.opencl.survey import survey
from orio_py.record.device import OpenCLDevice

CONFIGURATION = {"WI": 64, "WG": 8, "SP": "strided", "UI": 1, "SH": True, "VH": 0, "CL": ""}
STEPS = ("device and context", "build", "first launch", "launch", "event")
FEW = 16
"""Elements of the arrays: as few as a kernel takes."""

Times = Mapping[str, float]


def steps(name: str, platform: int, number: int, launches: int) -> Times:
    """The seconds of each step in this process, which has not used OpenCL before."""
    program = variant(HERE / "kernels" / "orcl" / f"{name}.c", CONFIGURATION)
    times: dict[str, float] = {}
    began = time.perf_counter()
    device = cl.get_platforms()[platform].get_devices()[number]
    bench = Bench.of(device, name, Inputs.of(FEW))
    times["device and context"] = time.perf_counter() - began
    began = time.perf_counter()
    kernel = bench.tuned(program)
    assert isinstance(kernel, Kernel)
    times["build"] = time.perf_counter() - began
    times["first launch"] = kernel.timed()
    times["launch"] = median(kernel.timed() for _ in range(launches))
    queue = cl.CommandQueue(bench.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    events = [
        cl.enqueue_nd_range_kernel(queue, kernel.kernel, kernel.items, kernel.group) for _ in range(launches)
    ]
    queue.finish()
    times["event"] = 1e-9 * median(event.profile.end - event.profile.start for event in events)
    return times


def measured(name: str, place: OpenCLDevice, launches: int, cache: Path) -> Times:
    """The seconds of each step in a new process with a cache of compiled kernels."""
    child = [name, str(place.platform_number), str(place.number)]
    words = [sys.executable, __file__, "--launches", str(launches), "--child", *child]
    environment = {**os.environ, "POCL_CACHE_DIR": str(cache), "PYOPENCL_NO_CACHE": "1"}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def row(name: str, what: str, runs: Sequence[Times]) -> list[str]:
    """The medians of the steps with their ranges, in milliseconds."""
    cells = [name, what]
    for step in STEPS:
        values = sorted(1e3 * run[step] for run in runs)
        digits = 1 if values[0] >= 1 else 4
        cells.append(f"{median(values):.{digits}f} ({values[0]:.{digits}f}-{values[-1]:.{digits}f})")
    return cells


def main() -> int:
    """Measure and print; exit code."""
    parser = argparse.ArgumentParser(description="What OpenCL kernels cost beside their work.")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of processes per kernel (5)")
    parser.add_argument("--launches", type=int, default=1000, help="launches in each process (1000)")
    parser.add_argument("--kernel", action="append", choices=tuple(OPERATIONS), help="only this one")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", cl.CompilerWarning)
    if options.child is not None:
        name, platform, number = options.child
        print(json.dumps(steps(name, int(platform), int(number), options.launches)))
        return 0
    place = choose_device(survey(), None, None)
    console = Console()
    if not console.is_terminal:
        console.width = 160
    table = Table("kernel", "cache", *(f"{step} ms" for step in STEPS))
    with tempfile.TemporaryDirectory(prefix="orio-overheads-") as temporary:
        folder = Path(temporary)
        for name in options.kernel or ("vecaxpy", "dot", "matvec"):
            pairs: list[tuple[Times, Times]] = []
            for number in range(options.rounds):
                cache = folder / f"cache-{name}-{number}"
                cold = measured(name, place, options.launches, cache)
                pairs.append((cold, measured(name, place, options.launches, cache)))
            table.add_row(*row(name, "empty", [cold for cold, _ in pairs]))
            table.add_row(*row(name, "filled", [warm for _, warm in pairs]))
    console.print(f"{place.name}, {place.platform_version}")
    console.print(f"{options.rounds} pairs of processes per kernel, {options.launches} launches in each")
    console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
