"""Draws whole regions: their arrays, their types, their nests, what is read after them, and their sizes."""

from __future__ import annotations

import re
from dataclasses import replace

from random_code import INTEGERS, KINDS, RARE_KINDS, Array, Code, Item, Loop, Run, render
from random_code_choices import Choices
from random_code_forms import MIXED_SCALARS, PLACE_SCALARS, random_forms
from random_code_nests import NOT_NEGATIVE, SHORT, UNSIGNED, Maker
from random_code_shapes import PLAIN, Shape


def random_code(choices: Choices, shape: Shape = PLAIN) -> Code:
    """A region of one to three nests."""
    edge = choices.chance(5)
    exact = choices.chance(shape.exact)
    rare = () if edge else tuple((3, each) for each in RARE_KINDS)
    kind = choices.weighted((60, "int"), *((10, each) for each in KINDS[1:]), *rare)
    mixed = choices.chance(10) and not edge
    # An unsigned index would be compared with a short one, of whose sums compilers warn: `k <= i + 1`.
    every = (*KINDS, "signed char", "long long")
    names = ["i", "j", "k", "l"]
    kinds = {name: choices.pick(every) if mixed else kind for name in names}
    numbers = tuple((name, choices.pick(every) if mixed else kind) for name in ("s", "n", "m"))
    inside = choices.chance(35)
    declared = {name: inside != choices.chance(10) for name in names}
    arrays, noalias = _arrays(choices, shape)
    forms = random_forms(choices)
    maker = Maker(choices, arrays, kinds, declared, edge, exact, shape, forms)
    count = max(shape.nests, choices.weighted((66, 1), (26, 2), (8, 3)))
    items: list[Item] = []
    deepest = 1
    for number in range(count):
        if number and choices.chance(shape.between):
            items.append(maker.between(names[:deepest]))
        first = next((item for item in items if isinstance(item, Loop)), None)
        twin = first if choices.chance(shape.twin) else None
        drawn = choices.weighted((34, 1), (40, 2), (20, 3), (6, 4))
        depth = deepest if twin else max(shape.depth, drawn)
        deepest = max(deepest, depth)
        items.append(maker.nest(names, depth, (), twin))
    scalars = (
        ("acc", "double", "0.5"),
        ("t", "double", "0.25"),
        ("top", "double", "-9.0"),
        ("count", "long", "3"),
        *(MIXED_SCALARS if forms.mixed else ()),
        *(PLACE_SCALARS if forms.places else ()),
    )
    used = names[:deepest]
    outside = [name for name in used if not declared[name]]
    live = tuple(name for name, _, _ in scalars if choices.chance(85 if name == "acc" else 55))
    live += choices.some(outside, 18)
    runs = _edge_runs(choices, kind) if edge else _runs(choices, deepest, kinds, overlap=not noalias)
    if SHORT & set(kinds.values()) and UNSIGNED & {number for _, number in numbers}:
        # A short index does not reach `n - 1` where that is the largest number of its type.
        runs = tuple(replace(run, n=max(run.n, 4), m=max(run.m, 4)) for run in runs)
    code = Code(
        tuple(items),
        arrays,
        numbers,
        tuple((name, kinds[name]) for name in outside),
        scalars,
        live,
        runs,
        noalias,
        exact,
    )
    return _pruned(code)


def _pruned(code: Code) -> Code:
    """The region without the scalars that neither it nor what follows mentions."""
    text = render(code.items)
    used = {name for name, _, _ in code.scalars if re.search(rf"\b{name}\b", text)} | {"acc"}
    kept = tuple(scalar for scalar in code.scalars if scalar[0] in used)
    indices = tuple(index for index in code.indices if re.search(rf"\b{index[0]}\b", text))
    names = used | {name for name, _ in indices}
    return replace(
        code, scalars=kept, indices=indices, live=tuple(name for name in code.live if name in names)
    )


def _arrays(choices: Choices, shape: Shape) -> tuple[tuple[Array, ...], bool]:
    """Arrays, and whether the region promises that they do not overlap."""
    mode = choices.weighted((60, "restrict"), (shape.promised, "promised"), (12, "global"), (8, "pointer"))
    form = {"restrict": "restrict", "promised": "pointer", "global": "global", "pointer": "pointer"}[mode]
    matrix = "restrict matrix" if mode in {"restrict", "global"} else "matrix"
    element = choices.weighted((80, "double"), (20, "float"))
    found = [Array("a", element, form), Array("b", choices.weighted((80, element), (20, "double")), form)]
    if choices.chance(90 if shape.calm else 55):
        found.append(Array("p", "double", matrix))
    if choices.chance(75 if shape.calm else 25):
        found.append(Array("q", element, matrix))
    if choices.chance(45):
        found.append(Array("c", choices.pick(INTEGERS), form))
    if choices.chance(20):
        found.append(Array("w", "int", form))
    return tuple(found), mode == "promised"


def _runs(choices: Choices, depth: int, kinds: dict[str, str], *, overlap: bool) -> tuple[Run, ...]:
    most = {1: 37, 2: 21, 3: 10, 4: 6}[depth]
    size = [0, 1, 2, 3, 5, 7, 9, 13, 17, 21, 37]
    sizes = [value for value in size if value <= most]
    runs = [Run(0, 0, 0), Run(0, 1, 2), Run(1, sizes[-1], sizes[-1] - 1)]
    runs += [Run(choices.integer(0, 3), choices.pick(sizes[2:]), choices.pick(sizes[1:])) for _ in range(3)]
    if overlap:
        runs += [Run(0, sizes[-2], 4, 0), Run(1, sizes[-1], 5, 1), Run(0, sizes[-2], 3, -2)]
    if not NOT_NEGATIVE & set(kinds.values()):
        runs.append(Run(-4, sizes[-2], 3))
    return tuple(runs)


def away_from_the_ends(code: Code, part: int) -> Code:
    """The code with those runs moved that use the largest and the smallest numbers of a type: to a `part`th."""
    return replace(code, runs=tuple(_nearer(run, part) for run in code.runs))


def _nearer(run: Run, part: int) -> Run:
    if abs(run.s) <= 2**14 - 64:
        return run
    longest = 4 * 256 + 64  # a strip of 256 iterations with stride 4, and the blocks in it
    start = run.s // part if part > 1 else run.s - longest if run.s > 0 else run.s + longest
    return replace(run, s=start, n=start + run.n - run.s)


def _edge_runs(choices: Choices, kind: str) -> tuple[Run, ...]:
    """Sizes near the ends of the type; strides are at most 4."""
    top = {"int": 2**31, "long": 2**63, "unsigned": 2**32, "size_t": 2**64, "short": 2**15}[kind] - 1
    bottom = 0 if kind in {"unsigned", "size_t"} else -top - 1
    runs: list[Run] = []
    for width in (0, 1, 5, choices.integer(2, 19)):
        runs += [Run(top - 5 - width, top - 5, 2), Run(bottom + 5, bottom + 5 + width, 3)]
    return tuple(runs)
