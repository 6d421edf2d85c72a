"""Models of counters as files: a header in JSON and plain arrays, in one `.npz`; nothing in it is ever executed."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from orio_py.core.diagnostics import fail
from orio_py.model.counters.model import CounterModel, Domain, ModelParameter, TrainedOn
from orio_py.model.counters.regression import RegressionModel, Subspace
from orio_py.model.counters.trees import TreeModel, joined, parted

FORMAT = "orio_py counter model"
VERSION = 1
TREES, REGRESSION = "trees", "regression"

Arrays = dict[str, npt.NDArray[Any]]

_REGRESSION_ARRAYS = ("centre", "width", "least", "most")


def save_model(model: CounterModel, path: Path) -> None:
    """Write a model.  Raises DiagnosticError ORIO-U009 when the system refuses."""
    header: dict[str, object] = {"format": FORMAT, "version": VERSION, **_domain_json(model.domain)}
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
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    content = BytesIO()
    cast("Any", np.savez_compressed)(content, header=text, **arrays)
    try:
        path.write_bytes(content.getvalue())
    except OSError as error:
        fail("ORIO-U009", f"`{path}` cannot be written: {error.strerror or error}")


def load_model(path: Path) -> CounterModel:
    """Read a model.  Raises DiagnosticError ORIO-U006, U008 (no file, or one that cannot be read), D022 (no model)."""
    if not path.exists():
        fail("ORIO-U006", f"there is no file `{path}`")
    try:
        content = path.read_bytes()
    except OSError as error:
        fail("ORIO-U008", f"`{path}` cannot be read: {error.strerror or error}")
    try:
        with np.load(BytesIO(content), allow_pickle=False) as stored:
            arrays: Arrays = {name: stored[name] for name in stored.files}
        return _read(arrays)
    except (ValueError, KeyError, TypeError, IndexError, EOFError, zipfile.BadZipFile) as error:
        reason = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        fail("ORIO-D022", f"`{path}` is not a model of counters: {reason}")


def _read(arrays: Arrays) -> CounterModel:
    header = json.loads(arrays["header"].astype(np.uint8).tobytes().decode())
    if not isinstance(header, dict) or cast("Mapping[str, Any]", header).get("format") != FORMAT:
        raise ValueError("its header is of another format")
    told = cast("Mapping[str, Any]", header)
    if told["version"] != VERSION:
        raise ValueError(f"it is of version {told['version']}; this program reads version {VERSION}")
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
