"""Which CUDA compilers there are, and what a driver says."""

from __future__ import annotations

import subprocess

import pytest
from cuda_compilers import Answering

from orio_py.build.cuda_catalog import ask_driver, cuda_compiler, cuda_survey
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, EnvironmentProblem
from orio_py.core.registry import Registry

DRIVER = """\
#include <stdlib.h>
int cuInit(unsigned flags) { if (CRASH) abort(); return STATUS; }
int cuDriverGetVersion(int *version) { *version = 13020; return 0; }
int cuDeviceGetCount(int *count) { *count = DEVICES; return 0; }
"""


def absent():
    raise EnvironmentProblem(Diagnostic("ORIO-B020", "no first: it is not here", help="install it"))


@pytest.fixture
def compilers(monkeypatch):
    second = Answering({})

    def use(*finders):
        known = Registry("CUDA compiler", list(zip(("first", "second"), finders, strict=True)))
        monkeypatch.setattr("orio_py.build.cuda_catalog.COMPILERS", known)
        return second

    return use


def test_the_first_that_works_is_taken(compilers):
    second = compilers(absent, lambda: second)
    assert cuda_compiler() is second
    assert cuda_compiler("second") is second
    with pytest.raises(EnvironmentProblem, match="it is not here"):
        cuda_compiler("first")


def test_without_any_all_reasons_are_told(compilers):
    compilers(absent, absent)
    with pytest.raises(EnvironmentProblem) as caught:
        cuda_compiler()
    assert [told.code for told in caught.value.diagnostics] == ["ORIO-B020", "ORIO-B020"]


def test_an_unknown_name_is_refused():
    with pytest.raises(DiagnosticError) as caught:
        cuda_compiler("nvc")
    (told,) = caught.value.diagnostics
    assert (told.code, told.help) == ("ORIO-B022", "did you mean `nvcc`?")


def test_the_survey_tells_what_works_and_why_the_rest_does_not(compilers):
    second = compilers(absent, lambda: second)
    found = cuda_survey()
    first, other = found.compilers
    assert (first.works, first.reason, first.advice) == (False, "no first: it is not here", "install it")
    assert (other.works, other.version, other.path) == (True, "1.0", "nowhere")
    document = found.as_json()
    assert [compiler["works"] for compiler in document["compilers"]] == [False, True]
    assert document["driver"] == found.driver


@pytest.mark.parametrize(
    ("status", "devices", "crash", "expected"),
    [
        (0, 2, 0, ("13.2", 2, None)),
        (0, 0, 0, ("13.2", 0, "the driver has no device")),
        (100, 2, 0, (None, 0, "the driver answers with error 100")),
        (0, 2, 1, (None, 0, "asking the driver ends with SIGABRT")),
    ],
)
def test_the_driver_is_asked_in_a_process_of_its_own(tmp_path, status, devices, crash, expected):
    (tmp_path / "driver.c").write_text(DRIVER)
    library = str(tmp_path / "libcuda.so.1")
    macros = [f"-DSTATUS={status}", f"-DDEVICES={devices}", f"-DCRASH={crash}"]
    subprocess.run(
        ["gcc", "-shared", "-fPIC", *macros, "-o", library, str(tmp_path / "driver.c")], check=True
    )
    found = ask_driver((), library)
    assert (found.driver, found.devices, found.problem) == expected


def test_without_a_driver_the_reason_is_told(tmp_path):
    found = ask_driver((), str(tmp_path / "libcuda.so.1"))
    assert found.driver is None
    assert (found.problem or "").startswith("no driver (")
