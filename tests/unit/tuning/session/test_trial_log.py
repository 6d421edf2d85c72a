"""The book of a session: counts, the valid variants, and what the database is given, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from trials import failure, success

from orio_py.core.diagnostics import Diagnostic
from orio_py.core.digest import digest
from orio_py.frontend.objective import parse_objective
from orio_py.record.measurement import Clock
from orio_py.record.trial import CounterValue, Trial
from orio_py.search_space.configuration import Configuration
from orio_py.store.database import ResultsDatabase
from orio_py.tuning.events import TrialDone
from orio_py.tuning.session.trial_cache import Keys, TrialCache
from orio_py.tuning.session.trial_log import TrialLog
from orio_py.tuning.variants.pipeline import MeasuredVariant, MeasurementOrigin, RefusedVariant
from orio_py.tuning.variants.scoring import Scorer

KEYS = Keys(digest("t"), digest("c"), digest("e"), "plan", "mm", "mm.c", {}, 1, "host", {})
TWICE = replace(success(), samples=(*success().samples, *success(2e-3).samples))

Open = Callable[..., TrialLog]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[ResultsDatabase]:
    with ResultsDatabase.open(tmp_path / "results.db") as opened:
        yield opened


@pytest.fixture
def opened(database: ResultsDatabase) -> Open:
    """Opens books of sessions on one database, with the objective given."""

    def book(objective: str | None = None, listener=lambda event: None) -> TrialLog:
        keys = replace(KEYS, objectives=() if objective is None else (objective,))
        memory = TrialCache.open(database, keys, lambda: datetime.now(UTC))
        memory.clock = Clock.THREAD_CPU
        scorer = Scorer(parse_objective(objective) if objective is not None else None)
        return TrialLog(None, listener, scorer, memory)

    return book


def variant(number: int, measurement=None, **changes) -> MeasuredVariant:
    found = success() if measurement is None else measurement
    return MeasuredVariant(Configuration({"U": number}), f"key {number}", found, **changes)


def amended(one: MeasuredVariant, measurement) -> MeasuredVariant:
    return replace(one, measurement=measurement, amends=True)


def only(database: ResultsDatabase) -> Trial:
    (trial,) = database.history()
    return trial


def test_a_trial_is_stored_when_it_is_finished_and_its_second_round_when_it_is_amended(database, opened):
    told: list[TrialDone] = []
    book, one = opened(listener=told.append), variant(1)
    assert book.record(one) == one
    assert only(database).measurement == success()
    kept = book.record(amended(one, TWICE))
    assert only(database).measurement == kept.measurement == TWICE
    assert (book.trials, book.valid, len(told)) == (1, [kept], 1)
    again = opened().recall(one.configuration)
    assert again is not None
    assert (again.measurement, again.origin) == (TWICE, MeasurementOrigin.RECALLED)


def test_a_failure_in_the_second_round_takes_the_variant_out(database, opened):
    book, one = opened(), variant(1)
    book.record(one)
    book.record(amended(one, failure()))
    assert only(database).measurement == failure()
    assert (book.trials, book.valid, dict(book.failures)) == (1, [], {"crash": 1})


def test_what_another_process_has_stored_first_stays(database, opened):
    first, second = opened(), opened()
    ours, theirs = variant(1), variant(1, success(5e-3))
    first.record(ours)
    assert second.record(theirs).measurement == success()
    kept = second.record(amended(theirs, failure()))
    assert only(database).measurement == kept.measurement == success()
    assert len(second.valid) == 1


def test_values_of_the_objective_are_stored_with_the_trial_and_added_to_recalled_ones(database, opened):
    counters = (CounterValue("page_faults", 4.0),)
    text = "page_faults * 2"
    book, one = opened(text), variant(1, replace(success(), score=8.0), counters=counters)
    book.record(one)
    assert only(database).objectives == {text: 8.0}
    assert only(database).measurement == success()
    other = opened("page_faults").recall(one.configuration)
    assert other is not None
    assert other.objective == 4.0
    assert only(database).objectives == {text: 8.0, "page_faults": 4.0}
    assert opened().recall(one.configuration) is not None
    assert only(database).objectives == {text: 8.0, "page_faults": 4.0}


def test_a_failed_trial_names_the_objective_without_a_value(database, opened):
    opened("page_faults").record(variant(1, failure()))
    assert only(database).objectives == {"page_faults": None}


def test_without_a_database_the_book_only_counts():
    book = TrialLog(None, lambda event: None, Scorer())
    one = variant(1)
    book.record(one)
    book.record(amended(one, TWICE))
    assert book.recall(one.configuration) is None
    assert [found.measurement for found in book.valid] == [TWICE]


def test_refusals_are_counted_and_told_and_are_no_trials():
    told: list[TrialDone] = []
    book = TrialLog(None, told.append, Scorer())
    refusal = Diagnostic("ORIO-T003", "the body assigns the loop index")
    book.record(RefusedVariant(Configuration({"U": 1}), refusal))
    assert (book.trials, book.refused, book.first_refusal, book.failures) == (0, 1, refusal, {})
    assert [(event.outcome, event.reason) for event in told] == [("refused", refusal.message)]
