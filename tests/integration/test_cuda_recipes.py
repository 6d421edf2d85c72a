"""Tensor contractions with `cuda` in their recipes: the files, what they compute, and what their host code does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cuda_host_build import build, transformed
from cuda_recipes import (
    CASES,
    COUNTED,
    Arrays,
    differing,
    driver,
    expected,
    read_outputs,
    source,
    write_inputs,
)

from orio_py.build.cuda_cpu import cuda_on_cpu


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program of all cases."""
    made = tmp_path_factory.mktemp("contractions")
    assert transformed(made, source(CASES)) == ["out.c", "out_cuda.cu", "out_cuda.h"]
    (made / "counted.h").write_text(COUNTED)
    build(cuda_on_cpu(made), made, driver(CASES), more=("-include", str(made / "counted.h")))
    return made


@pytest.fixture(scope="module")
def given(folder: Path) -> dict[str, Arrays]:
    return write_inputs(folder / "inputs.bin", CASES)


def run(folder: Path, *names: str) -> dict[str, str]:
    """What the program prints of each case; the executor has found nothing wrong."""
    words = [str(folder / "program"), *names]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


@pytest.fixture(scope="module")
def counts(folder: Path, given: dict[str, Arrays]) -> dict[str, str]:
    del given
    return run(folder)


@pytest.mark.proof
def test_kernels_compute_what_einsum_does(folder: Path, given: dict[str, Arrays], counts: dict[str, str]):
    """All shapes and unroll factors, with every access checked for races, bounds and undefined values."""
    assert list(counts) == list(CASES)
    wanted = {name: expected(case, given[name]) for name, case in CASES.items()}
    assert differing(read_outputs(folder / "outputs.bin", given), wanted) == []
    changed = [n for n, c in CASES.items() if any(not (wanted[n][a] == given[n][a]).all() for a in c.results)]
    assert set(CASES) - set(changed) == {"d1_none", "gradient_empty"}, "the comparison says nothing"


@pytest.mark.proof
def test_each_array_is_allocated_and_copied_once(counts: dict[str, str]):
    """Kernels by themselves would take 8 allocations and 11 copies for the gradient of Nekbone."""
    apart = CASES["gradient_2_1"]
    assert len(apart.arrays) == 6
    for name in ("gradient_2_1", "gradient_5_10", "gradient_run"):
        assert counts[name] == "6 allocations, 6 frees, 9 copies"
    # One array that three kernels add to, or one kernel.
    assert counts["transposed"] == counts["transposed_fused"] == "6 allocations, 6 frees, 7 copies"
    # The first kernel writes all of `t`: it is not copied to the device, and back once.
    assert counts["chain"] == "5 allocations, 5 frees, 6 copies"
    assert counts["gradient_empty"] == "0 allocations, 0 frees, 0 copies"
    assert counts["d1_4"] == "3 allocations, 3 frees, 4 copies"


def test_a_call_that_fails_is_told_and_leaves_nothing(folder: Path, given: dict[str, Arrays]):
    """The loops run in C where one of three calls before them fails; behind these arrays change from the second result on.

    All has been done where the last wait fails.
    """
    del given
    printed = run(folder, "d1_4", "gradient_2_1", "transposed", "chain")
    for name, results in (("d1_4", 1), ("gradient_2_1", 3), ("transposed", 1), ("chain", 2)):
        calls, failed = printed[name].split(" ", 1)
        assert int(calls) > 10
        assert failed == f"calls failed, 0 bad, all was done in 4, a part in {results - 1}"


def test_functions_for_several_kernels_are_declared_for_applications(folder: Path):
    header = (folder / "out_cuda.h").read_text()
    assert "void orio_cuda_nest_gradient_2_1_0_to_1(" in header
    assert "void orio_cuda_nest_gradient_2_1_0(" not in header
    assert "void orio_cuda_nest_d1_4_0(" in header
    text = (folder / "out.c").read_text()
    assert text.count("orio_cuda_nest_gradient_2_1_0_to_1(") == 2, "its declaration and its call"
