"""The pages of the transformations: what they say becomes of the code is what becomes of it.

Under `## Before and after` stand pairs of C blocks with the recipe step, `transform NAME(…)` in back
quotes, between them; of several the last one is applied first.  A comment `<!-- int n; double a[100]; | live: i | reassociate -->` before the first
block of a pair gives declarations, names that are read afterwards, and promises.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from c_trees import context, parse

from orio_py.core.expr import Value, evaluate
from orio_py.ctree.emit import emit
from orio_py.ctree.nodes import Node
from orio_py.frontend.expressions import parse_expression
from orio_py.spec.assumptions import Assumptions
from orio_py.transformation.base import Context, Transformation
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.composite.composite import Composite
from orio_py.transformation.forms import sole_statement
from orio_py.transformation.sites import rewrite_where

PAGES = Path(__file__).resolve().parents[2] / "docs" / "reference" / "transformations"
PAIR = re.compile(
    r"(?:<!-- (?P<about>[^>]*?) -->\s*)?^```c\n(?P<before>.*?)^```\n(?P<between>.*?)^```c\n(?P<after>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
STEP = re.compile(r"`transform (\w+)\((.*?)\)`", re.DOTALL)
DEFAULTS = "int i, j, k, n, m; "


@dataclass(frozen=True)
class Pair:
    page: str
    about: str
    before: str
    step: str
    arguments: str
    after: str
    inner: tuple[tuple[str, str], ...] = ()


def pairs() -> list[Pair]:
    found: list[Pair] = []
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text()
        section = text.partition("## Before and after\n")[2].partition("\n## ")[0]
        for match in PAIR.finditer(section):
            steps = STEP.findall(match["between"])
            if steps:
                (name, given), *inner = steps
                about = match["about"] or ""
                found.append(
                    Pair(page.stem, about, match["before"], name, given, match["after"], tuple(inner))
                )
    return found


def arguments(text: str) -> dict[str, Value]:
    """`a=1, b='x'` as values, with the expression language of recipes."""
    if not text.strip():
        return {}
    parts = re.split(r",\s*(?=[A-Za-z_]\w*\s*=[^=])", text)
    named = (part.partition("=") for part in parts)
    return {name.strip(): evaluate(parse_expression(value.strip()), {}) for name, _, value in named}


@pytest.mark.parametrize("pair", pairs(), ids=lambda p: f"{p.page}-{p.step}")
def test_the_code_becomes_what_the_page_says(pair: Pair) -> None:
    declarations, _, rest = pair.about.partition("|")
    live = " ".join(re.findall(r"live: ([\w ]+)", rest))
    promises = Assumptions("noalias" in rest, "reassociate" in rest)
    around = context(DEFAULTS + declarations, live=live, assumptions=promises)
    result: Node = parse(pair.before)
    for name, given in reversed(((pair.step, pair.arguments), *pair.inner)):
        result = applied(TRANSFORMATIONS[name].make(arguments(given)), result, around)
    assert emit(result) == pair.after


def applied(step: Transformation, tree: Node, around: Context) -> Node:
    """The tree with a step applied to the statement in it."""
    target = sole_statement(tree)
    if isinstance(step, Composite) or target is tree:
        return step.apply(tree, around)
    return rewrite_where(tree, lambda n: n is target, step.apply, around)


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_every_page_shows_its_transformation(name: str) -> None:
    assert name.lower() in {pair.page for pair in pairs()}
