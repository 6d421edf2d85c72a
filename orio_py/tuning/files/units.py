"""A file's translation unit by the command that builds it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from orio_py.ctree.unit.segments import Segments
from orio_py.ctree.unit.translation_unit import TranslationUnit, translation_unit
from orio_py.spec.target import BuildSpec
from orio_py.tuning.files.compile_commands import CompileCommand, parse_command


def unit_of(text: str, path: Path, build: BuildSpec, codes: Mapping[int, str]) -> TranslationUnit:
    """What the compiler of `build` sees of a file, `codes` being code that its annotations hold.

    Options that depend on parameters are left out.  Where no compiler is found, or its preprocessor does not
    come to an end, the headers of the project are read without it, those of the system are not.
    """
    folder = path.resolve().parent
    command = _command(build, folder)

    def preprocess(segments: Segments) -> str:
        from orio_py.build import preprocessor  # takes time to load, and files without directives need none

        marked = segments.marked(masked=True)
        options = [*command.language, "-DORIO_ORIGINAL"]
        found = preprocessor.preprocess(marked, command.compiler, options, folder)
        if found is not None:
            return found
        from orio_py.ctree.unit import preprocess  # takes time to load

        folders = [str(f) for f in (folder, *command.include_folders)]
        return preprocess.preprocess(marked, folders, _definitions(options))

    return translation_unit(text, codes=codes, preprocess=preprocess)


def _definitions(options: Sequence[str]) -> list[tuple[str, str]]:
    """The macros that `-D` defines, each with its text."""
    given = (option.removeprefix("-D").partition("=") for option in options if option.startswith("-D"))
    return [(name, body if equals else "1") for name, equals, body in given]


def _command(build: BuildSpec, folder: Path) -> CompileCommand:
    try:
        words = [word for word in shlex.split(build.command) if "@" not in word]
    except ValueError:  # `build.compiler` reports a command that cannot be split
        words = []
    return parse_command(words or ["cc"], folder)
