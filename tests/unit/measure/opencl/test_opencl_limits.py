"""Devices are chosen by number, name and version; what they cannot do is refused before it is built."""

from dataclasses import replace

import pytest
from c_trees import context, statement
from opencl_devices import CPU
from opencl_variants import axpy_call, sum_call

from orio_py.core.diagnostics import DiagnosticError, EnvironmentProblem
from orio_py.core.source import Position
from orio_py.core.units import Bytes
from orio_py.ctree.evaluate import Number, number_type
from orio_py.kernel.backends import BACKENDS
from orio_py.measure.offload.host import Launch
from orio_py.measure.offload.host_state import Pointer
from orio_py.measure.offload.variant import HostFunction
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


def launch(*, n: int = 100, items: tuple[int, ...] = (64,), local: int = 0) -> Launch:
    call = replace(axpy_call(local=local), items=items, groups=(4,) * len(items))
    numbers = {
        name: Number(number_type("long"), n) for name in ("orio_count_y", "orio_count_x", "orio_trips_i")
    }
    return Launch(
        call,
        {"y": Pointer("y", 0), "x": Pointer("x", 0)},
        {**numbers, "a": Number(number_type("double"), 1.0)},
    )


@pytest.mark.parametrize(
    ("device", "given", "code", "words"),
    [
        (CPU, launch(items=(257,)), "ORIO-B012", "257 items per group in dimension 0; at most 256"),
        (CPU, launch(items=(16, 32)), "ORIO-B012", "512 items per group; at most 256"),
        (CPU, launch(items=(1, 1, 65)), "ORIO-B012", "65 items per group in dimension 2; at most 64"),
        (CPU, launch(items=(1, 1, 1, 1)), "ORIO-B012", "4 dimensions; at most 3"),
        (CPU, launch(local=4097), "ORIO-B013", "4097 bytes of local memory; a group has 4096"),
        (replace(CPU, has_doubles=False), launch(), "ORIO-B014", "no double precision"),
        (CPU, launch(n=65537), "ORIO-B015", "524296 bytes; at most 524288"),
        (replace(CPU, global_bytes=Bytes(1000)), launch(), "ORIO-B015", "take 1600 bytes; there are 1000"),
    ],
)
def test_what_a_device_cannot_do_is_refused(device, given, code, words) -> None:
    with pytest.raises(DiagnosticError) as caught:
        check_device(device, (), (launch(), given), PLACE)
    diagnostic = caught.value.diagnostics[0]
    assert (diagnostic.code, diagnostic.position) == (code, PLACE)
    assert words in diagnostic.message
    assert "pthread-cpu" in diagnostic.message


def test_limits_themselves_are_allowed() -> None:
    check_device(CPU, (), (launch(items=(256,), local=4096, n=65536),), PLACE)


def test_partial_results_are_buffers_too() -> None:
    call = replace(sum_call(), groups=(1 << 17,))
    numbers = {"orio_count_x": Number(number_type("long"), 1), "orio_trips_i": Number(number_type("long"), 1)}
    with pytest.raises(DiagnosticError, match="the buffer of `s` takes 1048576 bytes"):
        check_device(CPU, (), (Launch(call, {"x": Pointer("x", 0)}, numbers),), PLACE)


def test_tiles_and_partial_results_take_local_memory() -> None:
    around = context("int i, n; float *x, *y; double s;", live="y s", assumptions=Assumptions(True, True))
    code = "for (i = 1; i < n - 1; i++) { y[i] = x[i - 1] + x[i + 1]; s += x[i]; }"
    plan = offload(
        statement(code), around, OffloadArguments("Test", BACKENDS["opencl"], items=(32,), stage=True)
    )
    needed = 34 * 4 + 32 * 8
    assert HostFunction.of(plan, 0).local_bytes == needed
    call = replace(axpy_call(), local_bytes=Bytes(needed))
    small = replace(CPU, local_bytes=needed - 1)
    with pytest.raises(DiagnosticError, match=f"needs {needed} bytes of local memory"):
        check_device(small, (), (replace(launch(), call=call),), PLACE)
    check_device(replace(CPU, local_bytes=needed), (), (replace(launch(), call=call),), PLACE)


def test_groups_cover_the_axis_where_none_are_given() -> None:
    call = replace(axpy_call(items=64, groups=None), coarsen=4)
    assert [call.group_counts((n,)) for n in (1, 256, 257, 1024)] == [(1,), (1,), (2,), (4,)]


def test_groups_cover_the_axis_by_tiles() -> None:
    call = replace(axpy_call(items=64, groups=None), tile=(128,), coarsen=2)
    assert [call.group_counts((n,)) for n in (1, 256, 257, 1024)] == [(1,), (1,), (2,), (4,)]


def test_a_device_survives_json() -> None:
    platform = OpenCLPlatform("p", "v", "w", (CPU, GPU), None)
    assert OpenCLPlatform.from_json(platform.as_json()) == platform
