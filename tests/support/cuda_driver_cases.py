"""What every driver of CUDA must do, whether a GPU is behind it or the fake driver.

As a program: `cuda_driver_cases.py LIBRARY IMAGE` runs all cases of a library with the fake driver and writes a line of
JSON, the cases that failed with their traces; `LIBRARY` is `bindings` or `pycuda`.
"""

from __future__ import annotations

import gc
import json
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from libcuda_double import Fake

from orio_py.core.units import Bytes
from orio_py.measure.cuda.drivers.base import Address, CudaDriver, DriverProblem

CLASSES = {"bindings": "BindingsDriver", "pycuda": "PycudaDriver"}
STICKY = {"CUDA_ERROR_ILLEGAL_ADDRESS": 700, "CUDA_ERROR_LAUNCH_TIMEOUT": 702, "CUDA_ERROR_ASSERT": 710,
          "CUDA_ERROR_HARDWARE_STACK_ERROR": 714, "CUDA_ERROR_ILLEGAL_INSTRUCTION": 715,
          "CUDA_ERROR_MISALIGNED_ADDRESS": 716, "CUDA_ERROR_INVALID_ADDRESS_SPACE": 717,
          "CUDA_ERROR_INVALID_PC": 718, "CUDA_ERROR_LAUNCH_FAILED": 719, "CUDA_ERROR_ECC_UNCORRECTABLE": 214}  # fmt: skip


def up(driver: CudaDriver, data: np.ndarray) -> Address:
    address = driver.allocate(Bytes(data.nbytes))
    driver.copy_to_device(address, as_bytes(data))
    driver.synchronize()
    return address


def down(driver: CudaDriver, address: Address, like: np.ndarray) -> np.ndarray:
    result = np.empty_like(like)
    driver.copy_to_host(as_bytes(result), address)
    driver.synchronize()
    return result


def as_bytes(data: np.ndarray) -> np.ndarray:
    return data.reshape(-1).view(np.uint8)


def case_copies(driver: CudaDriver, image: bytes) -> None:
    data = np.arange(1000, dtype=np.float64)
    address = up(driver, data)
    other = driver.allocate(Bytes(0))
    assert other.value not in (0, address.value)
    assert address.value % 256 == 0
    assert np.array_equal(down(driver, address, data), data)
    driver.fill(address, 0x7F, Bytes(16))
    told = down(driver, address, data)
    assert as_bytes(told)[:16].tolist() == [0x7F] * 16
    assert np.array_equal(told[2:], data[2:])
    stream, filled = driver.new_stream(), np.zeros(16, np.uint8)
    driver.fill(address, 0x11, Bytes(16))
    driver.copy_to_host(filled, address, stream)  # a stream that does not wait for the default one
    driver.synchronize(stream)
    assert filled.tolist() == [0x11] * 16
    driver.copy_to_host(np.empty(0, np.uint8), address)
    driver.fill(address, 1, Bytes(0))
    driver.free(other)
    driver.free(address)


def case_data_lives_as_long_as_it_must(driver: CudaDriver, image: bytes) -> None:
    addresses = [driver.allocate(Bytes(1 << 20)) for _ in range(8)]
    stream = driver.new_stream()
    for number, address in enumerate(addresses):
        driver.copy_to_device(address, np.full(1 << 20, number, np.uint8), stream)
    rubbish = [np.full(1 << 20, 0xFF, np.uint8) for _ in addresses]
    driver.synchronize(stream)
    for number, address in enumerate(addresses):
        assert (down(driver, address, rubbish[0]) == number).all()
    with pytest.raises(ValueError, match="must be contiguous"):
        driver.copy_to_device(addresses[0], np.zeros((10, 10), np.uint8)[:, :5], stream)


def case_pinned(driver: CudaDriver, image: bytes) -> None:
    there, back = driver.pinned(Bytes(800)), driver.pinned(Bytes(800))
    assert (there.dtype, there.shape, there.flags.writeable) == (np.uint8, (800,), True)
    there.view(np.float64)[:] = np.arange(100)
    address, stream = driver.allocate(Bytes(800)), driver.new_stream()
    driver.copy_to_device(address, there, stream)
    driver.copy_to_host(back, address, stream)
    driver.synchronize(stream)
    assert np.array_equal(there, back)
    driver.release(there)
    driver.release(back)
    assert driver.pinned(Bytes(0)).shape == (0,)


def case_axpy(driver: CudaDriver, image: bytes) -> None:
    (axpy,) = driver.kernels(image, ["axpy"])
    rng = np.random.default_rng(1)
    x, y = rng.random(1000), rng.random(1000)
    on_device = up(driver, x), up(driver, y)
    driver.launch(axpy, (8, 1, 1), (128, 1, 1), [np.int32(1000), np.float64(2.5), *on_device])
    driver.synchronize()
    np.testing.assert_allclose(down(driver, on_device[1], y), y + 2.5 * x, rtol=1e-15)


def case_every_type(driver: CudaDriver, image: bytes) -> None:
    (kernel,) = driver.kernels(image, ["every_type"])
    told = up(driver, np.zeros(12))
    values = [np.int8(-7), np.float64(1 / 3), np.bool_(True), np.int64(-(2**52)), np.int16(-300), np.float32(0.1),
              np.uint8(200), np.uint64(2**53), np.uint16(60000), np.int32(-(2**31)), np.int8(77), np.uint32(2**32 - 1)]  # fmt: skip
    driver.launch(kernel, (2, 1, 1), (32, 1, 1), [*values, told])
    driver.synchronize()
    assert down(driver, told, np.zeros(12)).tolist() == [float(value) for value in values]


def case_structure(driver: CudaDriver, image: bytes) -> None:
    (kernel,) = driver.kernels(image, ["structure"])
    told = up(driver, np.zeros(4))
    pair = np.array([(5, 0.75)], np.dtype([("first", np.int8), ("second", np.float64)], align=True))[0]
    driver.launch(kernel, (1, 1, 1), (1, 1, 1), [np.int8(3), pair, np.float32(1.5), told])
    driver.synchronize()
    assert down(driver, told, np.zeros(4)).tolist() == [3, 5, 0.75, 1.5]


def case_numbers_have_types(driver: CudaDriver, image: bytes) -> None:
    (kernel,) = driver.kernels(image, ["axpy"])
    with pytest.raises(TypeError, match="numpy scalar or an address, not int"):
        driver.launch(kernel, (1, 1, 1), (1, 1, 1), [1000])


def case_three_dimensions(driver: CudaDriver, image: bytes) -> None:
    (kernel,) = driver.kernels(image, ["places"])
    grid, block = (3, 2, 4), (2, 5, 3)
    like = np.zeros((4, 2, 3, 3, 5, 2), np.int32)
    told = up(driver, like)
    driver.launch(kernel, grid, block, [told])
    driver.synchronize()
    found = down(driver, told, like)
    for (bz, by, bx, tz, ty, tx), value in np.ndenumerate(found):
        assert value == 1000000 * (bx + 10 * by + 100 * bz) + tx + 10 * ty + 100 * tz


def case_order_within_a_stream(driver: CudaDriver, image: bytes) -> None:
    push, nothing = driver.kernels(image, ["push", "nothing"])
    number, stream = up(driver, np.zeros(1, np.int64)), driver.new_stream()
    data = np.array([7], np.int64)
    driver.copy_to_device(number, as_bytes(data), stream)
    for digit in (1, 2, 3):
        driver.launch(push, (1, 1, 1), (1, 1, 1), [np.int32(digit), number], stream=stream)
        driver.launch(nothing, (1, 1, 1), (1, 1, 1), [], stream=stream)
    driver.copy_to_host(as_bytes(data), number, stream)
    driver.synchronize(stream)
    assert data[0] == 7123


def case_streams_wait_for_events(driver: CudaDriver, image: bytes) -> None:
    (push,) = driver.kernels(image, ["push"])
    number = up(driver, np.zeros(1, np.int64))
    streams = [driver.new_stream() for _ in range(3)]
    for digit, stream in enumerate(streams, 1):  # the fake driver does the last stream first
        driver.launch(push, (1, 1, 1), (1, 1, 1), [np.int32(digit), number], stream=stream)
        if digit < 3:
            event = driver.new_event()
            driver.record(event, stream)
            driver.wait(streams[digit], event)
    event = driver.new_event()
    driver.record(event, streams[2])
    driver.wait(None, event)
    driver.launch(push, (1, 1, 1), (1, 1, 1), [np.int32(4), number])
    driver.synchronize()
    assert down(driver, number, np.zeros(1, np.int64))[0] == 1234


def case_times(driver: CudaDriver, image: bytes) -> None:
    (push,) = driver.kernels(image, ["push"])
    number, stream = up(driver, np.zeros(1, np.int64)), driver.new_stream()
    first, second, third = (driver.new_event() for _ in range(3))
    driver.record(first, stream)
    driver.launch(push, (1, 1, 1), (1, 1, 1), [np.int32(1), number], stream=stream)
    driver.record(second, stream)
    for _ in range(50):
        driver.launch(push, (1, 1, 1), (1, 1, 1), [np.int32(1), number], stream=stream)
    driver.record(third, stream)
    driver.synchronize(stream)
    short, long = driver.seconds(first, second), driver.seconds(second, third)
    assert 0 < short < long < 10
    assert driver.has_times


def case_shared_memory_is_asked_for(driver: CudaDriver, image: bytes) -> None:
    (kernel,) = driver.kernels(image, ["nothing"])
    with pytest.raises(DriverProblem) as caught:
        driver.launch(kernel, (1, 1, 1), (32, 1, 1), [], dynamic_bytes=Bytes(60 * 1024))
    assert (caught.value.status, caught.value.poisons) == ("CUDA_ERROR_INVALID_VALUE", False)
    driver.allow_shared(kernel, Bytes(60 * 1024), 100)
    driver.launch(kernel, (1, 1, 1), (32, 1, 1), [], dynamic_bytes=Bytes(60 * 1024))
    driver.synchronize()
    with pytest.raises(DriverProblem, match="cuFuncSetAttribute: CUDA_ERROR_INVALID_VALUE"):
        driver.allow_shared(kernel, Bytes(1 << 24), None)


def case_what_is_wrong_is_named(driver: CudaDriver, image: bytes) -> None:
    with pytest.raises(DriverProblem, match="CUDA_ERROR_INVALID_IMAGE") as caught:
        driver.kernels(b"no machine code" + bytes(64), ["axpy"])
    assert not caught.value.poisons
    with pytest.raises(DriverProblem, match="cuModuleGetFunction: CUDA_ERROR_NOT_FOUND"):
        driver.kernels(image, ["nowhere"])
    with pytest.raises(DriverProblem, match="cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY") as caught:
        driver.allocate(Bytes(1 << 50))
    assert not caught.value.poisons
    (kernel,) = driver.kernels(image, ["nothing"])
    with pytest.raises(
        DriverProblem, match=r"(cuLaunchKernel|cuFuncSetBlockShape): CUDA_ERROR_INVALID_VALUE"
    ):
        driver.launch(kernel, (1, 1, 1), (2048, 1, 1), [])
    with pytest.raises(DriverProblem, match="cuMemFree: CUDA_ERROR_INVALID_VALUE"):
        driver.free(Address(4096))
    driver.synchronize()


def case_the_device(driver: CudaDriver, image: bytes) -> None:
    device = driver.device
    assert device.library == driver.name
    assert device.architecture.startswith("sm_")
    assert device.multiprocessors > 0
    assert device.memory >= 1 << 30
    assert float(device.driver) >= 12
    assert all(isinstance(value, str) for value in driver.clocks().values())


def case_closed_twice(driver: CudaDriver, image: bytes) -> None:
    driver.kernels(image, ["axpy"])
    driver.allocate(Bytes(10))
    driver.new_event()
    driver.close()
    driver.close()


CASES: dict[str, Callable[[CudaDriver, bytes], None]] = {
    name.removeprefix("case_"): case for name, case in list(globals().items()) if name.startswith("case_")
}
"""The cases for a driver and a module with the kernels of `libcuda/kernels.cu`."""


# --- with the fake driver only ---


def everything(open_driver: Callable[[], CudaDriver], image: bytes) -> None:
    """Every call that a driver makes."""
    driver = open_driver()
    try:
        (kernel,) = driver.kernels(image, ["axpy"])
        driver.allow_shared(kernel, Bytes(1024), 50)
        x = driver.allocate(Bytes(80))
        driver.fill(x, 0, Bytes(80))
        data, stream = driver.pinned(Bytes(80)), driver.new_stream()
        begin, end = driver.new_event(), driver.new_event()
        driver.copy_to_device(x, data, stream)
        driver.record(begin, stream)
        driver.wait(stream, begin)
        driver.launch(kernel, (1, 1, 1), (10, 1, 1), [np.int32(10), np.float64(1), x, x], stream=stream)
        driver.record(end, stream)
        driver.copy_to_host(data, x, stream)
        driver.synchronize(stream)
        driver.synchronize()
        driver.seconds(begin, end)
        driver.clocks()
        driver.release(data)
        driver.free(x)
    finally:
        driver.close()


SILENT = {
    "cuModuleUnload",
    "cuStreamDestroy",
    "cuEventDestroy",
    "cuDevicePrimaryCtxRelease",
    "cuCtxPopCurrent",
}
"""Failures to give something back at the end are nobody's business."""

OF_PYCUDA = {"cuMemFree", "cuMemFreeHost", "cuCtxGetDevice"}
"""PyCUDA warns of these failures, or tries another way."""


LEFT_TO_CONTEXT = {"bindings": set[str](), "pycuda": {"modules", "streams", "events"}}
"""What the end of the context takes with it: PyCUDA does not give back what is held longer than that."""


def left(fake: Fake, library: str) -> dict[str, int]:
    """What was not given back."""
    gc.collect()
    return {kind: n for kind, n in fake.alive.items() if n and kind not in LEFT_TO_CONTEXT[library]}


def fails_in_turn(open_driver: Callable[[], CudaDriver], image: bytes, fake: Fake, library: str) -> None:
    """Each call fails once, with an error of that call and with one that stays."""
    fake.heal()
    everything(open_driver, image)
    assert not left(fake, library)
    calls = fake.calls
    assert len(calls) >= 28, calls
    for call in calls:
        if call in SILENT or (library == "pycuda" and call in OF_PYCUDA):
            continue
        for status, name, stays in (
            (801, "CUDA_ERROR_NOT_SUPPORTED", False),
            (700, "CUDA_ERROR_ILLEGAL_ADDRESS", True),
        ):
            fake.heal()
            fake.fail(call, status)
            with pytest.raises(DriverProblem) as caught:
                everything(open_driver, image)
            told = caught.value
            assert (told.call.removesuffix("Ex"), told.status) == (call.removesuffix("Ex"), name)
            assert told.poisons is stays, call
            assert told.text, call
            del caught, told
            if not stays:
                assert not left(fake, library), call
    fake.heal()


def sticky(open_driver: Callable[[], CudaDriver], image: bytes, fake: Fake, library: str) -> None:
    """An error of a kernel comes with a later call, stays, and tells that the process is lost."""
    for name, status in STICKY.items():
        fake.heal()
        driver = open_driver()
        (kernel,) = driver.kernels(image, ["nothing"])
        driver.launch(kernel, (1, 1, 1), (1, 1, 1), [])
        fake.fail("cuCtxSynchronize", status)
        for _ in range(2):
            with pytest.raises(DriverProblem) as caught:
                driver.synchronize()
            assert (caught.value.status, caught.value.poisons) == (name, True)
        with pytest.raises(DriverProblem, match=name):
            driver.allocate(Bytes(8))
        driver.close()
    fake.heal()


def beyond(open_driver: Callable[[], CudaDriver], image: bytes, fake: Fake, library: str) -> None:
    """A kernel that writes beyond its memory."""
    driver = open_driver()
    (kernel,) = driver.kernels(image, ["beyond"])
    memory = driver.allocate(Bytes(80))
    driver.launch(kernel, (1, 1, 1), (1, 1, 1), [memory, np.int64(10)])
    with pytest.raises(DriverProblem, match="CUDA_ERROR_ILLEGAL_ADDRESS") as caught:
        driver.synchronize()
    assert caught.value.poisons
    driver.close()
    fake.heal()


def runs_late(open_driver: Callable[[], CudaDriver], image: bytes, fake: Fake, library: str) -> None:
    """The fake itself does what is put into a stream when somebody waits, not before."""
    driver = open_driver()
    (push,) = driver.kernels(image, ["push"])
    number, stream = driver.allocate(Bytes(8)), driver.new_stream()
    driver.fill(number, 0, Bytes(8))
    told = np.array([99], np.int64)
    driver.launch(push, (1, 1, 1), (1, 1, 1), [np.int32(5), number], stream=stream)
    driver.copy_to_host(as_bytes(told), number, stream)
    assert told[0] == 99
    event = driver.new_event()
    with pytest.raises(DriverProblem, match="cuEventElapsedTime: CUDA_ERROR_INVALID_HANDLE"):
        driver.seconds(event, event)
    driver.record(event, stream)
    with pytest.raises(DriverProblem, match="cuEventElapsedTime: CUDA_ERROR_NOT_READY"):
        driver.seconds(event, event)
    driver.synchronize(stream)
    assert told[0] == 5
    assert driver.seconds(event, event) == 0
    driver.close()


def what_is_not_held_goes(
    open_driver: Callable[[], CudaDriver], image: bytes, fake: Fake, library: str
) -> None:
    """Streams, events, and a module with the last of its kernels, go long before the driver is closed."""
    driver = open_driver()
    kernels = driver.kernels(image, ["axpy", "push"])
    kept = kernels[1]
    del kernels
    gc.collect()
    assert fake.alive["modules"] == 1
    number = driver.allocate(Bytes(8))
    driver.launch(kept, (1, 1, 1), (1, 1, 1), [np.int32(5), number])
    driver.synchronize()
    del kept
    gc.collect()
    assert fake.alive["modules"] == 0
    for _ in range(3):
        driver.record(driver.new_event(), driver.new_stream())
    gc.collect()
    assert (fake.alive["streams"], fake.alive["events"]) == (0, 0)
    driver.close()


WITH_FAKE = {
    each.__name__: each for each in (fails_in_turn, sticky, beyond, runs_late, what_is_not_held_goes)
}


def main(library: str, path: str) -> None:
    module = import_module(f"orio_py.measure.cuda.drivers.{library}")
    image, open_driver = Path(path).read_bytes(), getattr(module, CLASSES[library])
    fake, told = Fake(), {}
    for name, case in CASES.items():
        driver = open_driver()
        told[name] = tried(lambda case=case, driver=driver: case(driver, image))
        with suppress(DriverProblem):
            driver.close()
        del driver
        if (there := left(fake, library)) and told[name] is None:
            told[name] = f"not given back: {there}"
        fake.heal()
    for name, check in WITH_FAKE.items():
        told[name] = tried(lambda check=check: check(open_driver, image, fake, library))
        fake.heal()
    sys.stdout.write(json.dumps(told) + "\n")


def tried(what: Callable[[], Any]) -> str | None:
    try:
        what()
    except (Exception, pytest.fail.Exception):  # the second is what `pytest.raises` raises, no Exception
        return traceback.format_exc()
    return None


if __name__ == "__main__":
    main(*sys.argv[1:])
