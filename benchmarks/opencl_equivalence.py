"""Compare random loop nests in C with the OpenCL kernels that they become.

Each seed gives a nest of one to three loops over arrays of all element types, and a launch shape.  Nests that
are not refused are compiled with traps for undefined behaviour and run beside their kernels for several sizes;
arrays, scalars and indices must be the same afterwards, bit for bit where the values are whole numbers, within
the bound of rounding where they are fractions, and nothing is copied that the original does not reach.  Kernels
run in processes of their own: one that crashes or does not end is a finding like another.

    python benchmarks/opencl_equivalence.py --count 5000 --seed 1 --jobs 2
    python benchmarks/opencl_equivalence.py --case 1000017      # one case, in full
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from equivalence_workers import Comparison, arguments_of, common_facts, one_case, report  # noqa: E402
from offload_equivalence import Build, Runner, Variant  # noqa: E402
from offload_equivalence_opencl import opencl_build  # noqa: E402
from opencl_runs import PLACES, Place  # noqa: E402
from random_kernels import random_kernel  # noqa: E402

from orio_py.codegen.opencl.device import device_program  # noqa: E402
from orio_py.measure.opencl.survey import survey  # noqa: E402
from orio_py.transformation.offload.opencl import OpenCL  # noqa: E402

OPTIMISED = 8
"""Every so many batches one is built with the device compiler's optimisations, which takes much longer."""

FAST = ("-cl-opt-disable",)


def facts(variant: Variant) -> dict[str, list[str]]:
    """By what a case is counted."""
    launch = variant.kernel.transformation
    assert isinstance(launch, OpenCL)
    found = common_facts(variant)
    found["launch shape"] += [name for name in ("workGroups", "sizeHint", "vecHint") if getattr(launch, name)]
    found["launch shape"] += ["driver's groups"] * (launch.workItemsPerGroup == (0,))
    return found


def build(options: Sequence[str]) -> Build:
    """What builds kernels in a worker process; a driver's known faults are not asked for."""

    def placed(variants: Sequence[Variant], folder: Path) -> Runner:
        PLACES[:] = [Place(folder, faults=tuple(fault.feature for fault in survey().devices[0].faults))]
        return opencl_build(options)(variants, folder)

    return placed


COMPARISON = Comparison(
    draw=random_kernel,
    build=build,
    options=lambda number: () if number % OPTIMISED == OPTIMISED - 1 else FAST,
    facts=facts,
    text=lambda variant: device_program(variant.plans),
)


def main() -> int:
    """Run from the command line; exit status 1 when a result differs, 3 without an OpenCL device."""
    parser = arguments_of(__doc__ or "")
    parser.add_argument("--optimised", action="store_true", help="with --case: with the device's optimiser")
    arguments = parser.parse_args()
    found = survey()
    if not found.devices:
        print(f"no OpenCL device: {found.problem}; {found.advice}", file=sys.stderr)
        return 3
    print(f"on {found.devices[0].label}" + (f", {found.setting}" if found.setting else ""))
    os.environ.update(found.environment)
    if arguments.case is not None:
        return one_case(arguments.case, COMPARISON, () if arguments.optimised else FAST)
    return report(arguments, COMPARISON)


if __name__ == "__main__":
    sys.exit(main())
