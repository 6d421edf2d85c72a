"""OpenCL host code over a fake OpenCL library: what it calls, what it checks, what it releases."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from c_programs import SANITIZERS, links
from opencl_build import STRICT, SUPPORT, build, headers, run, write_unit
from opencl_plans import AXPY, add_2d, axpy, squares, turn

from orio_py.codegen.device import group_counts
from orio_py.codegen.host_unit import HostUnit
from orio_py.codegen.opencl.host import (
    LONGEST_LITERAL,
    host_header,
    host_source,
    measured_source,
    prototype,
    string_pieces,
)
from orio_py.kernel.plan import AxisBinding, LaunchShape, Role

CALL = re.compile(r"\bcl[A-Z]\w+(?=\()")


def program(folder: Path, *kernels, **options) -> Path:
    write_unit(folder, *(kernels or (axpy(), add_2d(3), squares(2))))
    flags = SANITIZERS if links(*SANITIZERS) else ()
    sources = ["test_opencl.c", SUPPORT / "fake_opencl.c", SUPPORT / "opencl_fake_main.c"]
    return build(folder, sources, *flags, **options)


@pytest.fixture(scope="module")
def fake(tmp_path_factory) -> Path:
    return program(tmp_path_factory.mktemp("fake"))


def test_whichever_call_fails_is_told_and_nothing_is_left(fake):
    told = run(fake, "inject").splitlines()
    assert [re.sub(r"\d{2,}", "N", line) for line in told] == [
        "N calls, 0 bad",
        "N calls, 0 bad",
        "N releases",
    ]


MISTAKES = {
    "a status that nobody looks at": (
        'return orio_failed(failure, clSetKernelArg(kernel->kernel, index, bytes, value), "clSetKernelArg")',
        "return (void)failure, clSetKernelArg(kernel->kernel, index, bytes, value), 0",
    ),
    "a kernel that is not released": (
        "  if (kernel->kernel != NULL)\n    (void)orio_failed(failure, clReleaseKernel(kernel->kernel)",
        "  if (kernel->kernel == NULL)\n    (void)orio_failed(failure, clReleaseKernel(kernel->kernel)",
    ),
    "an event that is not released": (
        "      if (events.copied[k][a] != NULL)\n        bad |=",
        "      if (events.copied[k][a] == NULL)\n        bad |=",
    ),
    "commands that wait for what is not on its way": (
        "    if (orio_flush(kernel, k, failure))\n      return 1;\n  }\n  return 0;",
        "  }\n  return 0;",
    ),
    "a copy that nobody waits for": (
        "    for (k = 0; k < ORIO_QUEUES; k++)\n      if (orio_devices[d].queues[k] != NULL)",
        "    for (k = 0; k < ORIO_QUEUES; k++)\n      if (orio_devices[d].queues[k] == NULL)",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_noticed(tmp_path, mistake):
    """The test before this one can fail."""
    write_unit(tmp_path, axpy(), add_2d(3), squares(2))
    path = tmp_path / "test_opencl.c"
    right, wrong = MISTAKES[mistake]
    assert path.read_text().count(right) == 1
    path.write_text(path.read_text().replace(right, wrong))
    sources = ["test_opencl.c", SUPPORT / "fake_opencl.c", SUPPORT / "opencl_fake_main.c"]
    done = subprocess.run([str(build(tmp_path, sources)), "inject"], capture_output=True, text=True)
    assert done.returncode != 0 or " 0 bad\n" not in done.stdout or "faults" in done.stdout


def test_every_call_has_its_status_looked_at():
    """Also those that no test makes fail: a status is an argument of a check, assigned, or compared."""
    text = host_source(HostUnit("t", "t_opencl", (axpy(), add_2d(3), squares(2)))).text
    code = re.sub(r'"(\\.|[^"\\\n])*"|/\*.*?\*/', '""', text, flags=re.DOTALL)
    flat = " ".join(code.split())
    calls = CALL.findall(flat)
    assert len(calls) > 20
    looked_at = re.findall(
        r"orio_failed\( ?\w+, cl[A-Z]\w+\(|cl_int status = cl[A-Z]\w+\(|[ ;]status = cl[A-Z]\w+\(|if \(cl[A-Z]\w+\("
        r"|= clCreate\w+\([^;]*&status\);",
        flat,
    )
    assert len(looked_at) == len(calls)


def test_what_is_large_enough_is_kept(fake):
    assert run(fake, "growth").splitlines() == [
        "n=20: 8 made, 8 alive, 24 items",
        "n=20: 0 made, 8 alive, 24 items",
        "n=10: 0 made, 8 alive, 16 items",
        "n=40: 2 made, 8 alive, 40 items",
        "n=30: 0 made, 8 alive, 32 items",
        "n=40: 0 made, 8 alive, 40 items",
    ]


def test_a_build_failure_shows_the_log(fake):
    assert run(fake, "build").splitlines() == [
        "orio_opencl_test_axpy: clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11)",
        "fake.cl:3: a mistake",
    ]


def test_loops_without_iterations_touch_nothing(fake):
    assert run(fake, "zero") == "0 calls\n"


def test_streams_get_a_piece_each_where_there_are_enough(fake):
    assert run(fake, "streams") == "1 2 3 3 3 3 3 launches\n"


def test_sizes_that_no_memory_has_are_refused(fake):
    assert "clCreateBuffer: CL_INVALID_BUFFER_SIZE (-61)" in run(fake, "huge")


def test_without_a_handler_a_failure_ends_the_program(fake):
    done = subprocess.run([str(fake), "abort"], capture_output=True, text=True)
    assert done.returncode == -6
    assert done.stderr == "orio_opencl_test_axpy: clGetPlatformIDs: CL_INVALID_PLATFORM (-32)\n"


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        ("", "Late GPU"),
        ("1", "Big GPU"),
        ("0:", "Host CPU"),
        ("0:1", "Other CPU"),
        ("3:0", "Lone Device"),
        ("platform 0:other c", "Other CPU"),
        ("CPU", "Host CPU"),
        ("lone", "Lone Device"),
        ("Accelerator", "Chip"),
        ("other", "Lone Device"),
        ("OpenCL 1.2:", "Big GPU"),
        ("driver 77", "Late GPU"),
        (":", "Late GPU"),
    ],
)
def test_the_environment_chooses_the_device(fake, given, chosen):
    """A graphics processor is better than others, a later platform than an earlier one, the first than the rest."""
    assert run(fake, environment={"ORIO_OPENCL_DEVICE": given}) == f"{chosen}\n"


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ({}, "Late GPU"),
        ({"platform": 0, "device": 1}, "Other CPU"),
        ({"device": "CPU"}, "Host CPU"),
        ({"platform": "form 3"}, "Lone Device"),
    ],
)
def test_the_plan_chooses_the_device(tmp_path, options, chosen):
    told = run(program(tmp_path, axpy(**options), add_2d(), squares()), environment={})
    assert told == f"{chosen}\n"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            "1:0",
            "no OpenCL device that computes in double precision for `1:0` (platform:device) among the 2 ",
        ),
        ("7:", "for `7:any` (platform:device) among the 0 devices there; set ORIO_OPENCL_DEVICE to"),
        ("FPGA", "for `any:FPGA` (platform:device) among the 8 devices there"),
    ],
)
def test_a_device_that_is_missing_is_told(fake, given, told):
    assert told in run(fake, environment={"ORIO_OPENCL_DEVICE": given})


def test_no_device_at_all_is_told(fake):
    assert "for `any:any` (platform:device) among the 0 devices there" in run(fake, "none", environment={})


def test_the_device_gets_the_text_and_the_options(tmp_path):
    text = AXPY + '/* "quoted" \\ ??/ ??= tab\t and more */\n' + "/* a long line " + "x" * 9000 + " */\n"
    kernel = replace(axpy(build_flags='-DNAME="a" -cl-mad-enable'), source=text)
    built = program(tmp_path, kernel, add_2d(), squares())
    assert run(built, "source") == text
    assert run(built, "options") == '-DNAME="a" -cl-mad-enable\n'


def test_kernels_of_one_text_share_their_program():
    first = axpy()
    unit = HostUnit("t", "t", (first, replace(first, function="orio_opencl_t_other"), axpy(build_flags="-w")))
    text = host_source(unit).text
    assert tuple(re.findall(r"ORIO_(?:PROGRAMS|KERNELS) = \d,", text)) == (
        "ORIO_PROGRAMS = 2,",
        "ORIO_KERNELS = 3,",
    )
    assert text.count("static const char *const orio_source_") == 1


def test_groups_cover_the_axes_by_tiles():
    kernel = add_2d()
    plan = replace(kernel.plan, launch=replace(kernel.plan.launch, tile=(8, 6)), coarsen=2)
    text = host_source(HostUnit("t", "t", (replace(kernel, plan=plan),))).text
    assert "{orio_groups(orio_trips_j, 16), orio_groups(orio_trips_i, 6)}" in text
    assert group_counts(plan, (13, 33)) == (3, 3)


def test_groups_of_the_driver_are_no_argument_of_the_launch():
    kernel = add_2d()
    plan = replace(kernel.plan, launch=LaunchShape((1, 1), driver_chosen=True))
    text = host_source(HostUnit("t", "t", (replace(kernel, plan=plan),))).text
    assert "{orio_groups(orio_trips_j, 1), orio_groups(orio_trips_i, 1)}, {0, 0}}" in text
    assert "launch->items[0] > 0 ? launch->items : NULL" in text
    assert group_counts(plan, (13, 33)) == (33, 13)


def test_a_group_for_each_iteration_needs_no_division(tmp_path):
    kernel = axpy()
    launch = LaunchShape((64,), bindings=(AxisBinding(Role.GROUPS, 0),))
    kernel = replace(kernel, plan=replace(kernel.plan, launch=launch))
    assert "{(size_t)orio_trips_i}" in host_source(HostUnit("t", "t", (kernel,))).text
    assert group_counts(kernel.plan, (13,)) == (13,)
    write_unit(tmp_path, kernel)
    words = ["gcc", *STRICT, *headers(), "-I.", "-c", "test_opencl.c", "-o", "test.o"]
    subprocess.run(words, cwd=tmp_path, check=True)


@pytest.mark.parametrize(
    ("operator", "code"),
    [
        ("+", "*s = (double)(*s + orio_partials_s[orio_group]);"),
        ("*", "*s = (double)(*s * orio_partials_s[orio_group]);"),
        ("&&", "*s = (double)(*s && orio_partials_s[orio_group]);"),
        ("max", "if (orio_partials_s[orio_group] > *s)\n      *s = orio_partials_s[orio_group];"),
    ],
)
def test_groups_are_combined_in_their_order_after_the_first_value(operator, code):
    kernel = squares()
    reductions = (replace(kernel.plan.reductions[0], operator=operator), kernel.plan.reductions[1])
    plan = replace(kernel.plan, reductions=reductions)
    text = host_source(HostUnit("t", "t", (replace(kernel, plan=plan),))).text
    assert f"for (orio_group = 0; orio_group < orio_total; orio_group++)\n    {code}\n" in text


@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed")
def test_clang_has_no_objections_either(tmp_path):
    program(tmp_path, command="clang")


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
@pytest.mark.parametrize("kernels", [(axpy(),), (axpy(streams=3), add_2d(3), squares(3), turn(3))])
def test_what_looks_on_has_no_warnings(tmp_path, kernels):
    write_unit(tmp_path, *kernels)
    unit = HostUnit("test", "test_opencl", kernels)
    (tmp_path / "measured.c").write_bytes(measured_source(unit).data)
    words = ["gcc", *STRICT, "-Wconversion", "-O2", *headers(), "-c", "measured.c", "-o", "measured.o"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    "kernels", [(axpy(), add_2d(), squares()), (axpy(streams=3), add_2d(3), squares(3), turn(3))]
)
def test_host_code_is_cpp_too(tmp_path, kernels):
    write_unit(tmp_path, *kernels)
    words = [
        "g++",
        "-x",
        "c++",
        "-std=c++11",
        "-Wall",
        "-Wextra",
        "-Werror",
        *headers(),
        "-c",
        "test_opencl.c",
    ]
    done = subprocess.run([*words, "-o", "test.o"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_cpp_takes_the_header(tmp_path):
    kernel = axpy()
    scalar = replace(kernel.plan.scalars[0], name="class", parameter="class")
    buffer = replace(kernel.plan.buffers[1], type="int32_t", name="new")
    plan = replace(kernel.plan, scalars=(scalar,), buffers=(kernel.plan.buffers[0], buffer))
    write_unit(tmp_path, replace(kernel, plan=plan))
    source = tmp_path / "user.cpp"
    source.write_text('#include "test_opencl.h"\nint f() { return orio_opencl_test_release(); }\n')
    flags = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-c"]
    subprocess.run(["g++", *flags, str(source), "-o", str(tmp_path / "user.o")], check=True)


def test_remarks_cannot_end_the_comment(tmp_path):
    unit = HostUnit("test", "test_opencl", (axpy(),), ("a */ b /* c", "dé\nf"))
    assert host_header(unit).text.startswith("/* orio_py: OpenCL host code, a * / b / * c\n   d? f */\n")
    (tmp_path / "test_opencl.h").write_bytes(host_header(unit).data)
    (tmp_path / "test_opencl.c").write_bytes(host_source(unit).data)
    command = ["gcc", *STRICT, *headers(), "-c", str(tmp_path / "test_opencl.c"), "-o", str(tmp_path / "o")]
    subprocess.run(command, check=True)


def test_a_unit_without_kernels_is_refused():
    with pytest.raises(ValueError, match="at least one kernel"):
        host_source(HostUnit("t", "t", ()))


def test_prototypes_are_broken_where_they_get_long():
    lines = prototype(add_2d().plan, "orio_opencl_" + "x" * 30).splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= 110


@pytest.mark.parametrize("text", ["", "a", "a\n\n", "x" * 5000, "line\n" * 3000, "???/\x01é\r\n\x0b1"])
def test_pieces_are_short_and_lose_nothing(text):
    pieces = string_pieces(text)
    values = ["".join(_value(literal) for literal in piece) for piece in pieces]
    assert "".join(values) == text
    assert max(map(len, values)) <= LONGEST_LITERAL
    assert not any("??" in literal for piece in pieces for literal in piece)


def _value(literal: str) -> str:
    return literal[1:-1].replace("\\?", "?").encode("latin-1").decode("unicode_escape")
