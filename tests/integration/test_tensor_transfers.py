"""What a call of a contraction on a GPU costs beside its kernels."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.tensor.transfers import Transfers, gradient


@pytest.mark.proof
@pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("gcc", "g++")), reason="gcc or g++ is not installed"
)
def test_arrays_of_several_statements_are_allocated_and_copied_once(tmp_path: Path) -> None:
    apart, together = gradient(4, 3, tmp_path)
    assert apart == Transfers(8, 11, is_right=True)
    assert together == Transfers(6, 9, is_right=True)
