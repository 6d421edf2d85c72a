"""HIP: run a loop nest as a kernel on an AMD GPU.

    for (i = 0; i < n; i++)             {
      y[i] += a * x[i];                   void orio_hip_axpy_0(double *y, const double *x, …);
                                          orio_hip_axpy_0(y, x, n, n, a, n);
                                        }

The function that is called copies arrays to the device and back and starts the kernel; it is generated with the
kernel's text from the plan that the call carries, the same plan as CUDA's.

Source: HIP documentation, "HIP C++ language extensions" and "Hardware features", AMD ROCm 6.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from orio_py.core.expr import Value
from orio_py.ctree.nodes import Node
from orio_py.kernel.backend import Backend
from orio_py.kernel.backends.hip import BACKEND
from orio_py.kernel.plan import CudaOptions, DeviceOptions
from orio_py.machine.catalog import gpu_model
from orio_py.transformation.arguments import boolean, text, wrong
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.offload.arguments import OffloadArguments
from orio_py.transformation.offload.device_step import DeviceStep
from orio_py.transformation.offload.limits import OLDEST
from orio_py.transformation.offload.step_arguments import (
    COPIES,
    LAYOUT,
    LOOP,
    MARCH,
    ND,
    REGISTERS,
    ROW,
    SHAPE,
    SPREAD,
    STREAMS,
    TILE,
    UNROLL,
    VECTOR,
    Counts,
    as_needed,
    coarsen_spec,
    counts,
    stage_spec,
)


@dataclass(frozen=True, slots=True)
class HIP(DeviceStep):
    """Run the loops over `loop`, or the outermost ones, as kernels of a GPU.

    `arch` is what hipcc compiles for, '' for its own choice.  Blocks and grids keep to the limits of the oldest GPU of
    CUDA's that is served, which no GPU of AMD's is below.
    """

    threadCount: Counts = None
    blockCount: Counts = None
    pinHostMem: bool = False
    dataOnDevice: bool = False
    arch: str = ""

    @property
    def backend(self) -> Backend:
        """The language of the kernels."""
        return BACKEND

    def language_arguments(self, node: Node) -> OffloadArguments:
        """The launch shape, limits, and what the runtime is told."""
        del node
        options = CudaOptions(pins=self.pinHostMem, architecture=self.arch)
        return OffloadArguments(
            BACKEND.title,
            BACKEND,
            items=self.threadCount,
            groups=self.blockCount,
            options=DeviceOptions(cuda=options, on_device=self.dataOnDevice),
            model=gpu_model(OLDEST),
        )


def _architecture(value: Value, name: str) -> str:
    """Raises Refusal: ORIO-T010."""
    words = text(value, name)
    if words and re.fullmatch(r"gfx[0-9a-f]{3,4}", words) is None:
        wrong(name, "a name such as 'gfx90a'", value)
    return words


ENTRY = Entry(
    BACKEND.title,
    "run a loop nest as a kernel on an AMD GPU",
    (
        LOOP,
        ND,
        ArgumentSpec("threadCount", SHAPE, "threads in a block", counts, "256"),
        ArgumentSpec(
            "blockCount",
            SHAPE,
            "number of blocks; 0, the default: as many as are needed",
            as_needed,
            "as needed",
        ),
        coarsen_spec("thread"),
        SPREAD,
        UNROLL,
        STREAMS,
        stage_spec("threads", "block", "shared memory"),
        TILE,
        REGISTERS,
        ROW,
        MARCH,
        COPIES,
        VECTOR,
        LAYOUT,
        ArgumentSpec(
            "pinHostMem", "True or False", "copy through pinned memory of the host", boolean, "False"
        ),
        ArgumentSpec(
            "dataOnDevice",
            "True or False",
            "also a function for arrays that are on the device already",
            boolean,
            "False",
        ),
        ArgumentSpec("arch", "name such as 'gfx90a'", "what hipcc compiles for", _architecture, "''"),
        FORCE,
    ),
    HIP,
)
