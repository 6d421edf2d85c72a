"""Names of host functions, and what becomes of regions that no longer call any."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from opencl_plans import axpy

from orio_py.kernel.plan import KernelPlan, LaunchShape
from orio_py.tuning.files.host_functions import HostedCode, HostFunctions, calls_host_functions
from orio_py.tuning.files.load import load
from orio_py.tuning.variants.contents import transformed_contents, tuned_contents, without_stale_calls

CALL = "{\n  void orio_opencl_f_0(int n);\n  orio_opencl_f_0(n);\n}\n"

SIZES = """\
void f(int n, const double *restrict x, double *restrict y)
{
  int i;
  /*@ begin PerfTuning(
    def performance_params { param W[] = [8, 16]; constraint large = (n < 50 or W > 8); }
    def input_params { param n[] = [10, 100, 200]; }
    def input_vars { decl dynamic double x[n] = random; decl dynamic double y[n] = random; }
  ) @*/
  /*@ begin Loop(transform OpenCL(workItemsPerGroup=W)) @*/
  for (i = 0; i < n; i++)
    y[i] += x[i];
  /*@ end @*/
  /*@ end @*/
}
"""


def plan(items: int = 8, name: str = "orio_opencl_f_0") -> KernelPlan:
    return replace(axpy().plan, name=name, launch=LaunchShape((items,)))


def test_code_without_kernels_stays():
    functions = HostFunctions()
    assert functions.add(HostedCode(CALL)).code is CALL
    assert functions.kernels == []


def test_equal_kernels_are_one_and_different_ones_get_numbers():
    functions = HostFunctions()
    assert functions.add(HostedCode(CALL, (plan(),))).code == CALL
    assert functions.add(HostedCode(CALL, (plan(16),))).code == CALL.replace("f_0", "f_0_v1")
    assert functions.add(HostedCode(CALL, (plan(),))).code == CALL
    assert functions.add(HostedCode(CALL, (plan(16),))).code == CALL.replace("f_0", "f_0_v1")
    assert functions.add(HostedCode(CALL, (plan(32),))).code == CALL.replace("f_0", "f_0_v2")
    assert [(k.function, k.plan.launch.block_size) for k in functions.kernels] == [
        ("orio_opencl_f_0", (8,)),
        ("orio_opencl_f_0_v1", (16,)),
        ("orio_opencl_f_0_v2", (32,)),
    ]
    assert all(f"{k.plan.name}(" in k.source for k in functions.kernels)


def test_new_names_avoid_those_that_are_there():
    functions = HostFunctions()
    functions.add(HostedCode("", (plan(8, "f_0_v1"), plan(8, "f_0"))))
    assert functions.add(HostedCode("f_0(); f_0_v1();", (plan(16, "f_0"),))).code == "f_0_v2(); f_0_v1();"


def test_renaming_leaves_longer_names_alone():
    functions = HostFunctions()
    functions.add(HostedCode("", (plan(),)))
    code = "orio_opencl_f_0(n); orio_opencl_f_01(n); my_orio_opencl_f_0(n);"
    assert functions.add(HostedCode(code, (plan(16),))).code == code.replace(
        "orio_opencl_f_0(", "orio_opencl_f_0_v1(", 1
    )


def test_sizes_have_kernels_of_their_own(tmp_path: Path):
    source = tmp_path / "f.c"
    source.write_text(SIZES)
    loaded = load([source])
    assert loaded.diagnostics == ()
    functions = HostFunctions()
    (text,) = transformed_contents(loaded.tasks[0], {}, "1", functions).values()
    assert [k.function for k in functions.kernels] == ["orio_opencl_f_0", "orio_opencl_f_0_v1"]
    calls = re.findall(r"^ +(orio_opencl_\w+_\w+(?<!_ready))\(", text, re.MULTILINE)
    assert calls == ["orio_opencl_f_0", "orio_opencl_f_0_v1", "orio_opencl_f_0_v1"]
    assert "host code: in the file beside this one" in text


def test_a_call_of_an_earlier_run_does_not_outlive_its_function(tmp_path: Path):
    """Where nothing was found a region is left alone, unless its old code would no longer link."""
    source = tmp_path / "f.c"
    source.write_text(SIZES)
    (loaded,) = load([source]).tasks
    assert tuned_contents(loaded.task, (), "1", HostFunctions()) == {}
    assert without_stale_calls([loaded], {}, "1") == {}
    called = SIZES.replace(
        "  for (i",
        "  /* orio_py: generated */\n#ifndef ORIO_ORIGINAL\n  orio_opencl_f_0(n);\n"
        "#else /* ORIO_ORIGINAL */\n  for (i",
    ).replace("x[i];\n", "x[i];\n#endif /* ORIO_ORIGINAL */\n")
    source.write_text(called)
    (loaded,) = load([source]).tasks
    ((span, text),) = without_stale_calls([loaded], {}, "1").items()
    assert not calls_host_functions(text)
    assert "y[i] += x[i];" in text
    assert without_stale_calls([loaded], {span: "new"}, "1") == {span: "new"}
