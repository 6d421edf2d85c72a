"""What a model of counters is: from the values of tuning parameters to what a kernel does.

Section 3.4 of the paper (see `orio_py.model.counters.table`).  A model knows the kernel that it was trained on, but
little of the device: work and resources depend on the code above all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from orio_py.core.expr import Value, show
from orio_py.model.counters.table import PREDICTED, generation_of, read_profile
from orio_py.record.device import DEVICE_NAME
from orio_py.record.measurement import Success
from orio_py.record.trial import Trial

Array: TypeAlias = "npt.NDArray[np.float64]"

UNKNOWN = -1.0
"""The number of a category that the model was not trained on."""


@dataclass(frozen=True, slots=True)
class ModelParameter:
    """A tuning parameter as a model reads it: numbers as they are, others by their place in `categories`."""

    name: str
    categories: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, values: Sequence[Value]) -> ModelParameter:
        """A parameter with some values: one of categories unless all of them are numbers."""
        if all(isinstance(value, bool | int | float) for value in values):
            return cls(name)
        return cls(name, tuple(sorted({show(value) for value in values})))

    def number(self, value: Value) -> float:
        """The number that stands for a value."""
        if not self.categories:
            return float(value) if isinstance(value, bool | int | float) else UNKNOWN
        text = show(value)
        return float(self.categories.index(text)) if text in self.categories else UNKNOWN


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """Where the counters of a model come from: the task, its device and input sizes, how many trials."""

    name: str = ""
    device: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Domain:
    """What goes into a model and what comes out of it: parameters, names of counters, and their origin."""

    parameters: tuple[ModelParameter, ...]
    counters: tuple[str, ...]
    trained_on: TrainedOn = field(default_factory=TrainedOn)

    def rows(self, configurations: Sequence[Mapping[str, Value]]) -> Array:
        """A row of numbers per configuration.  Raises KeyError for one that lacks a parameter."""
        found = [
            [p.number(configuration[p.name]) for p in self.parameters] for configuration in configurations
        ]
        return np.array(found, dtype=np.float64).reshape(len(configurations), len(self.parameters))


class CounterModel(Protocol):
    """Predicts counters."""

    @property
    def domain(self) -> Domain:
        """What it reads and gives."""
        ...

    def predict(self, rows: Array) -> Array:
        """The counters for rows of `Domain.rows`: a row each, a column per counter, none of them negative."""
        ...


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Configurations with their counters, as rows of numbers."""

    domain: Domain
    rows: Array
    counters: Array

    def part(self, places: Sequence[int] | npt.NDArray[np.intp]) -> TrainingSet:
        """Some of the rows."""
        return TrainingSet(self.domain, self.rows[places], self.counters[places])


def counted_work(counters: Mapping[str, float]) -> dict[str, float]:
    """What a model learns of a trial's counters: of GPU kernels work and resources, of others all counters."""
    if generation_of(counters) is None:
        return dict(counters)
    found = read_profile(counters)
    return {str(name): found[name] for name in PREDICTED if name in found}


def training_set(trials: Sequence[Trial]) -> TrainingSet | None:
    """The valid trials with counters; None where there are none.

    Only counters count that all of these trials have.
    """
    told = [trial for trial in trials if isinstance(trial.measurement, Success) and trial.counters]
    if not told:
        return None
    first = told[0]
    return training_set_of(
        [(trial.configuration, {c.name: c.value for c in trial.counters}) for trial in told],
        TrainedOn(
            first.name,
            first.metadata.get(DEVICE_NAME, ""),
            {name: show(value) for name, value in first.inputs.items()},
            len(told),
        ),
    )


def training_set_of(
    trials: Sequence[tuple[Mapping[str, Value], Mapping[str, float]]], trained_on: TrainedOn
) -> TrainingSet:
    """Some configurations, at least one, with their counters as they were told."""
    counted = [(configuration, counted_work(counters)) for configuration, counters in trials]
    names = [name for name in counted[0][1] if all(name in found for _, found in counted)]
    parameters = [name for name in counted[0][0] if all(name in values for values, _ in counted)]
    domain = Domain(
        tuple(ModelParameter.of(name, [values[name] for values, _ in counted]) for name in parameters),
        tuple(names),
        trained_on,
    )
    values = np.array([[found[name] for name in names] for _, found in counted], dtype=np.float64)
    values = values.reshape(len(counted), len(names))
    return TrainingSet(domain, domain.rows([configuration for configuration, _ in counted]), values)
