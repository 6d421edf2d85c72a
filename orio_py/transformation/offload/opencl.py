"""OpenCL: run a loop nest as a kernel on a device, any device that an OpenCL driver offers.

    for (i = 0; i < n; i++)             {
      y[i] += a * x[i];                   void orio_opencl_axpy_0(double *y, const double *x, …);
                                          orio_opencl_axpy_0(y, x, n, n, a, n);
                                        }

The function that is called copies arrays to the device and back and starts the kernel; it is generated with
the kernel's text from the plan that the call carries.  Iterations of the mapped loops run at the same time, so
that they must not depend on each other; sums and the like are combined from partial results.

Source: N. Chaimov, B. Norris and A. Malony, "Toward Multi-target Autotuning for Accelerators", ICPADS 2014,
section III; for the parameters' names also Orio's CUDA generator: A. Mametjanov et al., "Autotuning stencil-based
computations on GPUs", CLUSTER 2012.
"""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.core.expr import Value
from orio_py.ctree.nodes import Node
from orio_py.kernel.backend import Backend
from orio_py.kernel.backends.opencl import BACKEND
from orio_py.kernel.call import kernel_plans
from orio_py.kernel.plan import DeviceOptions, Layout
from orio_py.transformation.arguments import boolean, text, wrong
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.offload.arguments import OffloadArguments
from orio_py.transformation.offload.device_step import DeviceStep, never
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
    stage_spec,
)
from orio_py.transformation.sites import Choice

_LAYOUTS = "'row', 'column', 'aos' or 'soa', or a list such as ['p:soa', 'A:column']"
_VECTORS = (0, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class OpenCL(DeviceStep):
    """Run the loops over `loop`, or the outermost ones, as kernels of a device.

    `workGroups` and `workItemsPerGroup` are the launch shape; `threadCount` and `blockCount` are CUDA's names for
    them.
    """

    workGroups: Counts = None
    workItemsPerGroup: Counts = None
    blockCount: Counts = None
    threadCount: Counts = None
    sizeHint: bool = False
    vecHint: int = 0
    clFlags: str = ""
    platform: int | str | None = None
    device: int | str | None = None
    dataOnDevice: bool = False

    @property
    def knows_groups(self) -> bool:
        """Whether the size of groups is not left to the driver."""
        return (0,) not in (self.workItemsPerGroup, self.threadCount)

    @property
    def backend(self) -> Backend:
        """The language of the kernels."""
        return BACKEND

    def language_arguments(self, node: Node) -> OffloadArguments:
        """The launch shape, and what OpenCL's compiler is told.  Raises Refusal: ORIO-T129, T144."""
        if self.dataOnDevice and self.streamCount > 1:
            excluded("streamCount", "dataOnDevice", "a caller's queue is one", node)
        if self.dataOnDevice and self.layout != Layout.ROW:
            excluded("layout", "dataOnDevice", "a caller's arrays lie as the region's do", node)
        return OffloadArguments(
            BACKEND.title,
            BACKEND,
            items=self._one("workItemsPerGroup", "threadCount", node),
            groups=self._one("workGroups", "blockCount", node),
            options=DeviceOptions(
                self.sizeHint,
                self.vecHint,
                self.clFlags,
                platform=self.platform,
                device=self.device,
                on_device=self.dataOnDevice,
            ),
        )

    def apply_where(self, node: Node, context: Context, chosen: Choice, is_left_over: Choice = never) -> Node:
        """As those of other languages, without values that the host combines where arrays are the caller's.

        Raises Refusal like `apply`.
        """
        result = DeviceStep.apply_where(self, node, context, chosen, is_left_over)
        reductions = [r.name for plan in kernel_plans(result) for r in plan.reductions]
        if self.dataOnDevice and reductions:
            message = f"`dataOnDevice` is given, and `{reductions[0]}` is a value of the host's"
            refuse("ORIO-T144", message, node, argument="dataOnDevice")
        return result

    def _one(self, name: str, other: str, node: Node) -> Counts:
        """The value of an argument that has two names.  Raises Refusal: ORIO-T129."""
        first: Counts = getattr(self, name)
        second: Counts = getattr(self, other)
        if first is not None and second is not None:
            refuse(
                "ORIO-T129",
                f"`{name}` and `{other}` are two names of one argument, and both are given",
                node,
                argument=other,
            )
        return first if second is None else second


def _vector_length(value: Value, name: str) -> int:
    """Raises Refusal: ORIO-T010."""
    return one_of(value, name, _VECTORS, "0, 2, 4, 8 or 16")


def _items(value: Value, name: str) -> Counts:
    """As `counts`; 0 stands for what the driver likes.  Raises as it does."""
    return (0,) if value == 0 and not isinstance(value, bool) else counts(value, name)


def _number_or_name(value: Value, name: str) -> int | str | None:
    """The number or a part of the name of a device or platform.  Raises Refusal: ORIO-T010."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        wrong(name, "a number from 0 on, or a part of the name", value)
    return value


ENTRY = Entry(
    BACKEND.title,
    "run a loop nest as a kernel on an OpenCL device",
    (
        LOOP,
        ND,
        ArgumentSpec(
            "workGroups",
            SHAPE,
            "number of work groups; 0, the default: as many as are needed",
            as_needed,
            "as needed",
        ),
        ArgumentSpec(
            "workItemsPerGroup", SHAPE, "work items in a group; 0: as many as the driver likes", _items, "64"
        ),
        ArgumentSpec("blockCount", SHAPE, "CUDA's name of `workGroups`", as_needed, "as needed"),
        ArgumentSpec("threadCount", SHAPE, "CUDA's name of `workItemsPerGroup`", _items, "64"),
        coarsen_spec("work item"),
        SPREAD,
        UNROLL,
        ArgumentSpec("sizeHint", "True or False", "tell the compiler the group size", boolean, "False"),
        ArgumentSpec(
            "vecHint", "0, 2, 4, 8 or 16", "length for `vec_type_hint`; 0: none", _vector_length, "0"
        ),
        ArgumentSpec("clFlags", "string", "options for the device's compiler", text, "''"),
        ArgumentSpec(
            "platform",
            "number or part of the name",
            "the OpenCL platform",
            _number_or_name,
            "the first that serves",
        ),
        ArgumentSpec(
            "device",
            "number or part of the name",
            "the device of the platform",
            _number_or_name,
            "the first that serves",
        ),
        ArgumentSpec(
            "dataOnDevice",
            "True or False",
            "also a function for arrays that are on the device already",
            boolean,
            "False",
        ),
        STREAMS,
        stage_spec("items", "group", "local memory"),
        TILE,
        REGISTERS,
        ROW,
        MARCH,
        COPIES,
        VECTOR,
        LAYOUT,
        FORCE,
    ),
    OpenCL,
)
