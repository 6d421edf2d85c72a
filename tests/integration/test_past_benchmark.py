"""The comparison of searches with and without a past, on made-up spaces."""

from __future__ import annotations

import json

import pytest
from recorded import cache_document, t4_document

from benchmarks.search.past import Key, earlier_trials, main, needed, ratio_error, table
from benchmarks.search.recordings import find_spaces
from benchmarks.search.tables import Run


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kernel_one_T4.json").write_text(json.dumps(t4_document()))
    (tmp_path / "kernel_two_cache.json").write_text(json.dumps(cache_document()))
    (tmp_path / "other_one_T4.json").write_text(json.dumps(t4_document()))
    return tmp_path


@pytest.mark.proof
def test_each_pair_of_devices_of_a_kernel_has_a_row(folder, capsys):
    options = [
        "--spaces",
        str(folder),
        "--seeds",
        "1",
        "--trials",
        "12",
        "--past-trials",
        "20",
        "--jobs",
        "1",
    ]
    assert main([*options, "--kinds", "random,reversed,alike"]) == 0
    printed = capsys.readouterr().out
    rows = [line for line in printed.splitlines() if line.startswith("| kernel")]
    pairs = [tuple(row.split(" | ")[:2]) for row in rows]
    names = ("kernel_one", "kernel_two")
    assert pairs[:4] == [(f"| {names[0]}", names[1]), (f"| {names[1]}", names[0])] * 2
    assert pairs[4:] == [(f"| {name}", name) for name in names]
    assert "### reversed" in printed
    with pytest.raises(SystemExit, match="there is no past nonesuch"):
        main([*options, "--kinds", "nonesuch"])


def test_a_past_has_as_many_trials_as_asked_for_and_is_the_same_each_time(folder):
    path, *_ = find_spaces(folder, [])
    past = earlier_trials(path, "random", 1, 15)
    assert len({configuration for configuration, _ in past}) == 15
    assert past == earlier_trials(path, "random", 1, 15)
    assert past != earlier_trials(path, "random", 2, 15)


def test_ratios_of_runs_that_are_known():
    at_once, never = Run((1.0,) * 10, (), 0.0), Run((0.5,) * 10, (), 0.0)
    assert needed([at_once, never], 1.05, 10) == 5.5
    # Pairs (1, 10) and (10, 10): the ratio 0.55, the rests -4.5 and 4.5.
    assert ratio_error([at_once, never], [never, never], 1.05, 10) == pytest.approx(0.45)
    found = {
        Key("k_b"): [never],
        Key("k_b", "auto", "k_a"): [at_once],
        Key("k_a"): [at_once],
        Key("k_a", "auto", "k_b"): [never],
        Key("k_a", "random", "k_b"): [at_once],
    }
    lines = table("auto", found, 10).splitlines()
    assert "| k_a | k_b | 10.0, 1.0, 0.10 ± inf | 10.0, 1.0, 0.10 ± inf | 0.500, 1.000 |" in lines
    assert "| k_b | k_a | 1.0, 10.0, 10.00 ± inf | 1.0, 10.0, 10.00 ± inf | 1.000, 0.500 |" in lines
    assert "Ratio to 10 %: geometric mean 1.00, least 0.10, worst 10.00." in lines
