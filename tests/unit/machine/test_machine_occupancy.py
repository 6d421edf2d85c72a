"""Occupancy against values that NVIDIA publishes, and against its own calculation."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from orio_py.machine.catalog import gpu_model, gpu_models
from orio_py.machine.occupancy import Limit, occupancy

VALUES = Path(__file__).with_name("occupancy_values.csv")
# The bits of cudaOccLimitingFactors in cuda_occupancy.h.
BITS = {Limit.WARPS: 1, Limit.REGISTERS: 2, Limit.SHARED_MEMORY: 4, Limit.BLOCKS: 8}


def ask(architecture, threads, registers, shared=0, configuration=None):
    model = gpu_model(architecture)
    assert model is not None
    return occupancy(
        model,
        threads_per_block=threads,
        registers_per_thread=registers,
        shared_bytes_per_block=shared,
        shared_configuration_bytes=configuration,
    )


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_100"])
def test_the_examples_of_the_best_practices_guide(architecture):
    """CUDA C++ Best Practices Guide, section 11.2, for multiprocessors of 64 warps and 65536 registers."""
    assert ask(architecture, 256, 32).share == 1.0
    few = ask(architecture, 128, 37)
    assert (few.blocks, few.share, few.limits) == (12, 0.75, (Limit.REGISTERS,))
    large = ask(architecture, 320, 37)
    assert (large.blocks, round(large.share, 2)) == (4, 0.62)


def test_as_the_header_of_the_toolkit_calculates():
    """The values are those of cuda_occupancy.h, written by tests/support/occupancy_oracle.py."""
    with VALUES.open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    assert {row[0] for row in rows} == set(gpu_models())
    wrong = []
    for architecture, *numbers in rows:
        threads, registers, shared, percent, blocks, limits = map(int, numbers)
        model = gpu_models()[architecture]
        part = None if percent == 100 else model.shared_bytes_per_multiprocessor * percent // 100
        found = ask(architecture, threads, registers, shared, part)
        bits = sum(BITS[limit] for limit in found.limits)
        # Where there is no block, the header names all resources that are too small and this module one.
        expected = limits if blocks else bits & limits
        if (found.blocks, bits) != (blocks, expected):
            wrong.append((architecture, numbers, found))
    assert wrong == []


def test_a_block_that_cannot_be_started_has_a_problem():
    assert ask("sm_90", 1056, 16).problem == "1056 threads in a block, of at most 1024"
    assert ask("sm_90", 1024, 65).problem == "73728 registers in a block, of at most 65536"
    assert ask("sm_90", 32, 256).problem == "256 registers in a thread, of at most 255"
    over = ask("sm_75", 32, 16, 70000)
    assert over.problem == "70000 bytes of shared memory in a block, of at most 65536"
    assert (over.blocks, over.warps, over.share, over.limits) == (0, 0, 0.0, (Limit.SHARED_MEMORY,))
    assert ask("sm_90", 1024, 64).problem is None


def test_a_smaller_part_of_shared_memory_admits_fewer_blocks():
    whole = ask("sm_90", 128, 32, 16384)
    small = ask("sm_90", 128, 32, 16384, 65536)
    assert whole.blocks == 13  # 228 KiB for blocks of 17 KiB
    assert small.blocks == 3  # 64 KiB
    assert small.limits == (Limit.SHARED_MEMORY,)
    assert ask("sm_90", 128, 32, 16384, 0).blocks == 1  # the next larger configuration, 32 KiB


def test_needs_are_not_negative():
    with pytest.raises(ValueError, match="at least one thread"):
        ask("sm_90", 0, 16)
