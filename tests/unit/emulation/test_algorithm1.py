"""Algorithm 1 of Hong et al. 2018: the schedule of Figure 5, and the closed forms of section 3.2."""

from __future__ import annotations

import pytest

from orio_py.emulation.algorithm1 import (
    AbstractInstruction,
    PipelinedResource,
    emulate_abstractly,
    latency_limited_time,
    throughput_limited_time,
)

MEMORY, UNIT = "global memory", "functional unit"
GPU = {MEMORY: PipelinedResource(500, 100), UNIT: PipelinedResource(100, 20)}
# R2 = G[R1]; R5 = R3 * R4; R7 = R5 * R6; R9 = R7 * R8; R10 = G[R2]
WARP = (
    AbstractInstruction(MEMORY),
    AbstractInstruction(UNIT),
    AbstractInstruction(UNIT, (1,)),
    AbstractInstruction(UNIT, (2,)),
    AbstractInstruction(MEMORY, (0,)),
)


def test_the_schedule_of_figure_5():
    found = emulate_abstractly([WARP] * 3, GPU)
    told = [(f"S{i.warp + 1}{i.instruction + 1}", i.time, i.finish) for i in found.issues]
    # The text lets S32 begin in cycle 4; by line 27 each issue takes a cycle, so that it is the fifth.  It finishes in 141.
    assert told == [
        ("S11", 0, 500),
        ("S12", 1, 101),
        ("S21", 2, 600),
        ("S22", 3, 121),
        ("S31", 4, 700),
        ("S32", 5, 141),
        ("S13", 101, 201),
        ("S23", 121, 221),
        ("S33", 141, 241),
        ("S14", 201, 301),
        ("S24", 221, 321),
        ("S34", 241, 341),
        ("S15", 500, 1000),
        ("S25", 600, 1100),
        ("S35", 700, 1200),
    ]
    assert found.time == 1200
    assert found.active == {
        MEMORY: 0 + 2 + 2 + 496 + 100 + 100,
        UNIT: 1 + 2 + 2 + 96 + 20 + 20 + 60 + 20 + 20,
    }


@pytest.mark.parametrize(
    ("latency", "gap", "concurrency", "phases"),
    [
        (100, 10, 4, 50),
        (100, 10, 16, 50),
        (20, 4, 5, 30),
        (20, 4, 6, 30),
        (500, 100, 1, 7),
        (36, 1, 36, 10),
        (36, 2, 40, 9),
    ],
)
def test_the_closed_forms_of_section_3_2(latency, gap, concurrency, phases):
    """A loop in which each instruction needs that of the iteration before, in as many warps as there is concurrency."""
    warp = [AbstractInstruction(UNIT, (p - 1,) if p else ()) for p in range(phases)]
    found = emulate_abstractly([warp] * concurrency, {UNIT: PipelinedResource(latency, gap)})
    form = latency_limited_time if latency > concurrency * gap else throughput_limited_time
    assert found.time == form(latency=latency, gap=gap, concurrency=concurrency, phases=phases)


def test_concurrency_within_a_warp_is_the_same():
    """Four chains in one warp are as good as four warps."""
    warp = [AbstractInstruction(UNIT, (n - 4,) if n >= 4 else ()) for n in range(4 * 50)]
    found = emulate_abstractly([warp], {UNIT: PipelinedResource(100, 10)})
    assert found.time == latency_limited_time(latency=100, gap=10, concurrency=4, phases=50)


def test_nothing_takes_no_time():
    assert emulate_abstractly([], GPU).time == 0
