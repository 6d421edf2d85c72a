"""`orio tensor` and its Python function: from index notation to a tuned file, and what they say of mistakes."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from opencl_devices import skip_without_device

import orio_py
from orio_py.api.contractions import SEARCH_TIME, TRIALS
from orio_py.api.tuning import TuneReport
from orio_py.cli.main import main
from orio_py.core.expr import Value
from orio_py.core.units import Seconds
from orio_py.tuning.events import Event, TaskStarted

PROGRAM = """product
define: n = 12
variables:
  a: (n, n)
  b: (n, n)
  c: (n, n)
operations:
  c:(i,j) += a:(i,k) * b:(k,j)
"""
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "product.tensor"
    path.write_text(PROGRAM)
    return path


@needs_gcc
def test_a_file_becomes_tuned_c_with_the_same_signature(file: Path, tmp_path: Path) -> None:
    options = orio_py.TuneOptions(trials=2, seed=1, cc="gcc -O2", target="c")
    report = orio_py.tensor(file, options=options)
    assert report.exit_code == 0
    assert report.outputs == (file.with_suffix(".c"),)
    library = tmp_path / "product.so"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", str(report.outputs[0]), "-o", str(library)], check=True)
    a, b, c = (np.random.default_rng(k).random((12, 12)) for k in range(3))
    wanted = c + a @ b
    ctypes.CDLL(str(library)).product(*(ctypes.c_void_p(x.ctypes.data) for x in (c, a, b)))
    assert np.allclose(c, wanted)
    assert orio_py.tensor(file, options=options).exit_code == 0, "its own result may be replaced"


@needs_gcc
def test_an_einsum_string_is_tuned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, told = tmp_path / "e.c", tmp_path / "e.json"
    words = ["tensor", "ij,jk,kl->il", "--size", "i=6,j=7", "--size", "k=8,l=9", "--trials", "1", "--no-db"]
    assert main([*words, "-o", str(out), "--json", str(told), "--cc", "gcc -O1"]) == 0
    found = json.loads(told.read_text())
    assert found["statements"] == ["part(i,k) = in0(i,j) * in1(j,k)", "out(i,l) = in2(k,l) * part(i,k)"]
    assert found["outputs"] == [str(out)]
    assert "O(n^4)" in capsys.readouterr().err


@pytest.mark.proof
def test_the_annotated_file_can_be_looked_at(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["tensor", str(file), "--emit", "-"]) == 0
    assert "transform Contract(order=ORDER0" in capfd.readouterr().out
    kept = file.with_name("kept.c")
    assert main(["tensor", str(file), "--emit", str(kept)]) == 0
    assert main(["check", str(kept)]) == 0
    assert not file.with_suffix(".c").exists()


def test_the_recipe_for_gpus_is_printed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tensor", str(file), "--recipe"]) == 0
    assert 'registers(0, "k")' in capsys.readouterr().out


def test_for_gpus_decompositions_are_parameters(file: Path, tmp_path: Path) -> None:
    kept, out = tmp_path / "kept.c", tmp_path / "out.c"
    options = orio_py.TuneOptions(target="cuda")
    assert orio_py.tensor(file, emit=kept, by_recipe=True, tuned=False, options=options).exit_code == 0
    assert 'MAP0[] = [(("i",), ("j",), ("i", "j", "k",))];' in kept.read_text()
    assert orio_py.transform(kept, output=out, pins={"UF0": 3}).exit_code == 0
    assert "__global__" in (tmp_path / "out_cuda.cu").read_text()


@pytest.mark.parametrize(
    ("target", "directive"),
    [
        ("openacc", "acc parallel loop gang vector_length(32)"),
        ("openmp-target", "omp target teams distribute parallel for collapse(2) thread_limit(32)"),
    ],
)
def test_directives_take_loops_to_a_device(target: str, directive: str, file: Path, tmp_path: Path) -> None:
    kept, out = tmp_path / "kept.c", tmp_path / "out.c"
    options = orio_py.TuneOptions(target=target)
    assert orio_py.tensor(file, emit=kept, tuned=False, options=options).exit_code == 0
    assert orio_py.transform(kept, output=out, pins={"LANES0": 32}).exit_code == 0
    assert f"#pragma {directive}" in out.read_text()


@pytest.mark.parametrize(
    ("target", "kernel", "pins"),
    [
        ("opencl", "vload4", {"WIDTH0": 4, "COLUMNS0": 1, "GROUP0": [1, 1]}),
        ("hip", "__shared__", {"STAGE0": True, "COLUMNS0": 1}),
        ("cuda", "__shared__", {"STAGE0": True, "COLUMNS0": 1}),
    ],
)
def test_kernels_have_register_tiles(
    target: str, kernel: str, pins: dict[str, Value], file: Path, tmp_path: Path
) -> None:
    kept, out = tmp_path / "kept.c", tmp_path / "out.c"
    options = orio_py.TuneOptions(target=target)
    assert orio_py.tensor(file, emit=kept, tuned=False, options=options).exit_code == 0
    report = orio_py.transform(kept, output=out, pins=pins)
    assert report.exit_code == 0
    assert any(kernel in path.read_text() for path in report.outputs)


@needs_gcc
@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_hip_variants_are_checked_without_a_gpu(file: Path, tmp_path: Path) -> None:
    options = orio_py.TuneOptions(trials=2, seed=1, target="hip")
    heard: list[Event] = []
    report = orio_py.tensor(file, output=tmp_path / "o.c", options=options, listener=heard.append)
    (region,) = report.regions
    assert (region.right, region.invalid, region.failed) == (2, 0, 0)
    told = [problem.position for problem in report.diagnostics if problem.position is not None]
    assert {(place.file, place.line) for place in told} <= {(str(file), 8)}
    assert [(e.file, e.line) for e in heard if isinstance(e, TaskStarted)] == [(str(file), 8)]


@needs_gcc
@pytest.mark.proof
def test_opencl_variants_are_timed_on_a_device(file: Path, tmp_path: Path) -> None:
    skip_without_device()
    options = orio_py.TuneOptions(trials=2, seed=1, target="opencl")
    report = orio_py.tensor(file, output=tmp_path / "o.c", options=options)
    (region,) = report.regions
    assert (region.succeeded, region.invalid, region.failed) == (2, 0, 0)


@needs_gcc
@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_products_of_several_tensors_become_cuda_kernels(tmp_path: Path) -> None:
    options = orio_py.TuneOptions(trials=2, seed=1, target="cuda")
    sizes = {"i": 8, "j": 9, "k": 10, "l": 7}
    report = orio_py.tensor("ij,jk,kl->il", sizes=sizes, output=tmp_path / "o.c", options=options)
    (region,) = report.regions
    assert (region.succeeded + region.right, region.invalid, region.failed) == (2, 0, 0)


def test_a_file_of_the_user_is_not_overwritten(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.with_suffix(".c").write_text("int mine;\n")
    assert main(["tensor", str(file), "--no-db"]) == 2
    assert "ORIO-U010" in capsys.readouterr().err
    assert file.with_suffix(".c").read_text() == "int mine;\n"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["missing.tensor"], "ORIO-U008"),
        (["ij,jk->ik", "--size", "i=2"], "ORIO-N004"),
        (["ij->i", "--size", "i=2,ij=2"], "ORIO-U005"),
        (["ij->i", "--size", "i=2,i=3"], "ORIO-U005"),
        (["ij->i", "--layout", "rows"], "ORIO-U004"),
        (["ij->i", "--type", "int"], "ORIO-U004"),
        (["i->i", "--size", "i=2", "--emit", "/dev/null/e.c"], "ORIO-U009"),
        (["i->i", "--size", "i=2", "--db", "x.db", "--no-db"], "ORIO-U017"),
        (["ij,jk->ik", "--size", "i=2,j=2,k=2", "--target", "cuda", "--recipe"], "ORIO-N016"),
        (["i,i->", "--size", "i=2", "--target", "cuda"], "ORIO-N016"),
        (["i->i", "--size", "i=2", "--target", "c", "--device", "emulated:A100"], "ORIO-U060"),
        (["i,i->", "--size", "i=2", "--target", "openacc"], "ORIO-N016"),
        (["i,i->", "--size", "i=2", "--target", "opencl"], "ORIO-N016"),
        (["ij->ij", "--size", "i=2,j=2", "--target", "metal"], "ORIO-U013"),
    ],
)
def test_mistakes(words: list[str], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tensor", *words]) == 2
    assert code in capsys.readouterr().err


def test_mistakes_in_a_file_are_shown_at_their_places(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(PROGRAM.replace("b:(k,j)", "d:(k,j)"))
    assert main(["tensor", str(file), "--recipe"]) == 2
    assert f"{file}:8:24: error[ORIO-N005]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (orio_py.TuneOptions(), (TRIALS, SEARCH_TIME / 2)),
        (orio_py.TuneOptions(trials=3), (3, None)),
        (orio_py.TuneOptions(time=Seconds(5.0)), (None, 5.0)),
        (orio_py.TuneOptions(target="opencl"), (None, None)),
    ],
)
def test_a_search_that_nothing_limits_takes_half_a_minute(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: orio_py.TuneOptions,
    wanted: tuple[int | None, float | None],
) -> None:
    """Two statements have a region each, which share the time."""
    heard: list[orio_py.TuneOptions] = []

    def tune(paths: list[Path], *, options: orio_py.TuneOptions, **others: object) -> TuneReport:
        heard.append(options)
        return TuneReport()

    monkeypatch.setattr("orio_py.api.contractions.tune", tune)
    text = "two\ndefine: n = 4\nvariables: a: (n) b: (n) c: (n,n)\noperations: a:(i) += c:(i,j)  b:(j) += c:(i,j)\n"
    file = tmp_path / "two.tensor"
    file.write_text(text)
    orio_py.tensor(file, output=tmp_path / "two.c", options=given)
    assert [(options.trials, options.time) for options in heard] == [wanted]
