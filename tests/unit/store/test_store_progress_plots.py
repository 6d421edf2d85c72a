"""How a search went, and where its trials lie, as numbers and as pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from trials import failure, series, success, trial

from orio_py.search_space.configuration import Configuration
from orio_py.store.progress_plots import coordinates_of, draw_convergence, draw_parallel, ranked_series

MM = [
    trial(0, failure()),
    trial(1, success(4e-3)),
    trial(2, success(5e-3)),
    trial(3, success(2e-3)),
    trial(4, success(3e-3)),
]
LU = [trial(k, success(1e-3), task="lu", objectives={"energy": 9.0 - k}) for k in range(3)]


def both():
    found = ranked_series([*MM, *LU, trial(9, failure(), task="broken")], {series("lu"): "energy"}, "Device")
    assert [one.name for one in found] == ["mm", "lu"]
    return found


def test_the_best_so_far_begins_with_the_first_valid_trial():
    mm, lu = both()
    assert mm.best == (None, *(pytest.approx(v, rel=1e-3) for v in (4e-3, 4e-3, 2e-3, 2e-3)))
    assert lu.best == (9.0, 8.0, 7.0)
    assert (mm.unit, lu.unit) == ("median time in s", "energy")


def test_coordinates_are_places_in_lists_of_what_occurs():
    mm, _ = both()
    found = coordinates_of(mm)
    assert found.parameters == {"U": (0, 1, 2, 3, 4), "B": (False, True)}
    assert [places for places, _ in found.rows] == [(0, 1), (1, 0), (2, 1), (3, 0), (4, 1)]
    assert [value is None for _, value in found.rows] == [True, False, False, False, False]
    words = [trial(k, configuration=Configuration({"F": flag})) for k, flag in enumerate(("-O3", "-O2"))]
    (one,) = ranked_series(words, {}, "Device")
    assert coordinates_of(one).parameters == {"F": ("-O3", "-O2")}


def test_pictures_of_all_kinds(tmp_path: Path):
    pytest.importorskip("matplotlib")
    found = both()
    draw_convergence(found, tmp_path / "c.html")
    page = (tmp_path / "c.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "<title>Convergence</title>" in page
    assert page.count("<svg") == 1
    assert "mm N=500" in page
    assert "energy" in page
    for name in ("a.svg", "b.svg"):
        draw_parallel([coordinates_of(one) for one in found], tmp_path / name)
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text()
    assert "lu N=500" in text
    draw_convergence(found[:1], tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
