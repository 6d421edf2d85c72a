"""Builds C sources into shared objects and executables with the compiler that a specification names."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from orio_py.build.detect import KNOWN_COMPILERS, compiler_version, default_compiler, zig_command
from orio_py.build.process import Completed, Running, run
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Severity, fail
from orio_py.core.expr import Value
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position
from orio_py.core.units import Seconds
from orio_py.spec.target import BuildSpec

SHARED_FLAGS = ("-shared", "-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-Wl,--gc-sections")
"""A shared object whose own globals are reached as directly as an executable's, without the functions that it does not call:
they may name variables of other files."""

LARGE_DATA = ("-mcmodel=medium",)
"""More than 2 GiB of static arrays: code may be anywhere below, data anywhere at all."""

COMPLETE = ("-Wl,--no-as-needed", "-Wl,--no-allow-shlib-undefined")
"""Asks a GNU linker to name what a shared object leaves undefined."""

DEFAULT_BUILD_TIMEOUT = Seconds(120.0)

_SAYS_WHY = re.compile(r"(?<!collect2: )error:|undefined reference|cannot find -l|relocation truncated")
# The host compiler gets its part of an nvcc command: C code that holds nothing of CUDA is built by a C compiler.
_WITH_VALUE = re.compile(
    r"--?(?:arch|gpu-architecture|code|gpu-code|gencode|generate-code|maxrregcount|Xptxas|ptxas-options|Xnvlink|x|ccbin|"
    r"compiler-bindir|rdc|relocatable-device-code|std|t|threads)(?:=(.*))?"
)
_FOR_HOST = re.compile(r"(?:-Xcompiler|--compiler-options|-Xlinker|--linker-options)(?:=(.*))?")
_DEVICE_ONLY = re.compile(
    r"--?(?:use_fast_math|lineinfo|generate-line-info|G|device-debug|dc|device-c|expt-.*|extended-lambda|"
    r"ftz.*|prec-.*|fmad.*|restrict)"
)
_C_STANDARD = re.compile(r"(?:c|gnu)\d+")
_BINDIR = re.compile(r"--?(?:ccbin|compiler-bindir)(?:=(.*))?")
_REFERENCE = re.compile(r"@([A-Za-z_]\w*)@?")
_CPLUSPLUS = re.compile(r"\+\+(?:-[\d.]+)?$")
_DISPENSABLE = re.compile(r"-l(TAU|tau|papi|pfm|caliper|OpenCL)")
"""Libraries that only measuring systems and host code call; the former is not in what is built, the latter brings its own."""


@dataclass(frozen=True, slots=True)
class BuildFailure:
    """A build that did not work: the first error line, and the compiler's output."""

    reason: str
    log: str
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Artifact:
    """Something built, and how long that took."""

    path: Path
    seconds: Seconds


@dataclass(frozen=True, slots=True)
class Compiler:
    """The compiler of one task, resolved to a program that exists.

    `command` is the build command as words, with `@NAME@` references still in it; the first
    `driver_words` of them name the compiler.  `directory` is the folder that it runs in, so that
    relative paths mean what they mean beside the source file.  With `for_nvcc` the options were written for nvcc: what
    is built here is C code, and the driver is the host compiler.
    """

    command: tuple[str, ...]
    libs: tuple[str, ...]
    directory: Path
    spec: BuildSpec
    version: str
    driver_words: int = 1
    for_nvcc: bool = False
    left_out: tuple[str, ...] = ()
    running: Running = field(default_factory=Running, compare=False)

    @property
    def driver(self) -> tuple[str, ...]:
        """The compiler itself: one word, or several such as `zig cc`."""
        return self.command[: self.driver_words]

    @property
    def name(self) -> str:
        """The compiler in messages."""
        return Path(self.command[0]).name if self.driver_words == 1 else " ".join(self.driver[-2:])

    @property
    def common(self) -> tuple[str, ...]:
        """What every call of this compiler gets beside the user's words.

        `-pipe` saves the temporary file between compiler and assembler.  zig turns checks of undefined
        behaviour on at low levels of optimisation, and they would be timed.
        """
        if self.driver_words > 1:
            return ("-fno-sanitize=undefined",)
        return () if self.name.startswith("tcc") else ("-pipe",)

    @property
    def warnings(self) -> Sequence[Diagnostic]:
        """ORIO-B007 for options that were left out."""
        if not self.left_out:
            return ()
        named = ", ".join(f"`{option}`" for option in self.left_out)
        message = f"{named} of the build command {'is' if len(self.left_out) == 1 else 'are'} left out: not on this machine"
        return (Diagnostic("ORIO-B007", message, self.spec.position, Severity.WARNING),)

    def words(self, values: Mapping[str, Value]) -> list[str]:
        """The build command with parameter values put in."""
        words = substitute(shlex.join(self.command), values)
        return [*words[:1], *host_options(words[1:])] if self.for_nvcc else words

    def has_library(self, name: str) -> bool:
        """Whether a library is found by its name; True where the compiler cannot be asked."""
        return _has_library(name, driver=self.driver, options=self.command, directory=self.directory)

    def build_shared(
        self,
        source: Path,
        output: Path,
        values: Mapping[str, Value],
        extra: Sequence[str] = (),
        *,
        beside: Path | None = None,
        libs: Sequence[str] = (),
    ) -> Artifact | BuildFailure:
        """Compile one C file to a shared object, through the pre- and post-build commands of the spec.

        The file `beside` becomes a part of it, as do `libs` besides those of the spec.
        """
        words, seconds = self.words(values), 0.0
        if self.spec.prebuild:
            prepared = source.with_name(source.stem + "_preprocessed.c")
            flags = words[self.driver_words :]
            command = [*substitute(self.spec.prebuild, values), *flags, "-o", str(prepared), str(source)]
            before = self._run(command)
            if not before.ok:
                return _failure(before, "the prebuild command")
            source, seconds = prepared, before.seconds
        done = self._run(
            [
                *words,
                *extra,
                *self.common,
                *SHARED_FLAGS,
                "-iquote",
                str(self.directory),
                "-o",
                str(output),
                *self._as_c(source),
                *(self._as_c(beside) if beside is not None else ()),
                *libs,
                *self.libs,
            ]
        )
        if not done.ok or not output.exists():
            return _failure(done, self.name)
        seconds += done.seconds
        if self.spec.postbuild:
            after = self._run([*substitute(self.spec.postbuild, values), str(output)])
            if not after.ok:
                return _failure(after, "the postbuild command")
            seconds += after.seconds
        return Artifact(output, Seconds(seconds))

    def build_executable(
        self,
        source: Path,
        output: Path,
        values: Mapping[str, Value],
        *,
        users: bool = False,
        objects: Sequence[Path] = (),
    ) -> Artifact | BuildFailure:
        """Compile a harness: the spec's compiler with the flags that its shared objects depend on.

        Where it holds code of the user's, with the macros, headers and libraries of the build command, too.  `objects` are
        linked with it, and have to be complete then.
        """
        users_own = ("-D", "-U", "-I", "-L") if users else ()
        starts = ("-fsanitize", "-fopenmp", "-fopenacc", "-m32", "-m64", *users_own)
        needed = [w for w in self.words(values) if w.startswith(starts)]
        given = [
            *needed,
            *self.common,
            "-iquote",
            str(self.directory),
            "-o",
            str(output),
            *self._as_c(source),
        ]
        given += [*COMPLETE, *map(str, objects)] if objects else []
        libs = self.libs if users else ()
        command = [*self.driver, "-std=gnu99", "-O1", *given, *libs, "-rdynamic", "-ldl", "-lm"]
        done = self._run(command)
        if not done.ok and "relocation truncated" in done.stderr:
            done = self._run([*command, *LARGE_DATA])
        if not done.ok:
            return _failure(done, self.name)
        return Artifact(output, done.seconds)

    def after_run(self, library: Path, coordinate: str) -> None:
        """Run the spec's postrun command with the variant and its configuration as arguments."""
        if self.spec.postrun:
            self._run([*substitute(self.spec.postrun, {}), str(library), coordinate])

    def _as_c(self, source: Path) -> list[str]:
        """The words for a C file; a C++ compiler takes it for C++ otherwise."""
        is_cplusplus = _CPLUSPLUS.search(self.driver[-1]) is not None
        return ["-x", "c", str(source), "-x", "none"] if is_cplusplus else [str(source)]

    def _run(self, command: Sequence[str]) -> Completed:
        return run(
            command,
            timeout=DEFAULT_BUILD_TIMEOUT,
            directory=self.directory,
            environment={"LC_ALL": "C"},
            running=self.running,
        )


def referenced(command: str) -> tuple[str, ...]:
    """The names of the parameters in a command."""
    return tuple(_REFERENCE.findall(command))


def substitute(command: str, values: Mapping[str, Value]) -> list[str]:
    """A command split into words, `@NAME@` and `@NAME` replaced by parameter values; no shell is involved.

    A value that stands as a word of its own may hold several words (`@CFLAGS` = `-O2 -funroll-loops`).
    """
    words: list[str] = []
    for word in shlex.split(command):
        if (whole := _REFERENCE.fullmatch(word)) and whole[1] in values:
            words.extend(shlex.split(str(values[whole[1]])))
        else:
            words.append(_REFERENCE.sub(lambda m: str(values[m[1]]) if m[1] in values else m[0], word))
    return words


def resolve(spec: BuildSpec, directory: Path, *, override: str | None = None) -> Compiler:
    """The compiler that `spec` (or `--cc`) asks for.

    Raises EnvironmentProblem ORIO-B001 when the machine has no C compiler, DiagnosticError ORIO-B002
    when it has one but not the one named.
    """
    fallback = default_compiler()
    words = _split(spec.command, spec.position)
    for_nvcc = _is_nvcc(words[0])
    if override is not None:
        words = [*_split(override, None), *words[1:]]
    elif spec.is_default and shutil.which(words[0]) is None:
        words = [fallback, *words[1:]]
    drivers = 1
    if words[0] == "zig" and (zig := zig_command()) is not None:
        words = [*zig, *words[2 if words[1:2] == ["cc"] else 1 :]]
        drivers = len(zig)
    if _is_nvcc(words[0]):
        for_nvcc = True
        words = [host_compiler(words[1:], fallback), *words[1:]]
    if shutil.which(words[0]) is None and not (directory / words[0]).is_file():
        installed = [name for name in KNOWN_COMPILERS if shutil.which(name)]
        advice = did_you_mean(words[0], installed)
        if words[0] == "zig":
            advice = "the wheel brings it: `pip install ziglang`"
        elif override is None:
            advice = "; ".join(
                filter(None, [advice, f"`--cc {fallback}` builds with the one of this machine"])
            )
        fail(
            "ORIO-B002",
            f"the compiler `{words[0]}` was not found on the PATH",
            None if override is not None else spec.position,
            help=advice,
        )
    given = _split(spec.libs, spec.position, allow_empty=True)
    has = partial(_has_library, driver=words[:drivers], options=[*words, *given], directory=directory)
    words, absent = without_absent(words, has, sys.platform)
    libs, more = without_absent(given, has, sys.platform)
    version = compiler_version(words[:drivers], directory)
    return Compiler(
        tuple(words),
        tuple(libs),
        directory,
        spec,
        version,
        drivers,
        for_nvcc,
        tuple(dict.fromkeys(absent + more)),
    )


def without_absent(
    words: Sequence[str], has: Callable[[str], bool], platform: str
) -> tuple[list[str], list[str]]:
    """A command without dispensable libraries that are not installed and Apple's frameworks elsewhere; and those.

    >>> without_absent(["-O3", "-lTAU", "-framework", "OpenCL", "-lm"], lambda name: False, "linux")
    (['-O3', '-lm'], ['-lTAU', '-framework OpenCL'])
    """
    kept: list[str] = []
    absent: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "-framework" and platform != "darwin":
            absent.append(f"{word} {next(rest, '')}".strip())
        elif (found := _DISPENSABLE.fullmatch(word)) is not None and not has(found[1]):
            absent.append(word)
        else:
            kept.append(word)
    return kept, absent


def _has_library(name: str, *, driver: Sequence[str], options: Sequence[str], directory: Path) -> bool:
    """Whether a compiler finds a library; True where it cannot be asked."""
    files = [f"lib{name}{suffix}" for suffix in (".so", ".dylib", ".a")]
    folders = [directory / word.removeprefix("-L") for word in options if word.startswith("-L")]
    if any((folder / file).exists() for folder in folders for file in files):
        return True
    for file in files:
        asked = run([*driver, f"-print-file-name={file}"], timeout=DEFAULT_BUILD_TIMEOUT, directory=directory)
        if not asked.ok or asked.stdout.strip() != file:  # the name alone: not found
            return True
    return False


def _split(command: str, position: Position | None, *, allow_empty: bool = False) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DiagnosticError(
            Diagnostic("ORIO-B003", f"the command {command!r} cannot be split into words: {error}", position)
        ) from None
    if not words and not allow_empty:
        fail("ORIO-B003", "the build command is empty; it must name a compiler", position)
    return words


def _failure(done: Completed, what: str) -> BuildFailure:
    if done.timed_out:
        return BuildFailure(
            f"{what} took longer than {DEFAULT_BUILD_TIMEOUT:.0f} s", done.stderr, timed_out=True
        )
    if done.returncode is None:
        return BuildFailure(f"{what} could not be started: {done.stderr}", done.stderr)
    told = done.stderr.splitlines()
    lines = [line for line in told if _SAYS_WHY.search(line)] or told
    first = lines[0].strip() if lines else f"exit code {done.returncode}"
    return BuildFailure(f"{what}: {first}", done.stderr)


def _is_nvcc(driver: str) -> bool:
    """Whether a command's first word names nvcc."""
    return Path(driver).name == "nvcc"


def host_compiler(options: Sequence[str], default: str) -> str:
    """The compiler that nvcc is told to call for host code (`-ccbin`), or the default one."""
    words = iter(options)
    for word in words:
        if (found := _BINDIR.fullmatch(word)) is not None:
            return found[1] or next(words, default)
    return default


def host_options(options: Sequence[str]) -> list[str]:
    """What of an nvcc command's options a C compiler gets: its own, and those that nvcc passes on to it.

    >>> host_options(["-arch=sm_75", "-O3", "-use_fast_math", "-Xcompiler", "-fopenmp,-g", "-lm"])
    ['-O3', '-fopenmp', '-g', '-lm']
    """
    return list(_host_options(iter(options)))


def _host_options(words: Iterator[str]) -> Iterator[str]:
    for word in words:
        if (found := _FOR_HOST.fullmatch(word)) is not None:
            passed = (found[1] or next(words, "")).split(",")
            yield from passed if "ompiler" in word else (f"-Wl,{option}" for option in passed)
        elif (found := _WITH_VALUE.fullmatch(word)) is not None:
            value = found[1] or next(words, "")
            if "std" in word and _C_STANDARD.fullmatch(value):
                yield f"-std={value}"
        elif _DEVICE_ONLY.fullmatch(word) is None:
            yield word
