"""The benchmark of emulations: its points, scores, other models, published times, and the way that it measures."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
from cuda_compilers import nvrtc_or_skip
from fake_cuda import MadeUp

from benchmarks.emulation import __main__ as command
from benchmarks.emulation.baselines import WarpParallelism
from benchmarks.emulation.measuring import CHAINS, RATES, measure_points, microbenchmarks, rate_shape
from benchmarks.emulation.points import Point, points, shape, threads
from benchmarks.emulation.predicting import HERE, Forecast, own_kernels, problems
from benchmarks.emulation.published import published_times
from benchmarks.emulation.scores import Accuracy, kendall, lost
from orio_py.build.cuda_cpu import cuda_on_cpu
from orio_py.core.units import Seconds
from orio_py.emulation.signature import signatures
from orio_py.machine.timing import gpu_timing

KNOWN = signatures((HERE / "kernels.cu").read_text())
SOME = Point("copy", "copy", shape(4), shape(64), {"n": 256}, {"x": 256, "y": 256})


def test_there_are_enough_points_and_each_is_a_launch_of_a_kernel():
    every = points()
    assert len(every) >= 60
    assert len({point.label for point in every}) == len(every)
    assert {point.kernel for point in every} == set(KNOWN)
    for point in every:
        names = {parameter.name for parameter in KNOWN[point.kernel]}
        assert names == {*point.numbers, *point.arrays}
        assert threads(point) > 0
    spaces = [point.space for point in every]
    assert sum(spaces.count(space) >= 4 for space in set(spaces)) >= 6


def test_published_times_have_sources_and_gpus_that_are_known():
    every = list(published_times())
    assert len(every) >= 30
    assert all(one.source and gpu_timing(one.gpu) is not None and one.seconds > 0 for one in every)
    # 1.88 * 10^9 bytes per second for an array of 2^27 doubles
    fastest = next(o for o in every if (o.gpu, o.point.kernel, o.point.block[0]) == ("A100", "init", 1024))
    assert fastest.seconds == pytest.approx(2**27 * 8 / 1.88e12, rel=1e-3)
    # 309 * 10^9 operations per second for 2 * 4096^3
    slowest = next(o for o in every if o.point.kernel == "product_columns")
    assert slowest.seconds == pytest.approx(2 * 4096**3 / 309e9)
    assert {one.point.kernel for one in every} == set(signatures((HERE / "published.cu").read_text()))


def test_scores():
    found = Accuracy.of([(1.1, 1.0), (0.7, 1.0), (2.0, 2.0)])
    assert (found.count, found.median, found.within_20) == (3, pytest.approx(0.1), pytest.approx(2 / 3))
    assert found.mean == pytest.approx((0.1 * 0.3 * 1e-4) ** (1 / 3))
    with pytest.raises(ValueError, match="nothing"):
        Accuracy.of([])
    assert kendall([1, 2, 3, 4], [1, 2, 4, 3]) == pytest.approx(4 / 6)
    assert kendall([1, 1], [1, 2]) == 0.0
    assert lost([2, 1, 3], [10, 12, 30]) == pytest.approx(0.2)


def test_the_cases_of_mwp_cwp():
    """Equations 22 to 24 of Hong and Kim 2009: enough warps for nothing, memory, computation."""
    few = WarpParallelism(
        warps=2, computation=100, memory=800, accesses=2, latency=400, departure=4, synchronisations=0,
        repetitions=1, peak_warps=100,
    )  # fmt: skip
    assert (few.mwp, few.cwp) == (2, 2)
    assert few.cycles == 800 + 100 + 50 * 1
    memory = replace(few, warps=32, peak_warps=8)
    assert (memory.mwp, memory.cwp) == (8, 9)
    assert memory.cycles == 800 * 32 / 8 + 50 * 7
    computation = replace(few, warps=32, computation=700, departure=20)
    assert (computation.mwp, round(computation.cwp, 2)) == (20, 2.14)
    assert computation.cycles == 400 + 700 * 32
    assert replace(computation, synchronisations=3, blocks=2).cycles - computation.cycles == 20 * 19 * 3 * 2
    assert replace(few, accesses=0, memory=0).cycles == 200


def test_what_cannot_be_is_told():
    right = Forecast(SOME, Seconds(2.0), Seconds(1.0), Seconds(1.0), 0.0, Seconds(1.9), "dram")
    assert problems([right]) == []
    assert "dram alone takes" in problems([replace(right, bound=Seconds(3.0))])[0]
    assert "shortened loops" in problems([replace(right, error=0.3)])[0]
    tiled, naive = (
        replace(right, point=replace(SOME, space="product", kernel=name), emulated=Seconds(seconds))
        for name, seconds in (("mm_tiled", 3.0), ("mm_naive", 2.5))
    )
    assert problems([tiled, naive]) == ["product: mm_naive is faster than mm_tiled"]


@pytest.mark.proof
@pytest.mark.nvrtc
def test_predictions_hold_the_internal_checks(tmp_path, capsys):
    nvrtc_or_skip()
    path = tmp_path / "out.json"
    assert command.main(["--only", "transpose", "--no-published", "--json", str(path)]) == 0
    out = capsys.readouterr().out
    assert "6 points" in out
    assert "internal checks: all hold" in out
    found = json.loads(path.read_text())
    assert len(found["points"]) == 6
    assert all(row["measured"] is None and row["emulated"] > 0.9 * row["roofline"] for row in found["points"])


@pytest.mark.nvrtc
@pytest.mark.proof
def test_all_predictions_and_published_times(capsys):
    """Streams that were published of GPUs to which nothing was fitted: as near as the paper came with measured cache rates."""
    nvrtc_or_skip()
    assert command.main([]) == 0
    pairs = {}
    for one, forecast in command.beside_published():
        pairs.setdefault(one.gpu, []).append((forecast.emulated, one.seconds))
    for gpu in ("H100 PCIe", "H200 SXM"):
        found = Accuracy.of(pairs[gpu])
        assert found.mean < 0.12
        assert found.median < 0.13
    products = pairs["RTX A6000"]
    assert kendall([emulated for emulated, _ in products], [true for _, true in products]) == 1.0


@pytest.mark.nvrtc
def test_microbenchmarks_give_the_numbers_of_the_table_when_they_are_emulated():
    """What they would measure on a GPU that is as the table says."""
    nvrtc_or_skip()
    timing = gpu_timing("H200 SXM")
    made = microbenchmarks(timing.name)

    def cycles(probe, grid, block):
        times = [
            made.forecast(Point("", probe.kernel, grid, block, {"0": steps})).emulated
            for steps in (probe.steps, 2 * probe.steps)
        ]
        return (times[1] - times[0]) * timing.clock_mhz.value * 1e6 / (probe.steps * probe.each)

    for probe in CHAINS:
        if probe.kernel in ("chain_float", "chain_double", "chain_imad"):
            assert cycles(probe, shape(1), shape(32)) == pytest.approx(
                timing.resources[probe.resource].latency.value, rel=0.15
            )
    grid, block = rate_shape(timing)
    for probe in RATES:
        if probe.kernel in ("rate_double", "rate_shared"):
            parts = 1 if probe.resource.is_shared_by_partitions else 4
            gap = cycles(probe, grid, block) * parts / (block[0] // 32)
            assert gap == pytest.approx(timing.resources[probe.resource].gap.value, rel=0.25)


@pytest.mark.proof
@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_points_are_measured_on_any_driver(tmp_path):
    """On the executor, with times that are made up: launches are right, and nothing is read beyond an array."""
    text = (HERE / "kernels.cu").read_text()
    built = cuda_on_cpu(tmp_path).build_library(text, tmp_path / "kernels.so")
    binary = type("Binary", (), {"cubin": built.path.read_bytes()})()
    driver = MadeUp("sm_90", tmp_path)
    small = [point for point in points(64) if 0 < threads(point) <= 1 << 14]
    chosen = list({point.kernel: point for point in [*small, SOME]}.values())
    try:
        found = measure_points(driver, binary, chosen)
    finally:
        driver.close()
    assert [one.point for one in found] == chosen
    assert len(chosen) >= 5
    assert all(0 < one.least <= one.seconds for one in found)


def test_without_a_gpu_nothing_is_measured(capsys):
    assert command.main(["--measure"]) in (0, 3)


@pytest.mark.proof
@pytest.mark.nvrtc
def test_own_kernels_compile_for_other_gpus():
    nvrtc_or_skip()
    assert {kernel.name for kernel in own_kernels("T4").binary.kernels} == set(KNOWN)
