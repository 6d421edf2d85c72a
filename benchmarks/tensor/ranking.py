"""What it gains to leave values out that the static ranking of contractions puts low: trials to within 5 % of the best.

    python -m benchmarks.tensor.ranking --size 12 --sample 120
    python -m benchmarks.tensor.ranking --size 10 --sample 120 --kernels sd_t_d1_6 local_grad3

A random sample of all variants of each kernel is measured, in one run.  `trials` is how many of them are tried in random
order, on average, until one within 5 % of the best one is found; `ranked` is the same among those that the ranking keeps.
`loss` is by how many percent the best of these is slower than the best one.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import orio_py
from benchmarks.tensor.kernels import programs
from orio_py.core.expr import Value
from orio_py.core.source import SourceFile, Span
from orio_py.frontend.tensor.program import read_program
from orio_py.tensors.annotated import annotated_file, shared_loops
from orio_py.tensors.contraction import TensorProgram
from orio_py.tensors.tile_choices import tile_choices
from orio_py.tuning.events import Event, TrialDone

KERNELS = ("sd_t_s1_1", "sd_t_d1_1", "sd_t_d1_3", "sd_t_d1_6", "sd_t_d2_1", "sd_t_d2_4", "local_grad3")
NEAR = 1.05


def measured(
    program: TensorProgram, count: int, seed: int, folder: Path
) -> list[tuple[Mapping[str, Value], float]]:
    """A random sample of all variants with their times in seconds."""
    source = folder / f"{program.name}.c"
    source.write_text(annotated_file(program, ranked=False))
    found: list[tuple[Mapping[str, Value], float]] = []

    def listener(event: Event) -> None:
        if isinstance(event, TrialDone) and event.seconds is not None:
            found.append((event.configuration, event.seconds))

    options = orio_py.TuneOptions(trials=count, seed=seed, search="random")
    report = orio_py.tune([source], output=folder / "out.c", options=options, listener=listener)
    assert report.exit_code == 0, report.diagnostics
    return found


def is_kept(configuration: Mapping[str, Value], program: TensorProgram) -> bool:
    """Whether the ranking leaves a configuration in."""
    shared = shared_loops(program)
    for number, statement in enumerate(program.contractions):
        choices = tile_choices(statement, program, shared)
        for name, listed in (("COLUMNS", choices.columns), ("PACK", choices.packs)):
            value = configuration[f"{name}{number}"]
            assert isinstance(value, list | tuple)
            if tuple(value) not in listed:
                return False
    return True


def expected_trials(times: Sequence[float], best: float) -> float:
    """How many are tried in random order, without repetition, until one is near the best; infinite where none is."""
    near = sum(seconds <= NEAR * best for seconds in times)
    return (len(times) + 1) / (near + 1) if near else float("inf")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=12)
    parser.add_argument("--sample", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernels", nargs="*", default=KERNELS)
    given = parser.parse_args()
    found = programs(given.size)
    print(f"{'kernel':12} {'variants':>8} {'kept':>5} {'trials':>7} {'ranked':>7} {'loss':>5}")
    for name in given.kernels:
        program = read_program(SourceFile(name, found[name].encode()), Span(0, len(found[name])))
        with tempfile.TemporaryDirectory() as folder:
            rows = measured(program, given.sample, given.seed, Path(folder))
        kept = [seconds for configuration, seconds in rows if is_kept(configuration, program)]
        best = min(seconds for _, seconds in rows)
        trials = [expected_trials([seconds for _, seconds in rows], best), expected_trials(kept, best)]
        loss = 100 * (min(kept) / best - 1)
        print(
            f"{name:12} {len(rows):8} {len(kept):5} {trials[0]:7.1f} {trials[1]:7.1f} {loss:5.1f}", flush=True
        )


if __name__ == "__main__":
    main()
