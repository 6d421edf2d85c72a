"""Compare random loop nests in C with the CUDA kernels that they become, run on the processor.

Each seed gives a nest of one to three loops over arrays of all element types, and arguments of `CUDA(...)`.  Nests
that are not refused are compiled with traps for undefined behaviour and run beside their kernels and the generated
host code for several sizes, with each access checked for races, bounds and elements that nobody wrote.  Arrays,
scalars and indices must be the same afterwards, bit for bit where the values are whole numbers, within the bound of
rounding where they are fractions.  Arrays end, or begin, at an inaccessible page where the original reaches no
further: who copies more crashes.  Kernels run in processes of their own: a crash is a finding like another.

    python benchmarks/cuda_equivalence.py --count 5000 --seed 1 --jobs 2
    python benchmarks/cuda_equivalence.py --case 1000017      # one case, in full
"""

from __future__ import annotations

import sys
import tempfile
from math import prod
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from equivalence_workers import Comparison, arguments_of, common_facts, one_case, report  # noqa: E402
from offload_equivalence import Variant  # noqa: E402
from offload_equivalence_cuda import RUNS, cuda_build, random_cuda_kernel  # noqa: E402

from orio_py.build.cuda_cpu import cuda_on_cpu  # noqa: E402
from orio_py.codegen.cuda.device import cuda_program  # noqa: E402
from orio_py.core.diagnostics import EnvironmentProblem  # noqa: E402
from orio_py.core.resources import CACHE_FOLDER  # noqa: E402
from orio_py.transformation.offload.cuda import CUDA  # noqa: E402

COUNTED = (
    "blockCount",
    "preferL1Size",
    "pinHostMem",
    "dataOnDevice",
    "domain",
    "launchBounds",
    "maxRegisters",
)


def facts(variant: Variant) -> dict[str, list[str]]:
    """By what a case is counted."""
    launch = variant.kernel.transformation
    assert isinstance(launch, CUDA)
    found = common_facts(variant)
    found["launch shape"] += [name for name in COUNTED if getattr(launch, name)]
    whole = [prod(plan.launch.block_size) % 32 == 0 for plan in variant.plans if plan.reductions]
    found["blocks that combine"] = ["whole warps" if is_whole else "parts of warps" for is_whole in whole]
    return found


COMPARISON = Comparison(
    draw=random_cuda_kernel,
    build=cuda_build,
    options=lambda number: (RUNS[number % len(RUNS)],),
    facts=facts,
    text=lambda variant: cuda_program(variant.plans),
)


def main() -> int:
    """Run from the command line; exit status 1 when a result differs, 3 without a C++ compiler."""
    parser = arguments_of(__doc__ or "")
    parser.add_argument("--run", choices=RUNS, default=RUNS[0], help="with --case: options of the executor")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="orio-equivalence-") as folder:
        try:
            cuda_on_cpu(Path(folder))
        except EnvironmentProblem as problem:
            print(problem, file=sys.stderr)
            return 3
        CACHE_FOLDER.set(Path(folder))  # of the compiled executor
        if arguments.case is not None:
            return one_case(arguments.case, COMPARISON, (arguments.run,))
        return report(arguments, COMPARISON)


if __name__ == "__main__":
    sys.exit(main())
