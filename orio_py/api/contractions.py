"""`tensor`: contractions in index notation become tuned C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from orio_py.api.report import BAD_INPUT
from orio_py.api.tuning import TuneReport, tune
from orio_py.build.detect import scratch_folder
from orio_py.build.scratch import Scratch
from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.source import Position, SourceFile, Span
from orio_py.core.units import Seconds
from orio_py.frontend.tensor.einsum import read_einsum
from orio_py.frontend.tensor.program import read_program
from orio_py.spec.generated import GENERATED_MARK
from orio_py.spec.target import Target
from orio_py.tensors.annotated import annotated_file, device_file, has_device_file
from orio_py.tensors.common_products import with_common_products
from orio_py.tensors.contraction import TensorProgram
from orio_py.tensors.contraction_order import derivation, pairwise
from orio_py.tensors.directive_file import STEPS, directive_file
from orio_py.tensors.kernel_file import STEPS as KERNEL_STEPS
from orio_py.tensors.kernel_file import kernel_file
from orio_py.tensors.statement_recipe import statement_recipe
from orio_py.tuning.events import Event, Listener, SizeFailed, TaskStarted
from orio_py.tuning.files.writeback import write_atomically
from orio_py.tuning.options import TuneOptions

TRIALS, SEARCH_TIME = 100, Seconds(30.0)
"""What code for processors is searched for at most, where neither is given: all statements together, with the originals, in
that time.  Together with the finals a contraction is tuned in less than a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorReport(TuneReport):
    """The outcome of `tensor`: that of `tune`, and what the program became before it."""

    program: TensorProgram | None = None
    annotated: str = ""
    """The annotated C file that is tuned."""
    derivation: str = ""
    """How products of more than two tensors were taken apart, and common ones computed once; empty for others."""
    recipe: str = ""
    """The recipe by statement number that the rules for GPUs give."""

    def as_json(self) -> dict[str, object]:
        """The shape of `tune --json`, with the statements and the recipe."""
        statements = [] if self.program is None else list(map(str, self.program.contractions))
        return {
            **TuneReport.as_json(self),
            "statements": statements,
            "settings": "" if self.program is None else self.program.settings,
            "derivation": self.derivation,
            "recipe": self.recipe,
        }


def tensor(
    source: Path | str,
    *,
    sizes: Mapping[str, int] | None = None,
    layout: str = "row",
    type: str = "double",
    output: Path | None = None,
    emit: Path | None = None,
    by_recipe: bool = False,
    tuned: bool = True,
    options: TuneOptions | None = None,
    listener: Listener | None = None,
) -> TensorReport:
    """Tune the contractions of a file in index notation (a path), or of an einsum string with `sizes`.

    `layout` (`row`, `column`) and `type` (`double`, `float`) are for einsum strings; a file says them itself.  The C
    file goes to `output`, by default `NAME.c` beside the file, or in the working directory for a string.  `emit` keeps the
    annotated C file; without `tuned` nothing else is made.  Without `trials` and `time` code for processors is searched for with
    `TRIALS` and `SEARCH_TIME`.  With `by_recipe` kernels of CUDA are those of the thesis' recipe
    by statement number; otherwise they have register tiles, as those of other languages.
    """
    chosen = options or TuneOptions()
    try:
        read = SourceFile.read(source) if isinstance(source, Path) else SourceFile("einsum", source.encode())
    except OSError as error:
        message = f"`{source}` cannot be read: {error.strerror or error}"
        return TensorReport(diagnostics=(Diagnostic("ORIO-U008", message),), exit_code=BAD_INPUT)
    try:
        if isinstance(source, Path):
            written = read_program(read, Span(0, len(read.data)))
        else:
            written = read_einsum(source, sizes or {}, layout=layout, type=type)
    except DiagnosticError as problem:
        return TensorReport(diagnostics=problem.diagnostics, sources={read.name: read}, exit_code=BAD_INPUT)
    program = pairwise(written if by_recipe else with_common_products(written))
    problem = _unmapped(program, chosen.target, by_recipe=by_recipe)
    if problem is not None:
        return TensorReport(diagnostics=(problem,), exit_code=BAD_INPUT)
    made = TensorReport(
        program=program,
        annotated=_annotated(program, chosen.target, by_recipe=by_recipe),
        recipe=statement_recipe(program),
        derivation=derivation(written, program),
    )
    made = _kept(made, emit)
    if not tuned or made.diagnostics:
        return made
    target = output or (source.with_suffix(".c") if isinstance(source, Path) else Path(f"{program.name}.c"))
    if output is None and target.exists() and GENERATED_MARK not in target.read_text(errors="replace"):
        message = f"the result would take the place of `{target}`, which is not generated"
        advice = "rename that file, or say where the result goes with `-o`"
        return replace(
            made, diagnostics=(Diagnostic("ORIO-U010", message, help=advice),), exit_code=BAD_INPUT
        )
    return _tuned(made, read, str(source), target, chosen, listener)


def _unmapped(program: TensorProgram, target: str | None, *, by_recipe: bool) -> Diagnostic | None:
    """Why a program has no kernels: ORIO-N016."""
    if target == "cuda" and by_recipe and not has_device_file(program):
        message = (
            "a recipe needs statements with `+=` or `-=`, two loops over the output, and no temporary tensors"
        )
        advice = "without `--recipe` kernels have register tiles, and take every program"
        return Diagnostic("ORIO-N016", message, help=advice)
    if target in {*STEPS, *KERNEL_STEPS} and not any(statement.free for statement in program.contractions):
        message = "devices share out the loops over the output, and no output here has an index"
        return Diagnostic("ORIO-N016", message)
    return None


def _annotated(program: TensorProgram, target: str | None, *, by_recipe: bool) -> str:
    """The annotated C file for a target."""
    if target == "cuda" and by_recipe:
        return device_file(program)
    if target is not None and target in STEPS:
        return directive_file(program, target)
    if target is not None and target in KERNEL_STEPS:
        return kernel_file(program, target)
    return annotated_file(program, threads=target == Target.OPENMP)


def _tuned(
    made: TensorReport,
    read: SourceFile,
    source: str,
    target: Path,
    options: TuneOptions,
    listener: Listener | None,
) -> TensorReport:
    """The report with what came of tuning the annotated file; regions are named after what was given."""
    assert made.program is not None
    scratch = Scratch.make(scratch_folder())
    try:
        path = scratch.path / f"{made.program.name}.c"
        path.write_text(made.annotated)
        places = _Places(made, str(path), read.name)
        budget = _with_budget(options, made.annotated.count("begin PerfTuning"))
        report = tune([path], output=target, options=budget, listener=places.heard_by(listener))
    finally:
        scratch.remove()
    return replace(
        made,
        diagnostics=tuple(map(places.told, report.diagnostics)),
        sources={read.name: read},
        exit_code=report.exit_code,
        regions=tuple(
            replace(region, file=source, line=line)
            for region, line in zip(report.regions, _lines(made.program, len(report.regions)), strict=True)
        ),
        outputs=report.outputs,
    )


def _with_budget(options: TuneOptions, regions: int) -> TuneOptions:
    """The options; of searches for processors that nothing limits each region has its share of `SEARCH_TIME`."""
    on_processor = options.target in (None, Target.C, Target.OPENMP)
    if not on_processor or options.trials is not None or options.time is not None or not regions:
        return options
    return replace(options, trials=TRIALS, time=Seconds(SEARCH_TIME / regions))


@dataclass(frozen=True, slots=True)
class _Places:
    """From places of the annotated file, which nobody keeps, to those of the statements that it is made of."""

    made: TensorReport
    path: str
    source: str

    def told(self, problem: Diagnostic) -> Diagnostic:
        """The problem at the statement of its region."""
        notes = tuple(replace(note, position=self._at(note.position)) for note in problem.notes)
        return replace(problem, position=self._at(problem.position), notes=notes)

    def heard_by(self, listener: Listener | None) -> Listener | None:
        """A listener that hears of the statements."""
        if listener is None:
            return None

        def hear(event: Event) -> None:
            if isinstance(event, (TaskStarted, SizeFailed)) and event.file == self.path:
                event = replace(event, file=self.source, line=self._line(event.line))
            listener(event)

        return hear

    def _at(self, place: Position | None) -> Position | None:
        if place is None or place.file != self.path:
            return place
        return Position(self.source, self._line(place.line), 1)

    def _line(self, line: int) -> int:
        """The line of the statement whose region begins at a line of the annotated file, or before."""
        begins = [
            number
            for number, text in enumerate(self.made.annotated.splitlines(), start=1)
            if "begin PerfTuning" in text
        ]
        lines = _lines(self.made.program, len(begins))
        return lines[max(sum(begin <= line for begin in begins) - 1, 0)] if lines else 1


def _lines(program: TensorProgram | None, count: int) -> list[int]:
    """The lines of the statements that the regions are for: one each, or the first one where they share regions."""
    places = [statement.position for statement in program.contractions] if program is not None else []
    lines = [place.line if place is not None else 1 for place in places]
    return lines if len(lines) == count else lines[:1] * count


def _kept(made: TensorReport, emit: Path | None) -> TensorReport:
    """The report; the annotated file is written where it is wanted."""
    if emit is None:
        return made
    try:
        write_atomically(emit, made.annotated.encode("ascii"))
    except OSError as error:
        message = f"`{emit}` cannot be written: {error.strerror or error}"
        return replace(made, diagnostics=(Diagnostic("ORIO-U009", message),), exit_code=BAD_INPUT)
    return replace(made, outputs=(emit,))
