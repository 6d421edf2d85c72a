"""Random CUDA kernels leave what their loops leave; a share of what `benchmarks/cuda_equivalence.py` compares."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from offload_equivalence import compared
from offload_equivalence_cuda import RUNS, cuda_build, random_cuda_kernel
from offload_variants import unread, updates, variants


@pytest.mark.proof
def test_random_kernels_compute_what_their_loops_compute(tmp_path: Path) -> None:
    chosen = variants(100, 24, random_cuda_kernel)
    steps = list(compared(chosen, tmp_path, cuda_build(RUNS[:1])))
    assert [step for step in steps if step.kind == "wrong"] == []
    ended = [step for step in steps if step.kind == "same"]
    assert len(ended) == 24
    assert sum(step.launches for step in ended) > 60


def test_elements_that_nobody_copied_are_noticed(tmp_path: Path) -> None:
    chosen = [variant for variant in variants(700, 24, random_cuda_kernel) if updates(variant)][:2]
    wrong = [replace(variant, plans=tuple(map(unread, variant.plans))) for variant in chosen]
    steps = list(compared(wrong, tmp_path, cuda_build()))
    ended = [step for step in steps if step.kind != "at"]
    assert [step.kind for step in ended] == ["wrong"] * len(chosen)
    assert chosen
    assert all("nobody has written" in step.text for step in ended)
