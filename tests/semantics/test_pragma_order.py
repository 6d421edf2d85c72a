"""Pragmas one behind the other: what is refused is what gcc refuses."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from c_programs import gcc_is_gnu, links
from c_trees import composite, context, statement

from orio_py.ctree.emit import emit
from orio_py.transformation.base import Refusal
from orio_py.transformation.composite.composite import Composite
from orio_py.transformation.parallel.pragma import Pragma
from orio_py.transformation.parallel.vector import Vector

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or not gcc_is_gnu() or not links("-fopenmp"),
    reason="gcc with OpenMP is not installed",
)

TEXTS = (
    "GCC unroll 2",
    "GCC unroll 4",
    "GCC ivdep",
    "ivdep",
    "vector always",
    "clang loop unroll(enable)",
    "omp simd",
    "omp parallel",
    "omp parallel for",
    "pack(1)",
)
LOOP = "for (i = 0; i < n; i++) a[i] = 0;"
AROUND = context("int i, n; double *a;")


def errors_of_gcc(codes: Sequence[str], folder: Path) -> set[int]:
    """The numbers of the statements that gcc refuses with or without OpenMP."""
    functions = [
        f'#line 1 "code_{number}"\nvoid f_{number}(int n, double *a) {{\nint i;\n{code}\n}}\n'
        for number, code in enumerate(codes)
    ]
    (folder / "p.c").write_text("".join(functions))
    said = "".join(
        subprocess.run(
            ["gcc", "-fsyntax-only", *flags, "p.c"], cwd=folder, capture_output=True, text=True
        ).stderr
        for flags in ((), ("-fopenmp",))
    )
    return {int(number) for number in re.findall(r"^code_(\d+):\S+ error", said, re.M)}


def variant(first: tuple[str, ...], second: tuple[str, ...]) -> str | None:
    """The loop behind the first texts and then the second ones; None where that is refused."""
    try:
        one = Pragma(first).apply(statement(LOOP), AROUND)
        return emit(composite(vector=(True, second)).apply(one, AROUND))
    except Refusal as refusal:
        if refusal.diagnostics[0].code != "ORIO-T033":
            raise
        return None


def test_what_is_not_refused_compiles(tmp_path: Path) -> None:
    pairs = list(product(TEXTS, TEXTS))
    made = [variant((one, two), ()) for one, two in pairs] + [variant((one,), (two,)) for one, two in pairs]
    codes = [code for code in made if code is not None]
    assert len(codes) > 100
    assert [codes[number] for number in errors_of_gcc(codes, tmp_path)] == []


def test_what_is_refused_does_not_compile(tmp_path: Path) -> None:
    gnu = [text for text in TEXTS if text.startswith("GCC")]
    pairs = list(product(gnu, gnu))
    refused = {number for number, (one, two) in enumerate(pairs) if variant((one, two), ()) is None}
    plain = [f"#pragma {one}\n#pragma {two}\n{LOOP}" for one, two in pairs]
    assert refused == errors_of_gcc(plain, tmp_path)


REFUSED = (
    composite(pragma=[("i", "GCC unroll 2")], vector=(True, ("GCC unroll 4",))),
    Pragma(("GCC unroll 2", "GCC unroll 4")),
    Pragma(("GCC ivdep", "ivdep")),
    Pragma(("GCC ivdep", "vector always", "omp critical")),
    Pragma(("clang loop unroll_count(2)", "clang loop vectorize(enable) unroll(full)")),
    Pragma(("omp parallel for", "omp for")),
    Vector(True, ("omp simd", "omp simd")),
)


@pytest.mark.parametrize("step", REFUSED)
def test_refusals_name_the_loop(step: Composite | Pragma | Vector) -> None:
    with pytest.raises(Refusal) as caught:
        step.apply(statement(f"\n  {LOOP}"), AROUND)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "ORIO-T033"
    assert diagnostic.position is not None
    assert (diagnostic.position.line, diagnostic.position.column) == (2, 3)
    assert diagnostic.help is not None


def test_behind_a_pragma_of_the_users(tmp_path: Path) -> None:
    behind = context("int i, n; double *a;", pragmas=("omp parallel for",))
    code = emit(Pragma(("GCC unroll 2",)).apply(statement(LOOP), behind))
    assert not errors_of_gcc([f"#pragma omp parallel for\n{code}"], tmp_path)
    with pytest.raises(Refusal, match="GCC unroll 4"):
        Pragma(("GCC unroll 2",)).apply(statement(LOOP), context("int i, n;", pragmas=("GCC unroll 4",)))
