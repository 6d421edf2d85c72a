"""Models of counters as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from orio_py.model.counters.model import CounterModel, Domain, ModelParameter, TrainedOn
from orio_py.model.counters.regression import RegressionModel, Subspace
from orio_py.model.counters.trees import TreeModel
from orio_py.model.regression_trees import joined, parted
from orio_py.model.stored import Arrays, Header, read_model, write_model

FORMAT = "orio_py counter model"
TREES, REGRESSION = "trees", "regression"

_REGRESSION_ARRAYS = ("centre", "width", "least", "most")


def save_model(model: CounterModel, path: Path) -> None:
    """Write a model.  Raises DiagnosticError ORIO-U009 when the system refuses."""
    header: dict[str, object] = _domain_json(model.domain)
    arrays: Arrays = {}
    match model:
        case TreeModel():
            header |= {"kind": TREES, "logarithmic": model.is_logarithmic}
            arrays = joined(model.trees)
        case RegressionModel():
            header |= {
                "kind": REGRESSION,
                "binary": list(model.binary),
                "others": list(model.others),
                "terms": [list(term) for term in model.terms],
                "subspaces": [list(subspace.binary) for subspace in model.subspaces],
            }
            coefficients = np.stack([subspace.coefficients for subspace in model.subspaces])
            arrays = {name: getattr(model, name) for name in _REGRESSION_ARRAYS}
            arrays["coefficients"] = coefficients
        case _:
            raise TypeError(f"{type(model).__name__} cannot be stored")
    write_model(path, FORMAT, header, arrays)


def load_model(path: Path) -> CounterModel:
    """Read a model.  Raises DiagnosticError ORIO-U006, U008 (no file, or one that cannot be read), D022 (no model)."""
    return read_model(path, "a model of counters", {FORMAT: read_counter_model})


def read_counter_model(told: Header, arrays: Arrays) -> CounterModel:
    """The model of a file's content.  Raises ValueError and the like for what is none."""
    domain = _domain(told)
    match told["kind"]:
        case "trees":
            trees = parted(arrays)
            for tree in trees:
                tree.check(len(domain.parameters), len(domain.counters))
            return TreeModel(domain, trees, bool(told["logarithmic"]))
        case "regression":
            return _regression(domain, told, arrays)
        case other:
            raise ValueError(f"its kind is `{other}`")


def _regression(domain: Domain, told: Mapping[str, Any], arrays: Arrays) -> RegressionModel:
    binary, others = tuple(map(int, told["binary"])), tuple(map(int, told["others"]))
    terms = tuple(tuple(map(int, term)) for term in told["terms"])
    corners = [tuple(map(float, corner)) for corner in told["subspaces"]]
    centre, width, least, most = (np.asarray(arrays[name], dtype=np.float64) for name in _REGRESSION_ARRAYS)
    coefficients = np.asarray(arrays["coefficients"], dtype=np.float64)
    is_right = (
        coefficients.shape == (len(corners), len(terms), len(domain.counters))
        and len(corners) > 0
        and centre.shape == width.shape == (len(others),)
        and least.shape == most.shape == (len(domain.counters),)
        and bool((width != 0).all())
        and all(len(corner) == len(binary) for corner in corners)
        and all(0 <= place < len(domain.parameters) for place in (*binary, *others))
        and all(0 <= place < len(others) for term in terms for place in term)
    )
    if not is_right:
        raise ValueError("its coefficients do not go with its terms")
    subspaces = tuple(Subspace(corner, part) for corner, part in zip(corners, coefficients, strict=True))
    return RegressionModel(domain, binary, others, centre, width, terms, subspaces, least, most)


def _domain_json(domain: Domain) -> dict[str, object]:
    origin = domain.trained_on
    return {
        "parameters": [{"name": p.name, "categories": list(p.categories)} for p in domain.parameters],
        "counters": list(domain.counters),
        "trained_on": {
            "name": origin.name,
            "device": origin.device,
            "inputs": dict(origin.inputs),
            "rows": origin.rows,
        },
    }


def _domain(told: Mapping[str, Any]) -> Domain:
    parameters = tuple(
        ModelParameter(str(p["name"]), tuple(map(str, p["categories"]))) for p in told["parameters"]
    )
    origin = told["trained_on"]
    inputs = {str(name): str(value) for name, value in origin["inputs"].items()}
    trained_on = TrainedOn(str(origin["name"]), str(origin["device"]), inputs, int(origin["rows"]))
    return Domain(parameters, tuple(map(str, told["counters"])), trained_on)
