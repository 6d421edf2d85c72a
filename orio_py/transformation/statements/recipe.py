"""Checks a recipe by statement number, and applies its commands one after the other.

The commands run in the order in which they are written, as CHiLL's do: each finds the loops that the ones
before it have left.  Numbers always mean the statements of the user's code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Note
from orio_py.core.expr import Expr, Value, evaluate, name_positions, names_in
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position
from orio_py.ctree.nodes import Compound
from orio_py.spec.recipe import Argument, RecipeStep, StatementRecipe
from orio_py.spec.target import Target
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.statements.commands import Command, UnrollStatements
from orio_py.transformation.statements.cuda import Cuda, launched
from orio_py.transformation.statements.groups import FuseStatements
from orio_py.transformation.statements.mapped_nests import require_all_parallel, require_kept
from orio_py.transformation.statements.numbering import NumberedProgram
from orio_py.transformation.statements.registers import Registers
from orio_py.transformation.statements.scopes import in_scopes
from orio_py.transformation.statements.table import COMMANDS, OTHER_NAMES, CommandEntry


@dataclass(frozen=True, slots=True)
class StatementCommands:
    """The engine of recipes by statement number."""

    tree: Compound
    recipe: StatementRecipe

    def check(self, known: frozenset[str]) -> tuple[Diagnostic, ...]:
        """Everything that is wrong whatever the parameter values.

        Codes: ORIO-T007, T010, T011, T016, T100 to T104.
        """
        lists = {parameter.name: parameter.values for parameter in self.recipe.parameters}
        checker = _Checker(NumberedProgram.of(self.tree, Context()), known, lists)
        return tuple(problem for step in self.recipe.steps for problem in checker.problems(step))

    def apply(self, values: Mapping[str, Value], context: Context) -> Compound:
        """The tree after all commands.  Raises as `apply_recipe`."""
        program = NumberedProgram.of(self.tree, context)
        if any(_is_cuda(step) for step in self.recipe.steps):
            program = replace(program, simple=self.tree)
        written: dict[int, tuple[RecipeStep, Mapping[str, Argument]]] = {}
        for step in self.recipe.steps:
            entry = _entry(step)
            if isinstance(entry, Diagnostic):
                raise DiagnosticError(entry)
            arguments, problems = entry.bound(step)
            if problems:
                raise DiagnosticError(*problems)
            given = {name: evaluate(argument.expression, values) for name, argument in arguments.items()}
            try:
                command = entry.make(given)
                program = _applied(command, program)
            except Refusal as refusal:
                raise _moved(refusal, step, arguments) from None
            if isinstance(command, Cuda):
                written[command.stmt] = step, arguments
        for mapped in program.mappings:
            try:
                program = launched(program, mapped, values)
            except Refusal as refusal:
                raise _moved(refusal, *written[mapped.stmt]) from None
        return in_scopes(program) if program.mappings else program.tree

    def device_targets(self) -> frozenset[str]:
        """Kernels are CUDA's, and made by the command of that name alone."""
        return frozenset("cuda" for step in self.recipe.steps if _is_cuda(step))

    def directive_targets(self) -> frozenset[Target]:
        """Commands make no directives."""
        return frozenset()

    def uses_openmp(self) -> bool:
        """Commands make no pragmas."""
        return False


def _applied(command: Command, program: NumberedProgram) -> NumberedProgram:
    """The program after a command; the nests that `cuda` has mapped are still there.  Raises Refusal."""
    result = command.apply(program)
    if result is program:
        return program
    if program.simple is program.tree and not isinstance(command, (Registers, UnrollStatements)):
        result = replace(result, simple=result.tree)
    elif program.simple is not None and not isinstance(command, (Registers, UnrollStatements)):
        simple = command.apply(replace(program, tree=program.simple, simple=None))
        result = replace(result, simple=simple.tree)
    require_kept(result)
    if isinstance(command, FuseStatements):
        require_all_parallel(result)
    return result


def _is_cuda(step: RecipeStep) -> bool:
    return OTHER_NAMES.get(step.name, step.name) == "cuda"


def _entry(step: RecipeStep) -> CommandEntry | Diagnostic:
    entry = COMMANDS.get(OTHER_NAMES.get(step.name, step.name))
    if entry is not None:
        return entry
    near = did_you_mean(step.name, COMMANDS)
    return Diagnostic("ORIO-T100", f"there is no command `{step.name}`", step.position, help=near)


@dataclass(slots=True)
class _Checker:
    """Checks commands against the user's code.

    `fused` are the statements whose loops an earlier `fuse` may have joined and given other indices.
    """

    program: NumberedProgram
    known: frozenset[str]
    lists: Mapping[str, tuple[Value, ...]]
    fused: set[int] = field(default_factory=set[int])

    def problems(self, step: RecipeStep) -> Iterator[Diagnostic]:
        """What is wrong with one command."""
        entry = _entry(step)
        if isinstance(entry, Diagnostic):
            yield entry
            return
        arguments, problems = entry.bound(step)
        yield from problems
        # What a factor is does not matter for where the command applies.
        converted: dict[str, object] = {"factor": 1} if "factor" in arguments else {}
        for name, argument in arguments.items():
            undefined = list(_undefined(argument, self.known))
            yield from undefined
            try:
                converted.update({} if undefined else self._converted(entry, name, argument.expression))
            except Refusal as refusal:
                problems.extend(refusal.diagnostics)
                yield from _moved(refusal, step, arguments).diagnostics
            except DiagnosticError as error:
                problems.extend(error.diagnostics)
                yield from error.diagnostics
        if not problems and set(converted) == set(arguments):
            try:
                self._check_places(entry.build(**converted))
            except Refusal as refusal:
                yield from _moved(refusal, step, arguments).diagnostics

    def _converted(self, entry: CommandEntry, name: str, expression: Expr) -> Mapping[str, object]:
        """The argument as the command holds it, where that needs no more than the recipe's own lists.

        Each value of a list is tried, and the first one is the result.  Raises DiagnosticError.
        """
        names = sorted(names_in(expression))
        spec = entry.argument(name)
        if spec is None or not set(names) <= set(self.lists):
            return {}
        first = {name: self.lists[name][0] for name in names}
        points = [{**first, names[0]: value} for value in self.lists[names[0]]] if names else [first]
        values = [spec.convert(evaluate(expression, point), name) for point in points]
        return {name: values[0]}

    def _check_places(self, command: Command) -> None:
        """Whether the statements and loops exist in the user's code.  Raises Refusal."""
        for number in command.numbers:
            self.program.copies(number)
        if not self.fused & set(command.numbers):
            command.check(self.program)
        if isinstance(command, FuseStatements):
            # The first statement's indices remain; others in the second one's loops are renamed with it.
            self.fused.update({*range(len(self.program.places))} - {min(command.numbers)})


def _undefined(argument: Argument, known: frozenset[str]) -> Iterator[Diagnostic]:
    for name, place in name_positions(argument.expression):
        if name not in known:
            message = f"`{name}` is neither a list of the recipe nor a tuning or input parameter"
            yield Diagnostic("ORIO-T007", message, place or argument.position, help=did_you_mean(name, known))


def _moved(refusal: Refusal, step: RecipeStep, arguments: Mapping[str, Argument]) -> Refusal:
    """The refusal at the command or its argument; the place in the code becomes a note."""
    blame = refusal.argument or ""
    blamed = arguments.get(blame) or arguments.get(f"{blame}s")
    place = blamed.position if blamed is not None else step.position
    return Refusal(*(_noted(problem, place) for problem in refusal.diagnostics), argument=refusal.argument)


def _noted(problem: Diagnostic, place: Position) -> Diagnostic:
    notes = problem.notes
    if problem.position is not None and all(note.position != problem.position for note in notes):
        notes = (*notes, Note("for this code", problem.position))
    return replace(problem, position=place, notes=notes)
