"""Models of speed: what they learn, how they are kept, and how rankings are judged."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from speed_series import FEATURES, trials_of
from trials import failure

from orio_py.core.diagnostics import DiagnosticError
from orio_py.model.speed.catalog import KINDS, load_speed_model, save_speed_model, train_speed
from orio_py.model.speed.data import feature_rows, speed_data
from orio_py.model.speed.judging import judge, random_runs, redundancies
from orio_py.model.speed.neighbours import fit_neighbours
from orio_py.model.speed.scaling import FeatureScaling


def data(*names: str):
    (found,) = speed_data([one for name in names for one in trials_of(name)])
    return found


def test_series_are_tasks_with_features():
    many = [*trials_of("a"), *trials_of("b", 7), *(replace(t, features={}) for t in trials_of("c"))]
    (found,) = speed_data([*many, replace(trials_of("d", 1)[0], measurement=failure())])
    assert [one.name for one in found.series] == ["a"]
    assert found.features == FEATURES
    assert found.series[0].speeds.max() == 1
    kernels = [replace(t, features={**t.features, "local_memory": 0.0}) for t in trials_of("k", 50)]
    assert [one.count for one in speed_data([*many, *kernels])] == [50, 40]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_learned_of_some_programs_holds_for_another(kind):
    found = data("a", "b", "c", "d")
    model = train_speed(found.without(3), kind)
    last = found.series[3]
    told = judge(model.row_scores(last.rows), last.speeds)
    assert told.correlation > 0.8
    assert told.runs <= 3 < told.random_runs


@pytest.mark.parametrize("kind", KINDS)
def test_permuted_speeds_teach_nothing(kind):
    found = data("a", "b", "c", "d")
    last, correlations = found.series[3], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        mixed = tuple(replace(one, speeds=rng.permutation(one.speeds)) for one in found.series)
        model = train_speed(replace(found, series=mixed).without(3), kind)
        correlations.append(judge(model.row_scores(last.rows), last.speeds).correlation)
    assert abs(np.mean(correlations)) < 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_models_are_kept_in_files(kind, tmp_path):
    found = data("a", "b")
    model = train_speed(found, kind)
    save_speed_model(model, tmp_path / "m.npz")
    read = load_speed_model(tmp_path / "m.npz")
    rows = found.series[0].rows
    assert (read.kind, read.features) == (kind, FEATURES)
    assert read.trained_on[0].startswith("a N=500 alpha=1.5: 40")
    # Thresholds and neighbours are kept in single precision.
    assert np.allclose(read.row_scores(rows), model.row_scores(rows), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_files_whose_arrays_do_not_go_together_are_refused(kind, tmp_path):
    path = tmp_path / "m.npz"
    save_speed_model(train_speed(data("a"), kind), path)
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    for name in sorted(set(arrays) - {"header"}):
        np.savez(path, **{**arrays, name: arrays[name][..., :0]})
        with pytest.raises(DiagnosticError) as caught:
            load_speed_model(path)
        assert caught.value.diagnostics[0].code == "ORIO-D022", name


def test_principal_components_explain_the_variance():
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(200, 2)) @ np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    found = fit_neighbours(wide - wide.mean(axis=0), np.ones(200), np.zeros(200))
    assert found.components.shape == (2, 3)
    assert found.scores(wide[:3]).tolist() == [1, 1, 1]


def test_the_five_nearest_count():
    rows = np.array([[float(k)] for k in range(10)])
    speeds = np.arange(10.0)
    found = fit_neighbours(rows, speeds, np.zeros(10))
    assert found.scores(np.array([[4.0]])).tolist() == [np.mean([2, 3, 4, 5, 6])]


def test_features_are_standardised_and_those_that_never_change_left_out():
    found = data("a", "b")
    scaling = FeatureScaling.fit(found.series, is_logarithmic=True)
    scaled = scaling.scaled(np.concatenate([one.rows for one in found.series]))
    assert scaled.shape == (80, 3)  # `operations` is the same for all
    assert np.allclose(scaled.mean(axis=0), 0)
    assert np.allclose(scaled.std(axis=0), 1)


def test_rankings_are_judged():
    speeds = np.array([0.2, 0.95, 1.0, 0.5])
    told = judge(np.array([4.0, 3.0, 2.0, 1.0]), speeds)
    assert (told.runs, told.random_runs) == (2, pytest.approx(5 / 3))
    assert judge(speeds, speeds).correlation == pytest.approx(1)
    assert judge(-speeds, speeds).rank_correlation == pytest.approx(-1)
    assert judge(np.zeros(4), speeds).correlation == 0
    assert random_runs(np.ones(3)) == 1


def test_redundancy_tells_which_features_matter():
    found = redundancies(data("a", "b", "c"))
    assert "operations" in found
    assert found["cache_1_bytes"] > 1.5 * found["loads"]
    assert list(found) == sorted(found, key=lambda name: -found[name])


def test_missing_features_are_zero():
    assert feature_rows([{"b": 2.0}], ("a", "b")).tolist() == [[0, 2]]


def test_models_are_read_without_the_library_that_trains_them(tmp_path):
    """It sets variables of the environment by which machines are told apart."""
    save_speed_model(train_speed(data("a")), tmp_path / "m.npz")
    code = (
        "import sys; from pathlib import Path; import orio_py.search.ranking as r;"
        "r.load_speed_model(Path(sys.argv[1])).scores([{'loads': 1.0}]); print('sklearn' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "m.npz")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"
