"""Configurations whose code another worker process was to build, which did not live to tell."""

from __future__ import annotations

import os
import signal
from types import SimpleNamespace

from orio_py.build.compiler import BuildFailure
from orio_py.search_space.configuration import Configuration
from orio_py.tuning.variants.batch import BatchBuilder, VariantMaker
from orio_py.tuning.variants.pipeline import BuildRequest, BuildResult


class Dying:
    """The first configuration kills whoever builds it; the second has the same code, and so is not built."""

    evaluator = SimpleNamespace(compiler=SimpleNamespace(running=SimpleNamespace(kill=lambda: None)))
    lost = staticmethod(VariantMaker.lost)

    def make(self, order: BuildRequest, attempt: int) -> BuildResult:
        if order.number == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return BuildResult(order, "the same code")


def test_what_nobody_built_is_a_failure_of_the_variant():
    builder = BatchBuilder(Dying(), 2)
    try:
        found = builder.build([Configuration({"U": 1}), Configuration({"U": 2})], 2)
    finally:
        builder.close()
    assert len(found) == 2
    for made in found:
        assert isinstance(made, BuildResult)
        assert isinstance(made.built, BuildFailure)
        assert "ended unexpectedly, twice" in made.built.reason
