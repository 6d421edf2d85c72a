"""The transformations write what they wrote when their output was compiled, run and pinned."""

from __future__ import annotations

import pytest
from pinned_variants import CASES, fingerprint, pinned, seeds, tried

CHUNK = 10


@pytest.mark.share(6)
@pytest.mark.parametrize(
    ("family", "start"),
    [(family, start) for family in CASES for start in range(0, len(seeds(family)), CHUNK)],
)
def test_variants_are_as_they_were_pinned(family: str, start: int) -> None:
    expected = pinned(family)
    for seed in seeds(family)[start : start + CHUNK]:
        each = tried(family, seed)
        assert fingerprint(each) == expected[seed], (
            f"the case has changed; if that is meant: python tests/support/pinned_variants.py --update\n"
            f"{each.case.source}\n{each.variant}"
        )
