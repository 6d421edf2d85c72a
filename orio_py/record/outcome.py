"""What came of a configuration, as those hear of it who choose the next ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from orio_py.record.measurement import Stage
from orio_py.record.trial import CounterValue
from orio_py.search_space.configuration import Configuration


@dataclass(frozen=True, slots=True)
class VariantFacts:
    """What is known of a variant beside its samples, to be stored with its trial."""

    counters: tuple[CounterValue, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    """Descriptions in words, such as of the device, by name."""
    features: Mapping[str, float] = field(default_factory=dict[str, float])
    """Static features, by name (`orio_py.features`)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one configuration: the values of the objectives, or the stage at which it failed."""

    configuration: Configuration
    objectives: tuple[float, ...] = ()
    """The value of each objective, less being better: seconds, or what the expression gives.  The first one
    ranks configurations; empty for a failure."""
    failure: Stage | None = None
    """Where it failed, None for a success."""
    counters: Mapping[str, float] = field(default_factory=dict[str, float])
    """All counters, per execution of the kernel, in the unit of each."""
    facts: VariantFacts = field(default_factory=VariantFacts)
    """What was known before it was measured, such as the registers that a kernel needs."""

    @property
    def objective(self) -> float | None:
        """What configurations are ranked by, None for a failure."""
        return self.objectives[0] if self.objectives else None

    @classmethod
    def of(
        cls, configuration: Configuration, objective: float | None, failure: Stage = Stage.NOT_RECORDED
    ) -> Outcome:
        """The outcome of which only the objective is known, or, where that is None, the failure."""
        return cls(configuration, failure=failure) if objective is None else cls(configuration, (objective,))
