"""The table of CUDA kernels compiled for several architectures."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from cuda_compilers import nvrtc_or_skip

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module("cuda_build")


@pytest.mark.nvrtc
def test_each_kernel_has_a_line(table, capsys):
    nvrtc_or_skip()
    assert table.main(["--compiler", "nvrtc", "--architectures", "sm_90", "--repeats", "1"]) == 0
    first, heading, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("NVRTC ")
    assert heading.split()[:2] == ["kernel", "architecture"]
    kernels = [path.stem for path in sorted((BENCHMARKS / "kernels" / "cuda_text").glob("*.cu"))]
    assert len(kernels) >= 4
    assert [line.split()[:2] for line in lines] == [[kernel, "sm_90"] for kernel in kernels]


@pytest.mark.nvrtc
def test_an_architecture_that_is_unknown_ends_with_2(table, capsys):
    nvrtc_or_skip()
    assert table.main(["--compiler", "nvrtc", "--architectures", "sm_35"]) == 2
    assert "error[ORIO-B021]" in capsys.readouterr().err


def test_without_a_compiler_it_ends_with_3(table, capsys, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert table.main(["--compiler", "nvcc"]) == 3
    told = capsys.readouterr().err
    assert "error[ORIO-B020]: no nvcc: `nvcc` is not on the PATH" in told
    assert "pip install 'orio_py[cuda]'" in told


def test_each_text_says_how_large_its_blocks_are(table, tmp_path):
    for path in (BENCHMARKS / "kernels" / "cuda_text").glob("*.cu"):
        assert table.Text.read(path).threads == 256
    (tmp_path / "k.cu").write_text("__global__ void f();\n")
    with pytest.raises(ValueError, match="threads per block"):
        table.Text.read(tmp_path / "k.cu")
