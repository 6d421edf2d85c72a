"""Results of KTT become trials with their counters."""

from __future__ import annotations

import copy
import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from orio_py.core.diagnostics import DiagnosticError
from orio_py.measure.replay import ReplayEvaluator, load_recording
from orio_py.record.measurement import Failure, Stage
from orio_py.record.trial import CounterSource, Trial
from orio_py.search_space.configuration import Configuration
from orio_py.store.interchange import Format, read

NOW = datetime(2024, 1, 1, tzinfo=UTC)


def result(tile: int, microseconds: float, status: str = "Ok") -> dict[str, Any]:
    kernel = {
        "KernelFunction": "scale",
        "Duration": microseconds,
        "Overhead": 2000.0,
        "GlobalSize": {"X": 64, "Y": 2, "Z": 1},
        "LocalSize": {"X": 32, "Y": 4, "Z": 1},
        "CompilationData": {"RegistersCount": 24, "LocalMemorySize": 1024},
        "ProfilingData": {
            "Counters": [
                {"Name": "smsp__inst_executed.sum", "Type": "Double", "Value": 1000.0 / tile},
                {"Name": "dram__sectors_read.sum", "Type": "Double", "Value": 64.0},
            ]
        },
    }
    return {
        "KernelName": "scale",
        "Configuration": [{"Name": "TILE", "Value": tile}, {"Name": "MODE", "Value": "fast"}],
        "Status": status,
        "TotalDuration": microseconds if status == "Ok" else 0.0,
        "ValidationOverhead": 500.0,
        "ComputationResults": [kernel] if status == "Ok" else [],
    }


def document() -> dict[str, Any]:
    return {
        "Metadata": {
            "KttVersion": "2.1.0",
            "Device": "a GPU",
            "TimeUnit": "Microseconds",
            "GlobalSizeType": "CUDA",
            "Timestamp": "2024-04-19 22:17:16 UTC",
        },
        "Results": [result(1, 20.0), result(2, 10.0), result(4, 0.0, "ComputationFailed")],
    }


def trials(content: object, folder: Path) -> list[Trial]:
    path = folder / "scale.json.gz"
    path.write_bytes(gzip.compress(json.dumps(content).encode()))
    return read(path, Format.T4, NOW)


def test_times_counters_and_failures_are_read(tmp_path: Path) -> None:
    first, second, failed = trials(document(), tmp_path)
    assert (first.name, first.configuration) == ("scale", Configuration({"TILE": 1, "MODE": "fast"}))
    assert first.time == datetime(2024, 4, 19, 22, 17, 16, tzinfo=UTC)
    assert first.build == pytest.approx(2e-3)
    assert second.objectives == pytest.approx({"reported_time": 1e-5})
    assert {counter.name: counter.value for counter in first.counters} == {
        "smsp__inst_executed.sum": 1000.0,
        "dram__sectors_read.sum": 64.0,
        "threads_per_block": 128.0,
        "launched_threads": 64 * 2 * 128.0,
        "registers": 24.0,
        "shared_memory": 1024.0,
    }
    assert {counter.source for counter in first.counters} == {CounterSource.REPORTED}
    assert isinstance(failed.measurement, Failure)
    assert failed.measurement.stage is Stage.CRASH
    assert failed.counters == ()


def test_sizes_of_opencl_count_threads(tmp_path: Path) -> None:
    content = document()
    content["Metadata"]["GlobalSizeType"] = "OpenCL"
    counters = {counter.name: counter.value for counter in trials(content, tmp_path)[0].counters}
    assert counters["launched_threads"] == 128


def test_counters_of_several_kernels_are_left_out(tmp_path: Path) -> None:
    content = document()
    content["Results"][0]["ComputationResults"] *= 2
    assert trials(content, tmp_path)[0].counters == ()


def test_a_replay_tells_counters_to_who_asks_and_charges_them(tmp_path: Path) -> None:
    trials(document(), tmp_path)
    evaluator = ReplayEvaluator(load_recording(tmp_path / "scale.json.gz"))
    asked = Configuration({"TILE": 2, "MODE": "fast"})
    assert evaluator(asked).counters == {}
    cost = evaluator.elapsed
    outcome = evaluator.profile(asked)
    assert outcome.objective == pytest.approx(1e-5)
    assert outcome.counters["smsp__inst_executed.sum"] == 500.0
    assert (evaluator.evaluations, evaluator.profiles, evaluator.elapsed) == (1, 1, pytest.approx(2 * cost))
    evaluator.profile(asked)
    assert evaluator.profiles == 1


BROKEN = {
    "Status": ("Maybe", "`Status` is `Maybe`"),
    "TotalDuration": ("long", "`TotalDuration` is not a number"),
    "Configuration": ([{"Value": 1}], "a parameter has no name"),
    "ComputationResults": (
        [{"ProfilingData": {"Counters": [{"Name": "x"}]}}],
        "a counter has no name or no number",
    ),
}


@pytest.mark.parametrize("member", BROKEN)
def test_results_that_are_wrong_are_named(member: str, tmp_path: Path) -> None:
    content = copy.deepcopy(document())
    content["Results"][1][member], said = BROKEN[member]
    with pytest.raises(DiagnosticError) as caught:
        trials(content, tmp_path)
    (problem,) = caught.value.diagnostics
    assert problem.code == "ORIO-D007"
    assert "Results[1]" in problem.message
    assert said in problem.message


def test_an_unknown_unit_of_time_is_refused(tmp_path: Path) -> None:
    content = document()
    content["Metadata"]["TimeUnit"] = "Fortnights"
    with pytest.raises(DiagnosticError) as caught:
        trials(content, tmp_path)
    assert "`TimeUnit` is `fortnights`" in caught.value.diagnostics[0].message
