"""`VariantProblem`: why a variant could not be built or run.  `Spent`: what one run of it took."""

from __future__ import annotations

from dataclasses import dataclass


class VariantProblem(Exception):
    """Raised when a variant cannot be built or misbehaves: `keyword` and text of a line of its report.

    After one that `poisons` the process can run nothing more.
    """

    def __init__(self, keyword: str, text: str, *, poisons: bool = False) -> None:
        super().__init__(text)
        self.keyword, self.text, self.poisons = keyword, text, poisons


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of one run of the timed code: kernels, transfers, kernels by the host's clock, CPU time."""

    kernel: float = 0.0
    transfer: float = 0.0
    host: float = 0.0
    cpu: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.kernel + other.kernel,
            self.transfer + other.transfer,
            self.host + other.host,
            self.cpu + other.cpu,
        )
