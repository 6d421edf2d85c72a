"""What transforming and printing costs: one demanding recipe, and growth with the generated statements.

The recipe tiles all three loops of a matrix product, unrolls and jams them 8 x 8 x 4, and keeps the
repeated elements in scalars.  Growth is measured with `Unroll`, `UnrollJam` and with `RegTile` of
ever larger factors, up to what the limit of 100 000 statements lets through.  Times are processor times
of one thread, the least and the median of `--repeat` runs (3 of the largest cases).  What the file says
around the region is looked up before, as a tuning session does; what is remembered of trees is forgotten
before each run, so that each is that of a new configuration.  The second line tells what reading
and the look-up take.

    python benchmarks/compiler_speed.py
"""

from __future__ import annotations

import argparse
import gc
import itertools
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from orio_py.core.expr import Value
from orio_py.core.source import SourceFile
from orio_py.ctree.effects import EffectsMemory
from orio_py.ctree.emit import emit
from orio_py.frontend.read import read
from orio_py.spec.region import Region
from orio_py.spec.task import TuningTask
from orio_py.transformation.base import ForcedRefusals
from orio_py.transformation.recipe import apply_recipe, context_for

MATMUL = """
void matmul(int n, double A[restrict n][n], double B[restrict n][n], double C[restrict n][n])
{
  int i, j, k;
  /*@ begin Loop(
    transform Composite(
      tile = [('i', 64, 'ii'), ('j', 128, 'jj'), ('k', 32, 'kk')],
      permut = [['jj', 'kk', 'ii', 'i', 'j', 'k']],
      unrolljam = (['i', 'j', 'k'], [8, 8, 4]),
      scalarreplace = True)
    for (i = 0; i < n; i++)
      for (j = 0; j < n; j++)
        for (k = 0; k < n; k++)
          C[i][j] += A[i][k] * B[k][j];
  ) @*/
  /*@ end @*/
}
"""

STATEMENTS = "\n".join(f"      x{k}[i] = x{k}[i + 1] * y{k}[i] + z[{k}];" for k in range(10))
PARAMETERS = ", ".join(f"double *restrict x{k}, double *restrict y{k}" for k in range(10))
UNROLL = f"""
void many({PARAMETERS}, double *restrict z, int n)
{{
  int i;
  /*@ begin Loop(
    transform Unroll(ufactor=U)
    for (i = 0; i < n; i++) {{
{STATEMENTS}
    }}
  ) @*/
  /*@ end @*/
}}
"""

NEST = """
void nest(int n, double A[restrict n][n], double B[restrict n][n], double C[restrict n][n])
{
  int i, j, k;
  /*@ begin Loop(
    transform RECIPE
    for (i = 0; i < n; i++)
      for (j = 0; j < n; j++)
        for (k = 0; k < n; k++)
          C[i][j] += A[i][k] * B[k][j];
  ) @*/
  /*@ end @*/
}
"""
JAM = NEST.replace("RECIPE", "Composite(unrolljam=(['i', 'j'], [V, U]))")
REGTILE = NEST.replace("RECIPE", "RegTile(loops=['i', 'j'], ufactors=[V, U])")
SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000)


def transformer(text: str) -> Callable[[Mapping[str, Value]], str]:
    """Transform and print the one region of a file."""
    task, region = only_region(text)
    context = context_for(task, region)

    def run(values: Mapping[str, Value]) -> str:
        fresh = replace(context, memory=EffectsMemory(), overruled=ForcedRefusals())
        return emit(apply_recipe(region, values, fresh))

    return run


def looking_up(text: str) -> Callable[[Mapping[str, Value]], str]:
    """Read a file and look up what it says around its one region; another text each time, so nothing is remembered."""
    texts = (f"{text}/* run {run} */\n" for run in itertools.count())
    return lambda _: " ".join(context_for(*only_region(next(texts))).declarations)


def only_region(text: str) -> tuple[TuningTask, Region]:
    """The region of a file that has no other, and its task."""
    (task,) = read(SourceFile("speed.c", text.encode()), directory=Path()).tasks
    (region,) = task.regions
    return task, region


def timed(
    run: Callable[[Mapping[str, Value]], str], values: Mapping[str, Value], repeat: int
) -> tuple[float, float, str]:
    """The least and the median processor time in seconds, and the text."""
    found: list[float] = []
    text = ""
    for _ in range(repeat):
        gc.collect()
        start = time.thread_time()
        text = run(values)
        found.append(time.thread_time() - start)
    return min(found), statistics.median(found), text


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=5, help="runs of each case")
    parser.add_argument("--largest", type=int, default=94_000, help="largest number of generated statements")
    given = parser.parse_args()
    console = Console()
    least, seconds, text = timed(transformer(MATMUL), {}, 4 * given.repeat)
    count = text.count(";\n")
    console.print(
        f"matrix product, three tile levels, 8 x 8 x 4, scalar-replaced: {1e3 * least:.1f} ms, "
        f"median {1e3 * seconds:.1f} ms ({count} statements, {len(text)} characters)"
    )
    least, seconds, _ = timed(looking_up(MATMUL), {}, 4 * given.repeat)
    console.print(
        f"once for each file, reading it and what stands around its region: {1e3 * least:.1f} ms, median {1e3 * seconds:.1f} ms"
    )
    table = Table(title="growth with the generated statements")
    for heading in ("recipe", "statements", "ms", "median ms", "us per statement"):
        table.add_column(heading, justify="right")
    for name, source, per_copy in (("Unroll", UNROLL, 10), ("unrolljam", JAM, 16), ("RegTile", REGTILE, 16)):
        run = transformer(source)
        for wanted in (*(size for size in SIZES if size < given.largest), given.largest):
            repeat = given.repeat if wanted <= 10_000 else min(3, given.repeat)
            least, seconds, text = timed(run, {"U": wanted // per_copy, "V": 16}, repeat)
            count = text.count(";\n")
            cost = f"{1e6 * least / count:.1f}"
            table.add_row(name, str(count), f"{1e3 * least:.1f}", f"{1e3 * seconds:.1f}", cost)
        table.add_section()
    console.print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
