"""Reports of a text for several architectures."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cuda_compilers import CUBINS, Answering, nvrtc_or_skip

from orio_py.build.compiler import BuildFailure
from orio_py.build.cuda import CudaBinary, CudaBuildOptions
from orio_py.build.cuda_report import build_report, kernel_occupancy
from orio_py.core.units import Bytes, Seconds
from orio_py.machine.occupancy import Limit
from orio_py.record.cuda import KernelUsage

KERNEL = KernelUsage(
    "f", 64, Bytes(0), Bytes(0), Bytes(0), Bytes(8192), Bytes(544), Bytes(16), barriers=1, max_threads=None
)


def test_kernels_failures_and_occupancies_stand_side_by_side():
    binary = CudaBinary("sm_90", b"", (KERNEL,), "", Seconds(0.25), "")
    refused = BuildFailure("nvcc: too much", "log")
    compiler = Answering(
        {"sm_90": binary, "sm_80": refused, "sm_110": replace(binary, architecture="sm_110")}
    )
    options = CudaBuildOptions(max_registers=64)
    hopper, ampere, thor = build_report(
        "text",
        ("sm_90", "sm_80", "sm_110"),
        compiler=compiler,
        threads_per_block=256,
        options=options,
        dynamic_shared_bytes=Bytes(65536),
    )
    assert compiler.asked == [("text", name, options) for name in ("sm_90", "sm_80", "sm_110")]
    assert (hopper.architecture, hopper.seconds, hopper.failure) == ("sm_90", 0.25, None)
    (kernel,) = hopper.kernels
    assert kernel.usage is KERNEL
    assert kernel.occupancy is not None
    # 228 KiB hold three blocks of 72 KiB and 1 KiB for the driver; registers would allow four.
    assert (kernel.occupancy.blocks, kernel.occupancy.limits) == (3, (Limit.SHARED_MEMORY,))
    assert (ampere.failure, ampere.kernels) == (refused, ())
    assert thor.kernels[0].occupancy is None  # its limits are not known


def test_launch_bounds_limit_the_block():
    bound = replace(KERNEL, max_threads=128)
    fits = kernel_occupancy(bound, "sm_90", 128, Bytes(0))
    assert fits is not None
    assert fits.problem is None
    over = kernel_occupancy(bound, "sm_90", 256, Bytes(0))
    assert over is not None
    assert over.problem == "256 threads in a block, of at most 128 by its launch bounds"


@pytest.mark.nvrtc
def test_a_report_of_nvrtc():
    compiler = nvrtc_or_skip()
    source = (CUBINS / "kernels.cu").read_text()
    (report,) = build_report(source, ("sm_80",), compiler=compiler, threads_per_block=128)
    assert report.seconds > 0.0
    shares = {k.usage.name: k.occupancy.share for k in report.kernels if k.occupancy is not None}
    assert shares["scale"] == 1.0
    assert set(shares) == {"recursive", "scale", "spilled", "turn", "without_parameters"}
