"""Threads that are followed: ways, trip counts, addresses, and loops that are jumped over."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sass_text import listing

from orio_py.emulation import threads
from orio_py.emulation.access import global_cost, shared_passes
from orio_py.emulation.launch import DataPolicy, KernelLaunch, active_threads, launch_values, sample_blocks
from orio_py.emulation.loops import LoopHistory
from orio_py.emulation.threads import EndlessKernel, follow
from orio_py.emulation.trace import Repeat, warp_classes, warp_items
from orio_py.record.cuda import ParameterLayout
from orio_py.sass.listing import parse_listing

LISTINGS = Path(__file__).resolve().parents[1] / "sass" / "listings"
A, B, C = (number << 40 for number in (1, 2, 3))
MATRIX = ParameterLayout(0x210, ((0, 4), (8, 8), (16, 8), (24, 8)))
USUAL = DataPolicy()
ONE = ParameterLayout(0x210, ((0, 4),))


def trace_of(function, layout, grid, block, arguments, policy=USUAL, blocks=None):
    launch = KernelLaunch(grid, block, arguments)
    chosen = sample_blocks(grid).blocks if blocks is None else blocks
    known = launch_values(launch, layout, 90, chosen)
    return follow(function, known, active_threads(launch, len(chosen)), launch.warps, policy), launch, chosen


def small(*lines, n=0, block=64, grid=1, policy=USUAL):
    trace, _, _ = trace_of(listing(*lines), ONE, (grid, 1, 1), (block, 1, 1), {0: n}, policy, [(0, 0, 0)])
    return trace


def executed(items):
    """How often a warp executes each instruction."""
    found = Counter()
    for item in items:
        if isinstance(item, Repeat):
            for number, count in executed(item.body).items():
                found[number] += count * item.times
        else:
            found[item[0]] += 1
    return found


def naive():
    (function,) = parse_listing((LISTINGS / "naive_sm_90.sass").read_text())
    return function


def matrix_product(n, grid, block):
    return trace_of(naive(), MATRIX, grid, block, {0: n, 1: A, 2: B, 3: C})


@pytest.mark.parametrize(("grid", "block", "n"), [((4, 4, 1), (16, 16, 1), 64), ((3, 5, 1), (32, 4, 1), 70)])
def test_the_addresses_of_a_matrix_product(grid, block, n):
    trace, launch, blocks = matrix_product(n, grid, block)
    function = naive()
    stores = [p for p in trace.accesses if function.instructions[trace.entries[p][0]].opcode == "STG"]
    seen = np.zeros(len(blocks) * launch.warps * 32, bool)
    x, y, _ = launch.block
    thread = np.tile(np.arange(launch.warps * 32), len(blocks))
    bx, by, _ = (np.repeat([b[axis] for b in blocks], launch.warps * 32) for axis in range(3))
    row, column = by * y + thread // x, bx * x + thread % x
    for place in stores:
        access = trace.accesses[place]
        wanted = C + 4 * (row * n + column)
        assert (
            np.broadcast_to(access.addresses.data, wanted.shape)[access.threads] == wanted[access.threads]
        ).all()
        assert not (seen & access.threads).any()
        seen |= access.threads
    assert (seen == ((row < n) & (column < n))).all()


def test_the_accesses_of_a_matrix_product():
    """A row of A is the same for half a warp, a row of B and of C lies in two pieces of 64 bytes."""
    trace, _, _ = matrix_product(64, (4, 4, 1), (16, 16, 1))
    function = naive()
    costs = Counter(
        (function.instructions[trace.entries[p][0]].opcode, a.sectors // a.warps, a.passes // a.warps)
        for p, a in trace.accesses.items()
    )
    assert set(costs) == {("LDG", 2, 2), ("LDG", 2, 1), ("STG", 4, 2)}


@pytest.mark.parametrize("n", [1, 3, 4, 15, 16, 17, 64, 100, 333])
def test_jumps_over_iterations_change_nothing(monkeypatch, n):
    trace, launch, _ = matrix_product(n, (1 + (n > 16),) * 2 + (1,), (16, 16, 1))
    jumped = [executed(warp_items(trace, warp)) for warp in range(launch.warps)]
    monkeypatch.setattr(LoopHistory, "jump", lambda *arguments: None)
    whole, _, _ = matrix_product(n, (1 + (n > 16),) * 2 + (1,), (16, 16, 1))
    assert jumped == [executed(warp_items(whole, warp)) for warp in range(launch.warps)]
    assert trace.executed <= whole.executed
    loads = {k for k, i in enumerate(naive().instructions) if i.opcode == "LDG"}
    assert sum(count for number, count in jumped[0].items() if number in loads) == 2 * n


def test_long_loops_are_jumped_over():
    short, _, _ = matrix_product(1 << 10, (64, 64, 1), (16, 16, 1))
    longer, _, _ = matrix_product(1 << 13, (512, 512, 1), (16, 16, 1))
    assert longer.executed == short.executed < 1000
    ffma = next(k for k, i in enumerate(naive().instructions) if i.opcode == "FFMA")
    assert executed(warp_items(longer, 0))[ffma] == 8 * executed(warp_items(short, 0))[ffma]


def loop(step, limit, *body, condition="ISETP.LT.AND P0, PT, R1, c[0x0][0x210], PT", start="0x0"):
    del limit
    return (
        f"MOV R1, {start}",
        "S2R R0, SR_TID.X",
        "again:",
        *body,
        f"IADD3 R1, R1, {step}, RZ",
        condition,
        "@P0 BRA `(again)",
        "EXIT",
    )


@pytest.mark.parametrize("n", [1, 5, 40, 1000, 12345])
@pytest.mark.parametrize("step", [1, 3, 8])
def test_trip_counts(n, step):
    trace = small(*loop(step, n), n=n)
    assert executed(warp_items(trace, 0))[2] == max(1, -(-n // step))


@pytest.mark.parametrize("kind", ["NE.AND", "NE.U32.AND"])
def test_counters_that_run_up_to_zero(kind):
    code = loop("0x1", 0, condition=f"ISETP.{kind} P0, PT, R1, RZ, PT", start="0xfffffc18")
    assert executed(warp_items(small(*code), 0))[2] == 1000


def test_bodies_that_differ_by_turns():
    """Every other iteration takes a way of its own; every third in the second loop."""
    body = (
        "LOP3.LUT R2, R1, 0x1, RZ, 0xc0, !PT",
        "ISETP.NE.AND P1, PT, R2, RZ, PT",
        "@P1 BRA `(odd)",
        "MOV R3, RZ",
        "odd:",
    )
    trace = small(*loop(1, 0, *body), n=1001)
    found = executed(warp_items(trace, 0))
    assert (found[2], found[5]) == (1001, 501)
    assert trace.executed < 300


def test_a_way_that_changes_once():
    """The first 300 of 1000 iterations do more."""
    body = ("ISETP.GT.AND P1, PT, R1, 0x12b, PT", "@P1 BRA `(late)", "MOV R3, RZ", "late:")
    found = executed(warp_items(small(*loop(1, 0, *body), n=1000), 0))
    assert (found[2], found[4]) == (1000, 300)


def test_threads_with_loops_of_their_own_lengths():
    """Each thread as many iterations as its number: a warp as many as its last one."""
    code = (
        "S2R R0, SR_TID.X",
        "MOV R1, RZ",
        "again:",
        "IADD3 R1, R1, 0x1, RZ",
        "ISETP.LT.AND P0, PT, R1, R0, PT",
        "@P0 BRA `(again)",
        "EXIT",
    )
    trace = small(*code)
    assert [executed(warp_items(trace, warp))[2] for warp in range(2)] == [31, 63]


def test_parts_of_a_warp_and_whole_warps():
    """The first 5 threads take the branch: the first warp goes both ways, the second one."""
    code = (
        "S2R R0, SR_TID.X",
        "ISETP.LT.AND P0, PT, R0, 0x5, PT",
        "@P0 BRA `(few)",
        "MOV R1, 0x1",
        "BRA `(out)",
        "few:",
        "MOV R2, 0x2",
        "out:",
        "EXIT",
    )
    trace = small(*code)
    first, second = (executed(warp_items(trace, warp)) for warp in range(2))
    assert (first[3], first[5], second[3], second[5]) == (1, 1, 1, 0)
    assert first[6] == second[6] == 1  # they end together
    assert dict(warp_classes(trace, range(2))) == {0: (0,), 1: (1,)}


def test_instructions_that_are_switched_off_are_issued():
    code = ("S2R R0, SR_TID.X", "ISETP.LT.AND P0, PT, R0, 0x20, PT", "@P0 MOV R1, 0x1", "EXIT")
    trace = small(*code)
    assert [item[2] for item in warp_items(trace, 0)] == [True] * 4
    assert [item[2] for item in warp_items(trace, 1)] == [True, True, False, True]


def test_data_decide():
    code = (
        "LDG.E R0, [R2.64]",
        "ISETP.GT.AND P0, PT, R0, RZ, PT",
        "@P0 BRA `(over)",
        "MOV R1, RZ",
        "over:",
        "EXIT",
    )
    assert executed(warp_items(small(*code), 0))[3] == 1
    found = small(*code, policy=DataPolicy(takes_branches=True))
    assert executed(warp_items(found, 0))[3] == 0
    assert dict(found.branches) == {2: 1}
    again = ("again:", "LDG.E R0, [R2.64]", "ISETP.GT.AND P0, PT, R0, RZ, PT", "@P0 BRA `(again)", "EXIT")
    assert executed(warp_items(small(*again, policy=DataPolicy(iterations=5)), 0))[0] == 5
    leave = ("LDG.E R0, [R2.64]", "ISETP.GT.AND P0, PT, R0, RZ, PT", "@P0 EXIT", "MOV R1, RZ", "EXIT")
    assert executed(warp_items(small(*leave), 0))[3] == 1


def test_conditions_that_are_known_for_some_threads_are_conditions():
    """Threads 8 to 15 take the branch; what `FSETP` says for those before them is not known."""
    code = (
        "S2R R0, SR_TID.X",
        "ISETP.LT.AND P0, PT, R0, 0x10, PT",
        "ISETP.LT.AND P1, PT, R0, 0x8, PT",
        "@P1 FSETP.GT.AND P0, PT, R2, RZ, PT",
        "@P0 BRA `(over)",
        "MOV R1, RZ",
        "over:",
        "EXIT",
    )
    trace = small(*code, block=32)
    assert executed(warp_items(trace, 0)) == Counter(range(7))


def test_calls_for_rare_operands_are_left_out():
    rare = ("LDG.E R0, [R2.64]", "FSETP.GT.AND P0, PT, R0, RZ, PT", "@P0 BRA `(usual)", "CALL.REL.NOINC `(slow)", "usual:", "EXIT",
            "slow:", "RET.REL.NODEC R4 `(k)")  # fmt: skip
    assert executed(warp_items(small(*rare), 0))[3] == 0
    always = ("CALL.REL.NOINC `(slow)", "MOV R1, RZ", "EXIT", "slow:", "MOV R2, RZ", "RET.REL.NODEC R4 `(k)")
    assert executed(warp_items(small(*always), 0)) == Counter(range(5))


def test_divergence_that_is_brought_together():
    code = (
        "S2R R0, SR_TID.X",
        "BSSY B0, `(join)",
        "ISETP.LT.AND P0, PT, R0, 0x5, PT",
        "@P0 BRA `(few)",
        "MOV R1, RZ",
        "few:",
        "BSYNC B0",
        "join:",
        "MOV R2, RZ",
        "EXIT",
    )
    assert executed(warp_items(small(*code), 0))[6] == 1


def test_kernels_without_an_end(monkeypatch):
    monkeypatch.setattr(threads, "MOST_EXECUTED", 500)
    with pytest.raises(EndlessKernel):
        small("again:", "MOV R0, RZ", "BRA `(again)")


def test_a_block_with_a_part_of_a_warp():
    code = ("S2R R0, SR_TID.X", "ISETP.LT.AND P0, PT, R0, 0x28, PT", "@!P0 MOV R1, RZ", "EXIT")
    assert [item[2] for item in warp_items(small(*code, block=40), 1)] == [True, True, False, True]


def test_the_blocks_that_are_followed():
    line = sample_blocks((100, 1, 1))
    assert line.blocks == ((50, 0, 0), (51, 0, 0), (0, 0, 0), (99, 0, 0))
    assert line.neighbours == (1, None, None)
    assert line.counts == {0: 98, 2: 1, 3: 1}
    plane = sample_blocks((10, 20, 1))
    assert plane.counts[0] == 10 * 20 - 2 * 20 - 2 * 10
    assert sum(plane.counts.values()) == 201
    assert sample_blocks((1, 1, 1)).blocks == ((0, 0, 0),)
    assert sample_blocks((2, 1, 1)).counts == {0: 1, 1: 1}


@pytest.mark.parametrize(("stride", "size", "start", "sectors", "passes"), [
    (4, 4, 0, 4, 1), (8, 8, 0, 8, 2), (16, 16, 0, 16, 4), (4, 4, 4, 5, 1), (8, 4, 0, 8, 2), (128, 4, 0, 32, 32), (0, 4, 0, 1, 1),
    (1, 1, 0, 1, 1), (8, 8, 16, 9, 2),
])  # fmt: skip
def test_sectors_and_passes(stride, size, start, sectors, passes):
    addresses = (start + stride * np.arange(32))[None]
    assert global_cost(addresses, np.ones((1, 32), bool), size) == (sectors, passes)


@pytest.mark.parametrize(("size", "stride", "cycles"), [
    (4, 0, 1.02), (4, 1, 1.02), (4, 2, 2.0), (4, 3, 1.63), (4, 4, 4.0), (4, 5, 2.2), (4, 8, 8.0), (4, 12, 4.0), (4, 15, 4.45),
    (4, 16, 16.0), (4, 17, 5.1), (4, 31, 8.5), (4, 32, 32.0), (4, 33, 8.8), (8, 1, 2.01), (8, 2, 4.0), (8, 3, 2.42), (8, 4, 8.0),
])  # fmt: skip
def test_passes_are_what_an_a100_takes(size, stride, cycles):
    """Cycles of a load of a warp whose elements lie `stride` apart, measured: RRZE-HPC/gpu-benches, gpu-strides/a100.txt."""
    addresses = (size * stride * np.arange(32))[None]
    _, passes = global_cost(addresses, np.ones((1, 32), bool), size)
    assert passes == pytest.approx(cycles, rel=0.15, abs=0.65)


@pytest.mark.parametrize(("addresses", "size", "passes"), [
    (4 * np.arange(32), 4, 1), (8 * np.arange(32), 4, 2), (128 * np.arange(32), 4, 32), (132 * np.arange(32), 4, 1),
    (0 * np.arange(32), 4, 1), (8 * np.arange(32), 8, 2), (16 * np.arange(32), 16, 4), (256 * np.arange(32), 8, 32),
    (12 * np.arange(32), 4, 1), (64 * np.arange(32), 4, 16), (0 * np.arange(32), 16, 1), (16 * (np.arange(32) % 8), 16, 1),
])  # fmt: skip
def test_conflicts_of_banks(addresses, size, passes):
    assert shared_passes(addresses[None], np.ones((1, 32), bool), size) == passes


def test_threads_that_take_no_part_touch_nothing():
    none = np.zeros((1, 32), bool)
    few = none.copy()
    few[0, :8] = True
    addresses = (128 * np.arange(32))[None]
    assert global_cost(addresses, few, 4) == (8, 8)
    assert shared_passes(addresses, few, 4) == 8
    assert shared_passes(addresses, none, 4) == 0
