"""The emulation of a multiprocessor: closed forms, what each kind of step does, and the C version against the plain one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orio_py.build.emulation_core import emulation_core
from orio_py.core.diagnostics import EnvironmentProblem
from orio_py.emulation.algorithm1 import latency_limited_time, throughput_limited_time
from orio_py.emulation.core import DEPENDENCES, Kind, Multiprocessor, Policy, StepTable, Work
from orio_py.emulation.plain_core import emulate_plainly

ALU, SFU, L1, L2, DRAM, BARRIER = range(6)


def machine(**changes):
    latency = np.array([[4.0, 20.0, 30.0, 200.0, 500.0, 10.0]])
    gap = np.array([[1.0, 4.0, 1.0, 0.5, 2.0, 1.0]])
    once = np.array([0, 0, 1, 1, 1, 1])
    return replace(
        Multiprocessor(latency, gap, once, np.arange(6), 4, 1, L2, DRAM, BARRIER, refill=0.0), **changes
    )


def steps(*rows):
    """Steps from dictionaries with what differs from an instruction that needs nothing."""
    count = len(rows)
    usual = {
        "kind": Kind.FIXED, "pipe": ALU, "second": -1, "stall": 1, "write": -1, "read": -1, "wait": 0, "keep": 0, "region": 0,
        "site": 0, "amount": 1.0, "l2": 0.0, "dram": 0.0, "l2_chance": 0.0, "dram_chance": 0.0,
    }  # fmt: skip
    columns = {name: np.array([row.get(name, value) for row in rows]) for name, value in usual.items()}
    dependence = np.zeros((count, DEPENDENCES), np.int32)
    for number, row in enumerate(rows):
        dependence[number, : len(row.get("needs", ()))] = row.get("needs", ())
    return StepTable(**columns, dependence=dependence.ravel())


@pytest.fixture(scope="module")
def native():
    return emulation_core()


@pytest.fixture(params=["plain", "native"])
def core(request):
    return emulate_plainly if request.param == "plain" else request.getfixturevalue("native")


def run(core, table, *, warps=1, slots=1, blocks=1, on=None, **options):
    work = Work((0,) * warps, (len(table.kind),) * warps, slots, blocks)
    return core(table, on or machine(), work, **options)


@pytest.mark.parametrize(
    ("latency", "gap", "warps", "phases"), [(100, 10, 4, 20), (100, 10, 16, 20), (20, 4, 6, 30)]
)
def test_the_closed_forms(core, latency, gap, warps, phases):
    """Of one scheduler, whose units have a queue, up to the cycle in which the last result is waited for."""
    row = {"kind": Kind.VARIABLE, "pipe": SFU, "write": 0, "wait": 1}
    table = steps(*[row] * phases, {"pipe": -1, "wait": 1})
    on = machine(schedulers=1)
    on.latency[0, SFU], on.gap[0, SFU] = latency, gap
    form = latency_limited_time if latency > warps * gap else throughput_limited_time
    expected = form(latency=latency, gap=gap, concurrency=warps, phases=phases)
    assert run(core, table, warps=warps, on=on).cycles == expected + 1


def test_stalls_and_issue_slots(core):
    assert run(core, steps({"stall": 5}, {"stall": 1}, {})).cycles == 7
    # Sixteen warps on four schedulers: each issues one instruction in a cycle.
    assert run(core, steps({}, {}, {}), warps=16).cycles == 12
    assert run(core, steps({"pipe": -1}, {"pipe": -1}), warps=16, on=machine(width=2)).cycles == 4.5


def test_units_of_fixed_latency_keep_a_warp_away(core):
    slow = machine()
    slow.gap[0, ALU] = 2.0
    assert run(core, steps({}, {}, {}), on=slow).cycles == 5
    # The next instruction needs another unit, and the second one of a pair counts as well.
    assert run(core, steps({}, {"pipe": -1}, {"pipe": -1}), on=slow).cycles == 3
    assert run(core, steps({"pipe": SFU, "second": ALU}, {}), on=slow).cycles == 3


def test_dependences_within_a_warp_hold_when_latencies_grow(core):
    table = steps({"stall": 4}, {"needs": (1,)}, {})
    assert run(core, table).cycles == 6
    slow = machine()
    slow.latency[0, ALU] = 9.0
    assert run(core, table, on=slow).cycles == 11


def test_memory_is_reached_through_its_levels(core):
    load = {"kind": Kind.MEMORY, "pipe": L1, "write": 0}
    wait = {"pipe": -1, "wait": 1}
    assert run(core, steps(load, wait)).cycles == 31
    far = load | {"l2": 4.0, "l2_chance": 1.0}
    assert run(core, steps(far, wait)).cycles == 2 + 200 + 1
    farther = far | {"dram": 4.0, "dram_chance": 1.0}
    assert run(core, steps(farther, wait)).cycles == 8 + 500 + 1
    # Sectors that others brought are there: only how many go through counts.
    assert run(core, steps(far | {"dram": 4.0}, wait)).cycles == 203
    found = run(core, steps(*[farther] * 100, wait), warps=4)
    assert found.busy[DRAM] == 4 * 100 * 4 * 2.0
    assert found.cycles >= found.busy[DRAM]


def test_passes_take_their_time(core):
    conflict = {"kind": Kind.MEMORY, "pipe": L1, "write": 0, "amount": 8.0}
    assert run(core, steps(conflict, {"pipe": -1, "wait": 1})).cycles == 7 + 30 + 1


def test_two_resources_may_be_one_unit(core):
    load = {"kind": Kind.MEMORY, "pipe": L1, "amount": 8.0, "write": 0}
    table = steps(load, load | {"pipe": L2, "write": 1}, {"pipe": -1, "wait": 3})
    apart = run(core, table)
    one = run(core, table, on=machine(turn=np.array([0, 1, L2, L2, 4, 5])))
    assert (apart.cycles, one.cycles) == (1 + 3.5 + 200 + 1, 8 + 3.5 + 200 + 1)
    assert apart.busy.tolist() == one.busy.tolist()


def test_a_block_meets_at_barriers(core):
    meet = {"kind": Kind.SYNCHRONISE, "pipe": -1}
    slow = {"pipe": -1, "stall": 50}
    work = Work((0, 3), (3, 3), 1, 1)
    table = steps(slow, meet, {"pipe": -1}, {"pipe": -1}, meet, {"pipe": -1})
    # Both come to it in cycle 50 at the latest, and leave it after the barrier's latency.
    assert core(table, machine(), work).cycles == 50 + 10 + 1
    # One warp ends before: it is not waited for.
    assert core(table, machine(), Work((0, 3), (3, 1), 1, 1)).cycles == 50 + 10 + 1


def test_a_warp_that_has_ended_is_not_waited_for(core):
    meet = {"kind": Kind.SYNCHRONISE, "pipe": -1}
    assert core(steps(meet, meet, {"pipe": -1}), machine(), Work((0, 0), (3, 1), 1, 1)).cycles == 12


def test_copies_are_drained(core):
    copy = {"kind": Kind.ASYNC_COPY, "pipe": L1}
    commit = {"kind": Kind.COMMIT, "pipe": -1, "write": 0}
    drain = {"kind": Kind.DRAIN, "pipe": -1, "write": 0, "keep": 1}
    assert run(core, steps(copy, commit, drain)).cycles < 10  # one group may be outstanding
    assert run(core, steps(copy, commit, drain | {"keep": 0})).cycles == 31
    second = copy | {"l2": 1.0, "l2_chance": 1.0}
    assert run(core, steps(copy, commit, second, commit, drain)).cycles == 31


def test_blocks_follow_each_other(core):
    table = steps({"stall": 10}, {})
    assert run(core, table, slots=1, blocks=3, on=machine(refill=5.0)).block_end.tolist() == [11, 26, 41]
    assert run(core, table, slots=3, blocks=3).block_end.tolist() == [11, 11, 11]


def test_events_and_waits(core):
    table = steps({"stall": 7, "site": 0}, {"site": 1})
    found = run(core, table, most_events=10)
    assert [(e.time, e.warp, e.step) for e in found.events] == [(0, 0, 0), (7, 0, 1)]
    assert found.site_wait.tolist() == [0, 6]
    assert found.issued == 2


def random_case(draw):
    def row():
        kind = draw.choice(
            [Kind.FIXED] * 4
            + [Kind.VARIABLE, Kind.MEMORY, Kind.MEMORY, Kind.ASYNC_COPY, Kind.COMMIT, Kind.DRAIN]
        )
        pipe = {Kind.FIXED: ALU, Kind.VARIABLE: SFU}.get(kind, L1)
        return {
            "kind": kind,
            "pipe": -1 if kind in (Kind.COMMIT, Kind.DRAIN) or draw.random() < 0.1 else pipe,
            "second": int(draw.choice([-1, -1, SFU])) if kind == Kind.FIXED else -1,
            "stall": int(draw.integers(0, 6)),
            "write": int(draw.integers(0, 3)) if kind != Kind.FIXED else -1,
            "read": int(draw.integers(3, 6)) if kind == Kind.MEMORY and draw.random() < 0.3 else -1,
            "wait": int(draw.choice([0, 0, 1, 2, 4, 9, 32])),
            "keep": int(draw.integers(0, 3)),
            "region": int(draw.integers(0, 2)),
            "site": int(draw.integers(0, 5)),
            "amount": float(draw.integers(1, 5)),
            "l2": float(draw.integers(0, 3)),
            "dram": float(draw.integers(0, 3)),
            "l2_chance": float(draw.random()),
            "dram_chance": float(draw.random()),
            "needs": tuple(int(n) for n in draw.integers(0, 4, 2)),
        }

    rows = [row() for _ in range(int(draw.integers(3, 30)))]
    for at in sorted(draw.integers(0, len(rows), 2)):
        rows.insert(int(at), {"kind": Kind.SYNCHRONISE, "pipe": -1, "stall": 2})
    # Only results of fixed latency are needed by their distance.
    for number, one in enumerate(rows):
        one["needs"] = tuple(
            n for n in one.get("needs", ()) if 0 < n <= number and rows[number - n].get("pipe", ALU) == ALU
            and rows[number - n].get("kind", Kind.FIXED) == Kind.FIXED
        )  # fmt: skip
    table = steps(*rows)
    latency = draw.integers(1, 60, (2, 6)).astype(float)
    gap = draw.integers(1, 9, (2, 6)) / 2.0
    on = machine(latency=latency, gap=gap, policy=Policy(int(draw.integers(0, 3))), refill=float(draw.integers(0, 9)),
                 queue=float(draw.integers(0, 3)), schedulers=int(draw.choice([1, 2, 4])), width=int(draw.integers(1, 3)))  # fmt: skip
    if draw.random() < 0.5:
        on = replace(on, turn=np.array([0, 1, L2, L2, 4, 5]))
    warps = int(draw.integers(1, 6))
    return (
        table,
        on,
        Work((0,) * warps, (len(rows),) * warps, int(draw.integers(1, 4)), int(draw.integers(1, 7))),
    )


@pytest.mark.parametrize("seed", range(60))
def test_c_and_python_agree(native, seed):
    table, on, work = random_case(np.random.default_rng(seed))
    plain = emulate_plainly(table, on, work, most_events=50)
    compiled = native(table, on, work, most_events=50)
    assert compiled.events == plain.events
    np.testing.assert_allclose(compiled.block_end, plain.block_end, rtol=1e-12)
    np.testing.assert_allclose(compiled.busy, plain.busy, rtol=1e-12)
    np.testing.assert_allclose(
        compiled.site_wait[: len(plain.site_wait)], plain.site_wait, rtol=1e-9, atol=1e-9
    )
    assert compiled.issued == plain.issued


@pytest.mark.parametrize("seed", range(60))
def test_emulations_that_begin_alike_are_those_of_each(native, seed):
    """Rows in orders with loops of several lengths, whose first steps are the same."""
    draw = np.random.default_rng(seed)
    table, on, work = random_case(draw)
    count = len(table.kind)
    table = replace(table, dependence=np.zeros(DEPENDENCES * count, np.int32))
    first, end = sorted(int(n) for n in draw.integers(1, count, 2))
    body = np.arange(first, end + 1)
    orders = [
        np.concatenate([np.arange(first), np.tile(body, times), np.arange(end, count)]) for times in (1, 2, 5)
    ]
    works = [
        Work(work.first, (len(order),) * len(work.first), work.slots, work.blocks, order) for order in orders
    ]
    shared = [first + len(body), first + 2 * len(body)]
    found = native.together([table] * 3, on, works, shared)
    for one, todo in zip(found, works, strict=True):
        plain = emulate_plainly(table, on, todo)
        np.testing.assert_allclose(one.block_end, plain.block_end, rtol=1e-12)
        np.testing.assert_allclose(one.busy, plain.busy, rtol=1e-12)
        np.testing.assert_allclose(
            one.site_wait[: len(plain.site_wait)], plain.site_wait, rtol=1e-9, atol=1e-9
        )
        assert one.issued == plain.issued


def test_too_many_warps_are_told(native):
    with pytest.raises(ValueError, match="than there is room for"):
        run(native, steps({}), warps=32, slots=9)


def test_no_compiler_is_told(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    emulation_core.cache_clear()
    try:
        with pytest.raises(EnvironmentProblem) as caught:
            emulation_core()
        assert caught.value.diagnostics[0].code in ("ORIO-B001", "ORIO-B062")
    finally:
        emulation_core.cache_clear()


def test_a_compiler_that_fails_is_told(monkeypatch, tmp_path):
    for name in ("gcc", "cc", "clang"):
        (tmp_path / name).write_text("#!/bin/sh\necho 'error: out of order' >&2\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    emulation_core.cache_clear()
    try:
        with pytest.raises(EnvironmentProblem) as caught:
            emulation_core()
        assert caught.value.diagnostics[0].code == "ORIO-B062"
        assert "error: out of order" in caught.value.diagnostics[0].message
    finally:
        emulation_core.cache_clear()
