"""A device language is named in its own modules only: the registry of backends knows the others' words for it."""

from __future__ import annotations

import ast
import importlib
from dataclasses import fields
from pathlib import Path

import pytest

from orio_py.codegen.languages import renderer_of
from orio_py.kernel.backend import Backend
from orio_py.kernel.backends import BACKENDS, BY_TITLE
from orio_py.measure.offload.measurer import device_measurer
from orio_py.transformation.catalog import TRANSFORMATIONS
from orio_py.transformation.entry import Entry

ROOT = Path(__file__).resolve().parents[2] / "orio_py"

OWN = ("build/cuda", "build/nv", "build/cubin", "codegen/{}/", "kernel/backends/{}.py", "measure/{}", "record/",
       "transformation/offload/{}.py")  # fmt: skip
"""Modules that a backend is made of, by the beginning of their path."""

REASONS = {
    "api/machine.py": "what `orio devices` tells of each programming model has a key of its own in the JSON report",
    "api/contractions.py": "contractions have rules of their own for GPUs, whose recipes have the command `cuda`",
    "cli/tables.py": "and a table of its own",
    "tensors/kernel_file.py": "contractions choose vectors or threads, and write the transformations of either",
    "tensors/statement_recipe.py": "the command `cuda` of recipes by statement number is CUDA-CHiLL's",
    "transformation/statements/mapped_nests.py": "the same",
    "transformation/statements/recipe.py": "the same",
    "transformation/statements/table.py": "the same",
}
"""Where the word stands for something else."""


def named_in(path: Path, words: set[str]) -> set[str]:
    """Those of the words that are texts in a module's code, docstrings left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in documentation)
    return {text.value for text in texts if text.value in words}


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=lambda backend: backend.name)
def test_a_language_is_named_in_its_own_modules_only(backend: Backend) -> None:
    own = tuple(pattern.format(backend.name) for pattern in OWN)
    paths = {path.relative_to(ROOT).as_posix(): path for path in ROOT.rglob("*.py")}
    others = {name: path for name, path in paths.items() if not name.startswith(own)}
    found = {name for name, path in others.items() if named_in(path, {backend.name, backend.title})}
    assert found <= REASONS.keys()


def test_every_reason_is_needed() -> None:
    words = {word for backend in BACKENDS.values() for word in (backend.name, backend.title)}
    assert {name for name in REASONS if not named_in(ROOT / name, words)} == set()


def test_a_name_in_code_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text('"""opencl"""\nx = "opencl"\ny = "opencl.c"\n')
    assert named_in(path, {"opencl", "cuda"}) == {"opencl"}


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=lambda backend: backend.name)
def test_all_parts_of_a_backend_are_there(backend: Backend) -> None:
    assert isinstance(backend.load(backend.transformation), Entry)
    assert TRANSFORMATIONS[backend.title].name == backend.title
    assert BY_TITLE[backend.title] is backend
    assert renderer_of(backend).program is not None
    assert device_measurer(backend.name) is not None
    assert all(TRANSFORMATIONS[backend.title].argument(name) is not None for name in backend.positions)
    assert TRANSFORMATIONS["Composite"].argument(backend.name) is not None
    assert backend.block_sizes.keys() == {1, 2, 3}


def test_the_kernel_plan_knows_no_language() -> None:
    plan = importlib.import_module("orio_py.kernel.plan")
    assert "language" in {field.name for field in fields(plan.KernelPlan)}
    assert named_in(ROOT / "kernel/plan.py", {*BACKENDS, *BY_TITLE}) == set()
