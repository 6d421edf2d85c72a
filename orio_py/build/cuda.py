"""CUDA text to machine code: what every compiler of it gets and gives."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from orio_py.build.compiler import BuildFailure
from orio_py.core.diagnostics import fail
from orio_py.core.source import Position
from orio_py.core.units import Seconds
from orio_py.record.cuda import KernelUsage

SOURCE_NAME = "kernels.cu"
"""The name of the text in the compilers' messages, where no `#line` gives another."""

INSTALL_CUDA = (
    "`pip install 'orio_py[cuda]'` installs NVIDIA's run-time compiler (NVRTC) as wheels, without a GPU or a driver; "
    "or put the `nvcc` of a CUDA toolkit on the PATH"
)

NO_CODE = "the options make no machine code"
"""Why a build fails that the compiler itself calls a success, with `-dlto` for example."""

_STANDARD = "--std=c++17"
_ARCHITECTURE = re.compile(r"(?:-arch|--gpu-architecture)(?:=(.+))?")
_REGISTERS = re.compile(r"--?maxrregcount(?:=(.+))?")
_PTXAS = re.compile(r"(?:-Xptxas|--ptxas-options)(?:=(.+))?")
_HOST = re.compile(r"(?:-Xcompiler|--compiler-options)(?:=(.+))?")
_MESSAGE = re.compile(
    r"(?P<file>[^\n]+?)\((?P<line>\d+)\): (?P<kind>(?:catastrophic )?error|warning|remark)(?: #[\w-]+)?: (?P<text>.*)"
)
_INDENT = 2
"""How far the compilers indent the line of source that they quote."""


@dataclass(frozen=True, slots=True)
class CudaBuildOptions:
    """How CUDA text is compiled, for every compiler of it.

    `architecture` is one that the options name (`sm_90`), `max_registers` the most per thread.  `ptxas` are options
    of the assembler, `flags` all others.
    """

    architecture: str | None = None
    max_registers: int | None = None
    fast_math: bool = False
    line_info: bool = False
    ptxas: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    def words(self, architecture: str) -> list[str]:
        """The options as nvcc and NVRTC both read them."""
        words = [f"--gpu-architecture={architecture}"]
        if not any(flag.startswith(("-std", "--std")) for flag in self.flags):
            words.append(_STANDARD)
        if self.max_registers is not None:
            words.append(f"--maxrregcount={self.max_registers}")
        if self.fast_math:
            words.append("--use_fast_math")
        if self.line_info:
            words.append("--generate-line-info")
        return [*words, *(f"--ptxas-options={option}" for option in self.ptxas), *self.flags]


def cuda_options(text: str, position: Position | None = None) -> CudaBuildOptions:
    """The options that a text such as `-arch=sm_90 -O3 -use_fast_math` asks for, split as a shell would split it.

    They are written for nvcc.  `-O0` to `-O3` go to the assembler, which optimises device code; those for the
    compiler of host code (`-Xcompiler`) are left out, for no host code is compiled.  Raises DiagnosticError ORIO-B003
    for an unbalanced quote.

    >>> cuda_options("-maxrregcount=32 -O1 -DN=4").words("sm_90")[2:]
    ['--maxrregcount=32', '--ptxas-options=-O1', '-DN=4']
    """
    try:
        words = iter(shlex.split(text))
    except ValueError as error:
        fail("ORIO-B003", f"the options {text!r} cannot be split into words: {error}", position)
    architecture: str | None = None
    registers: int | None = None
    fast_math = line_info = False
    ptxas: list[str] = []
    flags: list[str] = []
    for word in words:
        if (found := _ARCHITECTURE.fullmatch(word)) is not None:
            architecture = found[1] or next(words, "")
        elif (found := _REGISTERS.fullmatch(word)) is not None:
            number = found[1] or next(words, "")
            if number.isdecimal():
                registers = int(number)
            else:  # the compiler says what is wrong
                flags.append(f"--maxrregcount={number}")
        elif (found := _PTXAS.fullmatch(word)) is not None:
            ptxas.extend((found[1] or next(words, "")).split(","))
        elif (found := _HOST.fullmatch(word)) is not None:
            _ = found[1] or next(words, "")
        elif re.fullmatch(r"-O[0-3]", word):
            ptxas.append(word)
        elif word in ("-use_fast_math", "--use_fast_math"):
            fast_math = True
        elif word in ("-lineinfo", "--generate-line-info"):
            line_info = True
        else:
            flags.append(word)
    return CudaBuildOptions(architecture, registers, fast_math, line_info, tuple(ptxas), tuple(flags))


@dataclass(frozen=True, slots=True)
class CudaBinary:
    """Machine code for one architecture, what its kernels use, and what the compiler said.

    `ptx` is the same program in NVIDIA's virtual instruction set.
    """

    architecture: str
    cubin: bytes
    kernels: tuple[KernelUsage, ...]
    log: str
    seconds: Seconds
    ptx: str

    def kernel(self, name: str) -> KernelUsage:
        """What the kernel of this name uses.  Raises KeyError when there is none."""
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        raise KeyError(name)


class CudaCompiler(Protocol):
    """Compiles CUDA text to machine code; needs neither a GPU nor a driver."""

    @property
    def name(self) -> str:
        """The compiler in messages, `NVRTC` or `nvcc`."""
        ...

    @property
    def version(self) -> str:
        """The version of the toolkit that it belongs to, `13.0`."""
        ...

    @property
    def path(self) -> str:
        """Where the program or library is."""
        ...

    @property
    def is_from_wheels(self) -> bool:
        """Whether it is one of the Python packages, not of a toolkit."""
        ...

    @property
    def architectures(self) -> tuple[str, ...]:
        """The architectures that it makes machine code for, oldest first."""
        ...

    def compile(self, source: str, architecture: str, options: CudaBuildOptions) -> CudaBinary | BuildFailure:
        """Machine code for `architecture`, whatever the options say.

        Raises DiagnosticError ORIO-B021 when the compiler does not know the architecture.
        """
        ...


def check_architecture(compiler: CudaCompiler, architecture: str, position: Position | None = None) -> None:
    """Raise DiagnosticError ORIO-B021 unless the compiler knows the architecture, or its variants `a` and `f`."""
    if architecture.rstrip("af") in compiler.architectures:
        return
    known = ", ".join(compiler.architectures)
    message = f"{compiler.name} {compiler.version} makes no machine code for `{architecture}`"
    fail("ORIO-B021", message, position, help=f"it knows {known}")


def failure(name: str, log: str) -> BuildFailure:
    """A failed build from a compiler's log: the first error, with line and column in the kernels' text."""
    log = readable(log)
    lines = [line for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"\b(error|fatal)\b", line)]
    first = errors[0] if errors else lines[0] if lines else "no reason given"
    return BuildFailure(f"{name}: {first.strip()}", log)


def readable(log: str) -> str:
    """A log with `FILE:LINE:COLUMN: error: …` for `FILE(LINE): error: …`, as C compilers write it.

    The column is that of the caret below the quoted line.
    """
    return "\n".join(_readable(log.splitlines()))


def _readable(lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        if (found := _MESSAGE.fullmatch(line)) is None:
            yield line
            continue
        caret = next((below for below in lines[number + 1 : number + 5] if below.strip() == "^"), None)
        column = f"{caret.index('^') - _INDENT + 1}:" if caret is not None else ""
        yield f"{found['file']}:{found['line']}:{column} {found['kind']}: {found['text']}"


def encoded(text: str) -> bytes:
    """The bytes of a text from a C file, which was read as Latin-1; UTF-8 for what cannot come from there."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode()
