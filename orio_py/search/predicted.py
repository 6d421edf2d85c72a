"""Search in the order that a model of speed predicts, before anything was run.

T. Remmelg, B. Hagedorn, L. Li, M. Steuwer, S. Gorlatch and C. Dubach, "High-Level Hardware Feature Extraction for GPU
Performance Prediction of Stencils", GPGPU 2020, section 8.1: variants run from the highest predicted performance to the lowest.
Nothing is compiled but what is tried.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from orio_py.search.auto import TINY, AutoOptions, auto
from orio_py.search.base import Search, SearchContext
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import FileName, IntegerOption, setting

if TYPE_CHECKING:
    from orio_py.model.speed.catalog import SpeedModel


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """`model` is the file of a model of speed; without one that which comes with the program counts.  `sample` random
    configurations are ranked, and in `rounds` rounds what is near the best; `batch` is how many are proposed at once at most.
    """

    model: str | None = setting(None, FileName())
    sample: int = setting(150, IntegerOption(1, 1_000_000))
    rounds: int = setting(3, IntegerOption(0, 1000))
    batch: int = setting(8, IntegerOption(1, 1000))


def predicted(context: SearchContext, options: ModelOptions) -> Search:
    """The ranked configurations, from the top; where nothing can be ranked, what `auto` would try.

    Raises DiagnosticError as `orio_py.model.speed.catalog.load_speed_model`.
    """
    model: SpeedModel | None = None
    if options.model is not None:
        # The numerical libraries take time to load.
        from orio_py.model.speed.catalog import load_speed_model

        model = load_speed_model(Path(options.model))
    if context.features is None or context.space.size <= TINY:
        return auto(context, AutoOptions())
    context = replace(context, batch_size=min(context.batch_size, options.batch))
    return restarted(context, lambda memory: _from_the_top(memory, context, model, options))


def _from_the_top(
    memory: Memory, context: SearchContext, model: SpeedModel | None, options: ModelOptions
) -> Asking[None]:
    # The numerical libraries take time to load.
    from orio_py.search.auto import guided
    from orio_py.search.ranking import PredictedRanking

    assert context.features is not None
    ranking = PredictedRanking(memory, context.features, model)
    if not ranking.look(options.sample, options.rounds):
        yield from guided(memory, AutoOptions())
    while points := ranking.best(memory.batch_size):
        yield from memory.ask(points)
    yield from memory.ask([point for point in ranking.refused if point not in memory.known][:1])
