"""Which library calls NVIDIA's driver, and why the others do not.

The first of the table that works is taken, unless the user names one (`ORIO_CUDA_DRIVER`).
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from orio_py.build.detect import wanted_cuda_library
from orio_py.build.process import run
from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem, Note
from orio_py.core.registry import did_you_mean
from orio_py.core.units import Seconds
from orio_py.measure.cuda.drivers.base import CudaDriver, DriverProblem
from orio_py.measure.cuda.drivers.libraries import LIBRARIES, DriverLibrary
from orio_py.measure.cuda.drivers.probe import MARK
from orio_py.record.cuda import CudaDevice, CudaLibraryInfo, CudaSurvey

PROBE_TIMEOUT = Seconds(120.0)
"""Opening a context on a machine with many GPUs takes some seconds."""

INSTALL_DRIVER = (
    "running CUDA kernels needs a GPU of NVIDIA's and its driver (Ubuntu: `ubuntu-drivers install`, Debian: "
    "`apt install nvidia-driver`; a container is given it by `docker run --gpus all`)"
)


@dataclass(frozen=True, slots=True)
class DriversFound:
    """The libraries, the one that is used with the reason, and the devices as it sees them."""

    libraries: tuple[CudaLibraryInfo, ...]
    chosen: str | None = None
    because: str = ""
    devices: tuple[CudaDevice, ...] = ()


def cuda_driver(number: int = 0, name: str | None = None) -> CudaDriver:
    """The driver of a device, by the library of this name, or the one that the user wants, or the first that works.

    It is for worker processes: a driver may crash its process.  Raises EnvironmentProblem ORIO-B023 without one,
    with what each library says, B046 for an unknown name.
    """
    problems: list[tuple[DriverLibrary, str]] = []
    for library in _candidates(name):
        try:
            return library.open(number)
        except ImportError as error:
            told = str(error) if library.is_installed else "it is not installed"
            problems.append((library, told))
        except DriverProblem as problem:
            problems.append((library, str(problem)))
    first = next((p for p in problems if p[0].is_installed), problems[0])
    notes = tuple(Note(f"{library.name}: {told}") for library, told in problems)
    message = f"CUDA kernels cannot be run here: {first[0].name}: {first[1]}"
    advice = INSTALL_DRIVER if first[0].is_installed else first[0].advice
    raise EnvironmentProblem(Diagnostic("ORIO-B023", message, notes=notes, help=advice))


@cache
def drivers_found(missing: str | None = None) -> DriversFound:
    """Each library tried, once, in a process of its own; `missing` is why the driver itself is known not to work.

    Raises EnvironmentProblem ORIO-B024 for a library that the user wants and there is not.
    """
    wanted = {library.name for library in _candidates(None)}
    seen = {library.name: _tried(library, missing) for library in LIBRARIES.values()}
    infos = tuple(info for info, _ in seen.values())
    working = [info.name for info in infos if info.works]
    for name in working:
        if name in wanted:
            if len(wanted) == 1 < len(LIBRARIES):
                because = "ORIO_CUDA_DRIVER names it"
            elif len(working) > 1:
                because = "of those that work it is the one that wheels bring; ORIO_CUDA_DRIVER names another"
            else:
                because = "it is the only one that works"
            return DriversFound(infos, name, because, seen[name][1])
    return DriversFound(infos)


def with_libraries(found: CudaSurvey) -> CudaSurvey:
    """A survey with the libraries, and with their reasons where the driver alone would do."""
    try:
        drivers = drivers_found(found.problem)
    except EnvironmentProblem as problem:
        return replace(found, problem=problem.diagnostics[0].message)
    told = replace(
        found,
        libraries=drivers.libraries,
        library=drivers.chosen,
        because=drivers.because or None,
        gpus=drivers.devices,
    )
    if found.problem is None and drivers.chosen is None:
        wanted = wanted_cuda_library()
        problem = (
            f"{wanted}, which ORIO_CUDA_DRIVER names, does not work"
            if wanted
            else "no library calls the driver"
        )
        return replace(told, problem=problem)
    return told


def _candidates(name: str | None) -> list[DriverLibrary]:
    name = name if name is not None else wanted_cuda_library()
    if name is None:
        return list(LIBRARIES.values())
    if (library := LIBRARIES.get(name)) is None:
        known = ", ".join(f"`{each}`" for each in LIBRARIES)
        message = f"there is no library `{name}` for CUDA's driver (ORIO_CUDA_DRIVER); there are {known}"
        raise EnvironmentProblem(Diagnostic("ORIO-B024", message, help=did_you_mean(name, LIBRARIES)))
    return [library]


def _tried(library: DriverLibrary, missing: str | None) -> tuple[CudaLibraryInfo, tuple[CudaDevice, ...]]:
    name = library.name
    if not library.is_installed:
        return CudaLibraryInfo(name, reason="it is not installed", advice=library.advice), ()
    if missing is not None:
        return CudaLibraryInfo(name, library.version, missing, INSTALL_DRIVER), ()
    root = str(Path(__file__).parents[4])
    code = f"import sys; sys.path.insert(0, {root!r}); from orio_py.measure.cuda.drivers.probe import main"
    command = [sys.executable, "-P", "-c", f"{code}; sys.exit(main(sys.argv[1:]))", name]
    done = run(command, timeout=PROBE_TIMEOUT, directory=Path.cwd())
    line = next((text for text in done.stdout.splitlines() if text.startswith(MARK)), None)
    if line is None:
        how = "takes too long" if done.timed_out else f"ends with {done.signal_name or done.returncode}"
        last = done.stderr.strip().splitlines()[-1:]
        return CudaLibraryInfo(
            name, library.version, ": ".join([f"trying it {how}", *last]), INSTALL_DRIVER
        ), ()
    answer = json.loads(line.removeprefix(MARK))
    problem = answer.get("problem") or (None if answer["devices"] else "it finds no device")
    if problem is not None:
        return CudaLibraryInfo(name, library.version, problem, INSTALL_DRIVER), ()
    return CudaLibraryInfo(name, library.version), tuple(CudaDevice(**d) for d in answer["devices"])
