"""Checks on a device: who is wrong where one fails, the driver or the kernels' text."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

import device_process
import numpy as np
import pytest
from device_process import each_on_device, on_device
from opencl_devices import skip_without_device
from opencl_runs import PLACES, KnownFaultError, _built

TEXT = "__kernel void f(__global int *x) { x[get_global_id(0)] = %s; }"


@pytest.fixture(autouse=True)
def device() -> None:
    skip_without_device()


def run(body: str) -> int:
    """In a worker process: the first element that a kernel writes."""
    kernels = _built(TEXT % body, ())
    found = np.zeros(4, np.int32)
    buffer = kernels.buffer(found.nbytes)
    kernels.write(buffer, found)
    kernels.launch("f", (4,), (2,), [buffer])
    kernels.read(found, buffer)
    return int(found[0])


def checked(numbers: Sequence[int]) -> list[int]:
    """Right for all numbers but those that a driver gets wrong (7), crashes in (8) or is known to fail at (9)."""
    is_driver = PLACES[-1].is_driver
    found: list[int] = []
    for number in numbers:
        value = run(str(number))
        if is_driver and number == 8:
            os.write(2, b"LLVM ERROR: Cannot emit physreg copy instruction\n")
            os.abort()
        if is_driver and number == 9:
            raise KnownFaultError("`double8` fails in the driver's self-test")
        assert value != (7 if is_driver else 6), f"{number}: the result is wrong"
        found.append(value)
    return found


def reason_of(call: object, *arguments: object) -> str:
    assert callable(call)
    with pytest.raises(pytest.skip.Exception) as skipped:
        call(*arguments)
    return str(skipped.value)


def test_what_runs_right_has_a_value() -> None:
    assert on_device(checked, [1, 2]) == [1, 2]
    assert each_on_device(checked, [3, 4]) == [[3, 4]]


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("number", "words"),
    [(7, "AssertionError: 7: the result is wrong"), (8, "Cannot emit physreg copy"), (9, "self-test")],
)
def test_a_driver_that_is_wrong_crashes_or_is_known_to_fail_is_a_skip_with_the_reason(
    number: int, words: str
) -> None:
    before = set(device_process.FINDINGS.glob("*.cl"))
    reason = reason_of(each_on_device, checked, [1, number, 2])
    assert words in reason
    assert "fails 1 cases" in reason
    assert ("the host's compiler runs the same text right" in reason) == (number != 9)
    kept = set(device_process.FINDINGS.glob("*.cl")) - before
    assert [path.read_text() for path in kept] == ([TEXT % number] if number != 9 else [])
    for path in kept:
        path.unlink()


@pytest.mark.proof
def test_a_wrong_text_fails_and_says_what_both_say() -> None:
    with pytest.raises(pytest.fail.Exception) as failed:
        each_on_device(both_wrong, [1, 5])
    assert "5: the result is wrong" in str(failed.value)
    assert "The host's compiler" in str(failed.value)
    assert "1: " not in str(failed.value)


def both_wrong(numbers: Sequence[int]) -> None:
    for number in numbers:
        assert run(str(number)) != 5, f"{number}: the result is wrong"


@pytest.mark.proof
def test_a_check_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_process, "PATIENCE", 4.0)
    assert "gives no result within 4 s" in reason_of(on_device, hangs)
    assert on_device(checked, [2]) == [2]


def hangs() -> None:
    while PLACES[-1].is_driver:
        time.sleep(0.1)


@pytest.mark.proof
def test_a_race_is_seen_by_the_second_opinion() -> None:
    """Texts that are right by chance are not taken for right."""
    with pytest.raises(pytest.fail.Exception, match="race"):
        on_device(races)


def races() -> None:
    assert not PLACES[-1].is_driver, "the driver's results are wrong"
    text = """__kernel void f(__global int *x)
    { __local int t[4]; int k = get_local_id(0); t[k] = k; x[k] = t[3 - k]; }"""
    kernels = _built(text, ())
    buffer = kernels.buffer(16)
    kernels.write(buffer, np.zeros(4, np.int32))
    kernels.launch("f", (4,), (4,), [buffer])


def test_the_process_of_the_tests_has_no_driver() -> None:
    assert on_device(checked, [1]) == [1]
    assert "opencl_driver" not in sys.modules
