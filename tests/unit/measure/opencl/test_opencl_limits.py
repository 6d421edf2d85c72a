"""Devices are chosen by number, name and version; what they cannot do is refused before it is built."""

from dataclasses import replace

import pytest
from c_trees import context, statement
from opencl_devices import CPU

from orio_py.codegen.device import DeviceProgram, local_bytes
from orio_py.core.diagnostics import DiagnosticError, EnvironmentProblem
from orio_py.core.source import Position
from orio_py.core.units import Bytes
from orio_py.kernel.backends import BACKENDS
from orio_py.kernel.plan import StagedTile
from orio_py.measure.opencl.limits import check_device, choose_device
from orio_py.record.device import DeviceKind, OpenCLDevice, OpenCLPlatform, OpenCLSurvey
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.offload.arguments import OffloadArguments
from orio_py.transformation.offload.offload import offload

NEWER = replace(CPU, platform_version="OpenCL 3.0 PoCL 3.1+debian", platform_number=1, driver="3.1")
GPU = replace(
    CPU,
    platform="NVIDIA CUDA",
    platform_version="OpenCL 3.0 CUDA 12.4",
    platform_number=2,
    name="NVIDIA H100",
    kind=DeviceKind.GPU,
)
SECOND = replace(GPU, number=1, name="NVIDIA A100")
PLACE = Position("f.c", 3, 5)


def survey(*devices: OpenCLDevice) -> OpenCLSurvey:
    return OpenCLSurvey(tuple(OpenCLPlatform(d.platform, d.platform_version, "", (d,)) for d in devices))


@pytest.mark.parametrize(
    ("platform", "device", "expected"),
    [
        (None, None, GPU),
        (0, None, CPU),
        (1, 0, NEWER),
        ("pocl", None, NEWER),
        ("3.0-rc2", None, CPU),
        ("nvidia", 1, SECOND),
        (None, "a100", SECOND),
        (None, "cpu", NEWER),
        ("portable", "3.0-rc", CPU),
    ],
)
def test_a_device_is_chosen(platform, device, expected) -> None:
    assert choose_device(survey(CPU, NEWER, GPU, SECOND), platform, device) == expected


def test_an_unusable_device_is_not_chosen() -> None:
    assert choose_device(survey(CPU, replace(GPU, is_usable=False)), None, None) == CPU


def test_an_unknown_device_is_refused_with_those_there_are() -> None:
    with pytest.raises(DiagnosticError) as caught:
        choose_device(survey(CPU, GPU), "AMD", "vega", PLACE)
    diagnostic = caught.value.diagnostics[0]
    assert (diagnostic.code, diagnostic.position) == ("ORIO-B011", PLACE)
    assert "there is no OpenCL device `vega` of platform `AMD`" in diagnostic.message
    assert "0:0 pthread-cpu" in diagnostic.message
    assert "2:0 NVIDIA H100" in diagnostic.message


def test_without_devices_the_environment_is_the_problem() -> None:
    with pytest.raises(EnvironmentProblem) as caught:
        choose_device(OpenCLSurvey(problem="PyOpenCL is not installed", advice="install it"), None, None)
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.code == "ORIO-B010"
    assert "PyOpenCL is not installed" in diagnostic.message
    assert diagnostic.help == "install it"


def program(
    items: tuple[int, ...] = (64,), *, tiles: int = 0, source: str = "", sums: bool = False
) -> DeviceProgram:
    """A kernel in groups of so many items, with `tiles` elements of an array in local memory."""
    around = context("int i, n; float *x, *y; double s;", live="y s", assumptions=Assumptions(True, True))
    body = "y[i] = x[i]; s += x[i];" if sums else "y[i] = x[i];"
    arguments = OffloadArguments("Test", BACKENDS["opencl"], items=(64,))
    plan = offload(statement(f"for (i = 0; i < n; i++) {{ {body} }}"), around, arguments)
    launch = replace(plan.launch, block_size=items)
    tile = StagedTile("orio_tile_x", "float", "x", tiles, ())
    return DeviceProgram(
        source, (replace(plan, name="axpy", launch=launch, staged=(tile,) if tiles else ()),)
    )


DOUBLES = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable"


@pytest.mark.parametrize(
    ("device", "given", "code", "words"),
    [
        (CPU, program((257,)), "ORIO-B012", "257 items per group in dimension 0; at most 256"),
        (CPU, program((16, 32)), "ORIO-B012", "512 items per group; at most 256"),
        (CPU, program((1, 1, 65)), "ORIO-B012", "65 items per group in dimension 2; at most 64"),
        (CPU, program((1, 1, 1, 1)), "ORIO-B012", "4 dimensions; at most 3"),
        (CPU, program(tiles=1025), "ORIO-B013", "4100 bytes of local memory; a group has 4096"),
        (replace(CPU, has_doubles=False), program(source=DOUBLES), "ORIO-B014", "no double precision"),
    ],
)
def test_what_a_device_cannot_do_is_refused(device, given, code, words) -> None:
    with pytest.raises(DiagnosticError) as caught:
        check_device(device, (program(), given), PLACE)
    diagnostic = caught.value.diagnostics[0]
    assert (diagnostic.code, diagnostic.position) == (code, PLACE)
    assert words in diagnostic.message
    assert "pthread-cpu" in diagnostic.message


def test_limits_themselves_are_allowed() -> None:
    check_device(CPU, (program((256,), tiles=1024, source=DOUBLES),), PLACE)


def test_tiles_and_partial_results_take_local_memory() -> None:
    needed = 34 * 4 + 32 * 8
    given = program((32,), tiles=34, sums=True)
    assert local_bytes(given.plans[0]) == needed
    with pytest.raises(DiagnosticError, match=f"needs {needed} bytes of local memory"):
        check_device(replace(CPU, local_bytes=Bytes(needed - 1)), (given,), PLACE)
    check_device(replace(CPU, local_bytes=Bytes(needed)), (given,), PLACE)


def test_a_device_survives_json() -> None:
    platform = OpenCLPlatform("p", "v", "w", (CPU, GPU), None)
    assert OpenCLPlatform.from_json(platform.as_json()) == platform
