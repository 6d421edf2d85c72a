"""TAU's profiles as the observer reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from orio_py.measure.observers.tau import Tau
from orio_py.record.trial import CounterSource

HEAD = "5 templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls # <metadata></metadata>\n"
KERNEL = '"orio kernel axpy [{axpy.c} {4,0}]" 4 1 2.5E+03 8e3 0 GROUP="TAU_USER"\n'
ROOT = '".TAU application" 1 1 9000 17000 0 GROUP="TAU_DEFAULT"\n'
PATHS = (
    '".TAU application => orio kernel axpy [{axpy.c} {4,0}]" 4 1 2500 8000 0 GROUP="TAU_CALLPATH"\n'
    '"[SAMPLE] orio_kernel [{axpy.c} {9}]" 70 0 1 1 0 GROUP="TAU_SAMPLE"\n0 aggregates\n'
)


def test_the_kernels_timer_is_read_in_seconds_per_call() -> None:
    assert Tau().read({"profile.0.0.0": HEAD + ROOT + KERNEL + PATHS}) == {
        "tau_time": pytest.approx(2e-3),
        "tau_exclusive_time": pytest.approx(6.25e-4),
    }


def test_of_several_metrics_the_time_on_the_wall_counts() -> None:
    other = (HEAD + KERNEL).replace("MULTI_TIME", "MULTI_PAPI_TOT_INS").replace("8e3", "5")
    files = {"MULTI__TIME/profile.0.0.0": HEAD + KERNEL, "MULTI__PAPI_TOT_INS/profile.0.0.0": other}
    assert Tau().read(files)["tau_time"] == pytest.approx(2e-3)
    assert Tau().read({"MULTI__PAPI_TOT_INS/profile.0.0.0": other}) == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "garbage",
        HEAD,
        HEAD + ROOT + PATHS,
        HEAD + KERNEL.replace(" 4 1", " 0 0"),
        HEAD + KERNEL.replace("8e3", "nan"),
        HEAD + KERNEL.replace("8e3", "much"),
    ],
)
def test_what_holds_no_kernel_gives_no_counters(text: str) -> None:
    assert Tau().read({"profile.0.0.0": text}) == {}


def test_it_tells_that_tau_is_missing() -> None:
    assert "tau_exec is not on the PATH" in str(Tau(find=lambda: None).available())
    assert Tau(find=lambda: "/opt/tau/bin/tau_exec").available() is None
    assert {c.source for c in Tau().counters()} == {CounterSource.TAU}
    assert Tau().environment(Path("out"))["PROFILEDIR"] == "out"
