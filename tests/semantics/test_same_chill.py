"""What a recipe by statement number makes of a nest computes the same, under the sanitizers.

The nests are drawn with several statements, in perfect and imperfect nests and in neighbouring ones, with
and without dependences that forbid something; the recipes are drawn too, and those of their commands that
are refused are left out.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from same_result import Case, assert_same_results

from orio_py.core.diagnostics import Diagnostic
from orio_py.core.source import SourceFile, Span
from orio_py.ctree.build import block
from orio_py.ctree.nodes import Compound, Node
from orio_py.ctree.parse import position
from orio_py.frontend.annotations.modules.chill import read_statement_recipe
from orio_py.spec.recipe import RecipeStep, StatementRecipe
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.statements.recipe import StatementCommands

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

BATCH = 30
quick = settings(
    max_examples=2,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


@dataclass(frozen=True)
class ByStatement:
    """A recipe without those of its commands that are refused; one has to be left and change something."""

    recipe: str

    def check(self, node: Node, context: Context) -> None:
        self.apply(node, context)

    def apply(self, node: Node, context: Context) -> Node:
        source = SourceFile("recipe", self.recipe.encode())
        problems: list[Diagnostic] = []
        read = read_statement_recipe(source, Span(0, len(source.text)), problems)
        assert not problems
        tree = node if isinstance(node, Compound) else block(node)
        taken: list[RecipeStep] = []
        result = tree
        for step in read.steps:
            with suppress(Refusal):
                result = StatementCommands(tree, StatementRecipe((*taken, step))).apply({}, context)
                taken.append(step)
        if result is tree:
            raise _nothing(tree)
        return result


def _nothing(tree: Node) -> Refusal:
    """A refusal for a recipe that leaves everything as it is, so that it does not count."""
    return Refusal(Diagnostic("ORIO-T100", "nothing changes", position(tree)))


@dataclass(frozen=True)
class Nest:
    """Code, and for each of its statements the loops around it, and what it assigns."""

    code: str
    around: tuple[tuple[str, ...], ...]
    targets: tuple[str, ...]


HEADERS = (
    "for (X = 1; X < n; X++)",
    "for (X = 1; X < n; X++)",
    "for (X = 1; X <= 6; X++)",
    "for (X = n; X >= 1; X--)",
    "for (X = 2; X < m; X += 3)",
    "for (TYPE X = 1; X < m; X++)",
)

BETWEEN = (
    "a[3] = b[4] * 0.5;",
    "p[2][3] += 1.0;",
    "count += i * 3 + j;",
    "acc = acc * 0.5;",
    "b[5] = acc;",
)


@st.composite
def nests(draw: st.DrawFn) -> Nest:
    """One or two nests; loops over the same index have the same header, as if written by one hand."""
    headers = {name: draw(st.sampled_from(HEADERS)).replace("X", name) for name in "ijk"}
    around: list[tuple[str, ...]] = []
    targets: list[str] = []

    def element(names: tuple[str, ...]) -> str:
        shift = draw(st.sampled_from(["", "", "", " + 1", " - 1"]))
        first = draw(st.sampled_from(names)) + shift
        if draw(st.integers(0, 3)) == 0:
            return f"{draw(st.sampled_from('ab'))}[{first}]"
        return f"{draw(st.sampled_from('pqr'))}[{first}][{draw(st.sampled_from(names))}]"

    def assignment(names: tuple[str, ...]) -> str:
        around.append(names)
        # A sum over the innermost loop is what `registers` is for.
        fixed = names[:-1] if len(names) > 1 and draw(st.booleans()) else names
        target = "acc" if draw(st.integers(0, 9)) == 0 else element(fixed)
        targets.append(target)
        right = f"{element(names)} * {draw(st.sampled_from(['0.5', '0.25']))}"
        if draw(st.booleans()):
            right += f" + {element(names)}"
        return f"{target} {draw(st.sampled_from(['=', '+=', '+=']))} {right};"

    def loop(names: tuple[str, ...], left: tuple[str, ...]) -> str:
        index, *rest = left
        inner = (*names, index)
        perfect = bool(rest) and draw(st.integers(0, 2)) > 0
        count = 1 if perfect else draw(st.integers(1, 3))
        parts: list[str] = []
        for _ in range(count):
            deeper = perfect or (bool(rest) and draw(st.booleans()))
            parts.append(loop(inner, tuple(rest)) if deeper else assignment(inner))
        body = parts[0] if count == 1 else "{ " + " ".join(parts) + " }"
        return f"{headers[index]} {body}"

    order = tuple(draw(st.permutations("ijk")))[: draw(st.integers(1, 3))]
    code = loop((), order)
    for _ in range(draw(st.integers(0, 2))):
        if draw(st.integers(0, 2)) == 0:
            code += " " + draw(st.sampled_from(BETWEEN))
            around.append(())
            targets.append("")
        code += " " + loop((), order if draw(st.integers(0, 3)) else order[:1])
    return Nest(code, tuple(around), tuple(targets))


@st.composite
def recipes(draw: st.DrawFn, nest: Nest) -> str:
    """Up to four commands on statements and loops that exist."""
    numbers = [number for number, around in enumerate(nest.around) if around]
    commands: list[str] = []
    if len(numbers) > 1 and draw(st.integers(0, 2)) == 0:
        first, second = sorted(draw(st.permutations(numbers))[:2])
        for number in (first, second):
            level = len(nest.around[number])
            commands.extend([f"registers({number}, {level})"] * draw(st.integers(0, 1)))
        commands.append(f"fuse({first}, {second})")
    for _ in range(draw(st.integers(1, 4))):
        number = draw(st.sampled_from(numbers))
        around = nest.around[number]
        kind = draw(st.sampled_from(["unroll", "permute", "registers", "fuse", "distribute"]))
        if kind == "permute":
            order = draw(st.permutations(around))
            commands.append(f"permute({number}, [{', '.join(map(repr, order))}])")
        elif kind == "unroll":
            name = draw(st.sampled_from(around))
            commands.append(f"unroll({number}, '{name}', {draw(st.integers(2, 4))})")
        elif kind == "registers":
            still = [name for name in around if name not in nest.targets[number]] or around
            commands.append(f"registers({number}, '{draw(st.sampled_from(still))}')")
        else:
            others = draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=2))
            listed = "{" + ", ".join(map(str, dict.fromkeys([number, *others]))) + "}"
            level = draw(st.integers(1, len(around)))
            deep = kind == "fuse" and draw(st.booleans())
            commands.append(f"{kind}({listed})" if deep else f"{kind}({listed}, {level})")
    return "\n".join(commands)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    nest = draw(nests())
    kind = draw(st.sampled_from(["int", "int", "long", "short", "unsigned"]))
    code = nest.code.replace("TYPE", kind)
    finals = draw(st.integers(0, 3)) == 0
    return Case(code, ByStatement(draw(recipes(nest))), kind=kind, final_indices=finals)


@pytest.mark.proof
def test_recipes_compute_the_same() -> None:
    taken: list[int] = []

    @quick
    @given(st.lists(cases(), min_size=BATCH, max_size=BATCH))
    def run(batch: list[Case]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            taken.append(assert_same_results(batch, Path(folder)))

    run()
    assert sum(taken) >= BATCH * len(taken) // 2
