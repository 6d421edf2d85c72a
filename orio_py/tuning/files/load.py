"""Reads files into checked tasks: everything that can be known to be wrong before anything is built.

A file's translation unit is what the command that builds it makes of it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Severity, fail, has_errors
from orio_py.core.expr import Value, show
from orio_py.core.registry import did_you_mean
from orio_py.core.source import SourceFile, Span
from orio_py.ctree.unit.segments import Segments
from orio_py.ctree.unit.translation_unit import TranslationUnit, translation_unit
from orio_py.frontend.annotations.modules.chill import read_statement_recipe
from orio_py.frontend.read import Units, read
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.assumptions import Promise
from orio_py.spec.check import check
from orio_py.spec.inputs import Declaration, ExternalFile, InputPoint, Storage
from orio_py.spec.members import with_owners
from orio_py.spec.parameter import Parameter
from orio_py.spec.recipe import StatementRecipe
from orio_py.spec.target import BuildSpec
from orio_py.spec.task import TuningTask
from orio_py.transformation.context import context_for
from orio_py.transformation.recipe import check_recipe
from orio_py.tuning.files.compile_commands import NAME as DATABASE
from orio_py.tuning.files.compile_commands import (
    CompileCommand,
    CompileCommands,
    find_compile_commands,
    parse_command,
    read_compile_commands,
)
from orio_py.tuning.files.marks import may_be_annotated
from orio_py.tuning.files.tree import FileSelection, expand_paths


def unit_of(
    text: str, path: Path, build: BuildSpec, codes: Mapping[int, str], missing: list[str] | None = None
) -> TranslationUnit:
    """What the compiler of `build` sees of a file, `codes` being code that its annotations hold.

    The names of headers that are not found are added to `missing`.

    Options that depend on parameters are left out.  Where no compiler is found, or its preprocessor does not
    come to an end, the headers of the project are read without it, those of the system are not.
    """
    folder = path.resolve().parent
    command = _command(build, folder)

    def preprocess(segments: Segments) -> str:
        from orio_py.build import preprocessor  # takes time to load, and files without directives need none

        marked = segments.marked(masked=True)
        options = [*command.language, "-DORIO_ORIGINAL"]
        found = preprocessor.preprocess(marked, command.compiler, options, folder, missing)
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


def load(
    paths: Sequence[Path],
    *,
    spec: Path | None = None,
    recipe: Path | None = None,
    pins: Mapping[str, Value] | None = None,
    assume: Collection[Promise] = (),
    selection: FileSelection = FileSelection(),
    compile_commands: Path | CompileCommands | None = None,
) -> Loaded:
    """Read and check files.  Problems are collected, not raised.

    `spec` is a specification for regions that have none, `recipe` a recipe by statement number for CHiLL
    regions that have none, `assume` what is promised of all regions.  `selection` says which files of folders are meant; `compile_commands` is a
    compilation database (default: the one that `find_compile_commands` finds).
    """
    diagnostics: list[Diagnostic] = []
    sources: dict[str, SourceFile] = {}
    files: list[LoadedFile] = []
    used_pins: set[str] = set()
    try:
        database = compile_commands or find_compile_commands(paths)
        outer = _Outer(
            _read_source(spec) if spec is not None else None,
            _read_recipe(recipe, diagnostics, sources) if recipe is not None else None,
            read_compile_commands(database) if isinstance(database, Path) else database or CompileCommands(),
            assume,
        )
        for path, inner in expand_paths(paths, selection).items():
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
    commands: CompileCommands
    assume: Collection[Promise]


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
    if outer.spec is None and not may_be_annotated(source.data):
        return LoadedFile(path, inner, source, ())
    sources[source.name] = source
    command = outer.commands.of(path)
    missing: list[str] = []
    units = _units(source, path, command, missing)
    result = read(source, directory=path.resolve().parent, spec=outer.spec, recipe=outer.recipe, units=units)
    sources.update(result.sources)
    diagnostics.extend(result.diagnostics)
    diagnostics.extend(_not_found(header, source) for header in dict.fromkeys(missing))
    tasks: list[LoadedTask] = []
    for read_task in result.tasks:
        task = _in_project(read_task, command, outer.assume)
        problems = [*check(task), *_check_recipes(task), *_check_pragmas(task)]
        diagnostics.extend(problems)
        if not has_errors(problems):
            try:
                tasks.append(_with_spaces(task, pins, used_pins))
            except DiagnosticError as problem:
                diagnostics.extend(problem.diagnostics)
    return LoadedFile(path, inner, source, tuple(tasks))


def _not_found(header: str, source: SourceFile) -> Diagnostic:
    """That a header is not found, at the line that includes it, or where the file begins if another header does."""
    line = re.search(rf'^[ \t]*#[ \t]*include[ \t]*[<"]{re.escape(header)}[>"]', source.text, re.MULTILINE)
    return Diagnostic(
        "ORIO-U040",
        f"the header `{header}` is not found, so that nothing is known of what it declares",
        source.position(line.start() if line is not None else 0),
        Severity.WARNING,
        help=f"name its folder: `-I` in the build command, or a `{DATABASE}` in a folder above the file",
    )


def _units(source: SourceFile, path: Path, command: CompileCommand | None, missing: list[str]) -> Units:
    """The file's translation unit by build command, each made once."""
    made: dict[tuple[BuildSpec, tuple[tuple[int, str], ...]], TranslationUnit] = {}

    def unit(build: BuildSpec, codes: Mapping[int, str]) -> TranslationUnit:
        key = build, tuple(codes.items())
        if key not in made:
            applied = command.applied_to(build) if command is not None else build
            made[key] = unit_of(source.text, path, applied, codes, missing)
        return made[key]

    return unit


def _in_project(task: TuningTask, command: CompileCommand | None, assume: Collection[Promise]) -> TuningTask:
    """The task with the file's compiler options, the caller's promises, and the types that typedefs stand for."""
    unit = task.surroundings.unit

    def plain(declared: Declaration) -> Declaration:
        array, number = unit.named_types.arrays.get(declared.type), unit.number_types.get(declared.type)
        if array is not None:
            is_scalar = declared.storage is Storage.SCALAR and "." not in declared.name
            return replace(
                declared,
                type=array.type,
                storage=Storage.STATIC if is_scalar else declared.storage,
                dimensions=(*declared.dimensions, *array.dimensions),
                type_position=None,
            )
        return declared if number is None else replace(declared, type=number, type_position=None)

    task = replace(
        task,
        build=command.applied_to(task.build) if command is not None else task.build,
        inputs=replace(
            task.inputs,
            declarations=tuple(map(plain, task.inputs.declarations)),
            members=tuple(map(plain, task.inputs.members)),
        ),
    ).with_promises(assume)
    return _with_headers(replace(task, inputs=with_owners(task)))


def _with_headers(task: TuningTask) -> TuningTask:
    """The task; its files for the test program know the structures that their headers define."""
    if not task.structures or not task.files:
        return task

    def known(file: ExternalFile | None) -> ExternalFile | None:
        if file is None or "#" not in file.text:
            return file
        unit = unit_of(file.text, Path(file.path), task.build, {})
        return replace(file, structures=frozenset(unit.structures))

    inputs, measured = task.inputs, task.measurement
    inputs = replace(inputs, decl_file=known(inputs.decl_file), init_file=known(inputs.init_file))
    return replace(
        task,
        inputs=inputs,
        measurement=replace(measured, validation_file=known(measured.validation_file)),
    )


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
    return read_statement_recipe(source, Span(0, len(source.text)), diagnostics)


def _unused_recipe(path: Path, recipe: StatementRecipe, files: Sequence[LoadedFile]) -> list[Diagnostic]:
    """Why a recipe file does nothing, if that is so: ORIO-U016."""
    if not recipe.steps:
        return [Diagnostic("ORIO-U016", f"`{path}` holds no command")]
    first = recipe.steps[0]
    regions = (region for file in files for loaded in file.tasks for region in loaded.task.regions)
    if any(first in region.recipe.steps for region in regions):
        return []
    message = f"no region takes the recipe `{path}`"
    return [Diagnostic("ORIO-U016", message, help="mark one by `/*@ begin CHiLL() @*/ … /*@ end @*/`")]


def _check_recipes(task: TuningTask) -> list[Diagnostic]:
    known = frozenset(p.name for p in (*task.parameters, *task.inputs.parameters))
    return [problem for region in task.regions for problem in check_recipe(region, known)]


def _check_pragmas(task: TuningTask) -> list[Diagnostic]:
    """What is wrong with the OpenMP pragmas that the user wrote."""
    if not any("ragma" in region.reference_text for region in task.regions):
        return []
    # Most regions have none, and the dependence test takes time to load.
    from orio_py.transformation.parallel.user_pragmas import check_user_pragmas

    return [
        problem
        for region in task.regions
        for problem in check_user_pragmas(region, context_for(task, region))
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
