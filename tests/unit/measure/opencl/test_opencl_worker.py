"""The worker process on kernels written by hand: right, wrong, crashing, endless, not to be built."""

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from opencl_devices import skip_without_device
from opencl_variants import (
    AXPY,
    SUM,
    axpy_call,
    axpy_data,
    axpy_variant,
    sum_call,
    write_data,
    write_variant,
)

from orio_py.build.process import Completed
from orio_py.codegen.device import ArgumentKind, KernelArgument, slices_of
from orio_py.core.units import Seconds
from orio_py.kernel.call import slice_names
from orio_py.measure.job import ResultLines, judge
from orio_py.measure.offload.client import Answer, DeviceWorker, Ended
from orio_py.measure.offload.variant import HostFunction
from orio_py.measure.offload.worker import Task
from orio_py.measure.opencl.client import opencl_worker
from orio_py.measure.opencl.variant import DeviceVariant
from orio_py.record.measurement import Clock, Failure, Stage, Success

LONG = Seconds(60.0)
ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeviceWorker]:
    skip_without_device()
    found = opencl_worker(tmp_path_factory.mktemp("worker"))
    yield found
    found.close()


def task(variant: Path, data: Path, **changes) -> Task:
    fields = {"check": True, "least": 3, "most": 5, "enough": 0.0, "with_transfers": False, "race": None}
    return Task(str(variant), str(data), **{**fields, **changes})


def measured(answer: Answer | Ended):
    assert isinstance(answer, Answer)
    assert answer.problem is None
    return judge(Completed(0, "", "", False, Seconds(0.0)), ResultLines(answer.lines), Clock.WALL)


def run(worker: DeviceWorker, folder: Path, variant: DeviceVariant, **changes):
    return worker.run(task(write_variant(folder, variant), axpy_data(folder), **changes), LONG)


def test_a_right_kernel_is_timed(worker: DeviceWorker, tmp_path: Path) -> None:
    answer = run(worker, tmp_path, axpy_variant())
    found = measured(answer)
    assert isinstance(found, Success)
    assert len(found.samples) == 3
    assert all(sample.wall > 0 for sample in found.samples)
    assert answer.seconds > 0
    splits = [tuple(map(float, rest.split())) for word, rest in answer.lines if word == "split"]
    assert [kernel for kernel, _, _ in splits] == pytest.approx([s.wall for s in found.samples])
    assert all(transfer > 0 for _, transfer, _ in splits)


def test_transfers_count_where_they_are_asked_for(worker: DeviceWorker, tmp_path: Path) -> None:
    answer = run(worker, tmp_path, axpy_variant(), with_transfers=True)
    found = measured(answer)
    splits = [tuple(map(float, rest.split())) for word, rest in answer.lines if word == "split"]
    assert [k + t for k, t, _ in splits] == pytest.approx([s.wall for s in found.samples], rel=1e-6)


def test_a_wrong_result_is_told_with_its_place(worker: DeviceWorker, tmp_path: Path) -> None:
    wrong = AXPY.replace("a * x[i]", "(i == 500 ? 0.0 : a * x[i])")
    found = measured(run(worker, tmp_path, axpy_variant(wrong)))
    assert found == Failure(Stage.WRONG_RESULT, f"`y` element 500: 250 instead of {250 + 2.5 * 500 / 7:.17g}")


def test_what_no_kernel_wrote_differs(worker: DeviceWorker, tmp_path: Path) -> None:
    found = measured(run(worker, tmp_path, axpy_variant(host="axpy(&y[0], &x[0], n, n, a, n - 1);")))
    assert isinstance(found, Failure)
    assert found.reason.startswith("`y` element 999")


@pytest.mark.parametrize("place", ["i - 1", "trips"])
def test_a_store_beside_a_buffer_is_found(worker: DeviceWorker, tmp_path: Path, place: str) -> None:
    stray = AXPY.replace(
        "y[i] = y[i] + a * x[i];", f"{{ y[i] = y[i] + a * x[i]; if (i == 0) y[{place}] = 1.0; }}"
    )
    found = measured(run(worker, tmp_path, axpy_variant(stray)))
    assert found == Failure(Stage.OUT_OF_BOUNDS, "wrote outside `y`")


def test_repetitions_start_from_the_same_inputs(worker: DeviceWorker, tmp_path: Path) -> None:
    """The kernel crashes where it finds another `y` than the first."""
    strict = AXPY.replace("y[i] = y[i]", "y[i] = (y[i] != 0.5 * i ? y[i + 100000000000L] : y[i])")
    found = measured(run(worker, tmp_path, axpy_variant(strict), least=4, most=4))
    assert isinstance(found, Success)


def test_a_build_error_comes_with_its_log(worker: DeviceWorker, tmp_path: Path) -> None:
    path = write_variant(tmp_path, axpy_variant(AXPY.replace("double a", "dubble a")))
    answer = worker.build(path)
    assert isinstance(answer, Answer)
    assert answer.problem is not None
    assert answer.problem[0] == "compile"
    assert "dubble" in answer.problem[1]
    assert "dubble" in answer.log


def test_a_bad_flag_is_a_build_error(worker: DeviceWorker, tmp_path: Path) -> None:
    answer = worker.build(write_variant(tmp_path, axpy_variant(flags="-cl-no-such-flag")))
    assert isinstance(answer, Answer)
    assert answer.problem is not None


def test_a_missing_kernel_is_a_build_error(worker: DeviceWorker, tmp_path: Path) -> None:
    answer = worker.build(write_variant(tmp_path, axpy_variant(AXPY.replace("axpy", "other"))))
    assert isinstance(answer, Answer)
    assert answer.problem is not None


def test_a_kernel_that_crashes_takes_the_worker_only(worker: DeviceWorker, tmp_path: Path) -> None:
    started = worker.started
    far = AXPY.replace("y[i] = y[i]", "y[i + 100000000000L] = y[i]")
    answer = run(worker, tmp_path, axpy_variant(far))
    assert isinstance(answer, Ended)
    found = judge(answer.completed, ResultLines(()), Clock.WALL)
    assert found == Failure(Stage.CRASH, "ended by SIGSEGV")
    again = write_variant(tmp_path, axpy_variant(), "good.json")
    assert isinstance(measured(worker.run(task(again, axpy_data(tmp_path)), LONG)), Success)
    assert worker.started == started + 1


def test_an_endless_kernel_is_killed(worker: DeviceWorker, tmp_path: Path) -> None:
    endless = AXPY.replace("  for (long", "  while (a > 0.0) y[0] += 1.0;\n  for (long")
    path = write_variant(tmp_path, axpy_variant(endless))
    assert isinstance(worker.build(path), Answer)
    pid = worker.pid
    answer = worker.run(task(path, axpy_data(tmp_path)), Seconds(2.0))
    assert isinstance(answer, Ended)
    assert judge(answer.completed, ResultLines(()), Clock.WALL).stage is Stage.TIMEOUT
    assert not Path(f"/proc/{pid}").exists()
    good = write_variant(tmp_path, axpy_variant(), "good.json")
    assert isinstance(measured(worker.run(task(good, axpy_data(tmp_path)), LONG)), Success)


def test_a_race_ends_a_hopeless_variant_early(worker: DeviceWorker, tmp_path: Path) -> None:
    found = measured(run(worker, tmp_path, axpy_variant(), race=(1e-12, 2.0, 1.3)))
    assert isinstance(found, Success)
    assert not found.is_full
    assert len(found.samples) == 1


@pytest.mark.parametrize("groups", [1, 3])
def test_partial_results_are_combined_on_the_host(worker: DeviceWorker, tmp_path: Path, groups: int) -> None:
    x = np.arange(100.0) / 3.0
    total = 1.5 + x.sum()
    data = write_data(
        tmp_path,
        [
            ("s", "double", np.float64([1.5]), np.float64([2.0 * total])),
            ("n", "int", np.int32([100]), None),
            ("x", "double", x, None),
        ],
    )
    host = "total(x, n, n, &s); s = s * 2;"
    variant = write_variant(tmp_path, DeviceVariant(0, 0, (SUM,), ("",), host, (sum_call(groups),)))
    assert isinstance(measured(worker.run(task(variant, data), LONG)), Success)


SLICED = """#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void axpy(__global double *y, __global const double *x, double a, long trips, long from)
{
  for (long i = from + get_global_id(0); i < trips; i += get_global_size(0))
    y[i] = y[i] + a * x[i];
}
"""
SLICED_SUM = (
    SUM.replace("long trips,", "long trips, long from, long first_group,")
    .replace("i = get_group_id(0)", "i = from + get_group_id(0)")
    .replace("partial[get_group_id(0)]", "partial[first_group + get_group_id(0)]")
)


def in_queues(call: HostFunction, streams: int, reach: dict[str, tuple[int, int, int]]) -> HostFunction:
    """The call in several queues, with what iterations touch of some arrays as numbers in the call."""
    told = [KernelArgument(ArgumentKind.FROM, "from", "i", "long", "long")]
    told += [KernelArgument(ArgumentKind.GROUP, "first_group", "", "long", "long")] if call.reductions else []
    place = next(k for k, a in enumerate(call.arguments) if a.kind is ArgumentKind.TRIPS) + 1
    arguments = (*call.arguments[:place], *told, *call.arguments[place:])
    names = [("long", name) for array in reach for name in slice_names(array)]
    scalars = [k for k, (kind, _) in enumerate(call.parameters) if not kind.endswith("*")]
    parameters = (*call.parameters[: scalars[0]], *names, *call.parameters[scalars[0] :])
    return replace(call, arguments=arguments, parameters=parameters, streams=streams)


@pytest.mark.parametrize("streams", [2, 5])
@pytest.mark.parametrize("reach", [{}, {"y": (1, 0, 1), "x": (1, -3, 9)}])
def test_slices_run_in_queues_of_their_own(
    worker: DeviceWorker, tmp_path: Path, streams: int, reach: dict[str, tuple[int, int, int]]
) -> None:
    numbers = "".join(f"{number}, " for values in reach.values() for number in values)
    host = f"axpy(&y[0], &x[0], {numbers}n, n, a, n);"
    call = in_queues(axpy_call(), streams, reach)
    variant = DeviceVariant(0, 0, (SLICED,), ("",), host, (call,))
    answer = run(worker, tmp_path, variant)
    assert isinstance(measured(answer), Success)
    splits = [tuple(map(float, rest.split())) for word, rest in answer.lines if word == "split"]
    assert all(number >= 0 for row in splits for number in row)


def test_an_iteration_that_no_slice_runs_differs(worker: DeviceWorker, tmp_path: Path) -> None:
    call = in_queues(axpy_call(), 3, {})
    short = SLICED.replace("long from)\n{", "long from)\n{\n  from += from > 0;")
    found = measured(
        run(
            worker, tmp_path, DeviceVariant(0, 0, (short,), ("",), "axpy(&y[0], &x[0], n, n, a, n);", (call,))
        )
    )
    assert isinstance(found, Failure)
    assert found.reason.startswith("`y` element 333")


@pytest.mark.parametrize("streams", [1, 3, 7])
def test_slices_of_sums_are_combined_in_their_order(
    worker: DeviceWorker, tmp_path: Path, streams: int
) -> None:
    groups, x = 3, 10.0 ** np.linspace(-8, 8, 101)
    total = np.float64(0.5)
    for begin, end in slices_of(streams, len(x)):
        for group in range(groups):
            partial = np.float64(0.0)
            for value in x[begin:end][group::groups]:
                partial += value
            total += partial
    variables = [
        ("n", "int", np.int32([len(x)]), None),
        ("s", "double", np.float64([0.5]), np.float64([total])),
        ("x", "double", x, None),
    ]
    data = write_data(tmp_path, variables)
    call = in_queues(sum_call(groups), streams, {}) if streams > 1 else sum_call(groups)
    source = SLICED_SUM if streams > 1 else SUM
    variant = write_variant(tmp_path, DeviceVariant(0, 0, (source,), ("",), "total(x, n, n, &s);", (call,)))
    assert isinstance(measured(worker.run(task(variant, data), LONG)), Success)


def test_an_empty_loop_launches_nothing(worker: DeviceWorker, tmp_path: Path) -> None:
    variant = axpy_variant(host="axpy(&y[0], &x[0], n, n, a, 0);")
    found = measured(run(worker, tmp_path, variant))
    assert isinstance(found, Failure)
    assert found.stage is Stage.WRONG_RESULT


@pytest.mark.proof
def test_no_worker_outlives_the_process_that_asked(tmp_path: Path) -> None:
    """Not even one whose kernel never ends, when that process is killed."""
    skip_without_device()
    endless = AXPY.replace("  for (long", "  while (a > 0.0) y[0] += 1.0;\n  for (long")
    path, data = write_variant(tmp_path, axpy_variant(endless)), axpy_data(tmp_path)
    code = f"""
from pathlib import Path
from orio_py.core.units import Seconds
from orio_py.measure.offload.worker import Task
from orio_py.measure.opencl.client import opencl_worker
worker = opencl_worker(Path({str(tmp_path)!r}))
worker.build(Path({str(path)!r}))
print(worker.pid, flush=True)
worker.run(Task({str(path)!r}, {str(data)!r}, True, 3, 5, 0.0, False), Seconds(600.0))
"""
    asking = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert asking.stdout is not None
    pid = int(asking.stdout.readline())
    time.sleep(1.0)
    assert Path(f"/proc/{pid}").exists()
    asking.kill()
    asking.communicate()
    end = time.monotonic() + 30.0
    while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
        time.sleep(0.1)
    assert not Path(f"/proc/{pid}").exists()


def test_closing_ends_the_worker(worker: DeviceWorker, tmp_path: Path) -> None:
    worker.build(write_variant(tmp_path, axpy_variant()))
    pid = worker.pid
    assert Path(f"/proc/{pid}").exists()
    worker.close()
    assert not Path(f"/proc/{pid}").exists()
