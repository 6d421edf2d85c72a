"""What stands in the regions of a file that was tuned or transformed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orio_py.core.expr import Value, show
from orio_py.core.source import Span
from orio_py.kernel.backend import Backend
from orio_py.record.measurement import Clock
from orio_py.spec.inputs import InputPoint
from orio_py.spec.region import Region
from orio_py.spec.task import TuningTask
from orio_py.tuning.files.host_functions import (
    HostedCode,
    HostFunctions,
    called_backends,
    calls_host_functions,
)
from orio_py.tuning.files.load import LoadedTask
from orio_py.tuning.files.writeback import generated_content
from orio_py.tuning.result import Best, Winner
from orio_py.tuning.variants.build_flags import needed_flags
from orio_py.tuning.variants.dispatch import DispatchCase, dispatch, needs_dispatch
from orio_py.tuning.variants.variant import VariantGenerator


def tuned_contents(
    task: TuningTask, winners: Sequence[Winner], version: str, functions: HostFunctions
) -> dict[Span, str]:
    """The contents of a task's regions; nothing when no size had a valid variant.

    `functions` gets the kernels that they call.
    """
    if not any(winner.report.best is not None for winner in winners):
        return {}
    evidence = [line for winner in winners for line in _evidence(winner)]
    remarks = [
        _headline(version),
        *evidence,
        *dict.fromkeys(_device(winner) for winner in winners if winner.report.trials),
    ]
    newline = task.source.newline
    has_code = any(winner.codes is not None for winner in winners)
    contents: dict[Span, str] = {}
    for index, region in enumerate(task.regions):
        code = _combined(task, region, index, winners, functions) if has_code else None
        contents[region.content] = generated_content(region, code, [*remarks, *_host_code(code)], newline)
    return contents


def without_stale_calls(
    tasks: Sequence[LoadedTask], contents: Mapping[Span, str], version: str
) -> dict[Span, str]:
    """The new contents of a file, with the original in regions that would keep calls of an earlier run.

    Their host functions are not written again.
    """
    remarks = [_headline(version), "original code: nothing was found for it this time"]
    stale = {
        region.content: generated_content(region, None, remarks, loaded.task.source.newline)
        for loaded in tasks
        for region in loaded.task.regions
        if region.content not in contents
        and calls_host_functions(loaded.task.source.text[region.content.start : region.content.end])
    }
    return {**contents, **stale}


def _host_code(code: str | None) -> list[str]:
    """What to say of the functions that the code calls, if it calls any."""
    return [] if code is None else [_advice(backend) for backend in called_backends(code)]


def _advice(backend: Backend) -> str:
    ending = f"_{backend.name}{backend.source_ending}"
    return f"host code: in the file beside this one that ends in {ending}; {backend.build_advice}"


def _combined(
    task: TuningTask, region: Region, index: int, winners: Sequence[Winner], functions: HostFunctions
) -> str:
    """One region's code for all problem sizes; sizes at which nothing won run the original."""
    original = region.reference_text.strip("\r\n")
    cases: list[DispatchCase] = []
    for w in winners:
        if w.codes is None or w.report.best is None:
            cases.append(DispatchCase(w.point, original))
            continue
        best, code = w.report.best, w.codes[index]
        hosted = HostedCode(code)
        if calls_host_functions(code):
            # Made anew: the kernels are not stored with the code, which may be of a function of another name.
            hosted = functions.add(VariantGenerator.of(task).written(index, w.point, best.configuration))
        if not best.features or best.fallback is None:
            cases.append(DispatchCase(w.point, hosted.code, best.features, hosted.test))
            continue
        portable = hosted
        if best.fallback != best.configuration:
            portable = functions.add(VariantGenerator.of(task).written(index, w.point, best.fallback))
        if portable.code.strip("\n") != hosted.code.strip("\n"):
            cases.append(DispatchCase(w.point, hosted.code, best.features, hosted.test))
        cases.append(DispatchCase(w.point, portable.code, test=portable.test))
    if not needs_dispatch(task, cases):
        return cases[0].code
    return dispatch(task, region, cases, indent=region.indent)


def transformed_contents(
    loaded: LoadedTask, pins: Mapping[str, Value], version: str, functions: HostFunctions
) -> dict[Span, str]:
    """The contents of a task's regions at the first configuration that the pins allow.

    `functions` gets the kernels that they call.
    """
    task = loaded.task
    contents: dict[Span, str] = {}
    remarks = [_headline(version)]
    chosen: list[tuple[InputPoint, Mapping[str, Value]]] = []
    for point, space in zip(loaded.points, loaded.spaces, strict=True):
        values = dict(space.first() or {})
        chosen.append((point, values))
        remarks.append(f"configuration{_sizes(point)}: {_shown(values)}; not measured")
    generator = VariantGenerator.of(task)
    for index, region in enumerate(task.regions):
        hosted = [(point, functions.add(generator.written(index, point, values))) for point, values in chosen]
        cases = [DispatchCase(point, found.code, test=found.test) for point, found in hosted]
        same = len({case.code for case in cases}) == 1 and not task.inputs.specialize
        code = cases[0].code
        if same:
            cases = cases[:1]
        if needs_dispatch(task, cases):
            code = dispatch(task, region, cases, indent=region.indent)
        flags = needed_flags([code])
        build = [f"build with: {' '.join(flags)}"] if flags else []
        told = [*remarks, *build, *_host_code(code)]
        contents[region.content] = generated_content(region, code, told, task.source.newline)
    return contents


def _headline(version: str) -> str:
    return f"generated by orio_py {version} from the annotation above; the user's code follows #else"


def _evidence(winner: Winner) -> list[str]:
    """Configuration, measurement and circumstances of one problem size, as comment lines."""
    report = winner.report
    where = _sizes(winner.point)
    if report.best is None:
        return [f"original{where}: {report.reason} ({report.trials} trials)"]
    timing = report.best.timing
    measured = f"median {_time(timing.median_s)} (MAD {_time(timing.mad_s)}, {timing.repeats} repetitions, {timing.clock})"
    if timing.clock is Clock.EMULATED:
        measured = f"emulated time {_time(timing.median_s)} of its kernels"
    if winner.codes is None:
        return [f"original code{where}: {report.reason}"]
    configuration = f"configuration{where}: {_shown(report.best.configuration)}"
    flags = report.best.build_with
    build = [f"build with{where}: {' '.join(flags)}"] if flags else []
    build = [*_elsewhere(report.best), *build]
    if report.baseline is None:
        return [configuration, f"{measured}; {report.reason}", *build]
    goal = report.goal
    values = f"{goal.best:.6g}; original {goal.baseline:.6g}" if goal and goal.best is not None else ""
    return [
        configuration,
        *([f"objective `{goal.expression}`: {values}"] if goal else []),
        f"{measured}; original {_time(report.baseline.median_s)}; speed-up {report.best.speedup:.2f}",
        *build,
    ]


def _elsewhere(best: Best) -> list[str]:
    """What runs on processors without the extensions of the best variant, where that is other code."""
    if not best.features or best.fallback == best.configuration:
        return []
    other = f"configuration {_shown(best.fallback)}" if best.fallback is not None else "the original code"
    return [f"without {', '.join(best.features)}: {other}"]


def _device(winner: Winner) -> str:
    machine = winner.report.environment
    return f"device: {machine.device or machine.cpu}; {machine.compiler} `{machine.command}`; {winner.report.trials} trials"


def _sizes(point: InputPoint) -> str:
    return " for " + ", ".join(f"{n}={show(v)}" for n, v in point.values) if point.values else ""


def _shown(values: Mapping[str, Value]) -> str:
    return ", ".join(f"{name}={show(value)}" for name, value in values.items()) or "no parameters"


def _time(seconds: float) -> str:
    return f"{seconds:.4g} s"
