"""Where results go: beside their sources, in place, to one file, or into a folder that mirrors the inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orio_py.codegen.host_unit import HostKernel
from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.streams import is_stream
from orio_py.kernel.backends import BACKENDS
from orio_py.spec.generated import GENERATED_MARK
from orio_py.tuning.files.load import LoadedFile
from orio_py.tuning.files.sidecar_files import (
    companion_paths,
    is_generated,
    kernel_languages,
    languages_of,
    remove_companions,
    users_files,
    write_companions,
)
from orio_py.tuning.files.tree import mirror
from orio_py.tuning.files.writeback import write_atomically


@dataclass(frozen=True, slots=True)
class Destination:
    """The output of a command: what was asked for, and which files it read.

    Without `output` and `in_place`, `name.c` gives `_name.c` beside it.  `output` is a file for one input
    file; for several, or for a folder, it is a folder that mirrors the inputs.
    """

    paths: Sequence[Path]
    files: Sequence[LoadedFile]
    output: Path | None
    in_place: bool

    @property
    def is_mirror(self) -> bool:
        """Whether the output is a folder with the inputs' layout."""
        several = len(self.files) > 1 or any(path.is_dir() for path in self.paths)
        return self.output is not None and several

    def target(self, file: LoadedFile) -> Path:
        """The file that the result of `file` is written to."""
        if self.in_place:
            return file.path
        if self.output is None:
            return file.path.with_name(f"_{file.path.name}")
        if self.is_mirror or self.output.is_dir():
            return self.output / file.inner
        return self.output

    def problems(self) -> list[Diagnostic]:
        """What forbids writing there: ORIO-U009, U010."""
        output = self.output
        if output is None:
            return [] if self.in_place else self._foreign()
        if self.in_place:
            return [Diagnostic("ORIO-U010", "both an output and in-place writing were asked for")]
        if self.is_mirror and output.is_file():
            message = f"several inputs need a folder as output, but `{output}` is a file"
            return [Diagnostic("ORIO-U010", message)]
        targets = [self.target(file).resolve() for file in self.files]
        known = set(targets)
        for file in self.files:
            if file.path.resolve() in known:
                message = f"the output would overwrite the input `{file.path}`"
                return [Diagnostic("ORIO-U010", message, help="use `--in-place` if that is what you want")]
        for file in self.files:
            languages = languages_of(file)
            if languages and is_stream(output):
                message = f"the host code of `{file.path}` needs a place beside the output, and `{output}` is no file"
                return [Diagnostic("ORIO-U010", message)]
            if languages and (obstacle := self._obstacle(file, languages)) is not None:
                return [obstacle]
        twice = next((target for target, count in Counter(targets).items() if count > 1), None)
        if twice is not None:
            return [Diagnostic("ORIO-U010", f"two inputs would be written to the same file `{twice}`")]
        if not output.parent.is_dir() and not self.is_mirror:
            return [Diagnostic("ORIO-U009", f"the folder of `{output}` does not exist")]
        return []

    def _foreign(self) -> list[Diagnostic]:
        """The files beside the sources that results would take the place of and that nothing here wrote."""
        found = (self.target(file) for file in self.files if file.tasks)
        return [
            Diagnostic(
                "ORIO-U010",
                f"the result would take the place of `{path}`, which is not generated",
                help="rename that file, or say where the result goes with `-o`",
            )
            for path in found
            if path.is_file() and GENERATED_MARK.encode() not in path.read_bytes()
        ]

    def write_all(
        self, results: Iterable[tuple[LoadedFile, bytes | None, Sequence[HostKernel]]], written: list[Path]
    ) -> None:
        """Write the results of files, None for a file that stays, and copy the rest into the mirror.

        Adds the paths written to `written`.  Nothing is written where some file's host code must not be.
        Raises DiagnosticError ORIO-U009, U035.
        """
        changed = [(file, data, kernels) for file, data, kernels in results if data is not None]
        for file, _, kernels in changed:
            self._check(file, kernels)
        for file, data, kernels in changed:
            written.extend(self.write(file, data, kernels))
        if problems := self.complete(written):
            raise DiagnosticError(*problems)

    def _check(self, file: LoadedFile, kernels: Sequence[HostKernel]) -> None:
        """Raises DiagnosticError ORIO-U035."""
        languages = kernel_languages(kernels)
        if kernels and (obstacle := self._obstacle(file, languages)) is not None:
            raise DiagnosticError(obstacle)

    def write(self, file: LoadedFile, data: bytes, kernels: Sequence[HostKernel] = ()) -> tuple[Path, ...]:
        """Write the result of `file`, and the host code of the kernels that it calls; the paths written.

        Host code of an earlier run is removed when nothing calls it any more.
        Raises DiagnosticError ORIO-U009, U035.
        """
        self._check(file, kernels)
        target = self.target(file)
        try:
            if kernels:
                target.parent.mkdir(parents=True, exist_ok=True)
                write_companions(target, kernels, _remarks(file))
            write_atomically(target, data, mode_of=file.path)
            remove_companions(target, kernel_languages(kernels))
        except OSError as error:
            message = f"`{target}` cannot be written: {error.strerror or error}"
            raise DiagnosticError(Diagnostic("ORIO-U009", message)) from error
        return (target, *companion_paths(target, kernel_languages(kernels)))

    def _obstacle(self, file: LoadedFile, languages: Collection[str]) -> Diagnostic | None:
        """A file of the user's where the host code of `file` would go."""
        target = self.target(file)
        meant = companion_paths(target, languages)
        others = [other.path for other in self.files if self.target(other) in meant]
        try:
            found = [path for path in others if not is_generated(path)]
            found += users_files(target, languages, file.path if self.is_mirror else None)
        except OSError as error:
            return Diagnostic("ORIO-U009", f"the files beside `{target}` cannot be read: {error.strerror}")
        if not found:
            return None
        message = (
            f"the host code of `{file.path}` would take the place of `{found[0]}`, which is not generated"
        )
        return Diagnostic("ORIO-U035", message, help="rename that file, or choose another output with `-o`")

    def complete(self, written: Sequence[Path]) -> list[Diagnostic]:
        """Copy the files that were not written into the mirror, and a file without regions to its output.

        The problems met: ORIO-U009.
        """
        if self.output is None:
            return []
        try:
            if self.is_mirror:
                mirror(self.paths, self.output, [*written, *self._outdated(written)])
            for file in () if self.is_mirror else self.files:
                if not file.tasks:
                    write_atomically(self.target(file), file.source.data, mode_of=file.path)
        except OSError as error:
            message = f"the rest of the files cannot be copied to `{self.output}`: {error.strerror or error}"
            return [Diagnostic("ORIO-U009", message)]
        return []

    def _outdated(self, written: Sequence[Path]) -> list[Path]:
        """Where earlier host code of the inputs would be copied to although newer results were written."""
        done = set(written)
        return [
            there
            for file in self.files
            if self.target(file) in done
            for here, there in zip(
                companion_paths(file.path), companion_paths(self.target(file)), strict=True
            )
            if here.is_file() and is_generated(here)
        ]


def _remarks(file: LoadedFile) -> Mapping[str, Sequence[str]]:
    first = f"generated by orio_py for {file.path.name}; it is overwritten when that is tuned again"
    return {name: [first, backend.requirements] for name, backend in BACKENDS.items()}
