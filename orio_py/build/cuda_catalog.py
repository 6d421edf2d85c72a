"""The CUDA compilers: which are on this machine, and which one is used."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from orio_py.build.cuda import CudaCompiler
from orio_py.build.nvcc import find_nvcc
from orio_py.build.nvrtc import find_nvrtc
from orio_py.build.process import run
from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem, fail
from orio_py.core.registry import Registry, did_you_mean
from orio_py.core.source import Position
from orio_py.core.units import Seconds
from orio_py.record.cuda import CudaCompilerInfo, CudaSurvey

COMPILERS: Registry[Callable[[], CudaCompiler]] = Registry(
    "CUDA compiler", [("nvrtc", find_nvrtc), ("nvcc", find_nvcc)]
)
"""Those that are known, the preferred one first: a library starts faster than a program."""

DRIVER_TIMEOUT = Seconds(60.0)

_DRIVER = "libcuda.so.1"
_ASK_DRIVER = """\
import ctypes, json, sys
try:
    cuda = ctypes.CDLL(sys.argv[1])
except OSError as error:
    print(json.dumps({"problem": f"no driver ({error})"}))
    raise SystemExit
version, count = ctypes.c_int(), ctypes.c_int()
status = cuda.cuInit(0) or cuda.cuDriverGetVersion(ctypes.byref(version)) or cuda.cuDeviceGetCount(ctypes.byref(count))
print(json.dumps({"status": status, "version": version.value, "devices": count.value}))
"""


def cuda_compiler(name: str | None = None, position: Position | None = None) -> CudaCompiler:
    """The compiler of this name (`nvrtc`, `nvcc`), or the first that works.

    Raises EnvironmentProblem ORIO-B020 when there is none, with a diagnostic for each one that was looked for,
    DiagnosticError ORIO-B022 for an unknown name.
    """
    if name is not None:
        if (find := COMPILERS.get(name)) is None:
            message = f"there is no CUDA compiler `{name}`"
            fail("ORIO-B022", message, position, help=did_you_mean(name, COMPILERS))
        return find()
    problems: list[Diagnostic] = []
    for find in COMPILERS.values():
        try:
            return find()
        except EnvironmentProblem as problem:
            problems.extend(problem.diagnostics)
    raise EnvironmentProblem(*problems)


def cuda_title() -> str:
    """The compiler that `cuda_compiler` gives, with its version; '' where there is none.

    Machine code depends on it.
    """
    try:
        found = cuda_compiler()
    except EnvironmentProblem:
        return ""
    return f"{found.name} {found.version}"


def cuda_survey() -> CudaSurvey:
    """The CUDA compilers of this machine and the driver, each tried."""
    compilers = tuple(_info(name, find) for name, find in COMPILERS.items())
    return ask_driver(compilers)


def ask_driver(compilers: tuple[CudaCompilerInfo, ...], library: str = _DRIVER) -> CudaSurvey:
    """What the driver's library says of devices, asked in a process of its own, which a driver may crash."""
    done = run([sys.executable, "-c", _ASK_DRIVER, library], timeout=DRIVER_TIMEOUT, directory=Path.cwd())
    if not done.ok:
        how = "takes too long" if done.timed_out else f"ends with {done.signal_name or done.returncode}"
        return CudaSurvey(compilers, problem=f"asking the driver {how}")
    told = json.loads(done.stdout)
    if "problem" in told:
        return CudaSurvey(compilers, problem=told["problem"])
    version = f"{told['version'] // 1000}.{told['version'] % 1000 // 10}" if told["version"] else None
    if told["status"] != 0:
        return CudaSurvey(compilers, version, problem=f"the driver answers with error {told['status']}")
    problem = "the driver has no device" if told["devices"] == 0 else None
    return CudaSurvey(compilers, version, told["devices"], problem)


def _info(name: str, find: Callable[[], CudaCompiler]) -> CudaCompilerInfo:
    try:
        found = find()
    except EnvironmentProblem as problem:
        (first, *_) = problem.diagnostics
        return CudaCompilerInfo(name, reason=first.message, advice=first.help)
    return CudaCompilerInfo(name, found.version, found.architectures, found.path, found.is_from_wheels)
