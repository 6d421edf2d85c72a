"""The programs that predictions are judged on, and the judge."""

from __future__ import annotations

import re

import pytest
from speed_series import trials_of

import orio_py
from benchmarks.prediction.judging import RANKERS, judged_table
from benchmarks.prediction.programs import C_NESTS, STENCILS, c_program, opencl_program
from benchmarks.prediction.replaying import replayed_table
from orio_py.core.diagnostics import Severity
from orio_py.store.database import ResultsDatabase

POINTS = {
    "stencil2d": 9,
    "srad1": 5,
    "srad2": 3,
    "hotspot": 5,
    "gradient": 5,
    "jacobi5": 5,
    "jacobi9": 9,
    "gaussian": 25,
}
"""Points that are used (Table 2 of the paper), of the first grid."""


@pytest.mark.parametrize("text", [c_program(name) for name in C_NESTS], ids=list(C_NESTS))
def test_c_kernels_are_free_of_mistakes(text, tmp_path):
    path = tmp_path / "kernel.c"
    path.write_text(text)
    (region,) = (report := orio_py.space([path])).regions
    assert [d for d in report.diagnostics if d.severity is Severity.ERROR] == []
    assert region.valid >= 400


def test_stencils_are_those_of_the_paper_with_large_spaces(tmp_path):
    assert set(STENCILS) == set(POINTS)
    for name, nest in STENCILS.items():
        points = set(re.findall(r"(\w)\[(i[^]]*)\]\[(j[^]]*)\]", nest.statement))
        assert sum(grid == "A" for grid, _, _ in points) == POINTS[name], (name, points)
    path = tmp_path / "stencil.c"
    path.write_text(opencl_program("jacobi5", 512))
    (region,) = orio_py.space([path]).regions
    assert region.valid >= 10_000
    assert region.inputs == {"n": 512}


def test_rankings_are_judged_beside_what_they_have_to_beat(tmp_path):
    place = tmp_path / "r.db"
    with ResultsDatabase.open(place) as database:
        database.append_all([one for name in ("a", "b", "c") for one in trials_of(name)])
    lines = judged_table(place).splitlines()
    labels = {line[:12].strip() for line in lines}
    assert {"random", *RANKERS} <= labels
    assert lines[-1].startswith("redundancy with the speed: ")


@pytest.mark.proof
def test_searches_are_replayed_with_models_of_other_programs(tmp_path):
    place = tmp_path / "r.db"
    with ResultsDatabase.open(place) as database:
        database.append_all([one for name in ("a", "b") for one in trials_of(name)])
    *programs, last = replayed_table(place, 1).splitlines()
    assert [line.split(" ")[0] for line in programs] == ["a", "b"]
    assert last.startswith("geometric mean: random ")
