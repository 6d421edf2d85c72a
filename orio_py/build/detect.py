"""Describes this host: its processor and the C compilers on the PATH."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from orio_py.build.process import run
from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem
from orio_py.core.units import Bytes, Seconds
from orio_py.record.environment import Host

KNOWN_COMPILERS = ("gcc", "clang", "cc", "icx", "tcc", "zig")
"""Looked for in this order; the first that works is the default."""

INSTALL_ADVICE = (
    "install one: `apt install gcc` (Debian, Ubuntu), `dnf install gcc` (Fedora, RHEL), "
    "`apk add build-base` (Alpine), `pacman -S gcc` (Arch), `xcode-select --install` (macOS), "
    "`conda install -c conda-forge c-compiler`, or, without any rights on the machine, `pip install ziglang` "
    "and `--cc zig`"
)

SCRATCH_LEAST = Bytes(2 << 30)
"""Free space that a folder in main memory must have."""

THREADING_PREFIXES = ("OMP_", "GOMP_", "KMP_")

_PROBE = "int orio_probe(int x) { return x + 1; }\n"


@dataclass(frozen=True, slots=True)
class CompilerInfo:
    """A C compiler that was looked for: where it is, and whether it builds a shared object."""

    name: str
    path: str | None
    version: str | None
    works: bool
    reason: str | None = None


def probe_compiler(name: str) -> CompilerInfo:
    """Look for a compiler on the PATH and try to build a small shared object with it."""
    command = zig_command() if name == "zig" else [shutil.which(name) or ""]
    if command is None or not command[0]:
        return CompilerInfo(name, None, None, False, "not on the PATH")
    path = command[0] if len(command) <= 2 else " ".join(command)
    with TemporaryDirectory(prefix="orio-probe-") as folder:
        directory = Path(folder)
        version = compiler_version(command, directory)
        (directory / "probe.c").write_text(_PROBE)
        built = run(
            [*command, "-shared", "-fPIC", "-o", "probe.so", "probe.c"],
            timeout=Seconds(60.0),
            directory=directory,
        )
        if built.ok and (directory / "probe.so").exists():
            return CompilerInfo(name, path, version, True)
        reason = built.stderr.strip().splitlines()
        return CompilerInfo(
            name, path, version, False, reason[0] if reason else "cannot build a shared object"
        )


def zig_command() -> list[str] | None:
    """The words that call zig as a C compiler, from the PATH or from the wheel `ziglang`; None without."""
    if (path := shutil.which("zig")) is not None:
        return [path, "cc"]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc"]
    return None


_PROBES = {
    "-fopenmp": ("omp.h", "omp_get_num_devices()"),
    "-fopenacc": ("openacc.h", "acc_get_num_devices(acc_device_not_host)"),
}


def directive_devices(compiler: Sequence[str], option: str) -> int | None:
    """How many devices programs that are built with `option` find; None where the compiler cannot build them.

    `option` is `-fopenmp`, for which clang needs a library that may be missing, or `-fopenacc`.
    """
    header, count = _PROBES[option]
    with TemporaryDirectory(prefix="orio-probe-") as folder:
        directory = Path(folder)
        code = f'#include <stdio.h>\n#include <{header}>\nint main(void) {{ printf("%d\\n", {count}); return 0; }}\n'
        (directory / "probe.c").write_text(code)
        command = [*compiler, option, "-o", "probe", "probe.c"]
        if not run(command, timeout=Seconds(60.0), directory=directory).ok:
            return None
        told = run([str(directory / "probe")], timeout=Seconds(60.0), directory=directory)
        number = told.stdout.strip()
        return int(number) if told.ok and number.isdecimal() else 0


def compiler_version(compiler: Sequence[str], directory: Path) -> str:
    """The first line of `--version`, or the program's name when it gives none."""
    told = run([*compiler, "--version"], timeout=Seconds(30.0), directory=directory)
    lines = told.stdout.strip().splitlines()
    return lines[0] if told.ok and lines else Path(compiler[0]).name


def compilers() -> tuple[CompilerInfo, ...]:
    """All known compilers, the missing ones included."""
    return tuple(probe_compiler(name) for name in KNOWN_COMPILERS)


def default_compiler() -> str:
    """The first known compiler on the PATH.  Raises EnvironmentProblem ORIO-B001 when there is none."""
    for name in KNOWN_COMPILERS:
        if shutil.which(name) is not None or (name == "zig" and zig_command() is not None):
            return name
    raise EnvironmentProblem(
        Diagnostic("ORIO-B001", "no C compiler was found on the PATH", help=INSTALL_ADVICE)
    )


def compiler_words() -> list[str]:
    """The words that call `default_compiler`.  Raises EnvironmentProblem ORIO-B001 when there is none."""
    name = default_compiler()
    zig = zig_command() if name == "zig" else None
    return list(zig) if zig is not None else [name]


def processor_to_pin() -> int | None:
    """The processor to keep serial kernels on: the last one allowed, for the first ones serve interrupts.

    None where the system has no such choice or this process may use one processor only.
    """
    if not hasattr(os, "sched_getaffinity"):
        return None
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[-1] if len(allowed) > 1 else None


def scratch_folder() -> Path | None:
    """A folder in main memory for files that live briefly; None for the usual temporary folder.

    That one is taken when the user chose it (`TMPDIR`), or when the other is small or runs no programs.
    """
    memory = Path("/dev/shm")  # noqa: S108 - only folders with random names are made there
    if os.environ.get("TMPDIR") or not os.access(memory, os.W_OK):
        return None
    try:
        found = os.statvfs(memory)
    except OSError:
        return None
    runs_programs = not found.f_flag & getattr(os, "ST_NOEXEC", 8)
    return memory if runs_programs and found.f_bavail * found.f_frsize >= SCRATCH_LEAST else None


def wanted_cuda_library() -> str | None:
    """The library for NVIDIA's driver that the user wants (`ORIO_CUDA_DRIVER`); None for the first that works."""
    return os.environ.get("ORIO_CUDA_DRIVER") or None


def cpu_name() -> str:
    """The processor's model name as the system gives it."""
    return _cpu_info("model name") or platform.processor() or platform.machine()


def cpu_extensions() -> frozenset[str]:
    """The processor's extensions as Linux names them, such as `avx2`; empty on other systems."""
    return frozenset((_cpu_info("flags") or _cpu_info("Features")).split())


def _cpu_info(key: str) -> str:
    """A line of the first processor's description; empty where there is none."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(key):
                return " ".join(line.split(":", 1)[1].split())
    except OSError:
        pass
    return ""


def cpu_cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_bytes() -> Bytes:
    """The machine's main memory."""
    return Bytes(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def system_name() -> str:
    """Operating system, release and architecture."""
    return f"{platform.system()} {platform.release()} {platform.machine()}"


def host() -> Host:
    """The machine at hand, as measurements are filed under it."""
    return Host(
        platform.node(),
        cpu_name(),
        cpu_cores(),
        platform.machine(),
        platform.system(),
        platform.release(),
        memory_bytes(),
        _caches(Path("/sys/devices/system/cpu/cpu0/cache")),
        {name: value for name, value in os.environ.items() if name.startswith(THREADING_PREFIXES)},
    )


def device_name() -> str:
    """What those processes have in common that measure on the same device: the user, and the GPUs that they see."""
    gpus = os.environ.get("CUDA_VISIBLE_DEVICES", "all").replace(os.sep, "_")[:80]
    return f"device-{os.getuid()}-{gpus}"


def unset_single_thread() -> None:
    """Remove `OMP_NUM_THREADS=1` and the like, which Dask gives its workers and kernels would be measured with."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        if os.environ.get(name) == "1":
            del os.environ[name]


def _caches(folder: Path) -> tuple[tuple[str, Bytes], ...]:
    """Linux's list of the first processor's caches; empty where there is none."""
    found: dict[str, Bytes] = {}
    for entry in sorted(folder.glob("index*")):
        try:
            level, kind, size = ((entry / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        letter = {"Data": "d", "Instruction": "i"}.get(kind, "")
        if size.endswith("K") and size[:-1].isdigit():
            found[f"L{level}{letter}"] = Bytes(int(size[:-1]) * 1024)
    return tuple(found.items())
