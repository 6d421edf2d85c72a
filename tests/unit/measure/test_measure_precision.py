"""Which clock, and how many calls a sample: decided by the kernel's length and the cost of its inputs."""

import pytest

from orio_py.core.units import Seconds
from orio_py.measure.calibration import (
    LONGEST_SAMPLE,
    SAMPLE,
    Precision,
    TimingCosts,
    choose_precision,
    with_enough_calls,
)
from orio_py.record.measurement import Clock

TICK = Seconds(30e-9)


def choose(kernel: float, restoring: float, *, is_parallel: bool = False):
    return choose_precision(Seconds(kernel), TimingCosts(TICK, Seconds(restoring)), is_parallel=is_parallel)


@pytest.mark.parametrize(("is_parallel", "clock"), [(False, Clock.THREAD_CPU), (True, Clock.WALL)])
def test_a_long_kernel_is_timed_call_by_call(is_parallel: bool, clock: Clock) -> None:
    found = choose(1e-3, 10.0, is_parallel=is_parallel)
    assert found is not None
    assert (found.clock, found.inner) == (clock, 1)


@pytest.mark.parametrize("kernel", [99e-6, 1e-6, 20e-9])
def test_a_short_kernel_with_cheap_inputs_is_called_until_the_sample_is_long(kernel: float) -> None:
    found = choose(kernel, kernel)
    assert found is not None
    assert found.clock is Clock.THREAD_CPU
    assert SAMPLE <= found.inner * kernel < SAMPLE + kernel


def test_dear_inputs_leave_single_calls_by_wall_time_where_the_clock_resolves_them() -> None:
    found = choose(50e-6, 5e-3)
    assert found is not None
    assert (found.clock, found.inner) == (Clock.WALL, 1)


@pytest.mark.parametrize("kernel", [0.0, 20e-9, 5e-6])
def test_a_kernel_below_the_resolution_with_dear_inputs_is_refused(kernel: float) -> None:
    assert choose(kernel, 5e-3) is None


@pytest.mark.parametrize(
    ("kernel", "restoring", "calls"),
    [
        (3e-6, 1e-7, 67),
        (1e-4, 1e-6, 50),
        (0.0, 1e-8, 26667),
        (1e-6, 1e-3, LONGEST_SAMPLE / 1e-3),
    ],
)
def test_a_kernel_that_proves_shorter_when_repeated_gets_more_calls(
    kernel: float, restoring: float, calls: float
) -> None:
    first = Precision(Clock.THREAD_CPU, 50 if restoring < 1e-3 else 10)
    found = with_enough_calls(first, Seconds(kernel), TimingCosts(TICK, Seconds(restoring)))
    assert found == Precision(Clock.THREAD_CPU, int(calls))
