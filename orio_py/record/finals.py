"""What the finals of a tuning run measured: the original and the best few, round by round."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from orio_py.record.measurement import Failure, Sample
from orio_py.search_space.configuration import Configuration


@dataclass(frozen=True, slots=True)
class FinalEntry:
    """The original or a variant in the finals.

    `rounds` holds the samples of each round that it took part in, `values` the value of the objective in each
    (time: seconds).  An original has the configuration whose compiler options it was built with; `flags` are
    these options where they differ from the build command's.  `failed` says why it left the finals.
    """

    is_original: bool
    configuration: Configuration
    rounds: tuple[tuple[Sample, ...], ...]
    values: tuple[float, ...]
    flags: str | None = None
    failed: Failure | None = None

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The samples of all rounds."""
        return tuple(chain.from_iterable(self.rounds))
