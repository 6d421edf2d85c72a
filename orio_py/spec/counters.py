"""Names of what a specification can have counted, and by which method.

The methods themselves are `measure.observers`; front ends check names against this table.
"""

from __future__ import annotations

from collections.abc import Mapping

METHOD_COUNTERS: Mapping[str, tuple[str, ...]] = {
    "perf": (
        "instructions",
        "cycles",
        "cache_references",
        "cache_misses",
        "branches",
        "branch_misses",
        "task_clock",
        "page_faults",
    ),
    "papi": (
        "instructions",
        "cycles",
        "l1_data_misses",
        "l2_data_misses",
        "l3_misses",
        "branches",
        "branch_misses",
        "floating_point_operations",
    ),
    "valgrind": (
        "instructions",
        "data_reads",
        "data_writes",
        "l1_instruction_misses",
        "l1_data_misses",
        "last_level_misses",
        "branches",
        "branch_misses",
    ),
    "rusage": (
        "user_time",
        "system_time",
        "page_faults",
        "major_page_faults",
        "context_switches",
        "involuntary_context_switches",
        "peak_memory",
    ),
    "rapl": ("energy",),
    "tau": ("tau_time", "tau_exclusive_time"),
}
"""Per method the counters that it can give, on machines that have all of them."""

TAU_TIMER = "orio kernel "
"""How the name of the timer begins that TAU finds around the kernel."""

TIMES = ("time", "wall_time", "cpu_time")
"""What every variant has: seconds by the ranking clock, on the wall, of the kernel's thread."""

OBJECTIVE_NAMES = tuple(dict.fromkeys((*TIMES, *(n for names in METHOD_COUNTERS.values() for n in names))))
"""The names that an objective can use."""
