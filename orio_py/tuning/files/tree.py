"""Source trees: which files of a tree are meant, and the mirror of a tree with some files changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from orio_py.core.diagnostics import fail
from orio_py.core.registry import nearest
from orio_py.tuning.files.writeback import write_atomically

SOURCE_SUFFIXES = (".c", ".h")


@dataclass(frozen=True, slots=True)
class FileSelection:
    """Which files of a folder are tuned: those that a glob of `include` matches (all, if there is none)
    and no glob of `exclude`.  `output` is the folder that is written to; nothing in it is a source.

    A glob is compared with the path below the folder, with the file's name, and with each folder on the
    way; `*` matches `/`, too.  Files that are named one by one are always taken.
    """

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    output: Path | None = None

    def takes(self, inner: PurePath) -> bool:
        """Whether the file with this path below the folder is meant."""
        return (not self.include or _matches(inner, self.include)) and not _matches(inner, self.exclude)


def _matches(inner: PurePath, globs: Sequence[str]) -> bool:
    names = [inner.as_posix(), *inner.parts, *(p.as_posix() for p in inner.parents)]
    return any(fnmatchcase(name, glob.rstrip("/").removeprefix("./")) for glob in globs for name in names)


def expand_paths(paths: Iterable[Path], selection: FileSelection = FileSelection()) -> dict[Path, Path]:
    """The files meant by paths, each with its path below what was asked for.

    A folder means all C files below it but those that were tuned from a file beside them (`_name.c`),
    those in hidden folders, and those that the selection leaves out.
    Raises DiagnosticError ORIO-U006 (does not exist), U007 (folder without C files), U033 (none is left).
    """
    found: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            inside = [p for p in walk_files(path, selection.output) if _is_source(p)]
            if not inside:
                fail("ORIO-U007", f"the folder `{path}` holds no C files")
            taken = [p for p in inside if selection.takes(p.relative_to(path))]
            if not taken:
                fail("ORIO-U033", f"the globs leave none of the {len(inside)} C files of `{path}`")
            found.update({p: p.relative_to(path) for p in taken})
        elif path.exists():
            found[path] = Path(path.name)
        else:
            near = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
            fail(
                "ORIO-U006",
                f"`{path}` does not exist",
                help=f"did you mean `{match}`?" if (match := nearest(path.name, near)) else None,
            )
    return found


def walk_files(root: Path, output: Path | None = None) -> Iterator[Path]:
    """All regular files below a folder in order of their paths, without hidden folders and `output`."""
    left_out = output.resolve() if output is not None else None
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        folders[:] = sorted(
            f
            for f in folders
            if not f.startswith(".") and (left_out is None or (here / f).resolve() != left_out)
        )
        yield from (path for name in sorted(files) if (path := here / name).is_file())


def _is_source(path: Path) -> bool:
    origin = path.with_name(path.name.removeprefix("_"))
    is_output = path.name.startswith("_") and origin.is_file()
    return path.suffix in SOURCE_SUFFIXES and not is_output


def mirror(paths: Iterable[Path], output: Path, written: Iterable[Path]) -> list[Path]:
    """Copy into `output`, byte for byte and with its mode, every file of the paths that was not written.

    Returns the copies.  A copy that is already the same is left alone, so that `make` sees no change.
    Raises OSError.
    """
    done = {path.resolve() for path in written}
    copies: list[Path] = []
    for path in paths:
        inside = walk_files(path, output) if path.is_dir() else [path]
        for file in inside:
            target = output / (file.relative_to(path) if path.is_dir() else file.name)
            if target.resolve() not in done:
                _copy(file, target)
                copies.append(target)
    return copies


def _copy(file: Path, target: Path) -> None:
    data = file.read_bytes()
    if target.is_file() and target.read_bytes() == data:
        shutil.copymode(file, target)
        return
    write_atomically(target, data, mode_of=file)
