"""Emulated times of launches, and what other models say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from benchmarks.emulation.baselines import mwp_cwp_seconds, roofline_seconds
from benchmarks.emulation.points import Point
from orio_py.build.compiler import BuildFailure
from orio_py.build.cuda import CudaBinary, CudaBuildOptions
from orio_py.build.cuda_catalog import cuda_compiler
from orio_py.build.disassembler import find_nvdisasm
from orio_py.build.launch_emulation import MachineCode, emulated_gpu
from orio_py.core.units import Bytes, Seconds
from orio_py.emulation.launch import USUAL_POLICY, DataPolicy, KernelLaunch
from orio_py.emulation.prediction import Emulator
from orio_py.emulation.signature import bind_arguments, signatures
from orio_py.emulation.summary import summarize
from orio_py.machine.timing import Resource

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is said of a launch before it runs; times in seconds.

    `error` is what the emulation says that shortened loops may cost, `bound` what no launch can be faster than: the time in which
    the busiest resource takes all requests, or all instructions are issued.
    """

    point: Point
    emulated: Seconds
    roofline: Seconds
    mwp_cwp: Seconds
    error: float
    bound: Seconds
    busiest: str
    occupancy: float = 1.0


@dataclass
class Forecaster:
    """Forecasts of the kernels of a CUDA text for a GPU; `options` are flags of the compiler, `policy` what data decide."""

    text: str
    gpu: str
    options: tuple[str, ...] = ()
    policy: DataPolicy = USUAL_POLICY
    _code: MachineCode | None = field(init=False, default=None)

    @cached_property
    def binary(self) -> CudaBinary:
        """The machine code.  Raises EnvironmentProblem without a compiler, RuntimeError where it does not compile."""
        timing = emulated_gpu(self.gpu)
        built = cuda_compiler().compile(
            self.text, timing.architecture, CudaBuildOptions(line_info=True, flags=self.options)
        )
        if isinstance(built, BuildFailure):
            raise RuntimeError(f"{built.reason}\n{built.log}")
        return built

    @cached_property
    def code(self) -> MachineCode:
        """The machine code as it is emulated."""
        return MachineCode.of(self.binary.cubin, emulated_gpu(self.gpu), find_nvdisasm(), "kernels.cu")

    def emulator(self, point: Point) -> Emulator:
        """What emulates a launch."""
        numbers = {name: str(value) for name, value in point.numbers.items()}
        parameters = signatures(self.text).get(point.kernel, ())  # by number where a macro writes the kernel
        arguments = bind_arguments(point.kernel, parameters, self.code.layouts[point.kernel], numbers)
        launch = KernelLaunch(point.grid, point.block, arguments, Bytes(point.shared_bytes))
        return self.code.emulator(self.binary.kernel(point.kernel), launch, self.policy)

    def forecast(self, point: Point) -> Forecast:
        """What is said of a launch."""
        emulator = self.emulator(point)
        prediction = emulator.predict()
        summary = summarize(emulator)
        shares: dict[str, float] = {str(r): s for r, s in prediction.utilization.items()}
        shares["issue"] = prediction.issue_share
        busiest = max(shares, key=lambda name: shares[name])
        return Forecast(
            point,
            prediction.seconds,
            Seconds(roofline_seconds(emulator, summary)),
            Seconds(mwp_cwp_seconds(emulator, summary)),
            prediction.error,
            Seconds(shares[busiest] * prediction.seconds),
            busiest,
            prediction.kernel.occupancy.share,
        )


def own_kernels(gpu: str) -> Forecaster:
    """The kernels of this benchmark."""
    return Forecaster((HERE / "kernels.cu").read_text(encoding="utf-8"), gpu)


MOST_ERROR = 0.1
"""By how much shortened loops may be wrong."""


def problems(forecasts: Sequence[Forecast]) -> list[str]:
    """What cannot be: faster than the busiest resource, loops that do not extrapolate, or an order beyond doubt that is wrong."""
    found = [
        f"{f.point.label}: {f.emulated:.3g} s, but {f.busiest} alone takes {f.bound:.3g} s"
        for f in forecasts
        if f.bound > 1.03 * f.emulated
    ]
    found += [
        f"{f.point.label}: shortened loops may be wrong by {f.error:.0%}"
        for f in forecasts
        if f.error > MOST_ERROR
    ]
    best: dict[tuple[str, str], float] = {}
    for f in forecasts:
        key = f.point.space, f.point.kernel
        best[key] = min(best.get(key, f.emulated), f.emulated)
    found += [
        f"{space}: {slow} is faster than {fast}"
        for space, fast, slow in BEYOND_DOUBT
        if best.get((space, fast), 0.0) > best.get((space, slow), float("inf"))
    ]
    return found


BEYOND_DOUBT = (
    ("product", "mm_tiled", "mm_naive"),
    ("product", "mm_registers", "mm_tiled"),
    ("product 2048", "mm_registers", "mm_tiled"),
    ("product 4096", "mm_registers", "mm_tiled"),
    ("transpose 2048", "transpose_padded", "transpose_conflicts"),
    ("transpose 4096", "transpose_padded", "transpose_naive"),
)
"""Spaces with kernels of which the first is faster than the second on any GPU."""

ALL_RESOURCES = (*map(str, Resource), "issue")
