"""OpenMP pragmas in code that its users build without OpenMP: the original is built so, variants may have threads."""

from __future__ import annotations

from pathlib import Path

import pytest

from orio_py.build.compiler import Artifact, resolve
from orio_py.cli.main import main
from orio_py.measure.base import RunLimits
from orio_py.measure.evaluator import Evaluator
from orio_py.tuning.files.load import load
from orio_py.tuning.plan import with_target

RACING = """/*@ begin PerfTuning (
  def build { arg build_command = 'gcc -O2'; }
  def input_vars { decl int m = 9; decl int n = 7; decl static double a[63] = random; decl static double b[7] = random; }
) @*/
void product(int m, int n, double *restrict a, double *restrict b)
{
  int i, j;
  /*@ begin Loop (transform Unroll(ufactor=2)) @*/
  #pragma omp parallel for
  for (i = 0; i < m; i++)
    for (j = 0; j < n; j++)
      a[i*n + j] *= b[j];
  /*@ end @*/
}
/*@ end @*/
"""


def test_a_racing_pragma_is_no_error_where_nothing_acts_on_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "product.c"
    source.write_text(RACING)
    assert main(["check", str(source)]) == 0
    told = "product.c:10:3: warning[ORIO-T096]: `#pragma omp parallel for` has no effect"
    assert told in capsys.readouterr().err
    source.write_text(RACING.replace("gcc -O2", "gcc -O2 -fopenmp"))
    assert main(["check", str(source)]) == 2
    told = "product.c:10:3: error[ORIO-T096]: `#pragma omp parallel for` is wrong here"
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("target", ["openmp", "c"])
def test_the_original_has_no_threads_that_its_build_does_not_give_it(tmp_path: Path, target: str) -> None:
    source = tmp_path / "product.c"
    source.write_text(RACING)
    (loaded,) = load([source]).tasks
    task = with_target(loaded.task, target)
    evaluator = Evaluator(task, loaded.points[0], resolve(task.build, tmp_path), tmp_path / "w", RunLimits())
    built = evaluator.build_original({})[1]
    variant = evaluator.build(evaluator.program([loaded.task.regions[0].reference_text]), {})
    assert isinstance(variant, Artifact)
    assert b"GOMP_parallel" not in built.path.read_bytes()
    assert (b"GOMP_parallel" in variant.path.read_bytes()) == (target == "openmp")


def test_a_pragma_that_the_recipe_leaves_where_it_is_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "product.c"
    loops = RACING[RACING.index("  #pragma") : RACING.index("  /*@ end @*/")]
    marked = loops.replace("for (j", "transform Unroll(ufactor=2) for (j")
    source.write_text(RACING.replace("(transform Unroll(ufactor=2))", f"(\n{marked})"))
    assert main(["check", str(source)]) == 2
    assert "error[ORIO-T096]" in capsys.readouterr().err


def test_pragmas_of_what_was_written_are_right_with_threads(tmp_path: Path) -> None:
    source, written = tmp_path / "product.c", tmp_path / "new.c"
    source.write_text(RACING.replace("restrict ", ""))
    assert main(["transform", str(source), "-o", str(written)]) == 0
    generated = written.read_text().partition("#else /*")[0]
    pragmas = [line.strip() for line in generated.splitlines() if "#pragma omp" in line]
    assert pragmas == ["#pragma omp parallel for private(j)"] * len(pragmas)
    # Where `a` and `b` overlap the iterations depend on each other, and the original has no threads.
    fast, slow = generated.split("} else {")
    assert "#pragma omp" in fast
    assert "#pragma omp" not in slow
