"""What a file of many regions costs grows with the regions, not with their square."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import orio_py
from orio_py.ctree import file_scan

FUNCTION = """void f{0}(int n, double *x, double *y)
{{
  int i;
  /*@ begin PerfTuning(
    def performance_params {{ param U[] = [1, 2]; }}
    def input_params {{ param n[] = [100]; }}
    def input_vars {{ decl dynamic double x[n] = random; decl dynamic double y[n] = random; }}
  ) @*/
  /*@ begin Loop(transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    y[i] = y[i] + x[i];
  /*@ end @*/
  /*@ end @*/
}}
"""


def written(path: Path, count: int) -> Path:
    path.write_text("".join(FUNCTION.format(number) for number in range(count)), encoding="utf-8")
    return path


def calls_of(run: Callable[[], object]) -> int:
    """How many functions, of Python and built in, a run calls."""
    count = 0

    def counting(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("command", ["check", "transform"])
def test_the_work_of_a_region_does_not_grow_with_the_file(tmp_path: Path, command: str) -> None:
    def run(count: int) -> int:
        path = written(tmp_path / f"{count}.c", count)
        if command == "check":
            return calls_of(lambda: orio_py.check(path))
        return calls_of(lambda: orio_py.transform(path, output=tmp_path / "out.c"))

    run(1)  # loads what it needs
    small, large = run(4), run(16)
    assert large < 4 * small * 1.25


def test_a_file_is_scanned_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "scanned.c", 6)
    outlined: list[int] = []
    real = file_scan.outline

    def counted(tokens: list[file_scan.Token], length: int) -> file_scan.Outline:
        outlined.append(length)
        return real(tokens, length)

    monkeypatch.setattr(file_scan, "outline", counted)
    file_scan.scan_file.cache_clear()
    report = orio_py.transform(path, output=tmp_path / "out.c")
    assert report.exit_code == 0
    assert outlined == [len(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("command", ["check", "transform"])
def test_the_refusals_of_all_regions_are_told_at_once(tmp_path: Path, command: str) -> None:
    region = "/*@ begin Loop(transform Parallelize()) @*/\n{}\n/*@ end @*/\n"
    loops = [f"for (int i = 0; i < n; i++) a[i + {step}] = a[i];" for step in (1, 50, 2)]
    text = f"void f(int n, double a[99]) {{\n{''.join(map(region.format, loops))}}}\n"
    path = tmp_path / "three.c"
    path.write_text(text, encoding="utf-8")
    report = orio_py.check(path) if command == "check" else orio_py.transform(path, in_place=True)
    lines = [d.position.line for d in report.diagnostics if d.position is not None]
    assert report.exit_code == 2
    assert lines == [3, 6, 9]
    assert path.read_text(encoding="utf-8") == text
