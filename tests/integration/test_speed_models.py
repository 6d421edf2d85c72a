"""`orio model` with models of speed."""

from __future__ import annotations

import json
import shutil

import pytest
from speed_series import trials_of

from orio_py.cli.main import main
from orio_py.store.database import ResultsDatabase


@pytest.fixture
def db(tmp_path) -> str:
    path = tmp_path / "r.db"
    with ResultsDatabase.open(path) as database:
        database.append_all([one for name in ("a", "b", "c") for one in trials_of(name)])
    return str(path)


def test_a_model_is_trained_shown_and_applied(db, tmp_path, capsys):
    output = str(tmp_path / "m.npz")
    assert main(["model", "train", "-o", output, "--kind", "forest", "--db", db, "--json"]) == 0
    trained = json.loads(capsys.readouterr().out)
    assert trained["predicts"] == "speed"
    assert [one["name"] for one in trained["held_out"]] == ["a", "b", "c"]
    assert all(one["correlation"] > 0.8 for one in trained["held_out"])
    assert main(["model", "show", output]) == 0
    assert "speed, by forest" in capsys.readouterr().out
    assert main(["model", "show", output, "--json"]) == 0
    assert "cache_1_bytes" in json.loads(capsys.readouterr().out)["features"]
    assert main(["model", "apply", output, "--db", db, "--region", "a", "--json"]) == 0
    (series,) = json.loads(capsys.readouterr().out)["series"]
    assert (series["name"], series["variants"], series["runs_to_90_percent"]) == ("a", 40, 1)
    assert main(["model", "apply", output, "--db", db]) == 0
    assert "runs to 90 %" in capsys.readouterr().out
    assert main(["model", "train", "-o", output, "--kind", "neighbours", "--db", db]) == 0
    assert "each program ranked by a model of the others" in capsys.readouterr().out


def test_trials_without_features_teach_nothing(tmp_path, capsys):
    path = tmp_path / "r.db"
    with ResultsDatabase.open(path) as database:
        database.append_all(trials_of("a", 5))
    assert main(["model", "train", "-o", "m.npz", "--kind", "pairs", "--db", str(path)]) == 2
    assert "error[ORIO-D024]: there is no series of eight valid trials" in capsys.readouterr().err


def test_sorts_of_models_are_told_apart(db, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output = "m.npz"
    assert main(["model", "train", "-o", output, "--kind", "pairs", "--db", db]) == 0
    source = tmp_path / "x.c"
    source.write_text(
        "void f(int n, double *x) {\n/*@ begin PerfTuning(\n"
        "def performance_params { param U[] = range(1, 60); } def input_params { param n[] = [100]; }\n"
        "def input_vars { decl dynamic double x[n] = random; }\n) @*/\nint i;\n"
        "/*@ begin Loop(transform Unroll(ufactor=U)) @*/\nfor (i = 0; i <= n - 1; i++) x[i] = 2 * x[i];\n"
        "/*@ end @*/\n/*@ end @*/\n}\n"
    )
    assert main(["tune", str(source), "--search", f"counters:model={output}", "--no-db"]) == 2
    assert "is not a model of counters: its header is of another format" in capsys.readouterr().err


UNROLLED = """
void f(int n, double *restrict x, double *restrict y)
{
  int i;
  /*@ begin PerfTuning(
    def build { arg build_command = 'gcc -O1'; }
    def performance_params { param U[] = range(1, 60); }
    def input_params { param n[] = [2000]; }
    def input_vars { decl dynamic double x[n] = random; decl dynamic double y[n] = random; }
  ) @*/
  /*@ begin Loop(transform Unroll(ufactor=U)) @*/
  for (i = 0; i <= n - 1; i++)
    y[i] += 2 * x[i];
  /*@ end @*/
  /*@ end @*/
}
"""


@pytest.mark.share(2)
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_a_search_ranks_variants_before_it_builds_any(tmp_path, capsys, monkeypatch):
    """With the model that comes with the program, of a kernel that it has never seen."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.c").write_text(UNROLLED)
    common = ["f.c", "--trials", "5", "--no-db", "-j", "1", "-o", "out.c"]
    assert main(["tune", *common, "--search", "model", "--json", "report.json"]) == 0
    (region,) = json.loads((tmp_path / "report.json").read_text())["regions"]
    assert region["trials"] == 5
    assert region["prediction"]["ranked"] > 40
    assert region["prediction"]["trust"] is None
    assert 0 < region["prediction"]["seconds"] < region["seconds"]["total"]
    assert "variants of f were ranked by static features" in capsys.readouterr().out
    assert main(["tune", *common, "--search", "random", "--json", "report.json"]) == 0
    assert json.loads((tmp_path / "report.json").read_text())["regions"][0]["prediction"] is None
    assert main(["tune", *common, "--search", "model", "--time", "20s", "--json", "report.json"]) == 0
    assert json.loads((tmp_path / "report.json").read_text())["regions"][0]["prediction"] is None


@pytest.mark.share(2)
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_the_default_compares_a_prediction_with_its_first_trials(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.c").write_text(UNROLLED)
    common = ["f.c", "--trials", "12", "--no-db", "-j", "1", "-o", "out.c", "--search", "auto:predict=1"]
    assert main(["tune", *common, "--json", "report.json"]) == 0
    (region,) = json.loads((tmp_path / "report.json").read_text())["regions"]
    trust = region["prediction"]["trust"]
    assert 8 <= trust["trials"] <= 12
    assert -1 <= trust["correlation"] <= 1
    assert trust["is_followed"] == (region["prediction"]["ranked"] > 0)
    told = f"a rank correlation of {trust['correlation']:.2f} with the first {trust['trials']} trials"
    assert told in " ".join(capsys.readouterr().out.split())


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_a_file_is_ranked_without_building_anything(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.c").write_text(UNROLLED)
    assert main(["predict", "f.c", "--json"]) == 0
    (region,) = json.loads(capsys.readouterr().out)["regions"]
    assert (region["name"], region["obtained"], region["ranked"]) == ("f", "predicted", 59)
    scores = [variant["score"] for variant in region["variants"]]
    assert len(scores) == 59
    assert scores[:20] == sorted(scores[:20], reverse=True)
    assert main(["predict", "f.c", "--limit", "3", "--set", "n=50", "--sample", "30"]) == 0
    assert "variants ranked in" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_what_no_model_knows_is_refused_at_its_place(db, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.c").write_text(UNROLLED)
    (tmp_path / "k.c").write_text(UNROLLED.replace("Unroll(ufactor=U)", "OpenCL(workItemsPerGroup=U)"))
    assert main(["model", "train", "-o", "m.npz", "--kind", "pairs", "--db", db]) == 0
    assert main(["predict", "k.c"]) == 2
    assert "k.c:5:3: error[ORIO-P026]: no model of speed knows the features" in capsys.readouterr().err
    assert main(["predict", "k.c", "--model", "m.npz"]) == 2
    assert "k.c:5:3: error[ORIO-P026]: the model does not know" in capsys.readouterr().err
    assert main(["predict", "f.c", "--model", "none.npz"]) == 2
    assert "error[ORIO-U006]" in capsys.readouterr().err
