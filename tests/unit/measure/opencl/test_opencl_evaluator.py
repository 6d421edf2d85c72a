"""OpenCL variants built and measured as C code: right, wrong, crashing, endless, not to be built; what is told of each."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from opencl_devices import opencl_survey, skip_without_device

from orio_py.api import transform
from orio_py.build.compiler import Artifact, BuildFailure, resolve
from orio_py.codegen.offload.own_names import with_own_names
from orio_py.codegen.program import Program
from orio_py.core.diagnostics import EnvironmentProblem
from orio_py.core.units import Seconds
from orio_py.measure.base import RunLimits
from orio_py.measure.evaluator import Evaluator
from orio_py.measure.job import EarlyStopping
from orio_py.measure.offload.measurer import MEASURED
from orio_py.measure.opencl.evaluator import MEASURER, OpenCLEvaluator
from orio_py.record.measurement import Failure, Measurement, Stage, Success
from orio_py.spec.target import DeviceTime
from orio_py.tuning.files.load import load
from orio_py.tuning.variants.variant import VariantGenerator

ROOT = Path(__file__).resolve().parents[4]
LONG = Seconds(60.0)

SOURCE = """
void kernel(int n, double a, double *restrict y, const double *restrict x, double *result)
{
  int i;
  double s = 1.5;
  /*@ begin PerfTuning (
    def build { arg build_command = 'gcc -O1'; }
    def input_params { param n[] = [%(n)d]; }
    def input_vars {
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
      decl double a = 2.5;
    }
  ) @*/
  /*@ begin Loop (transform OpenCL(%(arguments)s) %(loop)s) @*/
  %(loop)s
  /*@ end @*/
%(after)s
  /*@ end @*/
  *result = s;
}
"""
AXPY = "for (i = 0; i <= n - 1; i++) y[i] = y[i] + a * x[i];"
DOT = "for (i = 0; i <= n - 1; i++) s = s + x[i] * y[i];"
STEP = "y[i] = y[i] + a * x[i];"


@contextmanager
def evaluation(
    folder: Path, *, timeout: Seconds = LONG, time: DeviceTime = DeviceTime.CALL, **changes: object
) -> Iterator[tuple[OpenCLEvaluator, Program]]:
    """An evaluator that is prepared, and its one variant."""
    fields = {"n": 5000, "arguments": "workItemsPerGroup=64", "loop": AXPY, "after": "", **changes}
    folder.mkdir(exist_ok=True)
    (folder / "k.c").write_text(SOURCE % fields)
    loaded = load([folder / "k.c"])
    assert not loaded.is_bad, loaded.diagnostics
    (task,) = loaded.tasks
    compiler, limits = resolve(task.task.build, folder), RunLimits(timeout=timeout, repeats=3)
    evaluator = OpenCLEvaluator(
        task.task, task.points[0], compiler, folder / "work", limits, True, time=time, survey=opencl_survey()
    )
    try:
        evaluator.prepare({})
        parts = VariantGenerator.of(task.task).parts(task.points[0], {})
        yield evaluator, evaluator.program(parts.codes, parts.devices)
    finally:
        evaluator.close()


@pytest.fixture(scope="module")
def axpy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OpenCLEvaluator, Program]]:
    skip_without_device()
    with evaluation(tmp_path_factory.mktemp("axpy")) as found:
        yield found


def changed(program: Program, old: str, new: str, file: str = "variant_opencl.c") -> Program:
    """The program with other text in one of its companions."""
    text = program.companions[file]
    assert old in text
    return replace(program, companions={**program.companions, file: text.replace(old, new)})


def built(evaluator: OpenCLEvaluator, program: Program) -> Artifact:
    artifact = evaluator.build(program, {})
    assert isinstance(artifact, Artifact), artifact
    return artifact


def measured(evaluator: OpenCLEvaluator, program: Program, **options: object) -> Measurement:
    return evaluator.measure(built(evaluator, program), **options)


def counters(evaluator: OpenCLEvaluator, artifact: Artifact) -> dict[str, float]:
    return {counter.name: counter.value for counter in evaluator.run_facts(artifact).counters}


def test_a_right_kernel_is_timed_with_its_copies(axpy) -> None:
    evaluator, program = axpy
    artifact = built(evaluator, program)
    found = evaluator.measure(artifact)
    assert isinstance(found, Success), found
    assert len(found.samples) >= 3
    told = counters(evaluator, artifact)
    assert 0 < told["kernel_time"] <= found.objective
    assert told["transfer_time"] > 0
    # x and y to the device, y back
    assert (told["launches"], told["transfer_bytes"]) == (1, 3 * 8 * 5000)
    assert evaluator.facts(artifact).metadata["OpenCL Device"] == evaluator.survey.devices[0].name


def test_the_host_code_is_what_an_application_has(axpy, tmp_path: Path) -> None:
    """But for the names, and for the device that is named by its numbers."""
    _, program = axpy
    source = tmp_path / "k.c"
    source.write_text(SOURCE % {"n": 5000, "arguments": "workItemsPerGroup=64", "loop": AXPY, "after": ""})
    transform(source, output=tmp_path / "out.c")
    written = (tmp_path / "out_opencl.c").read_text()
    timed = with_own_names(program.companions["variant_opencl.c"].replace("variant", "out"), "out")
    pairs = zip(*(text.partition("#define")[2].splitlines() for text in (written, timed)), strict=True)
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    assert differing == [('  {"", "", 1, NULL, NULL, {NULL}},', '  {"0", "0", 1, NULL, NULL, {NULL}},')]


@pytest.mark.parametrize("time", [DeviceTime.KERNEL, DeviceTime.WITH_TRANSFERS])
def test_parts_of_the_call_rank_where_they_are_asked_for(tmp_path: Path, time: DeviceTime) -> None:
    skip_without_device()
    with evaluation(tmp_path / "k", time=time) as (evaluator, program):
        artifact = built(evaluator, program)
        found = evaluator.measure(artifact)
        assert isinstance(found, Success)
        told = counters(evaluator, artifact)
        limit = told["kernel_time"] + (told["transfer_time"] if time is DeviceTime.WITH_TRANSFERS else 0.0)
        assert min(s.wall for s in found.samples) <= limit * 1.000001
        assert max(s.wall for s in found.samples) >= told["kernel_time"] * 0.999999


NAP = """#include <unistd.h>
static int orio_nap(void) { usleep(200000); return 0; }
/* Everything before the launch"""


@pytest.mark.parametrize("time", [DeviceTime.CALL, DeviceTime.KERNEL])
def test_a_fast_kernel_in_a_slow_call_wins_by_kernel_time_only(tmp_path: Path, time: DeviceTime) -> None:
    skip_without_device()
    with evaluation(tmp_path / "k", time=time) as (evaluator, program):
        slow_kernel = changed(program, STEP, f"for (volatile int k = 0; k < 5000; k++) if (k == 4999) {STEP}")
        slow_call = changed(program, "/* Everything before the launch", NAP)
        slow_call = changed(
            slow_call, "if (orio_ready(kernel, failure))", "if (orio_ready(kernel, failure) || orio_nap())"
        )
        found = [measured(evaluator, one) for one in (slow_kernel, slow_call)]
    assert all(isinstance(one, Success) for one in found), found
    by_kernel, by_call = (one.objective for one in found)
    assert by_kernel < by_call if time is DeviceTime.CALL else by_kernel > by_call


def test_a_wrong_result_is_told_with_its_place(axpy) -> None:
    evaluator, program = axpy
    wrong = changed(program, "y[i] = y[i] + a * x[i];", "y[i] = (i == 500 ? 250.0 : y[i] + a * x[i]);")
    found = measured(evaluator, wrong)
    assert isinstance(found, Failure)
    assert found.stage is Stage.WRONG_RESULT
    assert found.reason.startswith("`y` element 500: 250 instead of ")


def test_what_no_kernel_wrote_differs(axpy) -> None:
    evaluator, program = axpy
    found = measured(
        evaluator, changed(program, "if (orio_i < orio_trips_i)", "if (orio_i < orio_trips_i - 1)")
    )
    assert isinstance(found, Failure)
    assert found.reason.startswith("`y` element 4999")


def test_results_that_nothing_writes_are_not_right_by_chance(tmp_path: Path) -> None:
    """The original's outputs are zeros, as new memory of a device often is."""
    skip_without_device()
    loop = "for (i = 0; i <= n - 1; i++) y[i] = 0.0 * x[i];"
    with evaluation(tmp_path / "k", loop=loop) as (evaluator, program):
        assert isinstance(measured(evaluator, program), Success)
        lazy = changed(program, "y[i] = 0.0 * x[i];", "if (i != 7) y[i] = 0.0 * x[i];")
        found = measured(evaluator, lazy)
    assert isinstance(found, Failure)
    assert found.reason.startswith("`y` element 7")


@pytest.mark.parametrize("place", ["i - 1", "orio_trips_i"])
def test_a_store_beside_a_buffer_is_found(axpy, place: str) -> None:
    evaluator, program = axpy
    stray = changed(program, STEP, f"{{ {STEP} if (i == 0) y[{place}] = 1.0; }}")
    assert measured(evaluator, stray) == Failure(Stage.OUT_OF_BOUNDS, "wrote outside `y`")


def test_repetitions_start_from_the_same_inputs(axpy) -> None:
    """The kernel crashes where it finds another `y` than a random one, which lies below 1.5."""
    evaluator, program = axpy
    strict = changed(program, STEP, "y[i] = (y[i] >= 1.5 ? y[i + 100000000000L] : y[i]) + a * x[i];")
    assert isinstance(measured(evaluator, strict), Success)


def test_a_build_error_comes_with_its_log(axpy) -> None:
    evaluator, program = axpy
    found = evaluator.build(changed(program, "const double a", "const dubble a"), {})
    assert isinstance(found, BuildFailure)
    assert "dubble" in found.reason
    assert "clBuildProgram: CL_BUILD_PROGRAM_FAILURE" in found.log
    assert "dubble" in found.log


def test_a_missing_kernel_is_a_build_error(axpy) -> None:
    evaluator, program = axpy
    found = evaluator.build(changed(program, "__kernel void orio_opencl_kernel_0", "__kernel void other"), {})
    assert isinstance(found, BuildFailure)
    assert found.reason == "clCreateKernel: CL_INVALID_KERNEL_NAME (-46)"


def test_groups_larger_than_the_compiled_kernels_are_a_build_error(axpy) -> None:
    evaluator, program = axpy
    large = changed(
        program,
        "orio_items[ORIO_KERNELS] = {64}",
        "orio_items[ORIO_KERNELS] = {1048576}",
        "measured_opencl.c",
    )
    found = evaluator.build(large, {})
    assert isinstance(found, BuildFailure)
    assert "items per group, not 1048576" in found.reason


def test_a_compiler_that_crashes_is_a_build_error(axpy) -> None:
    evaluator, program = axpy
    found = evaluator.build(
        changed(program, "  int is_bad = 0;", "  int is_bad = *(volatile int *)8;", "measured_opencl.c"), {}
    )
    assert found == BuildFailure("the device's compiler ended by SIGSEGV", "")


@pytest.mark.parametrize(
    ("status", "stage"),
    [
        ("CL_OUT_OF_RESOURCES", Stage.PROTOCOL),
        ("CL_MEM_OBJECT_ALLOCATION_FAILURE", Stage.MEMORY),
        ("CL_BUILD_PROGRAM_FAILURE", Stage.COMPILE),
    ],
)
def test_errors_of_a_driver_are_told_in_words(axpy, status: str, stage: Stage) -> None:
    evaluator, program = axpy
    failing = changed(program, "clFinish(device->queues[queue])", status)
    found = measured(evaluator, failing)
    assert isinstance(found, Failure)
    assert found.stage is stage
    assert found.reason.startswith(f"orio_opencl_kernel_0: clFinish: {status} (-")


def test_buffers_beyond_the_device_are_told_with_their_sizes(axpy) -> None:
    evaluator, program = axpy
    huge = changed(program, "orio_bytes(orio_count_x, sizeof *x)", "(size_t)1 << 60")
    found = measured(evaluator, huge)
    assert isinstance(found, Failure)
    assert found.stage is Stage.MEMORY
    assert (
        "CL_INVALID_BUFFER_SIZE (-61), a buffer of 1152921504606846976 bytes; the largest has "
        in found.reason
    )


def test_a_kernel_that_crashes_takes_its_own_process_only(axpy) -> None:
    evaluator, program = axpy
    server = evaluator.server_pid
    far = changed(program, STEP, "y[i + 100000000000L] = a * x[i];")
    assert measured(evaluator, far) == Failure(Stage.CRASH, "ended by SIGSEGV")
    assert evaluator.server_pid == server
    assert isinstance(measured(evaluator, program), Success)


def test_an_endless_kernel_is_ended(tmp_path: Path) -> None:
    skip_without_device()
    with evaluation(tmp_path / "k", timeout=Seconds(2.0)) as (evaluator, program):
        endless = changed(program, STEP, "while (a > 0.0) y[0] += 1.0;")
        found = measured(evaluator, endless)
        assert isinstance(found, Failure)
        assert found.stage is Stage.TIMEOUT
        assert isinstance(measured(evaluator, program), Success)


def test_a_race_ends_a_hopeless_variant_after_its_second_call(axpy) -> None:
    evaluator, program = axpy
    found = measured(evaluator, program, race=EarlyStopping(1e-9))
    assert isinstance(found, Success)
    assert not found.is_full
    assert len(found.samples) == 1


def test_the_first_call_that_builds_kernels_does_not_count(axpy) -> None:
    evaluator, program = axpy
    slow = changed(
        program, "  if (program->program != NULL)\n", "  if (program->program != NULL || orio_nap())\n"
    )
    slow = changed(
        slow,
        "/* The program, built in the first call",
        "#include <unistd.h>\nstatic int orio_nap(void) { usleep(300000); return 0; }\n/* The program, built in the first call",
    )
    for check in (True, False):
        found = measured(evaluator, slow, race=EarlyStopping(1.0), check=check)
        assert isinstance(found, Success)
        assert max(sample.wall for sample in found.samples) < 0.3


@pytest.mark.parametrize("groups", [1, 3])
def test_partial_results_are_combined_in_c(tmp_path: Path, groups: int) -> None:
    skip_without_device()
    arguments = f"workItemsPerGroup=8, workGroups={groups}, force=True"
    with evaluation(tmp_path / "k", loop=DOT, arguments=arguments, after="  s = s * 2;") as (
        evaluator,
        program,
    ):
        assert isinstance(measured(evaluator, program), Success)
        short = changed(program, "orio_group < orio_total", "orio_group + 1 < orio_total")
        found = measured(evaluator, short)
    assert isinstance(found, Failure)
    assert found.reason.startswith("`s` element 0")


@pytest.mark.parametrize(("loop", "n"), [(AXPY, 5000), (AXPY, 2), (DOT, 5000)])
def test_slices_run_in_queues_of_their_own(tmp_path: Path, loop: str, n: int) -> None:
    skip_without_device()
    arguments = "workItemsPerGroup=64, streamCount=3, force=True"
    with evaluation(tmp_path / "k", loop=loop, n=n, arguments=arguments) as (evaluator, program):
        artifact = built(evaluator, program)
        found = evaluator.measure(artifact)
        assert isinstance(found, Success), found
        told = counters(evaluator, artifact)
    assert told["launches"] == min(3, n)
    assert min(told.values()) >= 0


def test_finals_are_processes_of_their_own(axpy) -> None:
    evaluator, program = axpy
    assert isinstance(evaluator.confirm(built(evaluator, program), check=True), Success)


@pytest.mark.proof
def test_no_kernel_outlives_the_process_that_asked(tmp_path: Path) -> None:
    """Not even one that never ends, when that process is killed."""
    skip_without_device()
    code = f"""
import sys; sys.path[:0] = [{str(ROOT / "tests" / "support")!r}, {str(Path(__file__).parent)!r}]
from pathlib import Path
from orio_py.core.units import Seconds
from test_opencl_evaluator import STEP, changed, evaluation, built
with evaluation(Path({str(tmp_path / "k")!r}), timeout=Seconds(600.0)) as (evaluator, program):
    artifact = built(evaluator, changed(program, STEP, "while (a > 0.0) y[0] += 1.0;"))
    evaluator.calibrate()
    print(evaluator.server_pid, flush=True)
    evaluator.measure(artifact)
"""
    asking = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert asking.stdout is not None
    pid = int(asking.stdout.readline())
    ended(lambda: bool(children(pid)))
    running = [pid, *children(pid)]
    assert len(running) > 1
    asking.kill()
    asking.communicate()
    ended(lambda: not any(Path(f"/proc/{one}").exists() for one in running))


def children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def ended(is_so: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + 30.0
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_without_the_library_that_programs_are_linked_with_nothing_is_tried(
    tmp_path: Path, monkeypatch
) -> None:
    found = replace(opencl_survey(), loader=None)
    monkeypatch.setattr("orio_py.measure.opencl.evaluator.survey", lambda: found)
    (tmp_path / "k.c").write_text(SOURCE % {"n": 10, "arguments": "", "loop": AXPY, "after": ""})
    (task,) = load([tmp_path / "k.c"]).tasks
    compiler = replace(resolve(task.task.build, tmp_path), directory=tmp_path)
    original = Evaluator(task.task, task.points[0], compiler, tmp_path / "work", RunLimits())
    if compiler.has_library("OpenCL"):
        pytest.skip("the system has the library")
    with pytest.raises(EnvironmentProblem, match="libOpenCL") as caught:
        MEASURER.evaluator(original, DeviceTime.CALL, tmp_path, MEASURED)
    assert "ocl-icd" in str(caught.value.diagnostics[0].help)
