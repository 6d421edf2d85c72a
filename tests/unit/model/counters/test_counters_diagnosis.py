"""What a kernel is bound by, in the field's terms."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from orio_py.core.units import Seconds
from orio_py.model.counters.diagnosis import Bound, Measure, diagnose

CPU = {"instructions": 1e6, "l1_data_misses": 1e3, "last_level_misses": 1e2, "branch_misses": 1e2}
CASES: Mapping[Bound, tuple[float, Mapping[str, float]]] = {
    Bound.COMPUTE: (1e-3, {}),
    Bound.BANDWIDTH: (1e-3, {"last_level_misses": 1e5}),
    Bound.LATENCY: (1e-2, {"last_level_misses": 1e5}),
    Bound.FRONT_END: (1e-3, {"branch_misses": 1e6}),
}


@pytest.mark.parametrize(("seconds", "bound"), [(1e-3, Bound.BANDWIDTH), (4e-3, Bound.LATENCY)])
def test_misses_of_the_first_level_overlap_or_are_waited_for(seconds: float, bound: Bound) -> None:
    found = diagnose(Seconds(seconds), {**CPU, "l1_data_misses": 2e5})
    assert found is not None
    assert found.bound is bound


@pytest.mark.parametrize("bound", CASES)
def test_a_processor_is_bound_by_most_of_its_cycles(bound: Bound) -> None:
    seconds, changed = CASES[bound]
    found = diagnose(Seconds(seconds), {**CPU, **changed})
    assert found is not None
    assert found.bound is bound
    assert found.measure is Measure.SHARES
    assert sum(found.parts.values()) == pytest.approx(1)
    assert list(found.parts.values()) == sorted(found.parts.values(), reverse=True)


def test_one_event_under_two_names_counts_once() -> None:
    found = diagnose(Seconds(1e-3), {**CPU, "cache_misses": 1e5})
    assert found is not None
    assert "cache_misses" not in found.parts


def test_without_counters_of_work_nothing_is_told() -> None:
    assert diagnose(Seconds(1.0), {"user_time": 1.0}) is None
    assert diagnose(Seconds(1.0), {}) is None


GPU = {"smsp__inst_executed.sum": 10.0, "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed": 100.0}
GPU_CASES: Mapping[Bound, Mapping[str, float]] = {
    Bound.BANDWIDTH: {
        "dram__sectors_read.sum": 9.0,
        "dram__sectors_write.sum": 1.0,
        "dram__throughput.avg.pct_of_peak_sustained_elapsed": 90.0,
    },
    Bound.COMPUTE: {
        "smsp__sass_thread_inst_executed_op_fp32_pred_on.sum": 300.0,
        "smsp__issue_active.avg.pct_of_peak_sustained_active": 60.0,
    },
    Bound.FRONT_END: {
        "smsp__sass_thread_inst_executed_op_fp32_pred_on.sum": 300.0,
        "smsp__issue_active.avg.pct_of_peak_sustained_active": 5.0,
    },
    Bound.LATENCY: {"smsp__cycles_active.avg.pct_of_peak_sustained_elapsed": 20.0},
}


@pytest.mark.parametrize("bound", GPU_CASES)
def test_a_gpu_is_bound_by_its_largest_bottleneck(bound: Bound) -> None:
    found = diagnose(Seconds(1e-3), {**GPU, **GPU_CASES[bound]})
    assert found is not None
    assert found.bound is bound
    assert found.measure is Measure.UTILISATIONS


def test_a_gpu_that_uses_nothing_much_waits_for_latency() -> None:
    found = diagnose(Seconds(1e-3), GPU)
    assert found is not None
    assert found.bound is Bound.LATENCY


EMULATED_CASES: Mapping[Bound, Mapping[str, float]] = {
    Bound.BANDWIDTH: {"sensitivity_dram_throughput": 0.5, "sensitivity_shared_throughput": 0.2},
    Bound.LATENCY: {"sensitivity_dram_latency": 0.4, "sensitivity_fp64_latency": 0.3},
    Bound.COMPUTE: {"sensitivity_fp64_throughput": 0.5, "sensitivity_alu_throughput": 0.2},
    Bound.FRONT_END: {"sensitivity_branch_throughput": 0.6},
}


@pytest.mark.parametrize("bound", EMULATED_CASES)
def test_an_emulated_kernel_is_bound_by_what_its_time_is_sensitive_to(bound: Bound) -> None:
    counted = {**GPU, "emulated_occupancy": 1.0, "sensitivity_l2_latency": 0.1, **EMULATED_CASES[bound]}
    found = diagnose(Seconds(1e-3), counted)
    assert found is not None
    assert found.bound is bound
    assert found.measure is Measure.SENSITIVITIES
    assert list(found.parts.values()) == sorted(found.parts.values(), reverse=True)


def test_an_emulated_kernel_that_nothing_stands_out_of_waits_for_latency() -> None:
    found = diagnose(Seconds(1e-3), {"emulated_occupancy": 1.0, "sensitivity_fp32_throughput": 0.1})
    assert found is not None
    assert found.bound is Bound.LATENCY
    assert found.parts == {"throughput of single precision": 0.1}
