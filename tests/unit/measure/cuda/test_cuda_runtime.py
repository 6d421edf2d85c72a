"""Variants in a worker process and in this one: run, refused, wrong, crashing, in streams, and what is told of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from device_calls import axpy_call, axpy_data, sum_call, write_data
from fake_cuda import CRASHING, MadeUp, made_up_gpu

from orio_py.build.compiler import Artifact, BuildFailure
from orio_py.build.cuda import CudaBinary
from orio_py.build.cuda_cpu import CudaOnCpu, cuda_on_cpu
from orio_py.build.process import Completed
from orio_py.codegen.device import ArgumentKind, KernelArgument
from orio_py.core.units import Bytes, Seconds
from orio_py.kernel.call import slice_names
from orio_py.kernel.plan import AxisBinding, Role
from orio_py.measure.cuda import client
from orio_py.measure.cuda.client import cuda_place
from orio_py.measure.cuda.drivers.base import DriverProblem
from orio_py.measure.cuda.drivers.processor import ProcessorDriver
from orio_py.measure.cuda.runtime import CudaRuntime, as_variant_problem
from orio_py.measure.cuda.usage import runs, usage_counters, used_kernel
from orio_py.measure.cuda.variant import BUILT, BuiltCuda, CudaVariant, UsedKernel
from orio_py.measure.job import ResultLines, judge
from orio_py.measure.offload.client import Answer, DeviceWorker
from orio_py.measure.offload.problem import Spent, VariantProblem
from orio_py.measure.offload.variant import HeldArray, HostData, HostFunction
from orio_py.measure.offload.worker import Task
from orio_py.record.cuda import KernelUsage
from orio_py.record.measurement import Clock, Failure, Stage, Success

LONG = Seconds(60.0)

# One text with all kernels, since most of a build's time is spent once for a text.
KERNELS = """
#define EACH(i) for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < trips; i += (long)gridDim.x * blockDim.x)
extern "C" __global__ void axpy(double *y, const double *x, double a, long trips)
{
  EACH (i) y[i] = y[i] + a * x[i];
}
extern "C" __global__ void wrong(double *y, const double *x, double a, long trips)
{
  EACH (i) y[i] = y[i] + (i == 500 ? 0.0 : a * x[i]);
}
extern "C" __global__ void stray(double *y, const double *x, double a, long trips)
{
  EACH (i) { y[i] = y[i] + a * x[i]; if (i == 0) y[trips] = 1.0; }
}
extern "C" __global__ void racing(double *y, const double *x, double a, long trips)
{
  EACH (i) y[i / 2] = y[i] + a * x[i];
}
extern "C" __global__ void sliced(double *y, const double *x, double a, long from, long trips)
{
  for (long i = from + (long)blockIdx.x * blockDim.x + threadIdx.x; i < trips; i += (long)gridDim.x * blockDim.x)
    y[i] = y[i] + a * x[i];
}
extern "C" __global__ void total(const double *x, long trips, double *partial)
{
  double s = 0.0;
  if (threadIdx.x == 0)
    for (long i = blockIdx.x; i < trips; i += gridDim.x)
      s += x[i];
  if (threadIdx.x == 0)
    partial[blockIdx.x] = s;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    folder = tmp_path_factory.mktemp("kernels")
    toolkit: CudaOnCpu = cuda_on_cpu(folder)
    built = toolkit.build_library(KERNELS, folder / "kernels.so", architecture="sm_87")
    assert isinstance(built, Artifact), built.log
    return built.path


def call_of(kernel: str, **changes: object) -> HostFunction:
    return replace(axpy_call(), kernel=kernel, **changes)


def sliced_call(streams: int) -> HostFunction:
    """`axpy` whose outermost axis is cut for several streams."""
    plain = axpy_call(groups=None)
    numbers = [("long", name) for array in ("y", "x") for name in slice_names(array)]
    arguments = [*plain.arguments]
    arguments.insert(3, KernelArgument(ArgumentKind.FROM, "from", "i", "long", "long"))
    parameters = (*plain.parameters[:4], *numbers, *plain.parameters[4:])
    return replace(plain, kernel="sliced", streams=streams, arguments=tuple(arguments), parameters=parameters)


def write(folder: Path, library: Path, call: HostFunction, host: str = "") -> Path:
    """The description of a variant whose kernel is in the shared object."""
    host = host or "axpy(&y[0], &x[0], n, n, a, n);"
    variant = CudaVariant("sm_87", "", (KERNELS,), host, (call,), {})
    path = folder / "variant.json"
    path.write_text(variant.text)
    shutil.copy(library, folder / "kernels.so")
    (folder / BUILT).write_text(BuiltCuda((("kernels.so", (call.kernel,)),)).text)
    return path


def run_here(driver: ProcessorDriver, path: Path, data: Path) -> tuple[list[tuple[str, str]], Spent | None]:
    """What differs after a run in this process, and what a repetition took where there are times."""
    runtime = CudaRuntime(driver)
    run = runtime.run(runtime.build(path), HostData.read(data))
    found = list(run.differences(run.first()))
    spent = run.again() if driver.has_times else None
    if spent is not None:
        run.release()
    driver.close()
    return found, spent


SLICES = "sliced(&y[0], &x[0], n, n, 1, 0, 1, 1, 0, 1, a, n);"


@pytest.mark.proof
@pytest.mark.parametrize("kind", [ProcessorDriver, MadeUp])
def test_kernels_run_whole_and_in_streams(tmp_path: Path, library: Path, kind: type[ProcessorDriver]) -> None:
    data = axpy_data(tmp_path)
    cases = [
        (axpy_call(), ""),
        (sliced_call(3), SLICES.replace("sliced", "axpy")),
        (call_of("wrong"), ""),
    ]
    for number, (call, host) in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        found, spent = run_here(kind("sm_90", tmp_path), write(folder, library, call, host), data)
        assert [name for name, _ in found] == (["y"] if call.kernel == "wrong" else []), call.kernel
        if spent is not None:
            # Each launch of the made-up GPU takes the same time, each byte copied, too.
            launches = call.streams
            assert spent.kernel == pytest.approx(launches * 2e-7 / 64**0.5, rel=0.1)
            assert spent.transfer == pytest.approx(3 * 8000 / 1e10, rel=0.01)
    assert not list(tmp_path.glob("*.so"))


def test_arrays_that_stay_are_copied_once(tmp_path: Path, library: Path) -> None:
    """Two launches on the device's own `y`: one copy of it in and one back, `x` for each launch."""
    x, y = np.arange(1000) / 7.0, np.arange(1000) * 0.5
    values = [
        ("n", "int", np.int32([1000]), None),
        ("a", "double", np.float64([2.5]), None),
        ("x", "double", x, None),
        ("y", "double", y, y + 2.5 * x + 2.5 * x),
    ]
    data = write_data(tmp_path, values)
    host = """axpy_data_begin(&y[0], n * sizeof(y[0]));
      axpy(&y[0], &x[0], n, n, a, n);
      axpy(&y[0], &x[0], n, n, a, n);
      axpy_data_end();"""
    for number, (goes_out, differing) in enumerate([(True, []), (False, ["y"])]):
        folder = tmp_path / str(number)
        folder.mkdir()
        call = call_of("axpy", held=(HeldArray(1, True, goes_out),))
        found, spent = run_here(MadeUp("sm_90", tmp_path), write(folder, library, call, host), data)
        assert [name for name, _ in found] == differing
        assert spent is not None
        assert spent.transfer == pytest.approx((3 + goes_out) * 8000 / 1e10, rel=0.01)
    twice = host.replace("axpy(", "axpy_data_begin(&y[0], n * sizeof(y[0])); axpy(", 1)
    with pytest.raises(VariantProblem, match="kept on the device already"):
        run_here(MadeUp("sm_90", tmp_path), write(folder, library, call, twice), data)


def test_reductions_are_combined_block_by_block(tmp_path: Path, library: Path) -> None:
    x = np.arange(1000) / 7.0
    data = write_data(
        tmp_path,
        [
            ("n", "int", np.int32([1000]), None),
            ("x", "double", x, None),
            ("s", "double", np.float64([3.5]), np.float64([3.5 + x.sum()])),
        ],
    )
    path = write(tmp_path, library, sum_call(), "total(&x[0], n, n, &s);")
    assert run_here(ProcessorDriver("sm_90", tmp_path), path, data)[0] == []


@pytest.mark.parametrize(
    ("kernel", "keyword", "words"),
    [
        ("stray", "sanitizer", "behind the end of a buffer of 8000 bytes"),
        ("racing", "sanitizer", "race on"),
        ("missing", "load", "no kernel `missing`"),
    ],
)
def test_what_the_executor_finds_is_told(
    tmp_path: Path, library: Path, kernel: str, keyword: str, words: str
) -> None:
    path = write(tmp_path, library, call_of(kernel))
    with pytest.raises(VariantProblem) as caught:
        run_here(ProcessorDriver("sm_90", tmp_path), path, axpy_data(tmp_path))
    assert caught.value.keyword == keyword
    assert words in caught.value.text
    assert caught.value.poisons == (keyword == "sanitizer")


class Guarded(MadeUp):
    """A GPU finds nothing wrong by itself, so that there are guards around buffers."""

    @property
    def name(self) -> str:
        return "made up"


def test_a_store_beside_a_buffer_is_found_on_a_gpu(tmp_path: Path, library: Path) -> None:
    data = axpy_data(tmp_path)
    with pytest.raises(VariantProblem) as caught:
        run_here(Guarded("sm_90", tmp_path), write(tmp_path, library, call_of("stray")), data)
    assert (caught.value.keyword, caught.value.text) == ("bounds", "`y`")
    assert run_here(Guarded("sm_90", tmp_path), write(tmp_path, library, axpy_call()), data)[0] == []


def test_nothing_is_timed_on_the_processor(tmp_path: Path, library: Path) -> None:
    driver = ProcessorDriver("sm_90", tmp_path)
    runtime = CudaRuntime(driver)
    run = runtime.run(
        runtime.build(write(tmp_path, library, axpy_call())), HostData.read(axpy_data(tmp_path))
    )
    run.first()
    with pytest.raises(VariantProblem, match="nothing here has the times of a GPU"):
        run.again()
    run.release()
    driver.close()


# --- the worker process ---


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeviceWorker]:
    with pytest.MonkeyPatch.context() as patch, made_up_gpu(patch):
        place = cuda_place()
        assert place.has_times
        assert place.device is not None
        assert place.identity[:2] == ("processor", "Made-up GPU")
        found = place.worker(tmp_path_factory.mktemp("worker"))
        yield found
        found.close()


def measured(worker: DeviceWorker, path: Path, data: Path, **changes: object) -> Success | Failure:
    fields = {"check": True, "least": 3, "most": 5, "enough": 0.0, "with_transfers": False, "race": None}
    answer = worker.run(Task(str(path), str(data), **{**fields, **changes}), LONG)
    assert isinstance(answer, Answer)
    assert answer.problem is None
    return judge(Completed(0, "", "", False, Seconds(0.0)), ResultLines(answer.lines), Clock.WALL)


def test_a_worker_times_variants_and_is_replaced_after_a_crash(
    tmp_path: Path, library: Path, worker: DeviceWorker
) -> None:
    data, path = axpy_data(tmp_path), write(tmp_path, library, axpy_call())
    found = measured(worker, path, data)
    assert isinstance(found, Success)
    assert [sample.wall for sample in found.samples] == pytest.approx([2.5e-8] * 3)
    both = measured(worker, path, data, with_transfers=True)
    assert isinstance(both, Success)
    assert both.samples[0].wall == pytest.approx(2.5e-8 + 3 * 8000 / 1e10)
    assert worker.started == 1
    crashing = write(tmp_path, library, axpy_call(items=CRASHING))
    reason = "cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS"
    assert measured(worker, crashing, data) == Failure(Stage.CRASH, reason)
    assert worker.pid is None, "nothing more can be run in that process"
    assert isinstance(measured(worker, write(tmp_path, library, axpy_call()), data), Success)
    assert worker.started == 2


def test_without_a_driver_there_is_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "GPU", "no_such_module:gpu")
    cuda_place.cache_clear()
    place = cuda_place()
    cuda_place.cache_clear()
    assert not place.has_times
    assert (place.name, place.factory) == ("processor", client.PROCESSOR)
    assert "no_such_module" in place.problem
    assert not place.runs_machine_code


@pytest.mark.parametrize(
    ("problem", "keyword", "text"),
    [
        (
            DriverProblem("cuMemAlloc", "CUDA_ERROR_OUT_OF_MEMORY"),
            "memory",
            "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY",
        ),
        (
            DriverProblem("cuModuleLoadData", "CUDA_ERROR_NO_BINARY_FOR_GPU"),
            "load",
            "cuModuleLoadData: CUDA_ERROR_NO_BINARY_FOR_GPU",
        ),
        (
            DriverProblem("cuCtxSynchronize", "CUDA_ERROR_LAUNCH_FAILED", poisons=True),
            "crash",
            "cuCtxSynchronize: CUDA_ERROR_LAUNCH_FAILED",
        ),
        (DriverProblem("cudaMemcpy", "cudaSuccess", "race\nmore", poisons=True), "sanitizer", "race"),
    ],
)
def test_problems_of_drivers_are_told_by_kind(problem: DriverProblem, keyword: str, text: str) -> None:
    found = as_variant_problem(problem)
    assert (found.keyword, found.text, found.poisons) == (keyword, text, problem.poisons)


# --- what kernels use ---


def usage(registers: int, shared: int = 0, spills: int | None = 0) -> KernelUsage:
    none = Bytes(0)
    stores = None if spills is None else Bytes(spills)
    return KernelUsage("k", registers, stores, stores, none, Bytes(shared), none, none, 0, None)


@pytest.mark.parametrize(
    ("registers", "shared", "threads", "words"),
    [
        (200, 0, 1024, "registers in a block"),
        (32, 240 * 1024, 64, "shared memory in a block"),
        (32, 0, 2048, "2048 threads in a block"),
    ],
)
def test_a_kernel_of_which_no_block_fits_is_not_run(
    registers: int, shared: int, threads: int, words: str
) -> None:
    binary = CudaBinary("sm_90", b"", (usage(registers, shared),), "", Seconds(0.0), "")
    found = used_kernel(binary, "k", threads)
    assert isinstance(found, BuildFailure)
    assert found.reason.startswith("kernel `k` cannot be started on sm_90")
    assert words in found.reason
    fits = used_kernel(replace(binary, kernels=(usage(32, 1024, 16),)), "k", 64)
    assert isinstance(fits, UsedKernel)
    assert (fits.registers, fits.shared_bytes, fits.spill_store_bytes) == (32, 1024, 16), "spills are allowed"
    assert fits.occupancy == 1.0
    unknown = used_kernel(replace(binary, architecture="sm_999"), "k", threads)
    assert isinstance(unknown, UsedKernel)
    assert unknown.occupancy is None


def test_several_kernels_count_together() -> None:
    one = UsedKernel("a", 20, 8, 16, 0, 1024, 1.0)
    two = UsedKernel("b", 40, 4, 4, None, 512, 0.25)
    found = {c.name: (c.value, str(c.source)) for c in usage_counters([one, two])}
    assert found == {
        "registers": (40.0, "compiler"),
        "spill_store_bytes": (12.0, "compiler"),
        "spill_load_bytes": (20.0, "compiler"),
        "shared_bytes": (1024.0, "compiler"),
        "occupancy": (0.25, "derived"),
    }
    assert usage_counters([]) == ()


def test_machine_code_runs_on_later_minor_numbers() -> None:
    cases = {("sm_75", "sm_80"): False, ("sm_100", "sm_103"): True, ("sm_100f", "sm_100"): True}
    assert {pair: runs(*pair) for pair in cases} == cases


def test_a_worker_is_told_of_axes_with_dimensions_of_their_own(tmp_path: Path) -> None:
    placements = (AxisBinding(Role.GROUPS, 1), AxisBinding(Role.ITEMS, 0))
    call = replace(axpy_call(groups=None), items=(32, 1), most_groups=(100, 7), placements=placements)
    variant = CudaVariant("sm_90", "-O1", ("text",), "code", (call,), {"axpy": 50})
    path = tmp_path / "variant.json"
    path.write_text(variant.text)
    assert CudaVariant.read(path) == variant
    assert call.group_counts((5, 40)) == (1, 5)
    assert call.group_counts((9, 40)) == (1, 7), "no more than the language can launch"
