"""The generated files beside a tuned file: `NAME_opencl.c` and `NAME_opencl.h` with its host functions.

They begin with a mark.  Files without it are the user's: they are never overwritten or removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from orio_py.codegen.host_unit import HostKernel, HostUnit
from orio_py.spec.generated import COMPANION_MARK
from orio_py.tune.load import LoadedFile
from orio_py.tune.writeback import write_atomically

SUFFIX = "_opencl"


def companion_paths(path: Path) -> tuple[Path, Path]:
    """Where the host code of a file stands: source and header.

    >>> [p.as_posix() for p in companion_paths(Path("src/vec.c"))]
    ['src/vec_opencl.c', 'src/vec_opencl.h']
    """
    return path.with_name(f"{path.stem}{SUFFIX}.c"), path.with_name(f"{path.stem}{SUFFIX}.h")


def is_generated(path: Path) -> bool:
    """Whether the file bears the mark.  Raises OSError."""
    mark = COMPANION_MARK.encode()
    with path.open("rb") as file:
        return file.read(len(mark)) == mark


def needs_companions(file: LoadedFile) -> bool:
    """Whether some recipe of the file can make kernels."""
    return any(
        step.name == "OpenCL" or any(argument.name.lower() == "opencl" for argument in step.arguments)
        for loaded in file.tasks
        for region in loaded.task.regions
        for step in region.steps
    )


def users_files(target: Path, source: Path | None = None) -> Iterator[Path]:
    """Files without the mark where the companions of `target` go.

    With `source`, also those beside it: they are going to be copied there.  Raises OSError.
    """
    for path in (*companion_paths(target), *(companion_paths(source) if source is not None else ())):
        if path.exists() and not (path.is_file() and is_generated(path)):
            yield path


def write_companions(target: Path, kernels: Sequence[HostKernel], remarks: Sequence[str]) -> None:
    """Write the host code of `target`; what is the same stays as it is.  Raises OSError."""
    from orio_py.codegen.opencl.host import host_header, host_source  # takes time to load

    source, header = companion_paths(target)
    name = re.sub(r"\W", "_", target.stem, flags=re.ASCII)
    unit = HostUnit(name, source.stem, tuple(kernels), tuple(remarks))
    for path, program in ((header, host_header(unit)), (source, host_source(unit))):
        if not path.is_file() or path.read_bytes() != program.data:
            write_atomically(path, program.data)


def remove_companions(target: Path) -> None:
    """Remove what an earlier run wrote beside `target` and nothing calls any more.  Raises OSError."""
    for path in companion_paths(target):
        if path.is_file() and is_generated(path):
            path.unlink()
