"""The comparison of searchers on spaces whose times are formulas."""

from __future__ import annotations

import pytest

from benchmarks.search.formulas import TASKS, Found, as_run, fastest_of_others, main, run, space_of, time_of


@pytest.mark.proof
def test_each_space_has_a_table_and_all_of_them_a_mean(capsys):
    assert main(["--searchers", "random,multistart", "--seeds", "2", "--trials", "12", "--others", "50"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("### ")] == [
        "### Mean",
        "### product, wide caches",
        "### product, many registers",
        "### stencil, wide caches",
        "### stencil, many registers",
    ]
    assert sum(line.startswith("| random |") for line in lines) == 5
    assert sum(line.startswith("| multistart |") for line in lines) == 5


def test_times_are_the_same_each_time_and_differ_between_devices():
    for kernel, device in TASKS:
        space = space_of(kernel)
        chosen = [space.at(rank) for rank in range(0, space.size, space.size // 40)]
        times = [time_of(kernel, device, configuration) for configuration in chosen]
        assert times == [time_of(kernel, device, configuration) for configuration in chosen]
        assert times != [time_of(kernel, 1 - device, configuration) for configuration in chosen]
        assert min(value for value in times if value is not None) > 0
    assert fastest_of_others(("stencil", 0, 200))[1] < 1.0


def test_a_run_has_the_share_of_the_best_so_far():
    found = Found("x", "product", 0, (4.0, float("inf"), 2.0, 3.0), 0.5)
    assert as_run(found, 1.0).shares == (0.25, 0.25, 0.5, 0.5)
    once = run(("random", "product", 0, 7, 9, 4))
    assert len(once.times) == 9
    assert once.times == run(("random", "product", 0, 7, 9, 4)).times
