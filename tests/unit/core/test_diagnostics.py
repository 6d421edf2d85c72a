"""Diagnostics on their way between processes."""

import pickle

from orio_py.core.diagnostics import Diagnostic, EnvironmentProblem
from orio_py.core.source import Position


def test_an_error_comes_back_with_its_diagnostics():
    sent = EnvironmentProblem(
        Diagnostic("ORIO-B050", "nobody answers", Position("a.c", 3, 1), help="start one")
    )
    found = pickle.loads(pickle.dumps(sent))
    assert type(found) is EnvironmentProblem
    assert (found.diagnostics, str(found)) == (sent.diagnostics, str(sent))
