"""What a command loads: a finished task is answered without what builds, measures or writes trials."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import orio_py
from orio_py.tuning.variants import legality
from orio_py.tuning.variants.variant import VariantGenerator

SOURCE = """void scale(int n, double factor, double *x)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1'; }
    def performance_params { param U[] = %s; }
    def input_params { param n[] = [500]; }
    def input_vars { decl double factor = 1.5; decl dynamic double x[n] = random; }
    def search { arg algorithm = 'Exhaustive'; }
  ) @*/
  /*@ begin Loop (transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    x[i] = factor * x[i];
  /*@ end @*/
  /*@ end @*/
}
"""

PROBE = """
import json, sys
from orio_py.cli.main import main
status = main(sys.argv[1:])
print(json.dumps([status, sorted(sys.modules)]))
"""


def run(*arguments: str) -> set[str]:
    """The modules that a command has loaded when it ends well."""
    words = [sys.executable, "-c", PROBE, *arguments]
    done = subprocess.run(words, capture_output=True, text=True)
    status, modules = json.loads(done.stdout.splitlines()[-1])
    assert status == 0, done.stderr
    return set(modules)


def test_a_file_for_processors_is_checked_without_what_devices_and_searches_need(tmp_path: Path) -> None:
    source = tmp_path / "scale.c"
    source.write_text(SOURCE % "[1, 2, 3]")
    loaded = run("check", str(source))
    assert "orio_py.api.checking" in loaded
    unwanted = (
        "numpy",
        "sqlalchemy",
        "orio_py.api.tuning",
        "orio_py.search.",
        "orio_py.measure",
        "orio_py.codegen.cuda",
    )
    assert [name for name in loaded if name.startswith(unwanted)] == []


@pytest.mark.share(2)
@pytest.mark.parametrize("output", ["first.c", "_scale.c"])
def test_a_finished_task_is_answered_without_the_rest(tmp_path: Path, output: str) -> None:
    source, db = tmp_path / "scale.c", tmp_path / "results.db"
    source.write_text(SOURCE % "[1, 2, 3]")
    command = ["tune", str(source), "--quiet", "--db", str(db), "-o"]
    first = run(*command, str(tmp_path / output))
    assert {"sqlalchemy", "islpy", "orio_py.tuning.session.session"} <= first
    second = run(*command, str(tmp_path / "second.c"))
    assert (tmp_path / "second.c").read_bytes() == (tmp_path / output).read_bytes()
    unwanted = {
        "sqlalchemy",
        "islpy",
        "multiprocessing",
        "orio_py.tuning.session.session",
        "orio_py.measure.evaluator",
    }
    assert second & unwanted == set()
    unused = {"orio_py.transformation.tiling.tile", "orio_py.transformation.composite.composite"}
    assert second & unused == set()
    assert "orio_py.transformation.unrolling.unroll" in second


def test_help_loads_little() -> None:
    loaded = run("--help")
    assert loaded & {"lark", "pycparser", "sqlalchemy", "islpy", "jinja2", "orio_py.api"} == set()


def test_a_long_sample_ends_when_nothing_new_is_found(tmp_path: Path, monkeypatch) -> None:
    """Deterministic: the same draws, and as many of them, in each run."""
    source = tmp_path / "scale.c"
    source.write_text(SOURCE % "range(1, 1000)")
    tried: list[int] = []
    parts = VariantGenerator.parts

    def counting(self, point, values):
        tried.append(values["U"])
        return parts(self, point, values)

    monkeypatch.setattr(VariantGenerator, "parts", counting)
    report = orio_py.check(source)
    assert report.exit_code == 0
    first = list(tried)
    assert report.legality[0].tried == 1 + legality.CONFIGURATIONS_WITHOUT_NEWS
    assert len(first) == report.legality[0].tried + 1, "one more shows that U matters"
    tried.clear()
    assert orio_py.check(source).exit_code == 0
    assert tried == first


def test_what_is_refused_is_sampled_to_the_end(tmp_path: Path) -> None:
    source = tmp_path / "scale.c"
    source.write_text((SOURCE % "range(1, 1000)").replace("x[i] = factor", "again: x[i] = factor"))
    report = orio_py.check(source)
    assert report.exit_code == 2
    notes = [note.message for d in report.diagnostics for note in d.notes]
    assert (
        f"refused for {legality.CONFIGURATIONS_CHECKED} of {legality.CONFIGURATIONS_CHECKED} configurations tried"
        in notes
    )


def test_all_of_a_small_space_is_tried(tmp_path: Path) -> None:
    source = tmp_path / "scale.c"
    source.write_text(SOURCE % "range(0, 60)")
    report = orio_py.check(source)
    (problem,) = report.diagnostics
    assert "refused for 1 of 60 configurations tried" in [note.message for note in problem.notes]
    (found,) = report.legality
    assert found.as_json() == {
        "file": str(source),
        "line": 4,
        "configurations": 60,
        "tried": 60,
        "legal": 59,
        "refused": [
            {"code": problem.code, "message": problem.message, "count": 1, "constraint": "U != 0"},
        ],
        "idle": [],
    }
    assert problem.notes[-1].message == "left out by `constraint legal1 = U != 0;`"
    source.write_text(
        SOURCE.replace("param U[] = %s;", "param U[] = %s; constraint legal1 = U != 0;") % "range(0, 60)"
    )
    assert orio_py.check(source).diagnostics == ()


def test_a_sample_holds_the_first_configuration_and_ends_in_time(tmp_path: Path, monkeypatch) -> None:
    source = tmp_path / "scale.c"
    source.write_text((SOURCE % "range(1, 1000)").replace("ufactor=U", "ufactor=U if U == 1 else 0"))
    monkeypatch.setattr(legality, "SECONDS", 0.0)
    report = orio_py.check(source)
    (found,) = report.legality
    assert (report.exit_code, found.tried, found.legal) == (0, 1, 1)
    monkeypatch.setattr(legality, "SECONDS", 60.0)
    (found,) = orio_py.check(source).legality
    assert found.legal == 1
    assert found.tried > legality.FEWEST
