"""The formulas of counter-guided search, each against what the paper defines."""

from __future__ import annotations

import numpy as np
import pytest

from orio_py.model.counters.bottlenecks import (
    Bottleneck,
    bottlenecks,
    few_threads,
    fitted_instructions,
    idle_processors,
    instruction,
    instruction_utilisation,
    issue,
    local_memory,
    memory_read,
    memory_write,
    most_used,
    texture,
)
from orio_py.model.counters.reaction import (
    COMPUTE_BOUND_REACTION,
    instruction_change,
    required_changes,
    scores,
    weights,
)
from orio_py.model.counters.table import (
    PREDICTED,
    TABLE,
    CounterKind,
    Generation,
    GpuCounter,
    generation_of,
    read_profile,
)

C = GpuCounter
NEW, OLD = Generation.FROM_VOLTA, Generation.BEFORE_VOLTA


# --- table 1 ---


def test_the_table_has_every_counter_once_and_no_name_twice() -> None:
    assert [row.counter for row in TABLE] == list(GpuCounter)
    for names in ([row.before_volta for row in TABLE], [r.from_volta for r in TABLE if r.from_volta]):
        assert len(set(names)) == len(names)


def test_stress_is_what_table_1_calls_stress() -> None:
    stress = {row.counter for row in TABLE if row.kind is CounterKind.STRESS} - {C.OCCUPANCY}
    assert stress == {C.DRAM_U, C.L2_U, C.TEX_U, C.SHR_U, C.SM_E, C.WARP_E, C.WARP_NP_E}
    assert not stress & set(PREDICTED)
    assert C.INST_ISSUE_U not in PREDICTED


def test_both_generations_come_to_the_same_units() -> None:
    old = {"dram_utilization": 7.0, "warp_execution_efficiency": 50.0, "achieved_occupancy": 0.25}
    new = {
        "dram__throughput.avg.pct_of_peak_sustained_elapsed": 70.0,
        "smsp__thread_inst_executed_per_inst_executed.ratio": 16.0,
        "sm__warps_active.avg.pct_of_peak_sustained_active": 25.0,
    }
    wanted = {C.DRAM_U: 7.0, C.WARP_E: 50.0, C.OCCUPANCY: 25.0}
    assert read_profile(old) == pytest.approx(wanted)
    assert read_profile(new) == pytest.approx(wanted)
    assert (generation_of(old), generation_of(new), generation_of({"threads": 1.0})) == (OLD, NEW, None)


def test_local_memory_of_newer_profilers_is_the_share_of_its_traffic() -> None:
    counted = {
        "lts__t_sectors_op_read.sum": 300.0,
        "lts__t_sectors_op_write.sum": 100.0,
        "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum": 60.0,
        "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum": 40.0,
    }
    assert read_profile(counted)[C.LOC_O] == pytest.approx(25.0)


def test_unknown_counters_are_left_out() -> None:
    assert read_profile({"instructions": 5.0}) == {}


# --- equations 6 to 14 ---


def test_equations_6_and_7_share_the_utilisation_by_transactions() -> None:
    assert memory_read(30, 10, 8) == pytest.approx(0.6)
    assert memory_write(30, 10, 8) == pytest.approx(0.2)
    assert memory_read(0, 0, 8) == 0.0


def test_the_texture_cache_is_its_utilisation() -> None:
    assert texture(9) == pytest.approx(0.9)


def test_equation_8_weights_local_memory_by_the_busiest_memory() -> None:
    assert local_memory({C.LOC_O: 50, C.DRAM_U: 2, C.L2_U: 6, C.TEX_U: 4}) == pytest.approx(0.3)
    assert local_memory({C.LOC_O: 50}) == 0.0


def test_equation_9_counts_threads_and_corrects_for_idle_ones() -> None:
    assert fitted_instructions({C.INST_EXE: 10, C.WARP_E: 50, C.WARP_NP_E: 80}) == pytest.approx(800)


def test_the_issue_slots_of_newer_gpus_are_full_at_half() -> None:
    assert instruction_utilisation(40, OLD) == pytest.approx(0.4)
    assert instruction_utilisation(40, NEW) == pytest.approx(0.8)
    assert instruction_utilisation(80, NEW) == 1.0


def test_equation_10_is_the_share_times_the_utilisation() -> None:
    assert instruction(200, 800, 0.8) == pytest.approx(0.2)
    assert instruction(200, 0, 0.8) == 0.0


MIX = {C.INST_EXE: 25.0, C.WARP_E: 100.0, C.WARP_NP_E: 100.0, C.INST_F32: 200.0, C.INST_INT: 400.0}


def test_equation_11_is_the_largest_share() -> None:
    assert most_used(MIX) == pytest.approx(0.5)


def test_equation_12_weights_slots_that_issue_nothing() -> None:
    assert issue({**MIX, C.INST_ISSUE_U: 20.0}) == pytest.approx(0.4)


def test_equation_13_is_what_lacks_of_full_efficiency() -> None:
    assert idle_processors(75) == pytest.approx(0.25)


def test_equation_14_asks_for_five_threads_per_core() -> None:
    assert few_threads(2500, 1000) == pytest.approx(0.5)
    assert few_threads(6000, 1000) == 0.0


def test_all_bottlenecks_are_between_0_and_1() -> None:
    wild = {row.counter: 1e9 for row in TABLE}
    for generation in Generation:
        found = bottlenecks(wild, generation, 1000)
        assert set(found) == set(Bottleneck)
        assert all(0 <= value <= 1 for value in found.values())
    assert Bottleneck.FEW_THREADS not in bottlenecks({}, NEW, 1000)
    assert not any(bottlenecks({}, NEW).values())


def test_the_example_of_section_2_is_bound_by_its_texture_cache() -> None:
    """One grid point per thread: texture cache 9 of 10, arithmetic 3 of 10 (section 2.3)."""
    found = bottlenecks({C.TEX_U: 9, C.DRAM_U: 1, C.DRAM_RT: 1, **MIX, C.INST_ISSUE_U: 30}, OLD)
    assert max(found, key=found.__getitem__) is Bottleneck.TEXTURE


# --- equations 15 to 17 ---


def test_equation_15_ignores_instructions_up_to_the_threshold() -> None:
    assert instruction_change(0.7) == 0.0
    assert instruction_change(0.85) == pytest.approx(-0.5)
    assert instruction_change(1.0) == pytest.approx(-1.0)
    assert instruction_change(0.6, COMPUTE_BOUND_REACTION) == pytest.approx(-0.2)


def test_changes_lower_work_and_raise_parallelism() -> None:
    found = {
        Bottleneck.DRAM_READ: 0.6,
        Bottleneck.FP32: 0.85,
        Bottleneck.INTEGER: 0.5,
        Bottleneck.IDLE_PROCESSORS: 0.3,
        Bottleneck.FEW_THREADS: 0.2,
        Bottleneck.ISSUE: 0.85,
    }
    assert required_changes(found) == pytest.approx(
        {C.DRAM_RT: -0.6, C.INST_F32: -0.5, C.SM_E: 0.3, C.THREADS: 0.2, C.INST_ISSUE_U: -0.5}
    )


def test_every_bottleneck_changes_a_counter() -> None:
    assert all(len(required_changes({bottleneck: 1.0})) == 1 for bottleneck in Bottleneck)


def test_equation_16_prefers_what_changes_in_the_direction_asked_for() -> None:
    changes = {C.DRAM_RT: -0.5, C.THREADS: 0.5}
    candidates = {C.DRAM_RT: np.array([50.0, 200.0, 100.0]), C.THREADS: np.array([100.0, 100.0, 300.0])}
    found = scores(changes, {C.DRAM_RT: 100.0, C.THREADS: 100.0}, candidates)
    assert found == pytest.approx([0.5 / 3, -0.5 / 3, 0.25])


def test_equation_16_leaves_counters_out_that_are_0_on_either_side() -> None:
    changes = {C.DRAM_RT: -1.0, C.LOC_O: -1.0, C.SM_E: 1.0}
    candidates = {C.DRAM_RT: np.array([0.0, 50.0]), C.LOC_O: np.array([10.0, 20.0])}
    found = scores(changes, {C.DRAM_RT: 100.0, C.LOC_O: 0.0}, candidates)
    assert found == pytest.approx([0.0, 1 / 3])


def test_equation_17_amplifies_gains_and_keeps_neutral_ones_neutral() -> None:
    found = weights(np.array([0.4, 0.2, 0.0, -0.1, -0.2, -0.25, -0.5]))
    assert found[0] == pytest.approx(256)
    assert found[1] == pytest.approx(1.5**8)
    assert found[2] == pytest.approx(1.0)
    assert found[3] == pytest.approx(0.8**8)
    assert found[4] == pytest.approx(0.6**8)
    assert found[5] == found[6] == 0.0001


def test_equation_17_where_all_scores_are_alike() -> None:
    assert weights(np.zeros(3)) == pytest.approx([1, 1, 1])
    assert weights(np.full(2, 0.3)) == pytest.approx([256, 256])
    assert weights(np.full(2, -0.1)) == pytest.approx([0.0001, 0.0001])
    assert len(weights(np.zeros(0))) == 0
