"""Kills tuning processes at random moments and shows what the results database has kept.

    python benchmarks/resume.py [--rounds 100] [--seed 1]

The work is in `tests/support/killed_runs.py`; any trial that was acknowledged and lost, doubled or stored in
part ends it with an AssertionError.  Measuring is invented, storing is real.  Trials of
OpenMP kernels are stored once more when their batch was measured a second time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

SCRIPT = Path(__file__).resolve().parents[1] / "tests" / "support" / "killed_runs.py"


def main() -> int:
    """Run the rounds in a folder of their own and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=100, help="processes to kill")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="orio-resume-") as folder:
        figures: dict[str, dict[str, object]] = {}
        for kind in ("serial", "openmp"):
            words = [str(Path(folder) / f"{kind}.db"), str(options.rounds), str(options.seed), kind]
            command = [sys.executable, str(SCRIPT), *words]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
            if done.returncode != 0:
                return done.returncode
            figures[kind] = json.loads(done.stdout)
    table = Table("figure", "serial kernel", "OpenMP kernel")
    for name, value in figures["serial"].items():
        table.add_row(name.replace("_", " "), str(value), str(figures["openmp"][name]))
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
