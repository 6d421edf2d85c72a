"""What the catalog says of a transformation: its name, its arguments, and how it is made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from orio_py.core.expr import Value
from orio_py.transformation.arguments import Converter, boolean
from orio_py.transformation.base import Transformation


@dataclass(frozen=True, slots=True)
class ArgumentSpec:
    """One argument: its name, what it may be in words, its meaning, and its default (None: required).

    `flagged` arguments are `(bool, …)`, or lists of such: what follows a False is not evaluated.
    """

    name: str
    kind: str
    meaning: str
    convert: Converter
    default: str | None = None
    flagged: bool = False


FORCE = ArgumentSpec(
    "force",
    "True or False",
    "apply it against the dependence test; noted in the output",
    boolean,
    default="False",
)
"""The argument that every transformation takes."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A transformation of the catalog: how it is made from arguments, and what those are.

    `takes_blocks` says that a marked block is given as it stands, else the statement that is alone in it.
    """

    name: str
    summary: str
    arguments: tuple[ArgumentSpec, ...]
    build: Callable[..., Transformation]
    takes_blocks: bool = False

    def argument(self, name: str) -> ArgumentSpec | None:
        """The argument of that name."""
        return next((a for a in self.arguments if a.name == name), None)

    def make(self, values: Mapping[str, Value]) -> Transformation:
        """The transformation with the given argument values.  Raises Refusal: ORIO-T010 to T016."""
        converted: dict[str, object] = {}
        for argument in self.arguments:
            if argument.name in values:
                converted[argument.name] = argument.convert(values[argument.name], argument.name)
        return self.build(**converted)
