"""The annotated kernels of `benchmarks/kernels`: each compiles, reads, has a space, transforms and tunes."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from orio_py import TuneOptions, transform, tune
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, has_errors
from orio_py.core.expr import Value
from orio_py.core.source import SourceFile
from orio_py.ctree.emit import emit
from orio_py.ctree.nodes import Compound
from orio_py.frontend.read import read
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.region import Region
from orio_py.spec.task import TuningTask
from orio_py.transformation.recipe import apply_recipe, check_recipe, context_for

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "kernels"
KERNELS = sorted(path.name for path in FOLDER.glob("*.c"))
STRICT = ("gcc", "-std=c99", "-Wall", "-Wextra", "-Werror")

#: What makes each kernel small enough to tune in a second or two.
SMALL: Mapping[str, Mapping[str, str]] = {
    "adi.c": {"#define N 800": "#define N 40", "param N[] = [800];": "param N[] = [40];"},
    "jacobi2d.c": {"#define N 1024": "#define N 48", "param N[] = [1024];": "param N[] = [48];"},
    "lu.c": {"param n[] = [512];": "param n[] = [40];"},
    "matmul.c": {"param n[] = [512];": "param n[] = [40];"},
    "matmul_packed.c": {"param n[] = [1024];": "param n[] = [40];"},
    "matvec.c": {"param m[] = [2048];": "param m[] = [70];", "param n[] = [2048];": "param n[] = [50];"},
    "sfi_function.c": {"[64, 100];": "[9];"},
    "sfi_jacobian.c": {"[64, 75, 100];": "[9];"},
    "syrk.c": {"param n[] = [512];": "param n[] = [40];", "param m[] = [256];": "param m[] = [30];"},
    "tensor_sd_t_d1_1.c": {"[] = [16];": "[] = [4];"},
    "vecaxpy.c": {"param n[] = [10000, 1000000];": "param n[] = [100, 1000];"},
}

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


def tasks_of(name: str) -> tuple[TuningTask, ...]:
    path = FOLDER / name
    result = read(SourceFile(name, path.read_bytes()), directory=FOLDER)
    assert not has_errors(result.diagnostics), [d.headline() for d in result.diagnostics]
    return result.tasks


def first_inputs(task: TuningTask) -> Mapping[str, Value]:
    configuration = SearchSpace(task.inputs.parameters, task.inputs.constraints).first()
    assert configuration is not None
    return dict(configuration)


def space_of(task: TuningTask) -> SearchSpace:
    return SearchSpace(task.parameters, task.constraints, first_inputs(task))


def test_every_kernel_has_a_small_size() -> None:
    assert sorted(SMALL) == KERNELS


@needs_gcc
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_compiles_alone_without_warnings(name: str, tmp_path: Path) -> None:
    command = [*STRICT, "-c", str(FOLDER / name), "-o", str(tmp_path / "kernel.o")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", KERNELS)
def test_kernel_is_read_without_diagnostics(name: str) -> None:
    tasks = tasks_of(name)
    assert len(tasks) == 1
    (task,) = tasks
    assert task.has_spec
    assert task.parameters
    known = frozenset(p.name for p in (*task.parameters, *task.inputs.parameters))
    for region in task.regions:
        assert region.recipe.steps
        assert check_recipe(region, known) == ()


@pytest.mark.parametrize("name", KERNELS)
def test_kernel_space_is_not_empty(name: str) -> None:
    (task,) = tasks_of(name)
    space = space_of(task)
    assert 20 <= space.size <= space.cartesian
    assert space.first() is not None


@pytest.mark.parametrize("name", KERNELS)
def test_recipe_applies_at_first_and_random_configurations(name: str) -> None:
    (task,) = tasks_of(name)
    space = space_of(task)
    inputs = first_inputs(task)
    first = space.first()
    assert first is not None
    for configuration in [first, *space.sample(3, random.Random(7))]:
        for region in task.regions:
            before = emit(region.tree)
            applied = applied_or_refused(task, region, {**inputs, **configuration})
            assert emit(region.tree) == before
            if isinstance(applied, Compound):
                assert emit(applied)
            else:
                assert configuration != first, [d.headline() for d in applied]
                assert_refused_with_place(applied)


def applied_or_refused(
    task: TuningTask, region: Region, values: Mapping[str, Value]
) -> Compound | tuple[Diagnostic, ...]:
    try:
        return apply_recipe(region, values, context_for(task, region))
    except DiagnosticError as refusal:
        return refusal.diagnostics


def assert_refused_with_place(diagnostics: tuple[Diagnostic, ...]) -> None:
    assert diagnostics
    for diagnostic in diagnostics:
        assert diagnostic.code.startswith("ORIO-T")
        assert diagnostic.position is not None


@pytest.mark.share(6)
@needs_gcc
@pytest.mark.parametrize("name", KERNELS)
def test_transformed_kernel_compiles_without_warnings(name: str, tmp_path: Path) -> None:
    (task,) = tasks_of(name)
    output = tmp_path / "transformed.c"
    accepted = 0
    for configuration in space_of(task).sample(8, random.Random(11)):
        report = transform([FOLDER / name], output=output, pins={**first_inputs(task), **configuration})
        if report.exit_code != 0:
            assert_refused_with_place(report.diagnostics)
            continue
        accepted += 1
        for flags in ((), ("-O2", "-fopenmp")):
            command = [*STRICT, *flags, "-c", str(output), "-o", str(tmp_path / "kernel.o")]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, f"{dict(configuration)}\n{done.stderr}"
    assert accepted >= 2


@pytest.mark.share(6)
@needs_gcc
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_tunes_at_a_small_size(name: str, tmp_path: Path) -> None:
    shutil.copytree(FOLDER / "init", tmp_path / "init")
    source = (FOLDER / name).read_text()
    for old, new in SMALL[name].items():
        assert old in source
        source = source.replace(old, new)
    path = tmp_path / name
    path.write_text(source)
    output = tmp_path / "tuned.c"
    report = tune([path], output=output, options=TuneOptions(trials=3, seed=3))
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    assert report.regions
    for region in report.regions:
        assert region.trials == 3
        assert region.baseline is not None
        assert region.best is not None
    command = [*STRICT, "-c", str(output), "-o", str(tmp_path / "tuned.o")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
