"""Chooses the device of a variant, and checks before it is built whether it can run there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from orio_py.codegen.device import DeviceProgram, local_bytes
from orio_py.codegen.opencl.self_test import uses_feature
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, EnvironmentProblem, Severity, fail
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position
from orio_py.kernel.plan import KernelPlan
from orio_py.record.device import DeviceKind, OpenCLDevice, OpenCLSurvey

_OTHER_DRIVER = (
    "another driver may do it: `apt install pocl-opencl-icd` (Debian, Ubuntu), or a newer one of the vendor"
)
_ORDER = (DeviceKind.GPU, DeviceKind.ACCELERATOR, DeviceKind.OTHER, DeviceKind.CPU)


def choose_device(
    survey: OpenCLSurvey,
    platform: int | str | None,
    device: int | str | None,
    position: Position | None = None,
) -> OpenCLDevice:
    """The device that a variant names, each part by number or by some of its name or version.

    Where that leaves several: graphics processors before processors, then the one whose driver fails fewest
    self-tests, then the platform of the latest version, then the first.  Raises EnvironmentProblem ORIO-B010 where there is no device at all,
    or where the driver of the chosen one fails everything, DiagnosticError ORIO-B011 when none is meant.
    """
    if not survey.devices:
        raise EnvironmentProblem(no_device(survey))
    found = [d for d in survey.devices if _is_platform(d, platform) and _is_device(d, device)]
    if found:
        chosen = min(found, key=_preference)
        if chosen.fails_everything:
            message = f"no OpenCL device can be used: {chosen.fault_text}"
            raise EnvironmentProblem(Diagnostic("ORIO-B010", message, help=_OTHER_DRIVER))
        return chosen
    wanted = " of ".join(
        f"{kind} `{wish}`" for kind, wish in (("device", device), ("platform", platform)) if wish is not None
    )
    there = "; ".join(f"{d.place} {d.label}" for d in survey.devices)
    names = [name for d in survey.devices for name in (d.name, d.platform)]
    near = did_you_mean(str(device if device is not None else platform), names)
    fail("ORIO-B011", f"there is no OpenCL {wanted}; there are: {there}", position, help=near)


def no_device(survey: OpenCLSurvey) -> Diagnostic:
    """The problem of a machine without an OpenCL device: ORIO-B010."""
    problem = survey.problem or "no platform has a device that can build kernels"
    return Diagnostic("ORIO-B010", f"no OpenCL device was found: {problem}", help=survey.advice)


def no_library() -> Diagnostic:
    """The problem of a machine whose devices programs cannot reach: ORIO-B010."""
    message = (
        "no OpenCL device can be used: the library that programs are linked with, libOpenCL, was not found"
    )
    advice = "`apt install ocl-icd-opencl-dev` (Debian, Ubuntu) installs it, as does `pip install pyopencl`"
    return Diagnostic("ORIO-B010", message, help=advice)


def check_device(device: OpenCLDevice, programs: Sequence[DeviceProgram], position: Position) -> None:
    """Refuse kernels that the device cannot run.

    Raises DiagnosticError ORIO-B012 (shape), B013 (local memory), B014 (double precision), B017 (what the driver fails
    at in its self-test).
    """
    problems = [*_needs_doubles(device, programs), *_faults(device, programs)]
    for plan in (plan for program in programs for plan in program.plans):
        problems.extend(_shape(device, plan))
        problems.extend(_local(device, plan))
    if problems:
        code, message = problems[0]
        raise DiagnosticError(Diagnostic(code, f"{message} on {device.label}", position))


def _is_platform(device: OpenCLDevice, wish: int | str | None) -> bool:
    if wish is None or isinstance(wish, int):
        return wish is None or device.platform_number == wish
    return wish.lower() in f"{device.platform} {device.platform_version}".lower()


def _is_device(device: OpenCLDevice, wish: int | str | None) -> bool:
    if wish is None or isinstance(wish, int):
        return wish is None or device.number == wish
    return wish.lower() in f"{device.name} {device.driver}".lower() or wish.lower() == device.kind


def _preference(device: OpenCLDevice) -> tuple[int, int, list[int], int, int]:
    numbers = "".join(c if c.isdigit() else " " for c in device.platform_version).split()
    newest_first = [-int(n) for n in numbers[:4]]
    return _ORDER.index(device.kind), len(device.faults), newest_first, device.platform_number, device.number


def _shape(device: OpenCLDevice, plan: KernelPlan) -> Iterator[tuple[str, str]]:
    items, name = plan.launch.block_size, f"kernel `{plan.name}`"
    if len(items) > len(device.max_items):
        yield "ORIO-B012", f"{name} has {len(items)} dimensions; at most {len(device.max_items)} are possible"
        return
    for dimension, (wanted, most) in enumerate(zip(items, device.max_items, strict=False)):
        if wanted > most:
            yield (
                "ORIO-B012",
                f"{name} has {wanted} items per group in dimension {dimension}; at most {most} are possible",
            )
    if prod(items) > device.max_group:
        yield (
            "ORIO-B012",
            f"{name} has {prod(items)} items per group; at most {device.max_group} are possible",
        )


def _local(device: OpenCLDevice, plan: KernelPlan) -> Iterator[tuple[str, str]]:
    needed = local_bytes(plan)
    if needed > device.local_bytes:
        text = f"kernel `{plan.name}` needs {needed} bytes of local memory; a group has {device.local_bytes}"
        yield "ORIO-B013", text


def _needs_doubles(device: OpenCLDevice, programs: Sequence[DeviceProgram]) -> Iterator[tuple[str, str]]:
    if not device.has_doubles and any("cl_khr_fp64" in program.source for program in programs):
        yield "ORIO-B014", "there is no double precision"


def _faults(device: OpenCLDevice, programs: Sequence[DeviceProgram]) -> Iterator[tuple[str, str]]:
    for fault in device.faults:
        if any(uses_feature(program.source, fault.feature) for program in programs):
            yield "ORIO-B017", f"`{fault.feature}` {fault.problem} in the self-test of the driver"


def fault_warning(device: OpenCLDevice) -> Diagnostic | None:
    """What the device is not asked for, as a warning ORIO-B017; None for a driver without faults."""
    if device.fault_text is None:
        return None
    return Diagnostic("ORIO-B017", device.fault_text, severity=Severity.WARNING, help=_OTHER_DRIVER)
