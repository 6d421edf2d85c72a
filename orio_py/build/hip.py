"""hipcc: whether a text of HIP kernels compiles for an architecture of AMD's GPUs."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from orio_py.build.compiler import BuildFailure
from orio_py.build.process import Running, run
from orio_py.core.units import Seconds

BUILD_TIMEOUT = Seconds(300.0)

_FOLDERS = ("HIP_PATH", "ROCM_PATH")
_STANDARD = Path("/opt/rocm/bin")


@dataclass(frozen=True, slots=True)
class HipCompiler:
    """hipcc by its path, with what it says of itself."""

    path: str
    version: str
    running: Running = field(default_factory=Running, compare=False)

    def compile(self, source: Path, architecture: str) -> BuildFailure | None:
        """Compile the kernels of a file for `architecture` (`gfx90a`) into a code object beside it; None where it works."""
        output = source.with_suffix(".hsaco")
        words = ["--genco", f"--offload-arch={architecture}", "-O3", "-std=c++17"]
        done = run(
            [self.path, *words, source.name, "-o", output.name],
            timeout=BUILD_TIMEOUT,
            directory=source.parent,
            running=self.running,
        )
        if done.ok:
            return None
        told = (done.stderr + done.stdout).strip()
        first = next((line for line in told.splitlines() if "error" in line), told.partition("\n")[0])
        reason = "hipcc takes too long" if done.timed_out else f"hipcc refuses the kernels: {first}"
        return BuildFailure(reason, told)


@cache
def hip_compiler() -> HipCompiler | None:
    """The hipcc on the PATH, or that of `HIP_PATH`, `ROCM_PATH` or /opt/rocm; None without one."""
    found = shutil.which("hipcc")
    folders = [Path(value) / "bin" for name in _FOLDERS if (value := os.environ.get(name))]
    for folder in (*folders, _STANDARD):
        found = found or shutil.which("hipcc", path=str(folder))
    if found is None:
        return None
    told = run([found, "--version"], timeout=Seconds(60.0), directory=Path.cwd())
    lines = told.stdout.strip().splitlines()
    return HipCompiler(found, lines[0] if told.ok and lines else "hipcc")


def hip_title() -> str:
    """The version of hipcc, or that there is none: variants that were only checked are others than those it has seen."""
    compiler = hip_compiler()
    return compiler.version if compiler is not None else "no hipcc"
