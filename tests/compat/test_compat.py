"""Inputs in Orio's dialect are read completely and mean what they meant there."""

from __future__ import annotations

from pathlib import Path

import pytest

from orio_py.core.diagnostics import Severity
from orio_py.core.expr import evaluate
from orio_py.core.source import SourceFile
from orio_py.ctree.emit import emit
from orio_py.ctree.nodes import For, Node, Transform
from orio_py.frontend.read import ReadResult, read
from orio_py.spec.inputs import Storage

HERE = Path(__file__).parent
INPUTS = ("matmul_bare_spec", "matvec_imported", "pragmas", "nested_transforms", "skeleton")


def load(name: str, spec: str | None = None, newline: str = "\n") -> ReadResult:
    data = (HERE / f"{name}.c").read_bytes().replace(b"\n", newline.encode())
    outside = SourceFile.read(HERE / spec, spec) if spec else None
    return read(SourceFile(f"{name}.c", data), directory=HERE, spec=outside)


def errors(result: ReadResult) -> list[str]:
    return [d.headline() for d in result.diagnostics if d.severity is Severity.ERROR]


def transforms(node: Node) -> list[Transform]:
    found = [node] if isinstance(node, Transform) else []
    return found + [inner for _, child in node.children() for inner in transforms(child)]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("name", INPUTS)
def test_no_errors(name: str, newline: str) -> None:
    result = load(name, newline=newline)
    assert errors(result) == []
    assert result.tasks


def test_fragment_with_external_files() -> None:
    (task,) = load("matmul_bare_spec").tasks
    assert task.name == "matmul_bare_spec"
    assert [p.name for p in task.parameters] == ["T1_I", "T1_J", "T1_K", "U_I", "VEC", "OMP", "CFLAGS"]
    assert len(task.parameters[3].values) == 30
    assert [(p.name, p.values) for p in task.inputs.parameters] == [
        ("MSIZE", (500,)),
        ("NSIZE", (500,)),
        ("KSIZE", (500,)),
    ]
    assert task.inputs.decl_file is not None
    assert task.inputs.init_file is not None
    tile = task.constraints[0].expression
    assert evaluate(tile, {"T1_I": 16, "U_I": 8}) is True
    assert evaluate(tile, {"T1_I": 16, "U_I": 7}) is False
    (region,) = task.regions
    (step,) = region.recipe.steps
    assert [a.name for a in step.arguments] == ["tile", "permut", "unrolljam", "vector", "openmp"]
    assert len(transforms(region.tree)) == 1
    assert transforms(region.reference) == []
    assert "for (k = 0; k <= KSIZE - 1; k++)" in region.reference_text
    text = task.source.text[task.extent.start : task.extent.end]
    assert text.lstrip().startswith("int i, j, k;")


def test_imported_specification() -> None:
    (task,) = load("matvec_imported").tasks
    assert task.name == "matvec"
    assert task.parameters[0].values == (1, 2, 4, 8)
    assert (task.parameters[1].name, task.parameters[1].option) == ("t", "-t")
    assert task.measurement.repetitions == 10
    (region,) = task.regions
    assert isinstance(transforms(region.tree)[0].stmt, For)
    assert region.reference_text.strip().startswith("for (i = 0;")
    assert task.surroundings.function is not None


def test_pragma_forms() -> None:
    scale, shift = load("pragmas").tasks
    assert (scale.name, scale.has_spec) == ("scale", False)
    assert scale.regions[0].recipe.steps[0].name == "Unroll"
    assert (shift.name, shift.has_spec) == ("shift", True)
    (step,) = shift.regions[0].recipe.steps
    assert step.name == "Composite"
    values = {a.name: evaluate(a.expression, {"T1_I": 32, "U1_I": 2, "VEC1": True}) for a in step.arguments}
    assert values == {
        "tile": [("i", 32, "ii")],
        "unrolljam": (["i"], [2]),
        "vector": (True, ["ivdep", "vector always"]),
    }


def test_nested_transforms() -> None:
    (task,) = load("nested_transforms").tasks
    (region,) = task.regions
    assert [step.name for step in region.recipe.steps] == ["Composite", "Unroll", "Tile", "Permut"]
    marks = transforms(region.tree)
    assert [mark.step for mark in marks] == [0, 1, 2, 3]
    assert isinstance(marks[1].stmt, For)
    assert isinstance(marks[2].stmt, Transform)
    assert str(region.recipe.steps[2].position) == "nested_transforms.c:16:7"


def test_external_specification_groups_by_function() -> None:
    result = load("outside", spec="outside.spec")
    assert errors(result) == []
    assert [(t.name, len(t.regions), t.has_spec) for t in result.tasks] == [
        ("first", 2, True),
        ("second", 1, True),
    ]
    assert all(t.parameters[0].values == (1, 2, 3, 4) for t in result.tasks)
    hull = result.tasks[0].extent
    text = result.tasks[0].source.text[hull.start : hull.end]
    assert text.startswith("/*@ begin Loop")
    assert text.endswith("/*@ end @*/")
    assert "outside.spec" in result.sources


def test_without_specification_each_region_is_a_task() -> None:
    tasks = load("outside").tasks
    assert [(t.name, t.has_spec) for t in tasks] == [("first", False), ("first_2", False), ("second", False)]


def test_skeleton_validation_and_what_has_no_effect() -> None:
    result = load("skeleton")
    (task,) = result.tasks
    assert task.measurement.skeleton_file is not None
    assert task.measurement.validation_file is not None
    assert task.inputs.macros == ("HALF 0.5",)
    assert task.inputs.declarations[0].storage is Storage.STATIC
    assert sorted(d.code for d in result.diagnostics) == ["ORIO-S007", "ORIO-S007"]


def test_reading_twice_gives_the_same() -> None:
    for name in INPUTS:
        first, second = load(name), load(name)
        assert [emit(r.tree) for t in first.tasks for r in t.regions] == [
            emit(r.tree) for t in second.tasks for r in t.regions
        ]
