"""nvdisasm, NVIDIA's disassembler: a wheel brings it, and it needs neither a GPU nor a driver."""

from __future__ import annotations

import re
import shutil
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from orio_py.build.cubin import CodeSection, code_sections, cubin_architecture
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
_ROW = re.compile(r"\s*/\*(?P<address>[0-9a-f]{4,})\*/\s+(?P<text>.*)")
_JUMP = re.compile(
    r"(?P<jump>^(?:@!?U?P\w+\s+)?(?:BRA|CALL|JMP|BSSY|RET)\b[^;]*?)(?P<target>0x[0-9a-f]+)(?=\s*;)"
)

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
        name = self._name("sass", cubin)
        if (found := kept(name)) is not None:
            return found.decode()
        # The analysis of data flow is not needed, and works for cubins of the program's own release alone.
        text = self._run(["-c", "-hex", "-g", "-ndf"], cubin, cubin_architecture(cubin))
        keep(name, text.encode())
        return text

    def code_listings(self, cubins: Sequence[bytes]) -> list[str]:
        """The listings of cubins for one architecture, without lines of source, as `parse_listing` reads them.

        Starting the program takes 0.2 s, reading an instruction 2 us: those that are not kept yet are put one behind the
        other and listed by one call, but for code that is relocated.  Raises as `listing`.
        """
        names = [self._name("code", cubin) for cubin in cubins]
        texts = {name: found.decode() for name in dict.fromkeys(names) if (found := kept(name)) is not None}
        left = {name: cubin for name, cubin in zip(names, cubins, strict=True) if name not in texts}
        sections = {name: code_sections(cubin) for name, cubin in left.items()}
        plain = [name for name, found in sections.items() if not any(one.is_relocated for one in found)]
        fresh = {name: self.listing(cubin) for name, cubin in left.items() if name not in plain}
        if plain:
            listed = [one for name in plain for one in sections[name]]
            architecture = cubin_architecture(left[plain[0]])
            of_code = ["-hex", "-ndf", "-b", architecture.replace("_", "").upper()]
            raw = self._run(of_code, b"".join(one.code for one in listed), architecture)
            parts = iter(cut_listing(raw, listed))
            fresh |= {name: "".join(next(parts) for _ in sections[name]) for name in plain}
        for name, text in fresh.items():
            keep(name, text.encode())
        texts |= fresh
        return [texts[name] for name in names]

    def _name(self, kind: str, cubin: bytes) -> str:
        """Under which a listing is kept."""
        program = Path(self.path).resolve()
        return f"{kind}-{digest([cubin.hex(), str(program), program.stat().st_size])[:24]}.txt"

    def _run(self, options: Sequence[str], content: bytes, architecture: str) -> str:
        with TemporaryDirectory(prefix="orio-nvdisasm-") as folder:
            place = Path(folder) / "kernels.cubin"
            place.write_bytes(content)
            command = [self.path, *options, place.name]
            done = run(command, timeout=TIMEOUT, directory=Path(folder), output_bytes=_MOST_BYTES)
        if not done.ok:
            told = next((line for line in done.stderr.splitlines() if line.strip()), "no reason given")
            fail(
                "ORIO-B061",
                f"nvdisasm does not read machine code for {architecture}: {told.strip()}",
                help=INSTALL_NVDISASM,
            )
        return done.stdout


def cut_listing(text: str, sections: Sequence[CodeSection]) -> Iterator[str]:
    """The listing of bare code as one for each function in it, with addresses and targets of jumps from its begin on."""
    ends = list(accumulate(len(one.code) for one in sections))
    begins = [0, *ends[:-1]]
    rows: list[list[str]] = [[f"\t.section\t.text.{one.name},\n"] for one in sections]
    number = 0
    for row in text.splitlines():
        if (code := _ROW.fullmatch(row)) is not None:
            address = int(code["address"], 16)
            number = bisect_right(ends, address)
            base = begins[number]
            instruction = _JUMP.sub(lambda jump, base=base: _nearer(jump, base), code["text"])
            row = f"/*{address - base:04x}*/ {instruction}"
        elif not row.lstrip().startswith("/* 0x"):
            continue
        rows[number].append(f"{row}\n")
    yield from ("".join(one) for one in rows)


def _nearer(jump: re.Match[str], base: int) -> str:
    return f"{jump['jump']}{int(jump['target'], 16) - base:#x}"


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
