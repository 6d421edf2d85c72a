"""Include paths, defines and flags of each file, from a JSON compilation database.

The format is that of clang's documentation, "JSON Compilation Database Format Specification"; CMake
writes it with `CMAKE_EXPORT_COMPILE_COMMANDS`, other build systems through `bear`.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import cast

from orio_py.core.diagnostics import fail
from orio_py.core.source import Position
from orio_py.spec.target import BuildSpec

NAME = "compile_commands.json"

_WITH_VALUE = ("-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot")
_PATHS = frozenset({"-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot"})
_LANGUAGE = (
    *(
        "-std=",
        "-ansi",
        "--sysroot=",
        "-fopenmp",
        "-fopenacc",
        "-pthread",
        "-funsigned-char",
        "-fsigned-char",
    ),
    *("-fshort-enums", "-fno-strict-aliasing", "-fwrapv", "-m32", "-m64"),
)
_LAUNCHERS = frozenset({"ccache", "sccache", "distcc", "icecc"})
_DROPPED_WITH_VALUE = frozenset({"-o", "-MF", "-MT", "-MQ", "-x", "-Xlinker"})
_DROPPED = frozenset({"-c", "-S", "-E", "-M", "-MM", "-MD", "-MMD", "-MP", "-MG", "-pipe"})


@dataclass(frozen=True, slots=True)
class CompileCommand:
    """How the project compiles one file: the compiler, and its options with absolute paths.

    `language` are the options that decide what the code means (include paths, defines, the standard),
    `others` those that decide how it is optimised and diagnosed.
    """

    compiler: str
    language: tuple[str, ...]
    others: tuple[str, ...]
    include_folders: tuple[Path, ...]

    def applied_to(self, build: BuildSpec) -> BuildSpec:
        """The build with these options: all of them where the specification has no build section of its
        own, otherwise only those that decide what the code means, behind the command given there.
        """
        if build.is_default:
            words = [self.compiler, *self.others, *self.language]
            return replace(build, command=shlex.join(words))
        return replace(build, command=f"{build.command} {shlex.join(self.language)}".rstrip())


@dataclass(frozen=True, slots=True)
class CompileCommands:
    """The commands of a database by resolved path; a file that is compiled twice has its first one."""

    path: Path | None = None
    commands: Mapping[Path, CompileCommand] = field(default_factory=dict[Path, CompileCommand])

    def of(self, file: Path) -> CompileCommand | None:
        """The command that compiles `file`."""
        return self.commands.get(file.resolve())


def find_compile_commands(paths: Iterable[Path]) -> Path | None:
    """The nearest `compile_commands.json` of the first path that has one: in its folder or in one above it.

    In each folder also in those whose names begin with `build`.  A folder with `.git` is the last one.
    """
    for path in paths:
        folder = (path if path.is_dir() else path.parent).resolve()
        for above in (folder, *folder.parents):
            for candidate in (above / NAME, *sorted(above.glob(f"build*/{NAME}"))):
                if _is_ours(candidate):
                    return candidate
            if (above / ".git").exists():
                break
    return None


def _is_ours(path: Path) -> bool:
    """Whether a file is there and of the user or of root: what others leave in a common folder is not followed."""
    try:
        return path.is_file() and path.stat().st_uid in {os.getuid(), 0}
    except OSError:
        return False


def read_compile_commands(path: Path) -> CompileCommands:
    """Read a database.  Raises DiagnosticError ORIO-U030."""
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        fail("ORIO-U030", f"`{path}` cannot be read: {error.strerror or error}")
    except json.JSONDecodeError as error:
        fail("ORIO-U030", f"this is not JSON: {error.msg}", Position(str(path), error.lineno, error.colno))
    except (UnicodeDecodeError, RecursionError) as error:
        fail("ORIO-U030", f"`{path}` is not JSON text: {error}")
    if not isinstance(content, list):
        fail("ORIO-U030", f"`{path}` is not a list of commands", help="CMake and bear write such files")
    commands: dict[Path, CompileCommand] = {}
    for number, entry in enumerate(cast("list[object]", content), 1):
        file, command = _entry(path, number, entry)
        commands.setdefault(file, command)
    return CompileCommands(path, commands)


def _entry(path: Path, number: int, entry: object) -> tuple[Path, CompileCommand]:
    if not isinstance(entry, dict):
        fail("ORIO-U030", f"entry {number} of `{path}` is not an object")
    values = cast("dict[str, object]", entry)
    folder, file = values.get("directory"), values.get("file")
    if not isinstance(folder, str) or not isinstance(file, str):
        fail("ORIO-U030", f"entry {number} of `{path}` lacks the texts `directory` and `file`")
    words = _words(values)
    if not words:
        fail(
            "ORIO-U030",
            f"entry {number} of `{path}` has neither `arguments` nor a `command` that can be split",
        )
    directory = (path.resolve().parent / folder).resolve()
    source = (directory / file).resolve()
    return source, parse_command(words, directory)


def _words(values: Mapping[str, object]) -> list[str]:
    arguments, command = values.get("arguments"), values.get("command")
    if isinstance(arguments, list):
        return [str(word) for word in cast("list[object]", arguments)]
    try:
        return shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return []


def parse_command(words: Sequence[str], directory: Path) -> CompileCommand:
    """A compiler's command line without inputs, output and libraries, relative paths made absolute."""
    language: list[str] = []
    others: list[str] = []
    folders: list[Path] = []
    words = words[_launchers(words) :]
    at = 1
    while at < len(words):
        word = words[at]
        at += 1
        option = next((o for o in _WITH_VALUE if word.startswith(o)), None)
        if word in _DROPPED_WITH_VALUE:
            at += 1
        elif option is not None:
            value = word[len(option) :]
            if not value and at < len(words):
                value = words[at]
                at += 1
            if option in _PATHS:
                value = _absolute(option, value, directory)
            if option in {"-I", "-isystem", "-iquote", "-idirafter"}:
                folders.append(Path(value))
            language.extend([option + value] if option in {"-I", "-D", "-U"} else [option, value])
        elif word.startswith(_LANGUAGE):
            language.append(word)
        elif (
            word.startswith("-") and word not in _DROPPED and not word.startswith(("-o", "-l", "-L", "-Wl,"))
        ):
            others.append(word)
    return CompileCommand(words[0], tuple(language), tuple(others), tuple(folders))


def _launchers(words: Sequence[str]) -> int:
    """How many words stand before the compiler: `ccache gcc …`, `orio cc … -- gcc …`."""
    names = [Path(word).name for word in words]
    if names[:2] == ["orio", "cc"] and "--" in names[:-1]:
        return names.index("--") + 1
    return sum(1 for _ in takewhile(_LAUNCHERS.__contains__, names[:-1]))


def _absolute(option: str, value: str, directory: Path) -> str:
    """A path of an option as seen from elsewhere; a header that `-include` finds by its name keeps it."""
    path = directory / value
    is_header = option in {"-include", "-imacros"}
    return value if is_header and not path.exists() else str(path)
