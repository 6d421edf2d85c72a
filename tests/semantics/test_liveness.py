"""What is said not to be read after a region may be anything there: random functions, run with other values."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from c_programs import compile_and_run
from random_control_flow import NAMES, REGION, RandomFunction

from orio_py.core.source import SourceFile, Span
from orio_py.ctree.file_scope import live_after, surroundings

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
    assert compare(tmp_path, seed, 60) > 30


def test_a_variable_that_is_read_makes_a_difference(tmp_path: Path) -> None:
    """The comparison itself can fail."""
    text = f"void f0(int *out, int fuel) {{ int a = 1; {REGION[0]} a = 2; {REGION[1]} POISON out[0] = a; }}\n"
    assert results(tmp_path, "plain", [text.replace("POISON", "")]) != results(
        tmp_path, "poisoned", [text.replace("POISON", "a = 54321;")]
    )
