"""Two analytical models on the same counts as the emulation: the roofline, and MWP-CWP.

S. Williams, A. Waterman, D. Patterson, "Roofline", Communications of the ACM 52, 2009.
S. Hong, H. Kim, "An analytical model for a GPU architecture with memory-level and thread-level parallelism awareness",
ISCA 2009, equations 2 to 24.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from orio_py.emulation.prediction import Emulator
from orio_py.emulation.summary import KernelSummary
from orio_py.machine.timing import SECTOR_BYTES, GpuTiming, Resource

FLOPS = {"FFMA": 2, "FADD": 1, "FMUL": 1, "DFMA": 2, "DADD": 1, "DMUL": 1}
LANES = 32


def roofline_seconds(emulator: Emulator, summary: KernelSummary) -> float:
    """What bytes from device memory or floating-point operations take at the peak, whichever is more."""
    kernel, timing = emulator.kernel, emulator.kernel.timing
    moved = sum(site.dram_bytes for site in summary.memory)
    seconds = moved / (timing.dram_gb_per_s.value * 1e9)
    warps = kernel.launch.warps * kernel.launch.blocks
    for kind, resource in (("F", Resource.FP32), ("D", Resource.FP64)):
        work = sum(
            FLOPS[name] * count
            for name, count in summary.by_opcode.items()
            if name in FLOPS and name[0] == kind
        )
        peak = 2 * LANES / timing.resources[resource].gap.value * _schedulers(timing) * _clock(timing)
        seconds = max(seconds, work * LANES * warps / peak)
    return seconds


@dataclass(frozen=True, slots=True)
class WarpParallelism:
    """The quantities of MWP-CWP for one multiprocessor; cycles, and counts of a warp."""

    warps: float
    computation: float
    memory: float
    accesses: float
    latency: float
    departure: float
    synchronisations: float
    repetitions: float
    peak_warps: float
    """MWP_peak_BW: how many warps the bandwidth serves."""
    blocks: float = 1.0
    """Active blocks of a multiprocessor."""

    @property
    def mwp(self) -> float:
        """Warps whose accesses are under way at the same time (equations 5 to 8)."""
        return max(1.0, min(self.latency / max(self.departure, 1e-9), self.peak_warps, self.warps))

    @property
    def cwp(self) -> float:
        """Warps that could compute while one waits for memory (equations 9 to 11)."""
        return min((self.memory + self.computation) / max(self.computation, 1e-9), self.warps)

    @property
    def cycles(self) -> float:
        """The time of all blocks (equations 22 to 24), and what barriers add (equation 25)."""
        mwp, cwp, n = self.mwp, self.cwp, self.warps
        each = self.computation / max(1.0, self.accesses)
        if self.accesses <= 0:
            cycles = self.computation * n
        elif mwp >= n and cwp >= n:
            cycles = self.memory + self.computation + each * (mwp - 1)
        elif cwp >= mwp or self.computation > self.memory:
            cycles = self.memory * n / mwp + each * (mwp - 1)
        else:
            cycles = self.latency + self.computation * n
        barriers = self.departure * (mwp - 1) * self.synchronisations * self.blocks
        return (cycles + barriers) * self.repetitions


def mwp_cwp_seconds(emulator: Emulator, summary: KernelSummary) -> float:
    """The time by MWP-CWP, from the counts of the machine code, and the latency and bandwidth of device memory."""
    return parallelism(emulator, summary).cycles / _clock(emulator.kernel.timing)


def parallelism(emulator: Emulator, summary: KernelSummary) -> WarpParallelism:
    """The model's quantities; each access takes the latency of device memory, as on the GPUs that it was made for."""
    kernel, timing = emulator.kernel, emulator.kernel.timing
    sites = [site for site in summary.memory if site.space != "shared"]
    accesses = sum(site.requests for site in sites)
    sectors = sum(site.requests * site.sectors for site in sites) / max(1e-9, accesses)
    passes = sum(site.requests * site.passes for site in sites) / max(1e-9, accesses)
    departure = max(1.0, passes) * timing.resources[Resource.L1].gap.value
    latency = timing.resources[Resource.DRAM].latency.value + (max(1.0, passes) - 1) * departure
    bandwidth = timing.dram_gb_per_s.value * 1e9 / _clock(timing)
    per_warp = sectors * SECTOR_BYTES / latency
    peak = bandwidth / max(per_warp * kernel.multiprocessors, 1e-9)
    return WarpParallelism(
        warps=kernel.slots * kernel.launch.warps,
        computation=summary.instructions / (timing.schedulers.value * timing.issue_width.value),
        memory=latency * accesses,
        accesses=accesses,
        latency=latency,
        departure=departure,
        synchronisations=summary.by_resource.get(Resource.BARRIER, 0.0),
        repetitions=ceil(kernel.launch.blocks / (kernel.slots * kernel.multiprocessors)),
        peak_warps=peak,
        blocks=kernel.slots,
    )


def _schedulers(timing: GpuTiming) -> float:
    return timing.schedulers.value * timing.multiprocessors.value


def _clock(timing: GpuTiming) -> float:
    return timing.clock_mhz.value * 1e6
