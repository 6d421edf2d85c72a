"""Variants of contractions in index notation compute what `numpy.einsum` computes."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from contraction_runs import differences
from random_contractions import Example, random_example

from orio_py.core.source import SourceFile, Span
from orio_py.frontend.tensor.program import read_program

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


def check(seed: int, count: int, folder: Path) -> None:
    draw = random.Random(seed)
    found = differences([random_example(draw, f"f{number}") for number in range(count)], folder)
    assert found == [], found[0]


def test_random_contractions(tmp_path: Path) -> None:
    check(1, 25, tmp_path)


@pytest.mark.proof
@pytest.mark.parametrize("seed", [2])
def test_more_random_contractions(seed: int, tmp_path: Path) -> None:
    check(seed, 120, tmp_path)


def test_a_wrong_variant_is_found(tmp_path: Path) -> None:
    text = "f variables: a: (3) b: (3) operations: a:(i) += b:(i)"
    program = read_program(SourceFile("p.tensor", text.encode()), Span(0, len(text)))
    code = "void f(double *a, double *b) { for (int i = 0; i < %s; i++) a[i] += b[i]; }\n"
    assert differences([Example(text, program, code % 3)], tmp_path) == []
    assert differences([Example(text, program, code % 2)], tmp_path) != []
