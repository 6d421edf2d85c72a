"""The OrCL paper's kernels in `benchmarks/kernels/orcl`: each compiles and reads; some are tuned on a device."""

import shutil
import subprocess
from pathlib import Path

import pytest
from opencl_devices import skip_without_device

from orio_py import TuneOptions, tune
from orio_py.core.source import SourceFile
from orio_py.frontend.read import read
from orio_py.search_space.search_space import SearchSpace

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "kernels" / "orcl"
KERNELS = sorted(path.name for path in FOLDER.glob("*.c"))
STRICT = ("gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
SMALL = {
    "matvec.c": ("[1000];", "[40];"),
    "dot.c": ("[1000000];", "[3000];"),
    "ex14ff.c": ("[64, 75, 100, 128];", "[9];"),
}

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


def test_there_are_kernels() -> None:
    assert set(SMALL) < set(KERNELS)


@needs_gcc
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_compiles_alone_and_is_read(name: str, tmp_path: Path) -> None:
    command = [*STRICT, "-c", str(FOLDER / name), "-o", str(tmp_path / "kernel.o")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = read(SourceFile(name, (FOLDER / name).read_bytes()), directory=FOLDER)
    assert found.diagnostics == ()
    assert [len(task.regions) for task in found.tasks] == [1]


@pytest.mark.proof
@needs_gcc
@pytest.mark.parametrize("name", sorted(SMALL))
def test_kernel_is_tuned_on_a_device(name: str, tmp_path: Path) -> None:
    skip_without_device()
    old, new = SMALL[name]
    text = (FOLDER / name).read_text()
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new))
    report = tune([tmp_path / name], output=tmp_path / "out.c", options=TuneOptions(trials=2, seed=3))
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    [region] = report.regions
    assert (region.trials, region.best is not None) == (2, True)


@pytest.mark.parametrize("name", ["ex14ff.c", "ex14fj.c"])
def test_spaces_of_the_application_have_the_size_of_the_paper(name: str) -> None:
    [task] = read(SourceFile(name, (FOLDER / name).read_bytes()), directory=FOLDER).tasks
    space = SearchSpace(task.parameters, task.constraints, {"m": 64})
    assert (space.cartesian, space.size) == (5760, 5760)
