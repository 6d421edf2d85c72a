"""`orio results apply`: stored configurations written into sources."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

import orio_py
from orio_py.cli.main import main

SOURCE = """void scale(int n, double factor, double *x)
{
  int i;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1'; }
    def performance_params { param U[] = [1, 2, 3]; }
    def input_params { param n[] = [500, 1000]; }
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


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source, its database, and what `tune` made of it."""
    folder = tmp_path_factory.mktemp("tuned")
    (folder / "scale.c").write_text(SOURCE)
    options = orio_py.TuneOptions(db=folder / "results.db")
    report = orio_py.tune(folder / "scale.c", options=options)
    assert report.exit_code == 0, [d.headline() for d in report.diagnostics]
    return folder


def applied(source: Path, db: Path, output: Path, *more: str) -> int:
    return main(["results", "apply", str(source), "--db", str(db), "-o", str(output), *more])


def copy_of(db: Path, target: Path, *statements: str) -> Path:
    """A copy of the database, changed by SQL."""
    before, after = sqlite3.connect(db), sqlite3.connect(target)
    before.backup(after)
    before.close()
    for statement in statements:
        after.execute(statement)
    after.commit()
    after.close()
    return target


@pytest.mark.proof
def test_the_text_is_what_tune_wrote(tuned, tmp_path, capsys):
    assert applied(tuned / "scale.c", tuned / "results.db", tmp_path / "out.c", "--json") == 0
    assert (tmp_path / "out.c").read_bytes() == (tuned / "_scale.c").read_bytes()
    report = json.loads(capsys.readouterr().out)
    assert (report["diagnostics"], report["outputs"]) == ([], [str(tmp_path / "out.c")])


def test_without_the_kept_code_it_is_made_again(tuned, tmp_path):
    statement = 'UPDATE tuning_result SET report = replace(report, \'"layout":"\', \'"layout":"x\')'
    db = copy_of(tuned / "results.db", tmp_path / "r.db", statement)
    assert applied(tuned / "scale.c", db, tmp_path / "out.c") == 0
    assert (tmp_path / "out.c").read_bytes() == (tuned / "_scale.c").read_bytes()


def test_a_tree_is_mirrored(tuned, tmp_path):
    source = tmp_path / "src"
    source.mkdir()
    (source / "scale.c").write_text(SOURCE)
    (source / "other.c").write_text("int other;\n")
    assert applied(source, tuned / "results.db", tmp_path / "out") == 0
    assert "orio_py: generated" in (tmp_path / "out" / "scale.c").read_text()
    assert (tmp_path / "out" / "other.c").read_text() == "int other;\n"


@pytest.mark.proof
def test_trials_of_another_machine(tuned, tmp_path, capsys):
    """Exported, imported elsewhere and applied: there is no finished run, so the best trials count."""
    exported = tmp_path / "trials.json"
    assert main(["results", "export", "--db", str(tuned / "results.db"), "-o", str(exported)]) == 0
    db = tmp_path / "imported.db"
    assert main(["results", "import", str(exported), "--db", str(db)]) == 0
    db = copy_of(db, tmp_path / "r.db", "UPDATE trial SET environment = 'ee' || substr(environment, 3)")
    assert applied(tuned / "scale.c", db, tmp_path / "out.c") == 0
    text = (tmp_path / "out.c").read_text()
    assert text.count("the best stored trial; not compared with the original") == 2
    assert "} else if (n <= 1000) {" in text
    capsys.readouterr()
    assert applied(tuned / "scale.c", db, tmp_path / "no.c", "--machine", "ffff") == 2
    assert "error[ORIO-D011]: nothing is stored for `scale` at n=500" in capsys.readouterr().err
    assert applied(tuned / "scale.c", db, tmp_path / "yes.c", "--machine", "ee") == 0


def test_several_other_machines_have_to_be_told_apart(tuned, tmp_path, capsys):
    names = ("name, data_source, node_count, contexts_per_node, threads_per_context, total_threads, file, task,"
             " configuration, toolchain, generation, parameters, inputs, code, stage, reason, clock,"
             " median_seconds, build_seconds, run_seconds, time")  # fmt: skip
    db = copy_of(
        tuned / "results.db",
        tmp_path / "r.db",
        "UPDATE trial SET environment = 'aa' || substr(environment, 3)",
        f"INSERT INTO trial ({names}, environment) SELECT {names}, 'bb' || substr(environment, 3) FROM trial",
    )
    assert applied(tuned / "scale.c", db, tmp_path / "out.c") == 2
    told = capsys.readouterr().err
    assert "scale.c:4:3: error[ORIO-D012]: `scale` was tuned on 2 other machines at n=500" in told
    assert not (tmp_path / "out.c").exists()


def test_changed_code_is_applied_with_a_warning(tuned, tmp_path, capsys):
    source = tmp_path / "scale.c"
    source.write_text(SOURCE.replace("factor * x[i]", "factor * x[i] + 1"))
    assert applied(source, tuned / "results.db", tmp_path / "out.c") == 0
    assert capsys.readouterr().err.count("scale.c:4:3: warning[ORIO-D013]: `scale` at n=") == 2
    source.write_text(SOURCE.replace("[500, 1000]", "[500, 2000]"))
    assert applied(source, tuned / "results.db", tmp_path / "no.c") == 2
    assert "error[ORIO-D011]: nothing is stored for `scale` at n=2000" in capsys.readouterr().err
    source.write_text(SOURCE.replace("param U[]", "param V[] = [1]; param U[]"))
    assert applied(source, tuned / "results.db", tmp_path / "no.c") == 2
    assert "the stored configuration of `scale` has other parameters" in capsys.readouterr().err
    assert not (tmp_path / "no.c").exists()


def test_the_configuration_file_counts_as_for_tune(tmp_path, capsys):
    """With options that decide whose trials they are, and with what chooses files and output."""
    source = tmp_path / "src"
    source.mkdir()
    (source / "scale.c").write_text(SOURCE)
    (source / "not.c").write_text(SOURCE.replace("[500, 1000]", "[77]"))
    (source / ".oriorc").write_text(
        f'repeats = 3\nexclude = ["not.c"]\noutput = "../out"\ncc = "{shutil.which("gcc")}"\nset = {{ n = 500 }}\n'
    )
    db = str(tmp_path / "results.db")
    assert main(["tune", str(source), "--db", db]) == 0
    tuned = (tmp_path / "out" / "scale.c").read_bytes()
    shutil.rmtree(tmp_path / "out")
    capsys.readouterr()
    assert main(["results", "apply", str(source), "--db", db]) == 0
    assert capsys.readouterr().err == ""
    assert (tmp_path / "out" / "scale.c").read_bytes() == tuned
    assert b"generated by orio_py" in tuned
    assert (tmp_path / "out" / "not.c").read_bytes() == (source / "not.c").read_bytes()
    # The command line wins, and mistakes in the file are told.
    assert main(["results", "apply", str(source / "scale.c"), "--db", db, "-o", str(tmp_path / "one.c")]) == 0
    assert (tmp_path / "one.c").read_bytes() == tuned
    (source / ".oriorc").write_text("repeets = 3\n")
    assert main(["results", "apply", str(source), "--db", db]) == 2
    assert ".oriorc:1:1: error[ORIO-U032]" in capsys.readouterr().err


def test_failed_trials_alone_are_no_variant(tuned, tmp_path, capsys):
    db = copy_of(
        tuned / "results.db",
        tmp_path / "r.db",
        "DELETE FROM tuning_result",
        "UPDATE trial SET stage = 'crash', reason = 'ended by SIGSEGV', median_seconds = NULL, clock = NULL",
    )
    assert applied(tuned / "scale.c", db, tmp_path / "out.c") == 4
    assert "error[ORIO-D014]: no stored trial of `scale` was valid at n=500" in capsys.readouterr().err


def test_a_missing_database(tuned, tmp_path, capsys):
    assert applied(tuned / "scale.c", tmp_path / "none.db", tmp_path / "out.c") == 2
    assert "ORIO-D006" in capsys.readouterr().err


def test_a_point_of_the_front_or_the_best_by_another_objective(tuned: Path, tmp_path: Path, capsys) -> None:
    """Invented counters: the fewest instructions has the configuration with U of 3."""
    counters = "INSERT INTO counter SELECT id, 'instructions', 10 - json_extract(parameters, '$.U'), '', 'simulated' FROM trial"
    times = "UPDATE sample SET cpu_seconds = 0.001 * (SELECT json_extract(parameters, '$.U') FROM trial WHERE id = trial)"
    db = copy_of(tuned / "results.db", tmp_path / "r.db", counters, times)
    out = tmp_path / "out.c"
    both = ("--objective", "time", "--objective", "instructions")
    for point in (1, 2, 3):
        assert applied(tuned / "scale.c", db, out, *both, "--point", str(point)) == 0
        assert f"configuration for n=500: U={point}\n" in out.read_text()
        assert f"point {point} of the stored trials' Pareto front; not compared with" in out.read_text()
    assert applied(tuned / "scale.c", db, out, "--objective", "instructions") == 0
    assert "configuration for n=500: U=3\n" in out.read_text()
    assert "the best stored trial by `instructions`" in out.read_text()
    before = out.read_text()
    capsys.readouterr()
    assert applied(tuned / "scale.c", db, out, *both, "--point", "4") == 2
    assert "error[ORIO-D018]: the front of `scale` has 3 points, not 4" in capsys.readouterr().err
    assert out.read_text() == before
