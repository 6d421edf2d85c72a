"""What `orio emulate` found, for people: every time is emulated, and the text says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from orio_py.cli.show import show_bytes, show_configuration, show_seconds
from orio_py.cli.tables import NOTHING, make_table

if TYPE_CHECKING:  # types only: the API takes its time to load, and `orio --help` does without
    from orio_py.api.emulated_regions import RegionEmulation
    from orio_py.api.emulation import KernelEmulation
    from orio_py.emulation.outcome import LaunchPrediction
    from orio_py.emulation.sensitivity import SensitivityReport
    from orio_py.emulation.summary import MemorySite
    from orio_py.sass.instruction import SourceLine

_FEW = 6
_SHOWN = 0.005


def emulation_results(found: KernelEmulation, *, verbose: bool) -> RenderableType:
    """Time, occupancy, units, memory, what limits the kernel, and what changes with better hardware."""
    prediction = found.prediction
    parts: list[RenderableType] = [*_head(found), Text(), _units(found)]
    if found.summary.memory:
        parts += [Text(), _memory(found.summary.memory, verbose=verbose)]
    if len(prediction.regions) > 1:
        parts += [Text(), _regions(prediction, found.sensitivity)]
    if found.sensitivity is not None:
        parts += [Text(), *_limits(found.sensitivity, prediction)]
    if verbose:
        timing = prediction.kernel.timing
        parts += [Text(), Text(f"uncertain numbers of {timing.name}: {', '.join(timing.uncertain)}")]
    return Group(*parts)


def emulated_regions(regions: Iterable[RegionEmulation], *, verbose: bool) -> RenderableType:
    """Each region at each size: its time and configuration, then its kernels."""
    parts: list[RenderableType] = []
    for region in regions:
        sizes = "".join(f" {name}={value}" for name, value in region.inputs.items())
        configuration = show_configuration(region.configuration)
        parts.append(Text(f"{region.file}:{region.line} {region.name}{sizes}: {configuration}", style="bold"))
        launches = sum(one.times for one in region.kernels)
        parts.append(
            Text(
                f"  emulated time {show_seconds(region.seconds)} of {launches} launches; copies are not counted"
            )
        )
        for one in region.kernels:
            times = [Text(f"{one.times} times:")] if one.times > 1 else []
            parts += [Text(), *times, emulation_results(one.emulation, verbose=verbose)]
        parts.append(Text())
    return Group(*parts[:-1])


def _head(found: KernelEmulation) -> Iterable[Text]:
    prediction, usage = found.prediction, found.usage
    kernel = prediction.kernel
    launch, occupancy = kernel.launch, kernel.occupancy
    grid, block = ("x".join(map(str, shape)) for shape in (launch.grid, launch.block))
    yield Text(
        f"{found.name} on {kernel.timing.name} ({kernel.timing.architecture}), grid {grid}, block {block}",
        style="bold",
    )
    error = f", shortened loops ±{prediction.error:.1%}" if prediction.error >= _SHOWN else ""
    yield Text(
        f"  emulated time {show_seconds(prediction.seconds)} ({prediction.cycles:,.0f} cycles at "
        f"{kernel.timing.clock_mhz.value:.0f} MHz{error}); not measured"
    )
    limits = ", ".join(str(limit) for limit in occupancy.limits)
    waves = launch.blocks / (kernel.multiprocessors * kernel.slots)
    yield Text(
        f"  occupancy {occupancy.share:.0%}: {occupancy.blocks} blocks, {occupancy.warps} warps on a multiprocessor "
        f"(limited by {limits}); {launch.blocks:,} blocks in {waves:.1f} waves"
    )
    spills = ", registers are spilled" if usage.spills else ""
    yield Text(
        f"  {usage.registers} registers, {show_bytes(kernel.shared_bytes)} of shared memory{spills}; "
        f"{found.summary.instructions:,.0f} instructions in a warp, {prediction.issue_share:.0%} of the issue slots used"
    )


def _units(found: KernelEmulation) -> RenderableType:
    table = make_table(("unit", "left"), ("instructions of a warp", "right"), ("busy", "right"))
    for resource, share in sorted(found.prediction.utilization.items(), key=lambda item: -item[1]):
        count = found.summary.by_resource.get(resource, 0.0)
        if share >= _SHOWN or count:
            table.add_row(resource.label, f"{count:,.0f}" if count else NOTHING, f"{min(1.0, share):.0%}")
    return table


def _memory(sites: Iterable[MemorySite], *, verbose: bool) -> RenderableType:
    table = make_table(
        ("line", "right"), ("access", "left"), ("requests", "right"), ("sectors (least)", "right"), ("passes", "right"),
        ("L1", "right"), ("L2", "right"), ("memory", "right"),
    )  # fmt: skip
    merged: dict[tuple[SourceLine | None, str], list[MemorySite]] = {}
    for site in sites:
        merged.setdefault((site.line, site.opcode), []).append(site)
    rows = sorted(
        merged.items(), key=lambda item: -sum(s.requests * max(s.sectors, s.passes) for s in item[1])
    )
    for (line, opcode), same in rows if verbose else rows[: 2 * _FEW]:
        requests = sum(s.requests for s in same)
        sectors, least, passes = (
            sum(getattr(s, name) * s.requests for s in same) / requests
            for name in ("sectors", "least", "passes")
        )
        is_shared = same[0].space != "global"
        moved = sum(s.sectors * s.requests for s in same)
        to_l2 = sum(s.sectors * s.requests * (1 - s.l1_share) for s in same)
        to_memory = sum(s.sectors * s.requests * (1 - s.l1_share) * (1 - s.l2_share) for s in same)
        table.add_row(
            str(line) if line is not None else NOTHING,
            opcode,
            f"{requests:,.0f}",
            NOTHING
            if is_shared
            else f"{sectors:.1f} ({least:.1f})" + ("" if all(s.is_known for s in same) else " ?"),
            f"{passes:.1f}",
            NOTHING if is_shared or not moved else f"{1 - to_l2 / moved:.0%}",
            NOTHING if is_shared or not to_l2 else f"{1 - to_memory / to_l2:.0%}",
            NOTHING if is_shared else show_bytes(round(sum(s.dram_bytes for s in same))),
        )
    return table


def _regions(prediction: LaunchPrediction, report: SensitivityReport | None) -> RenderableType:
    table = make_table(
        ("part of the code", "left"),
        ("lines", "left"),
        ("instructions", "right"),
        ("waiting", "right"),
        ("sensitivity", "right"),
    )
    parts: Mapping[int | None, float] = report.bottleneck.regions if report is not None else {}
    for region in prediction.regions:
        name = "outside of loops" if region.header is None else f"loop at {region.header:#x}"
        value = parts.get(region.header)
        table.add_row(
            name, _lines(region.lines), f"{region.instructions:,.0f}", f"{region.wait_share:.0%}",
            NOTHING if value is None else f"{value:.2f}",
        )  # fmt: skip
    return table


def _lines(lines: tuple[SourceLine, ...]) -> str:
    """Numbers with neighbours joined: 3-5, 9, steps.cuh:7-8."""
    runs: list[list[SourceLine]] = []
    for line in lines:
        if runs and line == replace(runs[-1][-1], number=runs[-1][-1].number + 1):
            runs[-1].append(line)
        else:
            runs.append([line])
    return ", ".join(f"{run[0]}" + (f"-{run[-1].number}" if len(run) > 1 else "") for run in runs) or NOTHING


def _limits(report: SensitivityReport, prediction: LaunchPrediction) -> Iterable[RenderableType]:
    first = report.bottleneck.sensitivity
    if first is not None:
        busy = f"busy {min(1.0, report.bottleneck.utilization):.0%} of the time"
        yield Text(f"limited by the {first.bound} of {first.resource.label}", style="bold")
        yield Text(
            f"  a {_parameter(first.bound)} 1 % larger makes the time {first.value:.2f} % longer; it is {busy}"
        )
    elif prediction.issue_share > 0.7:
        yield Text(
            f"limited by the issue of instructions: {prediction.issue_share:.0%} of the slots are used",
            style="bold",
        )
    else:
        yield Text("no single resource limits the kernel", style="bold")
    table = make_table(("what if", "left"), ("sensitivity", "right"), ("time if halved", "right"))
    for one in report.sensitivities[:_FEW]:
        halved = NOTHING if one.halved is None else f"{one.halved - 1:+.0%}"
        table.add_row(
            f"{one.resource.label}: {_parameter(one.bound)}",
            f"{one.value:.2f}",
            halved,
        )
    table.add_row("issue: two instructions in a cycle", NOTHING, f"{report.twice_issued - 1:+.0%}")
    yield table


def _parameter(bound: str) -> str:
    """What is changed: throughput is the inverse of the gap."""
    return "gap" if bound == "throughput" else "latency"
