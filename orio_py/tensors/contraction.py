"""Contractions of dense tensors as values.

    t3(h3,h2,h1,p6,p5,p4) -= t2(h7,p4,p5,h1) * v2(h3,h2,p6,h7)

An index that stands on the right alone is summed; all others are free.
Source: A. Rivera, "Using autotuning for accelerating tensor contraction on graphics processing units (GPUs)",
thesis, University of Utah, 2014, chapter 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import prod

from orio_py.core.source import Position


class TensorLayout(StrEnum):
    """Which index of a tensor has unit stride: the last one (rows) or the first one (columns)."""

    ROW = "row"
    COLUMN = "column"


class SubscriptForm(StrEnum):
    """How subscripts are written: one for all indices, or one for each."""

    LINEARIZED = "linearized"
    MULTIDIMENSIONAL = "multidimensional"


class Pattern(StrEnum):
    """The order of the loops: as the output's indices are listed, or the other way round."""

    CONTIGUOUS = "contiguous"
    STRIDED = "strided"


@dataclass(frozen=True, slots=True)
class Tensor:
    """A dense array; `is_temporary` for one that only later statements of its program read."""

    name: str
    extents: tuple[int, ...]
    layout: TensorLayout = TensorLayout.ROW
    is_temporary: bool = False

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.extents)

    @property
    def fastest_first(self) -> tuple[int, ...]:
        """The dimensions from the one with unit stride to the slowest."""
        dimensions = tuple(range(len(self.extents)))
        return dimensions if self.layout is TensorLayout.COLUMN else dimensions[::-1]


@dataclass(frozen=True, slots=True)
class TensorReference:
    """A tensor with an index for each dimension, as written."""

    tensor: Tensor
    indices: tuple[str, ...]

    @property
    def fastest_first(self) -> tuple[str, ...]:
        """The indices from the one with unit stride to the slowest."""
        return tuple(self.indices[dimension] for dimension in self.tensor.fastest_first)

    def strides(self) -> Mapping[str, int]:
        """By how many elements each index moves; one that stands twice (a diagonal) moves by the sum."""
        result: dict[str, int] = {}
        step = 1
        for dimension in self.tensor.fastest_first:
            index = self.indices[dimension]
            result[index] = result.get(index, 0) + step
            step *= self.tensor.extents[dimension]
        return result

    def pairs(self) -> Iterator[tuple[str, int]]:
        """Each index with its extent."""
        return zip(self.indices, self.tensor.extents, strict=True)

    def __str__(self) -> str:
        return f"{self.tensor.name}({','.join(self.indices)})"


@dataclass(frozen=True, slots=True)
class Contraction:
    """A statement `output operator factor * operands`; `operator` is one of `=`, `+=`, `-=`."""

    output: TensorReference
    operator: str
    operands: tuple[TensorReference, ...]
    factor: str = ""
    """A number in the words of C; empty for 1."""
    position: Position | None = None

    @property
    def extents(self) -> Mapping[str, int]:
        """The extent of each index: those of the output, then the summed ones in the order of the text."""
        return {index: extent for part in (self.output, *self.operands) for index, extent in part.pairs()}

    @property
    def free(self) -> tuple[str, ...]:
        """The indices of the output: their loops carry no dependence (section 3.1.1)."""
        return self.output.indices

    @property
    def contracted(self) -> tuple[str, ...]:
        """The indices that are summed: their loops carry the dependence on the sum (section 3.1.1)."""
        return tuple(index for index in self.extents if index not in self.free)

    def loops(self, pattern: Pattern) -> tuple[str, ...]:
        """All indices as loops, outermost first: the summed ones are innermost."""
        free = self.free if pattern is Pattern.CONTIGUOUS else self.free[::-1]
        return (*free, *self.contracted)

    @property
    def operations(self) -> int:
        """Multiplications and additions; a product and the sum that takes it count two."""
        inner = max(1, len(self.operands) - 1 + bool(self.factor)) + bool(
            self.operator != "=" or self.contracted
        )
        return prod(self.extents.values()) * inner

    def __str__(self) -> str:
        product = " * ".join([*([self.factor] if self.factor else []), *map(str, self.operands)])
        return f"{self.output} {self.operator} {product}"


@dataclass(frozen=True, slots=True)
class TensorProgram:
    """A function: statements on tensors, which are its parameters unless they are temporary."""

    name: str
    tensors: tuple[Tensor, ...]
    """In the order of their declaration."""
    contractions: tuple[Contraction, ...]
    access: SubscriptForm = SubscriptForm.LINEARIZED
    pattern: Pattern = Pattern.CONTIGUOUS
    type: str = "double"
    signature: tuple[str, ...] = ()
    """The names of the parameters in order; empty for outputs, then inputs, each as declared."""

    @property
    def parameters(self) -> tuple[Tensor, ...]:
        """The tensors that the caller passes, in order."""
        given = [tensor for tensor in self.tensors if not tensor.is_temporary]
        if self.signature:
            return tuple(sorted(given, key=lambda tensor: self.signature.index(tensor.name)))
        written = {statement.output.tensor.name for statement in self.contractions}
        return tuple(sorted(given, key=lambda tensor: tensor.name not in written))

    @property
    def settings(self) -> str:
        """The options that hold, whether given or not, in the words of the language."""
        given = [tensor for tensor in self.tensors if not tensor.is_temporary]
        memory = given[0].layout if given else TensorLayout.ROW
        others = [f" ({t.name}: {t.layout})" for t in given if t.layout is not memory]
        return f"access: {self.access}, memory: {memory}{''.join(others)}, pattern: {self.pattern}, type: {self.type}"

    @property
    def operations(self) -> int:
        """Multiplications and additions of all statements."""
        return sum(statement.operations for statement in self.contractions)
