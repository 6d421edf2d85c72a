"""Builds CUDA kernels and CUDA host code for the processor, so that they are checked on a machine without a GPU.

The header in `templates/cuda/cpu` takes the place of NVIDIA's `cuda_runtime.h`.  What it runs is checked, never
timed: no time of such a run says anything of a GPU (docs/reference/cuda-cpu.md).
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from orio_py.build.compiler import Artifact, BuildFailure
from orio_py.build.detect import compiler_version
from orio_py.build.process import Completed, Running, run
from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem
from orio_py.core.digest import digest
from orio_py.core.resources import directory, keep, kept
from orio_py.core.units import Seconds

KNOWN_CPP_COMPILERS = ("g++", "c++")
"""Looked for in this order.  Others lack an option, or define thread-local variables in another way."""

BUILD_TIMEOUT = Seconds(300.0)

UNDEFINED = (
    "signed-integer-overflow,integer-divide-by-zero,shift,bounds,alignment,null,pointer-overflow,return,"
    "unreachable,vla-bound,bool"
)
"""Kinds of undefined behaviour that the executor understands what the compiler tells of."""

EXECUTOR_ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)
"""The architectures whose limits the executor knows."""

_COMMON = ("-std=c++17", "-g1", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-U_FORTIFY_SOURCE")
# g++ before 13 warns of `#pragma unroll` whatever a pragma says.  It suspects values of an item to be unset that are set
# and used behind the same test, with a barrier between them; what is certainly unset is still told (`-Wuninitialized`).
_WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-Wno-maybe-uninitialized")

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ATTRIBUTE = re.compile(
    r"(?:__launch_bounds__|__maxnreg__|__attribute__|alignas|__align__)\s*\((?:[^()]|\([^()]*\))*\)"
)
_KERNEL = re.compile(r"__global__\b[^;{}()]*?\b(\w+)\s*\(")
_DYNAMIC = re.compile(r"\bextern\s+__shared__\s+(?P<type>[^;\[\]]*?)\b(?P<name>\w+)\s*\[\s*\]\s*;")
_ALIGNMENT = re.compile(r"__align__\s*\(\s*\d+\s*\)|alignas\s*\(\s*\d+\s*\)")


class Check(StrEnum):
    """What the built code is checked for.

    `ACCESSES`: every access of kernels and host code, for races, uninitialised elements, addresses, and
    undefined behaviour; `ADDRESSES`: AddressSanitizer, for programs only; `NONE`: what the executor sees
    without instrumentation.
    """

    ACCESSES = "accesses"
    ADDRESSES = "addresses"
    NONE = "none"


_CHECK_FLAGS = {
    Check.ACCESSES: ("-fsanitize=thread", f"-fsanitize={UNDEFINED}"),
    Check.ADDRESSES: ("-fsanitize=address",),
    Check.NONE: (),
}


@dataclass(frozen=True, slots=True)
class CudaOnCpu:
    """A C++ compiler that builds CUDA for the processor; `folder` keeps the compiled executor."""

    command: tuple[str, ...]
    version: str
    folder: Path
    running: Running = field(default_factory=Running, compare=False)

    def build_library(
        self,
        text: str,
        output: Path,
        *,
        more: Sequence[str] = (),
        architecture: str | None = None,
        check: Check = Check.ACCESSES,
        flags: Sequence[str] = (),
    ) -> Artifact | BuildFailure:
        """Build the kernels of a CUDA text, and of `more`, into a shared object that `measure.cuda_cpu` runs them from.

        `output` is the shared object to write; the sources are written beside it, as `.cu`.  With `architecture`
        (`sm_90`) its limits are those of that architecture, or of the last one before it that the executor knows.
        Raises ValueError for `Check.ADDRESSES`, which a process that was not built for it cannot load.
        """
        if check is Check.ADDRESSES:
            raise ValueError("AddressSanitizer checks programs, not shared objects")
        output = output.resolve()
        sources: list[Path] = []
        for number, one in enumerate((text, *more)):
            sources.append(output.with_name(f"{output.stem}{number or ''}.cu"))
            entries = "".join(f"ORIO_CUDA_ENTRY({name})\n" for name in kernel_names(one))
            if number == 0 and architecture is not None:
                entries += f"ORIO_CUDA_ARCHITECTURE({executor_architecture(architecture)})\n"
            sources[-1].write_text(f'{with_dynamic_memory(one)}\n#include "orio_cuda_library.h"\n{entries}')
        return self._build(sources, output, check, ("-shared", *flags))

    def warm(self) -> None:
        """Compile the executor, if no earlier process did, before several processes need it at once."""
        self._executor()

    def build_program(
        self,
        sources: Sequence[Path],
        output: Path,
        *,
        check: Check = Check.ACCESSES,
        flags: Sequence[str] = (),
    ) -> Artifact | BuildFailure:
        """Build CUDA kernels, host code and what calls it, one C++ text per file, into a program.

        The files are compiled as they are but for dynamic shared memory; relative includes are found
        beside them.
        """
        output = output.resolve()
        prepared: list[Path] = []
        for source in sources:
            copy = output.with_name(f"{output.name}_sources") / source.name
            copy.parent.mkdir(exist_ok=True)
            copy.write_text(with_dynamic_memory(source.read_text()))
            prepared.append(copy)
        folders = tuple(
            f"-I{folder}" for folder in dict.fromkeys(source.resolve().parent for source in sources)
        )
        return self._build(prepared, output, check, (*folders, *flags))

    def _build(
        self, sources: Sequence[Path], output: Path, check: Check, flags: Sequence[str]
    ) -> Artifact | BuildFailure:
        seconds = 0.0
        objects: list[str] = []
        link = [word for word in flags if word == "-shared" or word.startswith(("-l", "-L", "-Wl,"))]
        for source in sources:
            objects.append(str(source.with_suffix(".o")))
            compile_flags = [word for word in flags if word not in link]
            words = ["-x", "c++", "-O1", *_COMMON, *_WARNINGS, *_CHECK_FLAGS[check], f"-I{header_folder()}"]
            words += ["-include", "cuda_runtime.h", *compile_flags, "-c", source.name, "-o", objects[-1]]
            # In the file's folder, so that places in messages are short.
            done = self._run(*words, directory=source.parent)
            if not done.ok:
                return _failure(done)
            seconds += done.seconds
        executor = self._executor()
        if isinstance(executor, BuildFailure):
            return executor
        # The instrumentation calls the executor; only AddressSanitizer brings a library of its own.
        sanitizer = _CHECK_FLAGS[check] if check is Check.ADDRESSES else ()
        done = self._run(*sanitizer, *objects, str(executor), *link, "-o", str(output), "-ldl", "-lpthread")
        if not done.ok:
            return _failure(done)
        return Artifact(output, Seconds(seconds + done.seconds))

    def _executor(self) -> Path | BuildFailure:
        """The compiled executor: found in the folder, or kept by an earlier process, or compiled now."""
        texts = {path.name: path.read_text() for path in sorted(header_folder().glob("*.*"))}
        name = f"orio_cuda_cpu-{digest([texts, self.version, list(self.command)])[:16]}.o"
        found = self.folder / name
        if found.exists():
            return found
        if (content := kept(name)) is None:
            made = self.folder / f"{os.getpid()}-{name}"
            source = header_folder() / "orio_cuda_cpu.cpp"
            done = self._run("-O1", *_COMMON, *_WARNINGS, "-c", str(source), "-o", str(made))
            if not done.ok:
                return _failure(done)
            keep(name, made.read_bytes())
            made.replace(found)
        else:
            found.write_bytes(content)
        return found

    def _run(self, *words: str, directory: Path | None = None) -> Completed:
        return run(
            [*self.command, *words],
            timeout=BUILD_TIMEOUT,
            directory=directory or self.folder,
            environment={"LC_ALL": "C"},
            running=self.running,
        )


def cuda_on_cpu(folder: Path, *, override: str | None = None) -> CudaOnCpu:
    """The C++ compiler at hand, or the one that `override` names.

    Raises EnvironmentProblem ORIO-B030 where there is none.
    """
    names = (override,) if override is not None else KNOWN_CPP_COMPILERS
    for name in names:
        words = shlex.split(name)
        if words and shutil.which(words[0]) is not None:
            return CudaOnCpu(tuple(words), compiler_version(words, folder), folder.resolve())
    raise EnvironmentProblem(
        Diagnostic(
            "ORIO-B030",
            f"no C++ compiler was found on the PATH ({', '.join(names)}), which CUDA code needs to be checked "
            "on the processor",
            help="install one: `apt install g++` (Debian, Ubuntu), `dnf install gcc-c++` (Fedora, RHEL), "
            "`conda install -c conda-forge gxx`",
        )
    )


def kernel_names(text: str) -> tuple[str, ...]:
    """The names of the kernels that a CUDA text defines, each once, in order; templates are left out.

    >>> kernel_names('extern "C" __global__ void __launch_bounds__(64) k(int n) {}  // __global__ void c()')
    ('k',)
    """
    bare = _ATTRIBUTE.sub(" ", _COMMENT.sub(" ", text))
    found = (match for match in _KERNEL.finditer(bare) if not _is_template(bare[: match.start()]))
    return tuple(dict.fromkeys(match[1] for match in found))


def executor_architecture(architecture: str) -> int:
    """The number of the architecture whose limits the executor takes for `sm_87`, here 86.

    >>> [executor_architecture(name) for name in ("sm_75", "sm_87", "sm_90a", "sm_121")]
    [75, 86, 90, 120]
    """
    number = int("".join(character for character in architecture if character.isdigit()) or 0)
    return max(
        (known for known in EXECUTOR_ARCHITECTURES if known <= number), default=EXECUTOR_ARCHITECTURES[0]
    )


def with_dynamic_memory(text: str) -> str:
    """The text with its dynamic shared arrays as pointers: C++ has no declaration that could stand for them.

    >>> with_dynamic_memory("extern __shared__ __align__(16) double tile[];")
    'double *const tile = reinterpret_cast<double *>(orio_cuda_dynamic_shared);'
    """

    def pointer(match: re.Match[str]) -> str:
        kind = " ".join(_ALIGNMENT.sub(" ", match["type"]).split())
        name = match["name"]
        return f"{kind} *const {name} = reinterpret_cast<{kind} *>(orio_cuda_dynamic_shared);"

    return _DYNAMIC.sub(pointer, text)


def _is_template(before: str) -> bool:
    last = re.split(r"[;{}]", before)[-1]
    return "template" in last


def header_folder() -> Path:
    """The folder of the header and of the executor's source."""
    return directory("templates") / "cuda" / "cpu"


def _failure(done: Completed) -> BuildFailure:
    if done.timed_out:
        return BuildFailure(
            f"the C++ compiler took longer than {BUILD_TIMEOUT:.0f} s", done.stderr, timed_out=True
        )
    told = done.stderr.splitlines()
    lines = [line for line in told if "error:" in line] or told
    return BuildFailure(lines[0].strip() if lines else f"exit code {done.returncode}", done.stderr)
