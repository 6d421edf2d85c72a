"""Replay answers what was stored, with what it cost, and knows nothing else."""

from __future__ import annotations

import json
import random

import pytest
from recorded import cache_document, failure_of, milliseconds, rows, t4_document
from trials import failure, trial

from orio_py.core.diagnostics import DiagnosticError
from orio_py.measure.replay import NOT_RECORDED, ReplayEvaluator, load_recording, record
from orio_py.record.measurement import Stage
from orio_py.record.outcome import Outcome
from orio_py.results import import_trials
from orio_py.search.base import SearchContext, drive
from orio_py.search.catalog import start_search
from orio_py.search_space.configuration import Configuration
from orio_py.store.imported import REPORTED
from orio_py.store.selection import Selection


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("replay") / "stencil_T4.json"
    path.write_text(json.dumps(t4_document()))
    return path


@pytest.fixture(scope="module")
def recording(file):
    return load_recording(file)


def test_the_space_holds_just_the_rows(recording):
    assert [dict(c) for c in recording.space] == rows()
    assert set(recording.rows) == set(recording.space)
    assert recording.optimum == pytest.approx(
        min(milliseconds(r) for r in rows() if not failure_of(r)) / 1e3 + 1e-4
    )


def test_answers_are_those_of_the_file_and_cost_what_they_did(recording):
    evaluator = ReplayEvaluator(recording)
    total = 0.0
    for row in rows():
        answer = evaluator.evaluate(Configuration(row))
        total += answer.build + answer.run + answer.overhead
        if failure_of(row) is None:
            assert (answer.objective, answer.failure) == (pytest.approx(milliseconds(row) / 1e3 + 1e-4), None)
        else:
            assert answer.objective is None
            assert answer.failure.stage in (Stage.COMPILE, Stage.CRASH)
        assert answer.overhead == pytest.approx(2e-3)
    assert evaluator.elapsed == pytest.approx(total)
    assert evaluator.evaluations == len(rows())
    evaluator(Configuration(rows()[0]))
    assert evaluator.elapsed == pytest.approx(total)  # known: nothing would be built again


def test_what_is_not_stored_fails_in_its_own_way(recording):
    evaluator = ReplayEvaluator(recording)
    outside = Configuration({**rows()[0], "tile": 5})
    assert evaluator.evaluate(outside) is NOT_RECORDED
    assert NOT_RECORDED.failure.stage is Stage.NOT_RECORDED
    assert (evaluator(outside), evaluator.elapsed, evaluator.evaluations) == (
        Outcome(outside, failure=Stage.NOT_RECORDED),
        0.0,
        1,
    )


def test_database_and_file_replay_alike(file, recording, tmp_path):
    other = tmp_path / "stencil_cache.json"
    other.write_text(json.dumps(cache_document()))
    db = tmp_path / "results.db"
    for path in (file, other):
        assert import_trials(db, path, None) == (len(rows()), len(rows()))
    again = load_recording(db, Selection(file="stencil_T4.json"))
    assert again.rows == recording.rows
    cached = load_recording(db, Selection(region="stencil", file=str(other)))
    assert (cached.device, cached.objective) == ("Imaginary X1", REPORTED)
    assert {k: r.objective for k, r in cached.rows.items()} == {
        k: r.objective for k, r in recording.rows.items()
    }
    for selection, code in ((None, "ORIO-D019"), (Selection(region="x"), "ORIO-D006")):
        with pytest.raises(DiagnosticError) as caught:
            load_recording(db, selection)
        assert caught.value.diagnostics[0].code == code


def test_searchers_run_on_a_recording(recording):
    evaluator = ReplayEvaluator(recording)
    context = SearchContext(recording.space, random.Random(1), budget_trials=40)
    tried = drive(start_search("random", context), evaluator, 40)
    assert evaluator.evaluations == len(tried) == 40
    assert all(c in recording.space for c, _ in tried)


def test_our_own_trials_are_ranked_by_their_objective():
    plain = [trial(k) for k in range(3)]
    found = record(plain)
    assert found.optimum == plain[0].measurement.objective
    ranked = [trial(k, objectives={"instructions": 9.0 - k}) for k in range(3)]
    assert record(ranked).optimum == 7.0
    assert record(ranked, "energy").optimum is None
    failed = record([trial(0, failure()), trial(1)])
    assert [row.failure is None for row in failed.rows.values()] == [False, True]
    for trials in ([], [trial(0), trial(1, configuration=Configuration({"U": 1}))]):
        with pytest.raises(DiagnosticError) as caught:
            record(trials)
        assert caught.value.diagnostics[0].code == "ORIO-D019"
