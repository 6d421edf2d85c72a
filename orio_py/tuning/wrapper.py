"""The compiler wrapper: tunes the annotated sources of a compiler's command line, then compiles them.

What a file's meaning depends on besides itself are the project's own headers.
"""

from __future__ import annotations

import fcntl
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from orio_py.build.detect import cpu_name
from orio_py.core.diagnostics import Diagnostic, Severity
from orio_py.core.digest import digest
from orio_py.core.expr import Value
from orio_py.core.source import SourceFile
from orio_py.tuning.files.compile_commands import CompileCommands, parse_command
from orio_py.tuning.files.load import Loaded, load
from orio_py.tuning.files.marks import annotated_sources
from orio_py.tuning.files.sidecar_files import languages_of
from orio_py.tuning.options import TuneOptions

LARGEST_HEADER = 4 * 1024 * 1024
MOST_HEADERS = 500
"""Bounds of the search."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)


def project_texts(source: SourceFile, path: Path, folders: Sequence[Path]) -> list[str]:
    """The file's text and those of the project's headers that it includes, each once."""
    texts = [source.text]
    waiting = [(name, path.resolve().parent) for name in _included(source.text)]
    seen: set[Path] = set()
    while waiting and len(seen) < MOST_HEADERS:
        name, beside = waiting.pop(0)
        header = next((p for p in ((f / name).resolve() for f in (beside, *folders)) if _readable(p)), None)
        if header is None or header in seen:
            continue
        seen.add(header)
        content = header.read_bytes().decode("latin-1")
        texts.append(content)
        waiting.extend((inner, header.parent) for inner in _included(content))
    return texts


def _included(text: str) -> list[str]:
    return [quoted or angled for quoted, angled in _INCLUDE.findall(text)]


def _readable(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size <= LARGEST_HEADER
    except (OSError, ValueError):
        return False


Tuner = Callable[[Path, Path, TuneOptions], Sequence[Diagnostic]]
"""Tunes a file into another one; the problems met.  Without an output there was nothing to write."""

Runner = Callable[[Sequence[str]], int]
"""Runs a command on the terminal's own streams and gives its exit status."""

_WRITES_DEPENDENCIES = frozenset({"-MD", "-MMD"})


@dataclass(slots=True)
class Wrapper:
    """One call of the compiler.  `store` is the folder of tuned texts, `may_tune` False uses only those
    that it holds; `tune` and `run` reach the world, `told` collects what the user should hear.
    """

    words: Sequence[str]
    directory: Path
    store: Path
    options: TuneOptions
    tune: Tuner
    run: Runner
    may_tune: bool = True
    told: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def compile(self) -> int:
        """The compiler's exit status.  What cannot be tuned is compiled as it was written."""
        replaced = self._tuned_texts()
        if not replaced:
            return self.run(self.words)
        words = [str(replaced.get(word, word)) for word in self.words]
        # The tuned text lies elsewhere, so headers beside the source have to be named.
        beside = dict.fromkeys(str((self.directory / word).resolve().parent) for word in replaced)
        status = self.run([*words, *(part for folder in beside for part in ("-iquote", folder))])
        if status == 0:
            self._mend_dependencies(replaced)
            return 0
        self._tell(None, "the tuned text does not compile, so the source is compiled as it was written")
        return self.run(self.words)

    def _tuned_texts(self) -> dict[str, Path]:
        """For each annotated source on the command line, the file that holds its tuned text."""
        found: dict[str, Path] = {}
        if {"-E", "-M", "-MM"} & set(self.words):
            return found
        for word in annotated_sources(self.words, self.directory):
            tuned = self._tuned(self.directory / word)
            if tuned is not None:
                found[word] = tuned
        return found

    def _tuned(self, path: Path) -> Path | None:
        command = parse_command(self.words, self.directory)
        commands = CompileCommands(None, {path.resolve(): command})
        options = replace(self.options, compile_commands=commands)
        loaded = load([path], spec=options.spec, pins={}, assume=options.assume, compile_commands=commands)
        if loaded.is_bad or not any(task.task.has_spec for task in loaded.tasks):
            self.told.extend(_as_warning(problem) for problem in loaded.diagnostics)
            return None
        if languages_of(loaded.files[0]):
            self._tell(
                path,
                "host code for a device is another source, so it is compiled as it was written; "
                "run `orio tune` before the build",
            )
            return None
        options = replace(options, pins=_used(options.pins, loaded))
        target = self.store / self._key(loaded, path, command.include_folders, options) / path.name
        if target.is_file():
            return target
        kept = target.with_name(f"{path.name}.original")
        if kept.is_file():
            return None
        if not self.may_tune:
            self._tell(path, "no tuned text is stored for this source, so it is compiled as it was written")
            return None
        with _one_at_a_time(self.store):
            if not target.is_file():  # another compilation may have made it while this one waited
                target.parent.mkdir(parents=True, exist_ok=True)
                self.told.extend(_as_warning(problem) for problem in self.tune(path, target, options))
            if not target.is_file():
                self._tell(path, "nothing was tuned, so it is compiled as it was written")
                kept.touch()
        return target if target.is_file() else None

    def _key(self, loaded: Loaded, path: Path, folders: Sequence[Path], options: TuneOptions) -> str:
        """The digest of all that the tuned text depends on: the texts, the options, the processor."""
        texts = [source.text for _, source in sorted(loaded.sources.items())]
        builds = [[str(t.task.build), t.task.name] for t in loaded.tasks]
        wishes = [
            options.target,
            options.search,
            options.objective if isinstance(options.objective, str | None) else list(options.objective),
            options.trials,
            options.time,
            options.seed,
            options.cc,
        ]
        pins = sorted((name, str(value)) for name, value in options.pins.items())
        headers = project_texts(loaded.files[0].source, path, folders)
        return digest([texts, headers, builds, wishes, pins, cpu_name()])

    def _mend_dependencies(self, replaced: Mapping[str, Path]) -> None:
        """Name the sources, not the tuned texts, in the dependencies that the compiler wrote for make."""
        if not _WRITES_DEPENDENCIES & set(self.words):
            return
        file = _dependency_file(self.words, self.directory)
        if not file.is_file():
            return
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
        for word, tuned in replaced.items():
            text = text.replace(_for_make(str(tuned)), _for_make(word))
        file.write_text(text, encoding="utf-8", errors="surrogateescape")

    def _tell(self, path: Path | None, message: str) -> None:
        where = f"`{path}`: " if path is not None else ""
        self.told.append(Diagnostic("ORIO-U034", where + message, severity=Severity.WARNING))


def _used(pins: Mapping[str, Value], loaded: Loaded) -> Mapping[str, Value]:
    """The pins that the file's regions know: the same ones are given for every file of a build."""
    tasks = [loaded_task.task for loaded_task in loaded.tasks]
    known = {p.name for task in tasks for p in (*task.parameters, *task.inputs.parameters)}
    return {name: value for name, value in pins.items() if name in known}


def _as_warning(problem: Diagnostic) -> Diagnostic:
    return replace(problem, severity=Severity.WARNING)


def _dependency_file(words: Sequence[str], directory: Path) -> Path:
    """Where gcc and clang write dependencies: `-MF`, or the output with the suffix `.d`."""
    for option in ("-MF", "-o"):
        for number, word in enumerate(words):
            name = words[number + 1] if word == option and number + 1 < len(words) else ""
            name = name or (word[len(option) :] if word.startswith(option) else "")
            if name:
                return directory / (name if option == "-MF" else Path(name).with_suffix(".d"))
    source = next((word for word in words if word.endswith(".c")), "")
    return directory / Path(source).with_suffix(".d").name


def _for_make(path: str) -> str:
    return path.replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")


@contextmanager
def _one_at_a_time(store: Path) -> Generator[None]:
    """Hold the store's lock: `make -j` starts many compilations, and only one of them may measure."""
    store.mkdir(parents=True, exist_ok=True)
    with (store / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
