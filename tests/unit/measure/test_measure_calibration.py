"""What invented calibration readings tell of the machine."""

from orio_py.core.units import Seconds
from orio_py.measure.calibration import DRIFT_LIMIT, WAITING_LIMIT, Calibrations
from orio_py.record.measurement import Sample


def state(readings: list[list[tuple[float, float]]], cpu: int | None = None):
    """The verdict on readings of loops given as wall and CPU milliseconds."""
    found = Calibrations()
    for reading in readings:
        found.add([Sample(Seconds(1e-3 * w), Seconds(1e-3 * c)) for w, c in reading])
    return found.steadiness(cpu)


def test_equal_readings_are_steady() -> None:
    found = state([[(1.0, 1.0)] * 3] * 5, cpu=3)
    assert found.is_steady
    assert (found.readings, found.drift, found.waiting, found.cpu) == (5, 0.0, 0.0, 3)
    assert found.remark == "steady"


def test_a_processor_that_slows_down_is_seen() -> None:
    found = state([[(1.0, 1.0)] * 3, [(1.1, 1.1)] * 3, [(1.2, 1.2)] * 3])
    assert not found.is_steady
    assert abs(found.drift - 0.2) < 1e-9
    assert found.remark == "the processor's speed varied by 20%"


def test_one_slow_loop_in_a_reading_is_no_drift() -> None:
    found = state([[(1.0, 1.0)] * 3, [(1.0, 1.0), (1.0, 1.0), (1.3, 1.3)]])
    assert found.drift == 0.0
    assert found.is_steady


def test_neighbours_are_seen_by_the_wall_clock_and_are_no_drift() -> None:
    found = state([[(1.0, 1.0)] * 3, [(1.0, 1.0), (3.0, 1.0), (1.0, 1.0)]])
    assert found.drift == 0.0
    assert abs(found.waiting - 0.25) < 1e-9
    assert found.remark == "other programs took 25% of the processor's time"


def test_serial_kernels_show_neighbours_as_well() -> None:
    found = Calibrations()
    found.add([Sample(Seconds(1e-3), Seconds(1e-3))])
    found.watch([Sample(Seconds(0.4), Seconds(0.2)), Sample(Seconds(0.2), Seconds(0.1))])
    assert 0.49 < found.steadiness().waiting < 0.5
    assert found.steadiness().drift == 0.0


def test_what_is_below_the_limits_is_steady() -> None:
    drift, waiting = 0.9 * DRIFT_LIMIT, 0.9 * WAITING_LIMIT
    assert state([[(1.0, 1.0)], [(1.0 + drift, 1.0 + drift)]]).is_steady
    assert state([[(1.0 / (1.0 - waiting), 1.0)]]).is_steady


def test_without_a_reading_nothing_is_claimed() -> None:
    found = state([[]])
    assert (found.readings, found.remark) == (0, "not observed")
