"""Questions about random nests, drawn and answered: the verdict, and what happens at many sizes."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from brute_force import Jam, Parallelise, Reorder, Sizes, Vectorise, written_scalars
from brute_force_orders import Fuse, Independent, JamRanges, Permute, Reverse, Split, Tile
from random_nests import SCALARS, Features, Maker

from orio_py.ctree.dependence.legality import Illegal, Legal, Verdict

Question = (
    Reorder
    | Parallelise
    | Vectorise
    | Jam
    | Permute
    | Tile
    | JamRanges
    | Reverse
    | Fuse
    | Split
    | Independent
)

SMALL: tuple[Sizes, ...] = tuple(
    {"n": n, "m": m} for n, m in ((1, 3), (2, 2), (3, 2), (4, 5), (5, 4), (6, 6), (9, 8), (15, 7))
)
"""Sizes at which every nest is run."""

LARGE: tuple[Sizes, ...] = tuple(
    {"n": n, "m": m}
    for n, m in ((1, 1), (1, 9), (2, 7), (3, 13), (7, 1), (11, 2), (12, 12), (16, 3), (4, 17), (19, 18))
)
"""Further sizes, for what is refused and does no harm at the small ones."""

NEGATIVE: tuple[Sizes, ...] = tuple(
    {"n": n, "m": m} for n, m in ((-1, 4), (-2, 6), (-6, 9), (0, 5), (5, 0), (5, -1), (9, -4), (7, -9))
)
"""Sizes that are integers like others to the dependence test."""


@dataclass(frozen=True)
class Outcome:
    """What the dependence test says, and what happens: at small sizes, and at any size tried."""

    verdict: Verdict
    clashes: bool
    clashes_later: bool

    @property
    def is_legal(self) -> bool:
        return isinstance(self.verdict, Legal)

    @property
    def is_wrong(self) -> bool:
        return self.is_legal and self.clashes_later

    @property
    def is_structural(self) -> bool:
        """Whether a bound, not a dependence, is the reason of a refusal."""
        return not self.is_legal and "bounds of the loop" in str(self.verdict)

    @property
    def is_needless(self) -> bool:
        return not (self.is_legal or self.clashes or self.is_structural)

    @property
    def is_needless_at_any_size(self) -> bool:
        return not (self.is_legal or self.clashes_later or self.is_structural)


def judge(question: Question) -> Outcome:
    """Ask, and try."""
    verdict = question.verdict()
    clashes = any(question.clashes(sizes) for sizes in SMALL)
    later = clashes
    if not clashes and not isinstance(verdict, Legal):
        later = any(question.clashes(sizes) for sizes in (*_claimed(verdict), *LARGE, *NEGATIVE))
    return Outcome(verdict, clashes, later)


def _claimed(verdict: Verdict) -> list[Sizes]:
    """The sizes at which a refusal says that it is right, if they can be run."""
    sizes = dict(verdict.sizes) if isinstance(verdict, Illegal) else {}
    known = {name: sizes.get(name, 5) for name in "nm"}
    return [known] if sizes and all(abs(value) <= 80 for value in known.values()) else []


def draw_question(kind: str, features: Features, draw: random.Random) -> Question:
    """A random question of one of `KINDS`."""
    maker = Maker(draw, features)
    # What is only set to be used again is dead afterwards; other scalars are what a loop is for.
    live = frozenset(draw.choice(["", "", "s"]) if features.temporaries else SCALARS)
    depth = draw.choice([1, 2] if kind in {"vectorise", "fuse", "distribute"} else [2, 2, 3])
    match kind:
        case "reorder":
            return Reorder(maker.perfect(depth), depth, _other_order(depth, draw), live)
        case "permute bounds":
            return Permute(maker.perfect(depth), depth, _other_order(depth, draw), live)
        case "tile":
            return Tile(maker.perfect(depth), depth, live)
        case "vectorise":
            return Vectorise(maker.perfect(depth), depth)
        case "parallelise":
            nest = maker.imperfect()
            return Parallelise(nest, written_scalars(nest) if draw.random() < 0.8 else frozenset())
        case "independent":
            return Independent(maker.imperfect())
        case "reverse":
            return Reverse(maker.imperfect(), live)
        case "fuse" | "distribute":
            return _in_parts(kind, maker, depth, live)
        case "jam ranges":
            return JamRanges(maker.imperfect(), draw.choice([2, 3, 4]), live)
        case _:
            maker.features = replace(features, triangular=0.0, tiles=0.0)
            return Jam(maker.imperfect(), draw.choice([2, 3, 4]), live)


def _in_parts(kind: str, maker: Maker, depth: int, live: frozenset[str]) -> Question:
    """A nest whose body has several statements, to be fused from or distributed over loops."""
    while len((nest := maker.perfect(depth), body := nest.innermost.body)[1]) < 2:
        pass
    first = maker.random.randrange(1, len(body))
    if kind == "fuse":
        return Fuse(nest, depth, first, live)
    numbers = list(range(len(body)))
    maker.random.shuffle(numbers)
    return Split(nest, depth, (tuple(sorted(numbers[:first])), tuple(sorted(numbers[first:]))), live)


KINDS = (
    "reorder",
    "permute bounds",
    "tile",
    "parallelise",
    "vectorise",
    "independent",
    "jam",
    "jam ranges",
    "reverse",
    "fuse",
    "distribute",
)

CLASSES: Mapping[str, Features] = {
    "affine": Features(),
    "quotients": Features(quotients=0.15),
    "temporaries": Features(temporaries=0.4, scalars=0.05),
    "scalars": Features(scalars=0.3),
    "linearised": Features(linearised=0.7, proper=True),
    "tiles": Features(tiles=0.7, triangular=0.0),
    "any subscripts": Features(linearised=0.5, quotients=0.1, scalars=0.05),
}
"""Kinds of nests; all but those of `NOT_AFFINE` are affine, or linearised with columns that stay in their rows."""

NOT_AFFINE = frozenset({"tiles", "any subscripts"})
"""The kinds of nests of which more is refused than has to be."""


def _other_order(depth: int, draw: random.Random) -> tuple[int, ...]:
    order = list(range(depth))
    while order == sorted(order):
        draw.shuffle(order)
    return tuple(order)
