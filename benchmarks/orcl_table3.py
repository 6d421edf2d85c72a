"""EX14FF and EX14FJ of the OrCL paper on this machine's OpenCL device: the best parameters per size, and all variants.

Each function is tuned at each size, 64, 75, 100 and 128 points per direction; the trials go to a database, from which
the table of best parameters (the paper's Table III) and the sorted times of all variants (its Fig. 9) are made.  A run
that was interrupted goes on where it stopped, and one with more trials adds to those that are stored.

    python benchmarks/orcl_table3.py --trials 100 --db orcl.db --picture variants.svg

writes `variants-ex14ff.svg` and `variants-ex14fj.svg`, which `orio results plot` also does.  Pictures need matplotlib.

Exit codes: 0 measured; 4 nothing valid was found for a function at a size.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from orio_py.core.diagnostics import EnvironmentProblem
from orio_py.results import BestEntry, Selection, best_configurations, curves, plot_curves

KERNELS = Path(__file__).resolve().parent / "kernels" / "orcl"
NAMES = ("ex14ff", "ex14fj")
SIZES = (64, 75, 100, 128)


def tune(name: str, sizes: Sequence[int], trials: int, database: Path, folder: Path) -> int:
    """Tune a function at each size; the exit code of `orio tune`."""
    source = folder / f"{name}.c"
    text, count = re.subn(
        r"param m\[\] = \[[\d, ]+\];",
        f"param m[] = [{', '.join(map(str, sizes))}];",
        (KERNELS / f"{name}.c").read_text(),
    )
    assert count == 1, "the sizes stand in the specification"
    source.write_text(text)
    command = [sys.executable, "-m", "orio_py", "tune", str(source), "-o", str(folder / f"{name}_tuned.c")]
    command += ["--db", str(database), "--trials", str(trials), "--seed", "1", "--quiet"]
    return subprocess.run(command, check=False).returncode


def best_table(entries: Sequence[BestEntry], count: dict[str, int]) -> Table:
    """The best parameters of a function at each size; `count` has the trials per task."""
    names = list(entries[0].configuration)
    table = Table("function", "points", "trials", "ms", *names)
    for entry in sorted(entries, key=lambda entry: str(entry.stored.inputs["m"]).zfill(4)):
        values = [str(entry.configuration[name]) or "''" for name in names]
        size, trials = entry.stored.inputs["m"], count[entry.stored.series.task]
        table.add_row(entry.stored.name, f"{size}^3", str(trials), f"{1e3 * entry.median_s:.3f}", *values)
    return table


def shown(name: str, database: Path, picture: Path | None, console: Console) -> None:
    """Print the best of a function and how its variants spread, and draw them."""
    chosen = Selection(region=name)
    found = curves(database, chosen)
    entries = best_configurations(database, chosen)
    console.print(best_table(entries, {curve.task: len(curve.seconds) + curve.failed for curve in found}))
    for curve in found:
        slow, fast = 1e3 * curve.seconds[0], 1e3 * curve.seconds[-1]
        middle = 1e3 * median(curve.seconds)
        console.print(
            f"{curve.title} on {curve.device}: {len(curve.seconds)} variants, {curve.failed} failed; slowest "
            f"{slow:.3f} ms, median {middle:.3f} ms, fastest {fast:.3f} ms"
        )
    if picture is not None:
        path = picture.with_stem(f"{picture.stem}-{name}")
        try:
            plot_curves(found, path)
        except EnvironmentProblem as problem:
            console.print(f"no picture: {problem.diagnostics[0].message}")
        else:
            console.print(f"picture: {path}")


def main() -> int:
    """Tune, print, draw; exit code."""
    parser = argparse.ArgumentParser(description="Best parameters and sorted variants of EX14FF and EX14FJ.")
    parser.add_argument("--trials", type=int, default=100, help="variants tried per function and size (100)")
    parser.add_argument(
        "--size", type=int, action="append", help="only this many points per direction; may be repeated"
    )
    parser.add_argument("--kernel", action="append", choices=NAMES, help="only this one; may be repeated")
    parser.add_argument(
        "--db", type=Path, default=Path("orcl-table3.db"), help="the database (orcl-table3.db)"
    )
    parser.add_argument("--picture", type=Path, help="draw the sorted variants: .svg, .png or .pdf")
    options = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console.width = 160
    options.db.parent.mkdir(parents=True, exist_ok=True)
    status = 0
    for name in options.kernel or NAMES:
        with tempfile.TemporaryDirectory(prefix="orcl-") as folder:
            status = max(status, tune(name, options.size or SIZES, options.trials, options.db, Path(folder)))
        if status in (0, 4):
            shown(name, options.db, options.picture, console)
    return status


if __name__ == "__main__":
    sys.exit(main())
