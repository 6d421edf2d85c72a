"""Models from parameters to counters: what they learn, how they are stored, and what they refuse to read."""

from __future__ import annotations

import itertools
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

from orio_py.core.diagnostics import DiagnosticError
from orio_py.model.counters.files import load_model, save_model
from orio_py.model.counters.model import (
    CounterModel,
    Domain,
    ModelParameter,
    TrainedOn,
    TrainingSet,
    counted_work,
)
from orio_py.model.counters.pickled_trees import read_pickled_trees
from orio_py.model.counters.regression import chosen_terms, fit_regression
from orio_py.model.counters.trees import grow_ensemble, grow_tree

DOMAIN = Domain(
    (ModelParameter("T"), ModelParameter("U"), ModelParameter("FLAGS", ("'-O2'", "'-O3'"))),
    ("reads", "instructions"),
    TrainedOn("mm", "a device", {"N": "64"}, 128),
)


def training() -> TrainingSet:
    configurations = [
        {"T": t, "U": u, "FLAGS": flags}
        for t, u, flags in itertools.product((1, 2, 4, 8, 16, 32, 48, 64), range(1, 9), ("-O2", "-O3"))
    ]
    rows = DOMAIN.rows(configurations)
    reads = 1000 + 3 * rows[:, 0] * rows[:, 1] + rows[:, 0] ** 2
    instructions = np.where(rows[:, 2] == 0, 5000 + 10 * rows[:, 1], 4000 - 100 * rows[:, 1])
    return TrainingSet(DOMAIN, rows, np.stack([reads, instructions], axis=1))


def worst(model: CounterModel, found: TrainingSet) -> float:
    return float(np.abs(model.predict(found.rows) / found.counters - 1).max())


def test_regression_finds_products_and_squares_in_each_subspace() -> None:
    found = training()
    model = fit_regression(found)
    assert (model.binary, model.others) == ((2,), (0, 1))
    assert {(), (0,), (1,), (0, 0), (1, 1), (0, 1)} == set(model.terms)
    assert worst(model, found) < 1e-6


def test_regression_has_fewer_terms_with_fewer_rows() -> None:
    assert chosen_terms(3, 8) == ((), (0,), (1,), (2,))
    assert (0, 1, 2) in chosen_terms(3, 100)
    few = training().part([0, 5, 40, 41, 90])
    assert np.isfinite(fit_regression(few).predict(training().rows)).all()


def test_trees_learn_what_they_saw_and_something_of_the_rest() -> None:
    found = training()
    ensemble = grow_ensemble(found)
    assert worst(ensemble, found) < 1e-6
    half = found.part(np.flatnonzero(np.arange(len(found.rows)) % 3 > 0))
    assert worst(grow_ensemble(half), found) < 0.5
    assert len(grow_tree(found).trees) == 1
    assert worst(grow_tree(found), found) < 0.5


def test_trees_predict_what_scikit_learn_predicts() -> None:
    found = training()
    rng = np.random.default_rng(1)
    rows = rng.uniform(0, 70, (200, 3))
    own = ExtraTreesRegressor(5, random_state=3).fit(found.rows, np.log1p(found.counters))
    assert grow_ensemble(found, 3, 5).predict(rows) == pytest.approx(np.expm1(own.predict(rows)))


@pytest.mark.parametrize("grow", [fit_regression, grow_ensemble, grow_tree])
def test_a_stored_model_predicts_the_same(
    grow: Callable[[TrainingSet], CounterModel], tmp_path: Path
) -> None:
    model = grow(training())
    save_model(model, tmp_path / "m.npz")
    again = load_model(tmp_path / "m.npz")
    assert again.domain == DOMAIN
    assert (again.predict(training().rows) == model.predict(training().rows)).all()


def refused(path: Path) -> str:
    with pytest.raises(DiagnosticError) as caught:
        load_model(path)
    (problem,) = caught.value.diagnostics
    return f"{problem.code}: {problem.message}"


def test_files_that_are_no_models_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    assert refused(path).startswith("ORIO-U006")
    for content in (b"", b"hello", pickle.dumps([1, 2])):
        path.write_bytes(content)
        assert refused(path).startswith("ORIO-D022")
    np.savez(path, header=np.array([object()], dtype=object), allow_pickle=True)
    assert refused(path).startswith("ORIO-D022")
    save_model(grow_ensemble(training()), path)
    stored = dict(np.load(path))
    stored["left"][0] = 0
    np.savez(path, **stored)
    assert "before its parent" in refused(path)
    header = json.loads(stored["header"].tobytes())
    header["version"] = 99
    stored["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, **stored)
    assert "version 99" in refused(path)


def test_a_category_that_is_new_has_a_number_of_its_own() -> None:
    assert ModelParameter.of("FLAGS", ["-O3", "-O2"]) == DOMAIN.parameters[2]
    assert [DOMAIN.parameters[2].number(value) for value in ("-O2", "-O3", "-Os")] == [0, 1, -1]


def test_gpu_counters_are_learned_by_their_common_names() -> None:
    found = counted_work(
        {"dram__sectors_read.sum": 5.0, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed": 3.0}
    )
    assert found == {"DRAM_RT": 5.0}
    assert counted_work({"instructions": 7.0}) == {"instructions": 7.0}


# --- pickled trees ---


@pytest.mark.parametrize("protocol", range(2, 6))
def test_pickled_trees_are_read_without_unpickling(protocol: int, tmp_path: Path) -> None:
    found = training()
    forest = ExtraTreesRegressor(4, random_state=0).fit(found.rows, found.counters)
    (tmp_path / "m.sav").write_bytes(pickle.dumps(forest, protocol))
    model = read_pickled_trees(tmp_path / "m.sav", DOMAIN)
    assert len(model.trees) == 4
    assert model.predict(found.rows) == pytest.approx(forest.predict(found.rows))


class Harmful:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("import pathlib, sys; pathlib.Path(sys.argv[2]).touch()",)


def test_code_in_a_pickle_file_is_not_run(tmp_path: Path) -> None:
    forest = ExtraTreesRegressor(2, random_state=0).fit(training().rows, training().counters)
    (tmp_path / "m.sav").write_bytes(pickle.dumps([Harmful(), forest]))
    program = (
        "import sys, pathlib\n"
        "from orio_py.model.counters.pickled_trees import read_pickled_trees as read\n"
        "from orio_py.model.counters.model import Domain, ModelParameter\n"
        "d = Domain(tuple(map(ModelParameter, 'abc')), ('x', 'y'))\n"
        "print(len(read(pathlib.Path(sys.argv[1]), d).trees))\n"
    )
    touched = tmp_path / "touched"
    command = [sys.executable, "-c", program, str(tmp_path / "m.sav"), str(touched)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2"
    assert not touched.exists()


@pytest.mark.parametrize(
    "content", [b"", b"nonsense", pickle.dumps({"a": 1}), pickle.dumps(Harmful()), b"\x80\x04N", b"(lp0\n0."]
)
def test_pickle_files_without_trees_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.sav").write_bytes(content)
    with pytest.raises(DiagnosticError) as caught:
        read_pickled_trees(tmp_path / "m.sav", DOMAIN)
    assert caught.value.diagnostics[0].code == "ORIO-D022"


def test_pickled_trees_for_other_parameters_are_refused(tmp_path: Path) -> None:
    found = training()
    forest = ExtraTreesRegressor(2, random_state=0).fit(found.rows, found.counters)
    (tmp_path / "m.sav").write_bytes(pickle.dumps(forest))
    for domain in (Domain((ModelParameter("T"),), DOMAIN.counters), Domain(DOMAIN.parameters, ("reads",))):
        with pytest.raises(DiagnosticError):
            read_pickled_trees(tmp_path / "m.sav", domain)
