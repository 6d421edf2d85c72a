"""Random recipes: a transformation, or a few of them nested, with arguments that fit the code.

Each recipe is the text that a user would write.  Most arguments name loops and arrays that are there, so
that a good share of the recipes is not refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from random_code import Code, Loop, nests, plain, render
from random_code_choices import Choices

VECTOR = ("ivdep", "GCC ivdep", "omp simd", "vector always")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a recipe works: the loops of the statement, outermost first, and the whole region.

    `loop` is None where the statement is the whole region and that is more than one loop.
    """

    code: Code
    loop: Loop | None
    nest: tuple[Loop, ...]

    @property
    def indices(self) -> list[str]:
        """The indices of the perfect nest."""
        return [loop.index for loop in self.nest]

    @property
    def below(self) -> list[str]:
        """The indices of all loops of the statement, without repetition."""
        found = [loop.index for loop in self.code.loops] if self.loop is None else _indices(self.loop)
        return list(dict.fromkeys(found))


def _indices(loop: Loop) -> list[str]:
    found = [loop.index]
    for item in loop.body:
        if isinstance(item, Loop):
            found.extend(_indices(item))
    return found


Maker = Callable[[Choices, Place], str]


def _factor(choices: Choices) -> int:
    return choices.weighted((40, 2), (25, 3), (20, 4), (5, 1), (5, 5), (5, 8))


def _size(choices: Choices, loop: Loop | None) -> int:
    stride = loop.stride if loop is not None else 1
    size = choices.weighted((30, 4), (20, 2), (15, 8), (10, 3), (10, 16), (5, 1), (5, 6), (5, 32))
    return size if size == 1 or choices.chance(5) else -(-size // stride) * stride


def _stride_of(place: Place, index: str) -> Loop | None:
    return next((loop for loop in place.code.loops if loop.index == index), None)


def unroll(choices: Choices, place: Place) -> str:
    """Arguments of Unroll."""
    return f"ufactor={_factor(choices)}" + (", parallelize=True" if choices.chance(12) else "")


def unroll_and_jam(choices: Choices, place: Place) -> str:
    """Arguments of UnrollJam."""
    return f"ufactor={_factor(choices)}" + (", parallelize=True" if choices.chance(5) else "")


def register_tile(choices: Choices, place: Place) -> str:
    """Arguments of RegTile."""
    names = choices.some(place.below, 75) or place.below[:1]
    return f"loops={list(names)}, ufactors={[_factor(choices) for _ in names]}"


def tile(choices: Choices, place: Place) -> str:
    """Arguments of Tile: one loop, or a band of adjacent ones."""
    if len(place.nest) > 1 and choices.chance(40):
        count = choices.integer(2, len(place.nest))
        loops = place.nest[:count]
        sizes = [_size(choices, loop) for loop in loops]
        return f"tsize={sizes}, tindex={[loop.index * 2 for loop in loops]}, loops={[loop.index for loop in loops]}"
    index = place.indices[0] if place.indices else "i"
    return f"tsize={_size(choices, place.loop)}, tindex='{_new_index(choices, index)}'"


def strip_mine(choices: Choices, place: Place) -> str:
    """Arguments of StripMine."""
    index = place.indices[0] if place.indices else "i"
    return f"tsize={_size(choices, place.loop)}, tindex='{_new_index(choices, index)}'"


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


def _order(choices: Choices, names: Sequence[str]) -> list[str]:
    return choices.shuffled(names)


def composite(choices: Choices, place: Place) -> str:
    """Random keys of Composite."""
    below = place.below or ["i"]
    keys: list[str] = []
    tiled = choices.some(below, 45)
    if tiled:
        entries = [f"('{n}', {_size(choices, _stride_of(place, n))}, '{n}{n}')" for n in tiled]
        if choices.chance(20):
            entries.append(f"(['{tiled[0] * 2}', '{tiled[0]}'], 16, '{tiled[0] * 3}')")
        keys.append(f"tile=[{', '.join(entries)}]")
    if choices.chance(45):
        names = _order(choices, [*(n * 2 for n in tiled), *below])
        if tiled and choices.chance(60):
            names = [*(n * 2 for n in tiled), *below]
        keys.append("permut=[[" + ", ".join(f"['{n}']" for n in names) + "]]")
    if choices.chance(50):
        chosen = choices.some(below, 60)
        keys.append(f"unrolljam=({list(chosen)}, {[_factor(choices) for _ in chosen]})")
    if choices.chance(12):
        keys.append(f"pragma=[('{choices.pick(below)}', '{choices.pick(['GCC unroll 2', 'nounroll'])}')]")
    if choices.chance(12):
        keys.append("openmp=(True, 'omp parallel for')")
    if choices.chance(20):
        keys.append(f"vector=(True, ['{choices.pick(VECTOR)}'])")
    if choices.chance(40):
        keys.extend(choices.pick([_reordering_key, _storage_key, _parallel_key])(choices, place, below))
    if not keys:
        keys.append(f"unrolljam=(['{below[-1]}'], [{_factor(choices)}])")
    return ", ".join(choices.shuffled(keys))


def _reordering_key(choices: Choices, place: Place, below: Sequence[str]) -> list[str]:
    x, y = list(dict.fromkeys([*below, "j", "i"]))[:2]
    return [
        choices.pick(
            [
                f"peel=[('{choices.pick(below)}', {choices.integer(0, 2)}, {choices.integer(0, 2)})]",
                f"distribute=['{choices.pick(below)}']",
                f"fuse=[['{x}']]",
                f"reverse=['{choices.pick(below)}']",
                f"skew=[('{y}', '{x}', 1)]",
                f"interchange=[('{x}', '{y}')]",
                f"stripmine=[('{x}', {_size(choices, _stride_of(place, x))}, '{x}_strip')]",
                f"unrollreduction=(['{below[-1]}'], [{_factor(choices)}])",
                f"regtile=({list(below[:2])}, {[_factor(choices) for _ in below[:2]]})",
            ]
        )
    ]


def _storage_key(choices: Choices, place: Place, below: Sequence[str]) -> list[str]:
    reference = choices.pick(references(place))
    sizes = [choices.pick([8, 16, 40]) for _ in range(reference.count("["))]
    return choices.pick(
        [
            ["scalarreplace=True"],
            ["boundreplace=True"],
            ["scalarreplace=(True, 'double', 's_')", "boundreplace=(True, 'lo_', 'up_')"],
            [f"arrcopy=[(True, '{reference}', {sizes})]"],
            [f"prefetch=[(True, '{reference}', 8)]"],
        ]
    )


def _parallel_key(choices: Choices, place: Place, below: Sequence[str]) -> list[str]:
    names = [array.name for array in place.code.arrays]
    return choices.pick(
        [
            ["vectorize=True"],
            ["parallelize=(True, 'static')"],
            ["parallelize=True", "vectorize=True"],
            [f"restrict=(True, {list(choices.some(names, 60) or names[:1])})"],
            [f"specialize=[('{choices.pick(['n', 'm'])}', [1, 7], [], 64)]"],
        ]
    )


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
        items.append(f"depth={choices.integer(1, 3)}")
    return ", ".join(items)


def distribute(choices: Choices, place: Place) -> str:
    """Arguments of Distribute."""
    items: list[str] = []
    if choices.chance(30):
        items.append(
            "groups="
            + choices.pick(["[[0], [1]]", "[[1], [0]]", "[[0, 1]]", "[[0, 2], [1]]", "[[0], [1, 2]]"])
        )
    if len(place.below) > 1 and choices.chance(40):
        items.append(f"loop='{choices.pick(place.below)}'")
    return ", ".join(items)


def reverse(choices: Choices, place: Place) -> str:
    """Arguments of Reverse."""
    return f"loop='{choices.pick(place.below)}'" if place.below and choices.chance(40) else ""


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
    return (
        f"on='{choices.pick(['n', 'm', 's'])}', values={choices.pick(['[5]', '[1, 7]', '9', '[0, 13, 2]'])}"
    )


def restrict(choices: Choices, place: Place) -> str:
    """Arguments of Restrict."""
    names = [array.name for array in place.code.arrays]
    return f"arrays={list(choices.some(names, 60) or names[:1])}"


def unroll_reduction(choices: Choices, place: Place) -> str:
    """Arguments of UnrollReduction."""
    return f"ufactor={_factor(choices)}"


def scalar_replace(choices: Choices, place: Place) -> str:
    """Arguments of ScalarReplace."""
    return "prefix='t_'" if choices.chance(20) else ""


def bound_replace(choices: Choices, place: Place) -> str:
    """Arguments of BoundReplace."""
    return "lprefix='from_', uprefix='to_'" if choices.chance(20) else ""


def references(place: Place) -> list[str]:
    """The array elements that the loop names, as a recipe writes them."""
    text = plain(render(place.code.items if place.loop is None else (place.loop,)))
    arrays = "|".join(array.name for array in place.code.arrays)
    found = re.findall(rf"\b(?:{arrays})(?:\[[^][]*\])+", text)
    return list(dict.fromkeys(found)) or ["a[i]"]


def array_copy(choices: Choices, place: Place) -> str:
    """Arguments of ArrCopy."""
    reference = choices.pick(references(place))
    sizes = [choices.pick([8, 4, 16, 40, 1]) for _ in range(reference.count("["))]
    return f"aref='{reference}', dimsizes={sizes}"


def prefetch(choices: Choices, place: Place) -> str:
    """Arguments of Prefetch."""
    write = ", write=True" if choices.chance(20) else ""
    return f"aref='{choices.pick(references(place))}', distance={choices.pick([8, 4, 16])}{write}"


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

ON_NESTS = frozenset(["Permut", "Interchange", "Skew", "RegTile", "UnrollJam"])
"""Transformations that need more than one loop."""


def _weight(name: str, place: Place) -> int:
    """How often a transformation is drawn for a place: more often where it has a chance."""
    weight = {"Pragma": 6, "Composite": 60}.get(name, 30)
    if place.loop is None:
        return 3 * weight if name == "Fuse" else weight if name in ON_BLOCKS else 1
    if name in ON_NESTS and len(place.nest) < 2:
        return 2
    if name == "Fuse" and not any(isinstance(item, Loop) for item in place.loop.body):
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


def random_recipe(choices: Choices, code: Code, known: Sequence[str]) -> Recipe:
    """One to four transformations for the region; most of them on outermost loops."""
    chains = nests(code)
    count = choices.weighted((55, 1), (25, 2), (12, 3), (8, 4))
    lines: dict[int, list[str]] = {}
    names: list[str] = []
    whole = len(code.items) > 1 and choices.chance(40)
    for _ in range(count):
        if whole and choices.chance(70):
            number, place = -1, Place(code, None, ())
        else:
            chain = choices.pick(chains)
            depth = choices.weighted((70, 0), (15, 1), (15, 2)) % len(chain)
            number, place = chain[depth].number, Place(code, chain[depth], tuple(chain[depth:]))
        name, line = one(choices, place, known)
        names.append(name)
        lines.setdefault(number, []).append(line)
    return Recipe({number: "\n".join(texts) for number, texts in lines.items()}, tuple(names))
