"""The self-test of drivers: wrong and crashing ones are found case by case, other kernel libraries of PoCL are tried."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from opencl_devices import CPU, opencl_survey

from orio_py.build.detect import cpu_extensions
from orio_py.build.process import Completed
from orio_py.codegen.device import DeviceProgram
from orio_py.codegen.opencl.self_test import (
    SelfTestCase,
    self_test_batches,
    self_test_cases,
    self_test_text,
    uses_feature,
)
from orio_py.core.diagnostics import DiagnosticError, EnvironmentProblem
from orio_py.core.resources import CACHE_FOLDER
from orio_py.core.source import Position
from orio_py.core.units import Seconds
from orio_py.measure.opencl import survey as surveys
from orio_py.measure.opencl.client import look
from orio_py.measure.opencl.limits import check_device, choose_device
from orio_py.measure.opencl.pocl import HOME, alternatives, linked
from orio_py.record.device import DriverFault, OpenCLDevice, OpenCLPlatform, OpenCLSurvey

PLACE = Position("f.c", 3, 5)
FEATURES = [case.feature for case in self_test_cases(doubles=True)]


def of(device: OpenCLDevice) -> OpenCLSurvey:
    return OpenCLSurvey((OpenCLPlatform(device.platform, device.platform_version, "", (device,)),))


class Driver:
    """Stands for the worker process: crashes in some features, is wrong in others."""

    def __init__(
        self,
        wrong: tuple[str, ...] = (),
        crashes: tuple[str, ...] = (),
        hangs: tuple[str, ...] = (),
        compiles: tuple[str, ...] = (),
    ) -> None:
        self.wrong, self.crashes, self.hangs, self.compiles = wrong, crashes, hangs, compiles
        self.asked: list[tuple[str, int]] = []

    def ask(
        self, words: tuple[str, ...], environment: Mapping[str, str], timeout: Seconds
    ) -> tuple[Completed, list[dict[str, Any]]]:
        del environment, timeout
        _, _, _, how, listed = words
        features = listed.split(",")
        self.asked.append((how, len(features)))
        cases = [case for case in self_test_cases(doubles=True) if case.feature in features]
        answers: list[dict[str, Any]] = []
        for batch in self_test_batches(cases) if how == "together" else [[case] for case in cases]:
            names = [case.feature for case in batch]
            if set(names) & {*self.crashes, *self.hangs, *self.compiles}:
                hung = bool(set(names) & set(self.hangs))
                status = None if hung else -6 if set(names) & set(self.crashes) else -signal.SIGXCPU
                return Completed(status, "", "LLVM ERROR: no such copy\n", hung, Seconds(1.0)), answers
            answers += [
                {"feature": n, "problem": "computes wrong results" if n in self.wrong else None}
                for n in names
            ]
        return Completed(0, "", "", False, Seconds(1.0)), answers


def faults(driver: Driver, monkeypatch: pytest.MonkeyPatch, *, in_full: bool) -> dict[str, str]:
    monkeypatch.setattr(surveys, "ask", driver.ask)
    [device] = surveys._tested(of(CPU), in_full=in_full).devices
    assert device.tested == len(FEATURES)
    return {fault.feature: fault.problem for fault in device.faults}


def test_every_type_in_every_width_and_groups_are_tested() -> None:
    widths = {(case.element, case.width) for case in self_test_cases(doubles=True) if not case.is_group}
    assert len(widths) == 10 * 5
    assert FEATURES[-3:] == ["local memory", "barriers in loops", "reductions"]
    single = self_test_cases(doubles=False)
    assert len(single) == len(FEATURES) - 5
    assert not any("double" in self_test_text(batch, doubles=False) for batch in self_test_batches(single))


def test_this_machine_s_driver_is_tested_and_the_answer_kept() -> None:
    found = opencl_survey()
    assert all(device.tested in {len(FEATURES), len(FEATURES) - 5} for device in found.devices)
    assert OpenCLSurvey.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_a_right_driver_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver()
    assert faults(driver, monkeypatch, in_full=True) == {}
    assert driver.asked == [("together", len(FEATURES))]


def test_wrong_and_crashing_cases_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(("float16", "reductions"), ("double8", "long8"), ("local memory",), ("int4",))
    assert faults(driver, monkeypatch, in_full=True) == {
        "float16": "computes wrong results",
        "reductions": "computes wrong results",
        "double8": "ends the process (SIGABRT): LLVM ERROR: no such copy",
        "long8": "ends the process (SIGABRT): LLVM ERROR: no such copy",
        "local memory": "does not end",
        "int4": "does not end",
    }
    assert [how for how, _ in driver.asked] == ["together"] + 5 * ["apart"]


def test_a_compiler_that_does_not_end_is_ended_by_its_processor_time() -> None:
    pytest.importorskip("pyopencl")
    program = (
        "from orio_py.measure.opencl.self_test import limit_processor_time; limit_processor_time(1)\n"
        "while True: pass"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False, timeout=120)
    assert ended.returncode == -signal.SIGXCPU


def test_in_a_hurry_what_a_crash_leaves_unanswered_counts_as_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(crashes=("double16",))
    found = faults(driver, monkeypatch, in_full=False)
    assert len(driver.asked) == 1
    assert {"double16", "char16", "reductions"} <= set(found)
    assert "double8" not in found


@pytest.mark.parametrize(
    ("text", "feature", "uses"),
    [
        ("const double8 v = vload8(0, x);", "double8", True),
        ("convert_double8(v)", "double8", True),
        ("__global double *x", "double8", False),
        ("const double8 v;", "double", False),
        ("__local double t[4];", "local memory", True),
        ("for (k = 0; k < n; k++) { t[k] = 0; barrier(CLK_LOCAL_MEM_FENCE); }", "barriers in loops", True),
        ("for (k = 0; k < n; k++) { t[k] = 0; } barrier(CLK_LOCAL_MEM_FENCE);", "barriers in loops", False),
        ("for (int orio_width = 4; ;)", "reductions", True),
    ],
)
def test_what_a_text_asks_for(text: str, feature: str, uses: bool) -> None:
    assert uses_feature(text, feature) is uses


FAULTY = replace(
    CPU,
    tested=53,
    faults=(DriverFault("double8", "computes wrong results"), DriverFault("long8", "computes wrong results")),
)


def test_what_a_driver_fails_at_is_refused_with_the_reason() -> None:
    with pytest.raises(DiagnosticError) as refused:
        check_device(FAULTY, [DeviceProgram("double8 v;", ())], PLACE)
    [problem] = refused.value.diagnostics
    assert problem.code == "ORIO-B017"
    assert problem.position == PLACE
    assert problem.message.startswith("`double8` computes wrong results in the self-test of the driver")
    check_device(FAULTY, [DeviceProgram("double4 v;", ())], PLACE)


def test_a_driver_that_fails_everything_is_told_in_a_line_and_not_chosen() -> None:
    device = replace(
        CPU, tested=2, faults=(DriverFault("char", "does not build"), DriverFault("int", "does not build"))
    )
    assert device.fault_text == f"{CPU.label} fails all 2 self-tests of its driver: each does not build"
    found = OpenCLSurvey((OpenCLPlatform("", "", "", (device,)),))
    with pytest.raises(EnvironmentProblem) as missing:
        choose_device(found, None, None)
    assert [d.code for d in missing.value.diagnostics] == ["ORIO-B010"]
    right = replace(CPU, platform_number=1)
    both = OpenCLSurvey(tuple(OpenCLPlatform("", "", "", (d,)) for d in (device, right)))
    assert choose_device(both, None, None) == right


def test_a_device_without_faults_is_chosen_before_a_newer_platform() -> None:
    right = replace(CPU, platform_version="OpenCL 3.0 PoCL 1.8", platform_number=1)
    found = OpenCLSurvey(tuple(OpenCLPlatform("", "", "", (device,)) for device in (FAULTY, right)))
    assert choose_device(found, None, None) == right
    assert choose_device(found, 0, None) == FAULTY
    assert FAULTY.fault_text is not None
    assert (
        "fails 2 of 53 self-tests of its driver; not used: `double8`, `long8` computes" in FAULTY.fault_text
    )


NO_FAULT = DriverFault("char", "")


@pytest.fixture
def wheel() -> Path:
    """PoCL's shared object in a wheel; skipped elsewhere."""
    opencl_survey()
    libraries = look({})[1]
    if not libraries or not {"avx2", "sse2"} <= cpu_extensions():
        pytest.skip("needs PoCL's wheel and a processor with AVX2")
    return libraries[0]


@pytest.mark.proof
def test_another_kernel_library_mends_a_driver(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PoCL with built-in functions for another processor than kernels are compiled for, as on Zen 4 with LLVM 14."""
    if all(
        "unknown target CPU" in fault.problem for fault in opencl_survey().devices[0].faults or [NO_FAULT]
    ):
        pytest.skip("PoCL's LLVM does not know this processor: no kernel library mends that")
    broken = look({HOME: str(linked(wheel, "sse2", tmp_path / "broken"))})[0]
    hurried = surveys._tested(broken)
    assert {"double8", "float16"} <= {fault.feature for fault in hurried.devices[0].faults}
    done, answers = surveys._answers(broken.devices[0], ["double8"], broken.environment, together=False)
    assert not done.ok or answers["double8"] is not None
    token = CACHE_FOLDER.set(tmp_path / "cache")
    try:
        mended = surveys._best(broken, [wheel])
        names = [name for name, _ in alternatives([wheel])]
    finally:
        CACHE_FOLDER.reset(token)
    assert mended.devices[0].faults == ()
    assert mended.setting in names
    assert mended.environment[HOME].startswith(str(tmp_path / "cache"))


def test_links_for_other_layouts_are_not_made(tmp_path: Path) -> None:
    token = CACHE_FOLDER.set(tmp_path)
    try:
        assert list(alternatives([Path("/usr/lib/x86_64-linux-gnu/libpocl.so.2")])) == []
    finally:
        CACHE_FOLDER.reset(token)


def test_the_kept_case_is_that_of_the_self_test() -> None:
    case = next(case for case in self_test_cases(doubles=True) if case.feature == "double8")
    kept = Path(__file__).parents[3] / "opencl_driver_faults" / "double8.cl"
    assert kept.read_text() == self_test_text([case], doubles=True)


def test_a_case_alone_is_a_program() -> None:
    text = self_test_text([SelfTestCase("int4", "lanes", "int", 4)], doubles=False)
    assert "vload4(item, x_int)" in text
    assert text.count("__kernel") == 1
