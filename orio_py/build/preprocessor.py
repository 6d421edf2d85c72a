"""Runs a compiler's preprocessor, and nothing else of it.

What is run is a compiler that is known by its name and found on the PATH, with options that only say what the
code means: a path or another program that a file names is never run.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from orio_py.build.detect import KNOWN_COMPILERS, zig_command
from orio_py.build.process import run
from orio_py.core.units import Seconds

TIME_LIMIT = Seconds(30.0)
"""Of one run; a header may be a pipe that nobody writes."""

_MOST_MISSING = 20
_KNOWN = re.compile(r"(?:[a-z0-9_]+(?:-[a-z0-9_]+)*-)?(?:gcc|clang|icx|cc)(?:-\d+(?:\.\d+)?)?")
_MISSING = re.compile(r"fatal error:\s*'?([^':\n]+?)'?(?:: No such file| file not found)")


def preprocess(
    text: str, compiler: str, options: Sequence[str], folder: Path, missing: list[str] | None = None
) -> str | None:
    """The preprocessed text with its line markers and the definitions of macros; None where that fails.

    `compiler` is the first word of the command that builds the file, `options` are include paths, definitions
    and the language standard, `folder` is where the file stands.  Headers that the text includes and that are
    not there are left out, and named in `missing`.
    """
    words = _program(compiler)
    if words is None:
        return None
    with TemporaryDirectory(prefix="orio-preprocess-") as scratch:
        source, target, empty = (Path(scratch) / name for name in ("unit.c", "unit.i", "missing"))
        source.write_text(text, encoding="latin-1")
        empty.mkdir()
        command = [*words, "-E", "-dD", "-w", "-x", "c", "-iquote", str(folder), *options]
        command += ["-idirafter", str(empty), "-o", str(target), str(source)]
        for _ in range(_MOST_MISSING):
            result = run(command, timeout=TIME_LIMIT, directory=folder)
            if result.ok:
                return target.read_text(encoding="latin-1")
            header = _made_empty(result.stderr, empty)
            if header is None:
                break
            if missing is not None:
                missing.append(header)
    return None


def _program(compiler: str) -> list[str] | None:
    """The words that start the preprocessor: of the compiler named, if it is a known one, or of any other."""
    names = [compiler] if _KNOWN.fullmatch(compiler) else []
    path = next((p for p in map(shutil.which, [*names, *KNOWN_COMPILERS[:-2]]) if p is not None), None)
    return [path] if path is not None else zig_command()


def _made_empty(errors: str, folder: Path) -> str | None:
    """Put an empty header in the place of the one that is not there, and give its name; None where that is not the trouble."""
    match = _MISSING.search(errors)
    header = (folder / match[1].strip()).resolve() if match is not None else folder
    if not header.is_relative_to(folder.resolve()) or header.exists():
        return None
    header.parent.mkdir(parents=True, exist_ok=True)
    header.touch()
    return match[1].strip() if match is not None else None
