"""A warp's trace as a tree of its loops: counted and written out without a look at each step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orio_py.emulation.lanes import Array
from orio_py.emulation.trace import Item, Repeat


@dataclass(frozen=True, slots=True, eq=False)
class LoopTree:
    """Steps that follow each other, and loops among them; as a loop, `times` repetitions of it that begin at `header`.

    A step is the place of its entry in the trace, plus `entries` (how many there are) where no thread of the warp executes it.
    `size` is the number of its steps and loops.
    """

    parts: tuple[Array | LoopTree, ...]
    entries: int
    header: int = 0
    times: int = 1
    size: int = 0

    @classmethod
    def of(cls, items: Sequence[Item], entries: int, header: int = 0, times: int = 1) -> LoopTree:
        """The tree of a trace."""
        parts: list[Array | LoopTree] = []
        steps: list[int] = []
        for item in items:
            if isinstance(item, Repeat):
                if steps:
                    parts.append(np.array(steps, np.int64))
                    steps = []
                parts.append(cls.of(item.body, entries, item.header, item.times))
            else:
                steps.append(item[1] if item[2] else item[1] + entries)
        if steps:
            parts.append(np.array(steps, np.int64))
        return cls(tuple(parts), entries, header, times, len(items))

    def loops(self) -> Iterator[LoopTree]:
        """All loops inside, outer ones before those in them."""
        for part in self.parts:
            if isinstance(part, LoopTree):
                yield part
                yield from part.loops()

    def _repeated(self, times: Mapping[int, int]) -> int:
        return min(self.times, times.get(self.header, self.times))

    def steps(self, times: Mapping[int, int]) -> Array:
        """All steps, one behind the other; a loop that begins at an instruction in `times` has no more repetitions than that."""
        found = [
            part if not isinstance(part, LoopTree) else np.tile(part.steps(times), part._repeated(times))
            for part in self.parts
        ]
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def repetitions(self, times: Mapping[int, int]) -> dict[int, float]:
        """How often the body of each loop is executed in all, when loops have no more repetitions than `times` says."""
        found: dict[int, float] = {}
        self._repetitions(times, 1.0, found)
        return found

    def _repetitions(self, times: Mapping[int, int], entries: float, found: dict[int, float]) -> None:
        for part in self.parts:
            if isinstance(part, LoopTree):
                count = part._repeated(times) * entries
                found[part.header] = found.get(part.header, 0.0) + count
                part._repetitions(times, count, found)

    def counts(self, times: Mapping[int, int], *, executed: bool = False) -> Mapping[int, float]:
        """How often a warp comes to each entry, with the repetitions of `times`; with `executed`, where a thread executes it."""
        total = np.zeros(2 * self.entries)
        there = np.zeros(2 * self.entries, np.bool_)
        self._count(times, 1.0, total, there)
        if executed:
            total, there = total[: self.entries], there[: self.entries]
        else:
            total = total[: self.entries] + total[self.entries :]
            there = there[: self.entries] | there[self.entries :]
        places = np.nonzero(there)[0]
        return dict(zip(places.tolist(), total[places].tolist(), strict=True))

    def _count(self, times: Mapping[int, int], entries: float, total: Array, there: Array) -> None:
        for part in self.parts:
            if isinstance(part, LoopTree):
                part._count(times, part._repeated(times) * entries, total, there)
            else:
                np.add.at(total, part, entries)
                there[part] = True
