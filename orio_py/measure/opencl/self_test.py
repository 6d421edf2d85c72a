"""Runs the kernels of the self-test on a device; asked in a worker process only, which a driver may take down."""

from __future__ import annotations

import resource
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyopencl as cl

from orio_py.codegen.opencl.self_test import (
    GROUPS,
    ITEMS,
    REPEATS,
    SelfTestCase,
    self_test_batches,
    self_test_cases,
    self_test_text,
    sum_type,
)

OPTIONS: tuple[tuple[str, ...], ...] = ((), ("-cl-opt-disable",))
"""Each case is built with the device compiler's optimiser and without."""

WRONG = "computes wrong results"

BATCH_SECONDS = 15
"""Processor seconds of a kernel, most of them its compiler's; a sound driver needs one."""

_LANES_ITEMS = 8

_NUMBERS: dict[str, Any] = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
    "float": np.float32,
    "double": np.float64,
}


def run_cases(
    platform: int, number: int, features: Sequence[str], *, together: bool
) -> Iterator[tuple[str, str | None]]:
    """Feature by feature, what is wrong with it, None where nothing is.

    `together`: the vectors of one width share a kernel, which is quicker; a driver that crashes in one case then
    leaves the others of that width unanswered.
    """
    device = cl.get_platforms()[platform].get_devices()[number]
    context = cl.Context([device])
    doubles = "cl_khr_fp64" in device.extensions.split()
    cases = [case for case in self_test_cases(doubles=doubles) if case.feature in features]
    for batch in self_test_batches(cases) if together else [[case] for case in cases]:
        limit_processor_time(BATCH_SECONDS)
        found = [_problems((context, device), batch, doubles, options) for options in OPTIONS]
        yield from ((case.feature, _first(each[case.feature] for each in found)) for case in batch)


def limit_processor_time(seconds: int) -> None:
    """Let the kernel end this process by SIGXCPU after so many more seconds of processor time (setrlimit(2))."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + seconds, hard))


def _first(problems: Iterable[str | None]) -> str | None:
    return next((problem for problem in problems if problem is not None), None)


def _problems(
    place: tuple[cl.Context, cl.Device],
    batch: Sequence[SelfTestCase],
    doubles: bool,
    options: tuple[str, ...],
) -> dict[str, str | None]:
    """What is wrong with each feature of the cases of one kernel, built with some options."""
    context, device = place
    how = f" with `{' '.join(options)}`" if options else ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the device compiler's
            program = cl.Program(context, self_test_text(batch, doubles=doubles))
            program.build(list(options), [device])
        return {
            feature: f"{WRONG}{how}" if wrong else None
            for feature, wrong in _run(place, program, batch).items()
        }
    except cl.Error as error:
        told = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no reason given"]
        # The compiler's own word stands below the name of the call that failed.
        reason = next((line for line in told if line.startswith("error:")), told[0])
        return {case.feature: f"does not build{how}: {reason}" for case in batch}


def _run(
    place: tuple[cl.Context, cl.Device], program: cl.Program, batch: Sequence[SelfTestCase]
) -> dict[str, bool]:
    """Whether the results of each feature are wrong."""
    context, device = place
    queue, flags = cl.CommandQueue(context, device), cl.mem_flags
    arguments: list[cl.Buffer] = []
    outputs: list[tuple[str, cl.Buffer, Any]] = []
    items = group = 1
    for case in batch:
        inputs, expected, items, group = _group_data(case) if case.is_group else _lanes_data(case)
        arguments.append(cl.Buffer(context, flags.READ_WRITE, inputs.nbytes))
        cl.enqueue_copy(queue, arguments[-1], inputs)
        for wanted in expected:
            arguments.append(cl.Buffer(context, flags.READ_WRITE, wanted.nbytes))
            cl.enqueue_fill_buffer(queue, arguments[-1], np.uint8(0x5A), 0, wanted.nbytes)
            outputs.append((case.feature, arguments[-1], wanted))
    kernel = cl.Kernel(program, batch[0].kernel)
    kernel.set_args(*arguments)
    cl.enqueue_nd_range_kernel(queue, kernel, (items,), (group,))
    wrong = dict.fromkeys((case.feature for case in batch), False)
    for feature, buffer, wanted in outputs:
        found = np.empty_like(wanted)
        cl.enqueue_copy(queue, found, buffer)
        wrong[feature] |= not np.array_equal(found, wanted)
    return wrong


def _lanes_data(case: SelfTestCase) -> tuple[Any, list[Any], int, int]:
    """Whole numbers small enough to be exact in every type; what `y` and `sums` hold afterwards."""
    kind = _NUMBERS[case.element]
    x = (np.arange(_LANES_ITEMS * case.width) * 5 % 9).astype(kind)
    w = x * kind(3) + kind(1)
    y = np.where(w > 7, x, w).astype(kind)
    sums = REPEATS * y.reshape(_LANES_ITEMS, case.width).astype(_NUMBERS[sum_type(case.element)]).sum(axis=1)
    return x, [y, sums.astype(_NUMBERS[sum_type(case.element)])], _LANES_ITEMS, _LANES_ITEMS // 2


def _group_data(case: SelfTestCase) -> tuple[Any, list[Any], int, int]:
    x = (np.arange(GROUPS * REPEATS * ITEMS) * 7 % 11).astype(_NUMBERS[case.element])
    blocks = x.reshape(GROUPS, REPEATS, ITEMS)
    match case.kernel:
        case "local_memory":
            y = blocks[:, 0] + 2 * np.roll(blocks[:, 0], -1, axis=1)
        case "barrier_in_loop":
            y = blocks.cumsum(axis=2).sum(axis=1)
        case _:
            y = np.repeat(blocks.sum(axis=(1, 2))[:, None], ITEMS, axis=1)
    return x, [y.ravel().astype(x.dtype)], GROUPS * ITEMS, ITEMS
