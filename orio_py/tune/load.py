"""Reads files into checked tasks: everything that can be known to be wrong before anything is built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, fail, has_errors
from orio_py.core.expr import Value, show
from orio_py.core.registry import did_you_mean, nearest
from orio_py.core.source import SourceFile, Span
from orio_py.frontend.annotations.chill import StatementRecipe, read_statement_recipe
from orio_py.frontend.read import read
from orio_py.space.search_space import SearchSpace
from orio_py.spec.check import check
from orio_py.spec.inputs import InputPoint
from orio_py.spec.parameter import Parameter
from orio_py.spec.task import TuningTask
from orio_py.transform.context import context_for
from orio_py.transform.parallel.user_pragmas import check_user_pragmas
from orio_py.transform.recipe import check_recipe

SOURCE_SUFFIXES = (".c", ".h")
MOST_INPUT_SIZES = 1000


@dataclass(frozen=True, slots=True)
class LoadedTask:
    """A task with the problem sizes to tune for and the search space of each."""

    task: TuningTask
    points: tuple[InputPoint, ...]
    spaces: tuple[SearchSpace, ...]


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """One source file with its tasks; `inner` is its path below the folder that was asked for."""

    path: Path
    inner: Path
    source: SourceFile
    tasks: tuple[LoadedTask, ...]


@dataclass(frozen=True, slots=True)
class Loaded:
    """All files of a command, with every problem found in them."""

    files: tuple[LoadedFile, ...]
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, SourceFile]

    @property
    def is_bad(self) -> bool:
        """Whether any of the problems is an error."""
        return has_errors(self.diagnostics)

    @property
    def tasks(self) -> tuple[LoadedTask, ...]:
        """The tasks of all files."""
        return tuple(task for file in self.files for task in file.tasks)


def expand_paths(paths: Iterable[Path]) -> dict[Path, Path]:
    """The files meant by paths, each with its path below what was asked for.

    A folder means all C files below it but those that were tuned from a file beside them (`_name.c`).
    Raises DiagnosticError ORIO-U006 (does not exist), U007 (folder without C files).
    """
    found: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if _is_source(p))
            if not inside:
                fail("ORIO-U007", f"the folder `{path}` holds no C files")
            found.update({p: p.relative_to(path) for p in inside})
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


def _is_source(path: Path) -> bool:
    origin = path.with_name(path.name.removeprefix("_"))
    is_output = path.name.startswith("_") and origin.is_file()
    return path.suffix in SOURCE_SUFFIXES and path.is_file() and not is_output


def load(
    paths: Sequence[Path],
    *,
    spec: Path | None = None,
    recipe: Path | None = None,
    pins: Mapping[str, Value] | None = None,
) -> Loaded:
    """Read and check files.  Problems are collected, not raised.

    `spec` is a specification for regions that have none, `recipe` a recipe by statement number for CHiLL
    regions that have none.
    """
    diagnostics: list[Diagnostic] = []
    sources: dict[str, SourceFile] = {}
    files: list[LoadedFile] = []
    used_pins: set[str] = set()
    try:
        outer = _Outer(
            _read_source(spec) if spec is not None else None,
            _read_recipe(recipe, diagnostics, sources) if recipe is not None else None,
        )
        for path, inner in expand_paths(paths).items():
            file = _load_file(path, inner, outer, pins or {}, diagnostics, sources, used_pins)
            files.append(file)
        if recipe is not None and outer.recipe is not None and not has_errors(diagnostics):
            diagnostics.extend(_unused_recipe(recipe, outer.recipe, files))
    except DiagnosticError as problem:
        diagnostics.extend(problem.diagnostics)
    if not has_errors(diagnostics):
        diagnostics.extend(_unknown_pins(files, pins or {}, used_pins))
    return Loaded(tuple(files), tuple(dict.fromkeys(diagnostics)), sources)


@dataclass(frozen=True, slots=True)
class _Outer:
    """What regions can take from outside their file."""

    spec: SourceFile | None
    recipe: StatementRecipe | None


def _load_file(
    path: Path,
    inner: Path,
    outer: _Outer,
    pins: Mapping[str, Value],
    diagnostics: list[Diagnostic],
    sources: dict[str, SourceFile],
    used_pins: set[str],
) -> LoadedFile:
    source = _read_source(path)
    sources[source.name] = source
    result = read(source, directory=path.resolve().parent, spec=outer.spec, recipe=outer.recipe)
    sources.update(result.sources)
    diagnostics.extend(result.diagnostics)
    tasks: list[LoadedTask] = []
    for task in result.tasks:
        problems = [*check(task), *_check_recipes(task), *_check_pragmas(task)]
        diagnostics.extend(problems)
        if not has_errors(problems):
            try:
                tasks.append(_with_spaces(task, pins, used_pins))
            except DiagnosticError as problem:
                diagnostics.extend(problem.diagnostics)
    return LoadedFile(path, inner, source, tuple(tasks))


def _read_source(path: Path) -> SourceFile:
    try:
        return SourceFile.read(path)
    except OSError as error:
        fail("ORIO-U008", f"`{path}` cannot be read: {error.strerror or error}")


def _read_recipe(
    path: Path, diagnostics: list[Diagnostic], sources: dict[str, SourceFile]
) -> StatementRecipe:
    source = _read_source(path)
    sources[source.name] = source
    recipe = read_statement_recipe(source, Span(0, len(source.text)))
    diagnostics.extend(recipe.problems)
    return recipe


def _unused_recipe(path: Path, recipe: StatementRecipe, files: Sequence[LoadedFile]) -> list[Diagnostic]:
    """Why a recipe file does nothing, if that is so: ORIO-U016."""
    if not recipe.steps:
        return [Diagnostic("ORIO-U016", f"`{path}` holds no command")]
    first = recipe.steps[0]
    regions = (region for file in files for loaded in file.tasks for region in loaded.task.regions)
    if any(first in region.steps for region in regions):
        return []
    message = f"no region takes the recipe `{path}`"
    return [Diagnostic("ORIO-U016", message, help="mark one by `/*@ begin CHiLL() @*/ … /*@ end @*/`")]


def _check_recipes(task: TuningTask) -> list[Diagnostic]:
    known = frozenset(p.name for p in (*task.parameters, *task.inputs.parameters))
    return [problem for region in task.regions for problem in check_recipe(region, known)]


def _check_pragmas(task: TuningTask) -> list[Diagnostic]:
    """What is wrong with the OpenMP pragmas that the user wrote."""
    return [
        problem
        for region in task.regions
        for problem in check_user_pragmas(region.reference, context_for(task, region))
    ]


def _with_spaces(task: TuningTask, pins: Mapping[str, Value], used: set[str]) -> LoadedTask:
    """The input sizes and search spaces of a task, with pinned values put in."""
    sizes = tuple(_pinned_size(p, pins, used) for p in task.inputs.parameters)
    inputs = SearchSpace(sizes, task.inputs.constraints)
    if inputs.size == 0:
        fail(
            "ORIO-P010", "no combination of input sizes meets the constraints of input_params", task.position
        )
    if inputs.size > MOST_INPUT_SIZES:
        fail(
            "ORIO-P011",
            f"input_params gives {inputs.size} input sizes; at most {MOST_INPUT_SIZES} can be tuned for",
            task.position,
        )
    points = tuple(InputPoint(tuple((p.name, c[p.name]) for p in sizes)) for c in inputs)
    task = replace(task, inputs=replace(task.inputs, parameters=sizes))
    spaces: list[SearchSpace] = []
    for point in points:
        space = SearchSpace(task.parameters, task.constraints, dict(point.values))
        for parameter in task.parameters:
            if parameter.name in pins:
                used.add(parameter.name)
                space = space.pin(parameter.name, pins[parameter.name])
        if space.size == 0:
            where = "" if not point.values else " for " + ", ".join(f"{n}={show(v)}" for n, v in point.values)
            fail(
                "ORIO-P012",
                f"none of the {space.cartesian} configurations meets the constraints{where}",
                task.constraints[0].position if task.constraints else task.position,
            )
        spaces.append(space)
    return LoadedTask(task, points, tuple(spaces))


def _pinned_size(parameter: Parameter, pins: Mapping[str, Value], used: set[str]) -> Parameter:
    if parameter.name not in pins:
        return parameter
    used.add(parameter.name)
    return replace(parameter, values=(pins[parameter.name],))


def _unknown_pins(files: Sequence[LoadedFile], pins: Mapping[str, Value], used: set[str]) -> list[Diagnostic]:
    known = {
        p.name
        for file in files
        for loaded in file.tasks
        for p in (*loaded.task.parameters, *loaded.task.inputs.parameters)
    }
    return [
        Diagnostic("ORIO-U011", f"no region has a parameter `{name}`", help=did_you_mean(name, known))
        for name in pins
        if name not in used
    ]
