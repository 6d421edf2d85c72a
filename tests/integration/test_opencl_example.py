"""The example application with an OpenCL kernel, and the listing of its host code in the reference."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from opencl_build import HEADERS, device_environment, headers, loader

import orio_py

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "opencl"
PAGE = ROOT / "docs" / "reference" / "opencl-host.md"
LISTING = re.compile(
    r"(?<=as `orio transform axpy\.c` writes it:\n\n```c\n).*?(?=^```$)", re.DOTALL | re.MULTILINE
)

needs_device = pytest.mark.skipif(loader() is None, reason="the wheel pyopencl[pocl] is not installed")


@pytest.fixture
def example(tmp_path) -> Path:
    if shutil.which("make") is None:
        pytest.skip("make is needed to build the example")
    copy = tmp_path / "opencl"
    shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns("build"))
    return copy


def make(folder: Path, *words: str) -> str:
    environment = device_environment({"PYTHONPATH": str(ROOT), "POCL_CACHE_DIR": str(folder / "cache")})
    options = [
        f"ORIO={shlex.quote(sys.executable)} -m orio_py",
        f"OPENCL={shlex.join([*headers(), str(loader())])}",
    ]
    done = subprocess.run(
        ["make", "--no-print-directory", *options, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


RIGHT = ["n = 1000: right", "n = 1000000: right", "n = 10: right"]


@pytest.mark.proof
@needs_device
def test_the_makefile_builds_and_runs_it(example):
    assert make(example, "run").splitlines()[-3:] == RIGHT
    assert sorted(p.name for p in (example / "build").iterdir()) == [
        "axpy",
        "axpy.c",
        "axpy_opencl.c",
        "axpy_opencl.h",
    ]


@needs_device
def test_cmake_builds_it(example):
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("cmake is needed to try the example's CMakeLists.txt")
    generated = example / "generated"
    generated.mkdir()
    orio_py.transform(example / "axpy.c", output=generated / "axpy.c")
    options = [
        f"-DGENERATED={generated}",
        f"-DOpenCL_LIBRARY={loader()}",
        f"-DOpenCL_INCLUDE_DIR={HEADERS}",
    ]
    environment = device_environment({"POCL_CACHE_DIR": str(example / "cache")})
    for command in ([cmake, "-S", ".", "-B", "out", *options], [cmake, "--build", "out"], ["out/axpy"]):
        done = subprocess.run(command, cwd=example, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == RIGHT


def test_the_original_needs_no_opencl(example):
    done = subprocess.run(["make", "original"], cwd=example, env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    told = subprocess.run([example / "build" / "axpy-original"], capture_output=True, text=True)
    assert told.stdout.splitlines() == RIGHT


def test_the_listing_is_what_is_generated(tmp_path, request):
    orio_py.transform(EXAMPLE / "axpy.c", output=tmp_path / "axpy.c")
    text = (tmp_path / "axpy_opencl.c").read_text()
    page = PAGE.read_text(encoding="utf-8")
    if request.config.getoption("--update-golden"):
        page = LISTING.sub(lambda _: text, page)
        PAGE.write_text(page, encoding="utf-8")
    assert LISTING.findall(page) == [text]
