"""CUDA: run a loop nest as a kernel on an NVIDIA GPU.

    for (i = 0; i < n; i++)             {
      y[i] += a * x[i];                   void orio_cuda_axpy_0(double *y, const double *x, …);
                                          orio_cuda_axpy_0(y, x, n, n, a, n);
                                        }

The function that is called copies arrays to the device and back and starts the kernel; it is generated with
the kernel's text from the plan that the call carries, the same plan as OpenCL's.

Source: for the arguments' names A. Mametjanov et al., "Autotuning stencil-based computations on GPUs", CLUSTER
2012; N. Chaimov, B. Norris and A. Malony, "Toward Multi-target Autotuning for Accelerators", ICPADS 2014; for what
they mean CUDA C++ Programming Guide, chapters 3 and 7.
"""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.core.expr import Value
from orio_py.core.registry import did_you_mean
from orio_py.ctree.nodes import Node
from orio_py.kernel.backend import Backend
from orio_py.kernel.backends.cuda import BACKEND
from orio_py.kernel.plan import CudaOptions, DeviceOptions
from orio_py.machine.catalog import gpu_model, gpu_models
from orio_py.machine.device import GpuModel
from orio_py.transformation.arguments import boolean, text
from orio_py.transformation.base import refuse
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
    excluded,
    one_of,
    optional_factor,
    stage_spec,
)

_L1_KIB = (0, 16, 32, 48)
_KIB = 64
"""The memory of which `preferL1Size` names the part for the first-level cache: that of the GPUs of its time."""


@dataclass(frozen=True, slots=True)
class CUDA(DeviceStep):
    """Run the loops over `loop`, or the outermost ones, as kernels of a GPU.

    `domain` names the loops that become dimensions, as `nd` does, in one text.  `arch` is the architecture whose
    limits count, '' for what all from `sm_75` on have.
    """

    threadCount: Counts = None
    blockCount: Counts = None
    preferL1Size: int = 0
    pinHostMem: bool = False
    dataOnDevice: bool = False
    domain: tuple[str, ...] = ()
    launchBounds: int | None = None
    maxRegisters: int | None = None
    arch: str = ""

    @property
    def backend(self) -> Backend:
        """The language of the kernels."""
        return BACKEND

    def language_arguments(self, node: Node) -> OffloadArguments:
        """The launch shape, limits, and what CUDA's compiler and runtime are told.

        Raises Refusal: ORIO-T144.
        """
        if self.domain and self.nd != 1:
            excluded("domain", "nd", "both name the loops that become dimensions", node)
        if self.launchBounds is not None and self.maxRegisters is not None:
            excluded("launchBounds", "maxRegisters", "a kernel has one way to limit its registers", node)
        return OffloadArguments(
            BACKEND.title,
            BACKEND,
            nd=self.domain or 1,
            items=self.threadCount,
            groups=self.blockCount,
            options=DeviceOptions(
                cuda=CudaOptions(
                    self.launchBounds,
                    self.maxRegisters,
                    100 * (_KIB - self.preferL1Size) // _KIB if self.preferL1Size else None,
                    self.pinHostMem,
                    self.arch,
                ),
                on_device=self.dataOnDevice,
            ),
            model=self._model(),
        )

    def _model(self) -> GpuModel:
        model = gpu_model(self.arch or OLDEST)
        assert model is not None, f"no architecture {self.arch}"
        return model


def _l1_size(value: Value, name: str) -> int:
    """Raises Refusal: ORIO-T010."""
    return one_of(value, name, _L1_KIB, "0, 16, 32 or 48")


def _domain(value: Value, name: str) -> tuple[str, ...]:
    """The loops that a text names, slowest first.  Raises Refusal: ORIO-T010."""
    if value is None:
        return ()
    names = tuple(part.strip() for part in text(value, name).split(",") if part.strip())
    if any(not part.isidentifier() for part in names) or len(names) > 3:
        refuse(
            "ORIO-T010",
            f"`{name}` is '{value}'; it must name one to three loops, slowest first, as in 'k, j, i'",
            None,
            argument=name,
        )
    return names


def _architecture(value: Value, name: str) -> str:
    """Raises Refusal: ORIO-T010."""
    words = text(value, name)
    known = [name for name in gpu_models() if int(name[3:]) >= int(OLDEST[3:])]
    model = gpu_model(words)
    if words and (model is None or model.architecture not in known):
        refuse(
            "ORIO-T010",
            f"`{name}` is '{words}', which is no architecture that is known",
            None,
            help=did_you_mean(words, known),
            argument=name,
        )
    return words


ENTRY = Entry(
    BACKEND.title,
    "run a loop nest as a kernel on an NVIDIA GPU",
    (
        LOOP,
        ND,
        ArgumentSpec(
            "domain",
            "text such as 'k, j, i'",
            "the loops of a stencil that become dimensions, slowest first: another form of `nd`",
            _domain,
            "None",
        ),
        ArgumentSpec("threadCount", SHAPE, "threads in a block", counts, "128"),
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
            "preferL1Size",
            "0, 16, 32 or 48",
            "KiB of 64 that should be first-level cache, the rest shared memory; 0: as the driver decides",
            _l1_size,
            "0",
        ),
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
        ArgumentSpec(
            "launchBounds",
            "integer, at least 1",
            "blocks that a multiprocessor should hold at least: limits registers",
            optional_factor,
            "off",
        ),
        ArgumentSpec(
            "maxRegisters", "integer, at least 1", "most registers of a thread", optional_factor, "off"
        ),
        ArgumentSpec(
            "arch", "name such as 'sm_90'", "the architecture whose limits count", _architecture, "''"
        ),
        FORCE,
    ),
    CUDA,
)
