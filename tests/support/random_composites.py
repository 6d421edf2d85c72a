"""Random arguments of Composite."""

from __future__ import annotations

from collections.abc import Sequence

from random_code_choices import Choices
from random_recipe_parts import Place, factor, loop_over, references, size

VECTOR = ("ivdep", "GCC ivdep", "omp simd", "vector always")


def _order(choices: Choices, names: Sequence[str]) -> list[str]:
    return choices.shuffled(names)


def composite(choices: Choices, place: Place) -> str:
    """Random keys of Composite."""
    below = place.below or ["i"]
    keys: list[str] = []
    tiled = choices.some(below, 45)
    if tiled:
        entries = [f"('{n}', {size(choices, loop_over(place, n))}, '{n}{n}')" for n in tiled]
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
        keys.append(f"unrolljam=({list(chosen)}, {[factor(choices) for _ in chosen]})")
    if choices.chance(12):
        keys.append(f"pragma=[('{choices.pick(below)}', '{choices.pick(['GCC unroll 2', 'nounroll'])}')]")
    if choices.chance(12):
        keys.append("openmp=(True, 'omp parallel for')")
    if choices.chance(20):
        keys.append(f"vector=(True, ['{choices.pick(VECTOR)}'])")
    if choices.chance(40):
        keys.extend(choices.pick([_reordering_key, _storage_key, _parallel_key])(choices, place, below))
    if not keys:
        keys.append(f"unrolljam=(['{below[-1]}'], [{factor(choices)}])")
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
                f"stripmine=[('{x}', {size(choices, loop_over(place, x))}, '{x}_strip')]",
                f"unrollreduction=(['{below[-1]}'], [{factor(choices)}])",
                f"regtile=({list(below[:2])}, {[factor(choices) for _ in below[:2]]})",
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
