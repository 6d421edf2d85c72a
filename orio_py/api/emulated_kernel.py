"""What is told of an emulated launch: the prediction, what it is made of, what was assumed, and all that as JSON."""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.build.emulation_core import emulation_core
from orio_py.core.diagnostics import Diagnostic, Severity
from orio_py.core.units import Bytes
from orio_py.emulation.launch import USUAL_POLICY, DataPolicy
from orio_py.emulation.outcome import IssuedInstruction, LaunchPrediction
from orio_py.emulation.prediction import Emulator
from orio_py.emulation.sensitivity import SensitivityReport, sensitivity
from orio_py.emulation.summary import KernelSummary, summarize
from orio_py.record.cuda import KernelUsage

_MOST_ISSUED = 20_000
"""Instructions that a picture shows."""


@dataclass(frozen=True, slots=True)
class EmulationOptions:
    """How a kernel is compiled and followed.

    `kernel` is its name, where the file has several.  `options` are those of the compiler.  `iterations` and
    `takes_branches` say what happens where data decide.  `sensitivities` can be left out, which saves most of the time; a `timeline` is
    what pictures show.
    """

    kernel: str | None = None
    options: str = ""
    compiler: str | None = None
    nvdisasm: str | None = None
    shared_bytes: Bytes = Bytes(0)
    iterations: int = USUAL_POLICY.iterations
    takes_branches: bool = False
    sensitivities: bool = True
    timeline: bool = False

    @property
    def policy(self) -> DataPolicy:
        """What happens where data decide."""
        return DataPolicy(self.iterations, self.takes_branches)


@dataclass(frozen=True, slots=True)
class KernelEmulation:
    """What was found of one launch of the kernel `name`; every time in it is emulated, none is measured."""

    name: str
    usage: KernelUsage
    prediction: LaunchPrediction
    summary: KernelSummary
    sensitivity: SensitivityReport | None
    timeline: tuple[IssuedInstruction, ...] = ()

    @classmethod
    def of(
        cls, name: str, usage: KernelUsage, emulator: Emulator, options: EmulationOptions
    ) -> KernelEmulation:
        """Emulate a launch."""
        prediction = emulator.predict()
        summary = summarize(emulator)
        report = sensitivity(emulator, prediction, emulation_core()) if options.sensitivities else None
        timeline = emulator.timeline(_MOST_ISSUED) if options.timeline else ()
        return cls(name, usage, prediction, summary, report, timeline)

    def notes(self, place: str, policy: DataPolicy) -> list[Diagnostic]:
        """What was assumed where the code alone does not tell."""
        summary = self.summary
        notes: list[str] = []
        if summary.unknown_opcodes:
            listed = ", ".join(f"{name} ({count}x)" for name, count in summary.unknown_opcodes.items())
            notes.append(f"opcodes that are not known are taken for integer instructions: {listed}")
        if summary.data_branches:
            lines = ", ".join(filter(None, summary.data_branches)) or "not known"
            ways = "are taken" if policy.takes_branches else "are not taken"
            notes.append(
                f"data decide branches (lines {lines}): forward ones {ways}, loops have {policy.iterations} iterations"
            )
        if summary.unknown_addresses:
            notes.append(
                f"data decide the addresses of {summary.unknown_addresses} accesses: each thread is taken to touch memory apart"
            )
        return [Diagnostic("ORIO-U057", f"{place}: {note}", severity=Severity.WARNING) for note in notes]

    def as_json(self) -> dict[str, object]:
        """All of it, with "obtained": "emulated"."""
        prediction, kernel = self.prediction, self.prediction.kernel
        occupancy = kernel.occupancy
        return {
            "kernel": self.name,
            "obtained": "emulated",
            "gpu": kernel.timing.name,
            "architecture": kernel.timing.architecture,
            "grid": list(kernel.launch.grid),
            "block": list(kernel.launch.block),
            "seconds": prediction.seconds,
            "cycles": prediction.cycles,
            "error": prediction.error,
            "registers": self.usage.registers,
            "shared_bytes": kernel.shared_bytes,
            "occupancy": {
                "blocks": occupancy.blocks,
                "warps": occupancy.warps,
                "share": occupancy.share,
                "limits": [str(limit) for limit in occupancy.limits],
            },
            "instructions_per_warp": self.summary.instructions,
            "issue_share": prediction.issue_share,
            "utilization": {str(r): share for r, share in prediction.utilization.items()},
            "instructions": {str(r): count for r, count in self.summary.by_resource.items()},
            "opcodes": dict(self.summary.by_opcode),
            "memory": [
                {
                    "line": None if site.line is None else site.line.as_json(), "opcode": site.opcode, "space": site.space, "requests": site.requests,
                    "sectors": site.sectors, "least_sectors": site.least, "passes": site.passes, "l1_share": site.l1_share,
                    "l2_share": site.l2_share, "dram_bytes": site.dram_bytes, "is_known": site.is_known,
                }
                for site in self.summary.memory
            ],
            "regions": [
                {
                    "loop": region.header, "lines": [line.as_json() for line in region.lines], "instructions": region.instructions,
                    "wait_share": region.wait_share,
                }
                for region in prediction.regions
            ],
            "sensitivity": None if self.sensitivity is None else _sensitivity_json(self.sensitivity),
            "unknown_opcodes": dict(self.summary.unknown_opcodes),
            "data_branches": dict(self.summary.data_branches),
            "uncertain": list(kernel.timing.uncertain),
        }  # fmt: skip


def _sensitivity_json(report: SensitivityReport) -> dict[str, object]:
    first = report.bottleneck.sensitivity
    return {
        "bottleneck": None if first is None else {"resource": str(first.resource), "bound": str(first.bound)},
        "utilization": report.bottleneck.utilization,
        "regions": {"outside" if k is None else str(k): v for k, v in report.bottleneck.regions.items()},
        "resources": [
            {"resource": str(s.resource), "bound": str(s.bound), "value": s.value, "halved": s.halved}
            for s in report.sensitivities
        ],
        "twice_issued": report.twice_issued,
    }
