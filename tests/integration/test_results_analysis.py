"""`orio results import` of other tools' files, and what `plot` and `importance` tell of them."""

from __future__ import annotations

import gzip
import json

import pytest
from recorded import LISTS, NAMES, cache_document, failure_of, milliseconds, rows, t4_document

from orio_py.cli.main import main

VALID = [row for row in rows() if failure_of(row) is None]


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    folder = tmp_path_factory.mktemp("analysis")
    (folder / "stencil.json.gz").write_bytes(gzip.compress(json.dumps(cache_document()).encode()))
    assert main(["results", "import", str(folder / "stencil.json.gz"), "--db", str(folder / "r.db")]) == 0
    return str(folder / "r.db")


def told(capsys, *arguments, status=0):
    capsys.readouterr()
    assert main(["results", *arguments]) == status
    captured = capsys.readouterr()
    return captured.out if status == 0 else captured.err


def document(capsys, *arguments):
    return json.loads(told(capsys, *arguments, "--json"))


def test_import_names_kernel_and_device(capsys, tmp_path):
    (tmp_path / "x_T4.json").write_text(json.dumps(t4_document()))
    other = str(tmp_path / "other.db")
    options = ["import", str(tmp_path / "x_T4.json"), "--db", other, "--name", "stencil", "--device", "X9"]
    assert [document(capsys, *options)["imported"] for _ in range(2)] == [len(rows()), 0]
    (entry,) = document(capsys, "list", "--db", other)["series"]
    assert (entry["name"], entry["trials"]) == ("stencil", len(rows()))
    (curve,) = document(capsys, "plot", "--db", other)["series"]
    assert curve["device"] == "X9"
    (best,) = document(capsys, "best", "--db", other)["series"]
    assert best["best"]["objective"]["expression"] == "reported_time"
    assert best["best"]["objective"]["value"] == pytest.approx(min(map(milliseconds, VALID)) / 1e3 + 1e-4)


def test_importance(capsys, db):
    (found,) = document(capsys, "importance", "--db", db)["series"]
    assert found["trials"] == len(VALID)
    assert {p["name"] for p in found["parameters"]} == set(NAMES)
    assert found["parameters"][0]["name"] == "block"
    assert found["explained"] > 0.5
    text = told(capsys, "importance", "--db", db)
    assert "of the variance of `reported_time` is explained" in text
    assert text.index("block") < text.index("shared")


def test_importance_wants_trials(capsys, tmp_path):
    few = {**t4_document(), "results": t4_document()["results"][:5]}
    (tmp_path / "few.json").write_text(json.dumps(few))
    place = str(tmp_path / "few.db")
    told(capsys, "import", str(tmp_path / "few.json"), "--db", place)
    assert "ORIO-D020" in told(capsys, "importance", "--db", place, status=2)


def test_plots_as_json_and_tables(capsys, db):
    (found,) = document(capsys, "plot", "--kind", "convergence", "--db", db)["series"]
    assert len(found["best"]) == len(rows())
    assert found["best"][-1] == pytest.approx(min(map(milliseconds, VALID)) / 1e3 + 1e-4)
    (found,) = document(capsys, "plot", "--kind", "parallel", "--db", db)["series"]
    assert found["parameters"] == LISTS
    assert sum(value is None for _, value in found["rows"]) == len(rows()) - len(VALID)
    assert "within 5 % at" in told(capsys, "plot", "--kind", "convergence", "--db", db)


@pytest.mark.parametrize("kind", ["variants", "convergence", "parallel"])
def test_pictures(capsys, db, tmp_path, kind):
    pytest.importorskip("matplotlib")
    text = told(capsys, "plot", "--kind", kind, "--db", db, "-o", str(tmp_path / "x.html"))
    assert text.startswith("1 ")
    assert "<svg" in (tmp_path / "x.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["plot", "--kind", "convergenc"], "ORIO-U004"),
        (["plot", "--kind", "parallel"], "ORIO-U003"),
        (["plot", "--kind", "parallel", "--region", "x", "--json"], "ORIO-D006"),
        (["importance", "--region", "x"], "ORIO-D006"),
        (["plot", "--kind", "convergence", "-o", "x.txt"], "ORIO-D016"),
    ],
    ids=range(5),
)
def test_refusals(capsys, db, arguments, code):
    assert code in told(capsys, *arguments, "--db", db, status=2)
