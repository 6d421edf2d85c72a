"""The book of a session: counts, the valid variants, and what the database is given, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from trials import failure, success

from orio_py.core.digest import digest
from orio_py.frontend.objective import parse_objective
from orio_py.record.measurement import Clock, Success
from orio_py.record.trial import CounterValue, Trial
from orio_py.search_space.configuration import Configuration
from orio_py.store.database import ResultsDatabase
from orio_py.tuning.events import TrialDone
from orio_py.tuning.session.trial_cache import Keys, TrialCache
from orio_py.tuning.session.trial_log import TrialLog
from orio_py.tuning.variants.batch import Candidate
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


def candidate(number: int, outcome=None, **changes) -> Candidate:
    found = success() if outcome is None else outcome
    return Candidate(Configuration({"U": number}), f"key {number}", outcome=found, **changes)


def only(database: ResultsDatabase) -> Trial:
    (trial,) = database.history()
    return trial


def test_a_trial_is_stored_when_it_is_finished_and_its_second_round_when_it_is_amended(database, opened):
    told: list[TrialDone] = []
    book, one = opened(listener=told.append), candidate(1)
    book.finish(one)
    assert only(database).measurement == success()
    one.outcome = TWICE
    book.amend(one)
    assert only(database).measurement == one.outcome == TWICE
    assert (book.trials, len(book.valid), len(told)) == (1, 1, 1)
    again = opened().recall(one.configuration)
    assert again is not None
    assert again.outcome == TWICE


def test_a_failure_in_the_second_round_takes_the_variant_out(database, opened):
    book, one = opened(), candidate(1)
    book.finish(one)
    one.outcome = failure()
    book.amend(one)
    assert only(database).measurement == failure()
    assert (book.trials, book.valid, dict(book.failures)) == (1, [], {"crash": 1})


def test_what_another_process_has_stored_first_stays(database, opened):
    first, second = opened(), opened()
    ours, theirs = candidate(1), candidate(1, success(5e-3))
    first.finish(ours)
    second.finish(theirs)
    assert theirs.outcome == success()
    theirs.outcome = failure()
    second.amend(theirs)
    assert only(database).measurement == theirs.outcome == success()
    assert len(second.valid) == 1


def test_values_of_the_objective_are_stored_with_the_trial_and_added_to_recalled_ones(database, opened):
    counters = (CounterValue("page_faults", 4.0),)
    text = "page_faults * 2"
    book, one = opened(text), candidate(1, counters=counters)
    assert isinstance(one.outcome, Success)
    one.outcome = replace(one.outcome, score=8.0)
    book.finish(one)
    assert only(database).objectives == {text: 8.0}
    assert only(database).measurement == success()
    other = opened("page_faults").recall(one.configuration)
    assert other is not None
    assert other.objective == 4.0
    assert only(database).objectives == {text: 8.0, "page_faults": 4.0}
    assert opened().recall(one.configuration) is not None
    assert only(database).objectives == {text: 8.0, "page_faults": 4.0}


def test_a_failed_trial_names_the_objective_without_a_value(database, opened):
    opened("page_faults").finish(candidate(1, failure()))
    assert only(database).objectives == {"page_faults": None}


def test_without_a_database_the_book_only_counts():
    book = TrialLog(None, lambda event: None, Scorer())
    one = candidate(1)
    book.finish(one)
    one.outcome = TWICE
    book.amend(one)
    assert book.recall(one.configuration) is None
    assert [c.outcome for c in book.valid] == [TWICE]
