"""Predictions from stored listings: bounds that every kernel keeps to, caches, and what limits a kernel."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from orio_py.build.emulation_core import emulation_core
from orio_py.emulation.block_runs import all_blocks
from orio_py.emulation.caches import Residents
from orio_py.emulation.launch import DataPolicy, KernelLaunch, active_threads, launch_values, sample_blocks
from orio_py.emulation.outcome import EmulatedKernel
from orio_py.emulation.plain_core import emulate_plainly
from orio_py.emulation.prediction import Emulator, l1_bytes
from orio_py.emulation.program import folded
from orio_py.emulation.sensitivity import ResourceBound, sensitivity
from orio_py.emulation.threads import follow
from orio_py.emulation.trace import Repeat
from orio_py.machine.occupancy import occupancy
from orio_py.machine.timing import Resource, gpu_timing
from orio_py.record.cuda import ParameterLayout
from orio_py.sass.listing import parse_listing

LISTINGS = Path(__file__).resolve().parents[1] / "sass" / "listings"
LAYOUTS = {
    "naive_sm_90": ParameterLayout(0x210, ((0, 4), (8, 8), (16, 8), (24, 8))),
    "vecaxpy_sm_90": ParameterLayout(0x210, ((0, 4), (8, 8), (16, 8), (24, 8))),
    "vecaxpy_sm_75": ParameterLayout(0x160, ((0, 4), (8, 8), (16, 8), (24, 8))),
}
A, B, C = (number << 40 for number in (1, 2, 3))


def emulator(name, grid, block, arguments, *, gpu="H200 SXM", registers=32, core=None):
    (function,) = parse_listing((LISTINGS / f"{name}.sass").read_text())
    timing = gpu_timing(gpu)
    launch, sample = KernelLaunch(grid, block, arguments), sample_blocks(grid)
    values = launch_values(launch, LAYOUTS[name], int(timing.architecture[3:]), sample.blocks)
    trace = follow(function, values, active_threads(launch, len(sample.blocks)), launch.warps, DataPolicy())
    found = occupancy(
        timing.model,
        threads_per_block=launch.threads,
        registers_per_thread=registers,
        shared_bytes_per_block=0,
    )
    return Emulator(
        EmulatedKernel(function, launch, sample, trace, found, timing, 0), core or emulation_core()
    )


def axpy(n, gpu="H200 SXM", name="vecaxpy_sm_90", core=None):
    return emulator(
        name, (-(-n // 256), 1, 1), (256, 1, 1), {0: n, 2: A, 3: B}, gpu=gpu, core=core, registers=16
    )


def product(n, **options):
    return emulator("naive_sm_90", (n // 16, n // 16, 1), (16, 16, 1), {0: n, 1: A, 2: B, 3: C}, **options)


class Counted:
    """A core that counts the instructions that it issues."""

    def __init__(self, core):
        self.core, self.issued, self.machines, self.lengths = core, 0, [], []

    def __call__(self, steps, machine, work, **options):
        found = self.core(steps, machine, work, **options)
        self.issued += found.issued
        self.machines.append(machine)
        return found

    def together(self, steps, machine, works, shared):
        self.lengths.append(len(works))
        found = self.core.together(steps, machine, works, shared)
        self.issued += sum(one.issued for one in found)
        self.machines.append(machine)
        return found


class Apart(Counted):
    """What loops of several lengths share is emulated for each."""

    def together(self, steps, machine, works, shared):
        self.lengths.append(len(works))
        return [self(table, machine, work) for table, work in zip(steps, works, strict=True)]


@pytest.mark.parametrize(
    ("gpu", "name"), [("H200 SXM", "vecaxpy_sm_90"), ("H100 PCIe", "vecaxpy_sm_90"), ("T4", "vecaxpy_sm_75")]
)
def test_streams_take_the_time_of_their_bytes(gpu, name):
    n = 1 << 24
    found = axpy(n, gpu, name).predict()
    bytes_per_second = gpu_timing(gpu).dram_gb_per_s.value * 1e9
    assert found.seconds == pytest.approx(3 * 8 * n / bytes_per_second, rel=0.05)
    assert found.utilization[Resource.DRAM] > 0.9


def test_twice_the_elements_take_twice_the_time():
    assert axpy(1 << 25).predict().cycles == pytest.approx(2 * axpy(1 << 24).predict().cycles, rel=0.03)


def test_what_fits_the_second_level_cache_is_brought_once():
    """2 MB: each element comes from memory once, and nothing has to be written back within the time of the kernel."""
    small = axpy(1 << 16)
    levels = list(small.levels.values())
    assert sum(level.dram for level in levels) == pytest.approx(16.0)
    assert [level.l2 for level in levels] == [8.0] * 3


def test_a_column_is_shared_by_blocks_and_a_row_by_threads():
    found = product(1024)
    function, trace = found.kernel.function, found.kernel.trace
    loads = [
        level
        for place, level in found.levels.items()
        if function.instructions[trace.entries[place][0]].opcode == "LDG"
    ]
    assert {level.sectors for level in loads} == {2.0}
    # Half a warp has 16 elements of a row of B, which the eight warps of a block share: an eighth each goes further.
    assert {round(level.l2, 3) for level in loads} >= {0.25}
    # Of a row of A the next seven elements are there.
    assert sum(level.l2 == 0.0 for level in loads) > len(loads) / 4
    assert all(level.dram < 0.1 for level in loads)


def test_products_grow_with_the_cube():
    small, large = product(512).predict(), product(1024).predict()
    assert large.cycles == pytest.approx(8 * small.cycles, rel=0.25)
    assert large.error < 0.1
    assert large.utilization[Resource.L1] > 0.7


def time_of(found, times):
    """Cycles of all blocks with loops of these lengths."""
    work = found.inner.work(times)
    return all_blocks(found.core(found.rows, found.machine, work), work, found.kernel.blocks_each)[0]


def test_loops_that_are_shortened_give_the_time_of_whole_ones():
    found = product(256)
    whole = dict.fromkeys(found.inner.short_times(), 10**6)
    cycles = time_of(found, whole)
    assert found.predict().cycles == pytest.approx(cycles, rel=0.15)


def test_the_plain_core_predicts_the_same():
    plain, native = axpy(1 << 16, core=emulate_plainly).predict(), axpy(1 << 16).predict()
    assert plain.cycles == pytest.approx(native.cycles, rel=1e-9)


def test_lengths_that_are_emulated_together_predict_the_same():
    together, apart = Counted(emulation_core()), Apart(emulation_core())
    one, other = product(512, core=together), product(512, core=apart)
    first, second = one.predict(), other.predict()
    assert (first.cycles, first.error) == (second.cycles, second.error)
    assert first.site_waits == second.site_waits
    assert sensitivity(one, first, together) == sensitivity(other, second, apart)
    assert together.lengths == apart.lengths
    assert len(together.lengths) > 2
    assert max(together.lengths) == 3


def test_loops_of_several_kinds_of_warps_are_emulated_apart():
    core = Counted(emulation_core())
    found = emulator("naive_sm_90", (63, 63, 1), (16, 16, 1), {0: 1000, 1: A, 2: B, 3: C}, core=core)
    assert len({id(tree) for tree in found.traces[0]}) == 1
    ends = next(runs for block, runs in found.runs.items() if block)
    assert len(ends.different) > 1
    ends.cycles(core, found.machine)
    assert not core.lengths


def test_no_time_is_below_that_of_issuing():
    found = product(512)
    prediction = found.predict()
    issued = sum(found.traces[0][0].counts({}).values()) * found.kernel.launch.warps
    least = issued * found.kernel.launch.blocks / 132 / 4
    assert prediction.cycles > least
    assert prediction.issue_share == pytest.approx(least / prediction.cycles)


def test_a_stream_is_limited_by_the_throughput_of_memory():
    found = axpy(1 << 24)
    report = sensitivity(found, found.predict(), found.core)
    first = report.bottleneck.sensitivity
    assert (first.resource, first.bound) == (Resource.DRAM, ResourceBound.THROUGHPUT)
    assert first.value > 0.7
    assert 0.4 < first.halved < 0.75
    assert report.bottleneck.utilization > 0.9


def test_few_threads_are_limited_by_the_latency_of_memory():
    """One block of a warp: nothing hides the latency."""
    found = emulator("vecaxpy_sm_90", (1, 1, 1), (32, 1, 1), {0: 1 << 16, 2: A, 3: B})
    report = sensitivity(found, found.predict(), found.core)
    first = report.bottleneck.sensitivity
    assert (first.resource, first.bound) == (Resource.DRAM, ResourceBound.LATENCY)
    assert first.value > 0.5


def test_a_product_is_limited_by_its_loads():
    found = product(1024)
    report = sensitivity(found, found.predict(), found.core)
    first = report.bottleneck.sensitivity
    assert (first.resource, first.bound) == (Resource.L1, ResourceBound.THROUGHPUT)
    # All of it in the loop.
    header = max(report.bottleneck.regions, key=report.bottleneck.regions.get)
    assert header in found.loops.headers
    assert report.bottleneck.regions[header] == pytest.approx(first.value, rel=0.3)


@pytest.mark.parametrize("make", [lambda: product(1024), lambda: axpy(1 << 24)])
def test_parameters_that_cannot_tell_are_not_looked_at(make):
    """Sensitivities add up to 1: with one that is near it the others are next to nothing, as changing each shows."""
    found = make()
    prediction = found.predict()
    core = Counted(found.core)
    report = sensitivity(found, prediction, core)
    assert core.issued < 20 * 30_000
    first = report.bottleneck.sensitivity
    assert sum(one.value for one in report.sensitivities) == pytest.approx(1, abs=0.2)
    machine = found.machine
    for other in report.sensitivities[1:]:
        latency, gap = machine.latency.copy(), machine.gap.copy()
        changed = latency if other.bound is ResourceBound.LATENCY else gap
        changed[:, list(Resource).index(other.resource)] *= 1.25
        found.machine = replace(machine, latency=latency, gap=gap)
        cycles = time_of(found, found.inner.short_times())
        found.machine = machine
        plain = time_of(found, found.inner.short_times())
        assert (cycles / plain - 1) / 0.25 < 0.2 < first.value


def test_blocks_at_the_end_that_do_nothing_are_a_class_of_their_own():
    n = 1000
    found = emulator("naive_sm_90", (63, 63, 1), (16, 16, 1), {0: n, 1: A, 2: B, 3: C})
    assert set(found.traces) - {0}
    # Half of the last blocks has no thread to work: the whole takes no longer than if all had.
    assert found.predict().cycles < 1.15 * product(1008).predict().cycles


def test_iterations_are_folded_into_their_loop():
    body = ((5, 10, True), (6, 11, True))
    first = ((5, 1, True), (6, 2, True))
    items = [
        (1, 0, True),
        *first,
        (5, 3, True),
        (6, 4, True),
        Repeat(body, 20, 5),
        *body,
        *body,
        (9, 20, True),
    ]
    # The first iteration finds caches empty, and stays.
    assert folded(items) == ((1, 0, True), *first, Repeat(body, 23, 5), (9, 20, True))
    assert folded([*body, Repeat(body, 3, 5), *body, Repeat(body, 4, 5)]) == (*body, Repeat(body, 8, 5))
    other = ((5, 1, False), (6, 2, True))
    assert folded([*other, Repeat(body, 3, 5)]) == (*other, Repeat(body, 3, 5))


def test_where_blocks_are():
    launch = KernelLaunch((100, 10, 1), (32, 1, 1), {})
    found = Residents.of(launch, 2, 132)
    assert len(found.all) == 264
    assert len(found.near) == 2
    assert [0, 0, 0] in found.near.tolist()
    few = Residents.of(KernelLaunch((3, 1, 1), (32, 1, 1), {}), 1, 3)
    assert np.unique(few.all[:, 0]).tolist() == [-1, 0, 1]


def test_shared_memory_leaves_less_for_the_cache():
    kernel = product(512).kernel
    assert l1_bytes(kernel) == 256 * 1024
    assert l1_bytes(replace(kernel, shared_bytes=16 * 1024)) == (256 - 164) * 1024
