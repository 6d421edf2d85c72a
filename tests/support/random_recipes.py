"""Random recipes: a transformation, or a few of them nested, with arguments that fit the code.

Each recipe is the text that a user would write.  Most arguments name loops and arrays that are there, so
that a good share of the recipes is not refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from random_code import Code, Loop, nests
from random_code_choices import Choices
from random_composites import composite
from random_recipe_parts import Maker, Place, factor, references, size, used_in


def unroll(choices: Choices, place: Place) -> str:
    """Arguments of Unroll."""
    return f"ufactor={factor(choices)}" + (", parallelize=True" if choices.chance(12) else "")


def unroll_and_jam(choices: Choices, place: Place) -> str:
    """Arguments of UnrollJam."""
    return f"ufactor={factor(choices)}" + (", parallelize=True" if choices.chance(5) else "")


def register_tile(choices: Choices, place: Place) -> str:
    """Arguments of RegTile."""
    names = choices.some(place.below, 75) or place.below[:1]
    return f"loops={list(names)}, ufactors={[factor(choices) for _ in names]}"


def tile(choices: Choices, place: Place) -> str:
    """Arguments of Tile: one loop, or a band of adjacent ones."""
    if len(place.nest) > 1 and choices.chance(40):
        count = choices.integer(2, len(place.nest))
        loops = place.nest[:count]
        sizes = [size(choices, loop) for loop in loops]
        return f"tsize={sizes}, tindex={[loop.index * 2 for loop in loops]}, loops={[loop.index for loop in loops]}"
    index = place.indices[0] if place.indices else "i"
    return f"tsize={size(choices, place.loop)}, tindex='{_new_index(choices, index)}'"


def strip_mine(choices: Choices, place: Place) -> str:
    """Arguments of StripMine."""
    index = place.indices[0] if place.indices else "i"
    return f"tsize={size(choices, place.loop)}, tindex='{_new_index(choices, index)}'"


def _new_index(choices: Choices, index: str) -> str:
    return choices.weighted((5, index * 2), (3, f"{index}t"), (3, f"{index}_block"), (1, index * 3))


def permut(choices: Choices, place: Place) -> str:
    """Arguments of Permut."""
    names = list(reversed(place.indices)) if choices.chance(50) else choices.shuffled(place.indices)
    if len(names) > 1 and choices.chance(10):
        names.pop()
    return "seq=[" + ", ".join(f"['{n}']" if choices.chance(8) else f"'{n}'" for n in names or ["i"]) + "]"


def pragma(choices: Choices, place: Place) -> str:
    """Arguments of Pragma: texts that promise nothing."""
    text = choices.pick(["GCC unroll 4", "", "vector always", "nounroll"])
    return f"pragma_str={choices.pick([repr(text), repr([text])])}"


def interchange(choices: Choices, place: Place) -> str:
    """Arguments of Interchange."""
    first, second = list(dict.fromkeys([*choices.shuffled(place.indices), "i", "j"]))[:2]
    return f"first='{first}', second='{second}'"


def fuse(choices: Choices, place: Place) -> str:
    """Arguments of Fuse."""
    items: list[str] = []
    if choices.chance(25):
        items.append(f"loops={place.below[:1]}")
    if choices.chance(40):
        shallow = min(len(chain) for chain in nests(place.code))
        items.append(f"depth={choices.integer(1, 3) if choices.chance(15) else min(shallow, 2)}")
    return ", ".join(items)


def distribute(choices: Choices, place: Place) -> str:
    """Arguments of Distribute."""
    items: list[str] = []
    if choices.chance(30):
        items.append(f"groups={_groups(choices, place)}")
    if len(place.below) > 1 and choices.chance(25):
        items.append(f"loop='{choices.pick(place.below)}'")
    if choices.chance(50):
        items.append(f"strip={choices.pick([3, 1, 2, 8, 0])}")
    return ", ".join(items)


def _groups(choices: Choices, place: Place) -> list[list[int]]:
    """The statements of the innermost body in two groups; or some that may not be there."""
    body = place.nest[-1].body if place.nest else ()
    count = sum(not (isinstance(item, str) and item.startswith("/*")) for item in body)
    if count < 2 or choices.chance(15):
        return choices.pick([[[0], [1]], [[1], [0]], [[0, 1]], [[0, 2], [1]], [[0], [1, 2]]])
    cut = choices.integer(1, count - 1)
    groups = [list(range(cut)), list(range(cut, count))]
    return groups[::-1] if choices.chance(25) else groups


def reverse(choices: Choices, place: Place) -> str:
    """Arguments of Reverse."""
    return f"loop='{choices.pick(place.below)}'" if place.below and choices.chance(40) else ""


def coalesce(choices: Choices, place: Place) -> str:
    """Arguments of Coalesce."""
    loop = f", loop='{choices.pick(place.below)}'" if place.below and choices.chance(25) else ""
    return f"index='{choices.pick(['number', 'co', 'i'])}'{loop}"


def peel(choices: Choices, place: Place) -> str:
    """Arguments of Peel."""
    return choices.pick(["first=1", "last=1", "first=2, last=1", "last=3", "first=1, last=2", "first=3"])


def skew(choices: Choices, place: Place) -> str:
    """Arguments of Skew."""
    names = place.indices if len(place.indices) > 1 else [*place.below, "i", "j"][:2]
    inner = choices.integer(1, len(names) - 1)
    by = names[choices.integer(0, inner - 1)]
    factor = choices.weighted((6, ""), (2, ", factor=2"), (2, ", factor=-1"))
    return f"loop='{names[inner]}', by='{by}'{factor}"


def _named_loop(choices: Choices, place: Place) -> list[str]:
    return [f"loop='{choices.pick(place.below)}'"] if place.below and choices.chance(35) else []


def parallelize(choices: Choices, place: Place) -> str:
    """Arguments of Parallelize."""
    items = _named_loop(choices, place)
    if choices.chance(30):
        items.append("schedule='" + choices.pick(["static", "dynamic, 2", "guided", "auto"]) + "'")
    if choices.chance(15) and len(place.nest) > 1:
        items.append("collapse=2")
    if choices.chance(10):
        items.append("num_threads=2")
    return ", ".join(items)


def vectorize(choices: Choices, place: Place) -> str:
    """Arguments of Vectorize; `aligned` is a promise that the arrays here do not keep."""
    return ", ".join(_named_loop(choices, place) + (["simdlen=4"] if choices.chance(15) else []))


def specialize(choices: Choices, place: Place) -> str:
    """Arguments of Specialize."""
    if choices.chance(30):
        names = [array.name for array in place.code.arrays]
        return f"aligned={list(choices.some(names, 60) or names[:1])}, alignment={choices.pick([16, 32, 64])}"
    found = used_in(place, ["n", "m", "s"]) if choices.chance(80) else []
    return f"on='{choices.pick(found or ['n', 'm', 's'])}', values={choices.pick(['[5]', '[1, 7]', '9', '[0, 13, 2]'])}"


def restrict(choices: Choices, place: Place) -> str:
    """Arguments of Restrict."""
    names = [array.name for array in place.code.arrays]
    if choices.chance(85):
        names = used_in(place, names) or names
    return f"arrays={list(choices.some(names, 60) or names[:1])}"


def unroll_reduction(choices: Choices, place: Place) -> str:
    """Arguments of UnrollReduction."""
    return f"ufactor={factor(choices)}"


def scalar_replace(choices: Choices, place: Place) -> str:
    """Arguments of ScalarReplace."""
    return "prefix='t_'" if choices.chance(20) else ""


def bound_replace(choices: Choices, place: Place) -> str:
    """Arguments of BoundReplace."""
    return "lprefix='from_', uprefix='to_'" if choices.chance(20) else ""


def array_copy(choices: Choices, place: Place) -> str:
    """Arguments of ArrCopy: most often a tile that an element of the code lies in."""
    found = references(place)
    if choices.chance(90):
        bare = [_OFFSET.sub("]", each) for each in found]
        found = [each for each in bare if _is_tile(each, place.below)] or found
    reference = choices.pick(found)
    sizes = [choices.weighted((10, 40), (5, 16), (1, 8), (1, 4), (1, 1)) for _ in range(reference.count("["))]
    return f"aref='{reference}', dimsizes={sizes}"


_OFFSET = re.compile(r" [+-] \d+\]")


def _is_tile(reference: str, indices: Sequence[str]) -> bool:
    """Whether all subscripts are different indices."""
    subscripts = re.findall(r"\[([^]]*)\]", reference)
    return set(subscripts) <= set(indices) and len(set(subscripts)) == len(subscripts)


def prefetch(choices: Choices, place: Place) -> str:
    """Arguments of Prefetch."""
    write = ", write=True" if choices.chance(20) else ""
    found = references(place)
    if choices.chance(80):
        found = [each for each in found if re.search(rf"\b{place.below[-1]}\b", each)] or found
    return f"aref='{choices.pick(found)}', distance={choices.pick([8, 4, 16])}{write}"


MAKERS: dict[str, Maker] = {
    "Unroll": unroll,
    "UnrollJam": unroll_and_jam,
    "RegTile": register_tile,
    "Tile": tile,
    "StripMine": strip_mine,
    "Permut": permut,
    "Interchange": interchange,
    "Fuse": fuse,
    "Distribute": distribute,
    "Reverse": reverse,
    "Coalesce": coalesce,
    "Peel": peel,
    "Skew": skew,
    "Parallelize": parallelize,
    "Vectorize": vectorize,
    "Specialize": specialize,
    "Restrict": restrict,
    "UnrollReduction": unroll_reduction,
    "ScalarReplace": scalar_replace,
    "BoundReplace": bound_replace,
    "ArrCopy": array_copy,
    "Prefetch": prefetch,
    "Pragma": pragma,
    "Composite": composite,
}
"""How the arguments of each transformation are drawn."""

ON_BLOCKS = frozenset(
    ["Composite", "Fuse", "Permut", "Interchange", "Distribute", "ScalarReplace", "BoundReplace"]
)
"""Transformations that take several statements at once."""

ON_NESTS = frozenset(["Permut", "Interchange", "Coalesce", "Skew", "RegTile", "UnrollJam"])
"""Transformations that need more than one loop."""


def _weight(name: str, place: Place) -> int:
    """How often a transformation is drawn for a place: more often where it has a chance."""
    weight = {"Pragma": 6, "Composite": 60}.get(name, 30)
    if place.loop is None:
        return 3 * weight if name == "Fuse" else weight if name in ON_BLOCKS else 1
    if name in ON_NESTS and len(place.nest) < 2:
        return 2
    if name == "Fuse" and sum(isinstance(item, Loop) for item in place.loop.body) < 2:
        return 2
    if name == "UnrollReduction" and any(isinstance(item, Loop) for item in place.loop.body):
        return 2
    if name == "Distribute" and len(place.nest[-1].body) < 2:
        return 4
    return weight


@dataclass(frozen=True, slots=True)
class Recipe:
    """Transform lines before the loops of these numbers, or before the whole region (-1)."""

    before: dict[int, str]
    names: tuple[str, ...]


def one(choices: Choices, place: Place, known: Sequence[str]) -> tuple[str, str]:
    """The name of a transformation, and its `transform` line."""
    name = choices.weighted(*((_weight(name, place), name) for name in known))
    return name, f"transform {name}({MAKERS[name](choices, place)})"


def _places(code: Code, name: str) -> list[tuple[int, tuple[int, Place]]]:
    """The places of a region, weighted by the chances of one transformation there."""
    found = [
        (chain[depth].number, Place(code, chain[depth], tuple(chain[depth:])))
        for chain in nests(code)
        for depth in range(len(chain))
    ]
    if len(code.items) > 1:
        found.append((-1, Place(code, None, ())))
    return [(_weight(name, place), (number, place)) for number, place in found]


def random_recipe(choices: Choices, code: Code, known: Sequence[str]) -> Recipe:
    """One to four transformations for the region; most of them on outermost loops."""
    chains = nests(code)
    # The same transformation once more is often refused.
    several = (92, 1), (8, 2)
    count = choices.weighted(*(several if len(known) == 1 else ((55, 1), (25, 2), (12, 3), (8, 4))))
    lines: dict[int, list[str]] = {}
    names: list[str] = []
    whole = len(code.items) > 1 and choices.chance(40)
    for _ in range(count):
        if whole and len(known) > 1 and choices.chance(70):
            number, place = -1, Place(code, None, ())
        elif len(known) == 1:
            number, place = choices.weighted(*_places(code, known[0]))
        else:
            chain = choices.pick(chains)
            depth = choices.weighted((70, 0), (15, 1), (15, 2)) % len(chain)
            number, place = chain[depth].number, Place(code, chain[depth], tuple(chain[depth:]))
        name, line = one(choices, place, known)
        names.append(name)
        lines.setdefault(number, []).append(line)
    return Recipe({number: "\n".join(texts) for number, texts in lines.items()}, tuple(names))
