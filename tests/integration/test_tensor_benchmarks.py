"""What the benchmarks of contractions compare: their arithmetic, without measurements."""

from __future__ import annotations

import pytest

from benchmarks.tensor.gpu import letters, moved_bytes
from benchmarks.tensor.kernels import programs
from benchmarks.tensor.ranking import expected_trials, is_kept
from orio_py.core.source import SourceFile, Span
from orio_py.frontend.tensor.program import read_program
from orio_py.tensors.contraction import TensorProgram


def program(name: str, size: int) -> TensorProgram:
    text = programs(size)[name]
    return read_program(SourceFile(name, text.encode()), Span(0, len(text)))


def test_a_statement_is_an_einsum_string() -> None:
    (statement,) = program("sd_t_d1_1", 3).contractions
    assert letters(statement) == "gfec,abdg->abcdef"


def test_outputs_are_moved_twice() -> None:
    assert moved_bytes(program("sd_t_d1_1", 2)) == 8 * (2 * 64 + 16 + 16)
    assert moved_bytes(program("local_grad3", 10)) == 8 * (7 * 1000 * 1000 + 2 * 100)


@pytest.mark.parametrize(
    ("times", "trials"), [([1, 2, 3], 2.0), ([1, 1.04, 3, 3], 5 / 3), ([2, 3], float("inf"))]
)
def test_trials_until_one_is_near_the_best(times: list[float], trials: float) -> None:
    assert expected_trials(times, 1) == trials


def test_what_the_ranking_keeps() -> None:
    found = program("sd_t_d1_6", 12)
    whole = {"COLUMNS0": ["h1", 8], "PACK0": ["t2"]}
    assert is_kept(whole, found)
    assert not is_kept({**whole, "COLUMNS0": ["h1", 6]}, found)
    assert not is_kept({**whole, "PACK0": []}, found)
