"""Builds generated OpenCL host code, with OpenCL's headers where there are some and with our own elsewhere."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from opencl_devices import opencl_survey, skip_without_device

from orio_py.codegen.host_unit import HostKernel, HostUnit
from orio_py.codegen.opencl.host import host_header, host_source
from orio_py.core.resources import directory
from orio_py.measure.opencl.client import program_environment

SUPPORT = Path(__file__).resolve().parent
HEADERS = directory("templates") / "opencl" / "include"
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-pedantic", "-g")


@cache
def headers() -> tuple[str, ...]:
    """The option for the folder of `CL/cl.h`; none where the compiler finds it by itself."""
    done = subprocess.run(
        ["gcc", "-E", "-x", "c", "-"], input="#include <CL/cl.h>\n", capture_output=True, text=True
    )
    return () if done.returncode == 0 else (f"-I{HEADERS}",)


@cache
def loader() -> Path | None:
    """The OpenCL library that comes with the PyOpenCL wheel, None where there is none."""
    found = importlib.util.find_spec("pyopencl")
    if found is None or found.origin is None:
        return None
    libraries = sorted(Path(found.origin).parent.glob(".libs/libOpenCL*.so*"))
    return libraries[0] if libraries else None


def device_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment in which programs find the drivers as the self-test wants them, and the library they are linked with.

    Skips the test where the driver fails its self-test.
    """
    skip_without_device()
    library = loader()
    assert library is not None
    paths = [str(library.parent), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    found = program_environment(opencl_survey(), Path(os.environ["XDG_CACHE_HOME"]))
    return {**os.environ, **found, "LD_LIBRARY_PATH": os.pathsep.join(paths), **(extra or {})}


def write_unit(folder: Path, *kernels: HostKernel) -> None:
    """Write `test_opencl.c` and `test_opencl.h`."""
    unit = HostUnit("test", "test_opencl", kernels, ("for a test",))
    (folder / "test_opencl.c").write_bytes(host_source(unit).data)
    (folder / "test_opencl.h").write_bytes(host_header(unit).data)


def build(folder: Path, sources: Sequence[Path | str], *flags: str, command: str = "gcc") -> Path:
    """The program built from sources in `folder` or with paths of their own; every warning is an error."""
    program = folder / "program"
    words = [command, *STRICT, *headers(), f"-I{folder}", f"-I{SUPPORT}"]
    header = (folder / "test_opencl.h").read_text() if (folder / "test_opencl.h").exists() else ""
    # The functions have more parameters where it is known what slices touch.
    words += ["-DADD_SLICES"] if "orio_step_c" in header else []
    words += ["-DAXPY_SLICES"] if "orio_step_y" in header else []
    words += [str(folder / source) for source in sources]
    done = subprocess.run(
        [*words, *flags, "-o", str(program), "-lm", "-pthread"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-6000:]
    return program


def run(program: Path, *words: str, environment: Mapping[str, str] | None = None) -> str:
    """What a program prints that must succeed within two minutes."""
    done = subprocess.run(
        [str(program), *words], capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.returncode == 0, f"{done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
    return done.stdout
