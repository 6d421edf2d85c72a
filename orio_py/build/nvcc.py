"""nvcc, the compiler of a CUDA toolkit, as a program on the PATH."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from orio_py.build.compiler import DEFAULT_BUILD_TIMEOUT, BuildFailure
from orio_py.build.cubin import read_cubin
from orio_py.build.cuda import (
    INSTALL_CUDA,
    NO_CODE,
    SOURCE_NAME,
    CudaBinary,
    CudaBuildOptions,
    check_architecture,
    encoded,
    failure,
    readable,
)
from orio_py.build.process import Running, run
from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem
from orio_py.core.units import Seconds

_PROBE_TIMEOUT = Seconds(60.0)


@dataclass(frozen=True, slots=True)
class Nvcc:
    """nvcc as it was found: its path, version, and the architectures that it makes machine code for."""

    path: str
    version: str
    architectures: tuple[str, ...]
    running: Running = field(default_factory=Running, compare=False)

    @property
    def name(self) -> str:
        """The compiler in messages."""
        return "nvcc"

    @property
    def is_from_wheels(self) -> bool:
        """As `CudaCompiler.is_from_wheels`: no wheel has the program."""
        return False

    def compile(self, source: str, architecture: str, options: CudaBuildOptions) -> CudaBinary | BuildFailure:
        """As `CudaCompiler.compile`, in a process of its own with a time limit."""
        check_architecture(self, architecture)
        with TemporaryDirectory(prefix="orio-nvcc-") as folder:
            directory = Path(folder)
            (directory / SOURCE_NAME).write_bytes(encoded(source))
            output = directory / "kernels.cubin"
            done = run(
                # PTX is among the files that are kept.
                [
                    self.path,
                    "--cubin",
                    "--keep",
                    "--keep-dir=.",
                    *options.words(architecture),
                    f"--output-file={output.name}",
                    SOURCE_NAME,
                ],
                timeout=DEFAULT_BUILD_TIMEOUT,
                directory=directory,
                environment={"LC_ALL": "C"},
                running=self.running,
            )
            log = done.stderr + done.stdout
            if done.timed_out:
                reason = f"{self.name} took longer than {DEFAULT_BUILD_TIMEOUT:.0f} s"
                return BuildFailure(reason, readable(log), timed_out=True)
            if not done.ok:
                return failure(self.name, log)
            if not output.exists():
                return BuildFailure(f"{self.name}: {NO_CODE}", readable(log))
            cubin = output.read_bytes()
            ptx = output.with_suffix(".ptx").read_text(errors="replace")
        return CudaBinary(architecture, cubin, read_cubin(cubin), readable(log), done.seconds, ptx)


def find_nvcc(program: str = "nvcc") -> Nvcc:
    """The nvcc of this name or path.  Raises EnvironmentProblem ORIO-B020 when it is not there or does not work."""
    if (path := shutil.which(program)) is None:
        raise _missing(f"`{program}` is not on the PATH")
    version = run([path, "--version"], timeout=_PROBE_TIMEOUT, directory=Path.cwd())
    listed = run([path, "--list-gpu-code"], timeout=_PROBE_TIMEOUT, directory=Path.cwd())
    release = re.search(r"release (\d+\.\d+)", version.stdout)
    names = {name for name in listed.stdout.split() if re.fullmatch(r"sm_\d+", name)}
    if not version.ok or not listed.ok or release is None or not names:
        told = (version.stderr or listed.stderr).strip().splitlines()
        raise _missing(f"`{path}` does not work{f': {told[0]}' if told else ''}")
    return Nvcc(path, release[1], tuple(sorted(names, key=lambda name: int(name.removeprefix("sm_")))))


def _missing(reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(Diagnostic("ORIO-B020", f"no nvcc: {reason}", help=INSTALL_CUDA))
