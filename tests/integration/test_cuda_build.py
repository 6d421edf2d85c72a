"""The table of CUDA kernels compiled for several architectures."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
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


ANNOTATED = {"vecaxpy": 128, "matmul_plain": 128, "matmul_tiled": 128, "ex14ff": 128, "ex14fj": 128}


@pytest.mark.proof
@pytest.mark.nvrtc
def test_annotated_files_have_a_line_per_kernel(table, capsys):
    nvrtc_or_skip()
    options = ["--compiler", "nvrtc", "--architectures", "sm_90", "--repeats", "1"]
    assert table.main([*options, "--annotated"]) == 0
    _, _, *lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [f"orio_cuda_{name}_0" for name in sorted(ANNOTATED)]
    assert all(line.split()[5] == "0+0" for line in lines)
    assert [int(line.split()[7]) > 0 for line in lines] == [False, False, False, True, False]
    only = BENCHMARKS / "kernels" / "cuda" / "vecaxpy.c"
    assert table.main([*options, "--annotated", str(only)]) == 0
    assert capsys.readouterr().out.splitlines()[2:] != []


@pytest.mark.proof
def test_the_first_configuration_is_the_default(table):
    """What the figures say of defaults is of what `CUDA()` makes of these nests."""
    folder = BENCHMARKS / "kernels" / "cuda"
    assert {path.stem for path in folder.glob("*.c")} == set(ANNOTATED)
    given = {text.name: text for text in table.generated(sorted(folder.glob("*.c")))}
    for name, arguments in {
        "vecaxpy": "",
        "matmul_plain": "nd=2",
        "matmul_tiled": "nd=2, cacheBlocks=True",
        "ex14ff": "nd=3",
        "ex14fj": "",
    }.items():
        assert given[f"orio_cuda_{name}_0"].threads == ANNOTATED[name]
        assert given[f"orio_cuda_{name}_0"].source == _by_default(table, folder / f"{name}.c", arguments)


def _by_default(table: ModuleType, path: Path, arguments: str) -> str:
    """The kernel of the file with these arguments alone."""
    recipe = re.compile(r"transform CUDA\(.*?\)(?=\s*\)\s*@\*/)", re.DOTALL)
    text, times = recipe.subn(f"transform CUDA({arguments})", path.read_text())
    assert times == 1
    with TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_text(text)
        (found,) = table.generated([copy])
    return found.source


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
