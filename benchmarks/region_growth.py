"""What a file with many tuned regions costs before anything is built: `check`, `space` and `transform`.

Files have 10, 50, 100 and 200 regions, each with a specification of its own: in a function of its own, in a
function behind a declaration and a macro of its own, and all in one function.  Times are processor times of
the calls in one process, the least of `--repeat` runs, after a first run that loads what they need.  Every
run has a file of another text, so that nothing is remembered of an earlier one.

    python benchmarks/region_growth.py
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

import orio_py

REGION = """
  /*@ begin PerfTuning(
    def performance_params { param U[] = [1, 2, 4]; }
    def input_params { param n[] = [1000]; }
    def input_vars {
      decl dynamic double x[n] = random;
      decl dynamic double y[n] = random;
      decl double a = 2.5;
    }
    def search { arg algorithm = 'Exhaustive'; }
    def build { arg build_command = 'gcc -O3'; }
  ) @*/
  /*@ begin Loop(transform Unroll(ufactor=U)) @*/
  for (i = 0; i < n; i++)
    y[i] = y[i] + a * x[i];
  /*@ end @*/
  /*@ end @*/
"""
HEADER = "void axpy{}(int n, double a, double *x, double *y)\n{{\n  int i;\n{}\n}}\n"


def of_functions(count: int) -> str:
    """A file of so many functions with a region each."""
    return "".join(HEADER.format(number, REGION) for number in range(count))


def with_declarations(count: int) -> str:
    """The same, with a declaration and a macro before each function."""
    before = "extern double *shared{0};\n#define SIZE{0} {0}\n"
    return "".join(before.format(number) + HEADER.format(number, REGION) for number in range(count))


def of_one_function(count: int) -> str:
    """A file of one function with so many regions."""
    return HEADER.format("", count * REGION)


FILES: dict[str, Callable[[int], str]] = {
    "a function each": of_functions,
    "and declarations": with_declarations,
    "one function": of_one_function,
}


def seconds(command: str, text: str, folder: Path) -> float:
    """The processor time of one call on a file."""
    path = folder / "regions.c"
    path.write_text(text, encoding="utf-8")
    start = time.process_time()
    if command == "check":
        report = orio_py.check(path)
    elif command == "space":
        report = orio_py.space(path)
    else:
        report = orio_py.transform(path, output=folder / "out.c", pins={"U": 2})
    took = time.process_time() - start
    if report.exit_code:
        raise SystemExit(f"{command}: {[problem.message for problem in report.diagnostics]}")
    return took


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3, help="runs of each case")
    parser.add_argument("--regions", type=int, nargs="+", default=[10, 50, 100, 200])
    given = parser.parse_args()
    table = Table(title="growth with the regions of a file")
    for heading in ("file", "command", "regions", "s", "ms per region"):
        table.add_column(heading, justify="right")
    with tempfile.TemporaryDirectory() as name:
        for kind, make in FILES.items():
            for command in ("check", "space", "transform"):
                seconds(command, make(1), Path(name))
                for count in given.regions:
                    texts = [f"{make(count)}/* run {run} */\n" for run in range(given.repeat)]
                    least = min(seconds(command, text, Path(name)) for text in texts)
                    table.add_row(kind, command, str(count), f"{least:.2f}", f"{1e3 * least / count:.1f}")
            table.add_section()
    Console().print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
