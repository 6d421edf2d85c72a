"""The generated files beside a tuned file, with its host functions: `NAME_opencl.c`, `NAME_cuda.cu`, their headers.

They begin with a mark.  Files without it are the user's: they are never overwritten or removed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from orio_py.codegen.host_unit import HostKernel, HostUnit
from orio_py.kernel.backends import BACKENDS, BY_TITLE
from orio_py.spec.generated import companion_mark
from orio_py.transformation.recipe import device_targets
from orio_py.tuning.files.load import LoadedFile
from orio_py.tuning.files.writeback import write_atomically

_MARKS = tuple(companion_mark(title).encode() for title in BY_TITLE)


def companion_paths(path: Path, languages: Collection[str] = tuple(BACKENDS)) -> tuple[Path, ...]:
    """Where the host code of a file stands: source and header for each language.

    >>> [p.as_posix() for p in companion_paths(Path("src/vec.c"), ["cuda"])]
    ['src/vec_cuda.cu', 'src/vec_cuda.h']
    """
    return tuple(
        path.with_name(f"{path.stem}_{backend.name}{ending}")
        for backend in BACKENDS.values()
        if backend.name in languages
        for ending in (backend.source_ending, ".h")
    )


def is_generated(path: Path) -> bool:
    """Whether the file bears the mark.  Raises OSError."""
    with path.open("rb") as file:
        return file.read(max(map(len, _MARKS))).startswith(_MARKS)


def languages_of(file: LoadedFile) -> frozenset[str]:
    """The device languages in which some recipe of the file can make kernels."""
    regions = (region for loaded in file.tasks for region in loaded.task.regions)
    return frozenset[str]().union(*map(device_targets, regions))


def users_files(target: Path, languages: Collection[str], source: Path | None = None) -> Iterator[Path]:
    """Files without the mark where the companions of `target` in some languages go.

    With `source`, also those beside it: they are going to be copied there.  Raises OSError.
    """
    places = [target, *([source] if source is not None else [])]
    for path in (path for place in places for path in companion_paths(place, languages)):
        if path.exists() and not (path.is_file() and is_generated(path)):
            yield path


def kernel_languages(kernels: Sequence[HostKernel]) -> tuple[str, ...]:
    """The languages of kernels."""
    found = {kernel.plan.language for kernel in kernels}
    return tuple(language for language in BACKENDS if language in found)


def write_companions(
    target: Path, kernels: Sequence[HostKernel], remarks: Mapping[str, Sequence[str]]
) -> None:
    """Write the host code of `target`; what is the same stays as it is.  Raises OSError."""
    from orio_py.codegen.languages import renderer_of  # takes time to load
    from orio_py.codegen.offload.own_names import with_own_names
    from orio_py.codegen.program import Program

    name = re.sub(r"\W", "_", target.stem, flags=re.ASCII)
    for language in kernel_languages(kernels):
        source, header = companion_paths(target, [language])
        own = tuple(kernel for kernel in kernels if kernel.plan.language == language)
        unit = HostUnit(name, source.stem, own, tuple(remarks[language]))
        renderer = renderer_of(BACKENDS[language])
        text = Program(with_own_names(renderer.source(unit).text, name))
        for path, program in ((header, renderer.header(unit)), (source, text)):
            if not path.is_file() or path.read_bytes() != program.data:
                write_atomically(path, program.data)


def remove_companions(target: Path, kept: Collection[str] = ()) -> None:
    """Remove what an earlier run wrote beside `target` and nothing calls any more.  Raises OSError."""
    for path in companion_paths(target, BACKENDS.keys() - set(kept)):
        if path.is_file() and is_generated(path):
            path.unlink()
