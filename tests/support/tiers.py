"""Long lists of cases of one kind: some for `make test`, the others for `make proof`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(share: int, cases: Iterable[Any]) -> list[Any]:
    """The cases as parameters, of which one in `share` runs in `make test`."""
    marked = pytest.mark.proof
    return [
        case
        if k % share == 0
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=marked)
        for k, case in enumerate(cases)
    ]
