"""What is said not to be read after a region may be anything there: random functions, run with other values."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from c_programs import compile_and_run
from c_trees import context, parse
from random_control_flow import NAMES, REGION, RandomFunction

from orio_py.core.source import SourceFile, Span
from orio_py.ctree.build import assign, block
from orio_py.ctree.emit import emit
from orio_py.ctree.file_scope import live_after, surroundings
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.transformation.base import Context
from orio_py.transformation.sites import rewrite_where

DECLARED = "int a, b, c, d, k, fuel; int *out;"

MAIN = """
int main(void)
{
  int k, fuel;
%s
  return 0;
}
"""
CALL = '  for (fuel = 0; fuel < 40; fuel += 3) { int out[4] = {0}; %s(out, fuel); for (k = 0; k < 4; k++) printf("%%d ", out[k]); }\n  puts("");'


def dead_after_region(text: str) -> list[str]:
    start = text.index(REGION[0])
    extent = Span(start, text.index(REGION[1], start) + len(REGION[1]))
    near = surroundings(SourceFile("f.c", text.encode()), extent)
    assert near.flow is not None, text
    return [name for name in NAMES if name not in live_after(near, NAMES)]


def results(folder: Path, name: str, functions: list[str]) -> list[str]:
    calls = "\n".join(CALL % f"f{number}" for number in range(len(functions)))
    own = folder / name
    own.mkdir()
    text = "#include <stdio.h>\n" + "\n".join(functions) + MAIN % calls
    return compile_and_run(text, own, "-w").splitlines()


def compare(folder: Path, seed: int, count: int) -> int:
    """How many variables were dead; fails where it makes a difference what such a one holds."""
    texts = [RandomFunction(random.Random(f"{seed}-{n}")).text(f"f{n}") for n in range(count)]
    dead = [dead_after_region(text.replace("POISON", "")) for text in texts]
    poison = [" ".join(f"{name} = 54321;" for name in names) for names in dead]
    plain = results(folder, "plain", [text.replace("POISON", "") for text in texts])
    poisoned = results(
        folder, "poisoned", [t.replace("POISON", f"{{ {p} }}") for t, p in zip(texts, poison, strict=True)]
    )
    differing = [number for number in range(count) if plain[number] != poisoned[number]]
    assert not differing, f"{dead[differing[0]]} after the region of\n{texts[differing[0]]}"
    return sum(map(len, dead))


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(8))
def test_what_is_not_read_may_hold_anything(tmp_path: Path, seed: int) -> None:
    assert compare(tmp_path, seed, 60) > 20


def spoilt_inside(text: str) -> tuple[str, int]:
    """The function with other values behind its statements in those variables that are said not to be read there, and how many."""
    head, body = text.split("{", 1)
    tree = parse(body.rsplit("}", 1)[0])
    kinds = (For, c_ast.While, c_ast.DoWhile, c_ast.If, c_ast.Assignment)
    spoilt: list[str] = []

    def change(node: Node, inner: Context) -> Node:
        dead = sorted(inner.effects(node).scalar_writes & set(NAMES) - inner.live_after)
        spoilt.extend(dead)
        return block(node, *(assign(name, 54321) for name in dead)) if dead else node

    new = rewrite_where(tree, lambda node: isinstance(node, kinds), change, context(DECLARED))
    return f"{head}{{\n{emit(new)}}}\n", len(spoilt)


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(8))
def test_what_is_not_read_behind_a_statement_may_hold_anything(tmp_path: Path, seed: int) -> None:
    plain = [RandomFunction(random.Random(f"{seed}+{number}")).text(f"f{number}") for number in range(60)]
    for mark in ("POISON", *REGION):
        plain = [text.replace(mark, "") for text in plain]
    spoilt = [spoilt_inside(text) for text in plain]
    before = results(tmp_path, "plain", plain)
    after = results(tmp_path, "spoilt", [text for text, _ in spoilt])
    differing = [number for number in range(len(plain)) if before[number] != after[number]]
    assert not differing, f"{plain[differing[0]]}\n{spoilt[differing[0]][0]}"
    assert sum(number for _, number in spoilt) > 30


def test_a_variable_that_is_read_makes_a_difference(tmp_path: Path) -> None:
    """The comparison itself can fail."""
    text = f"void f0(int *out, int fuel) {{ int a = 1; {REGION[0]} a = 2; {REGION[1]} POISON out[0] = a; }}\n"
    assert results(tmp_path, "plain", [text.replace("POISON", "")]) != results(
        tmp_path, "poisoned", [text.replace("POISON", "a = 54321;")]
    )
