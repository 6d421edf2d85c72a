r"""Tune the programs of `benchmarks.prediction` by random search, and judge models of speed on what was measured.

    python -m benchmarks.prediction collect --db trials.db --seconds 60
    python -m benchmarks.prediction collect --db stencils.db --seconds 150 --opencl
    python -m benchmarks.prediction judge --db trials.db
    python -m benchmarks.prediction replay --db trials.db --seeds 5
    python -m benchmarks.prediction collect --db unseen.db --held-out --seconds 160 --trials 200
    python -m benchmarks.prediction replay --db unseen.db --shipped

`collect` keeps each random search in a results database, with the static features of its variants.  `judge` prints, for each
program, the runs until 90 % of the best speed in the order of rankings that were trained on the other programs, and of what
they have to beat: a random order, permuted speeds, nearest neighbours by tuning parameters, one feature alone.  `replay` runs searches with and without a prediction on what was measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.prediction.judging import judged_table
from benchmarks.prediction.programs import C_NESTS, HELD_OUT, STENCILS, c_program, opencl_program
from benchmarks.prediction.replaying import replayed_table
from orio_py.cli.main import main as orio

KERNELS = Path(__file__).resolve().parents[1] / "kernels"
FILES = ("jacobi2d", "syrk", "matvec", "lu", "adi", "matmul")
"""Of those, what the model has seen nothing of."""


def options() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser("python -m benchmarks.prediction", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("collect", "judge", "replay"))
    add = parser.add_argument
    add("--db", type=Path, required=True, metavar="FILE", help="the results database")
    add("--seconds", type=int, default=60, metavar="N", help="time for each program (60)")
    add("--trials", type=int, default=70, metavar="N", help="variants of each program at most (70)")
    add("--only", default="", metavar="A,B", help="these programs only")
    add("--opencl", action="store_true", help="the stencils as kernels, not the C kernels")
    add("--held-out", action="store_true", help="C kernels that the model was not trained on")
    add("--seeds", type=int, default=5, metavar="N", help="replays of each search (5)")
    add("--shipped", action="store_true", help="replay with the model that comes with the program")
    add("--size", type=int, default=1024, metavar="N", help="rows and columns of the stencils (1024)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Collect or judge."""
    chosen = options().parse_args(arguments)
    if chosen.what == "judge":
        print(judged_table(chosen.db))
        return 0
    if chosen.what == "replay":
        print(replayed_table(chosen.db, chosen.seeds, shipped=chosen.shipped))
        return 0
    if chosen.opencl:
        texts = {name: opencl_program(name, chosen.size) for name in STENCILS}
    else:
        texts = {name: c_program(name) for name in (HELD_OUT if chosen.held_out else C_NESTS)}
    if chosen.held_out:
        texts |= {name: (KERNELS / f"{name}.c").read_text(encoding="utf-8") for name in FILES}
    names = [name for name in chosen.only.split(",") if name] or list(texts)
    with TemporaryDirectory(prefix="orio-prediction-") as folder:
        for number, name in enumerate(names, chosen.size):
            path = Path(folder) / f"{name}.c"
            path.write_text(texts[name])
            words = ["tune", str(path), "--search", "random", "--trials", str(chosen.trials)]
            words += ["--time", f"{chosen.seconds}s", "--full-samples", "--db", str(chosen.db)]
            # Other variants of each program: neighbours of the same configuration would tell too much.
            words += ["--seed", str(number)]
            words += ["--set", "OMP=False"] if name in FILES and chosen.held_out else []
            status = orio([*words, "--quiet", "-o", str(Path(folder) / f"tuned_{name}.c")])
            print(f"{name}: {'done' if status == 0 else f'exit code {status}'}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
