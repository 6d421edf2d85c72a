"""The comparison of the OrCL paper's kernels: what it takes for a right result, and for slower."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from device_process import isolated
from opencl_devices import skip_without_device

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    pytest.importorskip("pyopencl")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module("orcl_table1")


def test_plain_kernels_compute_what_numpy_does(table: ModuleType) -> None:
    skip_without_device()
    for name, difference in isolated(differences, ("matvec", "vecmaxpy", "norm")).items():
        assert difference <= table.TOLERANCE, name


def differences(names: Sequence[str]) -> dict[str, float]:
    """In a worker process: how far each plain kernel's result is from what numpy computes."""
    warnings.simplefilter("ignore")  # drivers print warnings of their compiler
    sys.path.insert(0, str(BENCHMARKS))
    table = import_module("orcl_table1")
    device = table.cl.get_platforms()[0].get_devices()[0]
    inputs = table.Inputs.of(400)
    plain = {name: table.Bench.of(device, name, inputs).plain().result() for name in names}
    return {name: table.difference(found, inputs.expected(name)) for name, found in plain.items()}


def test_other_results_are_told(table: ModuleType) -> None:
    expected = np.array([1.0, -2.0])
    assert table.difference(expected + 1e-12, expected) <= table.TOLERANCE
    for found in ([1.0, -2.1], [np.nan, -2.0], [1.0], [1.0, -2.0, 0.0]):
        assert not table.difference(np.array(found), expected) <= table.TOLERANCE


@pytest.mark.parametrize(
    ("theirs", "is_slower"),
    [([0.5] * 20, True), ([2.0] * 20, False), ([0.99] * 20, False), ([0.5, 2.0] * 10, False)],
)
def test_slower_is_what_noise_does_not_explain(
    table: ModuleType, theirs: list[float], is_slower: bool
) -> None:
    ratio = table.Ratio.of([1.0] * 20, theirs)
    assert ratio.low <= ratio.median <= ratio.high
    assert ratio.is_slower is is_slower


def test_what_is_wrong_has_no_ratio(table: ModuleType) -> None:
    row = table.Row({"WI": 64}, {"tuned": [1.0], "plain": [2.0]}, {"ViennaCL": 0.5})
    assert row.ratio("plain").median == 2.0
    assert row.ratio("ViennaCL") is None


@pytest.mark.proof
def test_overheads_are_measured_with_an_empty_and_a_filled_cache(
    table: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without_device()
    overheads = import_module("opencl_overheads")
    monkeypatch.setenv("PYTHONPATH", str(BENCHMARKS.parent))
    place = overheads.choose_device(overheads.survey(), None, None)
    runs = [overheads.measured("vecscale", place, 3, tmp_path / "cache") for _ in range(2)]
    assert all(set(run) == set(overheads.STEPS) and min(run.values()) >= 0 for run in runs)
    assert any((tmp_path / "cache").rglob("*")) or "Portable" not in place.platform
    assert overheads.row("vecscale", "empty", runs)[:2] == ["vecscale", "empty"]
