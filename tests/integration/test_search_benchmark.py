"""The comparison of searchers: runs, rows, tables and picture, on made-up spaces."""

from __future__ import annotations

import csv
import json
import math

import pytest
from recorded import cache_document, failure_of, rows, t4_document

from benchmarks.search import overhead, peers
from benchmarks.search.__main__ import main
from benchmarks.search.recordings import facts_of, find_spaces, write_for_peers
from benchmarks.search.runs import Searcher, run
from benchmarks.search.tables import Figures, Run, figures, leave_one_out
from benchmarks.search.traces import Trace


@pytest.fixture
def folder(tmp_path):
    spaces = tmp_path / "spaces"
    spaces.mkdir()
    (spaces / "one_T4.json").write_text(json.dumps(t4_document()))
    (spaces / "two_cache.json").write_text(json.dumps(cache_document()))
    return spaces


@pytest.mark.proof
def test_a_comparison_writes_rows_tables_and_a_picture(folder, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    options = [
        "--spaces",
        str(folder),
        "--searchers",
        "random,exhaustive;start_coord=[1,0,0,0]",
        "--seeds",
        "3",
    ]
    options += ["--trials", "60", "--jobs", "1", "--csv", str(tmp_path / "a.csv")]
    assert main([*options, "--picture", str(tmp_path / "a.svg")]) == 0
    printed = capsys.readouterr().out
    assert printed.count("### ") >= 2
    assert "share@25 | share@50 |" in printed
    assert "<svg" in (tmp_path / "a.svg").read_text()
    with (tmp_path / "a.csv").open() as file:
        found = list(csv.DictReader(file))
    assert len(found) == 2 * 2 * 3 * 60
    for row in found:
        best = float(row["best_s"]) if row["best_s"] else None
        assert (float(row["share"]) == 0) == (best is None)
    options[options.index("--jobs") + 1] = "2"
    main([*options[:-1], str(tmp_path / "b.csv")])
    assert without_overhead(tmp_path / "a.csv") == without_overhead(tmp_path / "b.csv")
    capsys.readouterr()
    with pytest.raises(RuntimeError, match="there is no searcher `nonesuch`"):
        main(["--spaces", str(folder), "--searchers", "nonesuch", "--jobs", "1"])
    main(["--spaces", str(folder), "--only", "one", "--trials", "60", "--read", str(tmp_path / "a.csv")])
    assert "### two" not in capsys.readouterr().out


def without_overhead(path):
    return [line.rpartition(",")[0] for line in path.read_text().splitlines()]


def test_a_run_counts_failures_and_ends_with_the_space(folder):
    (path, _) = find_spaces(folder, [])
    trace = run(path, Searcher.read("random"), 1, 10_000, 4)
    assert len(trace.rows) == len(rows())
    assert sum(row[4] == "" for row in trace.rows) == sum(failure_of(row) is not None for row in rows())
    assert trace.rows[-1][6] == "1.000000"
    fact = facts_of(path)
    assert (fact.configurations, fact.valid) == (len(rows()), sum(failure_of(row) is None for row in rows()))


def test_figures_of_runs_that_are_known():
    # Found at once; found at the third evaluation; never, and ended early.
    runs = [Run((1.0,) * 4, (), 0.004), Run((0.0, 0.5, 1.0, 1.0), (), 0.008), Run((0.0, 0.93), (), 0.002)]
    found = figures(runs, 4)
    assert found.shares == {4: pytest.approx((1 + 1 + 0.93) / 3)}
    assert found.close[4] == pytest.approx((1.0, 2 / 3, 2 / 3))
    assert found.needed == (2, 3, 3)
    assert found.mean_needed == pytest.approx((2, 8 / 3, 8 / 3))
    assert found.overhead == pytest.approx((1 + 2 + 1) / 3)
    assert figures([runs[2]], 4).needed == (2, math.inf, math.inf)


def test_overheads_are_means_up_to_marks_and_of_the_last_tenth(folder, capsys):
    options = ["--spaces", str(folder), "--searchers", "random", "--trials", "10,40", "--batch", "1,8"]
    assert overhead.main(options) == 0
    heading, _, *lines = capsys.readouterr().out.splitlines()
    assert heading.count("ms each") == 3
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [row[:3] for row in cells] == [
        ["random", name, batch] for name in ("one", "two") for batch in "18"
    ]
    assert all(float(value) > 0 for row in cells for value in row[3:5])
    spent = [0.004 * k for k in range(1, 37)] + [0.144 + 0.01 * k for k in range(1, 5)]
    assert overhead._cells(spent, [10, 40]) == ["4.00 |", "4.60 |", "10.0 |"]
    assert overhead.main([*options, "--trials", "100000"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_options_are_judged_on_the_spaces_that_did_not_choose_them():
    def of(share):
        shares, close = dict.fromkeys((25, 50), share), dict.fromkeys((25, 50), (0.0,) * 3)
        return Figures(shares, close, (1.0,) * 3, (1.0,) * 3, 0.0, 5)

    found = {
        ("s;x=1", "A"): of(0.9),
        ("s;x=1", "B"): of(0.4),
        ("s;x=2", "A"): of(0.6),
        ("s;x=2", "B"): of(0.8),
    }
    table, *choices = leave_one_out(found, ["s;x=1", "s;x=2"], ["A", "B"], 60)
    assert "0.500" in table  # (0.6 + 0.4) / 2: on each space what was best on the other
    assert choices == ["- without A: `s;x=2`\n", "- without B: `s;x=1`\n"]
    assert leave_one_out(found, ["s;x=1"], ["A", "B"], 60) == []


def test_peers_are_counted_in_new_configurations(folder, tmp_path, capsys, monkeypatch):
    (path, _) = find_spaces(folder, [])
    write_for_peers(path, tmp_path / "one.json")
    table = peers.Table.read(tmp_path / "one.json")
    assert len(table.rows) == len(rows())
    recorder = peers.Recorder(table, Trace("one", "x:y", 0, table.optimum, 3))
    for values in list(table.rows)[:2]:
        recorder.ask(values)
        recorder.ask(values)
    assert len(recorder.trace.rows) == 2
    arguments = [str(tmp_path / "one.json"), "nonesuch:x", "0", "1", "5", str(tmp_path / "o.csv")]
    assert peers.main(arguments) == 2
    assert "`nonesuch:x`" in capsys.readouterr().err

    def missing(*_):
        raise ModuleNotFoundError("No module named 'nonesuch'")

    monkeypatch.setitem(peers.TUNERS, "nonesuch", missing)
    assert peers.main(arguments) == 3
    assert "benchmarks/search/requirements.txt" in capsys.readouterr().err
