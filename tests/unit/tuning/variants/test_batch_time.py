"""Building when the time is up: what runs is ended, what was built stays."""

from __future__ import annotations

import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace

from orio_py.build.compiler import Artifact
from orio_py.core.units import Seconds
from orio_py.search_space.configuration import Configuration
from orio_py.tuning.variants.batch import BatchBuilder, VariantMaker
from orio_py.tuning.variants.pipeline import BuildRequest, BuildResult, code_folder


class Slow:
    """The first configuration is built at once; the second takes for ever, and the third has its code."""

    lost = staticmethod(VariantMaker.lost)

    def __init__(self, folder: Path) -> None:
        compiler = SimpleNamespace(running=SimpleNamespace(kill=lambda: (folder / "killed").touch()))
        self.evaluator = SimpleNamespace(compiler=compiler, folder=folder)

    def make(self, order: BuildRequest, attempt: int) -> BuildResult:
        key = ("quick", "endless", "endless")[order.number]
        folder = self.evaluator.folder / code_folder(key)
        try:
            folder.mkdir()
        except FileExistsError:
            return BuildResult(order, key)
        if key == "endless":
            time.sleep(600)
        return BuildResult(order, key, built=Artifact(folder / "variant.so", Seconds(0.0)))


def test_what_still_runs_is_ended_and_forgotten(tmp_path: Path) -> None:
    builder = BatchBuilder(Slow(tmp_path), 2)
    asked = count()
    batch = [Configuration({"U": number}) for number in (1, 2, 3)]
    try:
        found = builder.build(batch, 3, is_over=lambda: next(asked) > 5)
    finally:
        builder.close()
    assert [made.configuration for made in found] == batch[:1]
    assert sorted(path.name for path in tmp_path.iterdir()) == [code_folder("quick"), "killed"]
