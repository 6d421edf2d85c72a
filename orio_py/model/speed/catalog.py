"""The kinds of models of speed, how they see features, and models as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from orio_py.core.registry import Registry
from orio_py.model.speed.data import Array, SpeedData, feature_rows
from orio_py.model.speed.forest import grow_forest, read_forest
from orio_py.model.speed.neighbours import fit_neighbours, read_neighbours
from orio_py.model.speed.pairs import fit_pairs, read_pairs
from orio_py.model.speed.scaling import FeatureScaling
from orio_py.model.stored import Arrays, Header, read_model, write_model

FORMAT = "orio_py speed model"


class SpeedPredictor(Protocol):
    """What gives scores to standardised rows: the higher, the faster."""

    def scores(self, rows: Array) -> Array:
        """A score for each row."""
        ...

    def arrays(self) -> Arrays:
        """What is kept in a file."""
        ...


@dataclass(frozen=True, slots=True)
class SpeedKind:
    """A kind of models: how features are scaled for it, what fits it to rows, speeds and series, what reads it."""

    name: str
    summary: str
    is_logarithmic: bool
    fit: Callable[[Array, Array, Array], SpeedPredictor]
    read: Callable[[Header, Arrays, int], SpeedPredictor]
    gives_speeds: bool = True
    """Whether scores are speeds; otherwise their differences are those of logarithms to base 2, in some unit."""


_KINDS = (
    SpeedKind(
        "neighbours",
        "principal components and nearest neighbours, as published",
        False,
        fit_neighbours,
        read_neighbours,
    ),
    SpeedKind("forest", "an ensemble of randomised trees", True, grow_forest, read_forest),
    SpeedKind("pairs", "a linear ranker of pairs", True, fit_pairs, read_pairs, False),
)

KINDS: Registry[SpeedKind] = Registry("kind of model", ((kind.name, kind) for kind in _KINDS))


@dataclass(frozen=True, slots=True)
class SpeedModel:
    """A model of speed: the features that it reads, how it scales them, and the names of what it was trained on.

    `trained_on` has a text for each series: the name of the kernel, its sizes and the number of its variants.
    """

    kind: str
    features: tuple[str, ...]
    scaling: FeatureScaling
    predictor: SpeedPredictor
    trained_on: tuple[str, ...] = ()

    def scores(self, found: Sequence[Mapping[str, float]]) -> Array:
        """A score for the features of each variant, the higher, the faster."""
        return self.row_scores(feature_rows(found, self.features))

    def row_scores(self, rows: Array) -> Array:
        """The same for rows in the order of `features`."""
        return self.predictor.scores(self.scaling.scaled(rows))

    def expected_times(self, scores: Array) -> Array:
        """Times, relative to each other, that scores stand for."""
        return 1.0 / np.maximum(scores, 1e-9) if KINDS[self.kind].gives_speeds else np.exp2(-scores)


def train_speed(data: SpeedData, kind: str = "forest") -> SpeedModel:
    """A model of what a set of series tells.  Raises ValueError without a series."""
    entry = KINDS[kind]
    scaling = FeatureScaling.fit(data.series, is_logarithmic=entry.is_logarithmic)
    rows = np.concatenate([scaling.scaled(one.rows) for one in data.series])
    speeds = np.concatenate([one.speeds for one in data.series])
    numbers = np.concatenate([np.full(len(one.speeds), float(k)) for k, one in enumerate(data.series)])
    words = tuple(
        f"{one.name} {' '.join(f'{name}={value}' for name, value in one.inputs.items())}: {len(one.speeds)}"
        for one in data.series
    )
    return SpeedModel(kind, data.features, scaling, entry.fit(rows, speeds, numbers), words)


def save_speed_model(model: SpeedModel, path: Path) -> None:
    """Write a model.  Raises DiagnosticError ORIO-U009 when the system refuses."""
    header: dict[str, object] = {
        "kind": model.kind,
        "features": list(model.features),
        "logarithmic": model.scaling.is_logarithmic,
        "trained_on": list(model.trained_on),
    }
    arrays: Arrays = {"centre": model.scaling.centre, "width": model.scaling.width}
    write_model(path, FORMAT, header, {**arrays, **model.predictor.arrays()})


def load_speed_model(path: Path) -> SpeedModel:
    """Read a model.  Raises DiagnosticError ORIO-U006, U008 (no file, or one that cannot be read), D022 (no model)."""
    return read_model(path, "a model of speed", {FORMAT: read_speed_model})


def read_speed_model(header: Header, arrays: Arrays) -> SpeedModel:
    """The model of a file's content.  Raises ValueError and the like for what is none."""
    features = tuple(map(str, header["features"]))
    scaling = FeatureScaling(
        bool(header["logarithmic"]),
        np.asarray(arrays["centre"], dtype=np.float64),
        np.asarray(arrays["width"], dtype=np.float64),
    )
    if not features or scaling.centre.shape != scaling.width.shape or len(scaling.width) != len(features):
        raise ValueError("its scales do not go with its features")
    entry = KINDS[str(header["kind"])]
    predictor = entry.read(header, arrays, int((scaling.width > 0).sum()))
    return SpeedModel(entry.name, features, scaling, predictor, tuple(map(str, header["trained_on"])))
