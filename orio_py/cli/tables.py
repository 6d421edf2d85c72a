"""Reports as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Literal

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from orio_py.cli.show import (
    show_bytes,
    show_configuration,
    show_count,
    show_counter,
    show_seconds,
    show_timing,
    show_trust,
)
from orio_py.record.cuda import EMULATED_TIME, CudaCompilerInfo, CudaSurvey
from orio_py.record.device import OpenCLDevice, OpenCLSurvey
from orio_py.record.front import FrontPoint
from orio_py.record.measurement import Timing
from orio_py.record.trial import CounterSource, CounterValue
from orio_py.tuning.result import CheckedVariant, RegionReport

if TYPE_CHECKING:  # types only: the API takes its time to load, and `orio --help` does without
    from orio_py.api import DeviceReport, RankedRegion, SpaceRegion

NOTHING = "-"

MOST_CHECKED = 40
"""Variants that are listed where none is timed."""

_UTILIZATION = "utilization_"
"""Begins the names of counters that tell how busy resources are by emulation."""

_BUSY = 0.5
"""The share of the time in which a resource is busy that bounds a kernel."""

_HEADINGS = {
    EMULATED_TIME: "emulated time",
    "registers": "registers",
    "spill_store_bytes": "spills (stores)",
    "spill_load_bytes": "spills (loads)",
    "stack_bytes": "stack",
    "shared_bytes": "shared",
    "occupancy": "occupancy",
}
"""What counters are called at the heads of columns, in their order."""


def tuning_results(regions: Iterable[RegionReport]) -> RenderableType:
    """Per region: variants tried, failures by kind, original, best, speed-up, output; then the winners."""
    table = make_table(
        ("region", "left"),
        ("tried", "right"),
        ("failed", "left"),
        ("original", "right"),
        ("best", "right"),
        ("speed-up", "right"),
        ("output", "left"),
    )
    winners: list[RenderableType] = []
    for region in regions:
        best = region.best
        table.add_row(
            _place(region.file, region.line, region.name, region.inputs),
            str(region.trials),
            _failures(region),
            _timing(region.baseline),
            _timing(best.timing if best else None),
            f"{best.speedup:.2f}x" if best and best.speedup is not None else NOTHING,
            str(region.output) if region.output else NOTHING,
        )
        winners.append(_winner(region))
        if best is not None and best.build_with:
            winners.append(Text(f"  build with: {' '.join(best.build_with)}"))
        winners.extend(_counters(region))
        winners.extend(_checked(region))
        if (steadiness := region.steadiness) is not None and not steadiness.is_steady:
            winners.append(Text(f"  doubtful times: {steadiness.remark}", style="yellow"))
    return Group(table, *winners)


def space_results(regions: Iterable[SpaceRegion]) -> RenderableType:
    """Per region: parameters with their values, the two sizes, and which constraints bind which parameters."""
    parts: list[RenderableType] = []
    for region in regions:
        parts.append(Text(_place(region.file, region.line, region.name, region.inputs), style="bold"))
        table = make_table(("parameter", "left"), ("values", "right"), ("", "left"))
        for parameter in region.parameters:
            table.add_row(parameter.name, str(parameter.count), parameter.values)
        parts.append(table)
        parts.append(Text(f"  Cartesian product  {show_count(region.cartesian)}"))
        parts.append(Text(f"  valid              {show_count(region.valid)}"))
        for group in region.groups:
            bound = f", bound by {', '.join(group.constraints)}" if group.constraints else ""
            parts.append(Text(f"  group {', '.join(group.parameters)}: {show_count(group.valid)}{bound}"))
        parts.append(Text(""))
    return Group(*parts)


def device_results(report: DeviceReport) -> RenderableType:
    """The processor, every compiler looked for, every method of counting, every OpenCL device, and CUDA.

    Where one fails the reason is told.
    """
    table = make_table(("compiler", "left"), ("works", "left"), ("version", "left"), ("path", "left"))
    for compiler in report.compilers:
        works = Text("yes", style="green") if compiler.works else Text(f"no: {compiler.reason}", style="red")
        table.add_row(compiler.name, works, compiler.version or NOTHING, str(compiler.path or NOTHING))
    counting = make_table(("counters by", "left"), ("works", "left"), ("gives", "left"))
    for observer in report.observers:
        works = Text("yes", style="green")
        if observer.reason is not None:
            works = Text(f"no: {observer.reason}", style="red")
        elif observer.missing:
            reasons = ", ".join(dict.fromkeys(observer.missing.values()))
            works = Text(f"in part: {reasons} ({', '.join(observer.missing)})", style="yellow")
        counting.add_row(observer.name, works, ", ".join(observer.counters) or NOTHING)
    head = Text(f"processor: {report.cpu} ({report.cores} cores)")
    return Group(
        head, table, Text(""), counting, Text(""), _opencl(report.opencl), Text(""), _cuda(report.cuda)
    )


def _opencl(found: OpenCLSurvey) -> RenderableType:
    """The platforms and devices, each with its number; without any, why, and what helps."""
    if not found.platforms:
        return Text(f"OpenCL: none: {found.problem}\nhelp: {found.advice}", style="yellow")
    table = make_table(
        ("OpenCL", "left"),
        ("device", "left"),
        ("works", "left"),
        ("self-test", "left"),
        ("units", "right"),
        ("doubles", "left"),
        ("memory", "right"),
        ("local", "right"),
        ("platform", "left"),
    )
    for number, platform in enumerate(found.platforms):
        name = f"{platform.name}, {platform.version}"
        if not platform.devices:
            works = Text(f"no: {platform.problem or 'no device'}", style="red")
            table.add_row(str(number), NOTHING, works, *[NOTHING] * 5, name)
        for d in platform.devices:
            works = Text("yes", style="green") if d.is_usable else Text("no: no compiler", style="red")
            doubles = Text("yes") if d.has_doubles else Text("no: no cl_khr_fp64", style="yellow")
            device = f"{d.name} ({d.kind}, driver {d.driver})"
            sizes = (show_bytes(d.global_bytes), show_bytes(d.local_bytes))
            table.add_row(d.place, device, works, _self_test(d), str(d.compute_units), doubles, *sizes, name)
    notes = [Text(f"OpenCL: {found.setting} is used: as installed, the driver fails its self-test")] * (
        found.setting is not None
    )
    faults = [Text(d.fault_text, style="yellow") for d in found.devices if d.fault_text is not None]
    return Group(table, *notes, *faults)


def _self_test(device: OpenCLDevice) -> Text:
    """How many of the driver's self-tests failed."""
    if not device.tested:
        return Text(NOTHING)
    if device.faults:
        return Text(f"fails {len(device.faults)} of {device.tested}", style="red")
    return Text(f"passes all {device.tested}", style="green")


def _cuda(found: CudaSurvey) -> RenderableType:
    """The CUDA compilers with what they compile for, whether kernels can be run, by which library, and on what."""
    lines: list[RenderableType] = [_cuda_compiler(compiler) for compiler in found.compilers]
    if not any(compiler.works for compiler in found.compilers):
        advice = next((c.advice for c in found.compilers if c.advice), None)
        lines.append(Text(f"help: {advice}", style="yellow"))
    if found.problem is not None:
        lines.append(Text(f"CUDA: kernels cannot be run here: {found.problem}", style="yellow"))
    for library in found.libraries:
        name = f"{library.name} {library.version}" if library.version else library.name
        if library.name == found.library:
            lines.append(Text(f"CUDA: driver {found.driver}, called by {name}: {found.because}"))
        elif library.works:
            lines.append(Text(f"CUDA: {name} works, too"))
        elif library.reason != found.problem:
            lines.append(Text(f"CUDA: not by {name}: {library.reason}", style="yellow"))
    if found.library is None:  # what is installed needs a driver; without any library that comes first
        installed = [library.advice for library in found.libraries if library.version and library.advice]
        helps = installed or [library.advice for library in found.libraries if library.advice]
        lines += [Text(f"help: {advice}", style="yellow") for advice in dict.fromkeys(helps)]
    return Group(*lines, _gpus(found)) if found.gpus else Group(*lines)


def _gpus(found: CudaSurvey) -> RenderableType:
    """The devices as the library sees them."""
    table = make_table(
        ("GPU", "left"),
        ("device", "left"),
        ("architecture", "left"),
        ("multiprocessors", "right"),
        ("memory", "right"),
        ("clock", "right"),
        ("of memory", "right"),
    )
    for gpu in found.gpus:
        sizes = (str(gpu.multiprocessors), show_bytes(gpu.memory))
        clocks = (_megahertz(gpu.clock_khz), _megahertz(gpu.memory_clock_khz))
        table.add_row(str(gpu.number), gpu.name, gpu.architecture, *sizes, *clocks)
    return table


def _megahertz(clock_khz: int | None) -> str:
    return f"{clock_khz / 1000:.0f} MHz" if clock_khz is not None else NOTHING


def _cuda_compiler(compiler: CudaCompilerInfo) -> Text:
    if not compiler.works:
        return Text(f"CUDA: {compiler.reason}", style="yellow")
    origin = "from wheels" if compiler.is_from_wheels else compiler.path
    architectures = " ".join(compiler.architectures)
    name = "NVRTC" if compiler.name == "nvrtc" else compiler.name
    return Text(f"CUDA: {name} {compiler.version} ({origin}) compiles for {architectures}")


def make_table(*columns: tuple[str, Literal["left", "right"]]) -> Table:
    """A table of the house's look with these columns; long cells are folded."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading, justify in columns:
        table.add_column(heading, justify=justify, overflow="fold")
    return table


def ranked_variants(regions: Iterable[RankedRegion], limit: int) -> RenderableType:
    """Per region: the best of its ranking, with their scores, and how many were ranked in what time."""
    parts: list[RenderableType] = []
    for region in regions:
        parts.append(Text(_place(region.file, region.line, region.name, region.inputs), style="bold"))
        table = make_table(("predicted rank", "right"), ("score", "right"), ("configuration", "left"))
        for number, variant in enumerate(region.variants[:limit], 1):
            table.add_row(str(number), f"{variant.score:.3g}", show_configuration(variant.configuration))
        parts.append(table)
        used = region.use
        ranked = f"  {show_count(used.ranked)} of {show_count(region.size)} variants ranked"
        parts.append(Text(f"{ranked} in {show_seconds(used.seconds)} by {region.kind}; none was built"))
    return Group(*parts)


def _place(file: str, line: int, name: str, inputs: Mapping[str, object]) -> str:
    sizes = "".join(f" {key}={value}" for key, value in inputs.items())
    return f"{file}:{line} {name}{sizes}"


def _failures(region: RegionReport) -> str:
    kinds = [f"{count} {kind}" for kind, count in region.failures.items() if count]
    if region.refused:
        kinds.append(f"{region.refused} refused")
    return ", ".join(kinds) or "0"


def _timing(timing: Timing | None) -> str:
    return show_timing(timing) if timing else NOTHING


def _counters(region: RegionReport) -> Iterable[RenderableType]:
    """What was ranked, the objective, where it is not the time, and the counters of the original and of the best."""
    if (used := region.prediction) is not None:
        built = region.trials - region.cached
        if used.ranked:
            yield Text(
                f"  {used.ranked} variants of {region.name} were ranked by static features"
                f" in {show_seconds(used.seconds)}, {built} built"
            )
        if used.trust is not None:
            yield Text(f"  {show_trust(used.trust)}")
    if (goal := region.goal) is not None:
        values = [f"{value:.6g}" if value is not None else NOTHING for value in (goal.baseline, goal.best)]
        yield Text(f"  objective {goal.expression}: original {values[0]}, best {values[1]}")
        if goal.others:
            yield front_points((goal.expression, *goal.others), goal.front, indent="  ")
    best = {c.name: c for c in region.best.counters if not _is_detail(c)} if region.best is not None else {}
    counted = {c.name: c for c in region.counters}
    if not counted and not best:
        return
    table = make_table(("  counter", "left"), ("original", "right"), ("best", "right"), ("by", "left"))
    for name, counter in (counted | best).items():
        values = [show_counter(of[name]) if name in of else NOTHING for of in (counted, best)]
        table.add_row(f"  {name}", *values, str(counter.source))
    yield table


def _is_detail(counter: CounterValue) -> bool:
    """Whether a counter is one of the many that a search by bottlenecks reads; `orio results show --verbose` has them."""
    return counter.source is CounterSource.EMULATED and not counter.name.startswith("sensitivity")


def _checked(region: RegionReport) -> Iterable[RenderableType]:
    """What is known of variants that nothing here times."""
    if not region.checked:
        return
    known = dict.fromkeys(
        c.name for variant in region.checked for c in variant.counters if not c.name.startswith(_UTILIZATION)
    )
    has_bounds = any(c.name.startswith(_UTILIZATION) for variant in region.checked for c in variant.counters)
    names = [
        *(name for name in _HEADINGS if name in known),
        *(name for name in known if name not in _HEADINGS),
    ]
    table = make_table(("  variant", "left"))
    for name in names:
        table.add_column(_HEADINGS.get(name, name), justify="right", overflow="fold")
    if has_bounds:
        table.add_column("bound by", overflow="fold")
    table.add_column("result", overflow="fold")
    for variant in _by_emulated_time(region.checked)[:MOST_CHECKED]:
        values = {
            c.name: show_seconds(c.value) if c.name == EMULATED_TIME else show_counter(c)
            for c in variant.counters
        }
        result = Text("right", style="green")
        if not variant.is_right:
            result = Text(f"{variant.outcome}: {variant.reason}", style="red")
        cells = [values.get(name, NOTHING) for name in names]
        cells += [_bound(variant)] if has_bounds else []
        table.add_row(f"  {show_configuration(variant.configuration)}", *cells, result)
    yield table
    if (left := len(region.checked) - MOST_CHECKED) > 0:
        yield Text(f"  and {left} more: `orio results show` has all that are stored")
    yield Text(f"  not timed: {region.untimed}", style="yellow")


def _bound(variant: CheckedVariant) -> str:
    """What a variant keeps busy most by emulation; latencies bound it where nothing is busy half of the time."""
    shares = {
        c.name.removeprefix(_UTILIZATION): c.value
        for c in variant.counters
        if c.name.startswith(_UTILIZATION)
    }
    if not shares:
        return NOTHING
    resource = max(shares, key=lambda name: shares[name])
    busy = f"{resource} {shares[resource]:.0%}"
    return busy if shares[resource] >= _BUSY else f"latencies ({busy})"


def _by_emulated_time(checked: Sequence[CheckedVariant]) -> list[CheckedVariant]:
    """Those that are right first, by the emulated time of their kernels where that is known."""

    def place(variant: CheckedVariant) -> tuple[bool, float]:
        times = (c.value for c in variant.counters if c.name == EMULATED_TIME)
        return not variant.is_right, next(times, inf)

    return sorted(checked, key=place)


def front_points(objectives: Sequence[str], points: Sequence[FrontPoint], indent: str = "") -> Table:
    """The points of a Pareto front with their numbers, the values of the objectives, and the configurations."""
    table = make_table((f"{indent}point", "right"))
    for text in objectives:
        table.add_column(text, justify="right", overflow="fold")
    table.add_column("configuration", overflow="fold")
    for number, point in enumerate(points, 1):
        values = (f"{value:.6g}" for value in point.values)
        table.add_row(f"{indent}{number}", *values, show_configuration(point.configuration))
    return table


def _winner(region: RegionReport) -> Text:
    place = f"{_place(region.file, region.line, region.name, region.inputs)}: "
    if region.best is None or region.kept_original:
        return Text(f"{place}original kept: {region.reason}")
    return Text(f"{place}{show_configuration(region.best.configuration)}")
