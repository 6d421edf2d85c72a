"""Random numbers from chaotic maps, for evolutionary searches.

R. Caponetto, L. Fortuna, S. Fazzino and M. G. Xibilia, "Chaotic sequences to improve the performance of
evolutionary algorithms", IEEE Transactions on Evolutionary Computation 7(3), 2003.
"""

from __future__ import annotations

import math
import random

MAPS = ("none", "logistic", "tent")
"""The maps there are; `none` is the generator itself."""

_NUDGE = 1e-9
"""Added now and then: in floating point both maps would end in a fixed point or a short cycle."""


class ChaoticRandom(random.Random):
    """A generator whose numbers are the orbit of a map, made uniform; all other draws follow from them.

    The logistic map `x ← 4x(1 − x)` has the density `1 / (π √(x(1 − x)))`, which the arc sine undoes; the
    tent map `x ← 1 − |1 − 2x|` is uniform by itself.
    """

    def __init__(self, name: str, source: random.Random) -> None:
        """`source` gives the start of the orbit and keeps it from ending."""
        super().__init__(0)
        self._name = name
        self._source = source
        self._x = source.uniform(0.1, 0.9)

    def random(self) -> float:
        """The next number of `[0, 1)`."""
        x = self._x
        x = 4 * x * (1 - x) if self._name == "logistic" else 1 - abs(1 - 2 * x)
        x += _NUDGE * self._source.random()
        self._x = x = x if 0 < x < 1 else self._source.uniform(0.1, 0.9)
        uniform = 2 / math.pi * math.asin(math.sqrt(x)) if self._name == "logistic" else x
        return min(uniform, 1 - 2**-53)

    def getrandbits(self, k: int, /) -> int:
        """`k` bits, from as many numbers as that takes."""
        bits = 0
        for _ in range(-(-k // 16)):
            bits = bits << 16 | int(self.random() * 65536)
        return bits >> -k % 16


def generator(name: str, source: random.Random) -> random.Random:
    """The generator of a map's name."""
    return source if name == "none" else ChaoticRandom(name, source)
