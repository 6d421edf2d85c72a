"""Reads an annotated file into tuning tasks, and reports everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Note, Severity, has_errors
from orio_py.core.source import SourceFile, Span
from orio_py.ctree.emit import emit
from orio_py.ctree.file_scan import scan_file
from orio_py.ctree.file_scope import FileScope, surroundings
from orio_py.ctree.unit.translation_unit import TranslationUnit, translation_unit
from orio_py.frontend.annotations.module import Annotation, CodeModule, TuningModule
from orio_py.frontend.annotations.regions import RegionNode, inner_loop, loops_in, nest
from orio_py.frontend.annotations.scan import scan
from orio_py.frontend.tuning.collect import Specification
from orio_py.frontend.tuning.files import Files
from orio_py.frontend.tuning.specification import Interpreter
from orio_py.spec.parameter import Parameter
from orio_py.spec.recipe import StatementRecipe
from orio_py.spec.region import Region
from orio_py.spec.target import BuildSpec
from orio_py.spec.task import TuningTask

Units = Callable[[BuildSpec, Mapping[int, str]], TranslationUnit]
"""The file as a build command compiles it, with code that annotations hold at the offsets where it counts."""


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The tasks that could be read, every problem found, and the files that the problems point into."""

    tasks: tuple[TuningTask, ...]
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, SourceFile]


def read(
    source: SourceFile,
    *,
    directory: Path,
    spec: SourceFile | None = None,
    recipe: StatementRecipe | None = None,
    units: Units | None = None,
) -> ReadResult:
    """Read an annotated C file.

    Files that a specification names are looked for in `directory`.  `spec` is a specification from
    outside for the Loop regions that stand in no PerfTuning region, `recipe` a recipe by statement number
    for the CHiLL regions that have none.  `units` gives the translation unit for a build command (default:
    one without headers).  Bad input is reported in the result, never raised.
    """
    return _Reader(source, Files(directory, {source.name: source}), recipe, units or _own_unit(source)).read(
        spec
    )


def _own_unit(source: SourceFile) -> Units:
    return lambda _, codes: translation_unit(source.text, codes=codes)


@dataclass(slots=True)
class _Reader:
    source: SourceFile
    files: Files
    recipe: StatementRecipe | None
    units: Units
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])
    tasks: list[TuningTask] = field(default_factory=list[TuningTask])
    marks: list[Span] = field(default_factory=list[Span])

    def read(self, spec: SourceFile | None) -> ReadResult:
        found = scan(self.source)
        roots = nest(found)
        self.problems.extend(found.problems)
        self.marks = [mark.span for mark in found.marks]
        outside = self._external(spec)
        lone: list[RegionNode] = []
        for node in roots:
            if isinstance(node.module, TuningModule):
                self._tuning(node)
            else:
                lone.append(node)
        if spec is not None:
            for group in self._by_function(lone):
                self._task(group, outside, has_spec=True)
        else:
            for node in lone:
                self._task([node], None, has_spec=False)
        ordered = sorted(dict.fromkeys(self.problems), key=self._order)
        tasks = self._with_annotated_code(sorted(self.tasks, key=lambda task: task.extent.start))
        return ReadResult(_named(tasks), tuple(ordered), self.files.sources)

    def _with_annotated_code(self, tasks: Sequence[TuningTask]) -> tuple[TuningTask, ...]:
        """The tasks; what annotations alone hold is part of the file that they see."""
        regions = (region for task in tasks for region in task.regions)
        codes = {r.content.start: emit(r.reference) for r in regions if not self._content(r).strip()}
        if not codes:
            return tuple(tasks)
        return tuple(
            replace(task, surroundings=surroundings(self.source, task.extent, self.units(task.build, codes)))
            for task in tasks
        )

    def _content(self, region: Region) -> str:
        return self.source.text[region.content.start : region.content.end]

    def _order(self, problem: Diagnostic) -> tuple[bool, int, int]:
        place = problem.position
        if place is None or place.file != self.source.name:
            return (True, 0, 0)
        return (False, place.line, place.column)

    def _external(self, spec: SourceFile | None) -> Specification | None:
        if spec is None:
            return None
        self.files.sources[spec.name] = spec
        return self._specification(spec, Span(0, len(spec.data)))

    def _specification(self, source: SourceFile, span: Span) -> Specification | None:
        interpreter = Interpreter(self.files)
        name = PurePath(source.name).stem
        interpreter.read(source, span, (name,) if source is not self.source else ())
        result = interpreter.collected.finish(self.files, interpreter.problems)
        self.problems.extend(interpreter.problems)
        return None if has_errors(interpreter.problems) else result

    def _tuning(self, node: RegionNode) -> None:
        specification = self._specification(self.source, node.leader.body)
        loops = loops_in(node)
        if not loops:
            return
        if self._function_start(node.content) is not None:
            self._task(loops, specification, has_spec=True, around=node)
            return
        groups = self._by_function(loops)
        inside = len(groups) > 1 or self._function_start(loops[0].whole) is not None
        for group in groups:
            self._task(group, specification, has_spec=True, around=None if inside else node)

    def _function_start(self, extent: Span) -> int | None:
        item = scan_file(self.source.text).function_around(extent.start)
        return None if item is None else item.start

    def _by_function(self, nodes: Sequence[RegionNode]) -> list[list[RegionNode]]:
        groups: dict[int | None, list[RegionNode]] = {}
        for node in nodes:
            groups.setdefault(self._function_start(node.whole), []).append(node)
        return list(groups.values())

    def _task(
        self,
        nodes: Sequence[RegionNode],
        specification: Specification | None,
        *,
        has_spec: bool,
        around: RegionNode | None = None,
    ) -> None:
        extent = around.content if around is not None else _hull(nodes)
        build = specification.build if specification is not None else BuildSpec()
        near = surroundings(self.source, extent, self.units(build, {}))
        sizes = specification.inputs.parameters if specification is not None else ()
        known = self._known(specification, has_spec)
        regions = self._regions(nodes, near, known, frozenset(size.name for size in sizes))
        if len(regions) < len(nodes) or (has_spec and specification is None):
            return
        leader = around.leader.span if around is not None else nodes[0].leader.span
        task = TuningTask(
            name=near.function.name if near.function is not None else PurePath(self.source.name).stem,
            source=self.source,
            extent=extent,
            position=self.source.position(leader.start),
            regions=regions,
            surroundings=near,
            has_spec=has_spec,
        )
        task = _with(task, specification) if specification is not None else task
        self.tasks.append(self._with_recipe_parameters(task))

    def _with_recipe_parameters(self, task: TuningTask) -> TuningTask:
        """The task with the parameters that its recipes define.  Problems: ORIO-S008."""
        known = {p.name: p for p in (*task.inputs.parameters, *task.parameters)}
        added: list[Parameter] = []
        for parameter in (p for region in task.regions for p in region.recipe.parameters):
            earlier = known.get(parameter.name)
            if earlier is None:
                known[parameter.name] = parameter
                added.append(parameter)
            elif earlier is not parameter:  # one recipe file serves several regions
                note = Note("the first one is here", earlier.position)
                message = f"parameter `{parameter.name}` is defined twice"
                self.problems.append(Diagnostic("ORIO-S008", message, parameter.position, notes=(note,)))
        return replace(task, parameters=(*task.parameters, *added)) if added else task

    def _known(self, specification: Specification | None, has_spec: bool) -> Collection[str] | None:
        if specification is None or not has_spec:
            return None
        return frozenset(parameter.name for parameter in specification.parameters)

    def _regions(
        self,
        nodes: Sequence[RegionNode],
        near: FileScope,
        known: Collection[str] | None,
        sizes: frozenset[str],
    ) -> tuple[Region, ...]:
        regions = [self._region(node, near, known, sizes) for node in nodes]
        return tuple(region for region in regions if region is not None)

    def _region(
        self, node: RegionNode, near: FileScope, known: Collection[str] | None, sizes: frozenset[str]
    ) -> Region | None:
        """The region that the node's module reads, or None with its problems reported."""
        assert isinstance(node.module, CodeModule)
        problems: list[Diagnostic] = []

        def annotation_of(part: RegionNode, inner: Annotation | None = None) -> Annotation:
            marks, recipe = self.marks, self.recipe
            return Annotation(
                self.source, part.leader, part.trailer, marks, near, known, recipe, problems, sizes, inner
            )

        applied = inner_loop(node)
        self._report_nested(node if applied is None else applied)
        annotation = annotation_of(node, None if applied is None else annotation_of(applied))
        region = None
        try:
            region = annotation.region(node.module.read(annotation))
        except DiagnosticError as error:
            problems.extend(error.diagnostics)
        self.problems.extend(problems)
        return None if has_errors(problems) else region

    def _report_nested(self, node: RegionNode) -> None:
        message = "the recipe of a nested region is not applied; its code belongs to the outer one"
        for child in node.children:
            place = self.source.position(child.leader.span.start)
            self.problems.append(Diagnostic("ORIO-A017", message, place, severity=Severity.WARNING))


def _hull(nodes: Sequence[RegionNode]) -> Span:
    """From the first leader to the last trailer."""
    return Span(nodes[0].leader.span.start, nodes[-1].trailer.end)


def _with(task: TuningTask, specification: Specification) -> TuningTask:
    return replace(
        task,
        parameters=specification.parameters,
        constraints=specification.constraints,
        inputs=specification.inputs,
        build=specification.build,
        measurement=specification.measurement,
        search=specification.search,
        assumptions=specification.assumptions,
    )


def _named(tasks: tuple[TuningTask, ...]) -> tuple[TuningTask, ...]:
    """The tasks with `_2`, `_3` … behind names that several have."""
    seen: dict[str, int] = {}
    result: list[TuningTask] = []
    for task in tasks:
        seen[task.name] = seen.get(task.name, 0) + 1
        count = seen[task.name]
        result.append(task if count == 1 else replace(task, name=f"{task.name}_{count}"))
    return tuple(result)
