"""`orio results …`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tau_profiles import read_profile
from trials import START, failure, series, success, trial

import orio_py
from orio_py.cli import results as commands
from orio_py.cli.main import main
from orio_py.core.units import Seconds
from orio_py.record.environment import Environment
from orio_py.record.finals import FinalEntry
from orio_py.record.measurement import Clock, Timing
from orio_py.record.trial import CounterSource, CounterValue
from orio_py.search_space.configuration import Configuration
from orio_py.store.database import ResultsDatabase
from orio_py.tuning.result import Best, Goal, RegionReport, SpaceCount, TimeSpent
from orio_py.tuning.session.report_codec import Remembered, encode

NAMES = [name for name, _, _ in commands.COMMANDS]


TIMING = Timing(Seconds(0.0015), Seconds(1e-6), 35, Clock.WALL)


def report(**changes) -> RegionReport:
    content = {
        "file": "src/lu.c",
        "line": 3,
        "name": "lu",
        "target": "c",
        "inputs": {"N": 500},
        "space": SpaceCount(8, 8),
        "trials": 8,
        "cached": 0,
        "failures": {},
        "refused": 0,
        "seconds": TimeSpent(Seconds(1.0), Seconds(0.5), Seconds(0.5), Seconds(0.0)),
        "environment": Environment("a CPU", 2, "Linux", "gcc 12", "gcc -O2"),
        "baseline": TIMING,
        "kept_original": False,
    }
    return RegionReport(**{**content, **changes})


@pytest.fixture
def db(tmp_path: Path) -> str:
    """A database with two tasks, one of them finished."""
    path = tmp_path / "results.db"
    with ResultsDatabase.open(path) as database:
        database.append_all([trial(1), trial(2), trial(3, failure()), trial(1, task="lu")])
        run = database.start_run("plan", series("lu"), 1, host="h", process=1, time=START)
        database.finish_run(
            run, START, encode(Remembered(report(best=Best({"U": 7, "A": (1,)}, TIMING, 2.5)), ()))
        )
    return str(path)


def told(capsys, *arguments: str) -> str:
    assert main(["results", *arguments]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def document(capsys, *arguments: str) -> dict:
    found = json.loads(told(capsys, *arguments, "--json"))
    assert (found["version"], found["diagnostics"]) == (1, [])
    return found


def test_list(capsys, db):
    text = told(capsys, "list", "--db", db)
    assert "src/lu.c lu N=500" in text
    assert "src/mm.c mm N=500 alpha=1.5" in text
    lu, mm = document(capsys, "list", "--db", db)["series"]
    assert (mm["trials"], mm["failed"], mm["finished_runs"], lu["finished_runs"]) == (3, 1, 0, 1)
    assert mm["best_s"] == trial(1).measurement.timing.median_s
    (only,) = document(capsys, "list", "--db", db, "--region", "lu")["series"]
    assert only["task"] == series("lu").task


def test_list_without_a_database_says_so(capsys, own_data_folder):
    assert "nothing is stored" in told(capsys, "list")
    assert not (own_data_folder / "orio").exists()


def test_show(capsys, db):
    lines = told(capsys, "show", "--db", db, "--file", "mm.c").splitlines()
    rows = [line for line in lines if "src/mm.c" in line]
    assert ["2.00 ms" in rows[0], "3.00 ms" in rows[1], "crash" in rows[2]] == [True] * 3
    assert any("(simulated)" in line for line in lines)
    text = told(capsys, "show", "--db", db, "--limit", "1")
    assert "3 more" in text
    shown = document(capsys, "show", "--db", db, "--task", series().task[:10])["trials"]
    assert [t["outcome"] for t in shown] == ["ok", "ok", "crash"]
    assert shown[0]["wall_s"] == [s.wall for s in trial(1).measurement.samples]
    assert shown[0]["configuration"]["T"] == [8, 2.5]
    assert shown[2]["reason"].startswith("ended by SIGSEGV")


def test_best_is_from_the_finals_where_a_run_finished(capsys, db):
    text = told(capsys, "best", "--db", db)
    assert "2.50x" in text
    assert "no finished run" in text
    lu, mm = (entry["best"] for entry in document(capsys, "best", "--db", db)["series"])
    assert (lu["from"], lu["median_s"], lu["configuration"], lu["speedup"]) == (
        "finals",
        0.0015,
        {"U": 7, "A": [1]},
        2.5,
    )
    assert (mm["from"], mm["configuration"]["U"], mm["speedup"]) == ("trials", 1, None)


def test_front_of_the_objectives_named_or_stored(capsys, db, tmp_path):
    text = told(capsys, "front", "--db", db, "--region", "mm", "--objective", "time", "--objective", "energy")
    assert "src/mm.c mm N=500 alpha=1.5: 1 of 2 variants are not beaten in every objective" in text
    path = tmp_path / "several.db"
    values = {1: (1.0, 9.0), 2: (2.0, 5.0), 3: (3.0, 7.0), 4: (4.0, 1.0)}
    with ResultsDatabase.open(path) as database:
        for number, (first, second) in values.items():
            taken = tuple(
                CounterValue(name, value, "", CounterSource.SIMULATED)
                for name, value in (("instructions", first), ("energy", second))
            )
            stored = {"instructions": first, "energy": second}
            database.append(trial(number, counters=taken, objectives=stored))
        database.append(trial(5, counters=()))
        database.append(trial(6, failure()))
    (entry,) = document(capsys, "front", "--db", str(path))["series"]
    assert entry["front"]["objectives"] == ["instructions", "energy"]
    assert [(p["configuration"]["U"], p["values"]) for p in entry["front"]["points"]] == [
        (1, [1.0, 9.0]),
        (2, [2.0, 5.0]),
        (4, [4.0, 1.0]),
    ]
    assert (entry["front"]["judged"], entry["front"]["without"]) == (4, 1)
    assert "; 1 have no value of one" in told(capsys, "front", "--db", str(path))


def test_front_without_objectives_is_refused(capsys, db):
    assert main(["results", "front", "--db", db]) == 2
    assert (
        "error[ORIO-D017]: no trial of anything was judged by several objectives" in capsys.readouterr().err
    )
    assert main(["results", "front", "--db", db, "--objective", "energie"]) == 2
    assert "error[ORIO-S019]" in capsys.readouterr().err


@pytest.fixture
def counted(tmp_path: Path) -> str:
    """A database whose task was searched for the fewest instructions, which the slowest variant has."""
    path = tmp_path / "counted.db"
    values = {1: 9e6, 2: 7e6, 3: 5e6}
    with ResultsDatabase.open(path) as database:
        run = database.start_run("p", series(), 1, host="h", process=1, time=START, objective="instructions")
        database.append_all([trial(n, objectives={"instructions": v}) for n, v in values.items()])
        database.append(trial(4, replace(success(9.0), is_full=False)))
        database.append(trial(5, failure(), objectives={"instructions": None}))
        samples = success().samples
        finals = (
            FinalEntry(True, Configuration({"U": 1}), (samples, samples[:2]), (6e6, 6e6)),
            FinalEntry(False, Configuration({"U": 3}), (samples,), (5e6,), failed=failure()),
        )
        database.finish_run(run, START, None)
        run = database.start_run("p", series(), 1, host="h", process=1, time=START, objective="instructions")
        goal = Goal("instructions", 6e6, 5e6)
        timing = Timing(Seconds(0.004), Seconds(1e-6), 7, Clock.THREAD_CPU)
        best = Best({"U": 3}, timing, 0.5)
        database.finish_run(run, START, encode(Remembered(report(best=best, goal=goal), ())), finals)
    return str(path)


def test_with_an_objective_its_values_decide(capsys, counted):
    text = told(capsys, "list", "--db", counted)
    assert "instructions = 5e+06" in " ".join(text.split())
    (listed,) = document(capsys, "list", "--db", counted)["series"]
    assert listed["objective"] == {"expression": "instructions", "value": 5e6}
    assert listed["best_s"] == trial(3).measurement.timing.median_s
    shown = document(capsys, "show", "--db", counted)["trials"]
    assert [t["configuration"]["U"] for t in shown] == [3, 2, 1, 4, 5]
    assert [t["objectives"] for t in shown[2:]] == [{"instructions": 9e6}, {}, {"instructions": None}]
    assert [t.get("full") for t in shown] == [True, True, True, False, None]
    (entry,) = document(capsys, "best", "--db", counted)["series"]
    assert entry["best"]["objective"] == {"expression": "instructions", "value": 5e6}
    assert entry["best"]["configuration"] == {"U": 3}
    assert "instructions = 5e+06" in " ".join(told(capsys, "best", "--db", counted).split())


def test_without_a_finished_run_the_best_trial_has_the_least_value(capsys, counted):
    with ResultsDatabase.open(counted) as database:
        found = database.history()
    imported = str(Path(counted).with_name("imported.db"))
    with ResultsDatabase.open(imported) as database:
        database.append_all(found)
    (entry,) = document(capsys, "best", "--db", imported)["series"]
    assert (entry["best"]["from"], entry["best"]["configuration"]["U"]) == ("trials", 3)
    assert entry["best"]["objective"] == {"expression": "instructions", "value": 5e6}


def test_the_samples_of_finals_are_shown(capsys, counted):
    lines = told(capsys, "show", "--db", counted, "--limit", "1").splitlines()
    (original,) = [line for line in lines if "original" in line]
    (other,) = [line for line in lines if "crash" in line]
    assert original.split()[-6:] == ["7", "2", "original", "instructions", "=", "6e+06"]
    assert "U = 3" in other
    (held,) = document(capsys, "show", "--db", counted)["finals"]
    first, second = held["finalists"]
    assert (held["objective"], first["original"], second["original"]) == ("instructions", True, False)
    assert (first["values"], second["failed"]) == ([6e6, 6e6], failure().reason)
    wall = [s.wall for s in success().samples]
    assert first["wall_s"] == [wall, wall[:2]]
    assert first["cpu_s"][1] == [s.cpu for s in success().samples[:2]]


def test_export_and_import_all_formats(capsys, db, tmp_path):
    for ending in ("json", "csv", "parquet"):
        file, other = tmp_path / f"x.{ending}", tmp_path / f"{ending}.db"
        assert "4 trials written" in told(capsys, "export", "--db", db, "-o", str(file))
        assert "4 of 4 trials are new" in told(capsys, "import", str(file), "--db", str(other))
        assert document(capsys, "import", str(file), "--db", str(other))["imported"] == 0
        assert len(document(capsys, "show", "--db", str(other))["trials"]) == 4
    assert json.loads(told(capsys, "export", "--db", db))["schema_version"] == "1.0.0"
    assert told(capsys, "export", "--db", db, "--format", "csv", "--region", "lu").count("src/lu.c") == 1
    assert (
        document(capsys, "export", "--db", db, "--format", "tau", "-o", str(tmp_path / "tau"))["exported"]
        == 4
    )
    folders = sorted((tmp_path / "tau").iterdir())
    profiles = [read_profile((folder / "profile.0.0.0").read_text()) for folder in folders]
    assert [p.metadata["orio:outcome"] for p in profiles] == ["ok", "ok", "crash", "ok"]


def test_delete(capsys, db):
    assert document(capsys, "delete", "--db", db, "--file", "mm.c")["deleted"] == 3
    assert len(document(capsys, "list", "--db", db)["series"]) == 1
    assert "1 trials deleted" in told(capsys, "delete", "--db", db, "--all")
    assert document(capsys, "list", "--db", db)["series"] == []


def test_the_default_is_in_the_users_data_folder(capsys, db, tmp_path, own_data_folder):
    file = str(tmp_path / "x.json")
    told(capsys, "export", "--db", db, "-o", file)
    told(capsys, "import", file)
    assert (own_data_folder / "orio" / "results.db").exists()
    assert len(document(capsys, "list")["series"]) == 2


@pytest.mark.parametrize(
    ("arguments", "status", "code", "hint"),
    [
        (["lst"], 2, "ORIO-U002", "did you mean `list`?"),
        ([], 2, "ORIO-U003", "orio results --help"),
        (["list", "--fil", "x"], 2, "ORIO-U001", "--file"),
        (["show", "--db", "none.db"], 2, "ORIO-D006", "no results database `none.db`"),
        (["show", "--db", "DB", "--file", "x.c"], 2, "ORIO-D006", "file `x.c`"),
        (["best", "--db", "DB", "--region", "x"], 2, "ORIO-D006", "region `x`"),
        (["delete", "--db", "DB"], 2, "ORIO-D009", "--all"),
        (["delete", "--db", "DB", "--task", "zz"], 2, "ORIO-D006", "task `zz`"),
        (["export", "--db", "DB", "-o", "x.txt"], 2, "ORIO-D010", "--format"),
        (["export", "--db", "DB", "--format", "xml"], 2, "ORIO-U004", "t4, csv, parquet, tau"),
        (["export", "--db", "DB", "--format", "tau"], 2, "ORIO-U009", "-o"),
        (["export", "--db", "DB", "--json"], 2, "ORIO-U003", "-o"),
        (["import", "bad.json"], 2, "ORIO-D007", "bad.json:1:2"),
        (["import", "nothing.json"], 2, "ORIO-U006", "nothing.json"),
        (["list", "--db", "bad.json"], 2, "ORIO-D002", "bad.json"),
        (["list", "--db", "ftp://x"], 2, "ORIO-D005", "`ftp`"),
        (["list", "--db", "."], 3, "ORIO-D001", "`.`"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_mistakes_are_told(arguments, status, code, hint, capsys, db, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.json").write_text("{]" + " " * 2000)
    assert main(["results", *(db if word == "DB" else word for word in arguments)]) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"error[{code}]: " in captured.err
    assert hint in captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize("name", NAMES)
def test_each_command_has_help_with_an_example(name, capsys):
    text = told(capsys, name, "--help")
    assert f"Example: orio results {name}" in text
    for option in ("--db", "--json", "--quiet", "--verbose", "--color"):
        assert option in text


def test_help_names_the_commands(capsys):
    text = told(capsys, "--help")
    assert [name for name in NAMES if f"\n  {name} " not in text] == []
    assert main(["--help"]) == 0
    assert "\n  results " in capsys.readouterr().out


def test_tune_has_the_options_and_refuses_contradictions(capsys):
    assert main(["tune", "--help"]) == 0
    text = capsys.readouterr().out
    assert [option for option in ("--db", "--no-db", "--fresh") if f"{option} " not in text] == []
    for other in (["--db", "x.db"], ["--fresh"]):
        assert main(["tune", "mm.c", "--no-db", *other]) == 2
        assert "error[ORIO-U017]" in capsys.readouterr().err


def test_tune_fills_the_database_unless_told_not_to(capsys, tmp_path, own_data_folder):
    kernel = """void f(int n, double *x) {
      int i;
      /*@ begin PerfTuning (
        def performance_params { param U[] = [1, 2]; }
        def input_params { param n[] = [1000]; }
        def input_vars { decl dynamic double x[n] = random; }
      ) @*/
      /*@ begin Loop (transform Unroll(ufactor=U)) @*/
      for (i = 0; i < n; i++) x[i] = 1.5 * x[i];
      /*@ end @*/
      /*@ end @*/
    }
    """
    path = tmp_path / "f.c"
    path.write_text(kernel)
    assert main(["tune", str(path), "--no-db", "--repeats", "1"]) == 0
    assert not (own_data_folder / "orio").exists()
    assert main(["tune", str(path), "--repeats", "1"]) == 0
    capsys.readouterr()
    (stored,) = document(capsys, "list", "--file", "f.c")["series"]
    assert (stored["trials"], stored["finished_runs"], stored["inputs"]) == (2, 1, {"n": 1000})
    (entry,) = orio_py.results.best_configurations(
        own_data_folder / "orio" / "results.db", orio_py.results.Selection(region=stored["name"])
    )
    assert entry.from_finals
    assert main(["tune", str(path), "--repeats", "1"]) == 0
    assert "2 trials, all remembered from an earlier run" in capsys.readouterr().err


def test_plot_shows_how_times_spread(capsys, db):
    text = told(capsys, "plot", "--db", db)
    [line] = [line for line in text.splitlines() if line.startswith("src/mm.c mm N=500")]
    assert line.split()[4:] == ["2", "1", "3.00", "ms", "2.50", "ms", "2.00", "ms", "█▁"]


def test_plot_as_json_has_every_time(capsys, db):
    found = document(capsys, "plot", "--db", db, "--region", "mm")
    [curve] = found["series"]
    assert curve["seconds"] == pytest.approx([0.003, 0.002], rel=1e-3)
    assert (curve["name"], curve["failed"], curve["clock"], found["output"]) == (
        "mm",
        1,
        "thread CPU time",
        None,
    )


def test_plot_draws(capsys, db, tmp_path):
    pytest.importorskip("matplotlib")
    output = tmp_path / "variants.svg"
    assert told(capsys, "plot", "--db", db, "-o", str(output)) == f"2 curves drawn in {output}\n"
    assert "lu N=500" in output.read_text()


def test_plot_of_failures_alone_is_refused(capsys, tmp_path):
    path = tmp_path / "results.db"
    with ResultsDatabase.open(path) as database:
        database.append_all([trial(1, failure())])
    assert main(["results", "plot", "--db", str(path)]) == 2
    assert "error[ORIO-D006]" in capsys.readouterr().err


def test_plot_knows_endings_of_pictures(capsys, db):
    assert main(["results", "plot", "--db", db, "-o", "variants.txt"]) == 2
    assert "error[ORIO-D016]: the ending of `variants.txt` tells no picture" in capsys.readouterr().err


def test_static_features_of_a_tuned_file(tmp_path, capsys):
    """They are stored as trials are made, exported with them, and shown."""
    path, place = tmp_path / "scale.c", str(tmp_path / "own.db")
    path.write_text(
        """
void scale(int n, double *x)
{
  int i;
  /*@ begin PerfTuning(
    def performance_params { param U[] = [1, 4]; }
    def input_params { param n[] = [1000]; }
    def input_vars { decl dynamic double x[n] = random; }
  ) @*/
  /*@ begin Loop(transform Unroll(ufactor=U)) @*/
  for (i = 0; i <= n - 1; i++)
    x[i] = 2 * x[i];
  /*@ end @*/
  /*@ end @*/
}
"""
    )
    assert main(["tune", str(path), "--db", place, "--search", "exhaustive", "-q"]) == 0
    exported = tmp_path / "trials.json"
    assert main(["results", "export", "--db", place, "-o", str(exported)]) == 0
    assert main(["results", "import", str(exported), "--db", str(tmp_path / "other.db")]) == 0
    capsys.readouterr()
    assert main(["results", "show", "--db", str(tmp_path / "other.db"), "--json"]) == 0
    found = {t["configuration"]["U"]: t["features"] for t in json.loads(capsys.readouterr().out)["trials"]}
    assert found[1]["operations"] == found[4]["operations"] == 1000
    assert found[4]["body_statements"] > found[1]["body_statements"]
    assert main(["results", "show", "--db", place, "--features"]) == 0
    assert "body_statements" in capsys.readouterr().out


def test_trials_without_features_have_none_to_show(db, capsys):
    assert main(["results", "show", "--db", db, "--features"]) == 0
    assert "have no features" in capsys.readouterr().out
