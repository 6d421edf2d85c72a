"""Build commands made for other compilers and machines: what of them a C compiler here gets."""

from pathlib import Path

import pytest

from orio_py.build.compiler import Artifact, host_compiler, host_options, resolve, without_absent
from orio_py.spec.target import BuildSpec


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("-arch=sm_75 -O3", "-O3"),
        ("-arch sm_75 --gpu-architecture=sm_80 -gencode arch=compute_80,code=sm_80 -g", "-g"),
        ("-Xcompiler -fopenmp,-Wall -Xptxas -v", "-fopenmp -Wall"),
        ("--compiler-options=-fopenmp -Xlinker --as-needed", "-fopenmp -Wl,--as-needed"),
        ("-use_fast_math -lineinfo -rdc=true -x cu -DN=3 -Iinc -Llib -lm", "-DN=3 -Iinc -Llib -lm"),
        ("-std=c++17 -O2", "-O2"),
        ("-std=gnu99 -O2", "-std=gnu99 -O2"),
        ("-ccbin clang -maxrregcount=32 -O1", "-O1"),
    ],
)
def test_options_for_the_host(options: str, expected: str) -> None:
    assert host_options(options.split()) == expected.split()


def test_the_compiler_that_nvcc_is_told_to_call() -> None:
    assert host_compiler(["-O3", "-ccbin", "clang"], "gcc") == "clang"
    assert host_compiler(["-ccbin=g++", "-O3"], "gcc") == "g++"
    assert host_compiler(["-O3"], "gcc") == "gcc"


def test_c_code_of_an_nvcc_command_is_built_without_nvcc(tmp_path: Path) -> None:
    compiler = resolve(BuildSpec("nvcc -arch=sm_75 @CFLAGS -Xcompiler -fopenmp", is_default=False), tmp_path)
    assert compiler.words({"CFLAGS": "-O3 -use_fast_math"})[1:] == ["-O3", "-fopenmp"]
    (tmp_path / "k.c").write_text("double f(double x) { return 2 * x; }\n")
    (tmp_path / "h.c").write_text("int main(void) { return 0; }\n")
    values = {"CFLAGS": "-use_fast_math"}
    assert isinstance(compiler.build_shared(tmp_path / "k.c", tmp_path / "k.so", values), Artifact)
    assert isinstance(compiler.build_executable(tmp_path / "h.c", tmp_path / "h", values), Artifact)


def test_another_compiler_in_place_of_nvcc_gets_the_options_for_the_host(tmp_path: Path) -> None:
    spec = BuildSpec("nvcc -arch=sm_75 @CFLAGS -Xcompiler -fopenmp", is_default=False)
    compiler = resolve(spec, tmp_path, override="gcc -fwrapv")
    assert compiler.words({"CFLAGS": "-O3 -use_fast_math"}) == ["gcc", "-fwrapv", "-O3", "-fopenmp"]
    plain = resolve(BuildSpec("gcc -O2", is_default=False), tmp_path, override="gcc -fwrapv")
    assert plain.words({}) == ["gcc", "-fwrapv", "-O2"]


MEASURED = "-framework OpenCL -O1 -lTAU -lm"


def test_libraries_of_measuring_systems_are_left_out_where_they_are_not_installed(tmp_path: Path) -> None:
    compiler = resolve(BuildSpec(f"gcc {MEASURED}", is_default=False, libs="-lTAU -lnone"), tmp_path)
    assert (compiler.command[1:], compiler.libs) == (("-O1", "-lm"), ("-lnone",))
    (warning,) = compiler.warnings
    assert warning.code == "ORIO-B007"
    assert "`-framework OpenCL`, `-lTAU` of the build command are left out" in warning.message
    (tmp_path / "libTAU.a").write_bytes(b"!<arch>\n")
    installed = resolve(BuildSpec("gcc -O1 -L. -lTAU", is_default=False), tmp_path)
    assert (installed.command[-1], installed.warnings) == ("-lTAU", ())


def test_what_an_apple_machine_has_stays() -> None:
    words = MEASURED.split()
    assert without_absent(words, lambda name: name == "TAU", "darwin") == (words, [])


def test_a_cplusplus_compiler_builds_c_as_c(tmp_path: Path) -> None:
    compiler = resolve(BuildSpec("g++ -O1", is_default=False), tmp_path)
    (tmp_path / "k.c").write_text("#include <stdlib.h>\nint *f(int class) { return malloc(class); }\n")
    (tmp_path / "h.c").write_text("int main(void) { int new = 0; return new; }\n")
    assert isinstance(compiler.build_shared(tmp_path / "k.c", tmp_path / "k.so", {}), Artifact)
    assert isinstance(compiler.build_executable(tmp_path / "h.c", tmp_path / "h", {}), Artifact)
