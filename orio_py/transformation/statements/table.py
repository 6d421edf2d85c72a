"""The commands that a recipe by statement number can use, and how their arguments are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from orio_py.core.diagnostics import Diagnostic
from orio_py.core.expr import ListExpr, TupleExpr, Value
from orio_py.core.registry import Registry, did_you_mean
from orio_py.spec.recipe import Argument, RecipeStep
from orio_py.transformation.arguments import positive_int, text, wrong
from orio_py.transformation.base import refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec
from orio_py.transformation.statements.commands import Command, Permute, UnrollStatements
from orio_py.transformation.statements.cuda import Cuda
from orio_py.transformation.statements.groups import DistributeStatements, FuseStatements
from orio_py.transformation.statements.numbering import LoopPlace
from orio_py.transformation.statements.registers import Registers


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command: how it is written, its arguments in that order, and how it is made from them."""

    name: str
    form: str
    arguments: tuple[ArgumentSpec, ...]
    build: Callable[..., Command]

    def argument(self, name: str) -> ArgumentSpec | None:
        """The argument of that name."""
        return next((a for a in self.arguments if a.name == name), None)

    def make(self, values: Mapping[str, Value]) -> Command:
        """The command with the given argument values.  Raises Refusal: ORIO-T010, T011."""
        given = [spec for spec in self.arguments if spec.name in values]
        return self.build(**{spec.name: spec.convert(values[spec.name], spec.name) for spec in given})

    def bound(self, step: RecipeStep) -> tuple[dict[str, Argument], list[Diagnostic]]:
        """The arguments of a step by name, and what is wrong with their number and names: ORIO-T101."""
        positional = [argument for argument in step.arguments if not argument.name]
        if self.name == "fuse":
            positional = _as_set(positional)
        result: dict[str, Argument] = {}
        problems: list[Diagnostic] = []
        order = [spec.name for spec in self.arguments]
        for number, argument in enumerate(positional):
            if number == len(order) - (order[-1] == FORCE.name):
                message = f"`{self.name}` has too many arguments; it is written `{self.form}`"
                problems.append(Diagnostic("ORIO-T101", message, argument.position))
                break
            result[order[number]] = argument
        for argument in (a for a in step.arguments if a.name):
            if argument.name not in order:
                message = f"`{self.name}` has no argument `{argument.name}`; it is written `{self.form}`"
                near = did_you_mean(argument.name, order)
                problems.append(Diagnostic("ORIO-T101", message, argument.position, help=near))
            elif argument.name in result:
                message = f"the argument `{argument.name}` of `{self.name}` is given twice"
                problems.append(Diagnostic("ORIO-T101", message, argument.position))
            else:
                result[argument.name] = argument
        for spec in self.arguments:
            if spec.default is None and spec.name not in result and not problems:
                message = f"`{self.name}` needs the argument `{spec.name}`, {spec.kind}; it is written `{self.form}`"
                problems.append(Diagnostic("ORIO-T101", message, step.position))
        return result, problems


def _as_set(arguments: list[Argument]) -> list[Argument]:
    """`fuse(0, 1)` as `fuse({0, 1})`."""
    if not arguments or isinstance(arguments[0].expression, (TupleExpr, ListExpr)):
        return arguments
    place = arguments[0].position
    return [Argument("", TupleExpr(tuple(a.expression for a in arguments), place), place)]


def _statement(value: Value, name: str) -> int:
    """The number of a statement.  Raises Refusal: ORIO-T010."""
    if isinstance(value, bool) or not isinstance(value, int):
        wrong(name, "the number of a statement, from 0", value)
    return value


def _statements(value: Value, name: str) -> tuple[int, ...]:
    """Numbers of statements, each once.  Raises Refusal: ORIO-T010."""
    if not isinstance(value, (list, tuple)) or not value:
        wrong(name, "numbers of statements, such as {0, 1}", value)
    numbers = tuple(_statement(item, name) for item in value)
    if len(set(numbers)) < len(numbers):
        wrong(name, "different numbers of statements", value)
    return numbers


def _loop(value: Value, name: str) -> LoopPlace:
    """A loop by its index, or by its level from 1.  Raises Refusal: ORIO-T010, T011."""
    return positive_int(value, name) if isinstance(value, int) else text(value, name)


def _order(value: Value, name: str) -> tuple[str, ...]:
    """Loops by their indices.  Raises Refusal: ORIO-T010."""
    if not isinstance(value, (list, tuple)) or not value:
        wrong(name, 'the loops in their new order, such as ("k", "i", "j")', value)
    return tuple(text(item, name) for item in value)


def _launch(value: Value, name: str) -> tuple[str, ...]:
    """One to three loops of a launch shape.  Raises Refusal: ORIO-T010, T016."""
    if not isinstance(value, (list, tuple)) or not 1 <= len(value) <= 3:
        wrong(name, 'one to three loops, such as {"i", "j"}', value)
    loops = tuple(text(item, name) for item in value)
    for loop in loops:
        if loops.count(loop) > 1:
            refuse("ORIO-T016", f"the loop `{loop}` is named twice", None, argument=name)
    return loops


_STMT = ArgumentSpec("stmt", "the number of a statement", "the statement", _statement)
_STMTS = ArgumentSpec("stmts", "numbers of statements", "the statements", _statements)
_LOOP = ArgumentSpec("loop", "a loop by its index or level", "a loop around it", _loop)

_ENTRIES: tuple[CommandEntry, ...] = (
    CommandEntry(
        "permute",
        'permute(stmt, ("k", "i", …))',
        (_STMT, ArgumentSpec("order", "all loops around it", "outermost first", _order), FORCE),
        Permute,
    ),
    CommandEntry(
        "registers",
        'registers(stmt, "loop")',
        (
            _STMT,
            _LOOP,
            ArgumentSpec("array", "the name of an array", "the array that it assigns", text, default="any"),
            FORCE,
        ),
        Registers,
    ),
    CommandEntry(
        "unroll",
        'unroll(stmt, "loop", factor)',
        (_STMT, _LOOP, ArgumentSpec("factor", "an integer, at least 1", "copies", positive_int), FORCE),
        UnrollStatements,
    ),
    CommandEntry(
        "fuse",
        "fuse(stmt, stmt, …)",
        (
            _STMTS,
            ArgumentSpec("level", "a level, from 1", "fuse down to it", positive_int, default="all"),
            FORCE,
        ),
        FuseStatements,
    ),
    CommandEntry(
        "distribute",
        "distribute({stmt, …}, level)",
        (_STMTS, ArgumentSpec("level", "a level, from 1", "the loop to split", positive_int), FORCE),
        DistributeStatements,
    ),
    CommandEntry(
        "cuda",
        'cuda(stmt, block={"x", "y"}, thread={"x", "y"})',
        (
            _STMT,
            ArgumentSpec("block", "one to three loops", "loops over blocks", _launch),
            ArgumentSpec("thread", "one to three loops", "loops over threads", _launch),
            FORCE,
        ),
        Cuda,
    ),
)

COMMANDS: Registry[CommandEntry] = Registry("command", ((entry.name, entry) for entry in _ENTRIES))
"""Every command."""

OTHER_NAMES: Mapping[str, str] = {
    "permute_loops": "permute",
    "copy_to_registers": "registers",
    "cudaize": "cuda",
}
"""Older spellings of commands."""
