"""nvdisasm, NVIDIA's disassembler: a wheel brings it, and it needs neither a GPU nor a driver."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from orio_py.build.cubin import cubin_architecture
from orio_py.build.process import run
from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem, fail
from orio_py.core.digest import digest
from orio_py.core.resources import keep, kept
from orio_py.core.units import Seconds

PROGRAM = "nvdisasm"

INSTALL_NVDISASM = (
    "`pip install 'orio_py[cuda]'` installs it as a wheel, without a GPU or a driver; or put the `nvdisasm` of a CUDA "
    "toolkit on the PATH.  The wheel knows sm_75 and later; for sm_70 name that of CUDA 12 (`--nvdisasm PATH`)"
)

TIMEOUT = Seconds(120.0)
_MOST_BYTES = 512 * 1024 * 1024
"""Longer than any listing: the assembler ends at some 10^6 instructions."""


@dataclass(frozen=True, slots=True)
class Disassembler:
    """The program as it was found."""

    path: str

    def listing(self, cubin: bytes) -> str:
        """What the program prints of a cubin, with the bits of instructions and with lines of source.

        It is kept for later processes, by the content.  Raises DiagnosticError ORIO-B061 when the program does not know
        the architecture or fails otherwise, ValueError for what is no cubin.
        """
        program = Path(self.path).resolve()
        name = f"sass-{digest([cubin.hex(), str(program), program.stat().st_size])[:24]}.txt"
        if (found := kept(name)) is not None:
            return found.decode()
        architecture = cubin_architecture(cubin)
        with TemporaryDirectory(prefix="orio-nvdisasm-") as folder:
            place = Path(folder) / "kernels.cubin"
            place.write_bytes(cubin)
            # The analysis of data flow is not needed, and works for cubins of the program's own release alone.
            command = [self.path, "-c", "-hex", "-g", "-ndf", place.name]
            done = run(command, timeout=TIMEOUT, directory=Path(folder), output_bytes=_MOST_BYTES)
        if not done.ok:
            told = next((line for line in done.stderr.splitlines() if line.strip()), "no reason given")
            fail(
                "ORIO-B061",
                f"nvdisasm does not read machine code for {architecture}: {told.strip()}",
                help=INSTALL_NVDISASM,
            )
        keep(name, done.stdout.encode())
        return done.stdout


def find_nvdisasm(program: str | None = None) -> Disassembler:
    """The program of this path or name, or that of the wheel, or the first on the PATH.

    Raises EnvironmentProblem ORIO-B060 where there is none.
    """
    if program is not None:
        found = shutil.which(program)
        what = f"`{program}` is no program that can be run"
    else:
        found = next((path for path in _of_wheels() if shutil.which(path)), None) or shutil.which(PROGRAM)
        what = "neither the wheel `nvidia-cuda-nvdisasm` nor `nvdisasm` on the PATH is there"
    if found is None:
        raise EnvironmentProblem(Diagnostic("ORIO-B060", f"no disassembler: {what}", help=INSTALL_NVDISASM))
    return Disassembler(found)


def _of_wheels() -> Iterable[str]:
    """Where wheels have put the program, newest toolkit first: `nvidia/cu13/bin` of a folder with packages."""
    spec = find_spec("nvidia")
    folders = spec.submodule_search_locations if spec is not None else None
    found = [path for folder in folders or () for path in Path(folder).glob(f"*/bin/{PROGRAM}")]
    return [str(path) for path in sorted(found, reverse=True)]
